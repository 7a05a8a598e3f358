//! What broken configs are told: place, key, what was found and what would be accepted.

/// The error of a config that must not be readable.
fn fails(text: &str) -> String {
    match scenarios::litellm::read(text, "config.yaml") {
        Ok(config) => panic!("was read as {config:#?}"),
        Err(error) => error.to_string(),
    }
}

/// The error of a config of one deployment with these sections after `model_list`.
fn fails_with(sections: &str) -> String {
    let list = "model_list: [{model_name: m, litellm_params: {model: openai/x}}]";
    fails(&format!("{list}\n{sections}"))
}

/// The error of a deployment with these `litellm_params` beside `model`.
fn fails_with_params(params: &str) -> String {
    fails(&format!(
        "model_list:\n- model_name: m\n  litellm_params: {{model: x, {params}}}\n"
    ))
}

#[test]
fn a_document_without_a_config() {
    insta::assert_snapshot!(fails(""), @"config.yaml: the config is empty; accepted is a LiteLLM config with a model_list");
    insta::assert_snapshot!(fails("# model_list:\n#  - later\n"), @"config.yaml: the config is empty; accepted is a LiteLLM config with a model_list");
    insta::assert_snapshot!(fails("- a\n- b\n"), @"config.yaml:1:1: found a list; accepted is a LiteLLM config: a mapping with a model_list");
    insta::assert_snapshot!(fails("just text"), @r#"config.yaml:1:1: found the text "just text"; accepted is a LiteLLM config: a mapping with a model_list"#);
}

#[test]
fn a_config_without_deployments() {
    insta::assert_snapshot!(fails("router_settings: {num_retries: 1}"), @"config.yaml:1:1: model_list: it is missing; accepted is a list of at least one deployment");
    insta::assert_snapshot!(fails("router_settings: {}\nmodel_list:\n"), @"config.yaml:2:1: model_list: it holds no deployment; accepted is a list of at least one deployment");
    insta::assert_snapshot!(fails("model_list: []"), @"config.yaml:1:1: model_list: it holds no deployment; accepted is a list of at least one deployment");
    insta::assert_snapshot!(fails("model_lists: [{model_name: m, litellm_params: {model: x}}]"), @"config.yaml:1:1: model_list: it is missing; did you mean it by `model_lists`?");
    insta::assert_snapshot!(fails("include: [models.yaml]\n"), @"config.yaml:1:1: model_list: it is missing; files named under `include` are not read: put their entries here");
    insta::assert_snapshot!(fails("model_list: {model_name: m}"), @"config.yaml:1:13: model_list: found a mapping; accepted is a list");
    insta::assert_snapshot!(fails("model_list: [{model_name: m, litellm_params: {model: nosuch/x}}]"), @"config.yaml:1:1: model_list: no entry gives a deployment; model_list[0]: LiteLLM knows no provider `nosuch`, and its proxy skips such an entry");
    insta::assert_snapshot!(fails("model_list: [{model_name: m, litellm_params: {model: my-model}}]"), @"config.yaml:1:1: model_list: no entry gives a deployment; model_list[0]: LiteLLM finds no provider for `my-model` (it wants `provider/model`), and its proxy skips such an entry");
    insta::assert_snapshot!(fails("model_list: os.environ/MODELS"), @"config.yaml:1:1: model_list: it holds no deployment; accepted is a list of at least one deployment");
}

#[test]
fn what_is_no_yaml() {
    insta::assert_snapshot!(fails("model_list:\n  - model_name: m\n   litellm_params: {}\n"), @"config.yaml:3:4: not YAML: while parsing a block collection, did not find expected '-' indicator");
    insta::assert_snapshot!(fails("model_list: [\n"), @"config.yaml:1:13: not YAML: unclosed bracket '['");
    insta::assert_snapshot!(fails("{{- if .Values.litellm }}\nmodel_list: []\n{{- end }}\n"), @"config.yaml:1:1: found a template (`{{ … }}`), which is no YAML yet; render it first, as `helm template` does, and give the result");
    insta::assert_snapshot!(fails_with("router_settings: {}\nrouter_settings: {}"), @"config.yaml:3:1: key `router_settings` appears twice; keep one of the two");
}

#[test]
fn an_entry_that_is_not_whole() {
    insta::assert_snapshot!(fails("model_list:\n- litellm_params: {model: x}\n"), @"config.yaml:2:3: model_list[0]: `model_name` is missing; accepted is a mapping with `model_name` and `litellm_params`, which has `model`");
    insta::assert_snapshot!(fails("model_list:\n- model_name: m\n"), @"config.yaml:2:3: model_list[0]: `litellm_params` is missing; accepted is a mapping with `model_name` and `litellm_params`, which has `model`");
    insta::assert_snapshot!(fails("model_list:\n- model_name: m\n  litellm_param: {model: x}\n"), @"config.yaml:2:3: model_list[0]: `litellm_params` is missing; `litellm_param` is there; did you mean `litellm_params`?");
    insta::assert_snapshot!(fails("model_list:\n- model_name: m\n  litellm_params:\n"), @"config.yaml:2:3: model_list[0]: `litellm_params` is missing; accepted is a mapping with `model_name` and `litellm_params`, which has `model`");
    insta::assert_snapshot!(fails("model_list:\n- model_name: m\n  litellm_params: {rpm: 1}\n"), @"config.yaml:2:3: model_list[0]: `model` is missing; accepted is a mapping with `model_name` and `litellm_params`, which has `model`");
    insta::assert_snapshot!(fails("model_list:\n- model_name: m\n  litellm_params: {model: null}\n"), @"config.yaml:3:27: model_list[0].litellm_params.model: found nothing; accepted is text as `provider/model`");
    insta::assert_snapshot!(fails("model_list:\n- model_name: 4\n  litellm_params: {model: x}\n"), @"config.yaml:2:15: model_list[0].model_name: found the number 4; accepted is text, so put it in quotes");
    insta::assert_snapshot!(fails("model_list:\n- gpt-4\n"), @r#"config.yaml:2:3: model_list[0]: found the text "gpt-4"; accepted is a mapping with `model_name` and `litellm_params`, which has `model`"#);
    insta::assert_snapshot!(fails("model_list:\n- model_name: m\n  litellm_params: [model, x]\n"), @"config.yaml:3:19: model_list[0].litellm_params: found a list; accepted is a mapping");
}

#[test]
fn numbers_that_mean_nothing() {
    insta::assert_snapshot!(fails_with_params("rpm: -5"), @"config.yaml:3:35: model_list[0].litellm_params.rpm: found the number -5; accepted is a whole number from 0 to 1,000,000,000,000,000");
    insta::assert_snapshot!(fails_with_params("rpm: many"), @r#"config.yaml:3:35: model_list[0].litellm_params.rpm: found the text "many"; accepted is a whole number from 0 to 1,000,000,000,000,000"#);
    insta::assert_snapshot!(fails_with_params("rpm: 0100"), @r#"config.yaml:3:35: model_list[0].litellm_params.rpm: found the text "0100"; accepted is a whole number from 0 to 1,000,000,000,000,000"#);
    insta::assert_snapshot!(fails_with_params("rpm: 2.5"), @"config.yaml:3:35: model_list[0].litellm_params.rpm: found the number 2.5; accepted is a whole number from 0 to 1,000,000,000,000,000");
    insta::assert_snapshot!(fails_with_params("tpm: 99999999999999999999"), @"config.yaml:3:35: model_list[0].litellm_params.tpm: found the number 100000000000000000000; accepted is a whole number from 0 to 1,000,000,000,000,000");
    insta::assert_snapshot!(fails_with_params("weight: .nan"), @"config.yaml:3:38: model_list[0].litellm_params.weight: found the number NaN; accepted is a finite number");
    insta::assert_snapshot!(fails_with_params("weight: [1]"), @"config.yaml:3:38: model_list[0].litellm_params.weight: found a list; accepted is a finite number");
    insta::assert_snapshot!(fails_with_params("order: first"), @r#"config.yaml:3:37: model_list[0].litellm_params.order: found the text "first"; accepted is a whole number from -1,000,000 to 1,000,000"#);
    insta::assert_snapshot!(fails_with_params("timeout: .inf"), @"config.yaml:3:39: model_list[0].litellm_params.timeout: found the number inf; accepted is a number of seconds from 0 to 1,000,000,000");
    insta::assert_snapshot!(fails_with_params("timeout: 1e12"), @"config.yaml:3:39: model_list[0].litellm_params.timeout: found the number 1000000000000; accepted is a number of seconds from 0 to 1,000,000,000");
    insta::assert_snapshot!(fails_with_params("input_cost_per_token: free"), @r#"config.yaml:3:52: model_list[0].litellm_params.input_cost_per_token: found the text "free"; accepted is a number of at least 0"#);
}

#[test]
fn router_settings_of_the_wrong_kind() {
    insta::assert_snapshot!(fails_with("router_settings:\n  cooldown_time: fast\n"), @r#"config.yaml:3:18: router_settings.cooldown_time: found the text "fast"; accepted is a number of seconds from 0 to 1,000,000,000"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  cooldown_time: true\n"), @"config.yaml:3:18: router_settings.cooldown_time: found true; accepted is a number of seconds from 0 to 1,000,000,000");
    insta::assert_snapshot!(fails_with("router_settings:\n  cooldown_time: -1\n"), @"config.yaml:3:18: router_settings.cooldown_time: found the number -1; accepted is a number of seconds from 0 to 1,000,000,000");
    insta::assert_snapshot!(fails_with("router_settings:\n  num_retries: -1\n"), @"config.yaml:3:16: router_settings.num_retries: found the number -1; accepted is a whole number from 0 to 10,000");
    insta::assert_snapshot!(fails_with("router_settings:\n  num_retries: '3'\n"), @r#"config.yaml:3:16: router_settings.num_retries: found the text "3"; accepted is a whole number from 0 to 10,000"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  disable_cooldowns: maybe\n"), @r#"config.yaml:3:22: router_settings.disable_cooldowns: found the text "maybe"; accepted is true or false"#);
    insta::assert_snapshot!(fails_with("router_settings: simple-shuffle\n"), @r#"config.yaml:2:18: router_settings: found the text "simple-shuffle"; accepted is a mapping"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  retry_policy: 3\n"), @"config.yaml:3:17: router_settings.retry_policy: found the number 3; accepted is a mapping");
    insta::assert_snapshot!(fails_with("router_settings:\n  retry_policy: {TimeoutErrorRetries: x}\n"), @r#"config.yaml:3:39: router_settings.retry_policy.TimeoutErrorRetries: found the text "x"; accepted is a whole number from 0 to 10,000"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  model_group_alias: [a]\n"), @"config.yaml:3:22: router_settings.model_group_alias: found a list; accepted is a mapping");
    insta::assert_snapshot!(fails_with("router_settings:\n  model_group_alias: {a: 5}\n"), @"config.yaml:3:26: router_settings.model_group_alias.a: found the number 5; accepted is text, so put it in quotes");
}

#[test]
fn strategies_that_cannot_be_run() {
    insta::assert_snapshot!(fails_with("router_settings:\n  routing_strategy: lar1\n"), @"config.yaml:3:21: router_settings.routing_strategy: strategy `lar1` cannot be run; it picks by `metadata.lar1`, which no request here has; accepted is simple-shuffle, least-busy, latency-based-routing, cost-based-routing, usage-based-routing or usage-based-routing-v2");
    insta::assert_snapshot!(fails_with("router_settings:\n  routing_strategy: least-bussy\n"), @"config.yaml:3:21: router_settings.routing_strategy: unknown strategy `least-bussy`; did you mean `least-busy`?");
    insta::assert_snapshot!(fails_with("router_settings:\n  routing_strategy: fastest\n"), @"config.yaml:3:21: router_settings.routing_strategy: unknown strategy `fastest`; accepted is simple-shuffle, least-busy, latency-based-routing, cost-based-routing, usage-based-routing or usage-based-routing-v2");
    insta::assert_snapshot!(fails_with("router_settings:\n  routing_strategy: os.environ/STRATEGY\n"), @"config.yaml:3:21: router_settings.routing_strategy: the strategy stands in the environment, which is never asked; accepted is simple-shuffle, least-busy, latency-based-routing, cost-based-routing, usage-based-routing or usage-based-routing-v2");
    insta::assert_snapshot!(fails_with("router_settings: {usage_window: hour}\n"), @"config.yaml:2:33: router_settings.usage_window: found the text \"hour\"; accepted is `minute`, `sliding`, or the seconds of a slice, above 0, up to 60");
    insta::assert_snapshot!(fails_with("router_settings:\n  routing_strategy: latency-based-routing\n  routing_strategy_args: {ttft_percentile: 95}\n"), @"config.yaml:4:44: router_settings.routing_strategy_args.ttft_percentile: found the number 95; accepted is a fraction above 0, up to 1");
    insta::assert_snapshot!(fails_with("router_settings:\n  routing_strategy: latency-based-routing\n  routing_strategy_args: {max_latency_list_size: 0}\n"), @"config.yaml:4:50: router_settings.routing_strategy_args.max_latency_list_size: found the number 0; accepted is a whole number from 1 to 1,000,000");
}

#[test]
fn routing_groups_that_every_version_refuses() {
    let groups =
        |groups: &str| fails_with(&format!("router_settings:\n  routing_groups:\n{groups}"));
    let one = "  - {group_name: g, models: [m], routing_strategy: least-busy}\n";

    insta::assert_snapshot!(groups("  - {models: [m], routing_strategy: least-busy}\n"), @"config.yaml:4:5: router_settings.routing_groups[0]: `group_name` is missing; accepted is a mapping with `group_name`, `models` and `routing_strategy`");
    insta::assert_snapshot!(groups("  - {group_name: '', models: [m], routing_strategy: least-busy}\n"), @r#"config.yaml:4:18: router_settings.routing_groups[0].group_name: found the text ""; accepted is a name"#);
    insta::assert_snapshot!(groups("  - {group_name: default, models: [m], routing_strategy: least-busy}\n"), @"config.yaml:4:18: router_settings.routing_groups[0].group_name: `default` is LiteLLM's own name for the models in no group; give the group another name");
    insta::assert_snapshot!(groups("  - {group_name: g, model: [m], routing_strategy: least-busy}\n"), @"config.yaml:4:5: router_settings.routing_groups[0]: `models` is missing; `model` is there; did you mean `models`?");
    insta::assert_snapshot!(groups("  - {group_name: g, models: m, routing_strategy: least-busy}\n"), @r#"config.yaml:4:29: router_settings.routing_groups[0].models: found the text "m"; accepted is a list"#);
    insta::assert_snapshot!(groups("  - {group_name: g, models: [m], routing_strategy: fastest}\n"), @"config.yaml:4:52: router_settings.routing_groups[0].routing_strategy: unknown strategy `fastest`; accepted is simple-shuffle, least-busy, latency-based-routing, cost-based-routing, usage-based-routing, usage-based-routing-v2 or priority");
    insta::assert_snapshot!(groups("  - {group_name: g, models: [m], routing_strategy: provider-budget-routing}\n"), @"config.yaml:4:52: router_settings.routing_groups[0].routing_strategy: strategy `provider-budget-routing` cannot be run; LiteLLM takes the name, but then no call finds a deployment; `provider_budget_config` works with every other strategy: accepted is simple-shuffle, least-busy, latency-based-routing, cost-based-routing, usage-based-routing, usage-based-routing-v2 or priority");
    insta::assert_snapshot!(groups("  - {group_name: g, models: [m], routing_strategy: priority, model_priorities: {m: 0}}\n"), @"config.yaml:4:84: router_settings.routing_groups[0].model_priorities.m: found the number 0; accepted is a whole number from 1 to 4,294,967,295");
    insta::assert_snapshot!(groups(&format!("{one}{one}")), @"config.yaml:5:5: router_settings.routing_groups[1]: two groups are called `g`; give each a name of its own");
    insta::assert_snapshot!(groups(&format!("{one}  - {{group_name: h, models: [n, m], routing_strategy: least-busy}}\n")), @"config.yaml:5:5: router_settings.routing_groups[1]: `m` is in the group `g` already; LiteLLM lets a model be in one group only");
    insta::assert_snapshot!(groups("  - g\n"), @r#"config.yaml:4:5: router_settings.routing_groups[0]: found the text "g"; accepted is a mapping with `group_name`, `models` and `routing_strategy`"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  routing_strategy: priority\n"), @"config.yaml:3:21: router_settings.routing_strategy: strategy `priority` cannot be run; it is for `routing_groups` only; accepted is simple-shuffle, least-busy, latency-based-routing, cost-based-routing, usage-based-routing or usage-based-routing-v2");
    insta::assert_snapshot!(fails_with("router_settings:\n  routing_strategy: usage-based-routing\n  routing_strategy_args: {ttl: 0.5}\n"), @"config.yaml:4:32: router_settings.routing_strategy_args.ttl: found the number 0.5; accepted is a whole number from 0 to 1,000,000,000");
}

#[test]
fn checks_tags_budgets_and_caches_of_the_wrong_kind() {
    insta::assert_snapshot!(fails_with("router_settings:\n  optional_pre_call_checks: session_affinity\n"), @r#"config.yaml:3:29: router_settings.optional_pre_call_checks: found the text "session_affinity"; accepted is a list"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  model_group_affinity_config: [m]\n"), @"config.yaml:3:32: router_settings.model_group_affinity_config: found a list; accepted is a mapping");
    insta::assert_snapshot!(fails_with("router_settings:\n  model_group_affinity_config: {m: session_affinity}\n"), @r#"config.yaml:3:36: router_settings.model_group_affinity_config.m: found the text "session_affinity"; accepted is a list"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  provider_budget_config: {openai: 5}\n"), @"config.yaml:3:36: router_settings.provider_budget_config.openai: found the number 5; accepted is a mapping with `budget_limit` and `time_period`");
    insta::assert_snapshot!(fails_with("router_settings:\n  provider_budget_config: {openai: null}\n"), @"config.yaml:3:36: router_settings.provider_budget_config.openai: found nothing; accepted is a mapping with `budget_limit` and `time_period`");
    insta::assert_snapshot!(fails_with("router_settings:\n  provider_budget_config: {openai: {budget_limit: 5, time_period: 60}}\n"), @"config.yaml:3:67: router_settings.provider_budget_config.openai.time_period: found the number 60; accepted is text, so put it in quotes");
    insta::assert_snapshot!(fails_with("router_settings:\n  caching_groups: [m, n]\n"), @r#"config.yaml:3:20: router_settings.caching_groups[0]: found the text "m"; accepted is a list of model groups, as `[[gpt-4o, gpt-4o-mini]]`"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  default_priority: -1\n"), @"config.yaml:3:21: router_settings.default_priority: found the number -1; accepted is a whole number from 0 to 4,000,000,000");
    insta::assert_snapshot!(fails_with("router_settings:\n  alerting_config: {alerting_threshold: soon}\n"), @r#"config.yaml:3:41: router_settings.alerting_config.alerting_threshold: found the text "soon"; accepted is a number of seconds from 0 to 1,000,000,000"#);
    insta::assert_snapshot!(fails_with("litellm_settings: {cache: true, cache_params: {mode: off}}\n"), @r#"config.yaml:2:54: litellm_settings.cache_params.mode: found the text "off"; accepted is default_on or default_off"#);
    insta::assert_snapshot!(fails_with_params("tags: free"), @r#"config.yaml:3:36: model_list[0].litellm_params.tags: found the text "free"; accepted is a list"#);
    insta::assert_snapshot!(fails_with_params("tags: [a, 1]"), @"config.yaml:3:40: model_list[0].litellm_params.tags[1]: found the number 1; accepted is text, so put it in quotes");
    insta::assert_snapshot!(fails_with_params("region_name: 5"), @"config.yaml:3:43: model_list[0].litellm_params.region_name: found the number 5; accepted is text, so put it in quotes");
    insta::assert_snapshot!(fails_with_params("max_budget: -1, budget_duration: 1d"), @"config.yaml:3:42: model_list[0].litellm_params.max_budget: found the number -1; accepted is a number of at least 0");
    insta::assert_snapshot!(fails_with_params("budget_duration: 60"), @"config.yaml:3:47: model_list[0].litellm_params.budget_duration: found the number 60; accepted is text, so put it in quotes");
    insta::assert_snapshot!(fails_with("environment_variables: {LITELLM_ENVIRONMENT: prod}\n"), @"config.yaml:2:46: environment_variables.LITELLM_ENVIRONMENT: no environment is called `prod`; accepted is development, staging or production");
    insta::assert_snapshot!(fails("model_list:\n- {model_name: m, litellm_params: {model: x}, model_info: {supported_environments: [prod]}}\n"), @"config.yaml:2:84: model_list[0].model_info.supported_environments: no environment is called `prod`; accepted is development, staging or production");
}

#[test]
fn br_033_a_list_for_long_prompts_that_is_malformed_is_refused_at_load() {
    // LiteLLM checks neither list of these and fails when it is needed (semantics 1.9).
    insta::assert_snapshot!(fails_with("router_settings:\n  context_window_fallbacks: [n]\n"), @r#"config.yaml:3:30: router_settings.context_window_fallbacks[0]: found the text "n"; accepted is a mapping of one name to a list of names, as `- gpt-4: [claude]`"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  context_window_fallbacks: [{m: n}]\n"), @r#"config.yaml:3:34: router_settings.context_window_fallbacks[0].m: found the text "n"; accepted is a list of names, as `[n]`"#);
}

#[test]
fn fallbacks_of_the_wrong_form() {
    insta::assert_snapshot!(fails_with("router_settings:\n  fallbacks: {m: [n]}\n"), @"config.yaml:3:14: router_settings.fallbacks: found a mapping; accepted is a list");
    insta::assert_snapshot!(fails_with("router_settings:\n  fallbacks: [n]\n"), @r#"config.yaml:3:15: router_settings.fallbacks[0]: found the text "n"; accepted is a mapping of one name to a list of names, as `- gpt-4: [claude]`"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  fallbacks: [{m: [n], n: [m]}]\n"), @"config.yaml:3:15: router_settings.fallbacks[0]: found a mapping of 2 keys; accepted is a mapping of one name to a list of names, as `- gpt-4: [claude]`");
    insta::assert_snapshot!(fails_with("router_settings:\n  fallbacks: [{}]\n"), @"config.yaml:3:15: router_settings.fallbacks[0]: found a mapping of 0 keys; accepted is a mapping of one name to a list of names, as `- gpt-4: [claude]`");
    insta::assert_snapshot!(fails_with("router_settings:\n  fallbacks: [{m: n}]\n"), @r#"config.yaml:3:19: router_settings.fallbacks[0].m: found the text "n"; accepted is a list of names, as `[n]`"#);
    insta::assert_snapshot!(fails_with("router_settings:\n  fallbacks: [{m: [4]}]\n"), @"config.yaml:3:20: router_settings.fallbacks[0].m[0]: found the number 4; accepted is text, so put it in quotes");
    insta::assert_snapshot!(fails_with("litellm_settings:\n  default_fallbacks: m\n"), @r#"config.yaml:3:22: litellm_settings.default_fallbacks: found the text "m"; accepted is a list of names, as `[m]`"#);
}

#[test]
fn a_config_map_that_holds_no_config() {
    insta::assert_snapshot!(fails("kind: ConfigMap\nmetadata: {name: x}\n"), @"config.yaml:1:1: a ConfigMap without `data`");
    insta::assert_snapshot!(fails("kind: ConfigMap\ndata: {port: '4000'}\n"), @"config.yaml:2:7: data: the ConfigMap holds no file `*.yaml`; accepted is a LiteLLM config under `data.config.yaml`");
    insta::assert_snapshot!(fails("kind: ConfigMap\ndata:\n  config.yaml: |\n    model_list:\n    - model_name: m\n      litellm_params: {model: x, rpm: no}\n"), @r#"config.yaml:6:39: model_list[0].litellm_params.rpm: found the text "no"; accepted is a whole number from 0 to 1,000,000,000,000,000"#);
    insta::assert_snapshot!(fails("kind: ConfigMap\ndata:\n  config.yaml: |\n    model_list: [\n"), @"config.yaml:4:5: not YAML: unclosed bracket '['");
}

#[test]
fn an_alias_bomb() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let below = vec![format!("*a{}", level - 1); 8].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }

    insta::assert_snapshot!(fails(&bomb), @"config.yaml:6:10: the document is too large or nested too deeply; accepted are 250000 nodes, 50000 of them through aliases, and 64 levels");
}

#[test]
fn an_error_carries_the_text_and_the_bytes_to_mark() {
    let text = "model_list:\n- model_name: m\n  litellm_params: {model: x, rpm: lots, tpm: 1}\n";

    let error = scenarios::litellm::read(text, "config.yaml").unwrap_err();

    assert_eq!(error.text(), Some(text));
    assert_eq!(&text[error.span().unwrap()], "lots");
    assert_eq!(error.key_path(), "model_list[0].litellm_params.rpm");
}
