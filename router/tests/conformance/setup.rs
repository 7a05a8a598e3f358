//! From a vector's configuration to a `RouterConfig`, and which features of it the core lacks.

use std::{collections::BTreeSet, time::Duration};

use router::{
    DeploymentConfig, Prices, ProfileName, RouterConfig, RouterSettings,
    config::{AllowedFailsPolicy, DefaultLitellmParams, Fallbacks, RetryPolicy},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    filters, known_models, odd,
    strategies::{routing_group, set_args, strategy},
    vector::{Config, Object, text},
};

/// What came of a configuration.
#[derive(Debug)]
pub(crate) enum Setup {
    Ready(Box<RouterConfig>),
    /// A router of this configuration is refused.
    Refused(String),
}

/// The router's configuration under a profile.
pub(crate) fn setup(config: &Config, profile: ProfileName) -> Setup {
    match try_setup(config, profile) {
        Ok(config) => Setup::Ready(Box::new(config)),
        Err(why) => Setup::Refused(why),
    }
}

fn try_setup(config: &Config, name: ProfileName) -> Result<RouterConfig, String> {
    let config = &odd::as_taken(config, name)?;
    let deployments: Result<Vec<_>, _> = config
        .deployments
        .iter()
        .map(|given| deployment(given, name))
        .collect();
    let mut settings = RouterSettings::default();
    for (key, value) in &config.router {
        if !is_constructor_key(key) {
            return Err(format!("the router knows no setting {key}"));
        }
        set(&mut settings, key, value, name)?;
    }
    if let Some(args) = config.router.get("routing_strategy_args") {
        set_args(&mut settings.routing_strategy, args);
    }
    for (key, value) in &config.globals {
        set_global(&mut settings, key, value)?;
    }
    let mut deployments = deployments?;
    if config.router.get("ignore_invalid_deployments") == Some(&Value::Bool(true)) {
        deployments.retain(DeploymentConfig::has_known_provider);
    }
    Ok(RouterConfig {
        profile: name.profile(),
        deployments,
        settings,
        ..RouterConfig::default()
    })
}

/// Sets one of the library's own settings (`litellm_settings`).
fn set_global(settings: &mut RouterSettings, key: &str, value: &Value) -> Result<(), String> {
    match key {
        "num_retries" => settings.global_num_retries = Some(as_u32(value)),
        "allowed_fails" => settings.global_allowed_fails = Some(as_u32(value)),
        "num_retries_per_request" => settings.num_retries_per_request = Some(as_u32(value)),
        "request_timeout" => settings.request_timeout = Some(seconds(value)),
        other => return Err(format!("the global {other} is not known to this test")),
    }
    Ok(())
}

fn default_litellm_params(value: &Value) -> DefaultLitellmParams {
    DefaultLitellmParams {
        num_retries: value.get("num_retries").map(as_u32),
        max_retries: value.get("max_retries").map(as_u32),
        cooldown_time: value.get("cooldown_time").map(seconds),
        stream_timeout: value.get("stream_timeout").map(seconds),
    }
}

/// Sets one of `router`'s keys; also those of `update_settings`.
pub(crate) fn set(
    settings: &mut RouterSettings,
    key: &str,
    value: &Value,
    version: ProfileName,
) -> Result<(), String> {
    let list = || as_fallbacks(key, value, version);
    match key {
        "allowed_fails" => settings.allowed_fails = Some(as_u32(value)),
        "allowed_fails_policy" => settings.allowed_fails_policy = Some(parse(value)),
        "content_policy_fallbacks" => settings.content_policy_fallbacks = Some(list()?),
        "context_window_fallbacks" => settings.context_window_fallbacks = Some(list()?),
        // A bench that is over before it begins.
        "cooldown_time" if value.as_f64() < Some(0.0) => settings.disable_cooldowns = true,
        "cooldown_time" => settings.cooldown_time = Some(seconds(value)),
        "default_fallbacks" => {
            settings.default_fallbacks = match value.as_str() {
                None => parse(value),
                Some(text) if version == ProfileName::Litellm192 => {
                    text.chars().map(String::from).collect()
                }
                Some(_) => return Err("default_fallbacks is not a list of names".to_owned()),
            }
        }
        "cache_responses" => settings.cache_responses = *value == true,
        "caching_groups" => settings.caching_groups = parse(value),
        "default_litellm_params" => {
            settings.default_litellm_params = default_litellm_params(value);
        }
        "default_priority" => settings.default_priority = Some(as_u32(value)),
        "default_max_parallel_requests" => {
            settings.default_max_parallel_requests = value.as_u64();
        }
        "disable_cooldowns" => settings.disable_cooldowns = *value == true,
        "enable_weighted_failover" => settings.enable_weighted_failover = *value == true,
        "fallbacks" => settings.fallbacks = Some(list()?),
        "max_fallbacks" => settings.max_fallbacks = Some(as_u32(value)),
        "model_group_alias" => {
            settings.model_group_alias.clear();
            for (alias, target) in value.as_object().expect("an object") {
                let target = target.get("model").unwrap_or(target).as_str();
                if let Some(target) = target {
                    settings
                        .model_group_alias
                        .insert(alias.clone(), target.to_owned());
                }
            }
        }
        "model_group_retry_policy" => settings.model_group_retry_policy = parse(value),
        "num_retries" => settings.num_retries = Some(as_u32(value)),
        "retry_after" => settings.retry_after = seconds(value),
        "retry_policy" => settings.retry_policy = Some(parse::<RetryPolicy>(value)),
        "routing_strategy" => {
            settings.routing_strategy = strategy(value)?;
        }
        "routing_groups" => {
            let groups: Result<_, _> = items(value).iter().map(routing_group).collect();
            settings.routing_groups = groups?;
        }
        "polling_interval" => settings.polling_interval = Some(seconds(value)),
        "stream_timeout" => settings.stream_timeout = Some(seconds(value)),
        "timeout" => settings.timeout = Some(seconds(value)),
        // Of filters, acted on elsewhere, of features reported before, or without influence on what
        // is recorded.
        _ => filters::set(settings, key, value),
    }
    Ok(())
}

