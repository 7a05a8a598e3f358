//! `router_settings` (semantics 1.9).

use std::time::Duration;

use router::{
    RouterSettings, StrategySpec, UsageWindow,
    config::{Alerting, DefaultLitellmParams},
};

use super::{
    budgets::read_provider_budgets,
    caching::{read_cache_responses, read_caching_groups},
    checks::{read_affinity, read_checks},
    fallbacks::{Entries, read_aliases, read_fallbacks, read_groups},
    policies::{ALLOWED_FAILS_POLICY, RETRY_POLICY},
    section::{Section, ignored, off_only, used},
    setting::{Result, Setting},
    strategies::{read_args, read_routing_groups, read_strategy},
    tables::{
        BUDGETS, HEALTH_CHECKS, OBSERVABILITY, PROMPT_ROUTERS, PROVIDER, PROXY, SHARED_STATE,
        UNKNOWN,
    },
};

/// The settings as far as they are read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) settings: RouterSettings,
    /// `litellm_settings.request_timeout`, where it is given and not LiteLLM's mark for "not given".
    pub(super) request_timeout: Option<Duration>,
    /// `router_settings.cache_responses`, which beats `litellm_settings.cache`.
    pub(super) cache_responses: Option<bool>,
}

/// `router_settings`.
pub(super) static ROUTER_SETTINGS: Section<Draft> = Section {
    keys: &[
        used("routing_strategy", |d, s| {
            if let Some(strategy) = read_strategy(s, &StrategySpec::NAMES)? {
                d.settings.routing_strategy = strategy;
            }
            Ok(())
        }),
        used("routing_strategy_args", |d, s| {
            read_args(&mut d.settings.routing_strategy, s)
        }),
        used("routing_groups", |d, s| {
            read_routing_groups(s).map(|groups| d.settings.routing_groups = groups)
        }),
        used("num_retries", |d, s| {
            s.few().map(|n| d.settings.num_retries = n)
        }),
        used("retry_after", |d, s| {
            s.seconds()
                .map(|least| d.settings.retry_after = least.unwrap_or_default())
        }),
        used("retry_policy", |d, s| {
            if s.given().is_none() {
                return Ok(());
            }
            s.section(
                &RETRY_POLICY,
                d.settings.retry_policy.get_or_insert_default(),
            )
        }),
        used("model_group_retry_policy", |d, s| {
            s.entries(|group, policy| {
                let groups = &mut d.settings.model_group_retry_policy;
                policy.section(&RETRY_POLICY, groups.entry(group.to_owned()).or_default())
            })
        }),
        used("allowed_fails", |d, s| {
            s.fails().map(|n| d.settings.allowed_fails = n)
        }),
        used("allowed_fails_policy", |d, s| {
            if s.given().is_none() {
                return Ok(());
            }
            s.section(
                &ALLOWED_FAILS_POLICY,
                d.settings.allowed_fails_policy.get_or_insert_default(),
            )
        }),
        used("cooldown_time", |d, s| {
            // 0 is taken as not given (semantics 1.9).
            s.seconds()
                .map(|t| d.settings.cooldown_time = t.filter(|t| !t.is_zero()))
        }),
        used("disable_cooldowns", |d, s| {
            s.flag()
                .map(|flag| d.settings.disable_cooldowns = flag.unwrap_or(false))
        }),
        // The next two are routelab's own.
        used("cooldown_one_trial", |d, s| {
            s.flag()
                .map(|flag| d.settings.cooldown_recovery.one_trial = flag.unwrap_or(false))
        }),
        used("cooldown_spread", |d, s| {
            let spread = s.amount()?.unwrap_or(0.0);
            if spread > 1.0 {
                return Err(s.unaccepted("a fraction of the length, from 0 to 1"));
            }
            d.settings.cooldown_recovery.spread = spread;
            Ok(())
        }),
        used("timeout", |d, s| {
            s.timeout().map(|limit| d.settings.timeout = limit)
        }),
        used("stream_timeout", |d, s| {
            s.timeout().map(|limit| d.settings.stream_timeout = limit)
        }),
        // The next three are routelab's own.
        used("first_token_timeout", |d, s| {
            s.timeout()
                .map(|limit| d.settings.stream_limits.first_token = limit)
        }),
        used("stream_idle_timeout", |d, s| {
            s.timeout()
                .map(|limit| d.settings.stream_limits.idle = limit)
        }),
        used("stream_total_timeout", |d, s| {
            s.timeout()
                .map(|limit| d.settings.stream_limits.total = limit)
        }),
        // And so is this one, which only `corrected` counts by.
        used("usage_window", |d, s| {
            d.settings.usage_window = read_usage_window(s)?;
            Ok(())
        }),
        // What matters of the store is whether there is one, wherever its address stands.
        used("redis_url", |d, s| {
            d.settings.shared_store |= !s.node.is_null();
            Ok(())
        }),
        used("redis_host", |d, s| {
            read_half_of_address(d, s, "redis_port")
        }),
        used("redis_port", |d, s| {
            read_half_of_address(d, s, "redis_host")
        }),
        used("fallbacks", |d, s| {
            read_fallbacks(s, Entries::OneKey).map(|list| d.settings.fallbacks = list)
        }),
        used("default_fallbacks", |d, s| {
            read_groups(s).map(|groups| d.settings.default_fallbacks = groups)
        }),
        used("context_window_fallbacks", |d, s| {
            read_fallbacks(s, Entries::FirstKey)
                .map(|list| d.settings.context_window_fallbacks = list)
        }),
        used("content_policy_fallbacks", |d, s| {
            read_fallbacks(s, Entries::OneKey)
                .map(|list| d.settings.content_policy_fallbacks = list)
        }),
        used("max_fallbacks", |d, s| {
            s.few().map(|n| d.settings.max_fallbacks = n)
        }),
        used("default_max_parallel_requests", |d, s| {
            s.count()
                .map(|slots| d.settings.default_max_parallel_requests = slots)
        }),
        used("enable_weighted_failover", |d, s| {
            s.flag()
                .map(|flag| d.settings.enable_weighted_failover = flag.unwrap_or(false))
        }),
        used("model_group_alias", |d, s| {
            read_aliases(s).map(|aliases| d.settings.model_group_alias = aliases)
        }),
        used("enable_pre_call_checks", |d, s| {
            s.flag()
                .map(|flag| d.settings.enable_pre_call_checks = flag.unwrap_or(false))
        }),
        used("optional_pre_call_checks", |d, s| {
            read_checks(s).map(|checks| d.settings.optional_pre_call_checks = checks)
        }),
        used("model_group_affinity_config", |d, s| {
            read_affinity(s).map(|groups| d.settings.model_group_affinity_config = groups)
        }),
        used("deployment_affinity_ttl_seconds", |d, s| {
            s.seconds()
                .map(|ttl| d.settings.deployment_affinity_ttl = ttl)
        }),
        used("session_affinity_repin_on_failover", |d, s| {
            s.flag()
                .map(|flag| d.settings.session_affinity_repin_on_failover = flag.unwrap_or(false))
        }),
        used("enable_tag_filtering", |d, s| {
            s.flag()
                .map(|flag| d.settings.enable_tag_filtering = flag.unwrap_or(false))
        }),
        used("tag_filtering_match_any", |d, s| {
            s.flag()
                .map(|flag| d.settings.tag_filtering_match_any = flag)
        }),
        used("tag_routing_prefix", |d, s| {
            s.group()
                .map(|prefix| d.settings.tag_routing_prefix = prefix)
        }),
        used("provider_budget_config", |d, s| {
            read_provider_budgets(s).map(|budgets| d.settings.provider_budget_config = budgets)
        }),
        used("cache_responses", read_cache_responses),
        used("caching_groups", |d, s| {
            read_caching_groups(s).map(|groups| d.settings.caching_groups = groups)
        }),
        used("default_priority", |d, s| {
            s.fails()
                .map(|priority| d.settings.default_priority = priority)
        }),
        used("polling_interval", |d, s| {
            s.seconds()
                .map(|t| d.settings.polling_interval = t.filter(|t| !t.is_zero()))
        }),
        used("alerting_config", |d, s| {
            if s.given().is_none() {
                return Ok(());
            }
            let mut alerting = Alerting {
                threshold: ALERTING_THRESHOLD,
                webhook_url: None,
            };
            s.section(&ALERTING, &mut alerting)?;
            d.settings.alerting = Some(alerting);
            Ok(())
        }),
        ignored("adaptive_router_state", PROMPT_ROUTERS),
        ignored("assistants_config", PROXY),
        off_only("auto_router_capability_limit", PROMPT_ROUTERS),
        off_only("background_health_check_model_groups", HEALTH_CHECKS),
        ignored("cache_kwargs", SHARED_STATE),
        ignored(
            "client_ttl",
            "clients of the providers' kits play no part in decisions",
        ),
        ignored("debug_level", OBSERVABILITY),
        used("default_litellm_params", |d, s| {
            s.section(
                &DEFAULT_LITELLM_PARAMS,
                &mut d.settings.default_litellm_params,
            )
        }),
        off_only("enable_health_check_routing", HEALTH_CHECKS),
        off_only(
            "enable_mid_stream_fallback_continuation",
            "not modelled yet: going on with a broken stream elsewhere",
        ),
        off_only(
            "fallback_access_check",
            "callers and their rights are not modelled",
        ),
        off_only("fallback_budget_check", BUDGETS),
        ignored("fallback_on_unsupported_params", PROVIDER),
        ignored("guardrail_list", PROXY),
        ignored("health_check_concurrency", REFUSED),
        off_only("health_check_ignore_transient_errors", HEALTH_CHECKS),
        ignored("health_check_interval", REFUSED),
        ignored("health_check_staleness_threshold", HEALTH_CHECKS),
        off_only(
            "ignore_invalid_deployments",
            "an entry that cannot be read is an error here, never skipped",
        ),
        ignored(
            "max_retries",
            "the retries of the provider's kit, which LiteLLM's router turns off",
        ),
        off_only("plugins", "not modelled yet: plugins"),
        ignored(
            "model_list",
            "the entries stand in `model_list` at the top of the file",
        ),
        ignored("router_general_settings", PROXY),
        ignored("search_tools", PROXY),
        ignored("set_verbose", OBSERVABILITY),
    ],
    families: &[ignored(
        "redis_*",
        "says how the store is reached; here that takes no time and never fails",
    )],
    otherwise: UNKNOWN,
};

