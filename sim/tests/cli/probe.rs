//! A probe: what it tells of a service that comes back and of one that does not, and what it refuses.

use crate::{FLAKY, Folder, Left, TINY, told};

fn probe(folder: &Folder, scenario: &str, more: &[&str]) -> Left {
    let start = ["probe", scenario, "--reps", "10"];
    folder.routelab(&[&start[..], more].concat())
}

#[test]
fn a_surge_that_retries_keep_alive_is_told_apart_from_one_that_passes() {
    let folder = Folder::new("probe-metastable");

    let left = probe(&folder, "metastable-retries", &[]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let line = |start: &str| {
        let mut lines = left.stdout.lines();
        let found = lines.find(|line| line.starts_with(start));
        found
            .unwrap_or_else(|| panic!("{start}: {}", left.stdout))
            .to_owned()
    };
    let without = line("num_retries 0: after");
    assert!(without.contains("all 10 replications recover"), "{without}");
    let with = line("num_retries 3: after");
    assert!(
        with.contains("none of 10 replications recovers within 600 s"),
        "{with}"
    );
    assert!(with.contains("a metastable state"), "{with}");
    let picture = left
        .stdout
        .split("░ is the push")
        .nth(1)
        .unwrap_or_default();
    let ends = |arm: &str| {
        let mut lines = picture.lines();
        let line = lines.find(|line| line.trim_start().starts_with(arm));
        line.and_then(|line| line.chars().last())
    };
    assert_eq!(ends("num_retries 0"), Some('█'), "{}", left.stdout);
    assert_eq!(ends("num_retries 3"), Some('▁'), "{}", left.stdout);
    let page = folder.read("routelab-report/index.html");
    assert!(page.contains("What the push did"));
    assert!(folder.path("routelab-report/plots/recovery.svg").exists());
    assert!(folder.path("routelab-report/plots/ramp.svg").exists());
}

#[test]
fn a_service_that_has_no_limits_recovers_at_once_and_never_breaks() {
    let folder = Folder::new("probe-flaky").with("flaky.yaml", FLAKY);
    let more = [
        "--no-report",
        "--set",
        "num_retries=5",
        "--watch",
        "60",
        "--step",
        "20",
    ];

    let left = probe(&folder, "flaky.yaml", &more);
    let again = probe(
        &folder,
        "flaky.yaml",
        &[&more[..], &["--jobs", "1"]].concat(),
    );

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(
        left.stdout.contains("all 10 replications recover, in 0 s"),
        "{}",
        left.stdout
    );
    assert!(
        left.stdout.contains("does not break up to 2×"),
        "{}",
        left.stdout
    );
    assert_eq!(left.stdout, again.stdout);
}

#[test]
fn an_outage_can_be_the_push_and_json_the_answer() {
    let folder = Folder::new("probe-outage").with("flaky.yaml", FLAKY);
    let more = [
        "--no-report",
        "--push",
        "outage",
        "--length",
        "30",
        "--watch",
        "60",
        "--step",
        "20",
        "--format",
        "json",
    ];

    let left = probe(&folder, "flaky.yaml", &more);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let json: serde_json::Value = serde_json::from_str(&left.stdout).unwrap();
    assert_eq!(
        json["probe"]["push"],
        "an outage of every provider for 30 s"
    );
    let after = json["probe"]["arms"][0]["after_s"].as_array().unwrap();
    assert_eq!(after.len(), 10);
    let shares = json["probe"]["arms"][0]["by_time"].as_array().unwrap();
    let lowest = shares
        .iter()
        .filter_map(serde_json::Value::as_f64)
        .fold(1.0, f64::min);
    assert!(lowest < 0.1, "{lowest}");
}

#[test]
fn pictures_are_left_out_where_the_output_is_too_narrow() {
    let folder = Folder::new("probe-narrow").with("flaky.yaml", FLAKY);
    let asked = |columns: &str| {
        let more = [
            "--no-report",
            "--push",
            "outage",
            "--watch",
            "60",
            "--step",
            "20",
        ];
        let mut command =
            folder.command(&[&["probe", "flaky.yaml", "--reps", "6"][..], &more].concat());
        let output = command.env("COLUMNS", columns).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (wide, narrow) = (asked("120"), asked("60"));

    assert!(wide.contains("Answered well, from "), "{wide}");
    assert!(!narrow.contains("Answered well, from "), "{narrow}");
    assert!(wide.starts_with(&narrow), "all else stays as it is");
}

#[test]
fn what_makes_no_sense_is_told_before_anything_is_run() {
    let trace = "request_id,timestamp,input,output\n1,0.0,10,5\n2,1.0,10,5\n3,2.0,10,5\n";
    let replayed = TINY.split("workload:").next().unwrap().to_owned()
        + "workload: {trace: {file: t.csv, columns: {time: timestamp, time_unit: s, prompt_tokens: input, output_tokens: output}}}\n";
    let folder = Folder::new("probe-broken")
        .with("tiny.yaml", TINY)
        .with("t.csv", trace)
        .with("replayed.yaml", &replayed);
    let asked = |more: &[&str]| told(&folder, &[&["probe", "tiny.yaml"], more].concat());

    assert!(asked(&["--factor", "0"]).contains("--factor 0"));
    assert!(asked(&["--length", "0"]).contains("--length 0"));
    assert!(asked(&["--watch", "1e9"]).contains("--watch"));
    assert!(asked(&["--ramp", "1,2"]).contains("a least load, a largest and a step"));
    assert!(asked(&["--push", "both"]).contains("possible values"));
    assert!(asked(&["--format", "csv"]).contains("console, markdown or json"));
    assert!(asked(&["--set", "workload.duration_s=-1"]).contains("duration_s"));
    let replayed = told(&folder, &["probe", "replayed.yaml"]);
    assert!(replayed.contains("replays a trace"), "{replayed}");
}
