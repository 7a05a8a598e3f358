//! A plan over HTTP on loopback, in real time or faster: the very providers of the simulation behind a
//! server, the very core behind the async driver, and the same luck, since draws are keyed by request,
//! attempt and deployment.
//!
//! What differs is the transport: each exchange takes some hundreds of microseconds more than the model
//! says, which a clock that goes `speed` times as fast counts `speed` times. Prompts are lengths without
//! words, so that a provider's prompt cache sees nothing in them.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use mock_providers::{
    Providers,
    http::{MockServer, ServerOptions, Upstream as Mock},
};
use reports::{Recorder, RunRecord};
use router::{
    Event, Instant, Observer, Origin, RequestId,
    live::{Call, Clock, Endpoint, Item, LiveOptions, LiveRouter, Payload, Upstream},
};
use scenarios::{Arrival, Deed, Provenance, RunPlan};
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use crate::{RunEnd, SimError, recorder_setup, sweep_run};

/// What is left of a run over HTTP.
#[derive(Debug)]
pub struct LiveRun<O> {
    /// What there is to say of it.
    pub end: RunEnd,
    /// Who heard it.
    pub observer: O,
    /// How late the latest arrival came, in the run's time. Where that is long the machine was too slow
    /// for the speed, and the run tells of the machine.
    pub latest: Duration,
}

/// Runs a plan over HTTP, drained, and tells `observer` everything that the router says. `speed`
/// seconds of the run pass in one of the wall's.
///
/// # Errors
///
/// If the plan cannot be run so, the router or a provider cannot be built, or there is no port.
pub async fn live_run<O: Observer + Send + 'static>(
    plan: &RunPlan,
    speed: f64,
    observer: O,
) -> Result<LiveRun<O>, SimError> {
    check(plan, speed)?;
    let server = serve(plan, speed).await?;
    let live = drive(plan, speed, &server, observer)?;
    let clock = live.clock();

    let mut under_way = JoinSet::new();
    let (mut requests, mut latest) = (0, Duration::ZERO);
    let mut actions = plan.actions.iter().peekable();
    for arrival in plan.workload.arrivals(plan.seed) {
        while let Some(action) = actions.next_if(|action| action.at <= arrival.at) {
            clock.sleep_until(action.at).await;
            act(&live, action.deed);
        }
        clock.sleep_until(arrival.at).await;
        latest = latest.max(clock.now().since(arrival.at));
        let from = plan.workload.provenance(plan.seed, requests);
        let asked = call(plan, RequestId(requests), &arrival, from);
        under_way.spawn(ask(live.clone(), asked, arrival.stream));
        requests += 1;
    }
    for action in actions {
        clock.sleep_until(action.at).await;
        act(&live, action.deed);
    }
    while let Some(ended) = under_way.join_next().await {
        ended.map_err(|error| SimError::Live(error.to_string()))?;
    }
    // Mirrors are left, which nobody waits for.
    while live.look(|router, _, _| router.unfinished()) > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    let end = clock.now().max(Instant::ZERO + plan.workload.duration());
    let (attempts, observer) = live.look(|_, heard: &mut Heard<O>, _| {
        let observer = heard.observer.take();
        (heard.attempts, observer.expect("it is taken once"))
    });
    server.stop(Duration::from_millis(200)).await;
    let specs = plan.providers.iter().map(|binding| &*binding.spec);
    let providers = Providers::new(specs, plan.seed, plan.router.epoch);
    let fault_spans = providers.map_or_else(|_| Vec::new(), |p| p.fault_spans(end));
    let end = RunEnd {
        end,
        requests,
        attempts,
        fault_spans,
        calls: None,
    };
    Ok(LiveRun {
        end,
        observer,
        latest,
    })
}

/// [`live_run`] as what a report needs of it, and how late its latest arrival came.
///
/// # Errors
///
/// As [`live_run`].
pub async fn live_record(plan: &RunPlan, speed: f64) -> Result<(RunRecord, Duration), SimError> {
    let recorder = Recorder::new(recorder_setup(plan)?);
    let run = live_run(plan, speed, recorder).await?;
    let mut record = run.observer.finish(run.end.end);
    record.arm = plan.arm;
    record.replication = plan.replication;
    record.fault_spans = sweep_run::fault_span_records(&run.end);
    Ok((record, run.latest))
}

/// What cannot be run so is refused, and never run otherwise.
fn check(plan: &RunPlan, speed: f64) -> Result<(), SimError> {
    let told = if !(speed.is_finite() && speed > 0.0) {
        format!("a speed is a number above zero, found {speed}")
    } else if plan.instances.count > 1 {
        "it has several instances of the router, and one process drives one".to_owned()
    } else if plan.client.is_some() {
        "it has a client library before the router, which lives in virtual time alone".to_owned()
    } else {
        return Ok(());
    };
    Err(SimError::Live(told))
}

