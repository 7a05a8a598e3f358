//! Who sends takes effect in a run: each word of `workload.senders` with the setting that goes by it.

#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail, and looks at few events"
)]

mod billing;
mod library;
mod settings;

use std::{collections::BTreeMap, num::NonZeroUsize};

use router::{
    Answer, CallerId, ContentId, DeploymentId, Event, Instant, Observer, RequestId, SessionId,
    WaitReason,
};
use scenarios::{LoadOptions, RunPlan, Scenario, Source};
use sim::{run_plans, simulate};

/// A run as its requests saw it.
#[derive(Default)]
struct Heard {
    requests: BTreeMap<RequestId, Seen>,
}

/// One request.
#[derive(Default)]
struct Seen {
    session: Option<SessionId>,
    caller: Option<CallerId>,
    prefix: Option<ContentId>,
    content: Option<ContentId>,
    arrived: Instant,
    sent: Vec<(Instant, DeploymentId)>,
    queued: u32,
    cached: bool,
    answered_by: Option<DeploymentId>,
    error: Option<&'static str>,
    took_s: f64,
}

impl Observer for Heard {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let Some(id) = event.request() else { return };
        let seen = self.requests.entry(id).or_default();
        match event {
            Event::Arrived { request } => {
                let from = request.origin;
                (seen.session, seen.caller) = (from.session, from.caller);
                (seen.prefix, seen.content) = (from.prefix, from.content);
                seen.arrived = at;
            }
            Event::Sent { deployment, .. } => seen.sent.push((at, *deployment)),
            Event::Waiting {
                why: WaitReason::Queue,
                ..
            } => seen.queued += 1,
            Event::Answered { answer, .. } => {
                seen.took_s = at.since(seen.arrived).as_secs_f64();
                match answer {
                    Answer::Completed {
                        deployment, cached, ..
                    } => {
                        seen.answered_by = Some(*deployment);
                        seen.cached = *cached;
                    }
                    Answer::Failed { error, .. } => seen.error = Some(error.exception()),
                }
            }
            _ => {}
        }
    }
}

impl Heard {
    fn of(plan: &RunPlan) -> Self {
        let mut heard = Self::default();
        simulate(plan, &mut heard).unwrap();
        assert!(heard.requests.len() > 100, "a run of requests");
        heard
    }

    /// The requests of the sender of this name.
    fn of_sender(&self, plan: &RunPlan, name: &str) -> Vec<&Seen> {
        let names = plan.workload.sender_names();
        let place = names.iter().position(|known| known == name).unwrap();
        let own = |id: &RequestId| plan.workload.sender(plan.seed, id.0) == Some(place);
        let own = self.requests.iter().filter(|(id, _)| own(id));
        own.map(|(_, seen)| seen).collect()
    }

    fn all(&self) -> Vec<&Seen> {
        self.requests.values().collect()
    }
}

/// The scenario of a test: four deployments `a` to `d`, of which the last two are told apart.
fn text(settings: &str, providers: &str, workload: &str) -> String {
    format!(
        "purpose: A test of senders.
kind: terminating
replications: 1
litellm:
  model_list:
    - {{model_name: m, litellm_params: {{model: openai/a, region_name: us, tags: [default], input_cost_per_token: 0.000002, output_cost_per_token: 0.000008, cache_read_input_token_cost: 0.000001}}, model_info: {{id: a}}}}
    - {{model_name: m, litellm_params: {{model: openai/b, region_name: us, tags: [default], input_cost_per_token: 0.000002, output_cost_per_token: 0.000008, cache_read_input_token_cost: 0.000001}}, model_info: {{id: b}}}}
    - {{model_name: m, litellm_params: {{model: openai/c, region_name: eu, tags: [free], input_cost_per_token: 0.000002, output_cost_per_token: 0.000008, cache_read_input_token_cost: 0.000001}}, model_info: {{id: c}}}}
    - {{model_name: spare, litellm_params: {{model: openai/d, input_cost_per_token: 0.000002, output_cost_per_token: 0.000008, cache_read_input_token_cost: 0.000001}}, model_info: {{id: d}}}}
  router_settings: {{{settings}}}
providers: {{{providers}}}
workload: {{arrivals: {{poisson: {{per_second: 10}}}}, lengths: {{prompt: {{constant: 100}}, output: {{constant: 50}}}}, duration_s: 100, {workload}}}
"
    )
}

