//! `routelab swarm`.

use super::*;

#[test]
fn a_swarm_tells_what_it_ran_and_the_same_seed_gives_the_same_bytes() {
    let folder = Folder::new("swarm");
    let swarm =
        |jobs: &str| folder.routelab(&["swarm", "--seed", "5", "--runs", "25", "--jobs", jobs]);

    let left = swarm("1");

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let begins = "No invariant is broken in 25 runs of seed 5: ";
    assert!(left.stdout.starts_with(begins), "{}", left.stdout);
    assert_eq!(left.stdout, swarm("2").stdout);
    assert!(!folder.path("swarm-broken.yaml").exists());
}

#[test]
fn a_scenario_of_ones_own_is_checked_in_all_of_its_arms() {
    let folder = Folder::new("swarm-own").with("tiny.yaml", TINY);

    let left = folder.routelab(&["swarm", "tiny.yaml"]);

    assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""));
    assert!(
        left.stdout
            .starts_with("No invariant is broken in 4 runs: "),
        "{}",
        left.stdout
    );
}

#[test]
fn what_cannot_be_checked_is_refused() {
    let folder = Folder::new("swarm-refused").with("broken.yaml", "purpose: [");

    for (arguments, expected) in [
        (&["swarm", "absent.yaml"][..], "absent.yaml"),
        (&["swarm", "broken.yaml"], "not YAML"),
        (&["swarm", "baselin"], "baseline"),
        (&["swarm", "--runs=-1"], "--runs"),
        (&["swarm", "--seed", "x"], "--seed"),
        (&["swarm", "baseline", "--runs", "3"], "--runs"),
    ] {
        let said = told(&folder, arguments);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn a_scenario_that_breaks_an_invariant_is_told_with_its_number_and_ends_with_1() {
    // Each attempt hangs until a limit of 32 years: the clock of a run ends before the retries do.
    let text = TINY
        .replace("{cooldown_time: 5}", "{timeout: 1000000000}")
        .replace(
            "ms: 200}}}}\n  bad",
            "ms: 200}}}, faults: [{hang: {}}]}\n  bad",
        )
        .replace("error_rate: {share: 0.1, status: 500}", "hang: {}")
        .replace("num_retries: [0, 2]", "num_retries: [30]");
    let folder = Folder::new("swarm-never").with("never.yaml", &text);

    let left = folder.routelab(&["swarm", "never.yaml"]);

    assert_eq!(left.code, Some(1), "{} {}", left.stdout, left.stderr);
    let begins = "Arm 0 breaks invariant 1 at ";
    assert!(left.stdout.starts_with(begins), "{}", left.stdout);
}
