//! The `instances` block.

use router::RequestId;
use scenarios::Instances;

use super::{GOOD, load, with};

/// What the first arms' runs have.
fn instances(text: &str) -> Vec<Instances> {
    let scenario = load(text).unwrap_or_else(|error| panic!("{error}"));
    let arms = 0..scenario.arms().len();
    arms.map(|arm| scenario.plan(arm, 0).instances).collect()
}

const fn of(count: u32, shared_state: bool) -> Instances {
    Instances {
        count,
        shared_state,
    }
}

const REDIS: &str = "num_retries: 2, redis_host: os.environ/REDIS, redis_port: 6379";

#[test]
fn there_is_one_instance_unless_the_scenario_says_how_many() {
    assert_eq!(instances(GOOD), [Instances::default()]);
    let three = format!("{GOOD}instances: {{count: 3}}\n");
    assert_eq!(instances(&three), [of(3, false)]);
    let sharing = format!("{GOOD}instances: {{count: 3, shared_state: true}}\n");
    assert_eq!(instances(&sharing), [of(3, true)]);
}

#[test]
fn they_share_a_store_if_the_config_names_a_redis_unless_the_scenario_says_otherwise() {
    let redis = with("num_retries: 2", REDIS);
    let more = |block: &str| instances(&format!("{redis}instances: {block}\n"));

    assert_eq!(more("{count: 2}"), [of(2, true)]);
    assert_eq!(more("{count: 2, shared_state: false}"), [of(2, false)]);
}

#[test]
fn their_number_and_whether_they_share_can_be_swept() {
    let swept = "instances: {count: 2}\nsweep: {instances.count: [1, 4], instances.shared_state: [false, true]}\n";

    assert_eq!(
        instances(&format!("{GOOD}{swept}")),
        [of(1, false), of(1, true), of(4, false), of(4, true)]
    );
}

#[test]
fn a_config_without_a_store_can_be_swept_against_one_with_it() {
    let swept = "instances: {count: 2}\nsweep: {redis_url: [null, 'redis://r']}\n";

    assert_eq!(
        instances(&format!("{GOOD}{swept}")),
        [of(2, false), of(2, true)]
    );
}

#[test]
fn requests_go_round() {
    let three = of(3, false);
    let went: Vec<usize> = (0..7)
        .map(|number| three.of_request(RequestId(number)))
        .collect();

    assert_eq!(went, [0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn limits_that_hold_per_instance_are_told() {
    let limited = with(
        "model: azure/gpt-4o",
        "model: azure/gpt-4o, rpm: 60, max_parallel_requests: 0",
    );
    let limited = limited.replace(
        "num_retries: 2",
        "num_retries: 2, routing_strategy: usage-based-routing-v2",
    );
    let told = |block: &str| {
        let scenario = load(&format!("{limited}{block}\n")).unwrap();
        let of_instances = |note: &String| note.starts_with("instances: 3");
        let said = scenario.notes().iter().any(of_instances);
        assert_eq!(said, !block.is_empty());
        let findings = scenario.findings().iter();
        findings.map(|finding| finding.id).collect::<Vec<_>>()
    };

    assert!(told("instances: {count: 3}").contains(&"limits-per-instance"));
    assert!(!told("instances: {count: 3, shared_state: true}").contains(&"limits-per-instance"));
    assert!(!told("").contains(&"limits-per-instance"));
}
