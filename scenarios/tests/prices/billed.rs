//! Which prices a deployment is billed by (semantics 11.1, and what both versions answered when asked).

use router::{Prices, Profile, Usage};
use scenarios::prices::PriceRegistry;

use crate::{deployment, litellms_registry};

/// A small registry with LiteLLM's own numbers.
fn registry() -> PriceRegistry {
    let text = r#"{
        "gpt-4o": {"litellm_provider": "openai", "input_cost_per_token": 2.5e-06,
            "output_cost_per_token": 1e-05, "cache_read_input_token_cost": 1.25e-06,
            "max_input_tokens": 128000},
        "gpt-4o-mini": {"litellm_provider": "openai", "input_cost_per_token": 1.5e-07,
            "output_cost_per_token": 6e-07, "max_input_tokens": 128000},
        "azure/gpt-4o-mini": {"litellm_provider": "azure", "input_cost_per_token": 1.65e-07,
            "output_cost_per_token": 6.6e-07, "max_input_tokens": 128001},
        "gpt-5": {"litellm_provider": "openai", "input_cost_per_token": 1.25e-06,
            "output_cost_per_token": 1e-05, "cache_read_input_token_cost": 1.25e-07},
        "gpt-4": {"litellm_provider": "openai", "input_cost_per_token": 3e-05,
            "output_cost_per_token": 6e-05, "max_input_tokens": 8192}
    }"#;
    PriceRegistry::read(text, "prices.json").unwrap()
}

/// An answer to 1,000 prompt tokens with 100 tokens is booked at so much under 1.92 and under 1.110.
#[track_caller]
fn assert_booked(cached: u32, params: &str, info: &str, expected: [f64; 2]) {
    let registry = registry();
    let profiles = [Profile::litellm_1_92(), Profile::litellm_1_110()];
    for (profile, expected) in profiles.into_iter().zip(expected) {
        let entry = format!(
            "{{model_name: m, litellm_params: {{{params}}}, model_info: {{id: d, {info}}}}}"
        );
        let found = deployment(&entry, profile, Some(&registry));
        let usage = Usage {
            cached_tokens: cached,
            ..Usage::new(1_000, 100)
        };
        assert_close(found.prices.booked(usage), expected);
    }
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-10, "{found} for {expected}");
}

#[test]
fn a_model_of_the_registry_is_billed_by_its_entry() {
    assert_booked(0, "model: openai/gpt-4o", "", [0.0035; 2]);
    assert_booked(0, "model: gpt-4o", "", [0.0035; 2]);
    assert_booked(400, "model: openai/gpt-4o", "", [0.003; 2]);
    assert_booked(0, "model: hosted_vllm/gpt-4o", "", [0.0; 2]);
    assert_booked(0, "model: openai/foo/gpt-4o", "", [0.0; 2]);
    assert_booked(
        0,
        "model: gpt-4o, custom_llm_provider: openai",
        "",
        [0.0035; 2],
    );
}

#[test]
fn cached_tokens_without_a_price_are_free_in_1_92_and_cost_as_others_in_1_110() {
    assert_booked(400, "model: openai/gpt-4", "", [0.024, 0.036]);
    let own = "model: openai/gpt-4, input_cost_per_token: 1e-3";
    assert_booked(400, own, "", [0.6, 1.0]);
}

#[test]
fn own_prices_beat_the_registry_and_take_only_its_cache_price() {
    let own = "model: openai/gpt-4o, input_cost_per_token: 1e-3";
    assert_booked(0, own, "", [1.0; 2]);
    assert_booked(400, own, "", [0.6005; 2]);
    assert_booked(400, own, "cache_read_input_token_cost: 1e-4", [0.64; 2]);
    let free = "model: openai/gpt-4o, input_cost_per_token: 0, output_cost_per_token: 0";
    assert_booked(0, free, "", [0.0; 2]);
}

#[test]
fn prices_of_the_params_beat_those_of_model_info_one_by_one() {
    let own = "model: openai/gpt-4o, input_cost_per_token: 1e-3";
    assert_booked(0, own, "input_cost_per_token: 2e-3", [1.0; 2]);
    assert_booked(0, own, "output_cost_per_token: 2e-3", [1.2; 2]);
    let output = "model: openai/gpt-4o, output_cost_per_token: 1e-3";
    assert_booked(0, output, "input_cost_per_token: 2e-3", [2.1; 2]);
    let info = "input_cost_per_token: 1e-3";
    assert_booked(0, "model: openai/gpt-4o", info, [1.0; 2]);
}

#[test]
fn an_output_price_alone_counts_only_in_1_110() {
    let own = "output_cost_per_token: 1e-3";
    assert_booked(
        0,
        &format!("model: openai/gpt-4o, {own}"),
        "",
        [0.0035, 0.1],
    );
    assert_booked(0, &format!("model: openai/none, {own}"), "", [0.0, 0.1]);
    let base = "base_model: gpt-4o-mini";
    assert_booked(0, &format!("model: openai/none, {own}"), base, [0.0, 0.1]);
}

#[test]
fn a_cache_price_alone_counts_for_nothing() {
    let own = "model: openai/gpt-4o, cache_read_input_token_cost: 1e-4";
    assert_booked(400, own, "", [0.003; 2]);
    let none = "model: openai/none, cache_read_input_token_cost: 1e-4";
    assert_booked(400, none, "base_model: gpt-5", [0.0; 2]);
}

