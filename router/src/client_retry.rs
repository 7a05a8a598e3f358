//! Retries that the provider's client library makes by itself, inside one attempt of the router's.
//!
//! The router sees only how the last of them ended: nothing between is charged to the deployment,
//! and the slot stays taken. LiteLLM turns these retries off for chat, but 1.92 hands a deployment's
//! `num_retries` and a request's `max_retries` on (quirk Q1), and embeddings keep the library's two
//! or the request's `max_retries`. `default_litellm_params` stands in for the request.

use std::time::Duration;

use crate::{
    outcome::{Failure, Reached, RetryAfter},
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
        let over = state.client.retries >= allowed || state.caller_left().is_some();
        let hint = hint(now, failure);
        if over || !is_tried_again(failure) || hint.is_some_and(|hint| hint > LONGEST_HINT) {
            return None;
        }
        let id = state.request.id;
        let jitter = KeyedRng::new(self.seed, JITTER, id.0, state.next_draw()).unit();
        let wait = hint.unwrap_or_else(|| pause(state.client.retries, jitter));
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

/// What `retry-after` or `retry-after-ms` asks for; zero and less are no hint. Up to two minutes it is
/// obeyed; for longer the library does not wait, nor try again. (observed in `retry-after-client-*`)
fn hint(now: Instant, failure: &Failure) -> Option<Duration> {
    let hint = failure.retry_after?;
    if let RetryAfter::Millis(millis) = hint {
        return Some(Duration::from_millis(millis)).filter(|hint| !hint.is_zero());
    }
    let seconds = hint.whole_seconds(now).filter(|&seconds| seconds > 0)?;
    Some(Duration::from_secs(seconds.unsigned_abs()))
}

/// Half a second, doubling to eight, less up to a quarter of it. (observed in `ladder-embedding-429` and
/// `num-retries-*`; the library's documentation)
fn pause(retries: u32, jitter: f64) -> Duration {
    let doubled = INITIAL_DELAY_S * f64::from(1_u32 << retries.min(4));
    Duration::from_nanos(nanos_from_secs(doubled * (1.0 - JITTER_SHARE * jitter)))
}

/// The library's own number of retries.
const LIBRARYS_RETRIES: u32 = 2;
const INITIAL_DELAY_S: f64 = 0.5;
const JITTER_SHARE: f64 = 0.25;
const LONGEST_HINT: Duration = Duration::from_mins(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_from_half_a_second_to_eight_and_lose_up_to_a_quarter() {
        let seconds = |n, jitter| pause(n, jitter).as_secs_f64();

        let full: Vec<f64> = (0..6).map(|n| seconds(n, 0.0)).collect();
        assert_eq!(full, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]);
        assert!((seconds(1, 1.0) - 0.75).abs() < 1e-9);
    }

    #[test]
    fn a_hint_is_whole_seconds_or_milliseconds_above_zero() {
        let hinted = |header| {
            hint(
                Instant::ZERO,
                &Failure::with_status(429).retry_after(header),
            )
        };

        assert_eq!(hinted(RetryAfter::Seconds(120)), Some(LONGEST_HINT));
        assert_eq!(
            hinted(RetryAfter::Millis(700)),
            Some(Duration::from_millis(700))
        );
        for nothing in [
            RetryAfter::Seconds(0),
            RetryAfter::Seconds(-1),
            RetryAfter::Millis(0),
            RetryAfter::Unreadable,
        ] {
            assert_eq!(hinted(nothing), None, "{nothing:?}");
        }
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
