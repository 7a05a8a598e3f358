//! A plan over HTTP on loopback, in real time or faster: the very providers of the simulation behind a
//! server, the very core behind the async driver, and the same luck, since draws are keyed by request,
//! attempt and deployment.
//!
//! What differs is the transport: each exchange takes some hundreds of microseconds more than the model
//! says, which a clock that goes `speed` times as fast counts `speed` times. Prompts are lengths without
//! words, so that a provider's prompt cache sees nothing in them.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use mock_providers::{
    Providers,
    http::{Limits, MockServer, ServerOptions, Upstream as Mock},
};
use reports::{Recorder, RunRecord};
use router::{
    Decision, Event, Fleet, Input, Instant, Observer, Origin, RequestId, Router,
    live::{Call, Clock, Endpoint, Item, LiveOptions, LiveRouter, Payload, Upstream},
};
use scenarios::{Arrival, Deed, RunPlan};
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use crate::{RunEnd, SimError, live_callers::Callers, recorder_setup, sweep_run};

/// What is left of a run over HTTP.
#[derive(Debug)]
pub struct LiveRun<O> {
    /// What there is to say of it.
    pub end: RunEnd,
    /// Who heard it.
    pub observer: O,
    /// How late the latest arrival came, or the latest byte of a provider, or the latest beat of a clock
    /// that beat every few milliseconds, in the run's time. Where that is long the machine was too slow for the speed, and the run tells
    /// of the machine.
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
    check(speed)?;
    let server = serve(plan, speed).await?;
    let live = drive(plan, speed, &server, observer)?;
    let clock = live.clock();
    let callers = plan
        .client
        .map(|client| Arc::new(Callers::new(plan, client)));

    let mut under_way = JoinSet::new();
    let (mut requests, mut latest) = (0, Duration::ZERO);
    let late = Arc::new(AtomicU64::new(0));
    let beating = tokio::spawn(beat(clock, speed, Arc::clone(&late)));
    let mut actions = plan.actions.iter().peekable();
    for arrival in plan.workload.arrivals(plan.seed) {
        while let Some(action) = actions.next_if(|action| action.at <= arrival.at) {
            clock.sleep_until(action.at).await;
            act(&live, action.deed);
        }
        clock.sleep_until(arrival.at).await;
        latest = latest.max(clock.now().since(arrival.at));
        match &callers {
            Some(callers) => {
                under_way.spawn(Arc::clone(callers).call(live.clone(), requests, arrival));
            }
            None => {
                let asked = call_of(plan, RequestId(requests), &arrival, requests);
                under_way.spawn(ask(live.clone(), asked, arrival.stream));
            }
        }
        requests += 1;
    }
    for action in actions {
        clock.sleep_until(action.at).await;
        act(&live, action.deed);
    }
    while let Some(ended) = under_way.join_next().await {
        ended.map_err(|error| SimError::Live(error.to_string()))?;
    }
    // Mirrors are left, and requests whose caller has left, which nobody waits for.
    let unfinished = |fleet: &Fleet| fleet.all().map(Router::unfinished).sum::<usize>();
    while live.look_at_all(|fleet, _, _| unfinished(fleet)) > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    beating.abort();
    let latest = latest.max(Duration::from_nanos(late.load(Ordering::Relaxed)));
    let latest = latest.max(server.latest());
    let end = clock.now().max(Instant::ZERO + plan.workload.duration());
    let (attempts, of_calls, observer) = live.look(|_, heard: &mut Heard<O>, _| {
        let observer = heard.observer.take();
        let observer = observer.expect("it is taken once");
        (heard.attempts, heard.attempts - heard.of_mirrors, observer)
    });
    let calls = match callers {
        None => None,
        Some(callers) => callers.finish(of_calls).await,
    };
    server.stop(Duration::from_millis(200)).await;
    let specs = plan.providers.iter().map(|binding| &*binding.spec);
    let providers = Providers::new(specs, plan.seed, plan.router.epoch);
    let fault_spans = providers.map_or_else(|_| Vec::new(), |p| p.fault_spans(end));
    let end = RunEnd {
        end,
        requests,
        attempts,
        fault_spans,
        calls,
    };
    Ok(LiveRun {
        end,
        observer,
        latest,
    })
}

