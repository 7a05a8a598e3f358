//! Callers with a client library: what they hear, when they try again, and what their leaving does.

use router::{DeploymentId, Event, Instant, Observer, RequestId};
use sim::{record_run, simulate};

use super::{Ledger, plan};

/// Two deployments that answer in 5 s, or fail as `faults` say; a call each 100 s, ten in all.
fn scenario(client: &str, faults: &str, more: &str) -> String {
    format!(
        "purpose: A test of callers.
kind: terminating
replications: 1
litellm:
  model_list:
    - {{model_name: m, litellm_params: {{model: openai/a}}, model_info: {{id: a}}}}
    - {{model_name: m, litellm_params: {{model: openai/b}}, model_info: {{id: b}}}}
  router_settings: {{num_retries: 1, cooldown_time: 0}}
providers:
  default:
    latency: {{first_token: {{constant: {{ms: 3000}}}}, per_output_token: {{constant: {{ms: 200}}}}}}
    faults: [{faults}]
client: {{{client}}}
{more}
workload:
  arrivals: {{constant: {{per_second: 0.01}}}}
  lengths: {{prompt: {{constant: 10}}, output: {{constant: 11}}}}
  duration_s: 1001
"
    )
}

/// Sent attempts and cancelled requests.
#[derive(Default)]
struct Traffic {
    sent: Vec<(f64, RequestId)>,
    cancelled: Vec<(f64, RequestId, Option<DeploymentId>)>,
}

impl Observer for Traffic {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if let Event::Sent { request, .. } = *event {
            self.sent.push((at.as_secs_f64(), request));
        } else if let Event::Cancelled {
            request,
            deployment,
        } = *event
        {
            self.cancelled.push((at.as_secs_f64(), request, deployment));
        }
    }
}

const FAILS: &str = "{error_rate: {class: internal_server, share: 1}}";

#[test]
fn retries_of_the_client_and_of_the_router_multiply() {
    let plan = plan(&scenario("sdk: openai", FAILS, ""));

    let run = record_run(&plan, &()).unwrap();

    let calls = run.calls.unwrap();
    assert_eq!((calls.calls, calls.failed, calls.answered), (10, 10, 0));
    assert_eq!(calls.requests, 30, "three tries of the client");
    assert_eq!(calls.attempts, 60, "of two tries of the router each");
    assert_eq!((run.requests, run.attempts), (30, 60));
}

#[test]
fn without_a_client_a_call_is_a_request_and_nothing_is_told_of_calls() {
    let text = scenario("sdk: none", FAILS, "");
    let bare = text.replace("client: {sdk: none}\n", "");

    let (with, without) = (record_run(&plan(&text), &()), record_run(&plan(&bare), &()));

    let (mut with, without) = (with.unwrap(), without.unwrap());
    let calls = with.calls.take().unwrap();
    assert_eq!((calls.calls, calls.requests, calls.failed), (10, 10, 10));
    assert_eq!(with, without);
}

#[test]
fn a_client_waits_between_its_tries_and_latency_counts_from_the_call() {
    let fails_at_first = "{outage: {from_s: 0, to_s: 100.8}}";
    let plan = plan(&scenario(
        "sdk: openai",
        fails_at_first,
        "slo: {latency_s: 6}",
    ));

    let mut ledger = Ledger::default();
    let end = simulate(&plan, &mut ledger).unwrap();

    let calls = end.calls.unwrap();
    let first = RequestId(0);
    assert!(
        ledger.answered.contains_key(&first.again(2)),
        "it tried thrice"
    );
    let [tries @ .., _] = [first, first.again(1), first.again(2)];
    for retry in tries {
        let next = first.again(retry.retry() + 1);
        let waited = ledger.arrived[&next].since(ledger.answered[&retry].0);
        let full = 0.5 * f64::from(1 << retry.retry());
        let waited = waited.as_secs_f64();
        assert!(waited > full * 0.75 && waited <= full, "{retry}: {waited}");
    }
    // The call at 100 s is tried again after the outage: answered, and not within 5 s of its beginning.
    let slowest = calls.latency.quantile_s(1.0).unwrap();
    assert!(slowest > 6.0 && slowest < 8.0, "{slowest}");
    assert_eq!((calls.answered, calls.failed), (10, 0));
    assert_eq!(calls.good, Some(9));
}

