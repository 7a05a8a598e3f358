//! The account of a config's keys: what is used, what is ignored, and that nothing is lost.

use router::config::RetryPolicy;
use scenarios::{
    litellm::{self, LitellmConfig},
    yaml::{Node, Value, join},
};

use crate::{ignored, read_with};

#[test]
fn what_stands_in_the_environment_counts_as_not_given() {
    let read = read_with(
        "router_settings:\n  num_retries: os.environ/N\n  cooldown_time: ${COOL}\n  \
         retry_policy: {TimeoutErrorRetries: os.environ/T}\n  \
         model_group_alias: {a: os.environ/A, b: m}\n  fallbacks: [{m: [os.environ/F, n]}]\n",
    );

    let found = &read.router.settings;
    assert_eq!((found.num_retries, found.cooldown_time), (None, None));
    assert_eq!(found.retry_policy, Some(RetryPolicy::default()));
    assert_eq!(found.model_group_alias.len(), 1);
    assert_eq!(found.fallbacks.as_ref().unwrap()[0].1, ["n"]);
    for path in [
        "router_settings.num_retries",
        "router_settings.cooldown_time",
        "router_settings.retry_policy.TimeoutErrorRetries",
        "router_settings.model_group_alias.a",
        "router_settings.fallbacks[0].m[0]",
    ] {
        assert!(
            ignored(&read, path).reason.contains("environment"),
            "{path}"
        );
    }
}

#[test]
fn a_slip_in_a_key_stands_out() {
    let read = read_with(
        "router_settings: {cooldown_tim: 30, enable_pre_call_check: true, cache: 1}\n\
         litellm_settings: {retry_after: 5}\nnum_retries: 3\n",
    );

    let told = |path| {
        let key = ignored(&read, path);
        (key.suspicious, key.reason.as_str())
    };
    assert_eq!(
        told("router_settings.cooldown_tim"),
        (
            true,
            "unknown to LiteLLM 1.110 as far as routelab knows; did you mean `cooldown_time`?"
        )
    );
    assert!(told("router_settings.enable_pre_call_check").0);
    assert_eq!(
        told("litellm_settings.retry_after"),
        (
            true,
            "LiteLLM reads `retry_after` under router_settings, not here"
        )
    );
    assert_eq!(
        told("num_retries"),
        (
            true,
            "LiteLLM reads `num_retries` under router_settings, not here"
        )
    );
}

#[test]
fn unknown_keys_are_ignored_but_told() {
    let read = read_with("my_section: {a: 1}\nrouter_settings: {colour: blue}\n");

    assert!(!ignored(&read, "my_section").suspicious);
    assert_eq!(
        ignored(&read, "router_settings.colour").reason,
        "unknown to LiteLLM 1.110 as far as routelab knows"
    );
    assert_eq!(ignored(&read, "my_section").line, 2);
}

#[test]
fn switches_that_are_off_are_used_and_those_that_are_on_are_told() {
    let off = read_with("router_settings: {enable_health_check_routing: false, plugins: []}");
    let on = read_with("router_settings: {enable_health_check_routing: true}");

    assert!(off.ignored.is_empty());
    assert!(
        ignored(&on, "router_settings.enable_health_check_routing")
            .reason
            .starts_with("not modelled")
    );
}

/// The paths of a tree that end in a scalar or in an empty list or mapping.
fn leaves(node: &Node, path: String, found: &mut Vec<String>) {
    match &node.value {
        Value::Map(map) if !map.entries.is_empty() => {
            for entry in &map.entries {
                leaves(&entry.value, join(&path, &entry.key.name), found);
            }
        }
        Value::Seq(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, format!("{path}[{index}]"), found);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Str(_)
        | Value::Seq(_)
        | Value::Map(_) => found.push(path),
    }
}

