//! The swarm: random scenarios under every checker, and what it found before.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic, and tells what it found"
)]

mod doctored;
mod document;
mod found;
mod properties;
mod survey;

use std::num::NonZeroUsize;

use router::Seed;
use scenarios::{LoadOptions, RunPlan, Scenario, Source};
use sim::swarm::{Draws, plan_of, scenario, swarm, text};

#[test]
fn every_random_scenario_loads() {
    for run in 0..300 {
        let tree = scenario(&mut Draws::of_run(Seed(1), run));
        if let Err(error) = plan_of(&tree) {
            panic!("run {run}: {error}\n{}", text(&tree));
        }
    }
}

#[test]
fn no_invariant_is_broken_and_threads_change_nothing() {
    let of = |threads| swarm(Seed(7), 0..40, NonZeroUsize::new(threads).unwrap(), &());

    let one = of(1);

    assert_eq!(one.broken, None);
    assert!(
        one.requests > 1_000,
        "{} requests are too few",
        one.requests
    );
    assert_eq!(one, of(3));
}

/// The plan of a scenario that is written out.
fn plan(text: &str) -> RunPlan {
    let source = Source::Text {
        name: "test".to_owned(),
        text: text.to_owned(),
    };
    let scenario = Scenario::load(&source, &LoadOptions::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    scenario.plan(scenario.reference(), 0)
}
