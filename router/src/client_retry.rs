//! Retries that the provider's client library makes by itself, inside one attempt of the router's.
//!
//! The router sees only how the last of them ended: nothing between is charged to the deployment,
//! and the slot stays taken. LiteLLM turns these retries off for chat, but 1.92 hands a deployment's
//! `num_retries` and a request's `max_retries` on (quirk Q1), and embeddings keep the library's two
//! or the request's `max_retries`. `default_litellm_params` stands in for the request.

use std::time::Duration;

use crate::{
    outcome::{Failure, Reached},
    request::{Api, DeploymentId},
    rng::{KeyedRng, Purpose},
    router::Router,
    step::Ticket,
    time::{Instant, nanos_from_secs},
};

const JITTER: Purpose = Purpose::named("router.client_jitter");

/// Where the client library is with the attempt under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClientTries {
    /// When the attempt began, with its first call.
    pub(crate) began: Instant,
    /// Calls made again.
    pub(crate) retries: u32,
    /// Whom it will call again once the wait under way is over.
    pub(crate) waits_at: Option<DeploymentId>,
}

impl ClientTries {
    pub(crate) const fn new(now: Instant) -> Self {
        Self {
            began: now,
            retries: 0,
            waits_at: None,
        }
    }
}

impl Router {
    /// When the client library calls again after this failure, if it does.
    pub(crate) fn client_retry(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        failure: &Failure,
    ) -> Option<Instant> {
        let state = self.requests.get(ticket);
        let defaults = &self.config.settings.default_litellm_params;
        let overrides = state.request.overrides.as_deref();
        let max_retries = overrides
            .and_then(|o| o.max_retries)
            .or(defaults.max_retries);
        let profile = &self.config.profile;
        let allowed = if profile.corrections.one_owner_of_retries {
            0
        } else if state.request.api() == Api::Embedding {
            // A zero is none given. (observed)
            max_retries.filter(|&n| n > 0).unwrap_or(LIBRARYS_RETRIES)
        } else if profile.client_retries_too {
            let deployments = self.config.deployments[deployment.index()].num_retries;
            let handed_on = defaults.num_retries.or(deployments).or(max_retries);
            handed_on.unwrap_or(0)
        } else {
            0
        };
        let over = state.client.retries >= allowed || state.caller_left.is_some();
        if over || !is_tried_again(failure) {
            return None;
        }
        let id = state.request.id;
        let jitter = KeyedRng::new(self.seed, JITTER, id.0, state.next_draw()).unit();
        let wait = pause(now, failure, state.client.retries, jitter);
        state.client.retries += 1;
        state.client.waits_at = Some(deployment);
        state.in_failed_attempts += now.since(state.since);
        Some(now + wait)
    }
}

/// Timeouts, refused connections, 408, 409, 429 and 5xx, unless the answer had begun.
const fn is_tried_again(failure: &Failure) -> bool {
    matches!(failure.reached(), Reached::Nothing)
        && matches!(failure.status, Some(408 | 409 | 429 | 500..))
}

/// Half a second, doubling to eight, less up to a quarter of it; or what `retry-after` says, up to
/// a minute. (observed in `ladder-embedding-429` and `num-retries-*`; the library's documentation)
fn pause(now: Instant, failure: &Failure, retries: u32, jitter: f64) -> Duration {
    let hint = failure.retry_after.and_then(|hint| hint.whole_seconds(now));
    if let Some(seconds @ 1..=60) = hint {
        return Duration::from_secs(seconds.unsigned_abs());
    }
    let doubled = INITIAL_DELAY_S * f64::from(1_u32 << retries.min(4));
    Duration::from_nanos(nanos_from_secs(doubled * (1.0 - JITTER_SHARE * jitter)))
}

/// The library's own number of retries.
const LIBRARYS_RETRIES: u32 = 2;
const INITIAL_DELAY_S: f64 = 0.5;
const JITTER_SHARE: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::RetryAfter;

    #[test]
    fn pauses_double_from_half_a_second_to_eight_and_lose_up_to_a_quarter() {
        let failure = Failure::with_status(500);
        let seconds = |n, jitter| pause(Instant::ZERO, &failure, n, jitter).as_secs_f64();

        let full: Vec<f64> = (0..6).map(|n| seconds(n, 0.0)).collect();
        assert_eq!(full, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]);
        assert!((seconds(1, 1.0) - 0.75).abs() < 1e-9);
    }

    #[test]
    fn a_retry_after_of_up_to_a_minute_sets_the_pause() {
        let after = |seconds| {
            let hint = RetryAfter::Seconds(seconds);
            let failure = Failure::with_status(429).retry_after(hint);
            pause(Instant::ZERO, &failure, 0, 0.0).as_secs_f64()
        };

        assert!((after(60) - 60.0).abs() < 1e-9);
        assert!((after(61) - 0.5).abs() < 1e-9);
        assert!((after(0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn what_the_next_call_would_meet_again_is_not_tried_again() {
        for status in [400, 401, 403, 404, 422] {
            assert!(!is_tried_again(&Failure::with_status(status)), "{status}");
        }
        for status in [408, 409, 429, 500, 503] {
            assert!(is_tried_again(&Failure::with_status(status)), "{status}");
        }
    }
}
