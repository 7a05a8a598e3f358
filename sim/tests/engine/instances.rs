//! Several instances of the router: requests go round them, and reports count them as one system.

use router::{Answer, RequestId};
use sim::simulate;

use super::{Ledger, STEADY, plan, scenario};

const QUICK: &str = "default: {latency: {first_token: {constant: {ms: 20}}}}";

/// Requests that were answered well, of 18 with 1000 tokens each within 50 s, at a limit of 6000 tokens
/// a minute.
fn of_18(profile: &str, settings: &str, instances: &str) -> usize {
    let text = format!(
        "purpose: N instances, N times the limit (BR-039).
kind: terminating
profile: {profile}
replications: 1
litellm:
  model_list:
    - {{model_name: m, litellm_params: {{model: openai/a, tpm: 6000, max_parallel_requests: 100}}}}
  router_settings: {{num_retries: 0, {settings}}}
providers: {{{QUICK}}}
workload:
  arrivals: {{constant: {{per_second: 0.36}}}}
  lengths: {{prompt: {{constant: 10}}, output: {{constant: 990}}}}
  duration_s: 51
instances: {{{instances}}}
"
    );
    let mut ledger = Ledger::default();
    let end = simulate(&plan(&text), &mut ledger).unwrap();
    assert_eq!(end.requests, 18);
    served(&ledger).len()
}

fn served(ledger: &Ledger) -> Vec<RequestId> {
    let ok = |(id, (_, answer)): (&RequestId, &(_, Answer))| {
        matches!(answer, Answer::Completed { .. }).then_some(*id)
    };
    ledger.answered.iter().filter_map(ok).collect()
}

#[test]
fn br_039_limits_hold_for_each_instance_or_for_all_that_share_a_store() {
    let v2 = "routing_strategy: usage-based-routing-v2";
    let enforced = "optional_pre_call_checks: [enforce_model_rate_limits]";
    for settings in [v2, enforced] {
        assert_eq!(of_18("corrected", settings, "count: 1"), 6);
        assert_eq!(
            of_18("corrected", settings, "count: 3, shared_state: true"),
            6
        );
        assert_eq!(of_18("corrected", settings, "count: 3"), 18);
    }
    assert_eq!(
        of_18("litellm-1.110", v2, "count: 3, shared_state: true"),
        15
    );
    assert_eq!(
        of_18("litellm-1.92", v2, "count: 3, shared_state: true"),
        15
    );
    assert_eq!(
        of_18("litellm-1.110", enforced, "count: 3, shared_state: true"),
        6
    );
    assert_eq!(
        of_18("litellm-1.92", enforced, "count: 3, shared_state: true"),
        18
    );
}

/// A run of the usual two deployments.
fn run(settings: &str, providers: &str, workload: &str, more: &str) -> Ledger {
    let text = format!("{}{more}\n", scenario(settings, providers, workload));
    let mut ledger = Ledger::default();
    let end = simulate(&plan(&text), &mut ledger).unwrap();
    assert_eq!(u64::try_from(ledger.answered.len()).unwrap(), end.requests);
    ledger
}

#[test]
fn a_store_of_one_instance_changes_nothing() {
    let settings = "num_retries: 2, routing_strategy: usage-based-routing-v2";
    let faulty = "default: {latency: {first_token: {constant: {ms: 20}}}, faults: [{error_rate: {share: 0.3, status: 429}}]}";
    let of = |more: &str| {
        let ledger = run(settings, faulty, STEADY, more);
        format!("{:?}", ledger.answered)
    };

    assert_eq!(of(""), of("instances: {count: 1, shared_state: true}"));
    let shared = "instances: {count: 4, shared_state: true}";
    assert_eq!(of(shared), of(shared), "the same plan gives the same run");
    assert_ne!(of(shared), of("instances: {count: 4}"));
}

#[test]
fn what_one_instance_learnt_the_others_follow_only_over_a_store() {
    // a refuses everybody for a minute and a 429 benches it for that long; each instance that does not
    // know spends one attempt on it.
    let refusing = "a: {latency: {first_token: {constant: {ms: 20}}}, faults: [{outage: {status: 429}}]}, b: {latency: {first_token: {constant: {ms: 20}}}}";
    let settings = "num_retries: 0, cooldown_time: 60, routing_strategy: least-busy";
    let slow = "arrivals: {constant: {per_second: 0.5}}, duration_s: 40";
    let failed = |more: &str| {
        let ledger = run(settings, refusing, slow, more);
        ledger.answered.len() - served(&ledger).len()
    };

    assert_eq!(failed(""), 1);
    assert_eq!(failed("instances: {count: 5}"), 5);
    assert_eq!(failed("instances: {count: 5, shared_state: true}"), 1);
}

#[test]
fn an_operator_clears_the_cooldowns_of_every_instance() {
    let refusing = "a: {latency: {first_token: {constant: {ms: 20}}}, faults: [{outage: {to_s: 5, status: 429}}]}, b: {latency: {first_token: {constant: {ms: 20}}}, faults: [{outage: {to_s: 5, status: 429}}]}";
    let settings = "num_retries: 0, cooldown_time: 1000";
    for shared in [false, true] {
        let more = format!(
            "instances: {{count: 3, shared_state: {shared}}}\nactions: [{{at_s: 6, do: clear_cooldowns}}]"
        );
        let ledger = run(settings, refusing, STEADY, &more);

        let after = ledger
            .arrived
            .iter()
            .filter(|(_, at)| at.as_secs_f64() > 6.0);
        let served = served(&ledger);
        assert!(after.clone().count() > 30);
        for (id, _) in after {
            assert!(served.contains(id), "{id}, shared {shared}");
        }
    }
}

#[test]
fn requests_that_are_parked_in_any_instance_are_answered() {
    for shared in [false, true] {
        let more = format!("profile: corrected\ninstances: {{count: 3, shared_state: {shared}}}");
        let settings = "default_max_parallel_requests: 1";
        let slow = "default: {latency: {first_token: {constant: {ms: 900}}}}";
        let ledger = run(settings, slow, STEADY, &more);

        assert_eq!(served(&ledger).len(), ledger.arrived.len());
    }
}
