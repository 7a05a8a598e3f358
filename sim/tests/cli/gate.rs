//! A gate's verdict, what it writes, and the code that it exits with.

use std::process::Command;

use crate::{FLAKY, Folder, Left, told};

fn config(retries: u32) -> String {
    format!(
        "
model_list:
  - {{model_name: chat, litellm_params: {{model: openai/a}}, model_info: {{id: good}}}}
  - {{model_name: chat, litellm_params: {{model: openai/b}}, model_info: {{id: bad}}}}
router_settings: {{num_retries: {retries}}}
"
    )
}

fn folder(name: &str) -> Folder {
    Folder::new(name)
        .with("tiny.yaml", FLAKY)
        .with("retries.yaml", &config(2))
        .with("none.yaml", &config(0))
        .with("same.yaml", &format!("# the same\n{}", config(2)))
}

fn gate(folder: &Folder, old: &str, new: &str, more: &[&str]) -> Left {
    let mut arguments = vec!["gate", "tiny.yaml", "--config", new, "--against", old];
    arguments.extend(more);
    folder.routelab(&arguments)
}

#[test]
fn a_change_that_changes_nothing_passes_and_losing_the_retries_fails() {
    let folder = folder("gate-verdicts");

    let same = gate(&folder, "retries.yaml", "same.yaml", &[]);
    let worse = gate(&folder, "retries.yaml", "none.yaml", &[]);

    assert_eq!(same.code, Some(0), "{}{}", same.stdout, same.stderr);
    assert!(same.stdout.contains("pass: nothing became worse"));
    assert_eq!(worse.code, Some(1), "{}{}", worse.stdout, worse.stderr);
    assert!(worse.stdout.contains("\nfail: Success"), "{}", worse.stdout);
}

#[test]
fn a_gate_without_enough_runs_is_undecided_and_says_how_many_would_do() {
    let folder = folder("gate-undecided");

    let left = gate(
        &folder,
        "retries.yaml",
        "none.yaml",
        &["--reps", "2", "--margin", "latency_p50_ms=1%"],
    );
    let few = gate(&folder, "retries.yaml", "none.yaml", &["--reps", "1"]);

    assert_eq!(few.code, Some(3), "{}{}", few.stdout, few.stderr);
    assert_eq!(left.code, Some(0), "{}{}", left.stdout, left.stderr);
}

#[test]
fn verdicts_are_written_for_dashboards_summaries_and_programs() {
    let folder = folder("gate-files").with("summary.md", "before\n");

    let left = gate(
        &folder,
        "retries.yaml",
        "none.yaml",
        &[
            "--junit",
            "gate.xml",
            "--summary",
            "summary.md",
            "--json",
            "gate.json",
        ],
    );

    assert_eq!(left.code, Some(1));
    assert!(folder.read("gate.xml").contains("<failure message="));
    let summary = folder.read("summary.md");
    assert!(summary.starts_with("before\n## Routing gate: fail\n"));
    let json: serde_json::Value = serde_json::from_str(&folder.read("gate.json")).unwrap();
    assert_eq!(json["verdict"], "fail");
}

#[test]
fn results_of_earlier_reports_are_judged_without_running_anything() {
    let folder = folder("gate-results");
    for (config, out) in [("retries.yaml", "old"), ("none.yaml", "new")] {
        let arguments = ["run", "tiny.yaml", "--config", config, "--reps", "10"];
        let left = folder.routelab(&[&arguments[..], &["--out", out]].concat());
        assert_eq!(left.code, Some(0), "{}", left.stderr);
    }
    let judge =
        |old: &str, new: &str| folder.routelab(&["gate", "--baseline", old, "--results", new]);

    let worse = judge("old/results.json", "new/results.json");
    let better = judge("new/results.json", "old/results.json");
    let broken = judge("old/results.csv", "new/results.json");

    assert_eq!(worse.code, Some(1), "{}", worse.stdout);
    assert_eq!(
        better.code,
        Some(1),
        "retries cost attempts: {}",
        better.stdout
    );
    assert_eq!(broken.code, Some(2));
    assert!(broken.stderr.contains("it is no JSON"), "{}", broken.stderr);
}

