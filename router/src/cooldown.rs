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
mod tests {
    use super::*;
    use crate::outcome::RetryAfter;

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    struct Case {
        settings: RouterSettings,
        profile: Profile,
        deployment: DeploymentConfig,
        lone: bool,
        state: DeploymentState,
    }

    impl Case {
        fn new(lone: bool) -> Self {
            Self {
                settings: RouterSettings::default(),
                profile: Profile::default(),
                deployment: DeploymentConfig::default(),
                lone,
                state: DeploymentState::default(),
            }
        }

        fn judge(&mut self, now: f64, failure: &Failure) -> Verdict {
            let bench = Bench {
                settings: &self.settings,
                profile: &self.profile,
                deployment: &self.deployment,
                lone: self.lone,
                wildcard: false,
                has_fallback: false,
                asked_for: None,
            };
            bench.judge(at(now), failure, &mut self.state)
        }

        fn status(&mut self, now: f64, status: u16) -> Option<CooldownReason> {
            self.judge(now, &Failure::with_status(status))
                .map(|(_, why)| why)
        }
    }

    #[test]
    fn a_group_of_several_benches_at_once_for_429_401_404_and_402() {
        for (status, why) in [
            (429, CooldownReason::RateLimited),
            (401, CooldownReason::NotRetryable),
            (404, CooldownReason::NotRetryable),
            (402, CooldownReason::NotRetryable),
        ] {
            assert_eq!(Case::new(false).status(0.0, status), Some(why), "{status}");
        }
        let mut old = Case::new(false);
        old.profile = Profile::litellm_1_92();
        assert_eq!(old.status(0.0, 402), None);
    }

    #[test]
    fn a_lone_deployment_is_benched_by_401_and_404_but_not_by_429_or_500() {
        for (status, benched) in [(401, true), (404, true), (402, false), (429, false)] {
            assert_eq!(
                Case::new(true).status(0.0, status).is_some(),
                benched,
                "{status}"
            );
        }
        let mut lone = Case::new(true);
        for n in 0..20 {
            assert_eq!(lone.status(f64::from(n), 500), None);
        }
    }

    #[test]
    fn a_lone_deployment_is_benched_once_a_thousand_requests_in_a_minute_all_failed() {
        let mut lone = Case::new(true);
        for _ in 0..999 {
            assert_eq!(lone.status(1.0, 500), None);
        }

        assert_eq!(lone.status(1.0, 500), Some(CooldownReason::TotalFailure));
    }

    #[test]
    fn the_failure_rate_rule_needs_more_than_half_of_at_least_five() {
        let mut fresh = Case::new(false);
        for _ in 0..4 {
            assert_eq!(fresh.status(0.0, 500), None);
        }
        assert_eq!(fresh.status(0.0, 500), Some(CooldownReason::FailureRate));

        let mut mixed = Case::new(false);
        for _ in 0..3 {
            mixed.state.successes.increment(at(0.0), COUNT_TTL);
        }
        for _ in 0..3 {
            assert_eq!(mixed.status(0.0, 500), None);
        }
        assert_eq!(mixed.status(0.0, 500), Some(CooldownReason::FailureRate));
    }

    #[test]
    fn a_bad_request_never_benches_but_counts_as_a_failure() {
        let mut case = Case::new(false);
        for _ in 0..4 {
            assert_eq!(case.status(0.0, 400), None);
        }

        assert_eq!(case.status(0.0, 500), Some(CooldownReason::FailureRate));
    }

    #[test]
    fn successes_that_are_forgotten_first_flip_the_rate() {
        let mut case = Case::new(false);
        for _ in 0..6 {
            case.state.successes.increment(at(0.0), COUNT_TTL);
        }
        for _ in 0..4 {
            assert_eq!(case.status(50.0, 500), None);
        }

        assert_eq!(case.status(62.0, 500), Some(CooldownReason::FailureRate));
    }

