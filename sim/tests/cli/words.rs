//! What the command says of itself and of what is bundled.

use crate::{Folder, TINY};

#[test]
fn help_tells_the_commands_and_the_exit_codes() {
    let left = Folder::new("help").routelab(&["--help"]);

    assert_eq!(left.code, Some(0));
    insta::assert_snapshot!("help", left.stdout);
}

#[test]
fn help_of_each_command_tells_its_options() {
    let folder = Folder::new("help-of-commands");
    for command in ["run", "sweep", "compare", "list", "check", "explain"] {
        let left = folder.routelab(&[command, "--help"]);

        assert_eq!(left.code, Some(0), "{command}");
        insta::assert_snapshot!(format!("help_{command}"), left.stdout);
    }
}

#[test]
fn list_names_every_scenario_metric_and_preset() {
    let folder = Folder::new("list");
    let left = folder.routelab(&["list"]);

    assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""));
    let known = scenarios::library().iter().map(|entry| entry.name);
    let known = known.chain(reports::metrics().iter().map(|metric| metric.name()));
    let known = known.chain(mock_providers::presets().iter().map(|preset| preset.name));
    for name in known {
        assert!(
            left.stdout.contains(&format!("  {name} ")),
            "{name} is not listed"
        );
    }
    let one = folder.routelab(&["list", "metrics"]);
    assert!(left.stdout.contains(&one.stdout) && one.stdout.len() < left.stdout.len());
}

#[test]
fn every_bundled_scenario_passes_its_check() {
    let folder = Folder::new("check-library");
    for entry in scenarios::library() {
        // Its input is not in this repository.
        if entry.text.contains("trace:") {
            continue;
        }
        let left = folder.routelab(&["check", entry.name]);
        assert_eq!(left.code, Some(0), "{}: {}", entry.name, left.stderr);
    }
}

#[test]
fn check_tells_what_of_a_scenario_takes_effect() {
    let folder = Folder::new("check").with("tiny.yaml", TINY);

    let left = folder.routelab(&["check", "tiny.yaml"]);

    assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("check_scenario", left.stdout);
}

/// As people publish it: anchors, secrets in the environment, sections of no concern here.
const CONFIG: &str = "
model_list:
  - model_name: gpt
    litellm_params: &azure
      model: azure/gpt-4o
      api_base: https://example.invalid
      api_key: os.environ/AZURE_KEY
      rpm: 600
    model_info: {id: east}
  - model_name: gpt
    litellm_params:
      <<: *azure
      rpm: 300
    model_info: {id: west}
router_settings:
  routing_strategy: least-busy
  num_retries: 1
  redis_host: os.environ/REDIS_HOST
  colldown_time: 30
litellm_settings: {drop_params: true}
";

#[test]
fn check_tells_what_of_a_litellm_config_takes_effect() {
    let folder = Folder::new("check-config").with("config.yaml", CONFIG);

    let left = folder.routelab(&["check", "config.yaml"]);

    assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("check_config", left.stdout);
}

#[test]
fn a_litellm_config_runs_in_place_of_a_scenarios_own() {
    let folder = Folder::new("run-config").with("config.yaml", CONFIG);

    let left = folder.routelab(&[
        "run",
        "baseline",
        "--config",
        "config.yaml",
        "--reps",
        "2",
        "--format",
        "csv",
    ]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(folder.read("routelab-report/index.html").contains("west"));
}

#[test]
fn a_litellm_config_alone_is_told_where_to_go() {
    let folder = Folder::new("config-alone").with("config.yaml", CONFIG);

    let left = folder.routelab(&["run", "config.yaml"]);

    assert_eq!((left.code, left.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(left.stderr, @"
    × `config.yaml` is a LiteLLM config and no scenario: it does not say who asks what
    help: give it to a scenario: routelab run baseline --config config.yaml
    ");
}

#[test]
fn explain_tells_the_story_of_a_request() {
    let folder = Folder::new("explain").with("tiny.yaml", TINY);

    let left = folder.routelab(&["explain", "tiny.yaml", "--request", "22", "--arm", "2"]);

    assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(left.stdout, @"
    request 22 of tiny, num_retries=2, cooldown_time=1, replication 0: arrived 0.927 s into the run; times below count from then

    +0.000 s  arrived      for `chat`, 100 prompt tokens
    +0.000 s  picked       bad, of 2 candidates
    +0.000 s  sent         attempt 1 to bad
    +0.200 s  came back    attempt 1 at bad after 0.200 s: 50 tokens
    +0.200 s  answered     by bad, 100 prompt and 50 answer tokens; 1 attempt, 0 fallbacks, 0.000 s waited, 0.000 s in failed attempts
    ");
}

#[test]
fn explain_finds_the_first_request_with_a_fate() {
    let folder = Folder::new("explain-first").with("tiny.yaml", TINY);

    let left = folder.routelab(&["explain", "tiny.yaml", "--first", "retried", "--arm", "2"]);

    assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""));
    assert!(
        left.stdout.contains("retries      retry 1 of 2"),
        "{}",
        left.stdout
    );
    assert!(
        left.stdout.contains("failed       attempt 1 at bad"),
        "{}",
        left.stdout
    );

    let none = folder.routelab(&["explain", "tiny.yaml", "--first", "fell-back"]);
    assert_eq!(none.code, Some(2));
    insta::assert_snapshot!(none.stderr, @"
    × there is no such request in this run
    help: try another arm or replication: --arm N, --rep N
    ");
}

#[test]
fn explain_refuses_what_is_not_there() {
    let folder = Folder::new("explain-nothing").with("tiny.yaml", TINY);

    let late = folder.routelab(&["explain", "tiny.yaml", "--request", "1000000"]);
    assert_eq!(late.code, Some(2));
    insta::assert_snapshot!(late.stderr, @"
    × request 1000000 does not arrive in this run
    help: its 601 requests are counted from 0
    ");

    let arm = folder.routelab(&["explain", "tiny.yaml", "--request", "0", "--arm", "4"]);
    assert_eq!(arm.code, Some(2));
    insta::assert_snapshot!(arm.stderr, @"
    × there is no arm 4 with a replication 0
    help: arms are 0 to 3, replications 0 to 1
    ");
}

#[test]
fn the_schema_is_that_of_scenario_files() {
    let left = Folder::new("schema").routelab(&["schema"]);

    assert_eq!(left.code, Some(0));
    assert!(
        left.stdout == scenarios::schema_json(),
        "it differs from the library's"
    );
}

#[test]
fn completions_know_the_commands() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish"] {
        let left = folder.routelab(&["completions", shell]);
        assert_eq!(left.code, Some(0));
        assert!(
            left.stdout.contains("explain") && left.stdout.contains("compare"),
            "{shell}"
        );
    }
}
