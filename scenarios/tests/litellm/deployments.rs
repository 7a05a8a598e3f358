//! What each setting of an entry of `model_list` comes to.

use std::time::Duration;

use router::DeploymentConfig;

use crate::{ignored, read, secs};

fn deployment(entry: &str) -> DeploymentConfig {
    read(&format!("model_list:\n- {entry}"))
        .router
        .deployments
        .remove(0)
}

#[test]
fn all_settings_of_a_deployment_are_read() {
    let found = deployment(
        "{model_name: chat, litellm_params: {model: azure/a, weight: 2.5, rpm: 600, tpm: 1e5, \
         order: 2, max_parallel_requests: 8, timeout: 30, stream_timeout: 2.5, num_retries: 1, \
         cooldown_time: 0, input_cost_per_token: 2.5e-6, output_cost_per_token: '0.00001'}, \
         model_info: {id: east, cooldown_time: 7, allowed_fails: 4, blocked: yes, \
         allowed_fails_policy: {RateLimitErrorAllowedFails: 9}}}",
    );

    assert_eq!(
        (found.id.as_str(), found.model_name.as_str()),
        ("east", "chat")
    );
    assert_eq!((found.model.as_str(), found.weight), ("azure/a", Some(2.5)));
    assert_eq!(
        (found.rpm, found.tpm, found.order),
        (Some(600), Some(100_000), Some(2))
    );
    assert_eq!(found.max_parallel_requests, Some(8));
    assert_eq!(
        (found.timeout, found.stream_timeout),
        (secs(30), Some(Duration::from_millis(2500)))
    );
    assert_eq!((found.num_retries, found.cooldown_time), (Some(1), secs(0)));
    assert_eq!(
        (found.model_info_cooldown_time, found.allowed_fails),
        (secs(7), Some(4))
    );
    assert_eq!(found.allowed_fails_policy.unwrap().rate_limit, Some(9));
    assert_eq!(found.own_prices.input, Some(2.5e-6));
    assert_eq!(found.own_prices.output, Some(1e-5));
    assert!(found.blocked);
}

#[test]
fn limits_beside_the_params_are_taken_where_these_have_none() {
    let read = read(
        "model_list:\n- {model_name: m, rpm: '5', tpm: 7, litellm_params: {model: openai/x, tpm: 9}}\n",
    );

    let deployment = &read.router.deployments[0];
    assert_eq!((deployment.rpm, deployment.tpm), (Some(5), Some(9)));
    assert!(
        ignored(&read, "model_list[0].tpm")
            .reason
            .contains("litellm_params.tpm")
    );
}

#[test]
fn numbers_with_underscores_are_read_as_litellms_yaml_reader_does() {
    let found = deployment(
        "{model_name: m, litellm_params: {model: openai/x, tpm: 20_000, weight: 1_000, timeout: 1_200}}",
    );

    assert_eq!(
        (found.tpm, found.weight, found.timeout),
        (Some(20_000), Some(1e3), secs(1_200))
    );
}

#[test]
fn an_order_in_model_info_counts_where_the_params_have_none() {
    let info = |params| {
        let entry = format!(
            "{{model_name: m, litellm_params: {{model: openai/x{params}}}, model_info: {{order: 3}}}}"
        );
        deployment(&entry).order
    };

    assert_eq!(info(""), Some(3));
    assert_eq!(info(", order: 1"), Some(1));
}

#[test]
fn a_timeout_of_zero_is_none_and_request_timeout_stands_in() {
    let timeout = |params| {
        deployment(&format!(
            "{{model_name: m, litellm_params: {{model: openai/x, {params}}}}}"
        ))
        .timeout
    };

    assert_eq!(timeout("timeout: 0"), None);
    assert_eq!(timeout("request_timeout: 9"), secs(9));
    assert_eq!(timeout("timeout: 0, request_timeout: 9"), secs(9));
    assert_eq!(timeout("timeout: 4, request_timeout: 9"), secs(4));
    assert_eq!(timeout("timeout: '300'"), secs(300));
}

#[test]
fn a_whole_number_as_id_becomes_text() {
    let found =
        deployment("{model_name: m, litellm_params: {model: openai/x}, model_info: {id: 12}}");

    assert_eq!(found.id, "12");
}

