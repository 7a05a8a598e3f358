//! What a vector uses that the core does not have, and which settings are known here.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    setup::{self, entries, listed_prices, param},
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
        let listed = |model: &str| model.contains('/') || listed_prices(model).is_some();
        if by_cost && provider.is_some_and(|model| !listed(model)) {
            features.insert("the price of a model".to_owned());
        }
        for (key, _) in entries(deployment, "litellm_params") {
            note_unknown(&mut features, "litellm_params", key, &PARAM_KEYS);
        }
        for (key, _) in entries(deployment, "model_info") {
            note_unknown(&mut features, "model_info", key, &INFO_KEYS);
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

const ROUTER_KEYS: [&str; 36] = [
    "allowed_fails",
    "allowed_fails_policy",
    "cache_responses",
    "caching_groups",
    "content_policy_fallbacks",
    "context_window_fallbacks",
    "cooldown_time",
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
    "routing_groups",
    "routing_strategy",
    "routing_strategy_args",
    "session_affinity_repin_on_failover",
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

/// `allowed_fails` and `max_retries` of a deployment are read by nobody.
const PARAM_KEYS: [&str; 24] = [
    "allowed_fails",
    "api_base",
    "api_key",
    "budget_duration",
    "cooldown_time",
    "custom_llm_provider",
    "input_cost_per_token",
    "max_budget",
    "max_parallel_requests",
    "max_retries",
    "model",
    "num_retries",
    "order",
    "output_cost_per_token",
    "region_name",
    "request_timeout",
    "rpm",
    "silent_model",
    "stream_timeout",
    "tag_regex",
    "tags",
    "timeout",
    "tpm",
    "weight",
];

/// Prices in `model_info` are read by no strategy.
const INFO_KEYS: [&str; 11] = [
    "allowed_fails",
    "allowed_fails_policy",
    "blocked",
    "cooldown_time",
    "id",
    "input_cost_per_token",
    "max_input_tokens",
    "order",
    "output_cost_per_token",
    "rpm",
    "tpm",
];

const REQUEST_KEYS: [&str; 20] = [
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
    "messages",
    "metadata",
    "num_retries",
    "priority",
    "request_timeout",
    "session_id",
    "stream_timeout",
    "timeout",
    "user",
];
