//! Settings that work on who sends a request or on what was sent before, where the requests of a
//! scenario have nothing of it: a simulation shows no effect of theirs. Of a config alone nothing is
//! found, as its requests come from its users.

use router::config::OptionalPreCallChecks;

use super::{
    Around, Severity,
    subject::{Hit, Rule, Subject},
};
use crate::workload::senders::Sender;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "needs-senders",
    severity: Severity::Warning,
    about: "settings that work on sessions, callers, contents or tags, where no sender of the scenario has \
            them, and alerts",
    check: needs_senders,
}];

fn needs_senders(subject: &Subject<'_>) -> Vec<Hit> {
    let Some(Around { workload, .. }) = subject.around else {
        return Vec::new();
    };
    let some = |has: fn(&Sender) -> bool| {
        let senders = workload.senders.as_ref();
        senders.is_some_and(|senders| senders.each.iter().any(has))
    };
    let settings = subject.settings();
    let checks = settings.optional_pre_call_checks;
    let by_group: Vec<_> = settings.model_group_affinity_config.values().collect();
    let has_sessions = some(|sender| sender.sessions.is_some());
    let has_callers = some(|sender| sender.callers > 0);
    let has_prefixes = some(|sender| sender.shared_prefix.is_some() && sender.marked);
    let lacks = |checks: &OptionalPreCallChecks| {
        (checks.session_affinity && !has_sessions)
            || (checks.deployment_affinity && !has_callers)
            || (checks.prompt_caching && !has_prefixes)
    };
    let has_repeats = some(|sender| sender.repeats.is_some());
    // `litellm_settings.cache` turns the response cache on too.
    let caching = match subject.setting("cache_responses") {
        Some(_) => "cache_responses",
        None => "cache",
    };
    let names_tags = some(|sender| {
        let overrides = sender.overrides.as_ref();
        overrides.is_some_and(|own| !own.tags.is_empty() || own.user_agent.is_some())
    });
    // Requests without tags go to deployments of this tag, if there are any.
    let has_default = subject
        .router
        .deployments
        .iter()
        .any(|d| d.tags.iter().any(|t| t == "default"));
    [
        ("optional_pre_call_checks", lacks(&checks), AFFINITY),
        (
            "model_group_affinity_config",
            by_group.into_iter().any(lacks),
            AFFINITY,
        ),
        (
            caching,
            settings.cache_responses && !has_repeats,
            (
                "the response cache goes by contents that come again, and no sender has `repeats`",
                "describe who sends in `workload.senders`",
            ),
        ),
        (
            "enable_tag_filtering",
            settings.enable_tag_filtering && !names_tags && !has_default,
            (
                "no sender has `tags` or a `user_agent`",
                "describe who sends in `workload.senders`",
            ),
        ),
        ("alerting_config", settings.alerting.is_some(), ALERTS),
    ]
    .into_iter()
    .filter(|(_, is_missing, _)| *is_missing)
    .map(|(key, _, (why, advice))| {
        Hit::new(
            subject.setting_or_section(key),
            format!("{why}: a simulation shows no effect of it"),
            advice,
        )
    })
    .collect()
}

const AFFINITY: (&str, &str) = (
    "affinity goes by `sessions`, `callers` or a `shared_prefix`, and no sender has what this asks for",
    "describe who sends in `workload.senders`",
);

const ALERTS: (&str, &str) = (
    "alerts are for somebody who hears them, and nobody does in a simulation",
    "read results as those of a router without it",
);