#[test]
fn a_base_model_stands_in_for_the_model_and_that_of_the_params_comes_first() {
    assert_booked(
        0,
        "model: openai/none",
        "base_model: gpt-4o-mini",
        [0.000_21; 2],
    );
    assert_booked(
        0,
        "model: openai/none, base_model: gpt-4o-mini",
        "",
        [0.000_21; 2],
    );
    let both = "model: openai/none, base_model: gpt-5";
    assert_booked(0, both, "base_model: gpt-4o-mini", [0.002_25; 2]);
    assert_booked(0, "model: openai/gpt-4o", "base_model: none", [0.0035; 2]);
    let prefixed = "base_model: openai/gpt-4o-mini";
    assert_booked(0, "model: openai/none", prefixed, [0.000_21; 2]);
}

#[test]
fn a_base_model_of_another_provider_is_found_only_in_1_110() {
    let base = "base_model: azure/gpt-4o-mini";
    assert_booked(0, "model: openai/none", base, [0.0, 0.000_231]);
    assert_booked(0, "model: azure/none", base, [0.000_231; 2]);
    assert_booked(
        0,
        "model: azure/none",
        "base_model: gpt-4o-mini",
        [0.000_231; 2],
    );
}

#[test]
fn a_missing_cache_price_comes_from_the_model_in_1_92_and_from_its_base_in_1_110() {
    let own = "model: openai/gpt-4o, input_cost_per_token: 1e-3";
    assert_booked(400, own, "base_model: gpt-5", [0.6005, 0.600_05]);
    let none = "model: openai/none, input_cost_per_token: 1e-3";
    assert_booked(400, none, "base_model: gpt-5", [0.6, 0.600_05]);
}

#[test]
fn without_a_registry_only_the_config_itself_is_known() {
    let found = |entry: &str| deployment(entry, Profile::litellm_1_110(), None);

    let own = found("{model_name: m, litellm_params: {model: gpt-4o, input_cost_per_token: 1}}");
    let none = found("{model_name: m, litellm_params: {model: gpt-4o}}");

    assert_eq!((own.prices.input, own.prices.output), (Some(1.0), None));
    assert_eq!(own.prices.cost(Usage::new(1, 1)), None);
    assert_eq!(none.listed_prices, Prices::default());
    assert_eq!(none.max_input_tokens, None);
}

#[test]
fn cost_based_routing_sees_the_entry_of_exactly_the_models_text() {
    let listed = |model: &str| {
        let entry = format!("{{model_name: m, litellm_params: {{model: {model}}}}}");
        let found = deployment(&entry, Profile::litellm_1_110(), Some(&registry()));
        found.listed_prices.input
    };

    assert_eq!(listed("gpt-4o"), Some(2.5e-6));
    assert_eq!(listed("openai/gpt-4o"), None);
    assert_eq!(listed("azure/gpt-4o-mini"), Some(1.65e-7));
}

#[test]
fn in_1_110_cost_based_routing_sees_the_entry_of_base_model_where_there_is_one() {
    let listed = |profile, params: &str, info: &str| {
        let entry = format!(
            "{{model_name: m, litellm_params: {{{params}}}, model_info: {{id: d, {info}}}}}"
        );
        deployment(&entry, profile, Some(&registry()))
            .listed_prices
            .input
    };
    let (old, new) = (Profile::litellm_1_92(), Profile::litellm_1_110());
    let mini = Some(1.65e-7);

    let model = "model: gpt-4o";
    assert_eq!(listed(new, model, "base_model: azure/gpt-4o-mini"), mini);
    assert_eq!(
        listed(old, model, "base_model: azure/gpt-4o-mini"),
        Some(2.5e-6)
    );
    assert_eq!(listed(new, model, "base_model: nope"), Some(2.5e-6));
    let both = "model: gpt-4o, base_model: nope";
    assert_eq!(listed(new, both, "base_model: azure/gpt-4o-mini"), mini);
    let params = "model: openai/none, base_model: azure/gpt-4o-mini";
    assert_eq!(listed(new, params, ""), mini);
}

#[test]
fn the_longest_prompt_follows_base_model_only_on_azure() {
    let longest = |params: &str, info: &str| {
        let entry = format!(
            "{{model_name: m, litellm_params: {{{params}}}, model_info: {{id: d, {info}}}}}"
        );
        deployment(&entry, Profile::litellm_1_110(), Some(&registry())).max_input_tokens
    };

    assert_eq!(longest("model: openai/gpt-4", ""), Some(8_192));
    assert_eq!(longest("model: openai/none", "base_model: gpt-4"), None);
    assert_eq!(
        longest("model: azure/none", "base_model: gpt-4o-mini"),
        Some(128_001)
    );
    assert_eq!(
        longest("model: azure/none, base_model: gpt-4o-mini", ""),
        Some(128_001)
    );
    // That of `model_info` comes first here, other than for prices.
    let both = "model: azure/none, base_model: none";
    assert_eq!(
        longest(both, "base_model: azure/gpt-4o-mini"),
        Some(128_001)
    );
    assert_eq!(longest("model: azure/none", "base_model: gpt-4"), None);
    assert_eq!(
        longest("model: openai/gpt-4", "max_input_tokens: 100000"),
        Some(100_000)
    );
}

#[test]
fn litellms_own_registry_gives_the_numbers_of_the_reference() {
    let Some(registry) = litellms_registry() else {
        return;
    };
    let cost = |model: &str, prompt| {
        let entry = format!("{{model_name: m, litellm_params: {{model: {model}}}}}");
        let found = deployment(&entry, Profile::litellm_1_110(), Some(&registry));
        found.prices.cost(Usage::new(prompt, 100)).unwrap()
    };

    assert_close(cost("openai/gpt-4o", 1_000), 0.0035);
    assert_close(cost("azure/gpt-4o", 1_000), 0.0035);
    // A long prompt: all tokens at the prices above 272,000.
    assert_close(cost("openai/gpt-5.4", 300_000), 1.502_25);
}
