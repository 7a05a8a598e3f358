//! Filters that filter nothing, or everything: tags, affinity, context windows, budgets (semantics
//! 2.3.9, 8).

use router::StrategySpec;

use super::{
    Severity,
    subject::{Hit, Rule, Subject, listed},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tags-without-filtering",
        severity: Severity::Warning,
        about: "tags of deployments without enable_tag_filtering",
        check: tags_unread,
    },
    Rule {
        id: "tag-filtering-without-tags",
        severity: Severity::Warning,
        about: "enable_tag_filtering where no deployment has tags",
        check: nothing_tagged,
    },
    Rule {
        id: "tagged-group-without-default",
        severity: Severity::Note,
        about: "a model with tagged deployments and no default among them",
        check: no_default_pool,
    },
    Rule {
        id: "usage-v1-skips-filters",
        severity: Severity::Warning,
        about: "usage-based-routing, under which 1.92 skips tags, affinity and budgets",
        check: skipped_by_usage,
    },
    Rule {
        id: "context-window-unknown",
        severity: Severity::Note,
        about: "enable_pre_call_checks where no context window is known",
        check: no_windows,
    },
    Rule {
        id: "region-missing",
        severity: Severity::Note,
        about: "region_name on some deployments of a model and not on others",
        check: regions,
    },
    Rule {
        id: "pre-call-checks-off",
        severity: Severity::Warning,
        about: "region_name or max_input_tokens without enable_pre_call_checks",
        check: checks_off,
    },
    Rule {
        id: "budget-without-price",
        severity: Severity::Warning,
        about: "a budget of deployments whose prices are unknown",
        check: unpriced_budgets,
    },
    Rule {
        id: "provider-budget-of-nobody",
        severity: Severity::Warning,
        about: "a budget of a provider that no deployment has",
        check: budget_of_nobody,
    },
    Rule {
        id: "provider-budget-without-limit",
        severity: Severity::Error,
        about: "a provider's budget without an amount, which takes all its deployments out",
        check: budget_without_limit,
    },
    Rule {
        id: "affinity-time-without-affinity",
        severity: Severity::Note,
        about: "settings of affinity where none is switched on",
        check: affinity_off,
    },
];

fn tagged(subject: &Subject<'_>) -> Vec<usize> {
    let deployments = subject.router.deployments.iter().enumerate();
    deployments
        .filter(|(_, d)| !d.tags.is_empty() || !d.tag_regex.is_empty())
        .map(|(index, _)| index)
        .collect()
}

fn tag_path(subject: &Subject<'_>, index: usize) -> String {
    let key = if subject.deployment(index).tags.is_empty() {
        "tag_regex"
    } else {
        "tags"
    };
    subject.key_of(index, key)
}

fn tags_unread(subject: &Subject<'_>) -> Vec<Hit> {
    let tagged = tagged(subject);
    let Some(&first) = tagged
        .first()
        .filter(|_| !subject.settings().enable_tag_filtering)
    else {
        return Vec::new();
    };
    vec![Hit::new(
        tag_path(subject, first),
        format!(
            "tags of {} choose nothing, since enable_tag_filtering is off",
            subject.ids(&tagged)
        ),
        "set `router_settings.enable_tag_filtering: true`",
    )]
}

fn nothing_tagged(subject: &Subject<'_>) -> Vec<Hit> {
    if !subject.settings().enable_tag_filtering || !tagged(subject).is_empty() {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.enable_tag_filtering",
        "no deployment has tags, so every request that brings one is refused",
        "tag deployments, or turn the filter off",
    )]
}

fn no_default_pool(subject: &Subject<'_>) -> Vec<Hit> {
    if !subject.settings().enable_tag_filtering {
        return Vec::new();
    }
    let is_default = |tags: &[String]| tags.iter().any(|tag| tag == "default");
    let without: Vec<usize> = subject
        .groups
        .iter()
        .filter(|group| subject.members(group).any(|d| !d.tags.is_empty()))
        .filter(|group| !subject.members(group).any(|d| is_default(&d.tags)))
        .map(|group| group.members[0])
        .collect();
    let Some(&first) = without.first() else {
        return Vec::new();
    };
    let names: Vec<&str> = without
        .iter()
        .map(|&index| subject.deployment(index).model_name.as_str())
        .collect();
    vec![Hit::new(
        subject.entry(first),
        format!(
            "no deployment of {} is tagged `default`: a request without tags may get any, and one with \
             a tag that none has is refused",
            listed(&names)
        ),
        "tag those that serve everybody `default`",
    )]
}

fn skipped_by_usage(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let is_v1 = matches!(settings.routing_strategy, StrategySpec::UsageBased(_));
    if !is_v1 || !subject.profile().usage_v1_picks_as_blocking {
        return Vec::new();
    }
    let checks = settings.optional_pre_call_checks;
    let features = [
        ("tags", settings.enable_tag_filtering),
        ("session_affinity", checks.session_affinity),
        ("deployment_affinity", checks.deployment_affinity),
        ("prompt_caching", checks.prompt_caching),
        ("budgets", !settings.provider_budget_config.is_empty()),
    ];
    let skipped: Vec<&str> = features
        .iter()
        .filter(|(_, is_on)| *is_on)
        .map(|(name, _)| *name)
        .collect();
    if skipped.is_empty() {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.routing_strategy",
        format!(
            "under usage-based-routing LiteLLM 1.92 does not look at {}",
            listed(&skipped)
        ),
        "use usage-based-routing-v2",
    )]
}

