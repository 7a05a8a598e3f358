//! Settings that are not of the type that they should have, as the versions take them. (observed,
//! `config-*`)
//!
//! The core's types hold only what is well-formed, so a vector's configuration is read here as each
//! version reads it: a text that is a number counts as the number where LiteLLM makes one of it, and
//! what a version cannot compare or call never takes effect.

use router::ProfileName;
use serde_json::{Value, json};

use crate::vector::{Config, Object};

/// The configuration with settings of their proper types, or why a router of it is refused.
pub(crate) fn as_taken(config: &Config, version: ProfileName) -> Result<Config, String> {
    let old = version == ProfileName::Litellm192;
    let mut config = config.clone();
    router(&mut config.router, old)?;
    for deployment in &mut config.deployments {
        if let Some(params) = part(deployment, "litellm_params") {
            litellm_params(params, old)?;
        }
        if let Some(info) = part(deployment, "model_info") {
            model_info(info)?;
        }
    }
    Ok(config)
}

/// One of its mappings.
fn part<'a>(deployment: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    deployment.get_mut(key).and_then(Value::as_object_mut)
}

fn router(settings: &mut Object, old: bool) -> Result<(), String> {
    if settings
        .get("cooldown_time")
        .is_some_and(|v| old && v.is_string())
    {
        // 1.92 fails to add it to the clock, and benches nobody.
        settings.remove("cooldown_time");
        settings.insert("disable_cooldowns".to_owned(), json!(true));
    }
    if settings.get("allowed_fails").is_some_and(Value::is_string) {
        // Neither can compare it.
        settings.remove("allowed_fails");
        settings.insert("disable_cooldowns".to_owned(), json!(true));
    }
    for key in [
        "cooldown_time",
        "max_fallbacks",
        "num_retries",
        "retry_after",
        "stream_timeout",
        "timeout",
    ] {
        read_number(settings, key)?;
    }
    // 1.92 walks them and fails, 1.110 finds nothing in them.
    for (key, right) in [
        ("fallbacks", Value::is_array as fn(&Value) -> bool),
        ("content_policy_fallbacks", Value::is_array),
        ("model_group_alias", Value::is_object),
        ("routing_groups", Value::is_array),
    ] {
        if settings.get(key).is_some_and(|value| !right(value)) {
            if old {
                return Err(format!("{key} is of another type"));
            }
            settings.remove(key);
        }
    }
    if settings
        .get("context_window_fallbacks")
        .is_some_and(|v| !v.is_array())
    {
        settings.remove("context_window_fallbacks");
    }
    for group in settings
        .get("routing_groups")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        for key in ["group_name", "models", "routing_strategy"] {
            if group.get(key).is_none_or(Value::is_null) {
                return Err(format!("a routing group has no {key}"));
            }
        }
    }
    if let Some(args) = settings
        .get("routing_strategy_args")
        .and_then(Value::as_object)
        && args
            .iter()
            .any(|(key, value)| ARGS.contains(&key.as_str()) && !value.is_number())
    {
        return Err("an argument of the strategy is no number".to_owned());
    }
    if let Some(policy) = part(settings, "retry_policy") {
        for count in policy.values_mut().filter(|v| v.as_f64() < Some(0.0)) {
            if !old {
                return Err("a retry policy has a number below zero".to_owned());
            }
            *count = json!(0);
        }
    }
    Ok(())
}

fn litellm_params(params: &mut Object, old: bool) -> Result<(), String> {
    for key in ["rpm", "tpm"] {
        read_number(params, key)?;
        if params
            .get(key)
            .is_some_and(|v| v.as_f64().is_none_or(|n| n.fract() != 0.0))
        {
            return Err(format!("{key} is no whole number"));
        }
    }
    for key in ["max_budget", "order", "timeout", "stream_timeout"] {
        read_number(params, key)?;
    }
    let is = |key: &str, kind: fn(&Value) -> bool| params.get(key).is_some_and(kind);
    if is("tags", Value::is_string) || is("region_name", Value::is_number) {
        return Err("a deployment's setting is of another type".to_owned());
    }
    if is("max_parallel_requests", Value::is_string) && !old {
        return Err("max_parallel_requests is a text".to_owned());
    }
    if params.get("model") == Some(&json!(""))
        || params.get("custom_llm_provider") == Some(&json!("nope"))
    {
        return Err("the provider of a deployment is not known".to_owned());
    }
    match params.get("cooldown_time") {
        // What cannot be compared benches nobody in 1.92, and counts for nothing in 1.110.
        Some(Value::String(_)) if old => {
            params.insert("cooldown_time".to_owned(), json!(0));
        }
        Some(length) if length.is_string() || length.as_f64() < Some(0.0) => {
            params.remove("cooldown_time");
        }
        _ => {}
    }
    Ok(())
}

fn model_info(info: &mut Object) -> Result<(), String> {
    if let Some(blocked) = info.get_mut("blocked") {
        *blocked = json!(
            blocked
                .as_str()
                .map_or(*blocked == true, |text| !text.is_empty())
        );
    }
    for key in ["allowed_fails", "max_input_tokens"] {
        if info.get(key).is_some_and(Value::is_string) {
            info.remove(key);
        }
    }
    if let Some(policy) = part(info, "allowed_fails_policy") {
        policy.retain(|name, _| name.ends_with("AllowedFails"));
    }
    if info
        .get("tier")
        .is_some_and(|tier| tier != "free" && tier != "paid")
    {
        return Err("tier is neither free nor paid".to_owned());
    }
    if info.contains_key("supported_environments") {
        return Err("LITELLM_ENVIRONMENT is not set".to_owned());
    }
    Ok(())
}

/// A number that is written as a text.
fn read_number(settings: &mut Object, key: &str) -> Result<(), String> {
    let Some(Value::String(text)) = settings.get(key) else {
        return Ok(());
    };
    let number: f64 = text
        .trim()
        .parse()
        .map_err(|_| format!("{key} is the text {text}"))?;
    settings.insert(key.to_owned(), json!(number));
    Ok(())
}

const ARGS: [&str; 4] = [
    "lowest_latency_buffer",
    "max_latency_list_size",
    "ttft_percentile",
    "ttl",
];