fn deployment(given: &Object, version: ProfileName) -> Result<DeploymentConfig, String> {
    let id = given["id"].as_str().expect("every deployment has an id");
    let name = given.get("model_name").and_then(Value::as_str);
    let mut deployment = DeploymentConfig {
        id: id.to_owned(),
        model_name: name.ok_or("a deployment has no model_name")?.to_owned(),
        model: format!("openai/fake-{id}"),
        ..DeploymentConfig::default()
    };
    for (key, value) in entries(given, "litellm_params") {
        match key.as_str() {
            "cooldown_time" => deployment.cooldown_time = Some(seconds(value)),
            "custom_llm_provider" => deployment.custom_llm_provider = Some(text(value)),
            "input_cost_per_token" => deployment.own_prices.input = value.as_f64(),
            "max_parallel_requests" => deployment.max_parallel_requests = value.as_u64(),
            "model" => {
                let model = value.as_str().ok_or("litellm_params.model is not a text")?;
                deployment.model = model.to_owned();
                deployment.listed_prices = known_models::entry(model)
                    .map(|known| known.prices)
                    .unwrap_or_default();
                deployment.max_input_tokens = known_models::window(model);
            }
            "num_retries" => deployment.num_retries = Some(as_u32(value)),
            "order" => deployment.order = value.as_i64(),
            "output_cost_per_token" => deployment.own_prices.output = value.as_f64(),
            "silent_model" => deployment.silent_model = value.as_str().map(str::to_owned),
            "rpm" => deployment.rpm = value.as_u64(),
            "stream_timeout" => deployment.stream_timeout = Some(seconds(value)),
            "timeout" => deployment.timeout = Some(seconds(value)),
            "tpm" => deployment.tpm = value.as_u64(),
            "weight" => {
                deployment.weight = value.as_f64();
                deployment.weight_is_text = value.is_string();
            }
            // Of filters, read by the driver, by features reported before, or by nobody.
            _ => filters::set_param(&mut deployment, key, value),
        }
    }
    let base = given
        .get("model_info")
        .and_then(|info| info.get("base_model"))
        .or_else(|| param(given, "base_model"));
    if let Some(known) = base.and_then(Value::as_str).and_then(known_models::entry)
        && version.profile().pricing.base_model_ranks
    {
        deployment.listed_prices = known.prices;
    }
    let request_timeout = param(given, "request_timeout").map(seconds);
    deployment.timeout = deployment
        .timeout
        .filter(|limit| !limit.is_zero())
        .or(request_timeout);
    let priced = deployment.own_prices != Prices::default();
    deployment.prices = match priced {
        true => deployment.own_prices.clone(),
        false => deployment.listed_prices.clone(),
    };
    for (key, value) in entries(given, "model_info") {
        match key.as_str() {
            "allowed_fails" => deployment.allowed_fails = Some(as_u32(value)),
            "allowed_fails_policy" => {
                deployment.allowed_fails_policy = Some(parse::<AllowedFailsPolicy>(value));
            }
            "blocked" => deployment.blocked = *value == true,
            "cooldown_time" => deployment.model_info_cooldown_time = Some(seconds(value)),
            "max_input_tokens" => {
                deployment.model_info_max_input_tokens = Some(as_u32(value));
            }
            "order" => deployment.order = deployment.order.or(value.as_i64()),
            "rpm" => deployment.model_info_rpm = value.as_u64(),
            "tpm" => deployment.model_info_tpm = value.as_u64(),
            _ => {}
        }
    }
    Ok(deployment)
}

