//! The life of a streamed attempt.

use std::time::Duration;

use router::{Answer, ErrorClass, Failure, Outcome, RouteError, RouterConfig, Usage};

use crate::harness::{B, Hand, NEW, OLD, answered, group, sent, waiting};

const FIRST: Duration = Duration::from_millis(200);

/// `m` falls back to `f`.
fn with_fallback(profile: router::Profile) -> RouterConfig {
    let mut config = group(["a", "spare"], profile);
    config.deployments[1].model_name = "f".to_owned();
    config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    config
}

fn broken_after(tokens: u32, class: ErrorClass) -> Outcome {
    Outcome::Failure(Failure {
        tokens_delivered: tokens,
        first_token_after: (tokens > 0).then_some(FIRST),
        ..Failure::of(class)
    })
}

#[test]
fn an_error_after_the_first_token_surfaces_at_once_in_1_110() {
    let mut hand = Hand::new(&with_fallback(NEW));
    let attempt = sent(hand.arrive_with("m", true, None));
    hand.pass(0.2);
    let _ = hand.router.first_token(hand.now, &attempt, &mut hand.said);
    hand.pass(1.0);

    let broken = broken_after(3, ErrorClass::InternalServer);
    let answer = answered(hand.finish(attempt, &broken));

    let Answer::Failed { error, trail } = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(
        (error.exception(), error.status()),
        ("APIConnectionError", Some(500))
    );
    let RouteError::Attempt { failure, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(failure.tokens_delivered, 3);
    assert_eq!((trail.attempts, trail.fallbacks), (1, 0));
    hand.assert_idle();
}

#[test]
fn a_rate_limit_or_a_timeout_inside_a_stream_keeps_its_name() {
    for (class, exception) in [
        (ErrorClass::RateLimit, "RateLimitError"),
        (ErrorClass::Timeout, "Timeout"),
    ] {
        let mut hand = Hand::new(&with_fallback(NEW));
        let attempt = sent(hand.arrive_with("m", true, None));

        let answer = answered(hand.finish(attempt, &broken_after(3, class)));

        assert!(
            matches!(answer, Answer::Failed { error, .. } if error.exception() == exception),
            "{answer:?}"
        );
    }
}

#[test]
fn an_error_after_the_first_token_goes_to_the_fallbacks_without_a_retry_in_1_92() {
    let mut hand = Hand::new(&with_fallback(OLD));
    let attempt = sent(hand.arrive_with("m", true, None));

    let broken = broken_after(3, ErrorClass::InternalServer);
    let next = sent(hand.finish(attempt, &broken));

    assert_eq!(next.deployment(), B);
    let answer = answered(hand.succeed(next));
    assert_eq!((answer.trail().attempts, answer.trail().fallbacks), (2, 1));
}

#[test]
fn a_stream_that_is_cut_off_is_a_short_answer_in_1_92() {
    let mut hand = Hand::new(&with_fallback(OLD));
    let attempt = sent(hand.arrive_with("m", true, None));
    hand.pass(0.5);

    let cut_off = broken_after(3, ErrorClass::ApiConnection);
    let answer = answered(hand.finish(attempt, &cut_off));

    let Answer::Completed { usage, trail, .. } = answer else {
        panic!("{answer:?}")
    };
    let short = Usage::new(10, 3);
    assert_eq!(usage, short);
    assert_eq!(trail.first_token, Some(router::Instant::ZERO + FIRST));
}

#[test]
fn a_stream_that_fails_before_its_first_token_is_an_ordinary_failure() {
    let mut hand = Hand::new(&with_fallback(NEW));
    let attempt = sent(hand.arrive_with("m", true, None));

    let wait = waiting(hand.finish(attempt, &broken_after(0, ErrorClass::InternalServer)));

    let _retry = sent(hand.wait(wait));
}

#[test]
fn an_answer_in_one_piece_has_its_first_token_when_it_arrives() {
    let mut hand = Hand::new(&group(["a"], NEW));
    let attempt = sent(hand.arrive("m"));
    hand.pass(2.0);

    let answer = answered(hand.succeed(attempt));

    assert_eq!(answer.trail().first_token, Some(hand.now));
}

/// `m` of two, which falls back to two of `f`, by least-busy under 1.92; a stream of `m` has broken.
fn broken_under_least_busy() -> (Hand, router::Attempt) {
    let mut config = group(["a1", "a2", "f1", "f2"], OLD);
    for deployment in &mut config.deployments[2..] {
        deployment.model_name = "f".to_owned();
    }
    config.settings.routing_strategy = router::StrategySpec::LeastBusy;
    config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    let mut hand = Hand::new(&config);
    let attempt = sent(hand.arrive_with("m", true, None));
    hand.pass(0.2);
    let _ = hand.router.first_token(hand.now, &attempt, &mut hand.said);
    hand.pass(1.0);
    let goes_on = sent(hand.finish(attempt, &broken_after(3, ErrorClass::InternalServer)));
    (hand, goes_on)
}

#[test]
fn in_1_92_a_stream_that_goes_on_elsewhere_stays_counted_where_it_began() {
    let (mut hand, goes_on) = broken_under_least_busy();
    hand.pass(1.0);
    let _ = hand.succeed(goes_on);
    hand.pass(1.0);

    let next = sent(hand.arrive("m"));

    assert_eq!(next.deployment(), B, "the first is taken to be busy");
    // It was taken off in the group that went on, where it is the least busy and nobody's candidate.
    let _ = hand.succeed(next);
    let mut picked = [0; 2];
    for _ in 0..40 {
        hand.pass(1.0);
        let attempt = sent(hand.arrive("f"));
        picked[attempt.deployment().index() - 2] += 1;
        let _ = hand.succeed(attempt);
    }
    assert!(picked.iter().all(|&n| n > 5), "by chance: {picked:?}");
}

#[test]
fn in_1_92_a_lone_deployment_that_goes_on_for_a_stream_is_tried_again() {
    let mut hand = Hand::new(&with_fallback(OLD));
    let attempt = sent(hand.arrive_with("m", true, None));
    hand.pass(0.2);
    let _ = hand.router.first_token(hand.now, &attempt, &mut hand.said);
    let goes_on = sent(hand.finish(attempt, &broken_after(3, ErrorClass::InternalServer)));

    let wait = waiting(hand.fail(goes_on, 500));
    let again = sent(hand.wait(wait));

    assert_eq!(again.deployment(), B);
}
