//! The priority queue, which delays requests in 1.92 only.

use std::time::Duration;

use router::{
    Answer, Api, Origin, Overrides, QueueFault, RouteError, RouterConfig, Turn, WaitReason,
};

use crate::harness::{Hand, NEW, OLD, answered, group, sent, waiting};

fn lone(profile: router::Profile) -> RouterConfig {
    let mut config = group(["a"], profile);
    config.settings.num_retries = Some(0);
    config.settings.cooldown_time = Some(Duration::from_secs(3));
    config
}

fn ask(hand: &mut Hand, priority: u32) -> Turn {
    let origin = Origin {
        priority: Some(priority),
        ..Origin::default()
    };
    hand.arrive_from(origin, "m", false, None)
}

/// A request of this priority was served, and then the only deployment was benched.
fn after_one_of(priority: u32, config: &RouterConfig) -> Hand {
    let mut hand = Hand::new(config);
    let attempt = sent(ask(&mut hand, priority));
    let _ = answered(hand.succeed(attempt));
    let attempt = sent(hand.arrive("m"));
    let _ = answered(hand.fail(attempt, 401));
    hand
}

fn error(answer: &Answer) -> &RouteError {
    match answer {
        Answer::Failed { error, .. } => error,
        Answer::Completed { .. } => panic!("it failed"),
    }
}

fn fails_at_once(turn: Turn) {
    let answer = answered(turn);
    assert!(
        matches!(error(&answer), RouteError::NoDeployments { .. }),
        "{answer:?}"
    );
}

#[test]
fn a_request_behind_one_that_went_on_long_ago_waits_until_somebody_is_healthy() {
    let mut hand = after_one_of(1, &lone(OLD));
    let mut turn = ask(&mut hand, 2);
    loop {
        match turn.step {
            router::Step::Wait(wait) => {
                assert_eq!(wait.why(), WaitReason::Queue);
                assert_eq!(wait.until(), hand.now + Duration::from_millis(30));
                turn = hand.wait(wait);
            }
            router::Step::Send(_) => break,
            other => panic!("{other:?}"),
        }
    }

    assert_eq!(hand.now.as_nanos(), 3_000_000_000);
}

#[test]
fn whoever_is_first_goes_on_at_once_and_fails() {
    let mut hand = after_one_of(5, &lone(OLD));

    fails_at_once(ask(&mut hand, 4));
}

#[test]
fn nobody_waits_in_1_110() {
    let mut hand = after_one_of(1, &lone(NEW));

    fails_at_once(ask(&mut hand, 2));
    hand.assert_idle();
}

#[test]
fn while_somebody_is_healthy_there_is_no_queue() {
    let mut hand = Hand::new(&group(["a", "b"], OLD));
    for priority in [3, 9, 1] {
        let _attempt = sent(ask(&mut hand, priority));
    }
}

#[test]
fn a_priority_of_zero_is_none() {
    let mut hand = after_one_of(1, &lone(OLD));
    fails_at_once(ask(&mut hand, 0));

    // It left no entry either.
    let mut hand = after_one_of(0, &lone(OLD));
    fails_at_once(ask(&mut hand, 7));
}

#[test]
fn equal_priorities_are_in_no_particular_order() {
    let waits = |number: u32| {
        let mut config = lone(OLD);
        config.settings.cooldown_time = Some(Duration::from_secs(1));
        let mut hand = Hand::new(&config);
        for _ in 0..number {
            // Other ids draw other ties.
            let attempt = sent(hand.arrive("m"));
            let _ = answered(hand.succeed(attempt));
        }
        let attempt = sent(ask(&mut hand, 1));
        let _ = answered(hand.succeed(attempt));
        let attempt = sent(hand.arrive("m"));
        let _ = answered(hand.fail(attempt, 401));
        matches!(ask(&mut hand, 1).step, router::Step::Wait(_))
    };

    let waiting = (0..64).filter(|&n| waits(n)).count();
    assert!((16..48).contains(&waiting), "{waiting} of 64 waited");
}

#[test]
fn the_routers_timeout_ends_the_wait_and_no_fallback_follows() {
    let mut config = lone(OLD);
    config.settings.timeout = Some(Duration::from_secs(1));
    config.deployments.push(router::DeploymentConfig {
        id: "f".to_owned(),
        model_name: "f".to_owned(),
        ..config.deployments[0].clone()
    });
    let mut hand = after_one_of(1, &config);
    config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    hand.router.update_settings(config.settings).unwrap();
    let own = Overrides {
        timeout: Some(Duration::from_millis(200)),
        ..Overrides::default()
    };
    let origin = Origin {
        priority: Some(2),
        ..Origin::default()
    };
    let mut turn = hand.arrive_from(origin, "m", false, Some(own));
    while let router::Step::Wait(wait) = turn.step {
        turn = hand.wait(wait);
    }

    let answer = answered(turn);
    assert_eq!(*error(&answer), RouteError::QueueTimeout);
    assert_eq!(
        (error(&answer).exception(), error(&answer).status()),
        ("Timeout", Some(408))
    );
    // At the first look after a second.
    assert_eq!(hand.now.as_nanos(), 1_020_000_000);
    assert_eq!(answer.trail().waited, Duration::from_millis(1_020));
}

#[test]
fn a_default_priority_fails_every_scheduled_call_in_1_92_and_works_in_1_110() {
    for priority in [None, Some(2), Some(0)] {
        let ask = |profile| {
            let mut config = lone(profile);
            config.settings.default_priority = Some(5);
            let mut hand = Hand::new(&config);
            let origin = Origin {
                priority,
                ..Origin::default()
            };
            hand.arrive_from(origin, "m", false, None)
        };

        let _served = sent(ask(NEW));
        let answer = answered(ask(OLD));
        let fault = RouteError::Queue(QueueFault::MissingPriority);
        assert_eq!(*error(&answer), fault);
        assert_eq!((fault.exception(), fault.status()), ("TypeError", None));
    }
}

#[test]
fn embeddings_and_blocking_calls_are_not_scheduled() {
    let kinds = [
        Overrides {
            api: Api::Embedding,
            ..Overrides::default()
        },
        Overrides {
            blocking: true,
            ..Overrides::default()
        },
    ];
    for kind in kinds {
        let mut config = lone(OLD);
        config.settings.default_priority = Some(5);
        let mut hand = Hand::new(&config);

        let _sent = sent(hand.arrive_with("m", false, Some(kind)));
    }
}

#[test]
fn a_queue_that_is_forgotten_fails_whoever_waits_in_it() {
    let mut config = lone(OLD);
    config.settings.cooldown_time = Some(Duration::from_secs(10_000));
    let mut hand = after_one_of(1, &config);
    let wait = waiting(ask(&mut hand, 2));
    let mut turn = hand.wait(wait);
    while let router::Step::Wait(wait) = turn.step {
        turn = hand.wait(wait);
    }

    let answer = answered(turn);
    assert_eq!(*error(&answer), RouteError::Queue(QueueFault::Forgotten));
    assert_eq!(hand.now.as_nanos(), 600_000_000_000);
}

#[test]
fn a_caller_that_leaves_the_queue_leaves_its_entry_as_litellm_does() {
    let mut hand = after_one_of(5, &lone(OLD));
    let wait = waiting(ask(&mut hand, 6));
    let now = hand.now;
    hand.router
        .cancel(now, router::Held::Wait(wait), &mut hand.said);
    hand.assert_idle();

    // Somebody between the two entries goes on by neither; somebody before both does.
    let _waits = waiting(ask(&mut hand, 6));
    fails_at_once(ask(&mut hand, 1));
}
