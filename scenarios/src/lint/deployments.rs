//! Deployments that are one where they look like two, that nobody gets to, or that have no spare
//! (semantics 1.2 to 1.4, 8.5).

use std::collections::BTreeMap;

use super::{
    Severity,
    subject::{Group, Hit, Rule, Subject, listed, plural},
};
use crate::yaml::Node;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "duplicate-id",
        severity: Severity::Warning,
        about: "deployments that share an id",
        check: duplicate_ids,
    },
    Rule {
        id: "shared-quota",
        severity: Severity::Note,
        about: "deployments of a model with the same key, address and model",
        check: shared_quota,
    },
    Rule {
        id: "no-spare-deployment",
        severity: Severity::Note,
        about: "models of one deployment and no fallback",
        check: no_spare,
    },
    Rule {
        id: "lopsided-limits",
        severity: Severity::Note,
        about: "a deployment with more rpm than the others of its model together",
        check: lopsided,
    },
    Rule {
        id: "all-blocked",
        severity: Severity::Error,
        about: "a model whose deployments are all blocked",
        check: all_blocked,
    },
    Rule {
        id: "team-deployment",
        severity: Severity::Warning,
        about: "a deployment of a team, which others do not see",
        check: teams,
    },
    Rule {
        id: "prices-per-thousand",
        severity: Severity::Warning,
        about: "prices by the thousand tokens, which LiteLLM does not read",
        check: per_thousand,
    },
];

fn duplicate_ids(subject: &Subject<'_>) -> Vec<Hit> {
    let mut by_id: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, deployment) in subject.router.deployments.iter().enumerate() {
        by_id.entry(&deployment.id).or_default().push(index);
    }
    by_id
        .into_values()
        .filter(|indices| indices.len() > 1)
        .map(|indices| {
            let last = indices[indices.len() - 1];
            let own = format!("{}.model_info.id", subject.entry(last));
            let given = subject.given(&own).is_some();
            let times = indices.len();
            let what = format!(
                "{times} deployments share an id, so they are picked as {times} and benched and \
                 counted as one"
            );
            let advice = if given {
                "give each an id of its own"
            } else {
                "entries that are equal get the same id: give each a `model_info.id`, or merge them"
            };
            Hit::new(if given { own } else { subject.entry(last) }, what, advice)
        })
        .collect()
}

fn shared_quota(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for group in subject
        .groups
        .iter()
        .filter(|group| group.members.len() > 1)
    {
        let mut by_account: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &index in &group.members {
            if let Some(account) = account(subject, index) {
                by_account.entry(account).or_default().push(index);
            }
        }
        for mut indices in by_account.into_values() {
            // Equal ids are told as such.
            indices.dedup_by_key(|index| &subject.deployment(*index).id);
            if indices.len() > 1 {
                hits.push(Hit::new(
                    subject.entry(indices[1]),
                    format!(
                        "{} of `{}` have the same key, address and model, and so probably one quota",
                        subject.ids(&indices),
                        group.name
                    ),
                    "count them as one when planning for a provider's limits",
                ));
            }
        }
    }
    hits
}

/// Whose quota a deployment uses, where its entry says both key and model.
fn account(subject: &Subject<'_>, index: usize) -> Option<String> {
    let params = format!("{}.litellm_params", subject.entry(index));
    let text = |key: &str| {
        let node = subject.given(&format!("{params}.{key}"));
        node.and_then(Node::as_str).unwrap_or_default()
    };
    let key = text("api_key");
    let address = [
        text("api_base"),
        text("base_url"),
        text("api_version"),
        text("aws_region_name"),
    ];
    (!key.is_empty()).then(|| {
        format!(
            "{key} {} {}",
            address.join(" "),
            subject.deployment(index).model
        )
    })
}

fn no_spare(subject: &Subject<'_>) -> Vec<Hit> {
    let lone: Vec<&Group<'_>> = subject
        .groups
        .iter()
        .filter(|group| group.members.len() == 1 && !subject.has_fallback(group.name))
        .collect();
    let Some(first) = lone.first() else {
        return Vec::new();
    };
    let names: Vec<&str> = lone.iter().map(|group| group.name).collect();
    vec![Hit::new(
        subject.entry(first.members[0]),
        format!(
            "{} {} one deployment and no fallback: when it fails, so does every request",
            listed(&names),
            plural(names.len(), "has", "have each"),
        ),
        "add a deployment or a fallback where that matters",
    )]
}

fn lopsided(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for group in subject
        .groups
        .iter()
        .filter(|group| group.members.len() > 1)
    {
        let limits: Option<Vec<u64>> = subject.members(group).map(|d| d.rpm).collect();
        let Some(limits) = limits else {
            continue;
        };
        let most = limits.iter().copied().max().unwrap_or(0);
        let rest = limits.iter().sum::<u64>() - most;
        let place = limits.iter().position(|&rpm| rpm == most).unwrap_or(0);
        let index = group.members[place];
        if most > rest {
            hits.push(Hit::new(
                subject.key_of(index, "rpm"),
                format!(
                    "without `{}` only {rest} of the {} requests a minute of `{}` are left",
                    subject.id(index),
                    most + rest,
                    group.name
                ),
                "add capacity or a fallback if the model must survive its loss",
            ));
        }
    }
    hits
}

fn all_blocked(subject: &Subject<'_>) -> Vec<Hit> {
    subject
        .groups
        .iter()
        .filter(|group| subject.members(group).all(|deployment| deployment.blocked))
        .map(|group| {
            Hit::new(
                subject.key_of(group.members[0], "blocked"),
                format!(
                    "every deployment of `{}` is blocked, so every request for it fails",
                    group.name
                ),
                "unblock one, or take the model out",
            )
        })
        .collect()
}

fn teams(subject: &Subject<'_>) -> Vec<Hit> {
    let of_teams: Vec<usize> = (0..subject.router.deployments.len())
        .filter(|&index| {
            let path = format!("{}.model_info.team_id", subject.entry(index));
            subject.given(&path).is_some()
        })
        .collect();
    let Some(&first) = of_teams.first() else {
        return Vec::new();
    };
    vec![Hit::new(
        format!("{}.model_info.team_id", subject.entry(first)),
        format!(
            "{} serves its team alone; here callers have no teams, and it serves everybody",
            subject.ids(&of_teams)
        ),
        "read results as those of callers of the team",
    )]
}

fn per_thousand(subject: &Subject<'_>) -> Vec<Hit> {
    let with: Vec<String> = (0..subject.router.deployments.len())
        .map(|index| {
            format!(
                "{}.model_info.input_cost_per_1k_tokens",
                subject.entry(index)
            )
        })
        .filter(|path| subject.given(path).is_some())
        .collect();
    let Some(first) = with.first() else {
        return Vec::new();
    };
    vec![Hit::new(
        first.clone(),
        format!(
            "LiteLLM does not read prices by the thousand tokens, of which {} {} some",
            with.len(),
            plural(with.len(), "entry has", "entries have"),
        ),
        "write input_cost_per_token and output_cost_per_token",
    )]
}
