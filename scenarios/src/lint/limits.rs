//! Limits of requests and tokens a minute that hold less, or more, than they say (semantics 3.4, 3.5,
//! 8.4).

use router::StrategySpec;

use super::{
    Severity,
    subject::{Hit, Rule, Subject},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "usage-rpm-one-short",
        severity: Severity::Warning,
        about: "rpm under usage-based routing, which lets one request fewer through",
        check: one_short,
    },
    Rule {
        id: "usage-and-enforced-limits",
        severity: Severity::Warning,
        about: "usage-based-routing-v2 with enforce_model_rate_limits, which count a request twice",
        check: counted_twice,
    },
    Rule {
        id: "enforced-limits-without-limits",
        severity: Severity::Warning,
        about: "enforce_model_rate_limits where no deployment has rpm or tpm",
        check: nothing_to_enforce,
    },
    Rule {
        id: "usage-routing-without-limits",
        severity: Severity::Note,
        about: "usage-based routing where no deployment has rpm or tpm",
        check: usage_without_limits,
    },
    Rule {
        id: "strategy-args-unused",
        severity: Severity::Warning,
        about: "routing_strategy_args that the strategy does not take",
        check: unused_args,
    },
];

fn by_usage<'a>(subject: &Subject<'a>) -> Vec<usize> {
    let is_usage = |strategy: &StrategySpec| {
        matches!(
            strategy,
            StrategySpec::UsageBased(_) | StrategySpec::UsageBasedV2(_)
        )
    };
    let groups = subject
        .groups
        .iter()
        .filter(|group| is_usage(subject.strategy(group.name)));
    groups
        .flat_map(|group| group.members.iter().copied())
        .collect()
}

fn one_short(subject: &Subject<'_>) -> Vec<Hit> {
    let short: Vec<(usize, u64)> = by_usage(subject)
        .into_iter()
        .filter_map(|index| Some((index, subject.deployment(index).rpm_limit()?)))
        .filter(|(_, rpm)| *rpm > 1)
        .collect();
    let Some(&(first, rpm)) = short.first() else {
        return Vec::new();
    };
    let indices: Vec<usize> = short.iter().map(|&(index, _)| index).collect();
    vec![Hit::new(
        subject.key_of(first, "rpm"),
        format!(
            "rpm {rpm} lets {} requests a minute through under usage-based routing; so it is for {}",
            rpm - 1,
            subject.ids(&indices)
        ),
        "give one more than is meant",
    )]
}

fn counted_twice(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let is_v2 = matches!(settings.routing_strategy, StrategySpec::UsageBasedV2(_));
    if !is_v2 || !settings.optional_pre_call_checks.enforce_model_rate_limits {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.optional_pre_call_checks",
        "usage-based-routing-v2 and enforce_model_rate_limits count in one place, so each request \
         counts twice and half the rpm is left",
        "keep one of the two",
    )]
}

fn has_limits(subject: &Subject<'_>) -> bool {
    let mut deployments = subject.router.deployments.iter();
    deployments.any(|d| d.rpm_limit().is_some() || d.tpm_limit().is_some())
}

fn nothing_to_enforce(subject: &Subject<'_>) -> Vec<Hit> {
    let enforced = subject
        .settings()
        .optional_pre_call_checks
        .enforce_model_rate_limits;
    if !enforced || has_limits(subject) {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.optional_pre_call_checks",
        "no deployment has rpm or tpm, so enforce_model_rate_limits holds nothing",
        "give deployments their limits",
    )]
}

fn usage_without_limits(subject: &Subject<'_>) -> Vec<Hit> {
    if by_usage(subject).is_empty() || has_limits(subject) {
        return Vec::new();
    }
    vec![Hit::new(
        subject.setting_or_section("routing_strategy"),
        "no deployment has rpm or tpm: usage-based routing evens out tokens answered and holds no limit",
        "give deployments their limits",
    )]
}

/// What the reader did not take: arguments of another strategy, and names that are none.
fn unused_args(subject: &Subject<'_>) -> Vec<Hit> {
    let ignored = subject.config.ignored.iter();
    ignored
        .filter(|key| key.path.contains("routing_strategy_args"))
        .map(|key| {
            Hit::new(
                key.path.clone(),
                format!("the strategy does not take it: {}", key.reason),
                "take it out, or name the strategy that it is for",
            )
        })
        .collect()
}