/// Hears the router until the run is over.
struct Heard<O> {
    observer: Option<O>,
    attempts: u64,
}

impl<O: Observer> Observer for Heard<O> {
    const LAST_LOOK: bool = O::LAST_LOOK;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        self.attempts += u64::from(matches!(event, Event::Sent { .. }));
        if let Some(observer) = &mut self.observer {
            observer.observe(at, event);
        }
    }
}

/// The plan's providers, each called by its place.
async fn serve(plan: &RunPlan, speed: f64) -> Result<MockServer, SimError> {
    let upstreams = plan.providers.iter().enumerate();
    let upstreams = upstreams.map(|(place, binding)| Mock {
        name: named(place),
        models: Vec::new(),
        spec: (*binding.spec).clone(),
    });
    let options = ServerOptions {
        upstreams: upstreams.collect(),
        seed: plan.seed,
        output_tokens: 0,
    };
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    MockServer::start_run(&options, loopback, plan.router.epoch, speed)
        .await
        .map_err(|error| SimError::Live(error.to_string()))
}

fn named(place: usize) -> String {
    format!("d{place}")
}

fn drive<O: Observer + Send + 'static>(
    plan: &RunPlan,
    speed: f64,
    server: &MockServer,
    observer: O,
) -> Result<LiveRouter<Heard<O>>, SimError> {
    let url = server.url();
    let deployments = plan.router.deployments.len();
    let upstreams =
        (0..deployments).map(|place| Upstream::open_ai(format!("{url}/{}/v1", named(place)), None));
    let options = LiveOptions {
        clock: Clock::of_run(plan.router.epoch, speed),
        seed: plan.seed,
        proxies: false,
    };
    let heard = Heard {
        observer: Some(observer),
        attempts: 0,
    };
    LiveRouter::start(&plan.router, upstreams.collect(), options, heard)
        .map_err(|error| SimError::Live(error.to_string()))
}

/// An arrival as a call. Its lengths and its numbers are told in headers.
fn call(plan: &RunPlan, id: RequestId, arrival: &Arrival, from: Option<Provenance<'_>>) -> Call {
    let name = plan.workload.models().get(usize::from(arrival.model));
    let (origin, overrides) = match from {
        Some(from) => (from.origin, from.overrides.cloned()),
        None => (Origin::default(), None),
    };
    let mut body: Vec<(&str, String)> = vec![("messages", "[]".to_owned())];
    if let Some(most) = arrival.max_tokens {
        body.push(("max_tokens", most.to_string()));
    }
    if arrival.stream {
        body.push(("stream_options", r#"{"include_usage":true}"#.to_owned()));
    }
    let body = body.into_iter().filter_map(|(key, value)| {
        let value = RawValue::from_string(value).ok()?;
        Some((key.to_owned(), value))
    });
    let lengths = [
        (PROMPT_TOKENS, arrival.prompt_tokens),
        (OUTPUT_TOKENS, arrival.output_tokens),
    ];
    Call {
        model: name.cloned().unwrap_or_default(),
        prompt_tokens: arrival.prompt_tokens,
        max_tokens: arrival.max_tokens,
        origin,
        overrides,
        payload: Arc::new(Payload {
            endpoint: Endpoint::Chat,
            body: body.collect(),
            headers: lengths
                .into_iter()
                .map(|(name, tokens)| (name, tokens.into()))
                .collect(),
            number_headers: Some([REQUEST, ATTEMPT]),
        }),
        id: Some(id),
    }
}

async fn ask<O: Observer + Send + 'static>(live: LiveRouter<O>, call: Call, stream: bool) {
    if !stream {
        drop(live.call(call).await);
        return;
    }
    let Ok(mut items) = live.stream(call) else {
        return;
    };
    while !matches!(items.next().await, Some(Item::End(_)) | None) {}
}

/// What the scenario's operator does.
fn act<O: Observer + Send + 'static>(live: &LiveRouter<O>, deed: Deed) {
    match deed {
        Deed::ClearCooldowns(deployment) => live.clear_cooldowns(deployment),
    };
}

const REQUEST: axum::http::HeaderName = axum::http::HeaderName::from_static("x-mock-request");
const ATTEMPT: axum::http::HeaderName = axum::http::HeaderName::from_static("x-mock-attempt");
const PROMPT_TOKENS: axum::http::HeaderName =
    axum::http::HeaderName::from_static("x-mock-prompt-tokens");
const OUTPUT_TOKENS: axum::http::HeaderName =
    axum::http::HeaderName::from_static("x-mock-output-tokens");
