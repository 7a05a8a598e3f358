//! Over 300 broken files of every kind that routelab reads (`broken_files/`), each refused with a clear
//! error: what is wrong, where, and nearly always what would be accepted. The snapshot has all that is
//! told; who adds a file reads what it gets.

use std::{fmt::Write as _, fs, path::Path};

use crate::Folder;

/// What reads the files of a folder.
fn command<'a>(kind: &str, file: &'a str, set: &'a str) -> Vec<&'a str> {
    match kind {
        "configs" => vec!["check", file],
        "logs" => vec!["calibrate", file],
        "mock" => vec!["mock", "--providers", file, "--listen", "127.0.0.1:0"],
        "prices" => vec!["check", "config.yaml", "--prices", file],
        "scenarios" => vec!["run", file],
        "traces" => vec!["run", "azure-2023-outage", "--set", set],
        kind => panic!("no command reads {kind}"),
    }
}

/// What is told of each file of a folder, after its name.
fn told_of_all(kind: &str) -> String {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cli/broken_files")
        .join(kind);
    let folder = Folder::new(&format!("broken-{kind}")).with(
        "config.yaml",
        "model_list: [{model_name: chat, litellm_params: {model: openai/gpt-4o}}]\n",
    );
    let mut names: Vec<String> = fs::read_dir(&sources)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut told = String::new();
    for name in &names {
        fs::copy(sources.join(name), folder.path(name)).unwrap();
        let set = format!("workload.trace.file={name}");
        let left = folder.routelab(&command(kind, name, &set));
        assert_eq!(left.code, Some(2), "{kind}/{name}: {}", left.stderr);
        assert_eq!(left.stdout, "", "{kind}/{name}");
        assert!(
            left.stderr.contains(name.as_str()),
            "{kind}/{name}: {}",
            left.stderr
        );
        writeln!(told, "{name}\n{}", left.stderr.trim_end()).unwrap();
    }
    // The inputs and the config: nothing was written, not even half of it.
    assert_eq!(
        fs::read_dir(folder.path(".")).unwrap().count(),
        names.len() + 1
    );
    told
}

#[test]
fn every_broken_config_gets_a_clear_error() {
    insta::assert_snapshot!(told_of_all("configs"));
}

#[test]
fn every_broken_log_gets_a_clear_error() {
    insta::assert_snapshot!(told_of_all("logs"));
}

#[test]
fn every_broken_file_of_providers_gets_a_clear_error() {
    insta::assert_snapshot!(told_of_all("mock"));
}

#[test]
fn every_broken_price_registry_gets_a_clear_error() {
    insta::assert_snapshot!(told_of_all("prices"));
}

#[test]
fn every_broken_scenario_gets_a_clear_error() {
    insta::assert_snapshot!(told_of_all("scenarios"));
}

#[test]
fn every_broken_trace_gets_a_clear_error() {
    insta::assert_snapshot!(told_of_all("traces"));
}
