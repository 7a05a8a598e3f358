//! For whoever changes a rule: the first violations of each invariant over many runs, made small.
//! `SWARM_SEED`, `SWARM_FROM` and `SWARM_RUNS` choose the runs.

use std::collections::BTreeMap;

use router::Seed;
use sim::swarm::{Draws, check_tree, scenario, shrink, text};

#[test]
#[ignore = "tells what it finds, and judges nothing"]
fn survey() {
    let of = |name: &str, or: u64| {
        let given = std::env::var(name).ok();
        given.and_then(|text| text.parse().ok()).unwrap_or(or)
    };
    let (seed, from) = (Seed(of("SWARM_SEED", 7)), of("SWARM_FROM", 0));
    let mut seen = BTreeMap::<u8, u32>::new();
    for run in from..from + of("SWARM_RUNS", 100) {
        let tree = scenario(&mut Draws::of_run(seed, run));
        for violation in check_tree(&tree).violations {
            let count = seen.entry(violation.invariant).or_default();
            *count += 1;
            if *count <= 2 {
                let small = shrink(&tree, violation.invariant, 400, &());
                let after = check_tree(&small).violations;
                eprintln!(
                    "run {run}: {violation}\n{}{:?}\n",
                    text(&small),
                    after.first()
                );
            }
        }
    }
    eprintln!("violations by invariant: {seen:?}");
}
