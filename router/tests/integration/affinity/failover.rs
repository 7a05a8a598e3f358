//! What becomes of a pin whose deployment is out, excluded or spent.

use std::time::Duration;

use router::{Answer, Origin, RouteError, Step, config::Budget};

use super::{CORRECTED, KEYS, SESSIONS, all, ask, caller, pinned, served, session, two};
use crate::harness::{A, B, Hand, NEW, OLD, answered, sent, waiting};

#[test]
fn after_a_cooldown_the_session_goes_back_in_1_110_and_stays_with_its_new_one_in_1_92() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&pinned(SESSIONS, profile));
        let attempt = ask(&mut hand, "m", session(1));
        let first = attempt.deployment();
        let _ = hand.fail(attempt, 429);

        let during = all(&mut hand, 20, session(1));
        assert!(during.iter().all(|&d| d != first));
        let moved = during.iter().all(|&d| d == during[0]);
        assert_eq!(moved, profile == OLD, "1.110 draws each time");
        hand.pass(10.0);

        let back = if profile == NEW { first } else { during[0] };
        assert_eq!(all(&mut hand, 5, session(1)), [back; 5]);
    }
}

#[test]
fn with_repin_on_failover_a_session_moves_for_good_and_a_key_does_not() {
    for (checks, origin) in [(SESSIONS, session(1)), (KEYS, caller(1))] {
        let mut config = pinned(checks, NEW);
        config.settings.session_affinity_repin_on_failover = true;
        let mut hand = Hand::new(&config);
        let attempt = ask(&mut hand, "m", origin);
        let first = attempt.deployment();
        let _ = hand.fail(attempt, 429);
        let second = served(&mut hand, "m", origin);
        hand.pass(10.0);

        let back = if checks == SESSIONS { second } else { first };
        assert_eq!(all(&mut hand, 5, origin), [back; 5]);
    }
}

#[test]
fn a_pin_of_a_deployment_that_was_taken_out_moves_with_repin_only() {
    for repin in [false, true] {
        let mut config = pinned(SESSIONS, NEW);
        config.settings.session_affinity_repin_on_failover = repin;
        let mut hand = Hand::new(&config);
        let first = served(&mut hand, "m", session(1));
        hand.router.delete_deployment(first);

        let after = all(&mut hand, 20, session(1));

        assert_eq!(after.iter().all(|&d| d == after[0]), repin);
    }
}

#[test]
fn a_pin_comes_before_order_tiers_and_yields_to_the_tier_that_a_fallback_asks_for_in_1_110() {
    for profile in [OLD, NEW] {
        let mut config = two(SESSIONS, profile);
        config.deployments[0].order = Some(1);
        config.deployments[1].order = Some(2);
        let mut hand = Hand::new(&config);
        // The first tier is out while the session begins, so that it is pinned to the second.
        let attempt = ask(&mut hand, "a", Origin::default());
        let _ = hand.fail(attempt, 429);
        assert_eq!(served(&mut hand, "m", session(1)), B);
        hand.pass(10.0);
        assert_eq!(served(&mut hand, "m", session(1)), B);

        // A session of the first tier, which now fails without being benched.
        assert_eq!(served(&mut hand, "m", session(2)), A);
        let attempt = ask(&mut hand, "m", session(2));
        let second_tier = sent(hand.fail(attempt, 500));

        assert_eq!(second_tier.deployment(), if profile == NEW { B } else { A });
        let _ = hand.succeed(second_tier);
        assert_eq!(served(&mut hand, "m", session(2)), A);
    }
}

#[test]
fn weighted_failover_leaves_a_pin_in_1_110_and_finds_nobody_behind_it_in_1_92() {
    for profile in [OLD, NEW, CORRECTED] {
        for repin in [false, true] {
            let mut config = two(SESSIONS, profile);
            config.settings.enable_weighted_failover = true;
            config.settings.session_affinity_repin_on_failover = repin;
            let mut hand = Hand::new(&config);
            let first = served(&mut hand, "m", session(1));
            let attempt = ask(&mut hand, "m", session(1));
            assert_eq!(attempt.deployment(), first);

            let turn = hand.fail(attempt, 500);

            if profile == OLD {
                let _ = answered(turn);
            } else {
                let rest = sent(turn);
                assert_ne!(rest.deployment(), first);
                let _ = hand.succeed(rest);
            }
            // It was never out, so that the pin is where it was.
            assert_eq!(served(&mut hand, "m", session(1)), first);
        }
    }
}

#[test]
fn a_retry_after_a_refusal_leaves_a_pin_in_1_110() {
    let mut config = pinned(SESSIONS, NEW);
    config.settings.num_retries = Some(1);
    let mut hand = Hand::new(&config);
    let attempt = ask(&mut hand, "m", session(1));
    let first = attempt.deployment();

    let retry = sent(hand.fail(attempt, 403));

    assert_ne!(retry.deployment(), first);
    let _ = hand.succeed(retry);
    assert_eq!(served(&mut hand, "m", session(1)), first);
}

#[test]
fn a_pin_hides_who_has_budget_left_in_litellm_and_not_when_corrected() {
    for profile in [OLD, NEW, CORRECTED] {
        let mut config = two(SESSIONS, profile);
        config.deployments[0].prices.input = Some(1.0);
        config.deployments[0].prices.output = Some(1.0);
        config.deployments[0].budget = Some(Budget {
            limit: Some(1.0),
            period: Some(Duration::from_secs(60)),
        });
        let mut hand = Hand::new(&config);
        let _ = served(&mut hand, "a", session(1));

        let turn = hand.arrive_from(session(1), "m", false, None);

        if profile == CORRECTED {
            assert_eq!(sent(turn).deployment(), B);
        } else {
            let answer = answered(turn);
            let spent = RouteError::BudgetSpent;
            assert!(matches!(answer, Answer::Failed { error, .. } if error == spent));
        }
    }
}

#[test]
fn a_fallback_group_has_pins_of_its_own() {
    let mut config = pinned(SESSIONS, NEW);
    for deployment in &mut config.deployments[1..] {
        deployment.model_name = "f".to_owned();
    }
    config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    let mut hand = Hand::new(&config);
    let fallback = |hand: &mut Hand| {
        let attempt = ask(hand, "m", session(1));
        let fallback = sent(hand.fail(attempt, 500));
        let by = fallback.deployment();
        let _ = hand.succeed(fallback);
        by
    };
    let first = fallback(&mut hand);

    for _ in 0..3 {
        assert_eq!(fallback(&mut hand), first);
    }
    assert_eq!(served(&mut hand, "f", session(1)), first);
}

#[test]
fn a_pin_alone_in_its_group_still_waits_between_retries() {
    let mut config = two(SESSIONS, NEW);
    config.deployments.truncate(1);
    config.settings.num_retries = Some(1);
    let mut hand = Hand::new(&config);
    let attempt = ask(&mut hand, "m", session(1));

    let wait = waiting(hand.fail(attempt, 500));

    assert!(matches!(hand.wait(wait).step, Step::Send(_)));
}
