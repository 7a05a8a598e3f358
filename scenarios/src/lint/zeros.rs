//! Zeros that LiteLLM reads as "not given" (semantics 1.9, 4.4, 10).

use router::config::AllowedFailsPolicy;

use super::{
    Severity,
    subject::{Hit, Rule, Subject},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "zero-cooldown-time",
        severity: Severity::Warning,
        about: "cooldown_time: 0 of the router, which is read as 5 seconds",
        check: cooldown_time,
    },
    Rule {
        id: "zero-timeout",
        severity: Severity::Warning,
        about: "a timeout of 0, which is read as none",
        check: timeouts,
    },
    Rule {
        id: "zero-allowed-fails-policy",
        severity: Severity::Warning,
        about: "a 0 in allowed_fails_policy, which 1.92 reads as not given",
        check: policy,
    },
    Rule {
        id: "zero-max-parallel-requests",
        severity: Severity::Warning,
        about: "max_parallel_requests: 0, which is read as no limit",
        check: slots,
    },
];

fn cooldown_time(subject: &Subject<'_>) -> Vec<Hit> {
    let path = "router_settings.cooldown_time";
    if !subject.is_zero(path) {
        return Vec::new();
    }
    vec![Hit::new(
        path,
        "LiteLLM reads a cooldown of 0 as not given: it is 5 seconds",
        "write `disable_cooldowns: true` if none is meant",
    )]
}

fn timeouts(subject: &Subject<'_>) -> Vec<Hit> {
    let mut paths: Vec<String> = ["router_settings", "litellm_settings"]
        .iter()
        .flat_map(|section| TIMEOUTS.map(|key| format!("{section}.{key}")))
        .collect();
    for index in 0..subject.router.deployments.len() {
        let entry = subject.entry(index);
        paths.extend(TIMEOUTS.map(|key| format!("{entry}.litellm_params.{key}")));
    }
    paths.dedup();
    paths
        .into_iter()
        .filter(|path| subject.is_zero(path))
        .map(|path| {
            Hit::new(
                path,
                "LiteLLM reads a timeout of 0 as not given",
                "leave it out, or give the seconds that are meant",
            )
        })
        .collect()
}

fn policy(subject: &Subject<'_>) -> Vec<Hit> {
    let Some(policy) = &subject.settings().allowed_fails_policy else {
        return Vec::new();
    };
    if subject.profile().allowed_fails_policy_zero_counts {
        return Vec::new();
    }
    classes(policy)
        .into_iter()
        .filter(|(_, fails)| *fails == Some(0))
        .map(|(name, _)| {
            Hit::new(
                format!("router_settings.allowed_fails_policy.{name}"),
                "LiteLLM 1.92 reads a 0 here as not given, and counts by allowed_fails",
                "give 1, the least that counts",
            )
        })
        .collect()
}

/// The fields that 1.92 reads.
fn classes(policy: &AllowedFailsPolicy) -> [(&'static str, Option<u32>); 3] {
    [
        ("AuthenticationErrorAllowedFails", policy.authentication),
        ("TimeoutErrorAllowedFails", policy.timeout),
        ("RateLimitErrorAllowedFails", policy.rate_limit),
    ]
}

fn slots(subject: &Subject<'_>) -> Vec<Hit> {
    let deployments = subject.router.deployments.iter().enumerate();
    let own = deployments
        .filter(|(_, deployment)| deployment.max_parallel_requests == Some(0))
        .map(|(index, _)| subject.key_of(index, "max_parallel_requests"));
    let default = Some("router_settings.default_max_parallel_requests".to_owned())
        .filter(|_| subject.settings().default_max_parallel_requests == Some(0));
    own.chain(default)
        .map(|path| {
            Hit::new(
                path,
                "LiteLLM reads 0 requests at once as no limit",
                "leave it out, or set `model_info.blocked: true` to pause a deployment",
            )
        })
        .collect()
}

const TIMEOUTS: [&str; 3] = ["timeout", "stream_timeout", "request_timeout"];
