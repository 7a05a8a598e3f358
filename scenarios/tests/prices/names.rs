//! Under which name the registry knows a model, against what LiteLLM 1.110.2 answered when asked for
//! each (`names.csv`: the models of the published configs whose provider it knows, and others that are
//! odd).

use router::Profile;
use scenarios::prices::PriceRegistry;

use crate::{deployment, litellms_registry};

#[test]
fn every_model_has_the_entry_that_litellm_finds_for_it() {
    let Some(registry) = litellms_registry() else {
        return;
    };
    let mut reader = csv::Reader::from_reader(include_str!("names.csv").as_bytes());

    let (mut checked, mut wrong) = (0, Vec::new());
    for row in reader.deserialize::<(String, String)>() {
        let (model, entry) = row.unwrap();
        let text = format!("{{model_name: m, litellm_params: {{model: \"{model}\"}}}}");
        let found = deployment(&text, Profile::litellm_1_110(), Some(&registry));
        let expected = registry.entry(&entry);
        let usd = expected.and_then(|entry| entry.prices.input);
        let longest = expected.and_then(|entry| entry.max_input_tokens);
        if found.prices.input != usd || found.max_input_tokens != longest {
            wrong.push(format!("{model}: {entry}, found {:?}", found.prices.input));
        }
        checked += 1;
    }

    assert!(checked > 300, "only {checked} models");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_registry_is_read_whole_and_its_specimen_does_no_harm() {
    let Some(registry) = litellms_registry() else {
        return;
    };

    assert!(registry.len() > 4_000, "only {} entries", registry.len());
    let specimen = registry.entry("sample_spec").unwrap();
    assert_eq!(specimen.max_input_tokens, None);
    let known = registry.entry("gpt-4o").unwrap();
    assert_eq!(known.prices.input, Some(2.5e-6));
    assert_eq!(known.prices.output, Some(1e-5));
    assert_eq!(known.prices.cache_read, Some(1.25e-6));
    assert_eq!(known.max_input_tokens, Some(128_000));
}

#[test]
fn what_is_no_registry_is_told_with_its_place() {
    let told = |text| {
        PriceRegistry::read(text, "prices.json")
            .unwrap_err()
            .to_string()
    };

    insta::assert_snapshot!(told("{\n  \"gpt-4o\": 5\n}"), @"prices.json:2:13: no price registry: invalid type: integer `5`, expected what is known of a model; accepted is LiteLLM's model_prices_and_context_window.json");
    insta::assert_snapshot!(told("[]"), @"prices.json:1:1: no price registry: invalid type: sequence, expected a map; accepted is LiteLLM's model_prices_and_context_window.json");
    insta::assert_snapshot!(told("{\"gpt-4o\": {"), @"prices.json:1:12: no price registry: EOF while parsing an object; accepted is LiteLLM's model_prices_and_context_window.json");
}
