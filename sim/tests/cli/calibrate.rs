//! Logs in, a scenario out, and what is refused.

use crate::{FLAKY, Folder};

/// A log of a run whose truth is known.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name).with(
        "truth.yaml",
        &FLAKY.replace("duration_s: 30", "duration_s: 120"),
    );
    let left = folder.routelab(&[
        "run",
        "truth.yaml",
        "--spend-log",
        "spend.csv",
        "--no-report",
    ]);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    folder
}

#[test]
fn a_log_becomes_a_scenario_that_is_checked_and_run() {
    let folder = folder("calibrate-runs");

    let left = folder.routelab(&["calibrate", "spend.csv"]);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(
        left.stdout.contains("as independent arrivals do"),
        "{}",
        left.stdout
    );
    assert!(
        left.stdout.contains("bad: answer after 200"),
        "{}",
        left.stdout
    );
    let scenario = folder.read("routelab-calibration/scenario.yaml");
    assert!(scenario.contains("status: 500"), "{scenario}");
    let json: serde_json::Value =
        serde_json::from_str(&folder.read("routelab-calibration/calibration.json")).unwrap();
    assert!(
        json["calibration"]["traffic"]["arrivals"]["n"]
            .as_u64()
            .unwrap()
            > 1_000
    );

    let page = folder.read("routelab-calibration/index.html");
    assert!(
        page.contains("How well it holds on the held-out quarter"),
        "{page}"
    );
    assert!(
        !page.contains("<script") && !page.contains("src="),
        "the page asks nobody"
    );

    let path = "routelab-calibration/scenario.yaml";
    let checked = folder.routelab(&["check", path]);
    assert_eq!(
        checked.code,
        Some(0),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
    let run = folder.routelab(&["run", path, "--reps", "2", "--no-report"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);

    let again = folder.routelab(&["calibrate", "spend.csv", "--out", "again"]);
    assert_eq!(
        again.stdout.replace("again/", "routelab-calibration/"),
        left.stdout
    );
    assert_eq!(folder.read("again/scenario.yaml"), scenario);
}

#[test]
fn any_csv_is_taken_with_its_columns_named_and_programs_get_json() {
    let rows: String = (0..200)
        .map(|n| format!("{n},{},200\n", 150 + n % 40))
        .collect();
    let folder =
        Folder::new("calibrate-columns").with("calls.csv", &format!("at,took,code\n{rows}"));
    let map = "start=at,latency_ms=took,status=code";

    let left = folder.routelab(&[
        "calibrate",
        "calls.csv",
        "--columns",
        map,
        "--format",
        "json",
    ]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let json: serde_json::Value = serde_json::from_str(&left.stdout).unwrap();
    let unknown = json["calibration"]["unknown"].to_string();
    assert!(unknown.contains("prompt tokens"), "{unknown}");
    assert_eq!(
        left.stdout,
        folder.read("routelab-calibration/calibration.json")
    );
}

#[test]
fn broken_logs_end_with_2_and_write_nothing() {
    let folder = Folder::new("calibrate-broken")
        .with("other.csv", "a,b\n1,2\n")
        .with("few.csv", "a,b\n1,2\n2,2\n")
        .with("broken.json", "[{\"startTime\": ]")
        .with("file", "");
    for (arguments, told) in [
        (&["calibrate"][..], "<FILE>"),
        (&["calibrate", "gone.csv"], "cannot read gone.csv"),
        (&["calibrate", "other.csv"], "of no known format"),
        (&["calibrate", "broken.json"], "broken.json:1"),
        (&["calibrate", "file"], "the log is empty"),
        (
            &["calibrate", "other.csv", "--columns", "start=z"],
            "no column `z`",
        ),
        (
            &["calibrate", "few.csv", "--columns", "start=a,latency_ms=b"],
            "accepted are 30 or more",
        ),
        (
            &["calibrate", "other.csv", "--out", "file"],
            "cannot write file",
        ),
    ] {
        let left = folder.routelab(arguments);

        assert_eq!(left.code, Some(2), "{arguments:?}: {}", left.stderr);
        assert_eq!(left.stdout, "", "{arguments:?}");
        assert!(left.stderr.contains(told), "{arguments:?}: {}", left.stderr);
        assert!(
            !folder.path("routelab-calibration").exists(),
            "{arguments:?}"
        );
    }
}
