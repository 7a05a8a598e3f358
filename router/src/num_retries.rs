//! How many retries the first error of a hop allows. (semantics 5.2 and 5.3)

use crate::{
    config::{DeploymentConfig, RetryPolicy, RouterSettings, is_bad_request},
    outcome::ErrorClass,
    profile::Profile,
    request::Overrides,
    route_error::{RateLimitedBy, RouteError},
};

/// How many retries the first error of a hop allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allowance {
    pub(crate) retries: u32,
    /// A retry policy set it, so that nobody asks whether the error is worth one.
    pub(crate) by_policy: bool,
}

/// Where `num_retries` may stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    /// Of the deployment that failed, if one did.
    pub(crate) deployment: Option<&'a DeploymentConfig>,
    pub(crate) overrides: Option<&'a Overrides>,
    /// The retry policy in force.
    pub(crate) policy: Option<&'a RetryPolicy>,
    pub(crate) settings: &'a RouterSettings,
    /// A blocking call that failed took the library's with it.
    pub(crate) librarys_are_gone: bool,
}

/// `num_retries` from all its sources. (semantics 5.2 and 5.3)
pub(crate) fn allowance(error: &RouteError, sources: Sources<'_>, profile: &Profile) -> Allowance {
    let Sources {
        deployment,
        overrides,
        policy,
        settings,
        librarys_are_gone,
    } = sources;
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
    // `default_litellm_params` are added to a call that met a deployment, unless it blocks.
    let blocking = overrides.is_some_and(|o| o.blocking);
    let added = settings.default_litellm_params.num_retries;
    let added = added.filter(|_| deployment.is_some() && !blocking);
    let deployments = added.or_else(|| deployment.and_then(|d| d.num_retries));
    let routers = settings.num_retries;
    let global = settings.global_num_retries;
    // `enforce_model_rate_limits` writes a zero on its exception, unless the call is blocking.
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
        // The wrapper of blocking calls does not know the library's, and forgets it for all others
        // when one fails. (`num-retries-global-forgotten`)
        let met_provider = matches!(error, RouteError::Attempt { .. });
        let librarys = global.filter(|_| !blocking && !librarys_are_gone);
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

/// LiteLLM's `num_retries` where nobody sets one. (semantics 0, `DEFAULT_MAX_RETRIES`)
const DEFAULT_NUM_RETRIES: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcome::Failure, request::DeploymentId};

    fn error(status: u16) -> RouteError {
        RouteError::Attempt {
            deployment: DeploymentId(0),
            failure: Failure::with_status(status),
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
                Sources {
                    deployment: Some(&deployment),
                    overrides: Some(&overrides),
                    policy: None,
                    settings: &settings,
                    librarys_are_gone: false,
                },
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
            Sources {
                deployment: None,
                overrides: None,
                policy: None,
                settings: &settings,
                librarys_are_gone: false,
            },
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
                Sources {
                    deployment: None,
                    overrides: Some(&overrides),
                    policy: Some(&policy),
                    settings: &settings,
                    librarys_are_gone: false,
                },
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
