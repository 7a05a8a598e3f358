//! Shares of deployments that are not what they look like (semantics 3.1, 7).

use router::{ShuffleMetric, StrategySpec, WhenSlotsFull};

use super::{
    Severity,
    subject::{Group, Hit, Rule, Subject, listed},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "weight-as-text",
        severity: Severity::Error,
        about: "a weight in quotes, with which every draw of simple-shuffle fails",
        check: texts,
    },
    Rule {
        id: "weight-negative",
        severity: Severity::Error,
        about: "a weight below zero, which takes from the shares of the other deployments",
        check: negative,
    },
    Rule {
        id: "weight-without-effect",
        severity: Severity::Warning,
        about: "weights under a strategy that does not read them",
        check: unread,
    },
    Rule {
        id: "weight-zero-everywhere",
        severity: Severity::Warning,
        about: "a model whose deployments all have weight 0",
        check: zero_everywhere,
    },
    Rule {
        id: "weight-zero",
        severity: Severity::Note,
        about: "a deployment of weight 0 beside others, which gets nothing while they are well",
        check: zero_beside_others,
    },
    Rule {
        id: "weight-missing",
        severity: Severity::Warning,
        about: "weights on some deployments of a model and not on others",
        check: missing,
    },
    Rule {
        id: "rpm-limits-requests-at-once",
        severity: Severity::Note,
        about: "rpm or tpm without max_parallel_requests, which also bound requests at once",
        check: slots,
    },
];

fn texts(subject: &Subject<'_>) -> Vec<Hit> {
    let shuffled = subject
        .groups
        .iter()
        .filter(|group| is_shuffled(subject, group));
    shuffled
        .filter_map(|group| {
            let is_text = |index: &usize| subject.deployment(*index).weight_is_text;
            let first = group.members.iter().copied().find(|index| is_text(index))?;
            Some(Hit::new(
                subject.key_of(first, "weight"),
                format!(
                    "a weight of `{}` is a text: requests for it fail with a TypeError before any \
                     call",
                    group.name
                ),
                "write the number without quotes",
            ))
        })
        .collect()
}

fn negative(subject: &Subject<'_>) -> Vec<Hit> {
    let shuffled = subject
        .groups
        .iter()
        .filter(|group| is_shuffled(subject, group));
    shuffled
        .filter_map(|group| {
            let is_negative =
                |index: &usize| subject.deployment(*index).weight.is_some_and(|w| w < 0.0);
            let first = group.members.iter().copied().find(is_negative)?;
            Some(Hit::new(
                subject.key_of(first, "weight"),
                format!(
                    "a weight of `{}` is below zero: LiteLLM takes it, and draws by sums that go down",
                    group.name
                ),
                "write 0 for a deployment that gets nothing, or `model_info.blocked: true`",
            ))
        })
        .collect()
}

fn is_shuffled(subject: &Subject<'_>, group: &Group<'_>) -> bool {
    *subject.strategy(group.name) == StrategySpec::SimpleShuffle
}

fn has_weight(subject: &Subject<'_>, group: &Group<'_>) -> bool {
    subject
        .members(group)
        .any(|deployment| deployment.weight.is_some())
}

/// The path of the first weight of a group.
fn first_weight(subject: &Subject<'_>, group: &Group<'_>) -> String {
    let has = |index: &&usize| subject.deployment(**index).weight.is_some();
    let index = group.members.iter().find(has).unwrap_or(&group.members[0]);
    subject.key_of(*index, "weight")
}

fn unread(subject: &Subject<'_>) -> Vec<Hit> {
    subject
        .groups
        .iter()
        .filter(|group| has_weight(subject, group) && !is_shuffled(subject, group))
        .map(|group| {
            let strategy = subject.strategy(group.name).name();
            Hit::new(
                first_weight(subject, group),
                format!(
                    "`{}` is routed by {strategy}, which does not read weights",
                    group.name
                ),
                "take the weights out, or route it by simple-shuffle",
            )
        })
        .collect()
}

