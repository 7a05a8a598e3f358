//! The trail says what an answer took, and its parts add up.

use std::time::Duration;

use router::{Answer, RetryAfter};

use crate::harness::{B, Hand, NEW, answered, group, sent, waiting};

#[test]
fn attempts_waits_and_failed_time_add_up_to_the_whole() {
    let mut config = group(["a"], NEW);
    config.settings.num_retries = Some(3);
    let mut hand = Hand::new(&config);
    let mut turn = hand.arrive("m");
    for _ in 0..2 {
        let attempt = sent(turn);
        hand.pass(0.25);
        let wait = waiting(hand.fail(attempt, 503));
        turn = hand.wait(wait);
    }
    let last = sent(turn);
    let sent_at = hand.now;
    hand.pass(1.0);

    let answer = answered(hand.succeed(last));

    let trail = answer.trail();
    assert_eq!(trail.attempts, 3);
    assert_eq!(trail.in_failed_attempts, Duration::from_millis(500));
    let before = sent_at.since(trail.arrived);
    assert_eq!(trail.waited + trail.in_failed_attempts, before);
}

#[test]
fn the_last_hop_and_the_moves_to_it_are_told() {
    let mut config = group(["a", "b"], NEW);
    config.deployments[1].model_name = "f".to_owned();
    config.settings.num_retries = Some(0);
    config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    let mut hand = Hand::new(&config);
    let attempt = sent(hand.arrive("m"));
    let attempt = sent(hand.fail(attempt, 500));

    let answer = answered(hand.succeed(attempt));

    let f = hand.model("f");
    assert!(matches!(answer, Answer::Completed { deployment: B, .. }));
    assert_eq!((answer.trail().group, answer.trail().fallbacks), (f, 1));
}

#[test]
fn a_request_whose_attempts_all_fail_waits_once_more_before_it_gives_up() {
    let mut hand = Hand::new(&group(["a"], NEW));
    let turn = hand.arrive("m");

    let answer = hand.fail_until_done(turn, 500);

    // Half a second, one and two, each with up to three quarters of jitter.
    let waited = answer.trail().waited.as_secs_f64();
    assert_eq!(answer.trail().attempts, 3);
    assert!((3.5..5.75).contains(&waited), "{waited}");
}

#[test]
fn a_retry_after_of_the_provider_is_what_is_waited() {
    let mut hand = Hand::new(&group(["a"], NEW));
    let attempt = sent(hand.arrive("m"));
    let failure = router::Failure::with_status(429).retry_after(RetryAfter::Seconds(7));

    let wait = waiting(hand.finish(attempt, &router::Outcome::Failure(failure)));

    let seconds = wait.until().since(hand.now).as_secs_f64();
    assert_eq!(wait.why(), router::WaitReason::RetryAfter);
    assert!((7.0..7.75).contains(&seconds), "{seconds}");
}

#[test]
fn each_retry_is_announced_with_its_number_and_how_many_there_may_be() {
    let mut config = group(["a", "b"], NEW);
    config.settings.num_retries = Some(2);
    let mut hand = Hand::new(&config);

    let turn = hand.arrive("m");
    hand.fail_until_done(turn, 500);

    let announced = |what| hand.heard(what);
    assert_eq!(announced("retry: 1, of: 2"), 1);
    assert_eq!(announced("retry: 2, of: 2"), 1);
    assert_eq!(announced("Retrying"), 2);
}
