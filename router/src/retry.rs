//! Whether and when another attempt follows in the same group. (semantics 5)
//!
//! Two questions of the ladder, once [`num_retries`](crate::num_retries) has told how many the hop
//! may make: is this error one to retry at all, and how long to wait before it.

use std::time::Duration;

use crate::{
    fallback::ListsGiven,
    outcome::{ErrorClass, Failure},
    route_error::RouteError,
    step::WaitReason,
    time::Instant,
};

/// What is left of the group when an error is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GroupHealth {
    /// Deployments of the name.
    pub(crate) all: usize,
    /// Those neither cooled nor blocked.
    pub(crate) healthy: usize,
}

/// Whether another attempt in the same group could help. (semantics 5.5, rules in its order)
pub(crate) fn is_worth_retrying(
    error: &RouteError,
    health: GroupHealth,
    lists: ListsGiven,
) -> bool {
    let class = error.class();
    if class == Some(ErrorClass::ContextWindowExceeded) && lists.context_window {
        return false;
    }
    if class == Some(ErrorClass::ContentPolicyViolation) && lists.content_policy {
        return false;
    }
    if let Some(status) = error.status()
        && !matches!(status, 401 | 403 | 408 | 409 | 429 | 500..)
    {
        return false;
    }
    match class {
        Some(ErrorClass::NotFound) => false,
        // LiteLLM asks here whether a 429 has nobody healthy and a list to fall back to: never retried
        // either way, as nobody is healthy.
        Some(ErrorClass::Authentication) if health.all <= 1 => false,
        _ => health.healthy > 0,
    }
}

/// Whether the same deployment would refuse the same request again: a 4xx that does not pass by
/// itself. (observed: 408, 409 and 429 are tried again at the same deployment)
pub(crate) const fn is_refusal(failure: &Failure) -> bool {
    matches!(failure.status, Some(status @ 400..=499) if !matches!(status, 408 | 409 | 429))
}

/// How long to wait before the next attempt, and why; `None`: not at all. (semantics 5.4)
///
/// `exponent` is 0 before the first retry; `jitter` is uniform in [0, 1).
pub(crate) fn backoff(
    now: Instant,
    error: &RouteError,
    health: GroupHealth,
    exponent: u32,
    retry_after: Duration,
    jitter: f64,
) -> Option<(Duration, WaitReason)> {
    if health.all != 1 && health.healthy > 0 {
        return None;
    }
    let jitter = Duration::from_nanos(crate::time::nanos_from_secs(JITTER_SECONDS * jitter));
    if let Some(seconds @ 1..=60) = hint(now, error) {
        return Some((
            Duration::from_secs(seconds.unsigned_abs()) + jitter,
            WaitReason::RetryAfter,
        ));
    }
    let doubled = INITIAL_DELAY * 2_u32.saturating_pow(exponent.min(16));
    Some((
        doubled.max(retry_after).min(MAX_DELAY) + jitter,
        WaitReason::Backoff,
    ))
}

/// The `retry-after` of an error, in whole seconds.
fn hint(now: Instant, error: &RouteError) -> Option<i64> {
    match error {
        RouteError::Attempt { failure, .. } => failure.retry_after?.whole_seconds(now),
        RouteError::RateLimited { retry_after, .. } => Some(i64::from(*retry_after)),
        RouteError::NoDeployments { .. }
        | RouteError::Blocked { .. }
        | RouteError::SlotsInUse { .. }
        | RouteError::FailuresSpent { .. }
        | RouteError::UnknownModel { .. }
        | RouteError::OverUsageLimits
        | RouteError::OverRpm
        | RouteError::PromptTooLong
        | RouteError::BudgetSpent
        | RouteError::NoMatchingTags
        | RouteError::TextWeight
        | RouteError::QueueTimeout
        | RouteError::Queue(_) => None,
    }
}

