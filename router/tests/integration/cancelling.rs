//! A caller that goes away leaves nothing behind.

use router::{Held, Overrides, RequestId};

use crate::harness::{A, Hand, NEW, OLD, group, parked, sent, waiting};

fn one_slot() -> Hand {
    let mut config = group(["a"], OLD);
    config.deployments[0].max_parallel_requests = Some(1);
    Hand::new(&config)
}

#[test]
fn leaving_during_an_attempt_frees_its_slot_for_the_one_parked_longest() {
    let mut hand = one_slot();
    let first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));
    let _third = parked(hand.arrive("m"));

    let released = hand
        .router
        .cancel(hand.now, Held::Attempt(first), &mut hand.said);

    assert_eq!(released, Some(RequestId(1)));
    assert_eq!(hand.router.in_flight(A), 0);
    let _second = sent(hand.admit(second));
    assert_eq!(hand.router.in_flight(A), 1);
}

#[test]
fn leaving_while_parked_means_never_being_admitted() {
    let mut hand = one_slot();
    let first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));

    let released = hand
        .router
        .cancel(hand.now, Held::Parked(second), &mut hand.said);
    assert_eq!(released, None);

    let turn = hand.succeed(first);
    assert_eq!(turn.released, None);
    hand.assert_idle();
}

#[test]
fn leaving_between_release_and_admission_hands_the_slot_on() {
    let mut hand = one_slot();
    let first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));
    let third = parked(hand.arrive("m"));
    assert_eq!(hand.succeed(first).released, Some(RequestId(1)));

    let released = hand
        .router
        .cancel(hand.now, Held::Parked(second), &mut hand.said);

    assert_eq!(released, Some(RequestId(2)));
    let third = sent(hand.admit(third));
    let _ = hand.succeed(third);
    hand.assert_idle();
}

#[test]
fn leaving_during_a_backoff_leaves_nothing_behind() {
    let mut hand = Hand::new(&group(["a"], NEW));
    let attempt = sent(hand.arrive("m"));
    let wait = waiting(hand.fail(attempt, 500));

    let released = hand
        .router
        .cancel(hand.now, Held::Wait(wait), &mut hand.said);

    assert_eq!(released, None);
    hand.assert_idle();
}

#[test]
fn leaving_while_the_client_library_waits_frees_the_slot_that_the_attempt_holds() {
    let mut hand = one_slot();
    let overrides = Overrides {
        max_retries: Some(1),
        ..Overrides::default()
    };
    let first = sent(hand.arrive_with("m", false, Some(overrides)));
    let second = parked(hand.arrive("m"));
    let turn = hand.fail(first, 500);
    assert_eq!(turn.released, None, "the attempt is not over");
    let wait = waiting(turn);

    let released = hand
        .router
        .cancel(hand.now, Held::Wait(wait), &mut hand.said);

    assert_eq!(released, Some(RequestId(1)));
    let second = sent(hand.admit(second));
    let _ = hand.succeed(second);
    hand.assert_idle();
}

#[test]
fn a_slot_of_the_slab_is_used_again_without_a_trace_of_who_had_it() {
    let mut hand = Hand::new(&group(["a"], NEW));
    let attempt = sent(hand.arrive("m"));
    let wait = waiting(hand.fail(attempt, 500));
    let _ = hand
        .router
        .cancel(hand.now, Held::Wait(wait), &mut hand.said);

    let again = sent(hand.arrive("m"));

    assert_eq!(again.number(), 0);
    let _ = hand.succeed(again);
    hand.assert_idle();
}
