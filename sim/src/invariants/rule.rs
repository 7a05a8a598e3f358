//! What a rule is told, and what it says.

use std::{collections::BTreeMap, fmt};

use router::{Decision, Event, Input, Instant, RequestId, Router};
use scenarios::RunPlan;

/// Something that must not happen, and did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The number of the invariant in `router/INVARIANTS.md`.
    pub invariant: u8,
    /// When.
    pub at: Instant,
    /// Whose request it was about, if it was about one.
    pub request: Option<RequestId>,
    /// What was found, and what should have been.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {} at {}", self.invariant, self.at)?;
        if let Some(request) = self.request {
            write!(f, ", request {request}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// The moment that a rule is asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now<'a> {
    pub(super) plan: &'a RunPlan,
    pub(super) at: Instant,
    /// The instance of the router that is at work.
    pub(super) instance: usize,
}

impl Now<'_> {
    /// Whether instances learn of each other, so that one alone does not tell all.
    pub(super) fn shares(&self) -> bool {
        self.plan.instances.count > 1 && self.plan.instances.shared_state
    }
}

/// What was found so far: the first few of each invariant, for one fault mostly shows many times.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    violations: Vec<Violation>,
    counts: BTreeMap<u8, u32>,
}

impl Found {
    pub(super) fn add(
        &mut self,
        invariant: u8,
        now: &Now<'_>,
        request: impl Into<Option<RequestId>>,
        what: impl fmt::Display,
    ) {
        let count = self.counts.entry(invariant).or_default();
        *count += 1;
        if *count <= KEPT {
            self.violations.push(Violation {
                invariant,
                at: now.at,
                request: request.into(),
                what: what.to_string(),
            });
        }
    }

    pub(super) fn into_violations(self) -> Vec<Violation> {
        self.violations
    }
}

/// One or more invariants, checked on the way.
pub(super) trait Rule {
    /// A router is about to be given an input.
    fn input(&mut self, _now: &Now<'_>, _router: &Router, _input: &Input<'_>, _found: &mut Found) {}

    /// Something happened.
    fn event(&mut self, _now: &Now<'_>, _event: &Event<'_>, _found: &mut Found) {}

    /// What the router decided on the input.
    fn decided(
        &mut self,
        _now: &Now<'_>,
        _router: &Router,
        _decision: &Decision<'_>,
        _found: &mut Found,
    ) {
    }

    /// The run is over, drained.
    fn end(&mut self, _now: &Now<'_>, _found: &mut Found) {}
}

/// Violations of an invariant that are kept.
const KEPT: u32 = 3;
