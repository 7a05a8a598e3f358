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
        "model_list:\n- {model_name: m, rpm: '5', tpm: 7, litellm_params: {model: x, tpm: 9}}\n",
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
        "{model_name: m, litellm_params: {model: x, tpm: 20_000, weight: 1_000, timeout: 1_200}}",
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
            "{{model_name: m, litellm_params: {{model: x{params}}}, model_info: {{order: 3}}}}"
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
            "{{model_name: m, litellm_params: {{model: x, {params}}}}}"
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
    let found = deployment("{model_name: m, litellm_params: {model: x}, model_info: {id: 12}}");

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
    let text = "model_list:\n- {model_name: m, litellm_params: {model: x, organization: [a, b]}}\n";

    let read = read(text);

    assert_eq!(read.router.deployments.len(), 2);
    assert_eq!(read.router.deployments[0], read.router.deployments[1]);
}

#[test]
fn a_wildcard_group_is_kept_and_told() {
    let read = read("model_list:\n- {model_name: openai/*, litellm_params: {model: openai/*}}\n");

    assert_eq!(read.router.deployments[0].model_name, "openai/*");
    assert!(
        ignored(&read, "model_list[0].model_name")
            .reason
            .contains("wildcards")
    );
}

#[test]
fn anchors_and_merge_keys_share_settings() {
    let read = read(
        "defaults: &d {api_key: k, rpm: 60, timeout: 9}\n\
         model_list:\n\
         - {model_name: m, litellm_params: {<<: *d, model: a, rpm: 30}}\n\
         - {model_name: m, litellm_params: {<<: *d, model: b}}\n",
    );

    let [a, b] = read.router.deployments.as_slice() else {
        panic!("two deployments")
    };
    assert_eq!((a.rpm, a.timeout), (Some(30), secs(9)));
    assert_eq!((b.rpm, b.timeout), (Some(60), secs(9)));
}
