//! A driver that answers what was not asked is found out. That a token is answered twice does not
//! even compile: tokens are taken by value and cannot be copied.

use crate::harness::{Hand, NEW, OLD, group, parked, sent};

#[test]
#[should_panic(expected = "a token of another router")]
fn an_attempt_of_a_request_that_is_over_is_refused() {
    let config = group(["a"], NEW);
    let mut one = Hand::new(&config);
    let mut other = Hand::new(&config);
    let finished = sent(other.arrive("m"));
    let _ = other.succeed(finished);

    let foreign = sent(one.arrive("m"));

    let _ = other.succeed(foreign);
}

#[test]
#[should_panic(expected = "was not released")]
fn a_parked_request_that_was_not_released_is_not_admitted() {
    let mut config = group(["a"], OLD);
    config.deployments[0].max_parallel_requests = Some(1);
    let mut hand = Hand::new(&config);
    let _first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));

    let _ = hand.admit(second);
}
