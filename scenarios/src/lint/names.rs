//! Names that lead nowhere, or elsewhere: aliases, routing groups, settings by model (semantics 1.6,
//! 1.8).

use std::collections::BTreeSet;

use router::{Router, Seed, StrategySpec};

use super::{
    Severity,
    subject::{Hit, Rule, Subject, name_advice},
};
use crate::yaml::join;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "router-refuses",
        severity: Severity::Error,
        about: "a config that this version of LiteLLM does not start with",
        check: refused,
    },
    Rule {
        id: "alias-of-unknown-model",
        severity: Severity::Error,
        about: "an alias of a model that does not exist",
        check: dangling_aliases,
    },
    Rule {
        id: "alias-hides-model",
        severity: Severity::Warning,
        about: "an alias with the name of a model",
        check: hiding_aliases,
    },
    Rule {
        id: "routing-group-of-unknown-model",
        severity: Severity::Warning,
        about: "a routing group with a model that does not exist",
        check: unknown_members,
    },
    Rule {
        id: "routing-group-misses-alias",
        severity: Severity::Warning,
        about: "an alias of a model in a routing group, which 1.92 routes otherwise",
        check: missed_aliases,
    },
    Rule {
        id: "setting-of-unknown-model",
        severity: Severity::Warning,
        about: "a setting by model that names one that does not exist",
        check: unknown_keys,
    },
    Rule {
        id: "silent-model-unknown",
        severity: Severity::Error,
        about: "a mirror that goes to a model that does not exist",
        check: unknown_mirrors,
    },
    Rule {
        id: "default-priority-fails",
        severity: Severity::Error,
        about: "default_priority, by which every request of 1.92 fails",
        check: default_priority,
    },
    Rule {
        id: "alerting-config-refused",
        severity: Severity::Error,
        about: "alerting_config in a file, with which LiteLLM does not start",
        check: alerting,
    },
];

fn refused(subject: &Subject<'_>) -> Vec<Hit> {
    let built = Router::new(subject.router, Seed(0));
    built
        .err()
        .map(|error| {
            let version = subject.profile().name.as_str();
            let error = error.to_string();
            let path = if error.contains("routing") || error.contains("strategy") {
                subject.setting_or_section("routing_groups")
            } else {
                "model_list".to_owned()
            };
            Hit::new(
                path,
                format!("{version} does not start with it: {error}"),
                "mend it, or choose another --profile",
            )
        })
        .into_iter()
        .collect()
}

fn dangling_aliases(subject: &Subject<'_>) -> Vec<Hit> {
    let aliases = subject.settings().model_group_alias.iter();
    aliases
        .filter(|(_, target)| {
            let is_alias = subject.settings().model_group_alias.contains_key(*target);
            // One step is resolved, not two (semantics 1.6).
            let is_group = subject.group(target).is_some();
            !is_group && (is_alias || !subject.is_served(target))
        })
        .map(|(alias, target)| {
            Hit::new(
                join("router_settings.model_group_alias", alias),
                format!("`{alias}` stands for `{target}`, and no model group is called so"),
                name_advice(subject, target),
            )
        })
        .collect()
}

fn hiding_aliases(subject: &Subject<'_>) -> Vec<Hit> {
    let aliases = subject.settings().model_group_alias.iter();
    aliases
        .filter(|(alias, target)| alias != target && subject.group(alias).is_some())
        .map(|(alias, target)| {
            Hit::new(
                join("router_settings.model_group_alias", alias),
                format!("requests for `{alias}` go to `{target}`, never to the model of that name"),
                "rename one of them",
            )
        })
        .collect()
}

fn unknown_members(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, group) in subject.settings().routing_groups.iter().enumerate() {
        for (place, model) in group.models.iter().enumerate() {
            if !subject.is_served(model) {
                hits.push(Hit::new(
                    format!("router_settings.routing_groups[{index}].models[{place}]"),
                    format!("no model is called `{model}`; LiteLLM only logs it"),
                    name_advice(subject, model),
                ));
            }
        }
    }
    hits
}

fn missed_aliases(subject: &Subject<'_>) -> Vec<Hit> {
    if subject.profile().routing_groups_govern_model_names {
        return Vec::new();
    }
    let groups = &subject.settings().routing_groups;
    let governed = |name: &str| {
        groups.iter().find(|group| {
            group.routing_strategy != StrategySpec::Priority
                && group.models.iter().any(|m| m == name)
        })
    };
    let aliases = subject.settings().model_group_alias.iter();
    aliases
        .filter_map(|(alias, target)| {
            let group = governed(target).filter(|_| governed(alias).is_none())?;
            Some(Hit::new(
                join("router_settings.model_group_alias", alias),
                format!(
                    "requests for `{alias}` are not routed by the routing group `{}` of `{target}`",
                    group.group_name
                ),
                format!("name `{alias}` in the models of the group"),
            ))
        })
        .collect()
}

fn unknown_keys(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let policies = settings.model_group_retry_policy.keys();
    let affinity = settings.model_group_affinity_config.keys();
    let policies =
        policies.map(|name| (join("router_settings.model_group_retry_policy", name), name));
    let affinity = affinity.map(|name| {
        (
            join("router_settings.model_group_affinity_config", name),
            name,
        )
    });
    let caching = settings
        .caching_groups
        .iter()
        .enumerate()
        .flat_map(|(index, names)| {
            let path = format!("router_settings.caching_groups[{index}]");
            (0..)
                .zip(names)
                .map(move |(place, name): (usize, _)| (format!("{path}[{place}]"), name))
        });
    policies
        .chain(affinity)
        .chain(caching)
        .filter(|(_, name)| !subject.is_served(name))
        .map(|(path, name)| {
            Hit::new(
                path,
                format!("no model is called `{name}`, so this is never asked for"),
                name_advice(subject, name),
            )
        })
        .collect()
}

fn unknown_mirrors(subject: &Subject<'_>) -> Vec<Hit> {
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let deployments = subject.router.deployments.iter().enumerate();
    deployments
        .filter_map(|(index, deployment)| {
            let target = deployment.silent_model.as_deref()?;
            let is_new = !subject.is_served(target) && told.insert(target);
            is_new.then(|| {
                Hit::new(
                    subject.key_of(index, "silent_model"),
                    format!(
                        "no model is called `{target}`, so every mirrored request fails unseen"
                    ),
                    name_advice(subject, target),
                )
            })
        })
        .collect()
}

fn default_priority(subject: &Subject<'_>) -> Vec<Hit> {
    let given = subject.settings().default_priority.is_some();
    if !given || !subject.profile().default_priority_fails {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.default_priority",
        "LiteLLM 1.92 fails with a TypeError at every request that brings no priority",
        "take it out, or use a newer version",
    )]
}

/// Both versions' routers want an object of their own class, which no file can hold (observed).
fn alerting(subject: &Subject<'_>) -> Vec<Hit> {
    if subject.settings().alerting.is_none() {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.alerting_config",
        "LiteLLM's Router takes no mapping here and does not start with one",
        "use general_settings.alerting of the proxy; here it is modelled as it is meant",
    )]
}
