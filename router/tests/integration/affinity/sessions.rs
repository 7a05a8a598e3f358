//! Who is pinned, to whom and for how long.

use std::time::Duration;

use router::{Origin, Overrides, config::OptionalPreCallChecks};

use super::{
    CORRECTED, KEYS, SESSIONS, all, ask, caller, pinned, served, session, session_of, two,
};
use crate::harness::{A, Hand, NEW, OLD, parked, sent};

#[test]
fn a_session_stays_and_requests_without_one_are_spread() {
    for profile in [OLD, NEW, CORRECTED] {
        let mut hand = Hand::new(&pinned(SESSIONS, profile));
        let first = served(&mut hand, "m", session(1));

        assert_eq!(all(&mut hand, 20, session(1)), [first; 20]);
        let others = all(&mut hand, 20, Origin::default());
        assert!(others.iter().any(|&d| d != others[0]));
        hand.assert_idle();
    }
}

#[test]
fn an_attempt_that_fails_pins_too_and_its_retries_stay() {
    for profile in [OLD, NEW] {
        let mut config = pinned(SESSIONS, profile);
        config.settings.num_retries = Some(2);
        let mut hand = Hand::new(&config);
        let mut attempt = ask(&mut hand, "m", session(1));
        let first = attempt.deployment();

        for _ in 0..2 {
            attempt = sent(hand.fail(attempt, 500));
            assert_eq!(attempt.deployment(), first);
        }
        let _ = hand.succeed(attempt);

        assert_eq!(served(&mut hand, "m", session(1)), first);
    }
}

#[test]
fn a_pin_ends_a_ttl_after_its_first_write_in_1_92_and_after_its_last_use_in_1_110() {
    for profile in [OLD, NEW] {
        let mut config = pinned(SESSIONS, profile);
        config.settings.deployment_affinity_ttl = Some(Duration::from_secs(10));
        // Whether the pins of twenty sessions hold when this much later they are used again.
        let hold = |gaps: &[f64]| {
            let mut hand = Hand::new(&config);
            let firsts: Vec<_> = (1..=20)
                .map(|s| served(&mut hand, "m", session(s)))
                .collect();
            let mut lasts = Vec::new();
            for gap in gaps {
                hand.pass(*gap);
                lasts = (1..=20)
                    .map(|s| served(&mut hand, "m", session(s)))
                    .collect();
            }
            firsts == lasts
        };

        assert!(hold(&[9.9]));
        assert!(!hold(&[10.0]));
        assert_eq!(hold(&[6.0, 6.0]), profile == NEW);
    }
}

#[test]
fn use_elsewhere_does_not_keep_a_pin_alive() {
    let mut config = pinned(SESSIONS, NEW);
    config.settings.deployment_affinity_ttl = Some(Duration::from_secs(6));
    let mut hand = Hand::new(&config);
    let attempt = ask(&mut hand, "m", session(1));
    let _ = hand.fail(attempt, 429);
    hand.pass(5.0);
    let _ = served(&mut hand, "m", session(1));
    hand.pass(1.0);

    // The pin is gone, so that the next one served is pinned.
    let next = served(&mut hand, "m", session(1));

    assert_eq!(all(&mut hand, 5, session(1)), [next; 5]);
}

#[test]
fn two_callers_sessions_of_one_name_are_two_in_1_110_only() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&pinned(SESSIONS, profile));

        let of_caller = |by| (1..=10).map(move |s| session_of(s, by));
        let first: Vec<_> = of_caller(1).map(|o| served(&mut hand, "m", o)).collect();
        let second: Vec<_> = of_caller(2).map(|o| served(&mut hand, "m", o)).collect();
        let again: Vec<_> = of_caller(1).map(|o| served(&mut hand, "m", o)).collect();

        assert_eq!(first, again);
        assert_eq!(first == second, profile == OLD);
    }
}

#[test]
fn the_sessions_pin_comes_before_the_keys_which_follows_it_in_1_92() {
    let both = OptionalPreCallChecks {
        deployment_affinity: true,
        ..SESSIONS
    };
    let mut hand = Hand::new(&pinned(both, OLD));
    // A key that is pinned elsewhere than the session.
    let of_session = served(&mut hand, "m", session(1));
    let key = (1..50)
        .find(|&key| served(&mut hand, "m", caller(key)) != of_session)
        .unwrap();

    assert_eq!(served(&mut hand, "m", session_of(1, key)), of_session);
    assert_eq!(served(&mut hand, "m", caller(key)), of_session);
}

#[test]
fn a_group_with_an_entry_of_its_own_has_exactly_its_checks_and_is_named_as_its_deployments_are() {
    let mut config = pinned(SESSIONS, NEW);
    let of_m = ("m".to_owned(), KEYS);
    let of_alias = ("al".to_owned(), OptionalPreCallChecks::default());
    config.settings.model_group_affinity_config = [of_m, of_alias].into();
    let alias = ("al".to_owned(), "m".to_owned());
    config.settings.model_group_alias = [alias].into();
    let mut hand = Hand::new(&config);

    let by_session = all(&mut hand, 20, session(1));
    assert!(by_session.iter().any(|&d| d != by_session[0]));
    let by_key = served(&mut hand, "m", caller(1));
    for name in ["m", "al", "m", "al"] {
        assert_eq!(served(&mut hand, name, caller(1)), by_key);
    }
}

#[test]
fn candidates_of_several_groups_are_not_narrowed_but_each_is_pinned_in_its_own() {
    let mut config = pinned(SESSIONS, NEW);
    for deployment in &mut config.deployments {
        deployment.model = "openai/same".to_owned();
    }
    for deployment in &mut config.deployments[4..] {
        deployment.model_name = "n".to_owned();
    }
    let mut hand = Hand::new(&config);

    let served: Vec<_> = (0..20)
        .map(|_| served(&mut hand, "openai/same", session(1)))
        .collect();

    assert!(served.iter().any(|&d| d != served[0]));
    let first_of_m = served.iter().find(|d| d.0 < 4).unwrap();
    assert_eq!(all(&mut hand, 3, session(1)), [*first_of_m; 3]);
}

#[test]
fn calls_by_id_pin_and_blocking_calls_neither_pin_nor_follow() {
    let mut hand = Hand::new(&pinned(SESSIONS, NEW));
    let blocking = || {
        Some(Overrides {
            blocking: true,
            ..Overrides::default()
        })
    };

    let by_id = served(&mut hand, "c", session(1));
    assert_eq!(served(&mut hand, "m", session(1)), by_id);
    let blocked: Vec<_> = (0..20)
        .map(|_| {
            let attempt = sent(hand.arrive_from(session(1), "m", false, blocking()));
            let by = attempt.deployment();
            let _ = hand.succeed(attempt);
            by
        })
        .collect();
    assert!(blocked.iter().any(|&d| d != by_id));
    assert_eq!(served(&mut hand, "m", session(1)), by_id);
}

#[test]
fn a_parked_request_is_pinned_when_it_is_sent() {
    let mut config = two(SESSIONS, OLD);
    config.deployments.truncate(1);
    config.deployments[0].max_parallel_requests = Some(1);
    config.settings.deployment_affinity_ttl = Some(Duration::from_secs(10));
    let mut hand = Hand::new(&config);
    let first = sent(hand.arrive("m"));
    let waits = parked(hand.arrive_from(session(1), "m", false, None));
    hand.pass(20.0);

    let _ = hand.succeed(first);
    let attempt = sent(hand.admit(waits));

    assert_eq!(attempt.deployment(), A);
    let _ = hand.succeed(attempt);
    hand.assert_idle();
}
