//! What several instances of the router make of limits, with a shared store and without
//! (semantics 12). Of a config alone nothing is found, as nobody knows how many will run it.

use router::StrategySpec;

use super::{
    Severity,
    subject::{Hit, Rule, Subject},
};
use crate::plan::Instances;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "limits-per-instance",
        severity: Severity::Warning,
        about: "limits that each of several instances holds for itself, for want of a shared store",
        check: limits,
    },
    Rule {
        id: "slots-per-instance",
        severity: Severity::Warning,
        about: "max_parallel_requests where there are several instances, each of which has these slots",
        check: slots,
    },
    Rule {
        id: "shared-counts-come-late",
        severity: Severity::Warning,
        about: "usage-based routing over a shared store, of which instances read little",
        check: late,
    },
    Rule {
        id: "store-of-one",
        severity: Severity::Note,
        about: "a Redis where there is one instance, which shares with nobody",
        check: of_one,
    },
];

/// The first limit a minute that something holds: by the strategies, or by enforcement.
fn limit_a_minute(subject: &Subject<'_>, with_enforcement: bool) -> Option<String> {
    let checks = subject.settings().optional_pre_call_checks;
    let enforced = with_enforcement && checks.enforce_model_rate_limits;
    let deployments = subject.router.deployments.iter().enumerate();
    let mut held = deployments.filter(|(_, d)| {
        let by_usage = matches!(
            subject.strategy(&d.model_name),
            StrategySpec::UsageBased(_) | StrategySpec::UsageBasedV2(_)
        );
        enforced || by_usage
    });
    held.find_map(|(index, d)| match (d.rpm_limit(), d.tpm_limit()) {
        (Some(_), _) => Some(subject.key_of(index, "rpm")),
        (None, Some(_)) => Some(subject.key_of(index, "tpm")),
        (None, None) => None,
    })
}

/// The instances, if there are several.
fn several(subject: &Subject<'_>) -> Option<Instances> {
    let instances = subject.around?.instances;
    (instances.count > 1).then_some(instances)
}

fn limits(subject: &Subject<'_>) -> Vec<Hit> {
    let Some(Instances {
        count,
        shared_state: false,
    }) = several(subject)
    else {
        return Vec::new();
    };
    let hit = |path: String| {
        Hit::new(
            path,
            format!(
                "without a shared store limits hold per instance: the {count} instances together \
                 let up to {count} times as much through"
            ),
            "say `instances: {shared_state: true}`, or give each instance its share of the limits",
        )
    };
    limit_a_minute(subject, true).into_iter().map(hit).collect()
}

fn slots(subject: &Subject<'_>) -> Vec<Hit> {
    let Some(Instances { count, .. }) = several(subject) else {
        return Vec::new();
    };
    let mut deployments = subject.router.deployments.iter();
    let own = deployments.position(|d| d.max_parallel_requests.is_some_and(|slots| slots > 0));
    let default = subject.settings().default_max_parallel_requests;
    let path = match (own, default) {
        (Some(index), _) => subject.key_of(index, "max_parallel_requests"),
        (None, Some(_)) => subject.setting_or_section("default_max_parallel_requests"),
        (None, None) => return Vec::new(),
    };
    vec![Hit::new(
        path,
        format!(
            "each of the {count} instances has these slots for itself, with a shared store or without"
        ),
        "give each instance its share of the slots",
    )]
}

fn late(subject: &Subject<'_>) -> Vec<Hit> {
    let shares = several(subject).is_some_and(|instances| instances.shared_state);
    if !shares || subject.profile().corrections.usage_is_reserved {
        return Vec::new();
    }
    let hit = |path: String| {
        Hit::new(
            path,
            "an instance reads what the others counted once a minute, or when it reserves, so that more \
             than the limit passes",
            "leave room below the provider's limit",
        )
    };
    limit_a_minute(subject, false)
        .into_iter()
        .map(hit)
        .collect()
}

fn of_one(subject: &Subject<'_>) -> Vec<Hit> {
    let alone = subject
        .around
        .is_some_and(|around| around.instances.count == 1);
    if !alone || !subject.settings().shared_store {
        return Vec::new();
    }
    let key = match subject.setting("redis_url") {
        Some(path) => path,
        None => subject.setting_or_section("redis_host"),
    };
    vec![Hit::new(
        key,
        "a simulation of one instance shares nothing",
        "say in a scenario how many there are: `instances: {count: 3}`",
    )]
}