    #[test]
    fn the_length_is_the_deployments_else_the_providers_else_the_routers() {
        let mut case = Case::new(false);
        case.settings.cooldown_time = Some(Duration::from_secs(7));
        let hinted = Failure::with_status(429).retry_after(RetryAfter::Seconds(120));
        let seconds = |verdict: Verdict| verdict.map(|(time, _)| time.as_secs());

        assert_eq!(
            seconds(case.judge(0.0, &Failure::with_status(429))),
            Some(7)
        );
        assert_eq!(seconds(case.judge(0.0, &hinted)), Some(120));
        let negative = Failure::with_status(429).retry_after(RetryAfter::Seconds(-1));
        assert_eq!(seconds(case.judge(0.0, &negative)), Some(7));
        let zero = Failure::with_status(429).retry_after(RetryAfter::Seconds(0));
        assert_eq!(seconds(case.judge(0.0, &zero)), None);
        case.deployment.cooldown_time = Some(Duration::from_secs(2));
        assert_eq!(seconds(case.judge(0.0, &hinted)), Some(2));
        case.deployment.cooldown_time = Some(Duration::ZERO);
        assert_eq!(seconds(case.judge(0.0, &hinted)), None);
    }

    #[test]
    fn a_routers_cooldown_time_of_zero_is_five_seconds() {
        let settings = RouterSettings {
            cooldown_time: Some(Duration::ZERO),
            ..RouterSettings::default()
        };

        assert_eq!(settings.cooldown_time_or_default(), Duration::from_secs(5));
    }

    #[test]
    fn allowed_fails_lets_that_many_pass_within_a_cooldown_time() {
        let mut case = Case::new(false);
        case.settings.allowed_fails = Some(1);
        case.settings.cooldown_time = Some(Duration::from_secs(1));

        assert_eq!(case.status(0.0, 500), None);
        assert_eq!(case.status(1.3, 500), None);
        assert_eq!(
            case.status(1.4, 401),
            Some(CooldownReason::AllowedFailsExceeded)
        );
    }

    #[test]
    fn allowed_fails_equal_to_the_librarys_counts_in_1_110_only() {
        let mut new = Case::new(false);
        new.settings.allowed_fails = Some(3);
        assert_eq!(new.status(0.0, 429), None);

        let mut old = Case::new(false);
        old.profile = Profile::litellm_1_92();
        old.settings.allowed_fails = Some(3);
        assert_eq!(old.status(0.0, 429), Some(CooldownReason::RateLimited));
    }

    #[test]
    fn a_policys_zero_is_a_threshold_in_1_110_and_unset_in_1_92() {
        let policy = AllowedFailsPolicy {
            rate_limit: Some(0),
            ..AllowedFailsPolicy::default()
        };
        let mut new = Case::new(false);
        new.settings.allowed_fails_policy = Some(policy.clone());
        assert_eq!(
            new.status(0.0, 429),
            Some(CooldownReason::AllowedFailsExceeded)
        );

        let mut old = Case::new(false);
        old.profile = Profile::litellm_1_92();
        old.settings.allowed_fails_policy = Some(policy);
        assert_eq!(old.status(0.0, 429), None);
    }

    #[test]
    fn a_lone_deployment_without_fallback_is_benched_only_by_a_policy_that_names_the_error() {
        let mut lone = Case::new(true);
        lone.settings.allowed_fails = Some(0);
        assert_eq!(lone.status(0.0, 500), None);

        let named = AllowedFailsPolicy {
            internal_server: Some(0),
            ..Default::default()
        };
        lone.settings.allowed_fails_policy = Some(named);
        assert_eq!(
            lone.status(0.0, 500),
            Some(CooldownReason::AllowedFailsExceeded)
        );
    }

    #[test]
    fn disabled_cooldowns_never_bench() {
        let mut case = Case::new(false);
        case.settings.disable_cooldowns = true;

        assert_eq!(case.status(0.0, 429), None);
        assert_eq!(case.status(0.0, 401), None);
    }

    #[test]
    fn connection_errors_without_a_mapped_status_never_bench() {
        let mut case = Case::new(false);
        case.settings.allowed_fails = Some(0);

        assert_eq!(
            case.judge(0.0, &Failure::of(ErrorClass::ApiConnection)),
            None
        );
    }
}
