//! Limits on requests and tokens a minute as the profile `corrected` keeps them. (BR-036, BR-037,
//! BR-039, BR-040)
//!
//! Whoever chooses and whoever enforces look at the same numbers: a request fits while what is used
//! and the request itself do not exceed a limit. It is reserved when it is admitted, with the tokens
//! that it is estimated at (its prompt and its `max_tokens`); in the end the true tokens take their
//! place, and all is given back if nothing was sent. So a burst cannot slip through, and what
//! overshoots is the difference between true and estimated tokens.

use std::time::Duration;

use crate::{
    blame::Cause,
    config::DeploymentConfig,
    observe::{Event, Observer},
    outcome::Outcome,
    request::{DeploymentId, Request},
    route_error::{RateLimitedBy, RouteError},
    router::Router,
    step::Ticket,
    time::{Epoch, Instant, whole_seconds_up},
    usage_window::{Count, UsageWindow},
};

/// What all deployments used.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    epoch: Epoch,
    /// By deployment.
    pub(crate) used: Vec<Used>,
}

/// What a deployment used, reservations included.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub(crate) requests: Count,
    pub(crate) tokens: Count,
}

/// What a request took when it was admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reservation {
    deployment: DeploymentId,
    at: Instant,
    tokens: u64,
}

impl Admission {
    pub(crate) fn new(epoch: Epoch, window: UsageWindow, deployments: usize) -> Self {
        let used = Used {
            requests: window.count(true),
            tokens: window.count(false),
        };
        Self {
            epoch,
            used: vec![used; deployments],
        }
    }

    /// Tokens used, as the choice compares them.
    pub(crate) fn tokens(&self, now: Instant, deployment: DeploymentId) -> u64 {
        let tokens = &self.used[deployment.index()].tokens;
        tokens.sum(tokens.part(self.epoch, now))
    }

    /// Requests used.
    pub(crate) fn requests(&self, now: Instant, deployment: DeploymentId) -> u64 {
        let requests = &self.used[deployment.index()].requests;
        requests.sum(requests.part(self.epoch, now))
    }

    /// Whether a request fits into a deployment's limits now.
    pub(crate) fn fits(
        &self,
        now: Instant,
        deployment: DeploymentId,
        config: &DeploymentConfig,
        request: &Request,
    ) -> bool {
        self.frees_at(now, deployment, config, request) <= now
    }

    /// From when on a request fits, if nothing else comes.
    pub(crate) fn frees_at(
        &self,
        now: Instant,
        deployment: DeploymentId,
        config: &DeploymentConfig,
        request: &Request,
    ) -> Instant {
        let used = &self.used[deployment.index()];
        let frees = |count: &Count, amount, limit: Option<u64>| {
            let Some(limit) = limit else { return now };
            let part = count.part(self.epoch, now);
            match count.frees_in(part, amount, count.share(limit)) {
                free if free == part => now,
                free => count.begins(self.epoch, free),
            }
        };
        let requests = frees(&used.requests, 1, config.rpm_limit());
        let tokens = frees(&used.tokens, estimate(request), config.tpm_limit());
        requests.max(tokens)
    }

    fn reserve(
        &mut self,
        now: Instant,
        deployment: DeploymentId,
        request: &Request,
    ) -> Reservation {
        let tokens = estimate(request);
        let used = &mut self.used[deployment.index()];
        used.requests.add(used.requests.part(self.epoch, now), 1);
        used.tokens.add(used.tokens.part(self.epoch, now), tokens);
        Reservation {
            deployment,
            at: now,
            tokens,
        }
    }

    /// Puts the true tokens in the place of a reservation; `None`: nothing was sent.
    fn settle(&mut self, reserved: Reservation, tokens: Option<u64>) {
        let Reservation {
            deployment,
            at,
            tokens: estimated,
        } = reserved;
        let used = &mut self.used[deployment.index()];
        let part = used.tokens.part(self.epoch, at);
        used.tokens.correct(part, estimated, tokens.unwrap_or(0));
        if tokens.is_none() {
            let part = used.requests.part(self.epoch, at);
            used.requests.correct(part, 1, 0);
        }
    }
}

