//! Answers from the response cache: what a hit counts as, and what it leaves alone.

use std::num::NonZeroU64;

use router::{Answer, ContentId, Origin, Overrides, RouterConfig, Step, StrategySpec, Turn};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, parked, sent};

fn caching<const N: usize>(ids: [&str; N], profile: router::Profile) -> RouterConfig {
    let mut config = group(ids, profile);
    config.settings.cache_responses = true;
    config
}

fn about(content: u64) -> Origin {
    Origin {
        content: NonZeroU64::new(content).map(ContentId),
        ..Origin::default()
    }
}

fn ask(hand: &mut Hand, content: u64, model: &str) -> Turn {
    hand.arrive_from(about(content), model, false, None)
}

fn is_hit(turn: Turn) -> bool {
    matches!(
        turn.step,
        Step::Done(Answer::Completed { cached: true, .. })
    )
}

#[test]
fn an_answer_is_given_again_without_a_call() {
    let mut hand = Hand::new(&caching(["a"], NEW));
    let attempt = sent(ask(&mut hand, 1, "m"));
    let first = answered(hand.succeed(attempt));
    hand.pass(5.0);

    let second = answered(ask(&mut hand, 1, "m"));

    let Answer::Completed {
        usage,
        cached: false,
        ..
    } = first
    else {
        panic!("the first is no hit")
    };
    let Answer::Completed {
        deployment: A,
        usage: again,
        cached: true,
        trail,
    } = second
    else {
        panic!("the second is a hit, not {second:?}")
    };
    assert_eq!((again, trail.attempts), (usage, 0));
    assert_eq!((hand.heard("Sent"), hand.heard("CacheHit")), (1, 1));
    hand.assert_idle();
}

#[test]
fn other_content_another_name_and_a_stream_miss() {
    let mut config = caching(["a", "b"], NEW);
    config.deployments[1].model_name = "n".to_owned();
    config
        .settings
        .model_group_alias
        .insert("nick".to_owned(), "m".to_owned());
    let mut hand = Hand::new(&config);
    let attempt = sent(ask(&mut hand, 1, "m"));
    let _ = answered(hand.succeed(attempt));

    assert!(is_hit(ask(&mut hand, 1, "m")));
    let _other = sent(ask(&mut hand, 2, "m"));
    let _name = sent(ask(&mut hand, 1, "n"));
    let _alias = sent(ask(&mut hand, 1, "nick"));
    let _stream = sent(hand.arrive_from(about(1), "m", true, None));
    let _unknown = sent(hand.arrive("m"));
}

#[test]
fn an_answer_of_a_fallback_is_the_fallback_groups() {
    let mut config = caching(["a", "f"], NEW);
    config.deployments[1].model_name = "f".to_owned();
    config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    config.settings.num_retries = Some(0);
    let mut hand = Hand::new(&config);
    let attempt = sent(ask(&mut hand, 1, "m"));
    let fallback = sent(hand.fail(attempt, 500));
    let _ = answered(hand.succeed(fallback));

    let again = sent(ask(&mut hand, 1, "m"));
    assert_eq!(again.deployment(), A);
    assert!(is_hit(hand.fail(again, 500)));
    assert!(is_hit(ask(&mut hand, 1, "f")));
}

#[test]
fn a_request_that_wants_no_cache_is_not_answered_by_it_but_fills_it() {
    let mut hand = Hand::new(&caching(["a"], NEW));
    let no_cache = || Overrides {
        no_cache: true,
        ..Overrides::default()
    };
    let attempt = sent(hand.arrive_from(about(1), "m", false, Some(no_cache())));
    let _ = answered(hand.succeed(attempt));

    let _sent = sent(hand.arrive_from(about(1), "m", false, Some(no_cache())));
    assert!(is_hit(ask(&mut hand, 1, "m")));
}

#[test]
fn a_hit_counts_as_a_success_of_whoever_was_picked() {
    // Four failures of five would bench the deployment; with a hit for every failure they do not.
    for hits in [false, true] {
        let mut config = caching(["a", "b"], NEW);
        config.deployments[1].weight = Some(0.0);
        config.deployments[0].weight = Some(1.0);
        config.settings.num_retries = Some(0);
        let mut hand = Hand::new(&config);
        let attempt = sent(ask(&mut hand, 1, "m"));
        let _ = answered(hand.succeed(attempt));
        for content in 2..8 {
            if hits {
                assert!(is_hit(ask(&mut hand, 1, "m")));
            }
            let attempt = sent(ask(&mut hand, content, "m"));
            let _ = answered(hand.fail(attempt, 500));
            if hand.router.cooled_until(hand.now, A).is_some() {
                break;
            }
        }

        assert_eq!(hand.router.cooled_until(hand.now, A).is_none(), hits);
    }
}

#[test]
fn under_least_busy_each_hit_takes_off_one_that_was_never_added_in_1_92_only() {
    for (profile, drifts) in [(OLD, true), (NEW, false)] {
        let mut config = caching(["a", "b"], profile);
        config.settings.routing_strategy = StrategySpec::LeastBusy;
        let mut hand = Hand::new(&config);
        let attempt = sent(ask(&mut hand, 1, "m"));
        assert_eq!(attempt.deployment(), A);
        hand.pass(1.0);
        let _ = answered(hand.succeed(attempt));
        for _ in 0..3 {
            hand.pass(1.0);
            assert!(is_hit(ask(&mut hand, 1, "m")));
        }
        hand.pass(1.0);

        // Three hits make room for three attempts beside each other at the first.
        let mut picks = Vec::new();
        for content in 2..6 {
            hand.pass(0.01);
            picks.push(sent(ask(&mut hand, content, "m")).deployment());
        }
        let expected = if drifts { [A, A, A, A] } else { [A, B, A, B] };
        assert_eq!(picks, expected);
    }
}

#[test]
fn a_full_deployment_refuses_or_parks_even_what_the_cache_could_answer() {
    let full = |profile| {
        let mut config = caching(["a"], profile);
        config.deployments[0].max_parallel_requests = Some(1);
        config.settings.num_retries = Some(0);
        let mut hand = Hand::new(&config);
        let attempt = sent(ask(&mut hand, 1, "m"));
        let _ = answered(hand.succeed(attempt));
        let holds = sent(ask(&mut hand, 2, "m"));
        (hand, holds)
    };

    let (mut new, _holds) = full(NEW);
    assert!(matches!(
        answered(ask(&mut new, 1, "m")),
        Answer::Failed { .. }
    ));

    // Parked requests that the cache answers hand the slot on.
    let (mut old, holds) = full(OLD);
    let first = parked(ask(&mut old, 1, "m"));
    let second = parked(ask(&mut old, 1, "m"));
    let turn = old.succeed(holds);
    assert_eq!(turn.released, Some(first.request()));
    let turn = old.admit(first);
    assert_eq!(turn.released, Some(second.request()));
    assert!(is_hit(turn));
    let turn = old.admit(second);
    assert_eq!(turn.released, None);
    assert!(is_hit(turn));
    old.assert_idle();
}
