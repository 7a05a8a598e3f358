//! The engine against its contract: runs drain, deadlines end attempts, nobody is forgotten.

#![allow(
    clippy::float_cmp,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail, and looks at few events"
)]

mod around;
mod asked;
mod blame;
mod broken;
mod callers;
mod instances;
mod journal;
#[path = "record/saw.rs"]
mod saw;

use std::collections::BTreeMap;

use router::{Answer, Event, Instant, Observer, Outcome, RequestId};
use scenarios::{LoadOptions, RunPlan, Scenario, Source};
use sim::{SimError, record_run, simulate};

/// What became of each request.
#[derive(Default)]
struct Ledger {
    arrived: BTreeMap<RequestId, Instant>,
    answered: BTreeMap<RequestId, (Instant, Answer)>,
    ended: Vec<(Instant, Outcome)>,
    cooldowns: usize,
    latest: Instant,
}

impl Observer for Ledger {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        assert!(
            at >= self.latest,
            "time ran back from {} to {at}",
            self.latest
        );
        self.latest = at;
        match event {
            Event::Arrived { request } => {
                assert!(
                    self.arrived.insert(request.id, at).is_none(),
                    "arrived twice"
                );
            }
            Event::CooledDown { .. } => self.cooldowns += 1,
            Event::Finished { outcome, .. } => self.ended.push((at, **outcome)),
            Event::Answered { request, answer } => {
                assert!(
                    self.answered.insert(*request, (at, **answer)).is_none(),
                    "answered twice"
                );
            }
            _ => {}
        }
    }
}

