//! `router_settings`, and what `litellm_settings` and `general_settings` add (semantics 1.9, 4.4, 10).

use std::time::Duration;

use router::{
    RouterSettings, StrategySpec,
    strategy::{LowestLatencyArgs, UsageArgs},
};

use super::{
    fallbacks::{Entries, read_aliases, read_fallbacks, read_groups},
    policies::{ALLOWED_FAILS_POLICY, RETRY_POLICY},
    section::{Section, ignored, off_only, used},
    setting::{Result, Setting, fill},
    tables::{
        BUDGETS, CACHING, HEALTH_CHECKS, OBSERVABILITY, PRE_CALL_CHECKS, PROVIDER, PROXY, SECRET,
        SHARED_STATE, TAGS, UNKNOWN,
    },
};
use crate::error::{one_of, suggestion};

/// The settings as far as they are read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) settings: RouterSettings,
    /// `litellm_settings.request_timeout`, where it is given and not LiteLLM's mark for "not given".
    pub(super) request_timeout: Option<Duration>,
}

/// `router_settings`.
pub(super) static ROUTER_SETTINGS: Section<Draft> = Section {
    keys: &[
        used("routing_strategy", |d, s| {
            if let Some(strategy) = read_strategy(s)? {
                d.settings.routing_strategy = strategy;
            }
            Ok(())
        }),
        used("routing_strategy_args", |d, s| {
            match &mut d.settings.routing_strategy {
                StrategySpec::LowestLatency(args) => s.section(&LATENCY_ARGS, args),
                StrategySpec::UsageBased(args) | StrategySpec::UsageBasedV2(args) => {
                    s.section(&USAGE_ARGS, args)
                }
                strategy @ (StrategySpec::SimpleShuffle
                | StrategySpec::LeastBusy
                | StrategySpec::LowestCost
                | StrategySpec::Priority) => {
                    let why = format!("{} takes no arguments", strategy.name());
                    s.ignore(why);
                    Ok(())
                }
            }
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
        ignored("alerting_config", OBSERVABILITY),
        ignored("assistants_config", PROXY),
        off_only(
            "auto_router_capability_limit",
            super::tables::PROMPT_ROUTERS,
        ),
        off_only("background_health_check_model_groups", HEALTH_CHECKS),
        ignored("cache_kwargs", SHARED_STATE),
        off_only("cache_responses", CACHING),
        off_only("caching_groups", CACHING),
        ignored(
            "client_ttl",
            "clients of the providers' kits play no part in decisions",
        ),
        ignored("debug_level", OBSERVABILITY),
        off_only(
            "default_litellm_params",
            "not modelled yet: settings added to each request",
        ),
        off_only("default_priority", PRIORITIES),
        off_only("deployment_affinity_ttl_seconds", AFFINITY),
        off_only("enable_health_check_routing", HEALTH_CHECKS),
        off_only(
            "enable_mid_stream_fallback_continuation",
            "not modelled yet: going on with a broken stream elsewhere",
        ),
        off_only("enable_pre_call_checks", PRE_CALL_CHECKS),
        off_only("enable_tag_filtering", TAGS),
        off_only(
            "fallback_access_check",
            "callers and their rights are not modelled",
        ),
        off_only("fallback_budget_check", BUDGETS),
        ignored("fallback_on_unsupported_params", PROVIDER),
        ignored("guardrail_list", PROXY),
        off_only("health_check_ignore_transient_errors", HEALTH_CHECKS),
        ignored("health_check_staleness_threshold", HEALTH_CHECKS),
        off_only(
            "ignore_invalid_deployments",
            "an entry that cannot be read is an error here, never skipped",
        ),
        off_only("model_group_affinity_config", AFFINITY),
        off_only(
            "optional_pre_call_checks",
            "not modelled yet: affinity, budgets, enforced limits",
        ),
        off_only("plugins", "not modelled yet: plugins"),
        ignored("polling_interval", PRIORITIES),
        off_only("provider_budget_config", BUDGETS),
        ignored("router_general_settings", PROXY),
        off_only(
            "routing_groups",
            "not modelled yet: a strategy for some groups only",
        ),
        ignored("search_tools", PROXY),
        off_only("session_affinity_repin_on_failover", AFFINITY),
        ignored("set_verbose", OBSERVABILITY),
        ignored("tag_filtering_match_any", TAGS),
        ignored("tag_routing_prefix", TAGS),
    ],
    families: &[("redis_*", SHARED_STATE)],
    otherwise: UNKNOWN,
};

/// `routing_strategy_args` of latency-based-routing (semantics 3.3).
static LATENCY_ARGS: Section<LowestLatencyArgs> = Section {
    keys: &[
        used("ttl", |args, s| {
            s.seconds().map(|ttl| args.ttl = ttl.unwrap_or(args.ttl))
        }),
        used("lowest_latency_buffer", |args, s| {
            let buffer = s.amount()?;
            args.lowest_latency_buffer = buffer.unwrap_or(args.lowest_latency_buffer);
            Ok(())
        }),
        used("max_latency_list_size", |args, s| {
            if let Some(size) = s.whole(1..=1_000_000)? {
                args.max_latency_list_size =
                    usize::try_from(size).expect("a number from 1 to a million");
            }
            Ok(())
        }),
        used("ttft_percentile", |args, s| {
            let Some(fraction) = s.amount()? else {
                return Ok(());
            };
            if fraction <= 0.0 || fraction > 1.0 {
                return Err(s.unaccepted("a fraction above 0, up to 1"));
            }
            args.ttft_percentile = Some(fraction);
            Ok(())
        }),
        // The next two are routelab's own.
        used("unmeasured_latency", |args, s| {
            if let Some(latency) = s.seconds()? {
                args.unmeasured.get_or_insert_default().latency = latency;
            }
            Ok(())
        }),
        used("unmeasured_decay", |args, s| {
            if let Some(decay) = s.seconds()? {
                if decay.is_zero() {
                    return Err(s.unaccepted("a number of seconds above 0"));
                }
                args.unmeasured.get_or_insert_default().decay = decay;
            }
            Ok(())
        }),
    ],
    families: &[],
    otherwise: UNKNOWN,
};

/// `routing_strategy_args` of usage-based-routing and its second version (semantics 1.9).
static USAGE_ARGS: Section<UsageArgs> = Section {
    keys: &[used("ttl", |args, s| {
        s.seconds().map(|ttl| args.ttl = ttl.unwrap_or(args.ttl))
    })],
    families: &[],
    otherwise: UNKNOWN,
};

/// `litellm_settings`: what becomes a default of the router where `router_settings` says nothing.
pub(super) static LITELLM_SETTINGS: Section<Draft> = Section {
    keys: &[
        used("num_retries", |d, s| {
            s.few().map(|n| d.settings.global_num_retries = n)
        }),
        used("allowed_fails", |d, s| {
            s.fails().map(|n| d.settings.global_allowed_fails = n)
        }),
        used("request_timeout", |d, s| {
            // 6000 s is LiteLLM's own default, by which it tells that nothing was given.
            let not_given = Duration::from_secs(6_000);
            s.timeout()
                .map(|limit| d.request_timeout = limit.filter(|limit| *limit != not_given))
        }),
        used("fallbacks", |d, s| {
            let list = read_fallbacks(s, Entries::OneKey)?;
            fill(
                &mut d.settings.fallbacks,
                list,
                s,
                "router_settings.fallbacks",
            );
            Ok(())
        }),
        used("context_window_fallbacks", |d, s| {
            let list = read_fallbacks(s, Entries::FirstKey)?;
            let taken = "router_settings.context_window_fallbacks";
            fill(&mut d.settings.context_window_fallbacks, list, s, taken);
            Ok(())
        }),
        used("content_policy_fallbacks", |d, s| {
            let list = read_fallbacks(s, Entries::OneKey)?;
            let taken = "router_settings.content_policy_fallbacks";
            fill(&mut d.settings.content_policy_fallbacks, list, s, taken);
            Ok(())
        }),
        used("default_fallbacks", |d, s| {
            let groups = read_groups(s)?;
            if d.settings.default_fallbacks.is_empty() {
                d.settings.default_fallbacks = groups;
            } else {
                s.ignore("router_settings.default_fallbacks is used in its place");
            }
            Ok(())
        }),
        used("max_fallbacks", |d, s| {
            let most = s.few()?;
            fill(
                &mut d.settings.max_fallbacks,
                most,
                s,
                "router_settings.max_fallbacks",
            );
            Ok(())
        }),
        ignored("always_include_stream_usage", PROVIDER),
        off_only("budget_duration", BUDGETS),
        off_only("cache", CACHING),
        ignored("cache_params", CACHING),
        ignored("callbacks", OBSERVABILITY),
        ignored("default_in_memory_ttl", SHARED_STATE),
        ignored("default_redis_batch_cache_expiry", SHARED_STATE),
        ignored("default_team_settings", PROXY),
        ignored("drop_params", PROVIDER),
        ignored("expose_router_debug_in_errors", OBSERVABILITY),
        ignored("failure_callback", OBSERVABILITY),
        ignored("json_logs", OBSERVABILITY),
        off_only("max_budget", BUDGETS),
        off_only(
            "model_alias_map",
            "not modelled yet: aliases of the library",
        ),
        ignored("modify_params", PROVIDER),
        off_only(
            "num_retries_per_request",
            "not modelled yet: LiteLLM's count of earlier failures over all requests",
        ),
        ignored("service_callback", OBSERVABILITY),
        ignored("set_verbose", OBSERVABILITY),
        ignored("success_callback", OBSERVABILITY),
        off_only("tag_budget_config", BUDGETS),
        ignored("telemetry", OBSERVABILITY),
        ignored("turn_off_message_logging", OBSERVABILITY),
    ],
    families: &[
        ("*_callback", OBSERVABILITY),
        ("*_callback_params", OBSERVABILITY),
        ("*_callbacks", OBSERVABILITY),
        ("*_debug", OBSERVABILITY),
        ("*_interception_params", PROXY),
        ("log_*", OBSERVABILITY),
        ("mcp_*", PROXY),
        ("prometheus_*", OBSERVABILITY),
        ("redact_*", OBSERVABILITY),
        ("ssl_*", PROVIDER),
        ("*internal_user*", PROXY),
    ],
    otherwise: "no routing key as far as routelab knows; LiteLLM keeps it as a global setting",
};

/// `general_settings`: the proxy's own, but for the switches of health checks.
pub(super) static GENERAL_SETTINGS: Section<Draft> = Section {
    keys: &[
        off_only("background_health_checks", HEALTH_CHECKS),
        ignored("database_url", SECRET),
        off_only("enable_health_check_routing", HEALTH_CHECKS),
        off_only("global_max_parallel_requests", PROXY_LIMIT),
        ignored("health_check_interval", HEALTH_CHECKS),
        ignored("health_check_staleness_threshold", HEALTH_CHECKS),
        off_only("health_check_ignore_transient_errors", HEALTH_CHECKS),
        ignored("master_key", SECRET),
        off_only("max_parallel_requests", PROXY_LIMIT),
        off_only("max_budget", BUDGETS),
        off_only("budget_duration", BUDGETS),
    ],
    families: &[],
    otherwise: PROXY,
};

const AFFINITY: &str = "not modelled yet: affinity of sessions and callers";
const PRIORITIES: &str = "not modelled yet: the queue by priority";
const PROXY_LIMIT: &str = "not modelled yet: a limit of the whole proxy";

/// Strategies that LiteLLM 1.110 knows (semantics 1.8).
const LITELLM_STRATEGIES: [&str; 8] = [
    "simple-shuffle",
    "lar1",
    "least-busy",
    "latency-based-routing",
    "cost-based-routing",
    "usage-based-routing-v2",
    "usage-based-routing",
    "provider-budget-routing",
];

fn read_strategy(s: &mut Setting<'_>) -> Result<Option<StrategySpec>> {
    let Some(name) = s.text()? else {
        return Ok(None);
    };
    if s.is_from_environment() {
        return Err(s
            .error("the strategy stands in the environment, which is never asked")
            .help(format!("accepted is {}", one_of(&StrategySpec::NAMES))));
    }
    let runs = || one_of(&StrategySpec::NAMES);
    match name.as_str() {
        name if StrategySpec::NAMES.contains(&name) => Ok(StrategySpec::named(name)),
        name if LITELLM_STRATEGIES.contains(&name) => Err(s
            .error(format!("strategy `{name}` cannot be run yet"))
            .help(format!("accepted is {}", runs()))),
        name => Err(s
            .error(format!("unknown strategy `{name}`"))
            .help(suggestion(name, &StrategySpec::NAMES))),
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