/// Tokens that a request is estimated at before it is answered.
fn estimate(request: &Request) -> u64 {
    u64::from(request.prompt_tokens) + u64::from(request.max_tokens.unwrap_or(0))
}

/// What a deployment used in the window under way, by the router's own count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WindowUsage {
    /// Requests, of which those that were reserved are a part where the profile reserves.
    pub requests: u64,
    /// Tokens; so are these.
    pub tokens: u64,
}

impl Router {
    /// What a deployment used by the count that limits go by; nothing is counted while nobody goes
    /// by it. What is above a limit overshot it.
    #[must_use]
    pub fn window_usage(&self, now: Instant, deployment: DeploymentId) -> WindowUsage {
        if let Some(admission) = &self.rate_limits.admission {
            return WindowUsage {
                requests: admission.requests(now, deployment),
                tokens: admission.tokens(now, deployment),
            };
        }
        let counted = self.rate_limits.this_minute(now, deployment);
        WindowUsage {
            requests: counted.requests.unwrap_or(0),
            tokens: counted.tokens.unwrap_or(0),
        }
    }

    /// Reserves what an attempt that is about to be sent will use, if it fits.
    pub(crate) fn admit(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> Result<(), RouteError> {
        let Some(admission) = self.rate_limits.admission.as_mut() else {
            return Ok(());
        };
        let config = &self.config.deployments[deployment.index()];
        let state = self.requests.get(ticket);
        let frees = admission.frees_at(now, deployment, config, &state.request);
        if frees <= now {
            state.rare.reserved = Some(admission.reserve(now, deployment, &state.request));
            return Ok(());
        }
        let by = match self.rate_limits.enforces() {
            true => RateLimitedBy::ModelRateLimits,
            false => RateLimitedBy::UsageReservation,
        };
        obs.observe(
            now,
            &Event::LimitRefused {
                request: state.request.id,
                deployment: Some(deployment),
                by,
            },
        );
        Err(RouteError::RateLimited {
            deployment: Some(deployment),
            by,
            retry_after: whole_seconds(frees.since(now)),
        })
    }

    /// The attempt that was reserved for is over; `None`: it was never sent, or its caller left.
    pub(crate) fn settle(&mut self, ticket: Ticket, outcome: Option<&Outcome>) {
        let Some(admission) = self.rate_limits.admission.as_mut() else {
            return;
        };
        let state = self.requests.get(ticket);
        let Some(reserved) = state.rare.reserved.take() else {
            return;
        };
        let tokens = match outcome {
            Some(Outcome::Success { usage, .. }) => Some(usage.total()),
            Some(Outcome::Failure(failure)) if failure.cause == Cause::Request => None,
            Some(Outcome::Failure(failure)) if failure.is_mid_stream() => {
                let delivered = u64::from(failure.tokens_delivered);
                Some(u64::from(state.request.prompt_tokens) + delivered)
            }
            Some(Outcome::Failure(_)) => Some(0),
            None => None,
        };
        admission.settle(reserved, tokens);
    }

    /// In how many seconds a request fits into some deployment of its hop's group.
    pub(crate) fn fits_in(&self, now: Instant, ticket: Ticket) -> Option<u32> {
        let admission = self.rate_limits.admission.as_ref()?;
        let state = self.requests.peek(ticket);
        let members = &self.registry.target(state.hop.group).members;
        let frees = members.iter().map(|&d| {
            let config = &self.config.deployments[d.index()];
            admission.frees_at(now, d, config, &state.request)
        });
        frees.min().map(|at| whole_seconds(at.since(now)))
    }
}

fn whole_seconds(span: Duration) -> u32 {
    u32::try_from(whole_seconds_up(span).as_secs()).unwrap_or(u32::MAX)
}
