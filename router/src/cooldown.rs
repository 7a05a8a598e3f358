//! Should this failure bench its deployment, by which rule, and for how long? (semantics 4)
//!
//! Asked once for each failed attempt, after its failure was counted and before the next pick. Two
//! sets of rules: the defaults (429 at once; more than half of at least five requests; errors that
//! the next request would meet again), and `allowed_fails` with its policy, which replace them
//! whole. A cold start is protected by the least number of requests in the failure-rate rule; a
//! lone deployment by the exemptions named below.

use std::time::Duration;

use crate::{
    blame::{Blame, blame},
    config::{AllowedFailsPolicy, DeploymentConfig, RouterSettings, is_bad_request},
    deployment::DeploymentState,
    observe::CooldownReason,
    outcome::{ErrorClass, Failure, Reached},
    profile::Profile,
    time::Instant,
};

/// What the rules need to know about the deployment that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bench<'a> {
    pub(crate) settings: &'a RouterSettings,
    pub(crate) profile: &'a Profile,
    pub(crate) deployment: &'a DeploymentConfig,
    /// Whether its group has no other deployment.
    pub(crate) lone: bool,
    /// Whether its group's name has stars.
    pub(crate) wildcard: bool,
    /// Whether some fallback applies to its group.
    pub(crate) has_fallback: bool,
    /// `cooldown_time` of the request.
    pub(crate) asked_for: Option<Duration>,
}

/// How long, and by which rule.
pub(crate) type Verdict = Option<(Duration, CooldownReason)>;