#[test]
fn an_entry_without_id_is_named_by_its_hash_and_equal_entries_share_it() {
    let text = "model_list:\n\
                - {model_name: gpt, litellm_params: {model: openai/x}}\n\
                - {model_name: gpt, litellm_params: {model: openai/x}, model_info: {mode: chat}}\n\
                - {model_name: gpt, litellm_params: {model: openai/y}}\n";

    let ids: Vec<String> = read(text)
        .router
        .deployments
        .into_iter()
        .map(|one| one.id)
        .collect();

    assert_eq!(ids[0].len(), 64);
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[test]
fn a_list_of_organizations_gives_one_deployment_each() {
    let text =
        "model_list:\n- {model_name: m, litellm_params: {model: openai/x, organization: [a, b]}}\n";

    let read = read(text);

    assert_eq!(read.router.deployments.len(), 2);
    assert_eq!(read.router.deployments[0], read.router.deployments[1]);
}

#[test]
fn a_wildcard_group_is_used_as_it_stands() {
    let read = read("model_list:\n- {model_name: openai/*, litellm_params: {model: openai/*}}\n");

    assert_eq!(read.router.deployments[0].model_name, "openai/*");
    assert_eq!(read.router.deployments[0].model, "openai/*");
    assert!(read.ignored.is_empty(), "{:?}", read.ignored);
}

#[test]
fn what_tags_regions_budgets_and_mirrors_go_by_is_read() {
    let found = deployment(
        "{model_name: m, litellm_params: {model: openai/x, region_name: eu, tags: [paid, default], \
         tag_regex: ['^Mozilla'], silent_model: shadow, max_budget: '2.5', budget_duration: 7d}}",
    );

    assert_eq!(found.region_name.as_deref(), Some("eu"));
    assert_eq!(found.tags, ["paid", "default"]);
    assert_eq!(found.tag_regex, ["^Mozilla"]);
    assert_eq!(found.silent_model.as_deref(), Some("shadow"));
    let budget = found.budget.unwrap();
    assert_eq!((budget.limit, budget.period), (Some(2.5), secs(7 * 86_400)));
}

#[test]
fn a_budget_needs_an_amount_above_zero_and_a_period_that_can_be_read() {
    let told = |params: &str| {
        let text = format!(
            "model_list:\n- {{model_name: m, litellm_params: {{model: openai/x, {params}}}}}"
        );
        let read = read(&text);
        assert_eq!(read.router.deployments[0].budget, None, "{params}");
        let told: Vec<String> = read.ignored.iter().map(ToString::to_string).collect();
        told.join("\n")
    };

    insta::assert_snapshot!(told("max_budget: 5"), @"check this: model_list[0].litellm_params.max_budget (line 2): LiteLLM holds no budget without a `budget_duration` that it can read beside it");
    insta::assert_snapshot!(told("budget_duration: 1d"), @"check this: model_list[0].litellm_params.budget_duration (line 2): LiteLLM holds no budget without `max_budget` beside it");
    insta::assert_snapshot!(told("max_budget: 0, budget_duration: 1d"), @"check this: model_list[0].litellm_params.max_budget (line 2): LiteLLM reads a budget of 0 as none");
    insta::assert_snapshot!(told("max_budget: 5, budget_duration: 1 day"), @"
    check this: model_list[0].litellm_params.max_budget (line 2): LiteLLM holds no budget without a `budget_duration` that it can read beside it
    check this: model_list[0].litellm_params.budget_duration (line 2): LiteLLM cannot read this period and holds no budget; it reads a whole number with s, m, h, d, w or mo, as `30d`
    ");
}

#[test]
fn own_prices_are_those_of_the_params_and_model_info_only_bills() {
    let found = deployment(
        "{model_name: m, litellm_params: {model: openai/x, input_cost_per_token: 1, \
         cache_read_input_token_cost: 0.1, input_cost_per_token_above_200k_tokens: 2}, \
         model_info: {input_cost_per_token: 3, output_cost_per_token: 4}}",
    );

    assert_eq!(
        (found.own_prices.input, found.own_prices.output),
        (Some(1.0), None)
    );
    assert_eq!(
        (found.prices.input, found.prices.output),
        (Some(1.0), Some(4.0))
    );
    assert_eq!(found.prices.cache_read, Some(0.1));
    assert_eq!(found.prices.tiers[0].above, 200_000);
}

#[test]
fn an_entry_for_other_environments_gives_no_deployment() {
    let text = |environment: &str| {
        format!(
            "{environment}model_list:\n\
             - {{model_name: m, litellm_params: {{model: openai/a}}, model_info: {{supported_environments: [production]}}}}\n\
             - {{model_name: m, litellm_params: {{model: openai/b}}}}\n"
        )
    };
    let models = |environment: &str| {
        let read = read(&text(environment));
        let models: Vec<String> = read
            .router
            .deployments
            .iter()
            .map(|d| d.model.replace("openai/", ""))
            .collect();
        (models, read.ignored.len())
    };

    let said = |name| format!("environment_variables: {{LITELLM_ENVIRONMENT: {name}}}\n");
    assert_eq!(
        models(&said("production")),
        (vec!["a".to_owned(), "b".to_owned()], 0)
    );
    assert_eq!(models(&said("staging")), (vec!["b".to_owned()], 0));
    // Outside of the file somebody may say it: the entry is kept, and that is told.
    assert_eq!(models(""), (vec!["a".to_owned(), "b".to_owned()], 1));
}

#[test]
fn only_a_whole_number_is_a_longest_prompt() {
    let longest = |value: &str| {
        let entry = format!(
            "{{model_name: m, litellm_params: {{model: openai/x}}, model_info: {{max_input_tokens: {value}}}}}"
        );
        deployment(&entry).max_input_tokens
    };

    assert_eq!(longest("8192"), Some(8_192));
    assert_eq!(longest("0"), Some(0));
    assert_eq!((longest("'8192'"), longest("8192.5")), (None, None));
}

#[test]
fn anchors_and_merge_keys_share_settings() {
    let read = read(
        "defaults: &d {api_key: k, rpm: 60, timeout: 9}\n\
         model_list:\n\
         - {model_name: m, litellm_params: {<<: *d, model: openai/a, rpm: 30}}\n\
         - {model_name: m, litellm_params: {<<: *d, model: openai/b}}\n",
    );

    let [a, b] = read.router.deployments.as_slice() else {
        panic!("two deployments")
    };
    assert_eq!((a.rpm, a.timeout), (Some(30), secs(9)));
    assert_eq!((b.rpm, b.timeout), (Some(60), secs(9)));
}

#[test]
fn the_settings_of_ours_are_read_from_model_info() {
    let read = read(
        "model_list:\n\
         - {model_name: m, litellm_params: {model: openai/a}, \
           model_info: {cooldown_probe_after: 300, quota_group: east}}\n",
    );

    let deployment = &read.router.deployments[0];
    assert_eq!(deployment.cooldown_probe_after, secs(300));
    assert_eq!(deployment.quota_group.as_deref(), Some("east"));
}

#[test]
fn a_model_from_the_environment_is_called_by_its_variable() {
    let read = read("model_list:\n- {model_name: m, litellm_params: {model: os.environ/MODEL}}\n");

    assert_eq!(read.router.deployments[0].model, "MODEL");
    let told = ignored(&read, "model_list[0].litellm_params.model");
    assert!(told.reason.contains("environment"), "{told}");
}

#[test]
fn an_entry_of_an_unknown_provider_is_skipped_as_the_proxy_does() {
    let read = read(
        "model_list:\n\
         - {model_name: m, litellm_params: {model: nosuch/x, rpm: 5}}\n\
         - {model_name: m, litellm_params: {model: acme/x, custom_llm_provider: openai}}\n\
         - {model_name: m, litellm_params: {model: openai/x}}\n",
    );

    assert_eq!(read.router.deployments.len(), 2);
    let told = ignored(&read, "model_list[0]");
    assert!(
        told.suspicious && told.reason.contains("`nosuch`"),
        "{told}"
    );
    assert!(
        !read
            .used
            .iter()
            .any(|path| path.starts_with("model_list[0]"))
    );
}