fn plan(text: &str) -> RunPlan {
    let source = Source::Text {
        name: "test".to_owned(),
        text: text.to_owned(),
    };
    let scenario =
        Scenario::load(&source, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    scenario.plans().swap_remove(0)
}

/// A scenario of two deployments; `changes` are its remaining top-level keys.
fn scenario(router_settings: &str, providers: &str, workload: &str) -> String {
    format!(
        "purpose: A test of the engine.
kind: terminating
replications: 1
litellm:
  model_list:
    - {{model_name: m, litellm_params: {{model: openai/a}}, model_info: {{id: a}}}}
    - {{model_name: m, litellm_params: {{model: openai/b}}, model_info: {{id: b}}}}
  router_settings: {{{router_settings}}}
providers: {{{providers}}}
workload: {{lengths: {{prompt: {{constant: 10}}, output: {{constant: 11}}}}, {workload}}}
"
    )
}

const STEADY: &str = "arrivals: {constant: {per_second: 10}}, duration_s: 10";

#[test]
fn a_run_ends_with_its_last_answer_and_not_with_its_last_arrival() {
    let plan = plan(&scenario(
        "",
        "default: {latency: {first_token: {constant: {ms: 30000}}}}",
        STEADY,
    ));
    let mut ledger = Ledger::default();

    let end = simulate(&plan, &mut ledger).unwrap();

    assert_eq!(ledger.arrived.len(), ledger.answered.len());
    assert_eq!(u64::try_from(ledger.answered.len()).unwrap(), end.requests);
    assert_eq!(end.end, ledger.latest);
    assert!(end.end > Instant::from_secs_f64(39.0), "{}", end.end);
}

#[test]
fn a_run_without_stragglers_ends_with_its_duration() {
    let plan = plan(&scenario(
        "",
        "default: {latency: {first_token: {constant: {ms: 1}}}}",
        STEADY,
    ));

    let end = simulate(&plan, &mut ()).unwrap();

    assert_eq!(end.end, Instant::from_secs_f64(10.0));
    assert_eq!(end.attempts, end.requests);
}

#[test]
fn an_answer_that_takes_longer_than_the_timeout_becomes_a_timeout_of_that_moment() {
    let plan = plan(&scenario(
        "timeout: 2, num_retries: 0",
        "default: {latency: {first_token: {constant: {ms: 5000}}}}",
        STEADY,
    ));
    let mut ledger = Ledger::default();

    simulate(&plan, &mut ledger).unwrap();

    assert!(!ledger.answered.is_empty());
    for (request, (at, answer)) in &ledger.answered {
        let Answer::Failed { error, .. } = answer else {
            panic!("{request} was answered")
        };
        if error.exception() == "Timeout" {
            assert_eq!(error.status(), Some(408));
            assert_eq!(at.since(ledger.arrived[request]).as_secs_f64(), 2.0);
        }
    }
    assert!(ledger.ended.iter().all(|(_, outcome)| matches!(
        outcome,
        Outcome::Failure(failure) if failure.status == Some(408)
    )));
}

#[test]
fn a_provider_that_hangs_is_given_up_at_the_deadline_and_the_request_goes_elsewhere() {
    let plan = plan(&scenario(
        "timeout: 3, num_retries: 3",
        "a: {latency: {first_token: {constant: {ms: 100}}}, faults: [{hang: {}}]}, \
         b: {latency: {first_token: {constant: {ms: 100}}}}",
        "arrivals: {constant: {per_second: 1}}, duration_s: 60",
    ));
    let mut ledger = Ledger::default();

    simulate(&plan, &mut ledger).unwrap();

    let completed = ledger
        .answered
        .values()
        .filter(|(_, answer)| matches!(answer, Answer::Completed { .. }));
    assert!(completed.count() > 50, "of {}", ledger.answered.len());
    let gave_up = ledger.ended.iter().filter(
        |(_, outcome)| matches!(outcome, Outcome::Failure(failure) if failure.status == Some(408)),
    );
    assert!(gave_up.count() > 0);
}

#[test]
fn a_stream_that_begins_in_time_may_take_longer_than_the_timeout() {
    let providers = "default: {latency: {first_token: {constant: {ms: 1000}}, \
                     per_output_token: {constant: {ms: 500}}}}";
    let streamed = format!("{STEADY}, stream_share: 1");

    let whole = record_run(
        &plan(&scenario("timeout: 2, num_retries: 0", providers, STEADY)),
        &(),
    );
    let stream = record_run(
        &plan(&scenario(
            "timeout: 2, num_retries: 0",
            providers,
            &streamed,
        )),
        &(),
    );

    assert_eq!(whole.unwrap().completed, 0);
    let stream = stream.unwrap();
    assert_eq!(stream.completed, stream.requests);
}

#[test]
fn parked_requests_are_admitted_one_by_one_and_all_are_answered() {
    let text = scenario(
        "default_max_parallel_requests: 2",
        "default: {latency: {first_token: {constant: {ms: 900}}}}",
        "arrivals: {constant: {per_second: 4}}, duration_s: 60",
    ) + "profile: litellm-1.92\n";

    let record = record_run(&plan(&text), &()).unwrap();

    assert!(record.parked > 0);
    assert_eq!(record.completed, record.requests);
    assert!(
        record
            .deployments
            .iter()
            .all(|deployment| deployment.in_flight_max <= 2)
    );
}

#[test]
fn a_slot_is_free_again_at_the_first_token_where_the_profile_says_so() {
    let run = |profile: &str| {
        let text = scenario(
            "default_max_parallel_requests: 1, num_retries: 0",
            "default: {latency: {first_token: {constant: {ms: 100}}, \
             per_output_token: {constant: {ms: 500}}}}",
            &format!("{STEADY}, stream_share: 1"),
        );
        record_run(&plan(&format!("{text}profile: {profile}\n")), &()).unwrap()
    };

    // Ten requests a second are too many for two streams of five seconds, and few for two slots that
    // are held for a tenth of a second each.
    let until_first_token = run("litellm-1.92");
    assert_eq!(until_first_token.completed, until_first_token.requests);
    assert!(
        until_first_token
            .deployments
            .iter()
            .all(|d| d.in_flight_max > 1)
    );

    let until_the_end = run("litellm-1.110");
    assert!(until_the_end.slots_refused > until_the_end.requests / 2);
    assert!(
        until_the_end
            .deployments
            .iter()
            .all(|d| d.in_flight_max == 1)
    );
}

#[test]
fn a_plan_that_binds_too_few_providers_is_refused() {
    let mut plan = plan(&scenario(
        "",
        "default: {latency: {first_token: {constant: {ms: 1}}}}",
        STEADY,
    ));
    plan.providers = plan.providers[..1].into();

    let refused = simulate(&plan, &mut ());

    assert!(matches!(
        refused,
        Err(SimError::ProviderCount {
            deployments: 2,
            providers: 1
        })
    ));
}

#[test]
fn deployments_of_one_pool_are_held_to_one_quota() {
    let answered_by = |pool: &str| {
        let providers = format!(
            "default: {{latency: {{first_token: {{constant: {{ms: 1}}}}}},
              quota: {{requests_per_minute: 20{pool}}}}}"
        );
        let plan = plan(&scenario("num_retries: 0", &providers, STEADY));
        let mut ledger = Ledger::default();
        simulate(&plan, &mut ledger).unwrap();
        let ended = ledger.ended.iter();
        ended
            .filter(|(_, outcome)| matches!(outcome, Outcome::Success { .. }))
            .count()
    };

    assert_eq!(answered_by(""), 40);
    assert_eq!(answered_by(", pool: account"), 20);
}
