//! Whether and when another attempt follows in the same group. (semantics 5)
//!
//! Three questions, asked in this order by the ladder: how many retries does the first error of a
//! hop allow, is this error one to retry at all, and how long to wait before it.

use std::time::Duration;

use crate::{
    config::{DeploymentConfig, RetryPolicy, RouterSettings, is_bad_request},
    fallback::ListsGiven,
    outcome::{ErrorClass, Failure},
    profile::Profile,
    request::Overrides,
    step::{RateLimitedBy, RouteError, WaitReason},
    time::Instant,
};

/// How many retries the first error of a hop allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allowance {
    pub(crate) retries: u32,
    /// A retry policy set it, so that [`is_worth_retrying`] is not asked.
    pub(crate) by_policy: bool,
}

/// `num_retries` from all its sources. (semantics 5.2 and 5.3)
pub(crate) fn allowance(
    error: &RouteError,
    deployment: Option<&DeploymentConfig>,
    overrides: Option<&Overrides>,
    policy: Option<&RetryPolicy>,
    settings: &RouterSettings,
    profile: &Profile,
) -> Allowance {
    let callers = overrides.and_then(|o| o.num_retries);
    let opted_out = profile.callers_zero_beats_policy && callers == Some(0);
    if !opted_out
        && let Some(class) = error.class()
        && let Some(retries) =
            policy.and_then(|p| retries_by_policy(p, class, error.status(), profile))
    {
        return Allowance {
            retries,
            by_policy: true,
        };
    }
    let deployments = deployment.and_then(|d| d.num_retries);
    let routers = settings.num_retries;
    let global = settings.global_num_retries;
    // `enforce_model_rate_limits` writes a zero on its exception, unless the call is blocking.
    let blocking = overrides.is_some_and(|o| o.blocking);
    let refused = matches!(
        error,
        RouteError::RateLimited {
            by: RateLimitedBy::ModelRateLimits,
            ..
        }
    );
    let written = (refused && !blocking).then_some(0);
    let chosen = if profile.callers_num_retries_first {
        callers.or(written).or(deployments).or(routers).or(global)
    } else {
        // The provider wrapper writes the deployment's or the library's value on the exception,
        // where it beats everything; errors that never met a provider carry none.
        // To the wrapper of blocking calls a zero of the library's is none.
        let met_provider = matches!(error, RouteError::Attempt { .. });
        let librarys = global.filter(|&n| !blocking || n > 0);
        let on_exception = met_provider.then(|| deployments.or(librarys)).flatten();
        written.or(on_exception).or(callers).or(routers).or(global)
    };
    Allowance {
        retries: chosen.unwrap_or(DEFAULT_NUM_RETRIES),
        by_policy: false,
    }
}