impl Bench<'_> {
    /// Counts the failure and judges it.
    pub(crate) fn judge(
        &self,
        now: Instant,
        failure: &Failure,
        state: &mut DeploymentState,
    ) -> Verdict {
        let blame = blame(failure, self.profile);
        let fails = match blame {
            Blame::Deployment => state.fails.increment(now, COUNT_TTL),
            Blame::Nobody => return None,
            Blame::Request => {
                state.successes.increment(now, COUNT_TTL);
                state.fails.at(now)
            }
        };
        let time = self.time(now, failure);
        if let Some(long) = self.profile.corrections.no_credit_benches_for
            && failure.is_out_of_credit()
        {
            let may = !time.is_zero() && !self.settings.disable_cooldowns;
            let has_alternative = !self.lone || self.has_fallback;
            let until = failure
                .cooldown_hint(now, self.profile)
                .unwrap_or_else(|| long.max(time));
            return (may && has_alternative).then_some((until, CooldownReason::NoCredit));
        }
        self.decide(now, failure, blame, fails, time, state)
    }

    /// Judges a refusal of the router's own: a 429 that counts as no failure of the deployment and
    /// benches for the router's time, whatever the deployment's. (semantics 2.4 and 4.5)
    pub(crate) fn judge_refusal(&self, now: Instant, state: &mut DeploymentState) -> Verdict {
        if self.profile.corrections.own_refusals_are_no_failures {
            return None;
        }
        let refusal = Failure::with_status(429);
        let time = self.settings.cooldown_time_or_default();
        let fails = state.fails.at(now);
        self.decide(now, &refusal, Blame::Deployment, fails, time, state)
    }

    fn decide(
        &self,
        now: Instant,
        failure: &Failure,
        blame: Blame,
        fails: u32,
        time: Duration,
        state: &mut DeploymentState,
    ) -> Verdict {
        if time.is_zero() || self.settings.disable_cooldowns || !self.may_cool(failure, blame) {
            return None;
        }
        let why = match self.allowed_fails(failure.class) {
            Some(allowed) => self.over_allowed_fails(now, allowed, state)?,
            None => self.default_rules(failure, fails, state.successes.at(now))?,
        };
        Some((time, why))
    }

    /// Whether failures of this kind can cool at all. (semantics 4.1)
    fn may_cool(&self, failure: &Failure, blame: Blame) -> bool {
        let Some(status) = failure.status else {
            return false;
        };
        let corrections = &self.profile.corrections;
        if failure.class == ErrorClass::ApiConnection && !corrections.connection_errors_count {
            return false;
        }
        if self.wildcard && !self.profile.wildcards_cool {
            return false;
        }
        if failure.reached() != Reached::Nothing && !self.profile.stream_errors_bench {
            return false;
        }
        let names = |p: &AllowedFailsPolicy| p.names(failure.class, self.profile);
        let named_by_router = corrections.policies_open_the_gate
            && self
                .settings
                .allowed_fails_policy
                .as_ref()
                .is_some_and(names);
        if blame == Blame::Request {
            let named = named_by_router || self.own_policy().is_some_and(names);
            return named && is_bad_request(failure.class);
        }
        match status {
            401 | 404 | 408 | 429 => true,
            402 if self.profile.cools_payment_required && !self.lone => true,
            400..=499 => named_by_router || self.own_policy().is_some_and(names),
            _ => true,
        }
    }

    /// The length of a cooldown: the deployment's own or the call's, else what the provider asked
    /// for, else the router's. Zero means none. (semantics 4.5; the call's: observed)
    fn time(&self, now: Instant, failure: &Failure) -> Duration {
        let newer = self.profile.model_info_cooldown_settings;
        let own = self.deployment.model_info_cooldown_time.filter(|_| newer);
        let added = self.settings.default_litellm_params.cooldown_time;
        let in_stream = failure.reached() != Reached::Nothing;
        let added = added.filter(|_| self.profile.default_params_cool || in_stream);
        let calls = self.asked_for.or(added);
        if let Some(time) = own.or(calls).or(self.deployment.cooldown_time) {
            return time;
        }
        failure
            .cooldown_hint(now, self.profile)
            .unwrap_or_else(|| self.settings.cooldown_time_or_default())
    }

    /// The rules without `allowed_fails`. (semantics 4.2, rules in its order)
    fn default_rules(
        &self,
        failure: &Failure,
        fails: u32,
        successes: u32,
    ) -> Option<CooldownReason> {
        let status = failure.status?;
        let total = fails + successes;
        if status == 429 && !self.lone {
            return Some(CooldownReason::RateLimited);
        }
        if successes == 0 && total >= TOTAL_FAILURE_REQUESTS {
            return Some(CooldownReason::TotalFailure);
        }
        // More than half, in whole numbers.
        if fails * 2 > total && total >= FAILURE_RATE_REQUESTS && !self.lone {
            return Some(CooldownReason::FailureRate);
        }
        let spared = self.lone && self.profile.corrections.lone_deployments_are_spared;
        if !matches!(status, 408 | 409 | 429 | 500..) && !spared {
            return Some(CooldownReason::NotRetryable);
        }
        None
    }

    pub(crate) fn own_policy(&self) -> Option<&AllowedFailsPolicy> {
        let policy = self.deployment.allowed_fails_policy.as_ref();
        policy.filter(|_| self.profile.model_info_cooldown_settings)
    }
}

impl RouterSettings {
    /// `cooldown_time`, where none and zero are LiteLLM's 5 s. (semantics 1.9)
    #[must_use]
    pub fn cooldown_time_or_default(&self) -> Duration {
        self.cooldown_time
            .filter(|time| !time.is_zero())
            .unwrap_or(DEFAULT_COOLDOWN_TIME)
    }
}

/// Counts of failures and successes live this long from the first. (semantics 2.5)
pub(crate) const COUNT_TTL: Duration = Duration::from_secs(60);
/// `DEFAULT_COOLDOWN_TIME_SECONDS`. (semantics 0)
const DEFAULT_COOLDOWN_TIME: Duration = Duration::from_secs(5);
/// `DEFAULT_FAILURE_THRESHOLD_MINIMUM_REQUESTS`. (semantics 0)
const FAILURE_RATE_REQUESTS: u32 = 5;
/// `SINGLE_DEPLOYMENT_TRAFFIC_FAILURE_THRESHOLD`. (semantics 0)
const TOTAL_FAILURE_REQUESTS: u32 = 1_000;

#[cfg(test)]
mod tests;
