//! Every key that LiteLLM documents for routing is used or ignored for a reason; none is unknown here.
//!
//! The keys are those of LiteLLM's own reference (constructor arguments of the router, the types of an
//! entry, the proxy's settings) and those that published configs have.

use scenarios::litellm;

use crate::read;

/// The names of one section, with values that fit where the value decides.
struct Section {
    /// Where they stand, for messages.
    name: &'static str,
    /// A config with `{key: value}` in its place.
    around: fn(&str) -> String,
    /// Keys that are acted on, each with a value.
    used: &'static [(&'static str, &'static str)],
    /// Keys that are not, each with a value that would matter.
    ignored: &'static [(&'static str, &'static str)],
}

fn in_params(content: &str) -> String {
    format!("model_list:\n- {{model_name: m, litellm_params: {{model: openai/x, {content}}}}}\n")
}

fn in_info(content: &str) -> String {
    format!(
        "model_list:\n- {{model_name: m, litellm_params: {{model: openai/x}}, model_info: {{{content}}}}}\n"
    )
}

fn in_entry(content: &str) -> String {
    format!("model_list:\n- {{model_name: m, litellm_params: {{model: openai/x}}, {content}}}\n")
}

fn beside(section: &str, content: &str) -> String {
    format!(
        "model_list: [{{model_name: m, litellm_params: {{model: openai/x}}}}]\n{section}: {{{content}}}\n"
    )
}

