//! The rules of a cooldown, one sentence each.

use super::*;
use crate::{blame::Cause, outcome::RetryAfter};

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

struct Case {
    settings: RouterSettings,
    profile: Profile,
    deployment: DeploymentConfig,
    lone: bool,
    wildcard: bool,
    has_fallback: bool,
    asked_for: Option<Duration>,
    state: DeploymentState,
}

impl Case {
    fn new(lone: bool) -> Self {
        Self {
            settings: RouterSettings::default(),
            profile: Profile::default(),
            deployment: DeploymentConfig::default(),
            lone,
            wildcard: false,
            has_fallback: false,
            asked_for: None,
            state: DeploymentState::default(),
        }
    }

    fn corrected(lone: bool) -> Self {
        Self {
            profile: Profile::corrected(),
            ..Self::new(lone)
        }
    }

    fn litellm_1_92() -> Self {
        Self {
            profile: Profile::litellm_1_92(),
            ..Self::new(false)
        }
    }

    fn with_bench<T>(&mut self, ask: impl FnOnce(&Bench<'_>, &mut DeploymentState) -> T) -> T {
        let bench = Bench {
            settings: &self.settings,
            profile: &self.profile,
            deployment: &self.deployment,
            lone: self.lone,
            wildcard: self.wildcard,
            has_fallback: self.has_fallback,
            asked_for: self.asked_for,
        };
        ask(&bench, &mut self.state)
    }

    fn judge(&mut self, now: f64, failure: &Failure) -> Verdict {
        self.with_bench(|bench, state| bench.judge(at(now), failure, state))
    }

    fn seconds(&mut self, failure: &Failure) -> Option<u64> {
        self.judge(0.0, failure).map(|(time, _)| time.as_secs())
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

fn no_credit() -> Failure {
    Failure::with_status(402)
}

/// A policy that lets no bad request pass.
fn no_bad_request() -> AllowedFailsPolicy {
    AllowedFailsPolicy {
        bad_request: Some(0),
        ..AllowedFailsPolicy::default()
    }
}

#[test]
fn an_empty_account_benches_for_an_hour_or_for_as_long_as_the_provider_says() {
    let mut case = Case::corrected(false);

    let hour = Duration::from_secs(3_600);
    assert_eq!(
        case.judge(0.0, &no_credit()),
        Some((hour, CooldownReason::NoCredit))
    );
    let hinted = no_credit().retry_after(RetryAfter::Seconds(90));
    assert_eq!(case.seconds(&hinted), Some(90));
    case.deployment.cooldown_time = Some(2 * hour);
    assert_eq!(case.seconds(&no_credit()), Some(7_200));
}

#[test]
fn an_empty_account_benches_nobody_where_nothing_may_be_benched() {
    let mut off = Case::corrected(false);
    off.settings.disable_cooldowns = true;
    assert_eq!(off.judge(0.0, &no_credit()), None);

    let mut zero = Case::corrected(false);
    zero.deployment.cooldown_time = Some(Duration::ZERO);
    assert_eq!(zero.judge(0.0, &no_credit()), None);
}

#[test]
fn an_empty_account_benches_a_lone_deployment_only_where_a_fallback_takes_over() {
    let mut lone = Case::corrected(true);
    assert_eq!(lone.judge(0.0, &no_credit()), None);

    lone.has_fallback = true;
    assert_eq!(lone.seconds(&no_credit()), Some(3_600));
}

#[test]
fn a_refusal_of_the_routers_own_benches_for_the_routers_time_and_never_where_it_is_no_failure() {
    let mut case = Case::new(false);
    case.settings.cooldown_time = Some(Duration::from_secs(7));
    case.deployment.cooldown_time = Some(Duration::from_secs(90));
    let refused = |case: &mut Case| case.with_bench(|b, state| b.judge_refusal(at(0.0), state));

    let seven = Duration::from_secs(7);
    assert_eq!(
        refused(&mut case),
        Some((seven, CooldownReason::RateLimited))
    );
    assert_eq!(case.state.fails.at(at(0.0)), 0, "it counts as no failure");
    assert_eq!(refused(&mut Case::corrected(false)), None);
}

#[test]
fn a_connection_that_fails_benches_only_where_it_counts() {
    let mut refused = Failure::of(ErrorClass::ApiConnection);
    refused.status = Some(500);
    let benched = |mut case: Case| (0..9).any(|_| case.judge(0.0, &refused).is_some());

    assert!(!benched(Case::new(false)));
    assert!(benched(Case::corrected(false)));
}

#[test]
fn deployments_of_a_wildcard_cool_only_where_a_profile_lets_them() {
    let benched = |mut case: Case| {
        case.wildcard = true;
        case.status(0.0, 429).is_some()
    };

    assert!(!benched(Case::new(false)));
    assert!(!benched(Case::litellm_1_92()));
    assert!(benched(Case::corrected(false)));
}

#[test]
fn the_routers_policy_opens_the_gate_for_other_4xx_only_in_corrected() {
    let benched = |mut case: Case, policy: Option<AllowedFailsPolicy>, status| {
        case.settings.allowed_fails_policy = policy;
        case.status(0.0, status).is_some()
    };

    // A 422 is a bad request of LiteLLM's; 405 is of no class that a policy has a name for.
    assert!(!benched(Case::new(false), Some(no_bad_request()), 422));
    assert!(benched(Case::corrected(false), Some(no_bad_request()), 422));
    assert!(!benched(
        Case::corrected(false),
        Some(no_bad_request()),
        405
    ));
    assert!(!benched(Case::corrected(false), None, 422));
}

#[test]
fn a_deployments_own_policy_opens_the_gate_and_is_known_from_1_110_on() {
    let benched = |mut case: Case, status| {
        case.deployment.allowed_fails_policy = Some(no_bad_request());
        case.status(0.0, status)
    };
    let over = Some(CooldownReason::AllowedFailsExceeded);

    assert_eq!(benched(Case::new(false), 400), over);
    assert_eq!(benched(Case::corrected(false), 400), over);
    assert_eq!(benched(Case::new(false), 405), None);
    assert_eq!(benched(Case::litellm_1_92(), 400), None);
}

#[test]
fn a_request_that_is_at_fault_benches_only_as_a_bad_request_that_a_policy_names() {
    let names_both = AllowedFailsPolicy {
        not_found: Some(0),
        ..no_bad_request()
    };
    let benched = |cause, status| {
        let mut case = Case::corrected(false);
        case.settings.allowed_fails_policy = Some(names_both.clone());
        let failure = Failure::with_status(status).because(cause);
        case.judge(0.0, &failure).is_some()
    };

    assert!(benched(Cause::Request, 400));
    assert!(!benched(Cause::ObjectNotFound, 404));
    assert!(benched(Cause::Unsaid, 404));
}

#[test]
fn a_stream_that_breaks_benches_from_1_110_on() {
    let broken = Failure::with_status(429).after(Reached::Content);

    assert!(Case::new(false).judge(0.0, &broken).is_some());
    assert!(Case::litellm_1_92().judge(0.0, &broken).is_none());
}

#[test]
fn a_calls_cooldown_time_comes_before_the_deployments_and_after_its_model_infos() {
    let mut case = Case::new(false);
    let hinted = Failure::with_status(429).retry_after(RetryAfter::Seconds(120));
    case.deployment.cooldown_time = Some(Duration::from_secs(2));
    case.asked_for = Some(Duration::from_secs(3));
    assert_eq!(case.seconds(&hinted), Some(3));

    case.deployment.model_info_cooldown_time = Some(Duration::from_secs(4));
    assert_eq!(case.seconds(&hinted), Some(4));
    case.profile = Profile::litellm_1_92();
    assert_eq!(case.seconds(&hinted), Some(3));
}

#[test]
fn default_parameters_cool_in_1_92_and_elsewhere_only_what_broke_in_its_stream() {
    let failed = Failure::with_status(429);
    let broken = failed.after(Reached::Content);
    let of = |mut case: Case, failure: &Failure| {
        case.settings.default_litellm_params.cooldown_time = Some(Duration::from_secs(9));
        case.seconds(failure)
    };

    assert_eq!(of(Case::litellm_1_92(), &failed), Some(9));
    assert_eq!(of(Case::new(false), &failed), Some(5));
    assert_eq!(of(Case::new(false), &broken), Some(9));
}

#[test]
fn a_lone_deployment_whose_failures_repeat_is_spared_in_corrected() {
    assert!(Case::new(true).status(0.0, 401).is_some());
    assert!(Case::corrected(true).status(0.0, 401).is_none());
}