/// Beats, and notes how late the latest beat came: whatever kept this waiting kept everything waiting.
async fn beat(clock: Clock, speed: f64, late: Arc<AtomicU64>) {
    loop {
        let due = clock.now() + BEAT.mul_f64(speed);
        clock.sleep_until(due).await;
        late.fetch_max(clock.now().nanos_since(due), Ordering::Relaxed);
    }
}

/// What a report needs of a run over HTTP.
#[derive(Debug)]
pub struct LiveRecord<J> {
    /// What it measured.
    pub record: RunRecord,
    /// As [`LiveRun::latest`].
    pub latest: Duration,
    /// Who heard it besides.
    pub journal: J,
}

/// [`live_run`] as what a report needs of it. `journal` hears it too.
///
/// # Errors
///
/// As [`live_run`].
pub async fn live_record<J: Observer + Send + 'static>(
    plan: &RunPlan,
    speed: f64,
    journal: J,
) -> Result<LiveRecord<J>, SimError> {
    let recorder = Recorder::new(recorder_setup(plan)?);
    let run = live_run(plan, speed, (recorder, journal)).await?;
    let (recorder, journal) = run.observer;
    let mut record = recorder.finish(run.end.end);
    record.arm = plan.arm;
    record.replication = plan.replication;
    record.fault_spans = sweep_run::fault_span_records(&run.end);
    record.calls = run.end.calls;
    Ok(LiveRecord {
        record,
        latest: run.latest,
        journal,
    })
}

/// What cannot be run so is refused, and never run otherwise.
fn check(speed: f64) -> Result<(), SimError> {
    match speed.is_finite() && speed > 0.0 {
        true => Ok(()),
        false => Err(SimError::Live(format!(
            "a speed is a number above zero, found {speed}"
        ))),
    }
}

/// Hears the router until the run is over.
struct Heard<O> {
    observer: Option<O>,
    attempts: u64,
    /// Those among them that a mirror sent.
    of_mirrors: u64,
}

impl<O: Observer> Observer for Heard<O> {
    const LAST_LOOK: bool = O::LAST_LOOK;
    const INPUTS: bool = O::INPUTS;

    fn input(&mut self, at: Instant, router: &Router, input: &Input<'_>) {
        self.observer.input(at, router, input);
    }

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        self.observer.decided(router, decision);
    }

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if let Event::Sent { request, .. } = event {
            self.attempts += 1;
            self.of_mirrors += u64::from(request.is_mirror());
        }
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
        // Both ends are ours: no connection that rests is closed under the router.
        limits: Limits {
            head_timeout: Duration::from_secs(86_400),
            ..Limits::default()
        },
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
        instances: plan.instances.count,
        shared_state: plan.instances.shared_state,
    };
    let heard = Heard {
        observer: Some(observer),
        attempts: 0,
        of_mirrors: 0,
    };
    LiveRouter::start(&plan.router, upstreams.collect(), options, heard)
        .map_err(|error| SimError::Live(error.to_string()))
}

/// An arrival as a call, the first or a further try of it. Its lengths and its numbers are told in
/// headers.
pub(crate) fn call_of(plan: &RunPlan, id: RequestId, arrival: &Arrival, number: u64) -> Call {
    let from = plan.workload.provenance(plan.seed, number);
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

/// Between two beats, of real time.
const BEAT: Duration = Duration::from_millis(5);

const REQUEST: axum::http::HeaderName = axum::http::HeaderName::from_static("x-mock-request");
const ATTEMPT: axum::http::HeaderName = axum::http::HeaderName::from_static("x-mock-attempt");
const PROMPT_TOKENS: axum::http::HeaderName =
    axum::http::HeaderName::from_static("x-mock-prompt-tokens");
const OUTPUT_TOKENS: axum::http::HeaderName =
    axum::http::HeaderName::from_static("x-mock-output-tokens");
