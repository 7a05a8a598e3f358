//! Cooldowns that cannot happen, or happen where they hurt most (semantics 4).

use router::config::AllowedFailsPolicy;

use super::{
    Severity,
    subject::{Hit, Rule, Subject, listed, plural},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "allowed-fails-equals-default",
        severity: Severity::Warning,
        about: "allowed_fails equal to the library's, which 1.92 takes for not given",
        check: equals_default,
    },
    Rule {
        id: "global-allowed-fails",
        severity: Severity::Warning,
        about: "litellm_settings.allowed_fails, which does not cool anything",
        check: global,
    },
    Rule {
        id: "cooldowns-disabled",
        severity: Severity::Warning,
        about: "settings of cooldowns beside disable_cooldowns: true",
        check: disabled,
    },
    Rule {
        id: "lone-deployment-benched-at-once",
        severity: Severity::Note,
        about: "models of one deployment and no fallback, which a single 401 or 404 takes out",
        check: lone_benched,
    },
    Rule {
        id: "lone-deployment-hardly-cools",
        severity: Severity::Note,
        about: "cooldown_time where every model has one deployment",
        check: lone_hardly_cools,
    },
    Rule {
        id: "lone-deployment-spared",
        severity: Severity::Note,
        about: "allowed_fails where a lone deployment is never benched by it",
        check: lone_spared,
    },
    Rule {
        id: "bad-request-allowed-fails",
        severity: Severity::Warning,
        about: "allowed fails of errors that never cool a deployment",
        check: bad_requests,
    },
    Rule {
        id: "allowed-fails-class-unread",
        severity: Severity::Warning,
        about: "classes of an allowed-fails policy that 1.92 does not read",
        check: unread_classes,
    },
    Rule {
        id: "model-info-cooldown-unread",
        severity: Severity::Warning,
        about: "settings of cooldowns in model_info, which 1.92 does not read",
        check: model_info,
    },
];

/// Whether the rules of `allowed_fails` are in force at the router's level (semantics 4.4).
fn counts_fails(subject: &Subject<'_>) -> bool {
    let settings = subject.settings();
    let by_number = match (
        settings.allowed_fails,
        subject.profile().explicit_allowed_fails_counts,
    ) {
        (Some(_), true) => true,
        (Some(own), false) => own != library_default(subject),
        (None, _) => false,
    };
    settings.allowed_fails_policy.is_some() || by_number
}

fn library_default(subject: &Subject<'_>) -> u32 {
    subject
        .settings()
        .global_allowed_fails
        .unwrap_or(ALLOWED_FAILS)
}

fn equals_default(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let equal = settings.allowed_fails == Some(library_default(subject));
    if subject.profile().explicit_allowed_fails_counts || !equal {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.allowed_fails",
        format!(
            "LiteLLM 1.92 takes {} for not given, because litellm's own value is the same: over half \
             of at least 5 requests a minute must fail",
            library_default(subject)
        ),
        "give another number if failures are to be counted",
    )]
}

fn global(subject: &Subject<'_>) -> Vec<Hit> {
    if subject.settings().global_allowed_fails.is_none() {
        return Vec::new();
    }
    vec![Hit::new(
        "litellm_settings.allowed_fails",
        "allowed_fails has no effect on cooldowns here",
        "put it under router_settings",
    )]
}

fn disabled(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    if !settings.disable_cooldowns {
        return Vec::new();
    }
    let keys = ["cooldown_time", "allowed_fails", "allowed_fails_policy"];
    keys.into_iter()
        .filter_map(|key| subject.setting(key))
        .map(|path| {
            Hit::new(
                path,
                "cooldowns are disabled, so this has no effect",
                "take `disable_cooldowns` out, or this",
            )
        })
        .collect()
}

/// Names of models with one deployment that can be benched.
fn lone<'a>(subject: &Subject<'a>) -> Vec<&'a str> {
    let wildcards_cool = subject.profile().wildcards_cool;
    subject
        .groups
        .iter()
        .filter(|group| group.members.len() == 1)
        .filter(|group| wildcards_cool || !group.name.contains('*'))
        .map(|group| group.name)
        .collect()
}

fn lone_benched(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let spared = subject.profile().corrections.lone_deployments_are_spared;
    if settings.disable_cooldowns || counts_fails(subject) || spared {
        return Vec::new();
    }
    let names: Vec<&str> = lone(subject)
        .into_iter()
        .filter(|name| {
            let index = subject.group(name).map_or(0, |group| group.members[0]);
            let deployment = subject.deployment(index);
            let never = deployment.cooldown_time.is_some_and(|time| time.is_zero());
            let own =
                deployment.allowed_fails.is_some() || deployment.allowed_fails_policy.is_some();
            let counts = own && subject.profile().model_info_cooldown_settings;
            !never && !counts && !subject.has_fallback(name)
        })
        .collect();
    let Some(first) = names.first().and_then(|name| subject.group(name)) else {
        return Vec::new();
    };
    let seconds = settings
        .cooldown_time
        .map_or(COOLDOWN_S, |time| time.as_secs_f64());
    vec![Hit::new(
        subject.entry(first.members[0]),
        format!(
            "a single 401 or 404 benches the only deployment of {} for {seconds} s, and every request \
             fails meanwhile",
            listed(&names)
        ),
        "add a deployment, or set its `cooldown_time: 0`",
    )]
}

