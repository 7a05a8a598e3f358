//! Settings that work on who sends a request or what it holds. The router acts on them, but the
//! requests of a scenario say neither yet, so a simulation shows no effect of theirs.

use super::{
    Severity,
    subject::{Hit, Rule, Subject},
};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "needs-senders",
    severity: Severity::Warning,
    about: "settings that work on sessions, callers, contents or alerts, which simulations have none of",
    check: needs_senders,
}];

fn needs_senders(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let checks = settings.optional_pre_call_checks;
    let by_group = settings.model_group_affinity_config.values();
    let pins_of = |checks: &router::config::OptionalPreCallChecks| {
        checks.session_affinity || checks.deployment_affinity || checks.prompt_caching
    };
    // `litellm_settings.cache` turns the response cache on too.
    let caching = match subject.setting("cache_responses") {
        Some(_) => "cache_responses",
        None => "cache",
    };
    [
        ("optional_pre_call_checks", pins_of(&checks), AFFINITY),
        (
            "model_group_affinity_config",
            by_group.into_iter().any(pins_of),
            AFFINITY,
        ),
        (
            caching,
            settings.cache_responses,
            "the response cache goes by contents, which the requests of a scenario do not have",
        ),
        (
            "alerting_config",
            settings.alerting.is_some(),
            "alerts are for somebody who hears them, and nobody does in a simulation",
        ),
    ]
    .into_iter()
    .filter(|(_, is_on, _)| *is_on)
    .map(|(key, _, why)| {
        Hit::new(
            subject.setting_or_section(key),
            format!("{why}: a simulation shows no effect of it"),
            "read results as those of a router without it",
        )
    })
    .collect()
}

const AFFINITY: &str =
    "affinity goes by sessions, callers and prompts, which the requests of a scenario do not have";
