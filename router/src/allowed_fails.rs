//! How many failures `allowed_fails` and its policies let pass, where they replace the default
//! cooldown rules. (semantics 4.4)

use crate::{
    config::{AllowedFailsPolicy, is_bad_request},
    cooldown::Bench,
    deployment::{ALLOWED_FAILS_COUNTERS, DeploymentState},
    observe::CooldownReason,
    outcome::ErrorClass,
    profile::Profile,
    time::Instant,
};

impl Bench<'_> {
    /// The threshold that replaces the default rules for this class, if one does.
    /// (semantics 4.4)
    pub(crate) fn allowed_fails(&self, class: ErrorClass) -> Option<Allowed> {
        let given = self.settings.allowed_fails;
        let global = self
            .settings
            .global_allowed_fails
            .unwrap_or(DEFAULT_ALLOWED_FAILS);
        if self.profile.model_info_cooldown_settings {
            let shared = Allowed {
                counter: SHARED_COUNTER,
                named: false,
                fails: 0,
            };
            if let Some(fails) = self
                .own_policy()
                .and_then(|p| p.fails_for(class, self.profile))
            {
                return Some(Allowed {
                    fails,
                    named: true,
                    counter: class as usize,
                });
            }
            if let Some(fails) = self.deployment.allowed_fails {
                return Some(Allowed { fails, ..shared });
            }
        }
        let policy = self.settings.allowed_fails_policy.as_ref();
        let counts = self.profile.explicit_allowed_fails_counts;
        let explicit = given.filter(|&fails| counts || fails != global);
        // A policy of its own that does not name the class leaves the number to the router's, but
        // the default rules are off.
        if policy.is_none() && explicit.is_none() && self.own_policy().is_none() {
            return None;
        }
        let by_policy = policy.and_then(|p| p.fails_for(class, self.profile));
        Some(Allowed {
            fails: by_policy.or(given).unwrap_or(global),
            named: by_policy.is_some(),
            counter: if by_policy.is_some() && self.profile.corrections.policies_count_each_class {
                class as usize
            } else {
                SHARED_COUNTER
            },
        })
    }

    pub(crate) fn over_allowed_fails(
        &self,
        now: Instant,
        allowed: Allowed,
        state: &mut DeploymentState,
    ) -> Option<CooldownReason> {
        let spared = self.profile.allowed_fails_spares_lone && self.lone && !self.has_fallback;
        if spared && !allowed.named {
            return None;
        }
        let counter = &mut state.allowed_fails[allowed.counter];
        if counter.at(now) >= allowed.fails {
            return Some(CooldownReason::AllowedFailsExceeded);
        }
        counter.increment(now, self.settings.cooldown_time_or_default());
        None
    }
}

/// A threshold of allowed failures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    fails: u32,
    /// A policy names the class.
    named: bool,
    counter: usize,
}

impl AllowedFailsPolicy {
    /// The policy's number for a class: the most specific field that is set.
    fn fails_for(&self, class: ErrorClass, profile: &Profile) -> Option<u32> {
        let bad_request = || self.bad_request.filter(|_| is_bad_request(class));
        let newer = |field: Option<u32>| field.filter(|_| profile.policies_know_all_classes);
        let value = match class {
            ErrorClass::Authentication => self.authentication,
            ErrorClass::Timeout => self.timeout,
            ErrorClass::RateLimit => self.rate_limit,
            ErrorClass::ContentPolicyViolation => {
                self.content_policy_violation.or_else(bad_request)
            }
            ErrorClass::BadRequest | ErrorClass::ContextWindowExceeded => bad_request(),
            ErrorClass::InternalServer => newer(self.internal_server),
            ErrorClass::ServiceUnavailable => newer(self.service_unavailable),
            ErrorClass::BadGateway => newer(self.bad_gateway),
            ErrorClass::NotFound => newer(self.not_found),
            ErrorClass::Api | ErrorClass::ApiConnection => None,
        };
        value.filter(|&fails| fails > 0 || profile.allowed_fails_policy_zero_counts)
    }

    pub(crate) fn names(&self, class: ErrorClass, profile: &Profile) -> bool {
        self.fails_for(class, profile).is_some()
    }
}

/// `DEFAULT_ALLOWED_FAILS`. (semantics 0)
const DEFAULT_ALLOWED_FAILS: u32 = 3;
/// The counter of everybody that no policy of the deployment's own names.
const SHARED_COUNTER: usize = ALLOWED_FAILS_COUNTERS - 1;
