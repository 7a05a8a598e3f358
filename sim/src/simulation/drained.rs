//! The end of a run: nobody may be left, and nothing be held.

use router::{DeploymentId, Instant, Router};

use super::Simulation;
use crate::SimError;

impl Simulation {
    /// Nothing happens any more: every request must have been answered.
    pub(super) fn check_drained(&self, now: Instant) -> Result<(), SimError> {
        if self.vacant.len() == self.unfinished.len() {
            debug_assert!(
                self.fleet.all().all(holds_nothing),
                "invariant 4: the run is drained, and a router holds something"
            );
            return Ok(());
        }
        let request = *self
            .parked
            .keys()
            .next()
            .expect("whoever else waits has an event to come");
        Err(SimError::NeverEnds {
            request,
            at: now,
            awaited: "a slot that nobody frees",
        })
    }
}

/// No request, no attempt in flight and no slot.
fn holds_nothing(router: &Router) -> bool {
    let deployments = (0..)
        .map(DeploymentId)
        .take(router.config().deployments.len());
    let mut deployments = deployments.into_iter();
    router.unfinished() == 0
        && deployments.all(|d| router.in_flight(d) == 0 && router.slots_taken(d) == 0)
}