/// A host and a port name a Redis together.
fn read_half_of_address(d: &mut Draft, s: &mut Setting<'_>, other: &str) -> Result<()> {
    if s.node.is_null() {
    } else if s.beside(other).is_some() {
        d.settings.shared_store = true;
    } else {
        s.ignore(format!("LiteLLM uses no Redis without `{other}` beside it"));
    }
    Ok(())
}

/// `default_litellm_params`: what it says of a call, by what both versions did when asked.
static DEFAULT_LITELLM_PARAMS: Section<DefaultLitellmParams> = Section {
    keys: &[
        used("num_retries", |d, s| {
            s.few_or_text().map(|n| d.num_retries = n)
        }),
        used("max_retries", |d, s| {
            s.few_or_text().map(|n| d.max_retries = n)
        }),
        used("cooldown_time", |d, s| {
            s.seconds().map(|time| d.cooldown_time = time)
        }),
        used("stream_timeout", |d, s| {
            s.timeout().map(|limit| d.stream_timeout = limit)
        }),
        ignored("timeout", OVERWRITTEN),
        ignored("request_timeout", OVERWRITTEN),
        ignored(
            "metadata",
            "LiteLLM's router does not route by tags that stand here",
        ),
        ignored(
            "fallbacks",
            "LiteLLM hands them to the provider's call, which fails",
        ),
    ],
    families: &[],
    otherwise: "passed on with each call; LiteLLM's router does not read it here",
};

