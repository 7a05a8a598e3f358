//! The pause before a retry. LiteLLM's rule is [`retry::backoff`]; `corrected` waits exactly as the
//! provider asks, up to a ceiling and within the request's time, and does not wait for nothing.
//! (semantics 5.4; BR-021, BR-026)

use std::time::Duration;

use crate::{
    request::DeploymentId,
    retry::{self, GroupHealth},
    rng::{KeyedRng, Purpose},
    route_error::RouteError,
    router::Router,
    step::{Ticket, WaitReason},
    time::Instant,
};

/// What is between a failure and the next attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pause {
    /// Nothing.
    No,
    /// A wait.
    Of(Duration, WaitReason),
    /// There is no use in another attempt here.
    Hopeless,
}

const JITTER: Purpose = Purpose::named("router.jitter");

impl Router {
    /// The pause after `retries` retries, of which `last` says that no more follow.
    pub(crate) fn pause(
        &mut self,
        now: Instant,
        ticket: Ticket,
        error: &RouteError,
        health: GroupHealth,
        retries: u32,
        last: bool,
    ) -> Pause {
        if self.config.profile.corrections.hints_are_obeyed {
            if last {
                return Pause::Hopeless;
            }
            if let Some(pause) = self.hinted_pause(now, ticket, error, health) {
                return pause;
            }
        }
        let least = self.config.settings.retry_after;
        let state = self.requests.get(ticket);
        let id = state.request.id;
        let jitter = KeyedRng::new(self.seed, JITTER, id.0, state.next_draw()).unit();
        match retry::backoff(now, error, health, retries, least, jitter) {
            None => Pause::No,
            Some((wait, why)) => Pause::Of(wait, why),
        }
    }

    /// What the provider asked for, where there is nobody else to go to.
    fn hinted_pause(
        &self,
        now: Instant,
        ticket: Ticket,
        error: &RouteError,
        health: GroupHealth,
    ) -> Option<Pause> {
        let hint = match self.wait_for_quota(now, ticket, error, health) {
            Some(wait) => wait,
            None if health.all != 1 && health.healthy > 0 => return None,
            None => error.any_hint(now)?,
        };
        let waited = now.since(self.requests.peek(ticket).arrived);
        let failed = self.requests.peek(ticket).hop.failed;
        let in_time = waited.saturating_add(hint) <= self.time_limit(ticket, failed);
        Some(match hint {
            Duration::ZERO => Pause::No,
            _ if hint > LONGEST_HINT || !in_time => Pause::Hopeless,
            _ => Pause::Of(hint, WaitReason::RetryAfter),
        })
    }

    /// The time that the request has: its own limit on an attempt, else its deployment's.
    fn time_limit(&self, ticket: Ticket, deployment: Option<DeploymentId>) -> Duration {
        let overrides = self.requests.peek(ticket).request.overrides.as_ref();
        let own = overrides.and_then(|o| o.timeout).filter(|t| !t.is_zero());
        let operators = deployment.map(|d| self.fixed[d.index()].whole);
        own.or(operators).unwrap_or(Duration::MAX)
    }
}

impl RouteError {
    /// The wait time that the error tells, in whatever form.
    fn any_hint(&self, now: Instant) -> Option<Duration> {
        if let Self::Attempt { failure, .. } = self {
            return failure.any_hint(now);
        }
        if let Self::RateLimited { retry_after, .. } = self {
            return Some(Duration::from_secs(u64::from(*retry_after)));
        }
        None
    }
}

/// Up to this a hint is waited for; LiteLLM's own bound. (semantics 5.4)
const LONGEST_HINT: Duration = Duration::from_secs(60);
