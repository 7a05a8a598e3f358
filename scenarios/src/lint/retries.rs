//! Retries that are more, fewer or later than they look (semantics 5).

use super::{
    Severity,
    subject::{Hit, Rule, Subject, listed},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "num-retries-squared",
        severity: Severity::Warning,
        about: "a deployment's num_retries, which 1.92 gives to the provider's kit as well",
        check: squared,
    },
    Rule {
        id: "num-retries-twice",
        severity: Severity::Warning,
        about: "num_retries under router_settings and under litellm_settings",
        check: twice,
    },
    Rule {
        id: "deployment-max-retries",
        severity: Severity::Warning,
        about: "max_retries of a deployment, which has no effect",
        check: max_retries,
    },
    Rule {
        id: "retry-after-without-effect",
        severity: Severity::Note,
        about: "retry_after where every model has two deployments or more",
        check: retry_after,
    },
    Rule {
        id: "retry-policy-class-unread",
        severity: Severity::Warning,
        about: "classes of a retry policy that 1.92 does not read",
        check: unread_classes,
    },
];

fn squared(subject: &Subject<'_>) -> Vec<Hit> {
    if !subject.profile().client_retries_too {
        return Vec::new();
    }
    let deployments = subject.router.deployments.iter().enumerate();
    deployments
        .filter_map(|(index, deployment)| {
            let retries = deployment.num_retries.filter(|&n| n > 0)?;
            let calls = (u64::from(retries) + 1).pow(2);
            Some(Hit::new(
                subject.key_of(index, "num_retries"),
                format!(
                    "the provider's kit retries {retries} times inside each of the router's tries, \
                     so a failing call is made {calls} times"
                ),
                "give num_retries under router_settings or by model_group_retry_policy",
            ))
        })
        .collect()
}

fn twice(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let (Some(own), Some(global)) = (settings.num_retries, settings.global_num_retries) else {
        return Vec::new();
    };
    if own == global {
        return Vec::new();
    }
    let (beaten, winner, count) = if subject.profile().callers_num_retries_first {
        ("litellm_settings", "router_settings", own)
    } else {
        ("router_settings", "litellm_settings", global)
    };
    vec![Hit::new(
        format!("{beaten}.num_retries"),
        format!("{winner}.num_retries, which is {count}, beats it"),
        "keep one of the two",
    )]
}

fn max_retries(subject: &Subject<'_>) -> Vec<Hit> {
    let with: Vec<usize> = (0..subject.router.deployments.len())
        .filter(|&index| {
            let path = format!("{}.litellm_params.max_retries", subject.entry(index));
            subject.given(&path).is_some()
        })
        .collect();
    let Some(&first) = with.first() else {
        return Vec::new();
    };
    vec![Hit::new(
        format!("{}.litellm_params.max_retries", subject.entry(first)),
        format!(
            "max_retries of {} has no effect: the router turns the kit's own retries off",
            subject.ids(&with)
        ),
        "use num_retries",
    )]
}

/// The pause is only asked for where a group has one deployment, or none that is healthy.
fn retry_after(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let lone = subject.groups.iter().any(|group| group.members.len() == 1);
    if settings.retry_after.is_zero() || lone {
        return Vec::new();
    }
    vec![Hit::new(
        subject.setting_or_section("retry_after"),
        "every model has two deployments or more, and then a retry goes to a healthy one at once",
        "do not count on the pause",
    )]
}

fn unread_classes(subject: &Subject<'_>) -> Vec<Hit> {
    if subject.profile().policies_know_all_classes {
        return Vec::new();
    }
    let settings = subject.settings();
    let groups = settings
        .model_group_retry_policy
        .iter()
        .map(|(group, policy)| {
            let path = crate::yaml::join("router_settings.model_group_retry_policy", group);
            (path, policy)
        });
    let router = settings.retry_policy.iter();
    router
        .map(|policy| ("router_settings.retry_policy".to_owned(), policy))
        .chain(groups)
        .filter_map(|(path, policy)| {
            let fields = [
                ("InternalServerErrorRetries", policy.internal_server),
                ("ServiceUnavailableErrorRetries", policy.service_unavailable),
                ("NotFoundErrorRetries", policy.not_found),
                ("DefaultRetries", policy.default),
            ];
            let unread: Vec<&str> = fields
                .iter()
                .filter(|(_, retries)| retries.is_some())
                .map(|(name, _)| *name)
                .collect();
            let first = unread.first()?;
            Some(Hit::new(
                format!("{path}.{first}"),
                format!("LiteLLM 1.92 does not read {}", listed(&unread)),
                "use num_retries for such errors, or a newer version",
            ))
        })
        .collect()
}
