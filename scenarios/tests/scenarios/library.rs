//! The scenarios that come with the program.

use std::{fs, path::Path};

use scenarios::{LoadOptions, Scenario, Source, library, schema_json};

fn load(name: &str) -> Scenario {
    let options = LoadOptions::default();
    Scenario::load(&Source::Library(name.to_owned()), &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Scenarios that need no file beside the program.
fn self_contained() -> impl Iterator<Item = &'static str> {
    library()
        .iter()
        .map(|entry| entry.name)
        .filter(|name| *name != "azure-2023-outage")
}

#[test]
fn every_file_of_the_folder_is_in_the_table_and_only_those() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let mut files: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    files.sort();

    let names: Vec<&str> = library().iter().map(|entry| entry.name).collect();

    assert_eq!(files, names);
    assert!(names.len() >= 12);
}

#[test]
fn every_scenario_expands_and_asks_a_question() {
    for name in self_contained() {
        let scenario = load(name);

        assert!(
            scenario.purpose().ends_with('?'),
            "{name}: {}",
            scenario.purpose()
        );
        assert!(
            scenario.purpose().len() > 30,
            "{name}: {}",
            scenario.purpose()
        );
        let cells: usize = scenario
            .axes()
            .iter()
            .map(|axis| axis.values.len())
            .product();
        assert_eq!(scenario.arms().len(), cells, "{name}");
        assert!(scenario.plans().len() >= cells, "{name}");
    }
}

#[test]
fn every_deployment_of_the_library_is_bound_by_the_scenario_and_no_key_is_ignored() {
    for name in self_contained() {
        let scenario = load(name);

        let notes = scenario.notes().iter();
        let odd: Vec<_> = notes.filter(|note| !note.starts_with("client: ")).collect();
        assert!(odd.is_empty(), "{name}: {odd:?}");
        // Keys and addresses are what a real config has and a model needs not.
        let odd: Vec<_> = scenario
            .ignored()
            .iter()
            .filter(|key| key.suspicious)
            .collect();
        assert!(odd.is_empty(), "{name}: {odd:?}");
    }
}

#[test]
fn the_default_scenario_is_three_strategies_by_four_cooldowns_by_two_retries() {
    let main = load("main");

    let sizes: Vec<usize> = main.axes().iter().map(|axis| axis.values.len()).collect();
    assert_eq!(sizes, [3, 4, 2]);
    assert_eq!(main.replications(), 10);
    let labels: Vec<&str> = main.arms()[main.reference()]
        .labels
        .iter()
        .map(|(_, v)| v.as_str())
        .collect();
    assert_eq!(labels, ["simple-shuffle", "5", "2"]);
    let requests = main.plans()[0].workload.expected_arrivals();
    assert!((6_000.0..7_500.0).contains(&requests), "{requests}");
}

#[test]
fn a_run_of_the_library_is_small_enough_to_be_tried() {
    for name in self_contained() {
        let scenario = load(name);
        let all: f64 = scenario
            .plans()
            .iter()
            .map(|p| p.workload.expected_arrivals())
            .sum();
        let limit = if name == "cooldown-cliff" { 25e6 } else { 3e6 };
        assert!(all < limit, "{name}: {all} requests");
    }
}

#[test]
fn without_the_azure_trace_its_scenario_says_where_it_can_be_had() {
    let options = super::sets(&[(
        "workload.trace.file",
        "nowhere/AzureLLMInferenceTrace_conv.csv",
    )]);
    let source = Source::Library("azure-2023-outage".to_owned());
    let error = Scenario::load(&source, &options).unwrap_err();

    insta::assert_snapshot!(error, @"azure-2023-outage.yaml: workload.trace.file: there is no file `nowhere/AzureLLMInferenceTrace_conv.csv`; it is AzureLLMInferenceTrace_conv.csv of the Azure public dataset (github.com/Azure/AzurePublicDataset, CC-BY-4.0); say where it is with `--set workload.trace.file=PATH`");
}

#[test]
fn a_library_name_that_is_none_is_met_with_the_nearest() {
    let error = Scenario::load(
        &Source::Library("brownot".to_owned()),
        &LoadOptions::default(),
    );

    insta::assert_snapshot!(error.unwrap_err(), @"no scenario of the library is called `brownot`; did you mean `brownout`?");
}

#[test]
fn the_committed_schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenario.schema.json");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, schema_json()).unwrap();
    }

    let committed = fs::read_to_string(&path).unwrap_or_default();

    assert!(
        committed == schema_json(),
        "scenario.schema.json is stale: run `UPDATE=1 cargo test -p scenarios schema`"
    );
}
