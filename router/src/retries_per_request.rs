//! `num_retries_per_request`: once so many failures are remembered, nobody is called any more.
//! (semantics 5.6; observed)
//!
//! A failure is remembered when its request sleeps before a retry, and once more when a fallback
//! follows. 1.110 remembers those of the request alone; 1.92 keeps the last four of all requests, so
//! that a request pays for the failures of others, though never with its first call. The refusal is
//! retried and falls back like a connection error, and counts as a failure of whoever was picked.

use crate::{
    cooldown::COUNT_TTL,
    observe::{Event, Observer},
    request::DeploymentId,
    route_error::RouteError,
    router::Router,
    step::Ticket,
    time::Instant,
};

impl Router {
    /// Another try follows a failure of this request, or it was one of its hop's retries.
    pub(crate) fn remember_failure(&mut self, ticket: Ticket) {
        let state = self.requests.get(ticket);
        state.failures = state.failures.saturating_add(1);
        self.failures_remembered = (self.failures_remembered + 1).min(KEPT);
    }

    /// Refuses a call once as many failures as the limit are remembered.
    pub(crate) fn check_failures(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        limit: u32,
        obs: &mut impl Observer,
    ) -> Result<(), RouteError> {
        let profile = &self.config.profile;
        let state = self.requests.peek(ticket);
        let remembered = match profile.failures_of_all_requests {
            true => self.failures_remembered,
            false => state.failures,
        };
        if state.failures == 0 || remembered < limit {
            return Ok(());
        }
        let (request, blocking) = (state.request.id, state.request.is_blocking());
        if !profile.corrections.own_refusals_are_no_failures {
            let counts = &mut self.states[deployment.index()];
            counts.fails.increment(now, COUNT_TTL);
        }
        obs.observe(
            now,
            &Event::FailuresSpent {
                request,
                deployment,
                limit,
            },
        );
        Err(RouteError::FailuresSpent {
            deployment,
            blocking,
        })
    }
}

/// How many failures of all requests 1.92 keeps. (observed: a limit of 5 never refuses)
const KEPT: u32 = 4;
