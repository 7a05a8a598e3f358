//! What a vector uses that the core does not have, and which settings are known here.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    known_models,
    setup::{self, entries, param},
    vector::{ClientStep, Vector},
};

/// Features that a vector uses and the core does not have, and settings that nobody here knows.
pub(crate) fn not_modelled(vector: &Vector) -> BTreeSet<String> {
    let mut features = BTreeSet::new();
    for (key, _) in &vector.config.router {
        // What is no setting of LiteLLM's either is refused, see `setup`.
        if setup::is_constructor_key(key) {
            note_unknown(&mut features, "router", key, &ROUTER_KEYS);
        }
    }
    for (key, _) in &vector.config.globals {
        note_unknown(&mut features, "global", key, &GLOBAL_KEYS);
    }
    for deployment in &vector.config.deployments {
        let provider = param(deployment, "model").and_then(Value::as_str);
        let by_cost = vector.config.router.get("routing_strategy");
        let by_cost = by_cost.is_some_and(|name| name == "cost-based-routing");
        let listed = |model: &str| model.contains('/') || known_models::entry(model).is_some();
        if by_cost && provider.is_some_and(|model| !listed(model)) {
            features.insert("the price of a model".to_owned());
        }
        // Whatever else a deployment says is sent to its provider, or shown to who asks.
        for (key, _) in entries(deployment, "model_info") {
            if LACKING.contains(&key.as_str()) {
                features.insert(format!("the model_info setting {key}"));
            }
        }
    }
    for asked in vector.client.iter().flat_map(ClientStep::requests) {
        for (key, _) in &asked.kwargs {
            note_unknown(&mut features, "request", key, &REQUEST_KEYS);
        }
    }
    for reply in vector.upstream.replies() {
        for (key, _) in &reply.other {
            note_unknown(&mut features, "reply", key, &[]);
        }
    }
    features
}

fn note_unknown(features: &mut BTreeSet<String>, of: &str, key: &str, known: &[&str]) {
    if !known.contains(&key) {
        features.insert(format!("the {of} setting {key}"));
    }
}

const ROUTER_KEYS: [&str; 45] = [
    "alerting_config",
    "allowed_fails",
    "allowed_fails_policy",
    "assistants_config",
    "cache_kwargs",
    "cache_responses",
    "caching_groups",
    "client_ttl",
    "content_policy_fallbacks",
    "context_window_fallbacks",
    "cooldown_time",
    "debug_level",
    "default_fallbacks",
    "default_litellm_params",
    "default_max_parallel_requests",
    "default_priority",
    "deployment_affinity_ttl_seconds",
    "disable_cooldowns",
    "enable_pre_call_checks",
    "enable_tag_filtering",
    "enable_weighted_failover",
    "fallbacks",
    "guardrail_list",
    "ignore_invalid_deployments",
    "max_fallbacks",
    "model_group_affinity_config",
    "model_group_alias",
    "model_group_retry_policy",
    "num_retries",
    "optional_pre_call_checks",
    "polling_interval",
    "provider_budget_config",
    "retry_after",
    "retry_policy",
    "router_general_settings",
    "routing_groups",
    "routing_strategy",
    "routing_strategy_args",
    "search_tools",
    "session_affinity_repin_on_failover",
    "set_verbose",
    "stream_timeout",
    "tag_filtering_match_any",
    "tag_routing_prefix",
    "timeout",
];

const GLOBAL_KEYS: [&str; 4] = [
    "allowed_fails",
    "num_retries",
    "num_retries_per_request",
    "request_timeout",
];

/// What LiteLLM reads of a deployment and the core does not.
const LACKING: [&str; 2] = ["access_groups", "team_id"];

const REQUEST_KEYS: [&str; 26] = [
    "allowed_model_region",
    "cache",
    "caching",
    "content_policy_fallbacks",
    "context_window_fallbacks",
    "cooldown_time",
    "disable_fallbacks",
    "fallbacks",
    "litellm_metadata",
    "litellm_session_id",
    "max_retries",
    "max_tokens",
    "messages",
    "metadata",
    "num_retries",
    "priority",
    "request_timeout",
    "seed",
    "session_id",
    "stop",
    "stream_timeout",
    "temperature",
    "timeout",
    "tools",
    "top_p",
    "user",
];
