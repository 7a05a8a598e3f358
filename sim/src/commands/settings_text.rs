//! A router's deployments and settings as lines for people.

use router::{
    Prices, RouterConfig, RouterSettings,
    config::{Budget, OptionalPreCallChecks},
};

use super::check::section;

/// The deployments and settings that a router is built from.
pub(super) fn router_text(config: &RouterConfig) -> String {
    let rows: Vec<[String; 4]> = config
        .deployments
        .iter()
        .map(|deployment| {
            let weight = deployment.weight.map(|weight| format!("weight {weight}"));
            let rpm = deployment.rpm.map(|rpm| format!("rpm {rpm}"));
            let tpm = deployment.tpm.map(|tpm| format!("tpm {tpm}"));
            let order = deployment.order.map(|order| format!("order {order}"));
            let slots = deployment
                .max_parallel_requests
                .map(|slots| format!("slots {slots}"));
            let tags = (!deployment.tags.is_empty())
                .then(|| format!("tags {}", deployment.tags.join(" ")));
            let region = deployment
                .region_name
                .as_ref()
                .map(|name| format!("region {name}"));
            let budget = deployment
                .budget
                .map(|budget| format!("budget {}", budget_text(budget)));
            let prompt = deployment.max_input_tokens.map(|n| format!("prompt ≤ {n}"));
            let silent = deployment
                .silent_model
                .as_ref()
                .map(|name| format!("mirrored to {name}"));
            let shares: Vec<String> = [
                weight,
                rpm,
                tpm,
                order,
                slots,
                tags,
                region,
                budget,
                prompt,
                price_text(&deployment.prices),
                silent,
            ]
            .into_iter()
            .flatten()
            .collect();
            [
                deployment.model_name.clone(),
                deployment.id.clone(),
                deployment.model.clone(),
                shares.join(", "),
            ]
        })
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let (group, id, model) = (width(0), width(1), width(2));
    let lines = rows.iter().map(|row| {
        let line = format!(
            "{:group$}  {:id$}  {:model$}  {}",
            row[0], row[1], row[2], row[3]
        );
        line.trim_end().to_owned()
    });
    section("deployments", lines.collect())
        + &section(
            &format!("router ({})", config.profile.name.as_str()),
            settings_lines(&config.settings),
        )
}

/// Prices in US dollars for a million tokens; nothing if none is known.
fn price_text(prices: &Prices) -> Option<String> {
    let per_million = |usd: Option<f64>| {
        usd.map_or_else(
            || "?".to_owned(),
            |usd| {
                // To a thousandth of a cent, without the noise of the last bits.
                let rounded = (usd * 1e6 * 1e5).round() / 1e5;
                rounded.to_string()
            },
        )
    };
    if prices.input.is_none() && prices.output.is_none() {
        return None;
    }
    Some(format!(
        "$ {}/{} a million",
        per_million(prices.input),
        per_million(prices.output)
    ))
}

