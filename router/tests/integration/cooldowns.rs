//! What an operator sees of cooldowns, and ending them by hand.

use std::time::Duration;

use router::{CooldownReason, Failure, Instant, Outcome, RetryAfter};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent};

/// Both deployments are benched: `a` for 30 s, `b` for 5.
fn both_benched() -> Hand {
    let mut config = group(["a", "b"], NEW);
    config.deployments[0].weight = Some(1e12);
    config.deployments[1].weight = Some(1.0);
    let mut hand = Hand::new(&config);
    hand.pass(1.0);
    let attempt = sent(hand.arrive("m"));
    assert_eq!(attempt.deployment(), A);
    let hint = Failure::with_status(429).retry_after(RetryAfter::Seconds(30));
    hand.pass(1.0);
    let attempt = sent(hand.finish(attempt, &Outcome::Failure(hint)));
    hand.pass(1.0);
    let _ = answered(hand.fail(attempt, 401));
    hand
}

fn cooled(hand: &Hand) -> Vec<u32> {
    let cooled = hand.router.cooldowns(hand.now);
    cooled.map(|cooldown| cooldown.deployment.0).collect()
}

#[test]
fn every_cooldown_is_shown_with_its_span_its_rule_and_its_status() {
    let hand = both_benched();
    let at = Instant::from_secs_f64;

    let shown: Vec<_> = hand.router.cooldowns(hand.now).collect();
    assert_eq!(shown.len(), 2);
    assert_eq!((shown[0].deployment, shown[1].deployment), (A, B));
    assert_eq!((shown[0].since, shown[0].until), (at(2.0), at(32.0)));
    assert_eq!((shown[1].since, shown[1].until), (at(3.0), at(8.0)));
    assert_eq!(shown[0].length, Duration::from_secs(30));
    assert_eq!(
        (shown[0].why, shown[0].status),
        (CooldownReason::RateLimited, Some(429))
    );
    assert_eq!(
        (shown[1].why, shown[1].status),
        (CooldownReason::NotRetryable, Some(401))
    );
}

#[test]
fn a_deployment_whose_cooldown_is_ended_is_picked_at_once_and_the_others_stay_out() {
    let mut hand = both_benched();
    let now = hand.now;

    assert!(hand.router.clear_cooldown(now, B, &mut hand.said));
    assert_eq!(cooled(&hand), [0]);
    for _ in 0..20 {
        assert_eq!(sent(hand.arrive("m")).deployment(), B);
    }
    assert!(!hand.router.clear_cooldown(now, B, &mut hand.said));
    assert_eq!(hand.heard("CooldownCleared"), 1);
}

#[test]
fn a_cooldown_that_is_ended_can_begin_again() {
    let mut hand = both_benched();
    let now = hand.now;
    hand.router.clear_cooldown(now, B, &mut hand.said);
    let attempt = sent(hand.arrive("m"));
    let _ = answered(hand.fail(attempt, 401));

    assert_eq!(cooled(&hand), [0, 1]);
    hand.pass(5.0);
    assert_eq!(cooled(&hand), [0]);
}

#[test]
fn all_cooldowns_can_be_ended_together() {
    let mut hand = both_benched();
    let now = hand.now;

    assert_eq!(hand.router.clear_cooldowns(now, &mut hand.said), 2);
    assert_eq!(hand.router.clear_cooldowns(now, &mut hand.said), 0);
    assert!(cooled(&hand).is_empty());
    // Weights decide again, over the whole group.
    assert_eq!(sent(hand.arrive("m")).deployment(), A);
}

#[test]
fn a_lone_deployment_is_benched_once_a_thousand_requests_have_all_failed() {
    for profile in [OLD, NEW] {
        for one_success in [false, true] {
            let mut config = group(["a"], profile);
            config.settings.num_retries = Some(0);
            let mut hand = Hand::new(&config);
            for n in 0..1_000 {
                assert_eq!(hand.router.cooled_until(hand.now, A), None, "after {n}");
                let attempt = sent(hand.arrive("m"));
                match one_success && n == 0 {
                    true => drop(hand.succeed(attempt)),
                    false => drop(hand.fail(attempt, 500)),
                }
                hand.pass(0.05);
            }

            let benched = hand.router.cooled_until(hand.now, A).is_some();
            assert_eq!(benched, !one_success);
        }
    }
}