fn zero_everywhere(subject: &Subject<'_>) -> Vec<Hit> {
    subject
        .groups
        .iter()
        .filter(|group| {
            is_shuffled(subject, group)
                && has_weight(subject, group)
                && subject
                    .members(group)
                    .all(|d| d.weight.is_none_or(|weight| weight == 0.0))
        })
        .map(|group| {
            Hit::new(
                first_weight(subject, group),
                format!(
                    "every weight of `{}` is 0, so LiteLLM goes by rpm, then tpm, then evenly",
                    group.name
                ),
                "set `model_info.blocked: true` to pause deployments",
            )
        })
        .collect()
}

fn zero_beside_others(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for group in subject
        .groups
        .iter()
        .filter(|group| is_shuffled(subject, group))
    {
        if !subject
            .members(group)
            .any(|d| d.weight.is_some_and(|weight| weight > 0.0))
        {
            continue;
        }
        let zero = group
            .members
            .iter()
            .filter(|&&index| subject.deployment(index).weight == Some(0.0));
        hits.extend(zero.map(|&index| {
            Hit::new(
                subject.key_of(index, "weight"),
                format!(
                    "`{}` has weight 0 and gets requests only when no other deployment of `{}` is left",
                    subject.id(index),
                    group.name
                ),
                "give it a weight, or a later `order` if it is a spare",
            )
        }));
    }
    hits
}

fn missing(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for group in subject
        .groups
        .iter()
        .filter(|group| is_shuffled(subject, group))
    {
        let heavy = |index: &&usize| subject.deployment(**index).weight.is_some_and(|w| w > 0.0);
        let bare: Vec<&str> = subject
            .members(group)
            .filter(|deployment| deployment.weight.is_none())
            .map(|deployment| deployment.id.as_str())
            .collect();
        if bare.is_empty() || !group.members.iter().any(|index| heavy(&index)) {
            continue;
        }
        let by_first = subject.profile().shuffle_metric == ShuffleMetric::FirstCandidate;
        let first_has_none = subject.deployment(group.members[0]).weight.is_none();
        let what = if by_first && first_has_none {
            format!(
                "the first deployment of `{}` has no weight, so LiteLLM 1.92 does not look at the others'",
                group.name
            )
        } else {
            format!(
                "{} of `{}` has no weight, and so gets no request while others are left",
                listed(&bare),
                group.name
            )
        };
        hits.push(Hit::new(
            first_weight(subject, group),
            what,
            "give every deployment of the model a weight, or none",
        ));
    }
    hits
}

/// Slots follow from rpm and tpm where nothing else says them (semantics 7).
fn slots(subject: &Subject<'_>) -> Vec<Hit> {
    let derived: Vec<(usize, &str, u64)> = subject
        .router
        .deployments
        .iter()
        .enumerate()
        .filter(|(_, deployment)| deployment.max_parallel_requests.is_none())
        .filter_map(
            |(index, deployment)| match (deployment.rpm, deployment.tpm) {
                (Some(rpm), _) if rpm > 0 => Some((index, "rpm", rpm)),
                (None, Some(tpm)) if tpm > 0 => Some((index, "tpm", (tpm * 6 / 1_000).max(1))),
                _ => None,
            },
        )
        .collect();
    let Some((index, key, least)) = derived.iter().min_by_key(|(_, _, slots)| *slots) else {
        return Vec::new();
    };
    let full = match subject.profile().when_slots_full {
        WhenSlotsFull::Queue => "waits without limit",
        WhenSlotsFull::Reject => "fails at once with 429",
    };
    let others = match derived.len() {
        1 => String::new(),
        all => format!(" (and so for {} more)", all - 1),
    };
    vec![Hit::new(
        subject.key_of(*index, key),
        format!(
            "{key} also bounds requests at once: no more than {least} for `{}`{others}, and one more \
             {full}",
            subject.id(*index)
        ),
        "give max_parallel_requests where more may run at once",
    )]
}