/// Each setting that decides something, with LiteLLM's default where the file gives none.
#[expect(
    clippy::too_many_lines,
    reason = "a list: one entry a setting, read from top to bottom"
)]
fn settings_lines(settings: &RouterSettings) -> Vec<String> {
    let cooldown = if settings.disable_cooldowns {
        "none (disable_cooldowns)".to_owned()
    } else {
        or_default(settings.cooldown_time.map(seconds), "5 s (default)")
    };
    let fails = "not given (over half of at least 5 a minute cool)";
    let mut lines = vec![
        format!("routing_strategy: {}", settings.routing_strategy.name()),
        format!(
            "num_retries: {}",
            or_default(settings.num_retries.map(number), "2 (default)")
        ),
        format!("cooldown_time: {cooldown}"),
        format!(
            "allowed_fails: {}",
            or_default(settings.allowed_fails.map(number), fails)
        ),
        format!(
            "timeout: {}",
            or_default(settings.timeout.map(seconds), "600 s (default)")
        ),
    ];
    let mut say = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{name}: {value}")));
    };
    let given = |is_given: bool| is_given.then(|| "given".to_owned());
    let on = |flag: bool| flag.then(|| "true".to_owned());

    say("stream_timeout", settings.stream_timeout.map(seconds));
    say("request_timeout", settings.request_timeout.map(seconds));
    say(
        "num_retries_per_request",
        settings.num_retries_per_request.map(number),
    );
    let defaults = &settings.default_litellm_params;
    say(
        "default_litellm_params",
        given(*defaults != Default::default()),
    );
    say("retry_policy", given(settings.retry_policy.is_some()));
    say(
        "model_group_retry_policy",
        names(settings.model_group_retry_policy.keys()),
    );
    say(
        "allowed_fails_policy",
        given(settings.allowed_fails_policy.is_some()),
    );
    say("fallbacks", settings.fallbacks.as_ref().map(fallbacks_text));
    say(
        "context_window_fallbacks",
        settings
            .context_window_fallbacks
            .as_ref()
            .map(fallbacks_text),
    );
    say(
        "content_policy_fallbacks",
        settings
            .content_policy_fallbacks
            .as_ref()
            .map(fallbacks_text),
    );
    say(
        "default_fallbacks",
        names(settings.default_fallbacks.iter()),
    );
    say("max_fallbacks", settings.max_fallbacks.map(number));
    say(
        "default_max_parallel_requests",
        settings
            .default_max_parallel_requests
            .map(|n| n.to_string()),
    );
    say(
        "enable_weighted_failover",
        on(settings.enable_weighted_failover),
    );
    let aliases = settings.model_group_alias.iter();
    say(
        "model_group_alias",
        joined(aliases.map(|(alias, group)| format!("{alias} → {group}"))),
    );
    for group in &settings.routing_groups {
        let (name, strategy) = (&group.group_name, group.routing_strategy.name());
        say(
            "routing group",
            Some(format!("{name} ({strategy}): {}", group.models.join(", "))),
        );
    }
    say(
        "enable_pre_call_checks",
        on(settings.enable_pre_call_checks),
    );
    say(
        "optional_pre_call_checks",
        checks_text(settings.optional_pre_call_checks),
    );
    for (group, checks) in &settings.model_group_affinity_config {
        let checks = or_default(checks_text(*checks), "none");
        say("affinity", Some(format!("{group}: {checks}")));
    }
    say(
        "deployment_affinity_ttl_seconds",
        settings.deployment_affinity_ttl.map(seconds),
    );
    say(
        "session_affinity_repin_on_failover",
        on(settings.session_affinity_repin_on_failover),
    );
    say("enable_tag_filtering", on(settings.enable_tag_filtering));
    say(
        "tag_filtering_match_any",
        settings.tag_filtering_match_any.map(|any| any.to_string()),
    );
    say("tag_routing_prefix", settings.tag_routing_prefix.clone());
    for (provider, budget) in &settings.provider_budget_config {
        say(
            "budget",
            Some(format!("{provider}: {}", budget_text(*budget))),
        );
    }
    say("cache_responses", on(settings.cache_responses));
    say("cache ttl", settings.cache_ttl.map(seconds));
    let caching = settings.caching_groups.iter().map(|names| names.join(", "));
    say("caching_groups", joined(caching));
    say("default_priority", settings.default_priority.map(number));
    say("polling_interval", settings.polling_interval.map(seconds));
    let threshold = settings
        .alerting
        .as_ref()
        .map(|alerting| seconds(alerting.threshold));
    say("alerting_threshold", threshold);
    lines
}

fn seconds(span: std::time::Duration) -> String {
    format!("{} s", span.as_secs_f64())
}

fn number(number: u32) -> String {
    number.to_string()
}

fn or_default(value: Option<String>, default: &str) -> String {
    value.unwrap_or_else(|| default.to_owned())
}

/// `a, b`; nothing if there is none.
fn names<'n>(names: impl Iterator<Item = &'n String>) -> Option<String> {
    let names: Vec<&str> = names.map(String::as_str).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// `a; b`; nothing if there is none.
fn joined(parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn budget_text(budget: Budget) -> String {
    let limit = budget
        .limit
        .map_or_else(|| "no amount".to_owned(), |usd| format!("{usd} $"));
    match budget.period {
        Some(period) => format!("{limit} in {}", seconds(period)),
        None => limit,
    }
}

fn checks_text(checks: OptionalPreCallChecks) -> Option<String> {
    let names = [
        ("session_affinity", checks.session_affinity),
        ("deployment_affinity", checks.deployment_affinity),
        ("prompt_caching", checks.prompt_caching),
        (
            "enforce_model_rate_limits",
            checks.enforce_model_rate_limits,
        ),
    ];
    let on: Vec<&str> = names
        .iter()
        .filter(|(_, on)| *on)
        .map(|(name, _)| *name)
        .collect();
    (!on.is_empty()).then(|| on.join(", "))
}

fn fallbacks_text(fallbacks: &router::config::Fallbacks) -> String {
    let chain = |(from, to): &(String, Vec<String>)| format!("{from} → {}", to.join(", "));
    fallbacks.iter().map(chain).collect::<Vec<_>>().join("; ")
}
