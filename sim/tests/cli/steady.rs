//! Studies of a lasting state: their start-up, their refusal, and how many replications there are.

use crate::{FLAKY, Folder, told};

/// Answers take five seconds, so that it takes as long until as many leave as come.
fn slow() -> String {
    FLAKY
        .replace("{ms: 200}", "{ms: 5000}")
        .replace("duration_s: 30", "duration_s: 120")
}

/// Answers a second of the first run of a report.
fn per_second(folder: &Folder, arguments: &[&str]) -> (f64, String) {
    let left = folder.routelab(arguments);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let runs = folder.read("routelab-report/runs.csv");
    let mut lines = runs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, first) = (lines.next().unwrap(), lines.next().unwrap());
    let column = names
        .iter()
        .position(|name| *name == "completed_per_s")
        .unwrap();
    (first[column].parse().unwrap(), left.stdout)
}

#[test]
fn the_start_up_of_a_lasting_state_is_in_no_number_and_that_of_a_passing_event_is() {
    let passing = slow().replace("kind: steady", "kind: terminating");
    let folder = Folder::new("steady-start")
        .with("steady.yaml", &slow())
        .with("passing.yaml", &passing);

    let (settled, text) = per_second(&folder, &["run", "steady.yaml"]);
    let (all, other) = per_second(&folder, &["run", "passing.yaml"]);

    assert!(
        text.contains("are left out of every number: the start-up"),
        "{text}"
    );
    assert!(!other.contains("left out"), "{other}");
    // Twenty come in a second, and nearly all are answered; what is left out is so above and below the line.
    for rate in [settled, all] {
        assert!((18.0..22.0).contains(&rate), "{settled} and {all} a second");
    }
    assert!((settled - all).abs() > 1e-6, "{settled}");
}

#[test]
fn an_overload_has_no_lasting_state_and_is_refused() {
    // Ten a second are served, and twenty come.
    let overload = FLAKY
        .replace(
            "  default: {latency",
            "  default: {max_concurrent: 1, latency",
        )
        .replace("  bad:\n", "  bad:\n    max_concurrent: 1\n")
        .replace("replications: 2", "replications: 5");
    let passing = overload.replace("kind: steady", "kind: terminating");
    let folder = Folder::new("steady-overload")
        .with("steady.yaml", &overload)
        .with("passing.yaml", &passing);

    let refused = told(&folder, &["run", "steady.yaml"]);
    let compared = told(
        &folder,
        &[
            "compare",
            "steady.yaml",
            "--arm",
            "as-is",
            "--arm",
            "num_retries=1",
        ],
    );
    let left = folder.routelab(&["run", "passing.yaml", "--no-report"]);

    for message in [refused, compared] {
        let flat = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("no lasting state"), "{message}");
        assert!(flat.contains("kind: terminating"), "{message}");
    }
    assert_eq!(left.code, Some(0), "{}", left.stderr);
}

#[test]
fn replications_are_as_many_as_it_takes_unless_somebody_says_how_many() {
    let open = FLAKY.replace("replications: 2\n", "");
    let folder = Folder::new("steady-replications").with("open.yaml", &open);
    let run = |more: &[&str]| {
        let left = folder.routelab(&[&["run", "open.yaml", "--no-report"], more].concat());
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        left.stdout
    };

    let (chosen, given) = (run(&[]), run(&["--reps", "12"]));

    assert!(chosen.contains(" replications, "), "{chosen}");
    assert!(
        chosen.contains("in every arm success to ± ")
            || chosen.contains("in every arm goodput to ± "),
        "{chosen}"
    );
    assert!(given.contains("× 12 replications"), "{given}");
    assert!(!given.contains("in every arm"), "{given}");
    assert_eq!(chosen, run(&["--jobs", "1"]), "on any number of threads");
}
