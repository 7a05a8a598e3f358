//! `default_litellm_params`, `num_retries_per_request` and a request's own `cooldown_time`.

use std::time::Duration;

use router::{
    Answer, Attempt, Overrides, Profile, ProfileName, RouteError, RouterConfig, Step, Turn,
};

use crate::harness::{A, Hand, NEW, OLD, answered, group, sent, waiting};

const CORRECTED: Profile = ProfileName::Corrected.profile();

/// Two deployments of which the second is there only so that the first is not alone.
fn config(profile: Profile) -> RouterConfig {
    let mut config = group(["a", "b"], profile);
    config.deployments[0].weight = Some(1e12);
    config.deployments[1].weight = Some(1.0);
    config.settings.num_retries = Some(0);
    config
}

fn call(hand: &mut Hand, overrides: Option<Overrides>) -> Attempt {
    sent(hand.arrive_with("m", false, overrides))
}

/// How many calls a request makes whose calls all fail.
fn calls(hand: &mut Hand, status: u16, overrides: Option<Overrides>) -> usize {
    let mut turn = hand.arrive_with("m", false, overrides);
    let mut calls = 0;
    loop {
        turn = match turn.step {
            Step::Send(attempt) => {
                calls += 1;
                hand.fail(attempt, status)
            }
            Step::Wait(wait) => hand.wait(wait),
            Step::Done(_) => return calls,
            Step::Park(_) => panic!("nobody has slots"),
        };
    }
}

fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

#[test]
fn retries_that_are_added_come_before_the_deployments_and_after_the_callers() {
    let mut config = config(NEW);
    config.settings.disable_cooldowns = true;
    config.settings.default_litellm_params.num_retries = Some(1);
    for deployment in &mut config.deployments {
        deployment.num_retries = Some(3);
    }
    let asking = |num_retries, blocking| {
        Some(Overrides {
            num_retries,
            blocking,
            ..Overrides::default()
        })
    };
    let mut hand = Hand::new(&config);

    assert_eq!(calls(&mut hand, 403, None), 2);
    assert_eq!(calls(&mut hand, 403, asking(Some(0), false)), 1);
    assert_eq!(calls(&mut hand, 403, asking(Some(2), false)), 3);
    assert_eq!(calls(&mut hand, 403, asking(None, true)), 4, "blocking");
}

#[test]
fn in_1_92_the_client_library_makes_the_retries_that_are_added_too() {
    for (profile, expected) in [(OLD, 4), (NEW, 2), (CORRECTED, 2)] {
        let mut config = config(profile);
        config.settings.disable_cooldowns = true;
        config.settings.default_litellm_params.num_retries = Some(1);
        let mut hand = Hand::new(&config);

        assert_eq!(calls(&mut hand, 500, None), expected, "{:?}", profile.name);
    }
}

#[test]
fn a_cooldown_length_that_is_added_counts_in_1_92_only() {
    for (profile, expected) in [(OLD, 33), (NEW, 20)] {
        let mut config = config(profile);
        config.deployments[0].cooldown_time = seconds(20);
        config.settings.default_litellm_params.cooldown_time = seconds(33);
        let mut hand = Hand::new(&config);
        let attempt = call(&mut hand, None);
        let _ = hand.fail(attempt, 429);

        assert_eq!(hand.router.cooldown_length(hand.now, A), seconds(expected));
    }
}

#[test]
fn a_requests_own_cooldown_length_comes_before_the_deployments() {
    let benched = |profile, own: u64, info: Option<u64>| {
        let mut config = config(profile);
        config.deployments[0].cooldown_time = seconds(20);
        config.deployments[0].model_info_cooldown_time = info.and_then(seconds);
        let mut hand = Hand::new(&config);
        let overrides = Overrides {
            cooldown_time: seconds(own),
            ..Overrides::default()
        };
        let attempt = call(&mut hand, Some(overrides));
        let _ = hand.fail(attempt, 429);
        hand.router.cooldown_length(hand.now, A)
    };

    for profile in [OLD, NEW] {
        assert_eq!(benched(profile, 44, None), seconds(44));
        assert_eq!(benched(profile, 0, None), None, "zero: not at all");
    }
    assert_eq!(benched(NEW, 44, Some(10)), seconds(10));
    assert_eq!(
        benched(OLD, 44, Some(10)),
        seconds(44),
        "it reads no model_info"
    );
}

/// A limit on the failures of a request.
fn limited(profile: Profile, limit: u32) -> RouterConfig {
    let mut config = config(profile);
    config.settings.disable_cooldowns = true;
    config.settings.num_retries = Some(5);
    config.settings.num_retries_per_request = Some(limit);
    config
}

#[test]
fn once_its_failures_are_used_up_a_request_calls_nobody_and_never_less_than_once() {
    for (limit, expected) in [(0, 1), (1, 1), (2, 2), (3, 3), (9, 6)] {
        let mut hand = Hand::new(&limited(NEW, limit));

        assert_eq!(calls(&mut hand, 500, None), expected);
        assert_eq!(calls(&mut hand, 500, None), expected, "each its own");
    }
}

#[test]
fn in_1_92_the_failures_are_those_of_all_requests_and_four_are_kept() {
    for (limit, [first, second]) in [(3, [3, 1]), (4, [4, 1]), (5, [6, 6])] {
        let mut hand = Hand::new(&limited(OLD, limit));

        assert_eq!(calls(&mut hand, 500, None), first);
        assert_eq!(calls(&mut hand, 500, None), second);
    }
}

#[test]
fn a_refused_call_is_a_connection_error_that_counts_against_whoever_was_picked() {
    for (profile, counts) in [(NEW, true), (CORRECTED, false)] {
        let mut config = limited(profile, 1);
        config.settings.disable_cooldowns = false;
        let mut hand = Hand::new(&config);
        let first = call(&mut hand, None);

        let answer = answered(hand.fail(first, 500));

        let Answer::Failed { error, trail } = answer else {
            panic!("{answer:?}")
        };
        let refused = RouteError::FailuresSpent {
            deployment: A,
            blocking: false,
        };
        assert_eq!((error, trail.attempts), (refused, 1));
        assert_eq!(
            (error.exception(), error.status()),
            ("APIConnectionError", Some(500))
        );
        // One failure and five refusals: another failure is over half of at least five.
        let second = call(&mut hand, None);
        let _ = hand.fail(second, 500);
        assert_eq!(hand.router.cooled_until(hand.now, A).is_some(), counts);
    }
}

#[test]
fn a_fallback_is_one_failure_more_and_is_refused_like_a_retry() {
    let calls_with = |limit| {
        let mut config = limited(NEW, limit);
        config.deployments[1].model_name = "g".to_owned();
        config.settings.num_retries = Some(1);
        config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["g".to_owned()])]);
        let mut hand = Hand::new(&config);
        calls(&mut hand, 500, None)
    };

    // a, a, g, g: before the third call three failures are remembered, before the fourth four.
    assert_eq!([3, 4, 5].map(calls_with), [2, 3, 4]);
}

#[test]
fn a_lone_deployment_still_waits_before_a_retry_that_is_refused() {
    let mut config = limited(NEW, 1);
    config.deployments.truncate(1);
    let mut hand = Hand::new(&config);
    let attempt = call(&mut hand, None);

    let wait = waiting(hand.fail(attempt, 500));
    let turn: Turn = hand.wait(wait);

    assert!(
        matches!(turn.step, Step::Wait(_)),
        "refused, and waits again"
    );
}