const SECTIONS: [Section; 6] = [
    Section {
        name: "model_list[0]",
        around: in_entry,
        used: &[("rpm", "1"), ("tpm", "1"), ("model_info", "{id: a}")],
        ignored: &[("aliases", "[a]")],
    },
    Section {
        name: "model_list[0].litellm_params",
        around: in_params,
        used: &[
            ("custom_llm_provider", "openai"),
            ("rpm", "1"),
            ("tpm", "1"),
            ("weight", "1"),
            ("order", "1"),
            ("max_parallel_requests", "1"),
            ("timeout", "1"),
            ("stream_timeout", "1"),
            ("request_timeout", "1"),
            ("first_token_timeout", "1"),
            ("stream_idle_timeout", "1"),
            ("stream_total_timeout", "1"),
            ("num_retries", "1"),
            ("cooldown_time", "1"),
            ("region_name", "eu"),
            ("base_model", "gpt-4o"),
            ("input_cost_per_token", "1"),
            ("output_cost_per_token", "1"),
            ("cache_read_input_token_cost", "1"),
            ("input_cost_per_token_batches", "1"),
            ("output_cost_per_token_batches", "1"),
            ("input_cost_per_token_above_128k_tokens", "1"),
            ("output_cost_per_token_above_200k_tokens", "1"),
            ("cache_read_input_token_cost_above_272k_tokens", "1"),
            ("max_budget, budget_duration", "1"),
            ("tags", "[a]"),
            ("tag_regex", "[a]"),
            ("silent_model", "m"),
            ("organization", "[a, b]"),
        ],
        ignored: &[
            ("api_key", "a"),
            ("api_base", "a"),
            ("base_url", "a"),
            ("api_version", "a"),
            ("organization", "a"),
            ("max_retries", "1"),
            ("input_cost_per_second", "1"),
            ("output_cost_per_second", "1"),
            ("input_cost_per_character", "1"),
            ("output_cost_per_reasoning_token", "1"),
            ("cache_creation_input_token_cost", "1"),
            ("cache_creation_input_token_cost_above_1hr", "1"),
            ("input_cost_per_audio_token", "1"),
            ("input_cost_per_token_priority", "1"),
            ("tools", "[a]"),
            ("tool_choice", "auto"),
            ("use_in_pass_through", "true"),
            ("configurable_clientside_auth_params", "[a]"),
            ("litellm_credential_name", "a"),
            ("aws_region_name", "a"),
            ("aws_access_key_id", "a"),
            ("vertex_project", "a"),
            ("vertex_location", "a"),
            ("vertex_credentials", "a"),
            ("watsonx_region_name", "a"),
            ("azure_ad_token", "a"),
            ("s3_bucket_name", "a"),
            ("gcs_bucket_name", "a"),
            ("drop_params", "true"),
            ("mock_response", "a"),
            ("merge_reasoning_content_in_choices", "true"),
            ("extra_body", "{a: b}"),
            ("extra_headers", "{a: b}"),
            ("temperature", "1"),
            ("max_tokens", "1"),
            ("reasoning_effort", "low"),
            ("adaptive_router_config", "{a: b}"),
            ("complexity_router_config", "{a: b}"),
            ("auto_router_config_path", "a"),
            ("default_api_key_rpm_limit", "1"),
            ("default_api_key_tpm_limit", "1"),
        ],
    },
    Section {
        name: "model_list[0].model_info",
        around: in_info,
        used: &[
            ("id", "a"),
            ("base_model", "gpt-4o"),
            ("blocked", "true"),
            ("rpm", "1"),
            ("tpm", "1"),
            ("order", "1"),
            ("max_input_tokens", "1"),
            ("allowed_fails", "1"),
            ("allowed_fails_policy", "{RateLimitErrorAllowedFails: 1}"),
            ("cooldown_time", "1"),
            ("cooldown_probe_after", "1"),
            ("input_cost_per_token", "1"),
            ("output_cost_per_token", "1"),
            ("cache_read_input_token_cost", "1"),
            ("input_cost_per_token_above_128k_tokens", "1"),
        ],
        ignored: &[
            ("tier", "free"),
            ("team_id", "a"),
            ("team_public_model_name", "a"),
            ("access_groups", "[a]"),
            ("supported_environments", "[production]"),
            ("supports_web_search", "true"),
            ("supports_vision", "true"),
            ("max_tokens", "1"),
            ("max_output_tokens", "1"),
            ("mode", "chat"),
            ("db_model", "true"),
            ("created_at", "a"),
            ("created_by", "a"),
            ("disable_background_health_check", "true"),
            ("health_check_model", "a"),
            ("health_check_timeout", "1"),
            ("input_cost_per_1k_tokens", "1"),
            ("output_cost_per_1k_tokens", "1"),
            ("cache_creation_input_token_cost", "1"),
            ("context_window", "1"),
            ("limit", "1"),
            ("supported_openai_params", "[a]"),
        ],
    },
    Section {
        name: "router_settings",
        around: |content| beside("router_settings", content),
        used: &[
            ("routing_strategy", "least-busy"),
            (
                "routing_groups",
                "[{group_name: g, models: [m], routing_strategy: least-busy}]",
            ),
            ("num_retries", "1"),
            ("retry_after", "1"),
            ("retry_policy", "{TimeoutErrorRetries: 1}"),
            ("model_group_retry_policy", "{m: {TimeoutErrorRetries: 1}}"),
            ("max_fallbacks", "1"),
            ("fallbacks", "[{m: [n]}]"),
            ("context_window_fallbacks", "[{m: [n]}]"),
            ("content_policy_fallbacks", "[{m: [n]}]"),
            ("default_fallbacks", "[n]"),
            ("allowed_fails", "1"),
            ("allowed_fails_policy", "{TimeoutErrorAllowedFails: 1}"),
            ("cooldown_one_trial", "true"),
            ("cooldown_spread", "0.15"),
            ("cooldown_time", "1"),
            ("disable_cooldowns", "true"),
            ("timeout", "1"),
            ("stream_timeout", "1"),
            ("cooldown_one_trial", "true"),
            ("cooldown_spread", "0.15"),
            ("first_token_timeout", "1"),
            ("stream_idle_timeout", "1"),
            ("stream_total_timeout", "1"),
            ("default_max_parallel_requests", "1"),
            ("enable_pre_call_checks", "true"),
            ("optional_pre_call_checks", "[session_affinity]"),
            ("deployment_affinity_ttl_seconds", "1"),
            ("model_group_affinity_config", "{m: [session_affinity]}"),
            ("session_affinity_repin_on_failover", "true"),
            ("enable_tag_filtering", "true"),
            ("tag_filtering_match_any", "true"),
            ("tag_routing_prefix", "a"),
            ("enable_weighted_failover", "true"),
            ("model_group_alias", "{a: m}"),
            (
                "provider_budget_config",
                "{openai: {budget_limit: 1, time_period: 1d}}",
            ),
            ("cache_responses", "true"),
            ("caching_groups", "[[m, n]]"),
            ("default_priority", "1"),
            ("polling_interval", "1"),
            ("alerting_config", "{alerting_threshold: 1}"),
            ("redis_url", "a"),
            (
                "default_litellm_params",
                "{num_retries: 1, max_retries: 1, cooldown_time: 1, stream_timeout: 1}",
            ),
        ],
        ignored: &[
            ("routing_strategy_args", "{ttl: 1}"),
            ("redis_host", "a"),
            ("redis_port", "1"),
            ("redis_password", "a"),
            ("redis_db", "1"),
            ("cache_kwargs", "{a: b}"),
            ("client_ttl", "1"),
            ("enable_health_check_routing", "true"),
            ("health_check_staleness_threshold", "1"),
            ("health_check_ignore_transient_errors", "true"),
            ("health_check_interval", "1"),
            ("health_check_concurrency", "1"),
            ("ignore_invalid_deployments", "true"),
            ("router_general_settings", "{async_only_mode: true}"),
            ("set_verbose", "true"),
            ("debug_level", "DEBUG"),
            ("assistants_config", "{a: b}"),
            ("search_tools", "[a]"),
            ("guardrail_list", "[a]"),
            ("plugins", "[a]"),
            ("fallback_on_unsupported_params", "true"),
            ("background_health_check_model_groups", "[m]"),
            ("fallback_access_check", "true"),
            ("fallback_budget_check", "true"),
            ("auto_router_capability_limit", "1"),
            ("max_retries", "1"),
        ],
    },
    Section {
        name: "litellm_settings",
        around: |content| beside("litellm_settings", content),
        used: &[
            ("num_retries", "1"),
            ("max_fallbacks", "1"),
            ("default_fallbacks", "[n]"),
            ("fallbacks", "[{m: [n]}]"),
            ("context_window_fallbacks", "[{m: [n]}]"),
            ("content_policy_fallbacks", "[{m: [n]}]"),
            ("allowed_fails", "1"),
            ("num_retries_per_request", "1"),
            ("request_timeout", "1"),
            ("cache", "true"),
        ],
        ignored: &[
            ("cache_params", "{type: local}"),
            ("drop_params", "true"),
            ("tag_budget_config", "{a: {max_budget: 1}}"),
            ("default_in_memory_ttl", "1"),
            ("default_redis_batch_cache_expiry", "1"),
            ("model_alias_map", "{a: m}"),
            ("expose_router_debug_in_errors", "true"),
            ("max_budget", "1"),
            ("budget_duration", "1d"),
            ("success_callback", "[a]"),
            ("failure_callback", "[a]"),
            ("callbacks", "[a]"),
            ("set_verbose", "true"),
            ("json_logs", "true"),
            ("telemetry", "true"),
            ("default_team_settings", "[{a: b}]"),
            ("modify_params", "true"),
            ("ssl_verify", "true"),
        ],
    },
    Section {
        name: "general_settings",
        around: |content| beside("general_settings", content),
        used: &[],
        ignored: &[
            ("master_key", "a"),
            ("database_url", "a"),
            ("max_parallel_requests", "1"),
            ("global_max_parallel_requests", "1"),
            ("background_health_checks", "true"),
            ("health_check_interval", "1"),
            ("enable_health_check_routing", "true"),
            ("health_check_staleness_threshold", "1"),
            ("health_check_ignore_transient_errors", "true"),
            ("alerting", "[slack]"),
            ("alerting_threshold", "1"),
            ("store_model_in_db", "true"),
            ("max_budget", "1"),
            ("budget_duration", "1d"),
        ],
    },
];

