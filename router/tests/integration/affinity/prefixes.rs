//! Pins of prompts' prefixes.

use std::num::NonZeroU64;

use router::{Api, ContentId, Origin, Overrides, config::OptionalPreCallChecks};

use super::{PREFIXES, long, pinned, served, served_long, session};
use crate::harness::{Hand, NEW, OLD, sent};

#[test]
fn a_prefix_of_1024_tokens_is_pinned_by_its_answer_in_whatever_group_and_a_shorter_one_is_not() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&pinned(PREFIXES, profile));
        // A failed attempt pins nothing.
        let firsts: Vec<_> = (0..10)
            .map(|_| {
                let attempt = sent(long(&mut hand, "m", 1, 1_024));
                let at = attempt.deployment();
                let _ = hand.fail(attempt, 400);
                at
            })
            .collect();
        assert!(firsts.iter().any(|&d| d != firsts[0]));

        let first = served_long(&mut hand, "m", 1);
        for _ in 0..10 {
            assert_eq!(served_long(&mut hand, "m", 1), first);
        }
        let shorts: Vec<_> = (0..10)
            .map(|_| {
                let attempt = sent(long(&mut hand, "m", 1, 1_023));
                let at = attempt.deployment();
                let _ = hand.succeed(attempt);
                at
            })
            .collect();
        assert!(shorts.iter().any(|&d| d != first));
    }
}

#[test]
fn a_prefix_follows_whoever_answered_last_and_is_found_in_every_group() {
    for profile in [OLD, NEW] {
        let mut config = pinned(PREFIXES, profile);
        for deployment in &mut config.deployments[4..] {
            deployment.model_name = "n".to_owned();
        }
        let mut hand = Hand::new(&config);
        let of_m = served_long(&mut hand, "m", 1);
        let of_n = served_long(&mut hand, "n", 1);
        assert_eq!(served_long(&mut hand, "n", 1), of_n);

        // Its pin was moved to the other group, so that this one is drawn and pinned anew.
        let drawn = served_long(&mut hand, "m", 1);
        assert_eq!(served_long(&mut hand, "m", 1), drawn);
        // While the pinned one is out another answers, and keeps it.
        let attempt = sent(long(&mut hand, "m", 1, 1_024));
        let _ = hand.fail(attempt, 429);
        let instead = served_long(&mut hand, "m", 1);
        hand.pass(10.0);
        assert_eq!(served_long(&mut hand, "m", 1), instead);
        let _ = of_m;
    }
}

#[test]
fn a_prefixes_pin_lives_300_s_from_the_first_answer_in_1_92_and_from_the_last_in_1_110() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&pinned(PREFIXES, profile));
        let of_all = |hand: &mut Hand| {
            let prefixes = 1..=20;
            prefixes
                .map(|p| served_long(hand, "m", p))
                .collect::<Vec<_>>()
        };
        let first = of_all(&mut hand);
        hand.pass(299.0);
        assert_eq!(of_all(&mut hand), first);
        hand.pass(2.0);

        assert_eq!(of_all(&mut hand) == first, profile == NEW);
    }
}

#[test]
fn a_retry_is_bound_to_a_prefixes_pin_in_1_92_only() {
    for profile in [OLD, NEW] {
        let mut config = pinned(PREFIXES, profile);
        config.settings.num_retries = Some(1);
        config.settings.disable_cooldowns = true;
        let mut hand = Hand::new(&config);
        let first = served_long(&mut hand, "m", 1);

        let bound = (0..10).all(|_| {
            let attempt = sent(long(&mut hand, "m", 1, 1_024));
            assert_eq!(attempt.deployment(), first);
            let retry = sent(hand.fail(attempt, 500));
            let at = retry.deployment();
            let _ = hand.fail(retry, 400);
            at == first
        });

        assert_eq!(bound, profile == OLD);
    }
}

#[test]
fn the_sessions_pin_comes_before_the_prefixes_which_follows_it() {
    let both = OptionalPreCallChecks {
        session_affinity: true,
        ..PREFIXES
    };
    let mut hand = Hand::new(&pinned(both, NEW));
    let of_prefix = served_long(&mut hand, "m", 1);
    let other = (1..50)
        .find(|&s| served(&mut hand, "m", session(s)) != of_prefix)
        .unwrap();
    let of_session = served(&mut hand, "m", session(other));

    let attempt = sent(hand.arrive_as("m", |request| {
        request.prompt_tokens = 2_000;
        request.origin = session(other);
        request.origin.prefix = NonZeroU64::new(1).map(ContentId);
    }));

    assert_eq!(attempt.deployment(), of_session);
    let _ = hand.succeed(attempt);
    assert_eq!(served_long(&mut hand, "m", 1), of_session);
}

#[test]
fn embeddings_are_pinned_by_session_and_not_by_prefix() {
    let both = OptionalPreCallChecks {
        session_affinity: true,
        ..PREFIXES
    };
    let mut hand = Hand::new(&pinned(both, NEW));
    let embed = |hand: &mut Hand, origin: Origin| {
        let attempt = sent(hand.arrive_as("m", |request| {
            request.prompt_tokens = 2_000;
            request.origin = origin;
            request.overrides = Some(
                Overrides {
                    api: Api::Embedding,
                    ..Overrides::default()
                }
                .into(),
            );
        }));
        let by = attempt.deployment();
        let _ = hand.succeed(attempt);
        by
    };
    let prefix = Origin {
        prefix: NonZeroU64::new(1).map(ContentId),
        ..Origin::default()
    };

    let of_session = embed(&mut hand, session(1));
    assert!((0..10).all(|_| embed(&mut hand, session(1)) == of_session));
    let first = embed(&mut hand, prefix);
    assert!((0..20).any(|_| embed(&mut hand, prefix) != first));
}
