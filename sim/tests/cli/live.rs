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
