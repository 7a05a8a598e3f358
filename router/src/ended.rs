//! An attempt that ended: who hears of it, whom a failure is charged to, and what follows.

use std::time::Duration;

use crate::{
    cooldown::COUNT_TTL,
    observe::Observer,
    outcome::{Failure, Outcome, Reached, Usage},
    request::{DeploymentId, RequestId},
    route_error::RouteError,
    router::Router,
    step::{Answer, Step, Ticket, Turn},
    time::Instant,
};

/// An attempt that ended.
pub(crate) struct Ended<'a> {
    pub(crate) deployment: DeploymentId,
    /// As the client library sees it.
    pub(crate) outcome: &'a Outcome,
    pub(crate) took: Duration,
    /// A stream of it ended before its first frame.
    pub(crate) heard_nothing: bool,
    /// A parked request that its slot was given to.
    pub(crate) released: Option<RequestId>,
}

impl Router {
    /// Does what an answer calls for, and gives it.
    pub(crate) fn completed(
        &mut self,
        now: Instant,
        ticket: Ticket,
        ended: &Ended<'_>,
        usage: Usage,
        first_token_after: Option<Duration>,
        obs: &mut impl Observer,
    ) -> Turn {
        let &Ended {
            deployment,
            outcome,
            ..
        } = ended;
        // A stream that was cut before its first frame is answered and not counted by anybody, in 1.92.
        // (`stream-cut-0-is-a-success`, `least-busy-cut-stream`)
        if !ended.heard_nothing {
            let successes = &mut self.states[deployment.index()].successes;
            successes.increment(now, COUNT_TTL);
            self.tell_strategies(now, ticket, deployment, outcome);
            if self.rate_limits.counts_anything() {
                self.rate_limits.answered(now, deployment, usage);
            }
            if self.filters.is_some() {
                self.filters_learn_answer(now, ticket, deployment, usage);
            }
        }
        if self.response_cache.is_some() {
            self.store_in_cache(now, ticket, usage);
        }
        if self.requests.peek(ticket).rare.peek().is_some() {
            self.probe_succeeded(now, ticket, obs);
        }
        let state = self.requests.peek(ticket);
        let first_token = first_token_after.map_or(now, |after| state.since + after);
        // It is made where it stays, and told of from there: a copy costs more than all of this.
        let turn = Turn {
            step: Step::Done(Answer::Completed {
                deployment,
                usage,
                cached: false,
                trail: state.trail(Some(first_token)),
            }),
            released: ended.released,
        };
        self.finish(now, ticket, &turn, obs);
        turn
    }

    /// Does what an attempt's failure calls for.
    #[inline(never)]
    pub(crate) fn failed(
        &mut self,
        now: Instant,
        ticket: Ticket,
        ended: &Ended<'_>,
        failure: &Failure,
        obs: &mut impl Observer,
    ) -> Turn {
        let &Ended {
            deployment,
            outcome,
            ..
        } = ended;
        self.charge(now, ticket, deployment, Some(failure), obs);
        self.probe_failed(now, ticket);
        let broke = self.config.profile.broken_streams_end_elsewhere
            && failure.reached() != Reached::Nothing;
        if !broke {
            self.tell_strategies(now, ticket, deployment, outcome);
        }
        self.requests.get(ticket).in_failed_attempts += ended.took;
        let error = RouteError::Attempt {
            deployment,
            failure: *failure,
        };
        let next = self.after_failure(now, ticket, error, obs);
        if broke {
            self.tell_strategies(now, ticket, deployment, outcome);
        }
        self.go_on_beside(now, ticket, next, ended.released, obs)
    }
}
