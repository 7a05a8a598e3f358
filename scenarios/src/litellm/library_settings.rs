//! `litellm_settings`, which become defaults of the router or settings of the whole process, and
//! `general_settings`, the proxy's own (semantics 1.9, 4.4, 10).

use std::time::Duration;

use super::{
    caching::{read_cache, read_cache_params},
    fallbacks::{Entries, read_fallbacks, read_groups},
    section::{Section, ignored, off_only, used},
    setting::fill,
    settings::Draft,
    tables::{
        BUDGETS, HEALTH_CHECKS, OBSERVABILITY, PROMPT_ROUTERS, PROVIDER, PROXY, PROXY_LIMIT,
        SECRET, SHARED_STATE,
    },
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
        used("cache", read_cache),
        used("cache_params", read_cache_params),
        ignored("callbacks", OBSERVABILITY),
        ignored("default_in_memory_ttl", SHARED_STATE),
        ignored("default_redis_batch_cache_expiry", SHARED_STATE),
        ignored("default_soft_budget", BUDGETS),
        ignored("default_team_settings", PROXY),
        ignored("disable_add_user_agent_to_request_tags", OBSERVABILITY),
        ignored("drop_params", PROVIDER),
        ignored("expose_router_debug_in_errors", OBSERVABILITY),
        ignored("extra_spend_tag_headers", OBSERVABILITY),
        ignored("failure_callback", OBSERVABILITY),
        ignored("force_redis_hash_tag_grouping", SHARED_STATE),
        ignored("json_logs", OBSERVABILITY),
        off_only("longer_context_model_fallback_dict", OUTSIDE_THE_ROUTER),
        off_only("max_budget", BUDGETS),
        off_only(
            "model_alias_map",
            "not modelled yet: aliases of the library",
        ),
        off_only("model_fallbacks", OUTSIDE_THE_ROUTER),
        ignored("modify_params", PROVIDER),
        used("num_retries_per_request", |d, s| {
            s.few().map(|n| d.settings.num_retries_per_request = n)
        }),
        ignored("openrouter_key", SECRET),
        off_only(
            "priority_reservation",
            "not modelled: shares of a model's limits by the priority of callers' keys",
        ),
        ignored(
            "request_timeout_explicitly_set",
            "LiteLLM sets it itself where `request_timeout` is given",
        ),
        ignored("retry", OUTSIDE_THE_ROUTER),
        ignored("route_all_chat_openai_to_responses", PROVIDER),
        ignored("service_callback", OBSERVABILITY),
        ignored("set_verbose", OBSERVABILITY),
        ignored("success_callback", OBSERVABILITY),
        off_only("tag_budget_config", BUDGETS),
        ignored("telemetry", OBSERVABILITY),
        ignored("turn_off_message_logging", OBSERVABILITY),
    ],
    families: &[
        ignored("*_callback", OBSERVABILITY),
        ignored("*_callback_params", OBSERVABILITY),
        ignored("*_callbacks", OBSERVABILITY),
        ignored("*_debug", OBSERVABILITY),
        ignored("*_tags", OBSERVABILITY),
        ignored("autorouter_*", PROMPT_ROUTERS),
        ignored("budget_*", BUDGETS),
        ignored("default_key_*", BUDGETS),
        ignored("*_interception_params", PROXY),
        ignored("log_*", OBSERVABILITY),
        ignored("mcp_*", PROXY),
        ignored("prometheus_*", OBSERVABILITY),
        ignored("redact_*", OBSERVABILITY),
        ignored("ssl_*", PROVIDER),
        ignored("*internal_user*", PROXY),
        ignored("max_*_budget*", BUDGETS),
    ],
    otherwise: "no routing key as far as routelab knows; LiteLLM keeps it as a global setting",
};

/// `general_settings`: the proxy's own, but for the switches of health checks.
pub(super) static GENERAL_SETTINGS: Section<Draft> = Section {
    keys: &[
        ignored("alerting", OBSERVABILITY),
        ignored("alerting_threshold", OBSERVABILITY),
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
        ignored(
            "store_model_in_db",
            "LiteLLM then adds the models of its database, which are not known here",
        ),
    ],
    families: &[],
    otherwise: PROXY,
};

const OUTSIDE_THE_ROUTER: &str =
    "of calls of the library without a router; the router does not read it";