/// By the default rules a lone deployment is benched for nothing but 401 and 404, and for a thousand
/// failures out of a thousand (semantics 4.2).
fn lone_hardly_cools(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let all_lone = subject.groups.iter().all(|group| group.members.len() == 1);
    let given = settings.cooldown_time.is_some() && !settings.disable_cooldowns;
    if !all_lone || !given || counts_fails(subject) {
        return Vec::new();
    }
    vec![Hit::new(
        subject.setting_or_section("cooldown_time"),
        "every model has one deployment, and then neither 429 nor 5xx starts a cooldown, unless all of \
         1000 requests a minute fail",
        "count failures with allowed_fails_policy if such a deployment is to be left alone for a while",
    )]
}

fn lone_spared(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    if settings.disable_cooldowns
        || settings.allowed_fails.is_none()
        || settings.allowed_fails_policy.is_some()
        || !subject.profile().allowed_fails_spares_lone
    {
        return Vec::new();
    }
    let names: Vec<&str> = lone(subject)
        .into_iter()
        .filter(|name| !subject.has_fallback(name))
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.allowed_fails",
        format!(
            "{} {} one deployment and no fallback, and is never benched by allowed_fails",
            listed(&names),
            plural(names.len(), "has", "have each"),
        ),
        "name the errors in allowed_fails_policy if it is to be benched all the same",
    )]
}

/// 400s are no reason for a cooldown, whatever a policy of the router says (semantics 4.1).
fn bad_requests(subject: &Subject<'_>) -> Vec<Hit> {
    let Some(policy) = &subject.settings().allowed_fails_policy else {
        return Vec::new();
    };
    if subject.profile().corrections.policies_open_the_gate {
        return Vec::new();
    }
    [
        ("BadRequestErrorAllowedFails", policy.bad_request),
        (
            "ContentPolicyViolationErrorAllowedFails",
            policy.content_policy_violation,
        ),
    ]
    .into_iter()
    .filter(|(_, fails)| fails.is_some())
    .map(|(name, _)| {
        Hit::new(
            format!("router_settings.allowed_fails_policy.{name}"),
            "a bad request never cools a deployment, so this is never reached",
            "take it out, or put it into the deployment's model_info with LiteLLM 1.110",
        )
    })
    .collect()
}

fn unread_classes(subject: &Subject<'_>) -> Vec<Hit> {
    let Some(policy) = &subject.settings().allowed_fails_policy else {
        return Vec::new();
    };
    if subject.profile().policies_know_all_classes {
        return Vec::new();
    }
    new_classes(policy)
        .into_iter()
        .filter(|(_, fails)| fails.is_some())
        .map(|(name, _)| {
            Hit::new(
                format!("router_settings.allowed_fails_policy.{name}"),
                "LiteLLM 1.92 does not read it, and counts such errors by allowed_fails",
                "use allowed_fails, or a newer version",
            )
        })
        .collect()
}

fn new_classes(policy: &AllowedFailsPolicy) -> [(&'static str, Option<u32>); 4] {
    [
        ("InternalServerErrorAllowedFails", policy.internal_server),
        (
            "ServiceUnavailableErrorAllowedFails",
            policy.service_unavailable,
        ),
        ("BadGatewayErrorAllowedFails", policy.bad_gateway),
        ("NotFoundErrorAllowedFails", policy.not_found),
    ]
}

fn model_info(subject: &Subject<'_>) -> Vec<Hit> {
    if subject.profile().model_info_cooldown_settings {
        return Vec::new();
    }
    (0..subject.router.deployments.len())
        .filter_map(|index| {
            let info = format!("{}.model_info", subject.entry(index));
            let keys = ["allowed_fails", "allowed_fails_policy", "cooldown_time"];
            let path = keys
                .into_iter()
                .map(|key| format!("{info}.{key}"))
                .find(|path| subject.given(path).is_some())?;
            Some(Hit::new(
                path,
                "LiteLLM 1.92 does not read settings of cooldowns from model_info",
                "put cooldown_time into litellm_params, and the others under router_settings",
            ))
        })
        .collect()
}

/// LiteLLM's `DEFAULT_ALLOWED_FAILS`.
const ALLOWED_FAILS: u32 = 3;
/// LiteLLM's `DEFAULT_COOLDOWN_TIME_SECONDS`.
const COOLDOWN_S: f64 = 5.0;
