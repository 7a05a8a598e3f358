//! Slots of `max_parallel_requests`: who waits, who is refused, who is next.

use router::{Answer, Outcome, Overrides, RequestId, RouteError, RouterConfig};

use crate::harness::{A, Hand, NEW, OLD, answered, group, parked, sent, success};

fn one_slot(profile: router::Profile) -> RouterConfig {
    let mut config = group(["a"], profile);
    config.deployments[0].max_parallel_requests = Some(1);
    config.settings.num_retries = Some(0);
    config
}

#[test]
fn parked_requests_are_admitted_first_come_first_served() {
    let mut hand = Hand::new(&one_slot(OLD));
    let mut running = sent(hand.arrive("m"));
    let waiting: Vec<_> = (0..3).map(|_| parked(hand.arrive("m"))).collect();

    for (number, next) in (1..).zip(waiting) {
        let turn = hand.succeed(running);
        assert_eq!(turn.released, Some(RequestId(number)));
        assert_eq!(hand.router.slots_taken(A), 1, "the slot is kept for it");
        running = sent(hand.admit(next));
    }

    let turn = hand.succeed(running);
    assert_eq!(turn.released, None);
    hand.assert_idle();
}

#[test]
fn a_slot_that_is_granted_cannot_be_taken_by_who_comes_in_between() {
    let mut hand = Hand::new(&one_slot(OLD));
    let first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));
    assert_eq!(hand.succeed(first).released, Some(RequestId(1)));

    let _late = parked(hand.arrive("m"));

    let _second = sent(hand.admit(second));
}

#[test]
fn time_spent_parked_is_time_waited() {
    let mut hand = Hand::new(&one_slot(OLD));
    let first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));
    hand.pass(3.0);
    let _ = hand.succeed(first);
    let second = sent(hand.admit(second));

    let answer = answered(hand.succeed(second));

    assert!((answer.trail().waited.as_secs_f64() - 3.0).abs() < 1e-9);
}

#[test]
fn a_full_deployment_refuses_at_once_and_is_not_blamed() {
    let mut config = one_slot(NEW);
    config.settings.allowed_fails = Some(0);
    let mut hand = Hand::new(&config);
    let _first = sent(hand.arrive("m"));

    let answer = answered(hand.arrive("m"));

    let Answer::Failed { error, trail } = answer else {
        panic!("{answer:?}")
    };
    let refused = RouteError::SlotsInUse {
        deployment: A,
        limit: 1,
    };
    assert_eq!(error, refused);
    assert_eq!(
        (error.exception(), error.status()),
        ("RateLimitError", Some(429))
    );
    assert_eq!(trail.attempts, 0);
    assert_eq!(hand.router.cooled_until(hand.now, A), None);
}

#[test]
fn a_blocking_call_knows_no_slots() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&one_slot(profile));
        let first = sent(hand.arrive("m"));
        let blocking = Overrides {
            blocking: true,
            ..Overrides::default()
        };

        let second = sent(hand.arrive_with("m", false, Some(blocking)));

        let _ = hand.succeed(second);
        assert_eq!(hand.router.slots_taken(A), 1);
        let _ = hand.succeed(first);
        hand.assert_idle();
    }
}

#[test]
fn a_stream_frees_its_slot_when_it_begins_in_1_92_and_when_it_ends_in_1_110() {
    let mut old = Hand::new(&one_slot(OLD));
    let first = sent(old.arrive_with("m", true, None));
    let second = parked(old.arrive_with("m", true, None));
    assert!(old.router.plan(&first).wants_first_token);
    let released = old.router.first_token(old.now, &first, &mut old.said);
    assert_eq!(released, Some(RequestId(1)));
    let second = sent(old.admit(second));
    let _ = old.succeed(first);
    let _ = old.succeed(second);
    old.assert_idle();

    let mut new = Hand::new(&one_slot(NEW));
    let first = sent(new.arrive_with("m", true, None));
    assert!(!new.router.plan(&first).wants_first_token);
    assert_eq!(new.router.first_token(new.now, &first, &mut new.said), None);
    assert_eq!(new.router.slots_taken(A), 1);
    let _ = new.finish(first, &success());
    new.assert_idle();
}

#[test]
fn a_failure_frees_the_slot_before_the_backoff() {
    let mut config = one_slot(OLD);
    config.settings.num_retries = Some(1);
    let mut hand = Hand::new(&config);
    let first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));

    let turn = hand.finish(first, &Outcome::Failure(router::Failure::with_status(500)));

    assert_eq!(turn.released, Some(RequestId(1)));
    let second = sent(hand.admit(second));
    let _ = hand.succeed(second);
    assert_eq!(hand.router.slots_taken(A), 0);
}

#[test]
fn a_trial_that_a_limit_refuses_took_no_place_and_another_may_begin() {
    let mut config = one_slot(OLD);
    config.deployments[0].rpm = Some(2);
    config
        .settings
        .optional_pre_call_checks
        .enforce_model_rate_limits = true;
    config.settings.allowed_fails = Some(0);
    config.settings.cooldown_time = Some(std::time::Duration::from_secs(5));
    config.settings.cooldown_recovery.one_trial = true;
    let mut hand = Hand::new(&config);
    let first = sent(hand.arrive("m"));
    let second = parked(hand.arrive("m"));
    answered(hand.fail(first, 500));
    let second = sent(hand.admit(second));
    hand.pass(6.0);

    // The trial waits for the slot, and is refused once it has it.
    let trial = parked(hand.arrive("m"));
    answered(hand.succeed(second));
    answered(hand.admit(trial));
    hand.pass(60.0);

    let again = sent(hand.arrive("m"));
    answered(hand.succeed(again));
    assert_eq!(hand.router.cooled_until(hand.now, A), None);
    hand.assert_idle();
}
