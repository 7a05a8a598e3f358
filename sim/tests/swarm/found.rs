//! Scenarios that broke an invariant once, as the swarm cut them down. They hold now.

use std::{fs, path::Path};

use scenarios::{LoadOptions, Scenario, Source};
use sim::invariants::check_plan;

#[test]
fn what_the_swarm_found_before_holds_now() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/swarm/found");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let scenario = Scenario::load(&Source::File(path.clone()), &LoadOptions::default());
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));

        let checked = check_plan(&scenario.plan(scenario.reference(), 0));

        assert_eq!(checked.violations, [], "{}", path.display());
        assert!(checked.requests > 0, "{}", path.display());
        count += 1;
    }
    assert!(count >= 3, "{count} files");
}
