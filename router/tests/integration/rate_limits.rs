//! Limits on requests and tokens a minute: what a refusal does to the request and to the deployment.

use router::{
    Answer, Overrides, Profile, RateLimitedBy, RouteError, RouterConfig, RouterSettings, Step,
    StrategySpec, Turn, WaitReason, config::RetryPolicy, strategy::UsageArgs,
};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, parked, sent};

const MANY: Option<u64> = Some(100);

/// A is picked first, and takes one request a minute.
fn enforced(profile: Profile) -> RouterConfig {
    let mut config = group(["a", "b"], profile);
    let checks = &mut config.settings.optional_pre_call_checks;
    checks.enforce_model_rate_limits = true;
    for (deployment, weight) in config.deployments.iter_mut().zip([1.0, 0.0]) {
        deployment.weight = Some(weight);
        deployment.rpm = Some(1);
        deployment.max_parallel_requests = MANY;
    }
    config
}

fn usage_v2<const N: usize>(ids: [&str; N], profile: Profile, rpm: u64) -> RouterConfig {
    let mut config = group(ids, profile);
    config.settings.routing_strategy = StrategySpec::UsageBasedV2(UsageArgs::default());
    for deployment in &mut config.deployments {
        deployment.rpm = Some(rpm);
        deployment.max_parallel_requests = MANY;
    }
    config
}

fn serve(hand: &mut Hand, model: &str) {
    let attempt = sent(hand.arrive(model));
    let _ = answered(hand.succeed(attempt));
}

fn refused(turn: Turn) -> RouteError {
    match answered(turn) {
        Answer::Failed { error, .. } => error,
        Answer::Completed { .. } => panic!("it was served"),
    }
}

fn by(error: RouteError) -> RateLimitedBy {
    match error {
        RouteError::RateLimited { by, .. } => by,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_enforced_limit_fails_at_once_although_another_is_free_and_benches_the_full_one() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&enforced(profile));
        serve(&mut hand, "m");

        let error = refused(hand.arrive("m"));

        assert_eq!(by(error), RateLimitedBy::ModelRateLimits);
        assert_eq!(
            (error.exception(), error.status()),
            ("RateLimitError", Some(429))
        );
        assert!(hand.router.cooled_until(hand.now, A).is_some());
        assert_eq!(sent(hand.arrive("m")).deployment(), B);
    }
}

#[test]
fn a_refusal_benches_for_the_routers_time_whatever_the_deployments() {
    let mut config = enforced(NEW);
    config.settings.cooldown_time = Some(std::time::Duration::from_secs(3));
    config.deployments[0].cooldown_time = Some(std::time::Duration::ZERO);
    let mut hand = Hand::new(&config);
    serve(&mut hand, "m");
    let _ = refused(hand.arrive("m"));

    let length = hand.router.cooldown_length(hand.now, A);
    assert_eq!(length, Some(std::time::Duration::from_secs(3)));
}

#[test]
fn refusals_count_against_allowed_fails_but_not_as_failures() {
    let mut config = enforced(NEW);
    config.settings.allowed_fails = Some(1);
    let mut hand = Hand::new(&config);
    serve(&mut hand, "m");

    let _ = refused(hand.arrive("m"));
    assert!(hand.router.cooled_until(hand.now, A).is_none());
    let _ = refused(hand.arrive("m"));
    assert!(hand.router.cooled_until(hand.now, A).is_some());

    // Four refusals and four failures are not yet five failures.
    let mut config = enforced(NEW);
    config.deployments.truncate(1);
    config.settings.num_retries = Some(0);
    let mut hand = Hand::new(&config);
    serve(&mut hand, "m");
    for _ in 0..10 {
        let _ = refused(hand.arrive("m"));
    }
    assert!(
        hand.router.cooled_until(hand.now, A).is_none(),
        "a lone one is spared"
    );
}

#[test]
fn only_the_callers_retries_and_a_policy_go_on_after_an_enforced_limit() {
    let asked = |profile, callers: Option<u32>, policy: Option<u32>| {
        let mut config = enforced(profile);
        config.settings.num_retries = Some(2);
        config.settings.retry_policy = policy.map(|n| RetryPolicy {
            rate_limit: Some(n),
            ..RetryPolicy::default()
        });
        let mut hand = Hand::new(&config);
        serve(&mut hand, "m");
        let overrides = Overrides {
            num_retries: callers,
            ..Overrides::default()
        };
        matches!(
            hand.arrive_with("m", false, Some(overrides)).step,
            Step::Send(_)
        )
    };

    assert!(!asked(NEW, None, None));
    assert!(asked(NEW, Some(1), None));
    assert!(
        !asked(OLD, Some(1), None),
        "the exception's zero beats the caller"
    );
    assert!(asked(NEW, None, Some(1)));
    assert!(asked(OLD, None, Some(1)));
}

#[test]
fn a_blocking_call_is_refused_without_benching_and_retried_as_usual() {
    for profile in [OLD, NEW] {
        let mut config = enforced(profile);
        config.deployments.truncate(1);
        let mut hand = Hand::new(&config);
        serve(&mut hand, "m");
        let blocking = Overrides {
            blocking: true,
            ..Overrides::default()
        };

        let turn = hand.arrive_with("m", false, Some(blocking.clone()));

        let Step::Wait(wait) = turn.step else {
            panic!("it waits for its retry")
        };
        assert_eq!(wait.why(), WaitReason::RetryAfter);
        assert_eq!(sent(hand.wait(wait)).deployment(), A, "in the next minute");
        assert!(hand.router.cooled_until(hand.now, A).is_none());
        let by_id = hand.arrive_with("a", false, Some(blocking));
        assert_eq!(sent(by_id).deployment(), A, "by its id it knows no limit");
    }
}