/// `a, b` stands for two keys of which each needs the other.
fn content(key: &str, value: &str) -> String {
    match key {
        "max_budget, budget_duration" => "max_budget: 1, budget_duration: 1d".to_owned(),
        key => format!("{key}: {value}"),
    }
}

#[test]
fn every_documented_key_is_used_or_ignored_for_a_reason() {
    let mut wrong = Vec::new();
    for section in &SECTIONS {
        for (key, value) in section.used {
            let config = read(&(section.around)(&content(key, value)));
            if !config.ignored.is_empty() {
                wrong.push(format!(
                    "{}.{key} is not used: {:?}",
                    section.name, config.ignored
                ));
            }
        }
        for (key, value) in section.ignored {
            let config = read(&(section.around)(&content(key, value)));
            let path = format!("{}.{key}", section.name);
            let within = |at: &str| at == path || at.starts_with(&format!("{path}["));
            match config.ignored.iter().find(|ignored| within(&ignored.path)) {
                Some(told)
                    if told.reason.contains("unknown")
                        || told.reason.contains("no routing key") =>
                {
                    wrong.push(format!("{path} is called unknown"));
                }
                Some(told) if told.suspicious => wrong.push(format!("{told} is no slip")),
                Some(_) => {}
                None => wrong.push(format!("{path} is used")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_key_that_is_used_is_suggested_for_a_slip_of_it() {
    for section in &SECTIONS {
        let long = section
            .used
            .iter()
            .filter(|(key, _)| key.len() > 6 && !key.contains([',', ' ']));
        for (key, value) in long.filter(|(key, _)| !key.contains("_above_")) {
            // The last letter is missing.
            let slip = &key[..key.len() - 1];
            let text = (section.around)(&format!("{slip}: {value}"));

            let config = litellm::read(&text, "config.yaml").unwrap();

            let told = config.ignored.iter().find(|told| told.path.ends_with(slip));
            let told = told.unwrap_or_else(|| panic!("{}.{slip} is used", section.name));
            assert!(
                told.suspicious && told.reason.contains(&format!("did you mean `{key}`?")),
                "{told}"
            );
        }
    }
}