/// The deployments whose address nobody listens on.
pub(crate) fn refused(config: &Config) -> BTreeSet<String> {
    let refuses = |d: &&Object| param(d, "api_base").is_some_and(|base| base == "{refused}");
    let id = |d: &Object| d["id"].as_str().expect("an id").to_owned();
    config.deployments.iter().filter(refuses).map(id).collect()
}

/// Entries in the file's order; each must hold exactly one name with a list, but for one list.
///
/// The core's type holds only what is well-formed, so what LiteLLM does with the rest is done here:
/// 1.92 reads a text in place of a list letter by letter, 1.110 refuses it but in one list; 1.92
/// refuses a mapping in place of the list of entries, 1.110 finds nothing in it. A map as a target
/// is read as the model that it names.
pub(crate) fn as_fallbacks(
    key: &str,
    value: &Value,
    version: ProfileName,
) -> Result<Fallbacks, String> {
    let old = version == ProfileName::Litellm192;
    let unchecked = key == "context_window_fallbacks";
    if value.is_object() {
        let nothing = (!old).then(Fallbacks::new);
        return nothing.ok_or_else(|| format!("{key} is no list"));
    }
    let target = |target: &Value| {
        target
            .get("model")
            .unwrap_or(target)
            .as_str()
            .map(str::to_owned)
    };
    let targets = |name: &str, list: &Value| match list.as_str() {
        Some(text) if old || unchecked => Ok(text.chars().map(String::from).collect()),
        _ => list
            .as_array()
            .and_then(|list| list.iter().map(target).collect::<Option<Vec<_>>>())
            .ok_or_else(|| format!("{key}.{name} is not a list of names")),
    };
    let entry = |entry: &Value| {
        let entry = entry
            .as_object()
            .ok_or_else(|| format!("{key} holds no mapping"))?;
        match entry.iter().next() {
            // Nobody checks this list; of each entry only the first name is ever looked at.
            Some((name, list)) if entry.len() == 1 || unchecked => {
                Ok((name.clone(), targets(name, list)?))
            }
            _ => Err(format!("an entry of {key} has not exactly one key")),
        }
    };
    items(value).iter().map(entry).collect()
}

/// Whether LiteLLM's router takes a keyword of this name.
pub(crate) fn is_constructor_key(key: &str) -> bool {
    CONSTRUCTOR_KEYS.contains(&key)
}

/// The keywords of `Router(...)`, as its signature lists them. (semantics 1.9)
const CONSTRUCTOR_KEYS: [&str; 61] = [
    "alerting_config",
    "allowed_fails",
    "allowed_fails_policy",
    "assistants_config",
    "auto_router_capability_limit",
    "background_health_check_model_groups",
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
    "enable_health_check_routing",
    "enable_mid_stream_fallback_continuation",
    "enable_pre_call_checks",
    "enable_tag_filtering",
    "enable_weighted_failover",
    "fallback_access_check",
    "fallback_budget_check",
    "fallback_on_unsupported_params",
    "fallbacks",
    "guardrail_list",
    "health_check_ignore_transient_errors",
    "health_check_staleness_threshold",
    "ignore_invalid_deployments",
    "max_fallbacks",
    "model_group_affinity_config",
    "model_group_alias",
    "model_group_retry_policy",
    "model_list",
    "num_retries",
    "optional_pre_call_checks",
    "plugins",
    "polling_interval",
    "provider_budget_config",
    "redis_db",
    "redis_host",
    "redis_password",
    "redis_port",
    "redis_url",
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

/// One of a deployment's `litellm_params`.
pub(crate) fn param<'a>(deployment: &'a Object, key: &str) -> Option<&'a Value> {
    deployment.get("litellm_params")?.get(key)
}

/// The entries of one of a deployment's mappings.
pub(crate) fn entries<'a>(
    deployment: &'a Object,
    key: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    deployment
        .get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn parse<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"))
}

pub(crate) fn seconds(value: &Value) -> Duration {
    let number = value.as_f64();
    let number = number.unwrap_or_else(|| panic!("{value} is no number"));
    Duration::from_secs_f64(number.max(0.0))
}

/// A count. LiteLLM takes what is below zero as none, and cuts off what is after the point.
pub(crate) fn as_u32(value: &Value) -> u32 {
    let number = value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float-to-integer cast saturates"
    )]
    let count = number as u32;
    count
}