#[test]
fn results_that_are_partial_or_of_another_scenario_are_not_judged() {
    let folder = folder("gate-not-judged");
    let arguments = ["run", "tiny.yaml", "--config", "retries.yaml"];
    let left = folder.routelab(&[&arguments[..], &["--out", "old"]].concat());
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let results = folder.read("old/results.json");
    let folder = folder
        .with(
            "partial.json",
            &results.replace("\"partial\": false", "\"partial\": true"),
        )
        .with(
            "other.json",
            &results.replace("\"title\": \"tiny\"", "\"title\": \"huge\""),
        );
    let told = |new: &str, more: &[&str]| {
        let gate = ["gate", "--baseline", "old/results.json", "--results", new];
        told(&folder, &[&gate[..], more].concat())
    };

    assert!(told("partial.json", &[]).contains("it is partial"));
    assert!(told("other.json", &[]).contains("of different scenarios"));
    assert!(told("old/results.json", &["--reps", "3"]).contains("nothing is run"));
}

#[test]
fn what_a_scenario_expects_is_part_of_the_gate() {
    let expects = format!("{FLAKY}expect: [{{metric: attempts_per_request, at_most: 0.5}}]\n");
    let folder = folder("gate-expects").with("tiny.yaml", &expects);

    let left = gate(&folder, "retries.yaml", "same.yaml", &["--reps", "3"]);

    assert_eq!(left.code, Some(1), "{}", left.stdout);
    assert!(
        left.stdout.contains("expect: attempts_per_request"),
        "{}",
        left.stdout
    );
}

#[test]
fn an_outage_that_hits_nobody_proves_nothing() {
    let other = |retries| config(retries).replace("id: bad", "id: third");
    let folder = folder("gate-unused")
        .with("old.yaml", &other(2))
        .with("new.yaml", &other(0));

    let left = gate(&folder, "old.yaml", "new.yaml", &["--reps", "3"]);

    assert_eq!(left.code, Some(3), "{}", left.stdout);
    assert!(
        left.stdout
            .contains("providers.bad of the scenario is not used"),
        "{}",
        left.stdout
    );
}

#[test]
fn the_old_config_may_be_that_of_a_git_revision() {
    let folder = folder("gate-revision");
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(arguments)
            .current_dir(folder.path("."))
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    };
    std::fs::write(folder.path("config.yaml"), config(2)).unwrap();
    git(&["init", "-q"]);
    git(&["add", "config.yaml"]);
    git(&["commit", "-qm", "old"]);
    std::fs::write(folder.path("config.yaml"), config(0)).unwrap();
    git(&["commit", "-qam", "new"]);
    let against = |arguments: &[&str]| {
        let gate = ["gate", "tiny.yaml", "--config", "config.yaml"];
        folder.routelab(&[&gate[..], arguments].concat())
    };

    let left = against(&["--against-rev", "HEAD~1"]);
    let unknown = against(&["--against-rev", "nowhere"]);
    let back = against(&["--against-rev", "HEAD", "--rev", "HEAD~1"]);

    assert_eq!(left.code, Some(1), "{}{}", left.stdout, left.stderr);
    assert!(left.stdout.contains("against config.yaml@HEAD~1"));
    assert!(
        back.stdout
            .contains("Gate: config.yaml@HEAD~1 against config.yaml@HEAD\n"),
        "{}",
        back.stdout
    );
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("config.yaml@nowhere"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_margin_that_makes_no_sense_is_told() {
    let folder = folder("gate-margins");
    let told = |margin: &str| {
        let gate = [
            "gate",
            "tiny.yaml",
            "--config",
            "none.yaml",
            "--against",
            "retries.yaml",
        ];
        told(&folder, &[&gate[..], &["--margin", margin]].concat())
    };

    assert!(told("beauty=1%").contains("there is no metric `beauty`"));
    assert!(told("success_ratio=-1").contains("is no margin of `success_ratio`"));
    assert!(told("share_imbalance=much").contains("share_imbalance"));
}
