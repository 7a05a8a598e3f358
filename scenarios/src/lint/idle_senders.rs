//! What senders of a scenario bring along, where nothing in the config or in this version of LiteLLM acts
//! on it. Of a config alone nothing is found, as its requests come from its users.

use router::{Api, Overrides, config::OptionalPreCallChecks};

use super::{
    Around, Severity,
    subject::{Hit, Rule, Subject, listed, plural},
};
use crate::workload::senders::Sender;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "sender-without-effect",
    severity: Severity::Warning,
    about: "what a sender of the scenario brings along, where nothing in the config acts on it",
    check: without_effect,
}];

/// One kind of thing that senders bring along.
struct Kind {
    /// As in `workload.senders`.
    name: &'static str,
    /// The setting that would act on it.
    setting: &'static str,
    has: fn(&Sender) -> bool,
    /// Why nothing comes of it; `None` if something does.
    idle: fn(&Subject<'_>) -> Option<&'static str>,
    advice: &'static str,
    severity: Option<Severity>,
}

fn without_effect(subject: &Subject<'_>) -> Vec<Hit> {
    let Some(Around { workload, .. }) = subject.around else {
        return Vec::new();
    };
    let Some(senders) = &workload.senders else {
        return Vec::new();
    };
    let hit = |kind: &Kind| {
        let having = senders.names.iter().zip(&senders.each);
        let having = having.filter(|(_, sender)| (kind.has)(sender));
        let names: Vec<&str> = having.map(|(name, _)| name.as_str()).collect();
        let why = (kind.idle)(subject).filter(|_| !names.is_empty())?;
        let mut hit = Hit::new(
            subject.setting_or_section(kind.setting),
            format!(
                "`{}` of {} {}: {why}",
                kind.name,
                plural(names.len(), "sender", "senders"),
                listed(&names)
            ),
            kind.advice,
        );
        hit.severity = kind.severity;
        Some(hit)
    };
    KINDS.iter().filter_map(hit).collect()
}

const KINDS: [Kind; 10] = [
    Kind {
        name: "tags",
        setting: "enable_tag_filtering",
        has: |sender| own(sender, |own| !own.tags.is_empty()),
        idle: |s| {
            (!s.settings().enable_tag_filtering)
                .then_some("tag filtering is off, so tags do not route")
        },
        advice: "set `enable_tag_filtering: true`, or take the tags out",
        severity: None,
    },
    Kind {
        name: "user_agent",
        setting: "enable_tag_filtering",
        has: |sender| own(sender, |own| own.user_agent.is_some()),
        idle: |s| {
            let some_pattern = s.router.deployments.iter().any(|d| !d.tag_regex.is_empty());
            (!s.settings().enable_tag_filtering || !some_pattern)
                .then_some("no deployment looks at it by a `tag_regex`, or tag filtering is off")
        },
        advice: "set `enable_tag_filtering: true` and a `tag_regex`, or take it out",
        severity: None,
    },
    Kind {
        name: "sessions",
        setting: "optional_pre_call_checks",
        has: |sender| sender.sessions.is_some(),
        idle: |s| {
            let kept = some_check(s, |c| c.session_affinity || c.prompt_caching);
            (!kept).then_some(
                "without `session_affinity` or `prompt_caching` the router sends each request of \
                 a session anywhere",
            )
        },
        advice: "add the check to `optional_pre_call_checks` if sessions are to stay together",
        severity: Some(Severity::Note),
    },
    Kind {
        name: "callers",
        setting: "optional_pre_call_checks",
        has: |sender| sender.callers > 0,
        idle: |s| {
            let by_caller = s.profile().sessions_by_caller;
            let used = some_check(s, |c| {
                c.deployment_affinity || (c.session_affinity && by_caller)
            });
            (!used).then_some("only affinity goes by keys, and no check of it is on")
        },
        advice: "add `deployment_affinity` to `optional_pre_call_checks`, or take them out",
        severity: None,
    },
    Kind {
        name: "repeats",
        setting: "cache_responses",
        has: |sender| sender.repeats.is_some(),
        idle: |s| {
            (!s.settings().cache_responses)
                .then_some("the response cache is off, so requests that come again are sent again")
        },
        advice: "set `cache_responses: true`, or take them out",
        severity: None,
    },
    Kind {
        name: "no_cache",
        setting: "cache_responses",
        has: |sender| own(sender, |own| own.no_cache),
        idle: |s| (!s.settings().cache_responses).then_some("the response cache is off anyway"),
        advice: "take it out",
        severity: None,
    },
    Kind {
        name: "priority",
        setting: "default_priority",
        has: |sender| sender.priority.is_some(),
        idle: |s| {
            // An entry leaves the queue when its request goes on, so nobody is ever before another.
            (!s.profile().queue_entries_stay)
                .then_some("the priority queue of this version never lets a request wait")
        },
        advice: "read results as those of requests without a priority",
        severity: None,
    },
    Kind {
        name: "priority",
        setting: "default_priority",
        has: |sender| {
            sender.priority.is_some()
                && (sender.embeds || own(sender, |own| own.blocking) || sender.priority == Some(0))
        },
        idle: |s| {
            s.profile().queue_entries_stay.then_some(
                "embeddings and blocking calls are not queued, and a priority of 0 counts as none",
            )
        },
        advice: "take it out, or give a priority of 1 or more",
        severity: None,
    },
    Kind {
        name: "allowed_model_region",
        setting: "enable_pre_call_checks",
        has: |sender| own(sender, |own| own.allowed_model_region.is_some()),
        idle: |s| {
            (!s.settings().enable_pre_call_checks)
                .then_some("pre-call checks are off, so regions are not looked at")
        },
        advice: "set `enable_pre_call_checks: true`, or take it out",
        severity: None,
    },
    Kind {
        name: "max_retries",
        setting: "num_retries",
        has: |sender| {
            own(sender, |own| {
                own.max_retries.is_some() && own.api != Api::Embedding
            })
        },
        idle: |s| {
            (!s.profile().client_retries_too)
                .then_some("this version does not pass it on to the provider's client library")
        },
        advice: "set `num_retries` of the sender, or take it out",
        severity: None,
    },
];

/// Whether a sender's own settings are so.
fn own(sender: &Sender, is: impl Fn(&Overrides) -> bool) -> bool {
    sender.overrides.as_deref().is_some_and(is)
}

/// Whether the checks of all groups, or those of one, are so.
fn some_check(subject: &Subject<'_>, is: impl Fn(&OptionalPreCallChecks) -> bool) -> bool {
    let settings = subject.settings();
    let of_groups = settings.model_group_affinity_config.values();
    is(&settings.optional_pre_call_checks) || of_groups.into_iter().any(is)
}
