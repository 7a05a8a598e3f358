//! Scenario files as a user writes them: the library, the grid, the command line, and what is said
//! of broken input.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![allow(clippy::cast_precision_loss, reason = "counts of tests are small")]

mod broken;
mod grid;
mod instances;
mod library;
mod senders;
mod workloads;

use std::{
    fs,
    path::{Path, PathBuf},
};

use scenarios::{LoadOptions, Scenario, ScenarioError, Source};

/// A scenario that is good as it is; tests change a line of it.
const GOOD: &str = "\
purpose: Does it hold?
kind: terminating
litellm:
  model_list:
    - {model_name: chat, litellm_params: {model: azure/gpt-4o}, model_info: {id: east}}
    - {model_name: chat, litellm_params: {model: openai/gpt-4o}, model_info: {id: west}}
  router_settings: {num_retries: 2}
providers:
  east: {preset: azure-payg}
workload:
  arrivals: {poisson: {per_second: 10}}
  lengths: azure-conv-2023
  duration_s: 60
";

fn load(text: &str) -> Result<Scenario, ScenarioError> {
    load_with(text, &LoadOptions::default())
}

fn load_with(text: &str, options: &LoadOptions) -> Result<Scenario, ScenarioError> {
    let source = Source::Text {
        name: "s.yaml".to_owned(),
        text: text.to_owned(),
    };
    Scenario::load(&source, options)
}

/// The good scenario with one piece of text replaced.
fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "nothing to replace: {from}");
    GOOD.replace(from, to)
}

/// Options with these `--set`s.
fn sets(list: &[(&str, &str)]) -> LoadOptions {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    LoadOptions {
        sets: list.iter().map(own).collect(),
        ..LoadOptions::default()
    }
}

/// A folder of a test's own under `target`: empty, whatever an earlier run left there.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("scenarios")
        .join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}