/// `INITIAL_RETRY_DELAY`. (semantics 0)
const INITIAL_DELAY: Duration = Duration::from_millis(500);
/// `MAX_RETRY_DELAY`. (semantics 0)
const MAX_DELAY: Duration = Duration::from_secs(8);
/// `JITTER`, in seconds. (semantics 0)
const JITTER_SECONDS: f64 = 0.75;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcome::RetryAfter, request::DeploymentId};

    const TWO: GroupHealth = GroupHealth { all: 2, healthy: 2 };
    const LONE: GroupHealth = GroupHealth { all: 1, healthy: 1 };
    const NO_LISTS: ListsGiven = ListsGiven {
        generic: false,
        context_window: false,
        content_policy: false,
    };

    fn error(status: u16) -> RouteError {
        RouteError::Attempt {
            deployment: DeploymentId(0),
            failure: Failure::with_status(status),
        }
    }

    #[test]
    fn statuses_are_retried_as_litellm_does() {
        let retried = [401, 403, 408, 409, 429, 500, 502, 503, 504, 529];
        let not_retried = [400, 402, 404, 405, 413, 422, 451];

        for status in retried {
            assert!(is_worth_retrying(&error(status), TWO, NO_LISTS), "{status}");
        }
        for status in not_retried {
            assert!(
                !is_worth_retrying(&error(status), TWO, NO_LISTS),
                "{status}"
            );
        }
    }

    #[test]
    fn only_the_kind_of_error_that_has_a_list_of_its_own_goes_there_at_once() {
        let lists = [
            (ErrorClass::ContextWindowExceeded, true, false),
            (ErrorClass::ContentPolicyViolation, false, true),
        ];
        for (kind, context_window, content_policy) in lists {
            let own = ListsGiven {
                context_window,
                content_policy,
                ..NO_LISTS
            };
            // A provider may say either with a status that is retried otherwise.
            let mut failure = Failure::of(kind);
            failure.status = Some(500);
            let error_of_kind = RouteError::Attempt {
                deployment: DeploymentId(0),
                failure,
            };

            assert!(!is_worth_retrying(&error_of_kind, TWO, own), "{kind:?}");
            assert!(is_worth_retrying(&error_of_kind, TWO, NO_LISTS), "{kind:?}");
            assert!(is_worth_retrying(&error(500), TWO, own), "{kind:?}");
        }
    }

    #[test]
    fn a_model_that_is_not_found_is_not_looked_for_again_whatever_the_status() {
        let mut failure = Failure::of(ErrorClass::NotFound);
        failure.status = Some(500);
        let error = RouteError::Attempt {
            deployment: DeploymentId(0),
            failure,
        };

        assert!(!is_worth_retrying(&error, TWO, NO_LISTS));
    }

    #[test]
    fn a_refusal_is_a_4xx_that_does_not_pass_by_itself() {
        let is = |status| is_refusal(&Failure::with_status(status));

        for status in [400, 401, 403, 404, 413, 422, 499] {
            assert!(is(status), "{status}");
        }
        for status in [399, 408, 409, 429, 500, 503] {
            assert!(!is(status), "{status}");
        }
    }

    #[test]
    fn a_group_of_which_nobody_is_healthy_waits() {
        let none = GroupHealth { all: 2, healthy: 0 };
        let wait = backoff(Instant::ZERO, &error(500), none, 1, Duration::ZERO, 0.0);

        assert_eq!(wait, Some((Duration::from_secs(1), WaitReason::Backoff)));
    }

    #[test]
    fn jitter_comes_on_top_of_a_hint_too() {
        let failure = Failure::with_status(429).retry_after(RetryAfter::Seconds(2));
        let error = RouteError::Attempt {
            deployment: DeploymentId(0),
            failure,
        };
        let (wait, why) = backoff(Instant::ZERO, &error, LONE, 0, Duration::ZERO, 1.0).unwrap();

        assert_eq!(wait, Duration::from_millis(2_750));
        assert_eq!(why, WaitReason::RetryAfter);
    }

    #[test]
    fn a_lone_deployment_is_not_retried_after_401_but_is_after_403() {
        assert!(!is_worth_retrying(&error(401), LONE, NO_LISTS));
        assert!(is_worth_retrying(&error(403), LONE, NO_LISTS));
    }

    #[test]
    fn nothing_is_retried_once_nobody_is_healthy() {
        let none = GroupHealth { all: 2, healthy: 0 };

        assert!(!is_worth_retrying(&error(500), none, NO_LISTS));
    }

    #[test]
    fn there_is_no_wait_while_a_group_of_several_has_a_healthy_deployment() {
        assert_eq!(
            backoff(
                Instant::ZERO,
                &error(429),
                TWO,
                0,
                Duration::from_secs(2),
                0.5
            ),
            None
        );
    }

    #[test]
    fn a_lone_deployments_waits_double_from_half_a_second_to_eight() {
        let wait = |exponent| {
            backoff(
                Instant::ZERO,
                &error(500),
                LONE,
                exponent,
                Duration::ZERO,
                0.0,
            )
            .unwrap()
            .0
            .as_secs_f64()
        };

        assert_eq!(
            (0..7).map(wait).collect::<Vec<_>>(),
            [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
        );
    }

    #[test]
    fn the_retry_after_setting_is_a_floor_below_the_cap_and_jitter_comes_on_top() {
        let wait = |floor, jitter| {
            backoff(
                Instant::ZERO,
                &error(500),
                LONE,
                0,
                Duration::from_secs(floor),
                jitter,
            )
            .unwrap()
            .0
            .as_secs_f64()
        };

        assert!((wait(2, 0.0) - 2.0).abs() < 1e-9);
        assert!((wait(20, 0.0) - 8.0).abs() < 1e-9);
        assert!((wait(20, 0.5) - 8.375).abs() < 1e-9);
    }

    #[test]
    fn a_retry_after_header_of_one_to_sixty_seconds_sets_the_wait() {
        let wait = |hint| {
            let failure = Failure::with_status(429).retry_after(hint);
            let error = RouteError::Attempt {
                deployment: DeploymentId(0),
                failure,
            };
            let (wait, why) = backoff(Instant::ZERO, &error, LONE, 0, Duration::ZERO, 0.0).unwrap();
            (wait.as_secs_f64(), why)
        };

        assert_eq!(
            wait(RetryAfter::Seconds(60)),
            (60.0, WaitReason::RetryAfter)
        );
        assert_eq!(
            wait(RetryAfter::Date(Instant::from_secs_f64(3.9))),
            (3.0, WaitReason::RetryAfter)
        );
        for ignored in [
            RetryAfter::Seconds(0),
            RetryAfter::Seconds(-5),
            RetryAfter::Seconds(61),
            RetryAfter::Millis(1_500),
            RetryAfter::Unreadable,
        ] {
            assert_eq!(wait(ignored), (0.5, WaitReason::Backoff), "{ignored:?}");
        }
    }
}