const OVERWRITTEN: &str = "LiteLLM's router writes its own timeout over it";

/// `alerting_config` (semantics 9.3).
static ALERTING: Section<Alerting> = Section {
    keys: &[
        used("alerting_threshold", |alerting, s| {
            let threshold = s.seconds()?;
            alerting.threshold = threshold.unwrap_or(ALERTING_THRESHOLD);
            Ok(())
        }),
        used("webhook_url", |alerting, s| {
            s.text().map(|url| alerting.webhook_url = url)
        }),
    ],
    families: &[],
    otherwise: UNKNOWN,
};

/// LiteLLM's `DEFAULT_SLACK_ALERTING_THRESHOLD`.
const ALERTING_THRESHOLD: Duration = Duration::from_secs(300);
const REFUSED: &str = "LiteLLM refuses it here; it belongs under general_settings";

/// `minute`, `sliding`, or the seconds of a slice.
fn read_usage_window(s: &mut Setting<'_>) -> Result<UsageWindow> {
    let accepted = "`minute`, `sliding`, or the seconds of a slice, above 0, up to 60";
    match s.given().map(|node| node.as_str()) {
        None | Some(Some("minute")) => Ok(UsageWindow::Minute),
        Some(Some("sliding")) => Ok(UsageWindow::Sliding),
        Some(Some(_)) => Err(s.unaccepted(accepted)),
        Some(None) => match s.seconds()?.unwrap_or_default() {
            slice if slice.is_zero() || slice > Duration::from_secs(60) => {
                Err(s.unaccepted(accepted))
            }
            slice => Ok(UsageWindow::Slices(slice)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_that_the_router_builds_can_be_named_in_a_config() {
        for name in StrategySpec::NAMES {
            let text = format!(
                "model_list: [{{model_name: m, litellm_params: {{model: openai/x}}}}]\n\
                 router_settings: {{routing_strategy: {name}}}"
            );

            let config = super::super::read(&text, "t.yaml").unwrap();

            assert_eq!(config.router.settings.routing_strategy.name(), name);
        }
    }
}