fn load(text: &str) -> Scenario {
    let source = Source::Text {
        name: "test".to_owned(),
        text: text.to_owned(),
    };
    Scenario::load(&source, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn plan(settings: &str, providers: &str, workload: &str) -> RunPlan {
    load(&text(settings, providers, workload)).plan(0, 0)
}

const FAST: &str = "default: {latency: {first_token: {constant: {ms: 200}}}}";
const DOWN: &str =
    "default: {latency: {first_token: {constant: {ms: 200}}}, faults: [{outage: {status: 500}}]}";
const A: DeploymentId = DeploymentId(0);
const B: DeploymentId = DeploymentId(1);
const C: DeploymentId = DeploymentId(2);
const D: DeploymentId = DeploymentId(3);

/// Deployments by which the requests of each key were answered.
fn by<K: Ord>(
    requests: &[&Seen],
    key: impl Fn(&Seen) -> Option<K>,
) -> BTreeMap<K, Vec<DeploymentId>> {
    let mut by: BTreeMap<K, Vec<DeploymentId>> = BTreeMap::new();
    for seen in requests {
        if let Some(key) = key(seen) {
            by.entry(key).or_default().extend(seen.answered_by);
        }
    }
    by.values_mut().for_each(|all| {
        all.sort_unstable();
        all.dedup();
    });
    by
}

#[test]
fn a_session_stays_with_the_deployment_that_served_it_first() {
    let sessions = "senders: {chat: {sessions: {live: 30, turns: 10}}}";
    let places = |settings: &str| {
        let heard = Heard::of(&plan(settings, FAST, sessions));
        by(&heard.all(), |seen| seen.session)
    };
    let pinned = places("optional_pre_call_checks: [session_affinity]");
    let free = places("");

    assert!(pinned.len() > 60, "{} sessions", pinned.len());
    assert!(pinned.values().all(|places| places.len() == 1));
    assert!(free.values().filter(|places| places.len() > 1).count() > 40);
}

#[test]
fn a_key_stays_with_the_deployment_that_served_it_first() {
    let settings = "optional_pre_call_checks: [deployment_affinity]";
    let heard = Heard::of(&plan(settings, FAST, "senders: {chat: {callers: 12}}"));

    let places = by(&heard.all(), |seen| seen.caller);
    assert_eq!(places.len(), 12);
    assert!(places.values().all(|places| places.len() == 1));
}

#[test]
fn a_marked_prefix_leads_to_the_deployment_that_answered_it_last() {
    let settings = "optional_pre_call_checks: [prompt_caching]";
    let senders = |more: &str| {
        format!("senders: {{chat: {{shared_prefix: {{tokens: 2000, pool: 6}}{more}}}}}")
    };
    let last_half = |workload: &str| {
        let heard = Heard::of(&plan(settings, FAST, workload));
        let late = heard.requests.iter().filter(|(id, _)| id.0 > 500);
        let late: Vec<&Seen> = late.map(|(_, seen)| seen).collect();
        by(&late, |seen| seen.prefix)
    };

    let pinned = last_half(&senders(""));
    assert_eq!(pinned.len(), 6);
    assert!(pinned.values().all(|places| places.len() == 1));
    assert!(last_half(&senders(", cache_control: false")).is_empty());
}

#[test]
fn what_is_asked_again_is_answered_by_the_cache_unless_its_sender_will_not_have_it() {
    let senders = "senders: {again: {share: 0.5, repeats: {share: 0.8, pool: 20}}, \
                   fresh: {share: 0.3, no_cache: true, repeats: {share: 1, pool: 20}}}";
    let plan = plan("cache_responses: true", FAST, senders);
    let heard = Heard::of(&plan);

    let hits = |name| {
        let requests = heard.of_sender(&plan, name);
        let hits = requests.iter().filter(|seen| seen.cached).count();
        (hits, requests.len())
    };
    let (again, of) = hits("again");
    assert!(
        again * 10 > of * 7 && again * 10 < of * 8,
        "{again} of {of}"
    );
    assert_eq!(hits("fresh").0, 0);
    let cached: Vec<_> = heard.all().into_iter().filter(|seen| seen.cached).collect();
    assert!(
        cached
            .iter()
            .all(|seen| seen.took_s == 0.0 && seen.sent.is_empty())
    );
    let first_asked = |seen: &Seen| {
        let same = heard.all();
        let mut same = same.iter().filter(|other| other.content == seen.content);
        same.any(|other| !other.sent.is_empty())
    };
    assert!(cached.into_iter().all(first_asked));
}

#[test]
fn of_equal_luck_come_equal_bytes_on_any_number_of_threads() {
    let senders = "senders: {chat: {share: 0.6, callers: 5, sessions: {live: 9, turns: 4, history_tokens: 900}, \
                   repeats: {share: 0.3, pool: 50, skew: 1.2}}, free: {share: 0.2, tags: [free], timeout: 1}}";
    let settings = "cache_responses: true, optional_pre_call_checks: [session_affinity]";
    let text = text(settings, "default: {preset: flaky}", senders)
        + "sweep: {num_retries: [0, 1, 2], cooldown_time: [1, 30]}\n";
    let plans = load(&text).plans();
    let bytes = |jobs| {
        let records = run_plans(&plans, NonZeroUsize::new(jobs).unwrap(), &()).unwrap();
        serde_json::to_string(&records).unwrap()
    };

    let one = bytes(1);
    assert_eq!(one, bytes(4));
    assert_eq!(one, bytes(1));
}
