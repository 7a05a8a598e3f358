//! A scenario of the swarm under every rule: its run, and its twins.

use router::Instant;
use serde_json::Value;

use super::{generate::PURPOSE, shrink::plan_of, twins::twins};
use crate::invariants::{Checked, Violation, check_plan};

/// A scenario of the swarm under every rule. One that does not load is the generator's fault, and told
/// as such.
#[must_use]
pub fn check_tree(tree: &Value) -> Checked {
    let mut checked = match plan_of(tree) {
        Ok(plan) => check_plan(&plan),
        Err(error) => Checked {
            violations: vec![Violation {
                invariant: 0,
                at: Instant::ZERO,
                request: None,
                what: format!("the scenario is refused: {error}"),
            }],
            ..Checked::default()
        },
    };
    if checked.violations.is_empty() {
        checked.violations = twins(tree);
    }
    checked
}

/// Whether the swarm made it: twins are known of such scenarios only.
#[must_use]
pub fn is_own(tree: &Value) -> bool {
    tree["purpose"] == PURPOSE
}
