use super::*;

const A: DeploymentId = DeploymentId(0);

struct Case {
    limits: RateLimits,
    config: DeploymentConfig,
    now: Instant,
}

impl Case {
    fn new(reserves: bool, enforces: bool, rpm: Option<u64>, tpm: Option<u64>) -> Self {
        let mut config = RouterConfig::of_deployments(["a"]);
        config
            .settings
            .optional_pre_call_checks
            .enforce_model_rate_limits = enforces;
        (config.deployments[0].rpm, config.deployments[0].tpm) = (rpm, tpm);
        Self {
            limits: RateLimits::new(&config, reserves.then(UsageArgs::default)),
            config: config.deployments.remove(0),
            now: Instant::ZERO,
        }
    }

    fn call(&mut self) -> Option<RateLimitedBy> {
        self.limits.before_call(self.now, A, &self.config).err()
    }

    /// How many of ten calls pass, each answered with 15 tokens.
    fn pass(&mut self) -> usize {
        let mut passed = 0;
        for _ in 0..10 {
            if self.call().is_none() {
                passed += 1;
                self.limits.answered(self.now, A, Usage::new(10, 5));
            }
        }
        passed
    }
}

#[test]
fn each_check_lets_exactly_its_limit_of_requests_pass_a_minute() {
    for (reserves, enforces) in [(true, false), (false, true)] {
        let mut case = Case::new(reserves, enforces, Some(3), None);

        assert_eq!(case.pass(), 3);
        case.now = Instant::from_secs_f64(59.9);
        assert_eq!(case.pass(), 0);
        case.now = Instant::from_secs_f64(60.0);
        assert_eq!(case.pass(), 3);
    }
}

#[test]
fn with_both_checks_each_request_and_each_token_counts_twice() {
    assert_eq!(Case::new(true, true, Some(4), None).pass(), 2);

    let mut case = Case::new(true, true, None, None);
    case.pass();
    assert_eq!(case.limits.this_minute(case.now, A).tokens, Some(300));
}

#[test]
fn tokens_that_were_answered_refuse_once_they_reach_the_tpm() {
    assert_eq!(Case::new(false, true, None, Some(20)).pass(), 2);
    assert_eq!(Case::new(false, true, None, Some(0)).pass(), 1, "none yet");
    assert_eq!(
        Case::new(true, false, None, Some(20)).pass(),
        10,
        "not checked"
    );
}

#[test]
fn a_refused_request_stays_counted_in_1_92_only() {
    for (stays, counted) in [(true, 3), (false, 1)] {
        let mut case = Case::new(false, true, Some(1), None);
        case.limits.refused_requests_count = stays;
        for _ in 0..3 {
            let _ = case.call();
        }

        case.now = Instant::from_secs_f64(1.0);
        assert_eq!(case.limits.this_minute(case.now, A).requests, Some(counted));
    }
}

#[test]
fn a_choice_sees_the_reservations_of_its_own_instant_in_1_92_only() {
    for (after, seen) in [(true, Some(1)), (false, Some(2))] {
        let mut case = Case::new(true, false, None, None);
        case.limits.reserves_after_the_instant = after;
        let _ = case.call();
        case.now = Instant::from_secs_f64(1.0);
        let _ = case.call();

        assert_eq!(case.limits.this_minute(case.now, A).requests, seen);
        case.now = Instant::from_secs_f64(1.1);
        assert_eq!(case.limits.this_minute(case.now, A).requests, Some(2));
    }
}

#[test]
fn nothing_is_counted_while_nobody_checks() {
    let mut case = Case::new(false, false, Some(1), None);

    assert_eq!(case.pass(), 10);
    assert!(case.limits.counts.is_empty());
}