fn covers(entry: &str, path: &str) -> bool {
    path.strip_prefix(entry)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Every leaf of the tree is in exactly one entry of the account, and every entry is in the tree.
/// Gives the number of leaves.
pub(crate) fn assert_whole(tree: &Node, config: &LitellmConfig, about: &str) -> usize {
    let mut paths = Vec::new();
    leaves(tree, String::new(), &mut paths);
    let ignored = config.ignored.iter().map(|key| key.path.as_str());
    let entries: Vec<&str> = config
        .used
        .iter()
        .map(String::as_str)
        .chain(ignored)
        .collect();
    for path in &paths {
        let by: Vec<&&str> = entries.iter().filter(|entry| covers(entry, path)).collect();
        assert_eq!(by.len(), 1, "{about}: {path} is accounted for by {by:?}");
    }
    for entry in entries {
        assert!(
            tree.at_path(entry).is_some(),
            "{about}: {entry} is no key of it"
        );
    }
    paths.len()
}

/// A config that uses every kind of key.
const RICH: &str = "
model_list:
  - model_name: chat
    rpm: 10
    tpm: '20'
    litellm_params: {model: azure/a, api_key: os.environ/K, weight: 1.5, rpm: 60, order: 1, timeout: 9,
      request_timeout: 8, stream_timeout: 3, num_retries: 1, cooldown_time: 2, max_parallel_requests: 4,
      input_cost_per_token: 1.0e-6, output_cost_per_token: 2.0e-6, tags: [a], aws_region_name: x, odd: 1,
      input_cost_per_token_above_128k_tokens: 1.0e-6, input_cost_per_second: 1, base_model: gpt-4o,
      custom_llm_provider: azure, region_name: eu, tag_regex: ['^x'], silent_model: long, max_budget: 5,
      budget_duration: 1d, cache_read_input_token_cost: 1.0e-7}
    model_info: {id: east, order: 2, cooldown_time: 3, allowed_fails: 1, blocked: false, mode: chat,
      allowed_fails_policy: {RateLimitErrorAllowedFails: 3, Other: 1}, input_cost_per_token: 3.0e-6,
      base_model: gpt-4o, max_input_tokens: 4000, supported_environments: [production], team_id: t}
  - {model_name: long, litellm_params: {model: openai/b, organization: [o, p]}}
router_settings:
  routing_strategy: latency-based-routing
  routing_strategy_args: {ttl: 60, lowest_latency_buffer: 0.5, max_latency_list_size: 5, ttft_percentile: 0.5}
  routing_groups:
  - {group_name: g, models: [chat], routing_strategy: usage-based-routing-v2, routing_strategy_args: {ttl: 9}}
  - {group_name: h, models: [chat, long], routing_strategy: priority, model_priorities: {chat: 1, long: 2}}
  num_retries: 2
  retry_after: 1
  retry_policy: {TimeoutErrorRetries: 1, retry_count: 2}
  model_group_retry_policy: {chat: {RateLimitErrorRetries: 1}}
  allowed_fails: 2
  allowed_fails_policy: {TimeoutErrorAllowedFails: 1}
  cooldown_time: 5
  disable_cooldowns: false
  timeout: 30
  fallbacks: [{chat: [long, {model: long, temperature: 0}]}]
  default_fallbacks: [long]
  context_window_fallbacks: [{chat: [long], other: [x]}]
  content_policy_fallbacks: [{chat: [long]}]
  model_group_alias: {gpt-4.1: chat, b: {model: chat, hidden: true}}
  enable_pre_call_checks: true
  optional_pre_call_checks: [session_affinity, router_budget_limiting, odd]
  model_group_affinity_config: {chat: [deployment_affinity]}
  deployment_affinity_ttl_seconds: 60
  enable_tag_filtering: true
  tag_filtering_match_any: false
  tag_routing_prefix: 'r:'
  provider_budget_config: {azure: {budget_limit: 5, time_period: 1d}}
  caching_groups: [[chat, long]]
  default_priority: 1
  polling_interval: 0.5
  alerting_config: {webhook_url: x, alerting_threshold: 9}
  redis_host: r
litellm_settings: {num_retries: 1, request_timeout: 40, fallbacks: [{chat: [long]}], default_fallbacks: [chat],
  cache: true, cache_params: {type: local, ttl: 60, mode: default_on, supported_call_types: [acompletion]}}
general_settings: {master_key: k, max_parallel_requests: 9}
environment_variables: {A: b, LITELLM_ENVIRONMENT: production}
mystery: [1, {a: b}]
";

#[test]
fn whatever_a_value_is_replaced_by_is_refused_or_accounted_for() {
    let tree = litellm::parse(RICH, "rich.yaml").unwrap();
    let mut paths = Vec::new();
    leaves(&tree, String::new(), &mut paths);
    let mut parents: Vec<String> = paths
        .iter()
        .filter_map(|path| Some(path.rsplit_once(['.', '['])?.0.to_owned()))
        .collect();
    parents.retain(|path| tree.at_path(path).is_some());
    let odd_values = [
        "null",
        "-1",
        "0",
        "7",
        "2.5",
        ".nan",
        "-.inf",
        "1e300",
        "99999999999999999999",
        "''",
        "text",
        "'5'",
        "true",
        "[]",
        "[x]",
        "[[1]]",
        "{}",
        "{a: b}",
        "[{a: [b]}]",
        "os.environ/X",
        "${X}",
    ];

    let mut read_well = 0;
    for path in paths.iter().chain(&parents) {
        for odd in odd_values {
            let mut changed = tree.clone();
            changed.set_path(path, odd).unwrap();
            match litellm::from_node(&changed, "rich.yaml") {
                Ok(config) => {
                    assert_whole(&changed, &config, &format!("{path}={odd}"));
                    read_well += 1;
                }
                Err(error) => {
                    assert!(
                        !error.message().is_empty() && error.help_text().is_some(),
                        "{error}"
                    );
                    assert!(!error.key_path().is_empty(), "{error}");
                }
            }
        }
    }
    assert!(read_well > 500, "only {read_well} were read");
}

#[test]
fn the_rich_config_is_accounted_for_as_it_stands() {
    let tree = litellm::parse(RICH, "rich.yaml").unwrap();

    let config = litellm::from_node(&tree, "rich.yaml").unwrap();

    assert!(assert_whole(&tree, &config, "rich.yaml") > 60);
}
