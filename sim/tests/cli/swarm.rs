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
