//! Hears a run, and has every rule look at it.

use std::fmt;

use router::{Decision, Event, Input, Instant, Observer, Router};
use scenarios::RunPlan;

use super::{
    attempts::Attempts,
    blame::Blame,
    cooldowns::Cooldowns,
    flight::Flight,
    limits::Limits,
    once::{Clock, Once},
    preferences::Preferences,
    rule::{Found, Now, Rule, Violation},
    trail::Trails,
    upstream::Upstream,
    waits::Waits,
};
use crate::SimError;

/// Checks a run while it goes on.
pub struct Checker<'a> {
    plan: &'a RunPlan,
    rules: Vec<Box<dyn Rule>>,
    at: Instant,
    instance: usize,
    found: Found,
}

impl<'a> Checker<'a> {
    /// Will hear the run of `plan`.
    ///
    /// # Errors
    ///
    /// If a provider of the plan cannot be built.
    pub fn new(plan: &'a RunPlan) -> Result<Self, SimError> {
        let rules: Vec<Box<dyn Rule>> = vec![
            Box::new(Once::default()),
            Box::new(Clock::default()),
            Box::new(Trails::default()),
            Box::new(Flight::new(plan)),
            Box::new(Cooldowns::new(plan)),
            Box::new(Attempts::new(plan)),
            Box::new(Waits::default()),
            Box::new(Blame::new(plan)),
            Box::new(Preferences::new(plan)),
            Box::new(Limits::default()),
            Box::new(Upstream::new(plan)?),
        ];
        Ok(Self {
            plan,
            rules,
            at: Instant::ZERO,
            instance: 0,
            found: Found::default(),
        })
    }

    /// What was found, once the run is over and drained.
    #[must_use]
    pub fn finish(mut self) -> Vec<Violation> {
        let now = self.now();
        for rule in &mut self.rules {
            rule.end(&now, &mut self.found);
        }
        self.found.into_violations()
    }

    const fn now(&self) -> Now<'a> {
        Now {
            plan: self.plan,
            at: self.at,
            instance: self.instance,
        }
    }
}

impl Observer for Checker<'_> {
    const INPUTS: bool = true;

    fn input(&mut self, at: Instant, router: &Router, input: &Input<'_>) {
        self.at = at;
        self.instance = usize::try_from(router.instance()).unwrap_or(usize::MAX);
        let now = self.now();
        for rule in &mut self.rules {
            rule.input(&now, router, input, &mut self.found);
        }
    }

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        self.at = at;
        let now = self.now();
        for rule in &mut self.rules {
            rule.event(&now, event, &mut self.found);
        }
    }

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        let now = self.now();
        for rule in &mut self.rules {
            rule.decided(&now, router, decision, &mut self.found);
        }
    }
}

impl fmt::Debug for Checker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker")
            .field("at", &self.at)
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}
