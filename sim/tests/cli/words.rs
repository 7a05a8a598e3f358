//! What the command says of itself and of what is bundled.

use std::{
    fs,
    path::{Path, PathBuf},
};

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
    for command in [
        "run",
        "sweep",
        "compare",
        "list",
        "check",
        "explain",
        "live",
        "mock",
        "serve",
        "calibrate",
        "plan",
        "probe",
        "replay",
        "swarm",
    ] {
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

#[test]
fn check_tells_who_sends() {
    let left = Folder::new("check-senders").routelab(&["check", "response-cache"]);

    assert!(
        left.stdout.contains("from help-desk 80 %, writers 20 %"),
        "{}",
        left.stdout
    );
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

        It was answered after 0.200 s.
        100 % of its time, 0.200 s, went into the attempt that answered.

        Where its 0.200 s went  (░ waiting, ▒ an attempt that failed, ▓ until the first token, █ the answer)
          attempt 1 at bad    0.200 s   100 %  |████████████████████████████████████████|  50 tokens

        What happened, and the setting behind it
        +0.000 s  arrived      for `chat`, 100 prompt tokens
        +0.000 s  picked       bad, of 2 candidates  [routing_strategy: simple-shuffle]
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
fn explain_without_a_request_tells_who_is_to_blame_for_all() {
    let folder = Folder::new("explain-all").with("tiny.yaml", TINY);

    let left = folder.routelab(&["explain", "tiny.yaml"]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    insta::assert_snapshot!(left.stdout, @"
        tiny, num_retries=0, cooldown_time=1: 67 of 1223 requests got no answer (2 replications).
        Most of them, 100.00 ± 0.00 %, are blamed on: retries exhausted. Passing errors of a provider that was not down, until no retry or fallback was left.

          Blame              Of those without an answer                        Of all requests  For example
          Retries exhausted  100.00 ± 0.00 %             ████████████████████  5.48 ± 1.92 %    --request 2

        What they mean
          Retries exhausted: Passing errors of a provider that was not down, until no retry or fallback was left.

        Examples are of replication 0; see one with `--rep 0 --request N`, or the first of a kind with `--failed retries_exhausted`.
    ");
    let none = folder.routelab(&["explain", "tiny.yaml", "--arm", "2"]);
    assert!(
        none.stdout.contains(": 0 of 1223 requests"),
        "{}",
        none.stdout
    );
}

#[test]
fn explain_finds_a_failed_request_by_its_blame_and_the_slowest_one() {
    let folder = Folder::new("explain-by").with("tiny.yaml", TINY);
    let told = |arguments: &[&str]| {
        let left = folder.routelab(&[&["explain", "tiny.yaml"], arguments].concat());
        (left.code, left.stdout + &left.stderr)
    };

    let (code, failed) = told(&["--failed", "retries_exhausted"]);
    assert_eq!(code, Some(0), "{failed}");
    assert!(failed.contains("Blame: retries exhausted."), "{failed}");
    assert_eq!(told(&["--failed"]), (code, failed));

    let (code, slow) = told(&["--worst", "latency", "--arm", "2"]);
    assert_eq!(code, Some(0), "{slow}");
    assert!(slow.contains("Where its 0.200 s went"), "{slow}");
    let (_, retried) = told(&["--first", "retried", "--arm", "2"]);
    assert!(retried.contains("[num_retries: 2]"), "{retried}");

    let (code, none) = told(&["--failed", "outage"]);
    assert_eq!(code, Some(2));
    assert!(
        none.contains("there is no such request in this run"),
        "{none}"
    );
    let (code, unknown) = told(&["--failed", "bad_luck"]);
    assert_eq!(code, Some(2));
    assert!(
        unknown.contains("known are client_gave_up, request"),
        "{unknown}"
    );
    let (code, both) = told(&["--failed", "--request", "3"]);
    assert_eq!(code, Some(2));
    assert!(both.contains("cannot be used with"), "{both}");
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

const FAULTY: &str = "\
model_list:
- {model_name: m, litellm_params: {model: gpt-4o, weight: 0}, model_info: {id: a}}
- {model_name: m, litellm_params: {model: gpt-4o-mini, weight: 1}, model_info: {id: b}}
router_settings:
  cooldown_time: 0
  fallbacks: [{m: [nn]}]
";

#[test]
fn check_tells_findings_and_exits_with_0_unless_they_are_denied() {
    let folder = Folder::new("check-findings")
        .with("config.yaml", FAULTY)
        .with(
            "notes.yaml",
            "model_list: [{model_name: m, litellm_params: {model: gpt-4o}}]\n",
        );
    let code = |arguments: &[&str]| folder.routelab(arguments).code;

    let left = folder.routelab(&["check", "config.yaml"]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let (_, findings) = left.stdout.split_once("\nfindings\n").unwrap();
    insta::assert_snapshot!(findings, @"
      error    config.yaml:6  router_settings.fallbacks[0].m[0]  [fallback-target-unknown]
               no model is called `nn`, so this step always fails
               → give a model_name, an alias or the id of a deployment
      warning  config.yaml:5  router_settings.cooldown_time  [zero-cooldown-time]
               LiteLLM reads a cooldown of 0 as not given: it is 5 seconds
               → write `disable_cooldowns: true` if none is meant
      note     config.yaml:2  model_list[0].litellm_params.weight  [weight-zero]
               `a` has weight 0 and gets requests only when no other deployment of `m` is left
               → give it a weight, or a later `order` if it is a spare

    to run it: routelab run baseline --config config.yaml
    ");
    for kind in ["errors", "warnings", "findings"] {
        assert_eq!(code(&["check", "config.yaml", "--deny", kind]), Some(1));
    }
    assert_eq!(
        code(&["check", "notes.yaml", "--deny", "warnings"]),
        Some(0)
    );
    assert_eq!(
        code(&["check", "notes.yaml", "--deny", "findings"]),
        Some(1)
    );
}

#[test]
fn check_gives_keys_and_findings_as_json_under_the_profile_asked_for() {
    let folder = Folder::new("check-json").with("config.yaml", FAULTY);

    let left = folder.routelab(&[
        "check",
        "config.yaml",
        "--format",
        "json",
        "--profile",
        "litellm-1.92",
    ]);

    let account: serde_json::Value = serde_json::from_str(&left.stdout).unwrap();
    assert_eq!(account["profile"], "litellm-1.92");
    assert!(account["used"].as_array().unwrap().len() > 5);
    assert_eq!(account["findings"][0]["id"], "fallback-target-unknown");
    assert_eq!(account["findings"][0]["line"], 6);
    assert_eq!(account["findings"][0]["severity"], "error");
}

#[test]
fn check_prices_deployments_by_a_registry() {
    let registry = r#"{"gpt-4o": {"litellm_provider": "openai", "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05, "max_input_tokens": 128000}}"#;
    let folder = Folder::new("check-prices")
        .with("config.yaml", FAULTY)
        .with("prices.json", registry)
        .with("broken.json", "[]");

    let left = folder.routelab(&["check", "config.yaml", "--prices", "prices.json"]);
    let broken = folder.routelab(&["check", "config.yaml", "--prices", "broken.json"]);

    assert!(
        left.stdout.contains("$ 2.5/10 a million"),
        "{}",
        left.stdout
    );
    assert!(left.stdout.contains("prompt ≤ 128000"), "{}", left.stdout);
    assert_eq!(broken.code, Some(2));
    assert!(
        broken.stderr.contains("no price registry"),
        "{}",
        broken.stderr
    );
}

#[test]
fn check_reads_every_published_config_or_says_why_not() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/configs");
    let Ok(files) = fs::read_dir(&shared) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "{} is missing", shared.display());
        return;
    };
    let folder = Folder::new("check-published");
    let paths = files.map(|file| file.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 35, "only {} configs", paths.len());

    let mut refused = Vec::new();
    for path in &paths {
        let left = folder.routelab(&["check", path.to_str().unwrap()]);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match left.code {
            Some(0) => {
                assert!(left.stdout.contains("\nkeys that take effect\n"), "{name}");
            }
            _ => refused.push(name),
        }
    }

    insta::assert_snapshot!(refused.join("\n"), @"
    brama-ai__core--deploy_charts_brama_templates_litellm_configmap.yaml
    nilayparikh__codefreedom--src_codefreedom_examples_proxy_config_config.yaml
    ");
}
