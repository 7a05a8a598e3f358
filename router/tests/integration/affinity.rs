//! Pins of sessions, of callers' keys and of prompts' prefixes.

use std::{num::NonZeroU64, time::Duration};

use router::{
    Answer, Api, Attempt, CallerId, ContentId, DeploymentId, Origin, Overrides, Profile,
    ProfileName, RouteError, RouterConfig, SessionId, Step, Turn,
    config::{Budget, OptionalPreCallChecks},
};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent, waiting};

const CORRECTED: Profile = ProfileName::Corrected.profile();

const SESSIONS: OptionalPreCallChecks = OptionalPreCallChecks {
    session_affinity: true,
    deployment_affinity: false,
    prompt_caching: false,
    enforce_model_rate_limits: false,
};
const KEYS: OptionalPreCallChecks = OptionalPreCallChecks {
    session_affinity: false,
    deployment_affinity: true,
    ..SESSIONS
};
const PREFIXES: OptionalPreCallChecks = OptionalPreCallChecks {
    session_affinity: false,
    prompt_caching: true,
    ..SESSIONS
};

/// Eight deployments of one group.
fn pinned(checks: OptionalPreCallChecks, profile: Profile) -> RouterConfig {
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut config = group(ids, profile);
    config.settings.optional_pre_call_checks = checks;
    config.settings.num_retries = Some(0);
    config.settings.cooldown_time = Some(Duration::from_secs(10));
    config
}

fn two(checks: OptionalPreCallChecks, profile: Profile) -> RouterConfig {
    let mut config = pinned(checks, profile);
    config.deployments.truncate(2);
    config
}

fn session(number: u64) -> Origin {
    Origin {
        session: NonZeroU64::new(number).map(SessionId),
        ..Origin::default()
    }
}

fn caller(number: u64) -> Origin {
    Origin {
        caller: NonZeroU64::new(number).map(CallerId),
        ..Origin::default()
    }
}

fn session_of(number: u64, by: u64) -> Origin {
    Origin {
        caller: caller(by).caller,
        ..session(number)
    }
}

fn ask(hand: &mut Hand, name: &str, origin: Origin) -> Attempt {
    sent(hand.arrive_from(origin, name, false, None))
}

/// Asks, and gives who answered.
fn served(hand: &mut Hand, name: &str, origin: Origin) -> DeploymentId {
    let attempt = ask(hand, name, origin);
    let by = attempt.deployment();
    let _ = answered(hand.succeed(attempt));
    by
}

/// Who answers this many requests.
fn all(hand: &mut Hand, times: usize, origin: Origin) -> Vec<DeploymentId> {
    (0..times).map(|_| served(hand, "m", origin)).collect()
}

/// A long prompt with this prefix.
fn long(hand: &mut Hand, name: &str, prefix: u64, tokens: u32) -> Turn {
    hand.arrive_as(name, |request| {
        request.prompt_tokens = tokens;
        request.origin.prefix = NonZeroU64::new(prefix).map(ContentId);
    })
}

fn served_long(hand: &mut Hand, name: &str, prefix: u64) -> DeploymentId {
    let attempt = sent(long(hand, name, prefix, 1_024));
    let by = attempt.deployment();
    let _ = answered(hand.succeed(attempt));
    by
}

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

#[test]
fn a_parked_request_is_pinned_when_it_is_sent() {
    let mut config = two(SESSIONS, OLD);
    config.deployments.truncate(1);
    config.deployments[0].max_parallel_requests = Some(1);
    config.settings.deployment_affinity_ttl = Some(Duration::from_secs(10));
    let mut hand = Hand::new(&config);
    let first = sent(hand.arrive("m"));
    let parked = crate::harness::parked(hand.arrive_from(session(1), "m", false, None));
    hand.pass(20.0);

    let _ = hand.succeed(first);
    let attempt = sent(hand.admit(parked));

    assert_eq!(attempt.deployment(), A);
    let _ = hand.succeed(attempt);
    hand.assert_idle();
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