fn no_windows(subject: &Subject<'_>) -> Vec<Hit> {
    let known = subject
        .router
        .deployments
        .iter()
        .any(|d| d.max_input_tokens.is_some());
    if !subject.settings().enable_pre_call_checks || known {
        return Vec::new();
    }
    vec![Hit::new(
        "router_settings.enable_pre_call_checks",
        "no deployment's longest prompt is known here, so none is passed over for it",
        "give the price registry with --prices, or `model_info.max_input_tokens`",
    )]
}

fn regions(subject: &Subject<'_>) -> Vec<Hit> {
    if !subject.settings().enable_pre_call_checks {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for group in &subject.groups {
        let without: Vec<usize> = group
            .members
            .iter()
            .copied()
            .filter(|&index| subject.deployment(index).region_name.is_none())
            .collect();
        if without.is_empty() || without.len() == group.members.len() {
            continue;
        }
        hits.push(Hit::new(
            subject.entry(without[0]),
            format!(
                "{} of `{}` has no region_name, and never serves a request that asks for a region",
                subject.ids(&without),
                group.name
            ),
            "name its region; LiteLLM does not read it off the address",
        ));
    }
    hits
}

fn checks_off(subject: &Subject<'_>) -> Vec<Hit> {
    if subject.settings().enable_pre_call_checks {
        return Vec::new();
    }
    let deployments = subject.router.deployments.iter().enumerate();
    let with_region: Vec<usize> = deployments
        .filter(|(_, deployment)| deployment.region_name.is_some())
        .map(|(index, _)| index)
        .collect();
    let Some(&first) = with_region.first() else {
        return Vec::new();
    };
    vec![Hit::new(
        subject.key_of(first, "region_name"),
        format!(
            "region_name of {} chooses nothing, since enable_pre_call_checks is off",
            subject.ids(&with_region)
        ),
        "set `router_settings.enable_pre_call_checks: true`",
    )]
}

fn unpriced_budgets(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let is_held = |index: usize| {
        let deployment = subject.deployment(index);
        let provider = subject.provider(index);
        deployment.budget.is_some()
            || provider.is_some_and(|name| settings.provider_budget_config.contains_key(name))
    };
    let unpriced: Vec<usize> = (0..subject.router.deployments.len())
        .filter(|&index| is_held(index))
        .filter(|&index| {
            let prices = &subject.deployment(index).prices;
            prices.input.is_none() || prices.output.is_none()
        })
        .collect();
    let Some(&first) = unpriced.first() else {
        return Vec::new();
    };
    vec![Hit::new(
        subject.key_of(first, "max_budget"),
        format!(
            "prices of {} are not all known here, and an unknown price counts as nothing spent",
            subject.ids(&unpriced)
        ),
        "give the price registry with --prices, or prices in litellm_params",
    )]
}

fn budget_of_nobody(subject: &Subject<'_>) -> Vec<Hit> {
    let providers: Vec<&str> = (0..subject.router.deployments.len())
        .filter_map(|index| subject.provider(index))
        .collect();
    let budgets = subject.settings().provider_budget_config.keys();
    budgets
        .filter(|name| !providers.contains(&name.as_str()))
        .map(|name| {
            let known: std::collections::BTreeSet<&str> = providers.iter().copied().collect();
            let known: Vec<&str> = known.into_iter().collect();
            Hit::new(
                crate::yaml::join("router_settings.provider_budget_config", name),
                format!("no deployment is of the provider `{name}`, so its budget holds nobody"),
                crate::error::suggestion(name, &known),
            )
        })
        .collect()
}

fn budget_without_limit(subject: &Subject<'_>) -> Vec<Hit> {
    let budgets = subject.settings().provider_budget_config.iter();
    budgets
        .filter(|(_, budget)| budget.limit.is_none())
        .map(|(name, _)| {
            Hit::new(
                crate::yaml::join("router_settings.provider_budget_config", name),
                format!("the budget of `{name}` has no budget_limit, and then LiteLLM uses none of its deployments"),
                "give budget_limit, or take the entry out",
            )
        })
        .collect()
}

fn affinity_off(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let checks = settings.optional_pre_call_checks;
    let by_group = settings.model_group_affinity_config.values();
    let is_on = checks.session_affinity
        || checks.deployment_affinity
        || by_group
            .into_iter()
            .any(|c| c.session_affinity || c.deployment_affinity);
    if is_on {
        return Vec::new();
    }
    [
        "deployment_affinity_ttl_seconds",
        "session_affinity_repin_on_failover",
    ]
    .into_iter()
    .map(|key| format!("router_settings.{key}"))
    .filter(|path| subject.given(path).is_some())
    .map(|path| {
        Hit::new(
            path,
            "neither session_affinity nor deployment_affinity is switched on",
            "name one of them in optional_pre_call_checks",
        )
    })
    .collect()
}