/// The policy's number for a class: the most specific field that is set.
fn retries_by_policy(
    policy: &RetryPolicy,
    class: ErrorClass,
    status: Option<u16>,
    profile: &Profile,
) -> Option<u32> {
    let bad_request = || policy.bad_request.filter(|_| is_bad_request(class));
    let known_to_both = match class {
        ErrorClass::Authentication => policy.authentication,
        ErrorClass::Timeout => policy.timeout,
        ErrorClass::RateLimit => policy.rate_limit,
        ErrorClass::ContentPolicyViolation => policy.content_policy_violation.or_else(bad_request),
        ErrorClass::BadRequest | ErrorClass::ContextWindowExceeded => bad_request(),
        ErrorClass::Api
        | ErrorClass::ApiConnection
        | ErrorClass::BadGateway
        | ErrorClass::InternalServer
        | ErrorClass::NotFound
        | ErrorClass::ServiceUnavailable => None,
    };
    if !profile.policies_know_all_classes {
        return known_to_both;
    }
    let newer = || match class {
        ErrorClass::InternalServer => policy.internal_server,
        ErrorClass::ServiceUnavailable => policy.service_unavailable,
        ErrorClass::NotFound => policy.not_found,
        ErrorClass::Api
        | ErrorClass::ApiConnection
        | ErrorClass::Authentication
        | ErrorClass::BadGateway
        | ErrorClass::BadRequest
        | ErrorClass::ContentPolicyViolation
        | ErrorClass::ContextWindowExceeded
        | ErrorClass::RateLimit
        | ErrorClass::Timeout => None,
    };
    // Classes of 5xx without a number of their own are server errors.
    let by_status = || {
        let covers = profile.corrections.server_policies_cover_5xx;
        policy
            .internal_server
            .filter(|_| covers && status >= Some(500))
    };
    known_to_both
        .or_else(newer)
        .or_else(by_status)
        .or(policy.default)
}

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
        Some(ErrorClass::RateLimit) if health.healthy == 0 && lists.generic => false,
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
        | RouteError::UnknownModel { .. }
        | RouteError::OverUsageLimits
        | RouteError::OverRpm
        | RouteError::PromptTooLong
        | RouteError::BudgetSpent
        | RouteError::NoMatchingTags
        | RouteError::QueueTimeout
        | RouteError::Queue(_) => None,
    }
}

/// LiteLLM's `num_retries` where nobody sets one. (semantics 0, `DEFAULT_MAX_RETRIES`)
const DEFAULT_NUM_RETRIES: u32 = 2;
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

    #[test]
    fn the_callers_num_retries_comes_first_in_1_110_and_after_the_deployments_in_1_92() {
        let deployment = DeploymentConfig {
            num_retries: Some(1),
            ..DeploymentConfig::default()
        };
        let overrides = Overrides {
            num_retries: Some(3),
            ..Overrides::default()
        };
        let settings = RouterSettings::default();
        let retries = |profile: &Profile| {
            allowance(
                &error(429),
                Some(&deployment),
                Some(&overrides),
                None,
                &settings,
                profile,
            )
            .retries
        };

        assert_eq!(retries(&Profile::litellm_1_110()), 3);
        assert_eq!(retries(&Profile::litellm_1_92()), 1);
    }

    #[test]
    fn without_any_setting_there_are_two_retries() {
        let settings = RouterSettings::default();
        let got = allowance(
            &error(429),
            None,
            None,
            None,
            &settings,
            &Profile::default(),
        );

        assert_eq!(
            got,
            Allowance {
                retries: 2,
                by_policy: false
            }
        );
    }

    #[test]
    fn only_a_zero_of_the_callers_opts_out_of_a_policy_and_only_in_1_110() {
        let policy = RetryPolicy {
            rate_limit: Some(2),
            ..RetryPolicy::default()
        };
        let settings = RouterSettings::default();
        let retries = |callers, profile: &Profile| {
            let overrides = Overrides {
                num_retries: Some(callers),
                ..Overrides::default()
            };
            allowance(
                &error(429),
                None,
                Some(&overrides),
                Some(&policy),
                &settings,
                profile,
            )
            .retries
        };

        assert_eq!(retries(0, &Profile::litellm_1_110()), 0);
        assert_eq!(retries(5, &Profile::litellm_1_110()), 2);
        assert_eq!(retries(0, &Profile::litellm_1_92()), 2);
    }

    #[test]
    fn the_newer_fields_of_a_policy_are_ignored_by_1_92() {
        let policy = RetryPolicy {
            internal_server: Some(7),
            default: Some(1),
            ..RetryPolicy::default()
        };
        let by =
            |class: ErrorClass, profile| retries_by_policy(&policy, class, class.status(), profile);

        let new = Profile::litellm_1_110();
        assert_eq!(by(ErrorClass::InternalServer, &new), Some(7));
        assert_eq!(by(ErrorClass::NotFound, &new), Some(1));
        let old = Profile::litellm_1_92();
        assert_eq!(by(ErrorClass::InternalServer, &old), None);
    }
}
