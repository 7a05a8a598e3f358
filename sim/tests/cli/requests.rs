//! `--requests`: the requests of a run, for another driver to send.

use crate::{Folder, TINY};

#[test]
fn the_requests_of_a_run_are_listed_for_another_driver_to_send() {
    // Of a passing event, every request counts; of a lasting state, its start-up is left out.
    let tiny = TINY.replace("kind: steady", "kind: terminating");
    let folder = Folder::new("requests").with("tiny.yaml", &tiny);

    let left = folder.routelab(&[
        "run",
        "tiny.yaml",
        "--seed",
        "7",
        "--reps",
        "1",
        "--no-report",
        "--format",
        "json",
        "--requests",
        "requests.jsonl",
    ]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let text = folder.read("requests.jsonl");
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let json: serde_json::Value = serde_json::from_str(&left.stdout).unwrap();
    let metrics = &json["arms"][0]["metrics"];
    let completed = metrics["completed_per_s"]["mean"].as_f64().unwrap() * 30.0;
    let success = metrics["success_ratio"]["mean"].as_f64().unwrap();
    let asked = f64::from(u32::try_from(lines.len()).unwrap());
    assert!((completed / success - asked).abs() < 1e-6, "{asked}");
    for (number, line) in lines.iter().enumerate() {
        assert_eq!(line["request"], number);
        assert_eq!(line["model"], "chat");
        assert_eq!(
            (&line["prompt_tokens"], &line["output_tokens"]),
            (&100.into(), &50.into())
        );
        assert!(line["sender"].is_null() && line["max_tokens"].is_null());
    }
    let times: Vec<f64> = lines.iter().map(|l| l["at_s"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] > 0.0 && *times.last().unwrap() < 30.0);

    let other = |seed| {
        folder.routelab(&[
            "run",
            "tiny.yaml",
            "--seed",
            seed,
            "--no-report",
            "--requests",
            "again.jsonl",
        ]);
        folder.read("again.jsonl")
    };
    assert_eq!(other("7"), text);
    assert_ne!(other("8"), text);
}

#[test]
fn requests_that_cannot_be_written_end_the_run_before_it_begins() {
    let folder = Folder::new("requests-nowhere").with("tiny.yaml", TINY);

    let left = folder.routelab(&["run", "tiny.yaml", "--requests", "no/such/folder/r.jsonl"]);

    assert_eq!(left.code, Some(2), "{}", left.stderr);
    assert!(
        left.stderr.contains("no/such/folder/r.jsonl"),
        "{}",
        left.stderr
    );
    assert_eq!(left.stdout, "");
    assert!(!folder.path("routelab-report").exists());
}
