//! Scenarios made of choices that proptest makes and shrinks, under the checkers of the swarm. What is
//! found is cut down to a file, and the command is told that meets it again.

use std::{fs, path::Path};

use proptest::{collection::vec, prelude::*};
use sim::swarm::{Draws, check_tree, scenario, shrink, text};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_choices_make_a_scenario_that_breaks_an_invariant(choices in vec(any::<u32>(), 0..700)) {
        let tree = scenario(&mut Draws::of_list(choices));
        let violation = check_tree(&tree).violations.into_iter().next();

        if let Some(violation) = violation {
            let small = shrink(&tree, violation.invariant, 300, &());
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("property-broken.yaml");
            fs::write(&file, text(&small)).unwrap();
            prop_assert!(false, "{violation}\n  routelab swarm {}", file.display());
        }
    }
}

#[test]
fn the_shortest_list_of_choices_makes_the_simplest_scenario() {
    let tree = scenario(&mut Draws::of_list(Vec::new()));

    assert_eq!(
        tree["litellm"]["model_list"].as_array().map(Vec::len),
        Some(1)
    );
    assert!(tree["providers"]["d0"].get("faults").is_none());
    assert_eq!(check_tree(&tree).violations, []);
}