#[test]
fn a_call_by_id_is_checked_too() {
    let mut hand = Hand::new(&enforced(NEW));
    serve(&mut hand, "a");

    assert_eq!(
        by(refused(hand.arrive("a"))),
        RateLimitedBy::ModelRateLimits
    );
}

#[test]
fn a_lone_deployment_over_its_limits_costs_a_minute_for_each_retry() {
    let mut config = usage_v2(["a"], NEW, 2);
    config.settings.num_retries = Some(1);
    let mut hand = Hand::new(&config);
    serve(&mut hand, "m");
    hand.pass(1.0);

    let turn = hand.arrive("m");

    let Step::Wait(wait) = turn.step else {
        panic!("it waits")
    };
    let waits = wait.until().since(hand.now).as_secs_f64();
    assert!((60.0..60.75).contains(&waits), "{waits}");
    assert_eq!(sent(hand.wait(wait)).deployment(), A);
}

#[test]
fn with_two_deployments_the_retries_over_the_limits_cost_nothing_and_help_nothing() {
    let mut hand = Hand::new(&usage_v2(["a", "b"], NEW, 1));
    for _ in 0..2 {
        serve(&mut hand, "m");
        hand.pass(1.0);
    }

    let error = refused(hand.arrive("m"));

    assert_eq!(by(error), RateLimitedBy::UsageChoice);
    hand.assert_idle();
}

#[test]
fn simultaneous_requests_get_the_whole_limit_in_1_110_and_one_less_in_1_92() {
    for (profile, expected) in [(OLD, 2), (NEW, 3)] {
        let mut config = usage_v2(["a"], profile, 3);
        config.settings.num_retries = Some(0);
        let mut hand = Hand::new(&config);

        let turns: Vec<Turn> = (0..8).map(|_| hand.arrive("m")).collect();

        let passed = turns.iter().filter(|t| matches!(t.step, Step::Send(_)));
        assert_eq!(passed.count(), expected);
    }
}

#[test]
fn a_blocking_call_over_the_limits_is_a_value_error() {
    let mut config = usage_v2(["a"], NEW, 1);
    config.settings.num_retries = Some(0);
    let mut hand = Hand::new(&config);
    serve(&mut hand, "m");
    hand.pass(1.0);
    let blocking = Overrides {
        blocking: true,
        ..Overrides::default()
    };

    let error = refused(hand.arrive_with("m", false, Some(blocking)));

    assert_eq!((error.exception(), error.status()), ("ValueError", None));
}

#[test]
fn a_released_request_that_is_refused_passes_its_slot_on() {
    let mut config = group(["a"], OLD);
    config.settings.num_retries = Some(0);
    config
        .settings
        .optional_pre_call_checks
        .enforce_model_rate_limits = true;
    config.deployments[0].rpm = Some(1);
    config.deployments[0].max_parallel_requests = Some(1);
    let mut hand = Hand::new(&config);
    let first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));
    let third = parked(hand.arrive("m"));

    let turn = hand.succeed(first);
    assert_eq!(turn.released, Some(second.request()));
    let turn = hand.admit(second);
    assert_eq!(turn.released, Some(third.request()));
    let _ = refused(turn);
    let _ = refused(hand.admit(third));

    hand.assert_idle();
}

#[test]
fn counts_survive_a_change_of_the_strategy() {
    let mut config = usage_v2(["a"], NEW, 2);
    config.settings.num_retries = Some(0);
    let mut hand = Hand::new(&config);
    serve(&mut hand, "m");
    hand.pass(1.0);
    let shuffled = RouterSettings {
        routing_strategy: StrategySpec::SimpleShuffle,
        ..config.settings.clone()
    };

    hand.router.update_settings(shuffled).unwrap();
    serve(&mut hand, "m");
    serve(&mut hand, "m");
    hand.router.update_settings(config.settings).unwrap();

    assert_eq!(by(refused(hand.arrive("m"))), RateLimitedBy::UsageChoice);
}

#[test]
fn only_1_92_tells_a_replaced_strategy_of_what_happens_in_between() {
    for (profile, expected) in [(OLD, B), (NEW, A)] {
        let mut config = group(["a", "b"], profile);
        config.deployments[0].weight = Some(1.0);
        config.deployments[1].weight = Some(0.0);
        config.settings.routing_strategy = StrategySpec::UsageBased(UsageArgs::default());
        let mut hand = Hand::new(&config);
        serve(&mut hand, "m");
        let shuffled = RouterSettings {
            routing_strategy: StrategySpec::SimpleShuffle,
            ..config.settings.clone()
        };
        hand.router.update_settings(shuffled).unwrap();
        serve(&mut hand, "m");
        hand.router.update_settings(config.settings).unwrap();

        // A has answered once or twice; B answers once now and is then behind or equal.
        serve(&mut hand, "m");
        assert_eq!(sent(hand.arrive("m")).deployment(), expected);
    }
}
