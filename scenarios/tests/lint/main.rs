//! What is found in configs: every rule with a config that has it and one that has not.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod cases;
mod idle_senders;
mod instances;
mod published;
mod senders;

use std::{collections::BTreeSet, sync::Arc};

use router::{Profile, ProfileName};
use scenarios::{
    Instances, LoadOptions, Scenario, Source, Workload,
    lint::{self, Around, Finding, Severity},
    litellm,
    prices::PriceRegistry,
};

use crate::cases::Case;

/// A small price registry.
const PRICES: &str = r#"{
    "gpt-4o": {"litellm_provider": "openai", "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05, "max_input_tokens": 128000},
    "gpt-4o-mini": {"litellm_provider": "openai", "input_cost_per_token": 1.5e-07,
        "output_cost_per_token": 6e-07, "max_input_tokens": 128000}
}"#;

/// Requests that nobody in particular sends, and those of these senders.
fn workload(senders: &str) -> Arc<Workload> {
    let text = format!(
        "purpose: Traffic.
kind: steady
litellm: {{model_list: [{{model_name: m, litellm_params: {{model: openai/m}}}}]}}
workload:
  arrivals: {{poisson: {{per_second: 1}}}}
  lengths: azure-conv-2023
  duration_s: 60
  senders: {{{senders}}}
"
    );
    let source = Source::Text {
        name: "traffic".to_owned(),
        text,
    };
    let scenario = Scenario::load(&source, &LoadOptions::default());
    scenario.unwrap().plan(0, 0).workload
}

/// The findings of a config under a profile, with the small registry, in a scenario without senders.
fn found(text: &str, profile: Profile) -> Vec<Finding> {
    found_for(text, profile, Some(around(&workload(""))))
}

/// A scenario of one instance.
fn around(workload: &Workload) -> Around<'_> {
    Around {
        workload,
        instances: Instances::default(),
    }
}

fn found_for(text: &str, profile: Profile, around: Option<Around<'_>>) -> Vec<Finding> {
    let node = litellm::parse(text, "config.yaml").unwrap();
    let config = litellm::from_node(&node, "config.yaml").unwrap_or_else(|error| panic!("{error}"));
    let registry = PriceRegistry::read(PRICES, "prices.json").unwrap();
    let router = config.router_for(profile, Some(&registry));
    lint::findings(&config, &router, &node, "config.yaml", around)
}

fn ids(findings: &[Finding]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding.id).collect()
}

#[test]
fn every_rule_finds_what_it_is_for_and_nothing_in_its_counterpart() {
    for Case {
        id,
        profile,
        bad,
        good,
    } in cases::all()
    {
        let profile = profile.profile();
        let in_bad = found(bad, profile);
        let in_good = found(good, profile);
        assert!(
            ids(&in_bad).contains(id),
            "{id} is not found in\n{bad}\n{in_bad:#?}"
        );
        assert!(
            !ids(&in_good).contains(id),
            "{id} is found in\n{good}\n{in_good:#?}"
        );
    }
}

#[test]
fn every_rule_has_a_case_and_a_name_of_its_own() {
    let catalogue = lint::catalogue();
    let rules: BTreeSet<&str> = catalogue.iter().map(|entry| entry.id).collect();
    let of_instances = instances::CASES.iter().map(|(id, ..)| *id);
    let cases = cases::all().map(|case| case.id);
    let cases: BTreeSet<&str> = cases
        .chain(of_instances)
        .chain([idle_senders::RULE])
        .collect();

    assert_eq!(rules.len(), catalogue.len(), "an id is given twice");
    assert_eq!(rules, cases);
    for id in rules {
        let is_kebab = id
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        assert!(is_kebab, "{id}");
    }
}

#[test]
fn every_finding_says_where_what_and_what_to_do() {
    let mut told = String::new();
    for Case {
        id, profile, bad, ..
    } in cases::all()
    {
        let findings = found(bad, profile.profile());
        for finding in findings.iter().filter(|finding| finding.id == *id) {
            assert!(finding.line > 0, "{finding}");
            told.push_str(&format!("{finding}\n"));
        }
    }

    insta::assert_snapshot!(told);
}

#[test]
fn a_config_without_a_fault_has_no_finding() {
    let text = "\
model_list:
- {model_name: m, litellm_params: {model: gpt-4o, api_key: os.environ/A}, model_info: {id: a}}
- {model_name: m, litellm_params: {model: gpt-4o, api_key: os.environ/B}, model_info: {id: b}}
- {model_name: n, litellm_params: {model: gpt-4o-mini, api_key: os.environ/A}, model_info: {id: c}}
- {model_name: n, litellm_params: {model: gpt-4o-mini, api_key: os.environ/B}, model_info: {id: d}}
router_settings: {num_retries: 3, cooldown_time: 10, fallbacks: [{m: [n]}]}
";

    for name in ProfileName::ALL {
        assert_eq!(found(text, name.profile()), []);
    }
}

#[test]
fn the_worst_comes_first_and_then_the_order_of_the_file() {
    let text = "\
model_list:
- {model_name: m, litellm_params: {model: gpt-4o, timeout: 0}, model_info: {id: a}}
router_settings:
  cooldown_time: 0
  fallbacks: [{m: [zz]}]
";

    let findings = found(text, Profile::litellm_1_110());

    let order: Vec<(Severity, u32)> = findings.iter().map(|f| (f.severity, f.line)).collect();
    let mut sorted = order.clone();
    sorted.sort();
    assert_eq!(order, sorted);
    assert_eq!(findings[0].id, "fallback-target-unknown");
    assert_eq!(findings, found(text, Profile::litellm_1_110()));
}

#[test]
fn a_finding_is_one_line_for_people() {
    let text = "model_list: [{model_name: m, litellm_params: {model: gpt-4o}}]\nrouter_settings: {cooldown_time: 0}\n";

    let findings = found(text, Profile::litellm_1_110());
    let zero = findings
        .iter()
        .find(|f| f.id == "zero-cooldown-time")
        .unwrap();

    insta::assert_snapshot!(zero.to_string(), @"warning config.yaml:2 router_settings.cooldown_time: LiteLLM reads a cooldown of 0 as not given: it is 5 seconds → write `disable_cooldowns: true` if none is meant [zero-cooldown-time]");
}