#[test]
fn a_timeout_is_tried_again_and_litellm_goes_on_with_what_nobody_waits_for() {
    let plan = plan(&scenario("max_retries: 1, timeout_s: 4", "", ""));

    let mut traffic = Traffic::default();
    let end = simulate(&plan, &mut traffic).unwrap();

    let calls = end.calls.unwrap();
    assert_eq!((calls.failed, calls.timed_out), (10, 10));
    assert_eq!((calls.requests, calls.attempts), (20, 20));
    assert_eq!((calls.unheard, calls.unheard_answers), (20, 20));
    assert!(traffic.cancelled.is_empty());
}

#[test]
fn corrected_drops_what_nobody_waits_for() {
    let text = scenario("max_retries: 1, timeout_s: 4", "", "profile: corrected");

    let mut traffic = Traffic::default();
    let end = simulate(&plan(&text), &mut traffic).unwrap();

    let calls = end.calls.unwrap();
    assert_eq!((calls.timed_out, calls.unheard), (10, 0));
    assert_eq!(traffic.cancelled.len(), 20);
    let (at, request, deployment) = traffic.cancelled[0];
    assert_eq!(request, traffic.sent[0].1);
    assert!(deployment.is_some());
    assert!((at - traffic.sent[0].0 - 4.0).abs() < 1e-6);
}

#[test]
fn an_answer_at_the_last_moment_is_heard() {
    let plan = plan(&scenario("max_retries: 0, timeout_s: 5", "", ""));

    let run = record_run(&plan, &()).unwrap();

    assert_eq!(run.calls.unwrap().answered, 10);
}

#[test]
fn a_stream_may_take_long_as_long_as_it_says_something() {
    let streams = |client: &str| {
        let text = scenario(client, "", "");
        let plan = plan(&text.replace("  duration_s", "  stream_share: 1\n  duration_s"));
        simulate(&plan, &mut ()).unwrap().calls.unwrap()
    };

    assert_eq!(streams("max_retries: 0, timeout_s: 4").answered, 10);
    assert_eq!(streams("max_retries: 0, timeout_s: 2").timed_out, 10);
}

#[test]
fn who_goes_away_ends_a_stream_that_has_begun_and_one_that_begins_later() {
    for (patience, ends_after) in [(4.0, 4.0), (2.0, 3.0)] {
        let client = format!("patience: {{constant_s: {patience}}}");
        let text = scenario(&client, "", "");
        let plan = plan(&text.replace("  duration_s", "  stream_share: 1\n  duration_s"));

        let mut traffic = Traffic::default();
        let end = simulate(&plan, &mut traffic).unwrap();

        let calls = end.calls.unwrap();
        assert_eq!((calls.hung_up, calls.answered), (10, 0), "{patience}");
        assert_eq!(traffic.cancelled.len(), 10, "{patience}");
        let after = traffic.cancelled[0].0 - traffic.sent[0].0;
        assert!((after - ends_after).abs() < 1e-6, "{patience}: {after}");
    }
}

#[test]
fn who_goes_away_does_not_try_again() {
    let plan = plan(&scenario("patience: {constant_s: 0.2}", FAILS, ""));

    let run = record_run(&plan, &()).unwrap();

    let calls = run.calls.unwrap();
    assert_eq!((calls.calls, calls.hung_up, calls.failed), (10, 10, 0));
    assert_eq!(calls.requests, 10);
}

#[test]
fn whoever_waits_for_a_slot_can_go_away_too() {
    let text = scenario("patience: {constant_s: 1}", "", "profile: corrected")
        .replace("openai/a}", "openai/a, max_parallel_requests: 1}")
        .replace("openai/b}", "openai/b, max_parallel_requests: 1}")
        .replace("per_second: 0.01", "per_second: 5")
        .replace("duration_s: 1001", "duration_s: 20");

    let run = record_run(&plan(&text), &()).unwrap();

    let calls = run.calls.unwrap();
    assert!(run.parked > 0);
    assert_eq!(calls.hung_up, calls.calls);
    assert_eq!((run.cancelled, run.unfinished), (run.requests, 0));
}
