//! `routelab live`: a scenario over HTTP beside its simulation.

use super::*;

#[test]
fn a_scenario_over_http_stands_beside_its_simulation() {
    let folder = Folder::new("live").with("tiny.yaml", TINY);
    let arguments = [
        "live",
        "tiny.yaml",
        "--set",
        "workload.duration_s=5",
        "--speed",
        "2",
        "--format",
        "csv",
    ];

    let left = folder.routelab(&arguments);

    // A machine that is busy otherwise may be too slow, which is told.
    let too_slow = left.code == Some(3) && left.stderr.contains("too slow for --speed 2");
    assert!(left.code == Some(0) || too_slow, "{}", left.stderr);
    for driver in [",sim,", ",live,"] {
        assert!(left.stdout.contains(driver), "{}", left.stdout);
    }
    assert!(folder.path("routelab-report").join("index.html").exists());
}

#[test]
fn what_cannot_be_run_over_http_is_told() {
    let folder = Folder::new("live-wrong").with("tiny.yaml", TINY);
    for (arguments, says) in [
        (
            &["live", "tiny.yaml", "--speed", "0"][..],
            "from 0.01 to 1000",
        ),
        (&["live", "none.yaml"], "none.yaml"),
    ] {
        assert!(told(&folder, arguments).contains(says), "{arguments:?}");
    }
}

#[test]
fn compare_sim_live_says_first_whether_both_tell_the_same() {
    let folder = Folder::new("compare-sim-live").with("tiny.yaml", TINY);
    let arguments = [
        "compare",
        "sim",
        "live",
        "tiny.yaml",
        "--set",
        "workload.duration_s=4",
        "--speed",
        "2",
        "--reps",
        "2",
        "--margin",
        "latency_mean_ms=100%",
    ];

    let left = folder.routelab(&arguments);

    // How it ends depends on the machine; that it says so does not.
    let first = left.stdout.lines().next().unwrap_or_default();
    let says = match left.code {
        Some(0) => "tells the same as the simulation of tiny",
        Some(1) => "does not tell the same as the simulation of tiny",
        Some(3) if first.starts_with("Nothing is shown") => "too slow for --speed 2",
        Some(3) => "is undecided after 2 replications",
        other => panic!("{other:?}: {}", left.stderr),
    };
    assert!(first.contains(says), "{}", left.stdout);
    for word in [
        "metric",
        "difference (95 % interval)",
        "margin",
        "success_ratio",
        "attempts_per_request",
    ] {
        assert!(left.stdout.contains(word), "{word}: {}", left.stdout);
    }
}

#[test]
fn what_compare_sim_live_cannot_do_is_told() {
    let folder = Folder::new("compare-sim-live-wrong").with("tiny.yaml", TINY);
    for (arguments, says) in [
        (&["compare", "sim", "live", "none.yaml"][..], "none.yaml"),
        (
            &["compare", "sim", "live", "tiny.yaml", "--speed", "0"],
            "from 0.01 to 1000",
        ),
        (
            &[
                "compare",
                "sim",
                "live",
                "tiny.yaml",
                "--margin",
                "nobody=1",
            ],
            "there is no metric `nobody`",
        ),
        (
            &[
                "compare",
                "sim",
                "live",
                "tiny.yaml",
                "--margin",
                "success_ratio=x",
            ],
            "is no margin",
        ),
        (&["compare", "sim"], "live"),
        (&["compare", "sim", "other"], "other"),
    ] {
        assert!(told(&folder, arguments).contains(says), "{arguments:?}");
    }
}
