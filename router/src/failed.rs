//! An attempt that failed: whom it is charged to, who hears of it, and what follows.

use std::time::Duration;

use crate::{
    observe::Observer,
    outcome::{Failure, Outcome, Reached},
    request::{DeploymentId, RequestId},
    route_error::RouteError,
    router::Router,
    step::{Ticket, Turn},
    time::Instant,
};

/// An attempt that failed.
pub(crate) struct Failed<'a> {
    pub(crate) deployment: DeploymentId,
    pub(crate) failure: &'a Failure,
    pub(crate) took: Duration,
    /// A parked request that its slot was given to.
    pub(crate) released: Option<RequestId>,
}

impl Router {
    /// Does what an attempt's failure calls for.
    #[inline(never)]
    pub(crate) fn failed(
        &mut self,
        now: Instant,
        ticket: Ticket,
        failed: &Failed<'_>,
        obs: &mut impl Observer,
    ) -> Turn {
        let &Failed {
            deployment,
            failure,
            took,
            released,
        } = failed;
        self.charge(now, ticket, deployment, Some(failure), obs);
        self.probe_failed(now, ticket);
        let outcome = &Outcome::Failure(*failure);
        let broke = self.config.profile.broken_streams_end_elsewhere
            && failure.reached() != Reached::Nothing;
        if !broke {
            self.tell_strategies(now, ticket, deployment, outcome);
        }
        self.requests.get(ticket).in_failed_attempts += took;
        let error = RouteError::Attempt {
            deployment,
            failure: *failure,
        };
        let next = self.after_failure(now, ticket, error, obs);
        if broke {
            self.tell_strategies(now, ticket, deployment, outcome);
        }
        self.go_on_beside(now, ticket, next, released, obs)
    }
}
