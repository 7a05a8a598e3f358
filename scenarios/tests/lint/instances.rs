//! What is found in a config once there are several instances: each rule with instances that have it,
//! and with some that have not.

use router::{Profile, ProfileName};
use scenarios::{
    Instances,
    lint::{Around, Finding},
};

use crate::{found_for, ids, workload};

/// A rule, a config, the instances that it finds something for, and some that it does not.
pub(crate) const CASES: &[(&str, &str, Instances, Instances)] = &[
    ("limits-per-instance", LIMITED, of(3, false), of(3, true)),
    ("limits-per-instance", ENFORCED, of(2, false), of(1, false)),
    (
        "shared-counts-come-late",
        LIMITED,
        of(3, true),
        of(3, false),
    ),
    ("slots-per-instance", SLOTS, of(2, true), of(1, true)),
    (
        "slots-per-instance",
        DEFAULT_SLOTS,
        of(2, false),
        of(1, false),
    ),
    ("store-of-one", WITH_REDIS, of(1, true), of(2, true)),
];

const fn of(count: u32, shared_state: bool) -> Instances {
    Instances {
        count,
        shared_state,
    }
}

fn found(text: &str, profile: Profile, instances: Instances) -> Vec<Finding> {
    let workload = workload("");
    let around = Around {
        workload: &workload,
        instances,
    };
    found_for(text, profile, Some(around))
}

macro_rules! config {
    ($more:expr, $settings:expr) => {
        concat!(
            "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o",
            $more,
            "}, model_info: {id: a}}\nrouter_settings: {",
            $settings,
            "}\n"
        )
    };
}

const LIMITED: &str = config!(", tpm: 6000", "routing_strategy: usage-based-routing-v2");
const ENFORCED: &str = config!(
    ", rpm: 60",
    "optional_pre_call_checks: [enforce_model_rate_limits]"
);
const SLOTS: &str = config!(", max_parallel_requests: 5", "num_retries: 1");
const DEFAULT_SLOTS: &str = config!("", "default_max_parallel_requests: 5");
const WITH_REDIS: &str = config!("", "redis_host: os.environ/REDIS_HOST, redis_port: 6379");

#[test]
fn every_rule_of_instances_finds_what_it_is_for_and_nothing_in_its_counterpart() {
    for (id, text, bad, good) in CASES {
        let found = |instances| found(text, Profile::litellm_1_110(), instances);

        let findings = found(*bad);
        let finding = findings.iter().find(|finding| finding.id == *id);
        assert!(finding.is_some_and(|f| f.line > 0), "{id}: {findings:#?}");
        assert!(!ids(&found(*good)).contains(id), "{id}");
    }
}

#[test]
fn limits_of_simple_shuffle_are_no_limits_and_corrected_counts_in_time() {
    let shuffled = config!(", rpm: 60", "num_retries: 1");
    for name in ProfileName::ALL {
        let findings = found(shuffled, name.profile(), of(3, false));
        assert!(!ids(&findings).contains("limits-per-instance"));
    }

    let findings = found(LIMITED, Profile::corrected(), of(3, true));
    assert!(!ids(&findings).contains("shared-counts-come-late"));
}
