//! Budgets of deployments and providers.

use std::time::Duration;

use router::{
    Answer, Api, Overrides, Prices, Profile, RouteError, RouterConfig, Step, config::Budget,
};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent, waiting};

/// The first costs 0.015 a call and may spend this much in a window of 60 s.
fn limited(limit: f64, profile: Profile) -> RouterConfig {
    let mut config = group(["a", "b"], profile);
    config.deployments[0].prices = Prices {
        input: Some(1e-3),
        output: Some(1e-3),
        ..Prices::default()
    };
    config.deployments[0].budget = Some(Budget {
        limit: Some(limit),
        period: Some(Duration::from_secs(60)),
    });
    config.deployments[1].model_name = "f".to_owned();
    config.settings.num_retries = Some(0);
    config
}

fn call(hand: &mut Hand, name: &str) -> Answer {
    let turn = hand.arrive(name);
    match turn.step {
        Step::Send(attempt) => answered(hand.succeed(attempt)),
        Step::Done(answer) => answer,
        other => panic!("{other:?}"),
    }
}

fn is_spent(answer: &Answer) -> bool {
    let Answer::Failed { error, .. } = answer else {
        return false;
    };
    assert_eq!(*error, RouteError::BudgetSpent);
    assert_eq!((error.exception(), error.status()), ("ValueError", None));
    true
}

#[test]
fn calls_pass_until_spending_has_reached_the_limit_and_again_in_the_next_window() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&limited(0.02, profile));

        assert!(!is_spent(&call(&mut hand, "m")));
        assert!(!is_spent(&call(&mut hand, "m")), "it overshoots");
        assert!(is_spent(&call(&mut hand, "m")));
        hand.pass(59.9);
        assert!(is_spent(&call(&mut hand, "m")));
        hand.pass(0.2);

        assert!(!is_spent(&call(&mut hand, "m")));
    }
}

#[test]
fn requests_in_flight_together_overshoot() {
    let mut hand = Hand::new(&limited(0.01, NEW));

    let attempts: Vec<_> = (0..5).map(|_| sent(hand.arrive("m"))).collect();
    for attempt in attempts {
        let _ = answered(hand.succeed(attempt));
    }

    assert!(is_spent(&call(&mut hand, "m")));
}

#[test]
fn whoever_has_something_left_serves_and_a_spent_group_falls_back() {
    let mut config = limited(0.01, NEW);
    config.deployments[1].model_name = "m".to_owned();
    let mut hand = Hand::new(&config);
    let _ = call(&mut hand, "a");
    for _ in 0..10 {
        let attempt = sent(hand.arrive("m"));
        assert_eq!(attempt.deployment(), B);
        let _ = hand.succeed(attempt);
    }

    let mut config = limited(0.01, NEW);
    config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    let mut hand = Hand::new(&config);
    let _ = call(&mut hand, "m");
    let attempt = sent(hand.arrive("m"));
    assert_eq!(attempt.deployment(), B);
}

#[test]
fn a_spent_group_is_retried_with_the_full_backoff_while_it_is_healthy() {
    let mut config = limited(0.01, NEW);
    config.settings.num_retries = Some(2);
    let mut hand = Hand::new(&config);
    let _ = call(&mut hand, "m");

    let mut turn = hand.arrive("m");
    let mut waits = 0;
    let answer = loop {
        turn = match turn.step {
            Step::Wait(wait) => {
                waits += 1;
                hand.wait(wait)
            }
            Step::Done(answer) => break answer,
            other => panic!("{other:?}"),
        };
    };

    assert!(is_spent(&answer));
    assert_eq!(waits, 3);
}

#[test]
fn a_spent_deployment_next_to_a_benched_one_is_a_spent_budget_and_two_benched_ones_are_not() {
    let mut config = limited(0.01, NEW);
    config.deployments[1].model_name = "m".to_owned();
    let mut hand = Hand::new(&config);
    let _ = call(&mut hand, "a");
    let attempt = sent(hand.arrive("b"));
    let _ = hand.fail(attempt, 429);

    assert!(is_spent(&call(&mut hand, "m")));

    let attempt = sent(hand.arrive("a"));
    let _ = hand.fail(attempt, 429);
    let answer = call(&mut hand, "m");
    assert!(matches!(
        answer,
        Answer::Failed {
            error: RouteError::NoDeployments {
                all_cooling: true,
                ..
            },
            ..
        }
    ));
}

#[test]
fn a_providers_budget_is_shared_by_its_deployments_and_no_others() {
    let mut config = limited(1.0, NEW);
    config.deployments[0].budget = None;
    config.deployments[1].model_name = "m".to_owned();
    config.deployments[1].custom_llm_provider = Some("azure".to_owned());
    config.settings.provider_budget_config = [(
        "openai".to_owned(),
        Budget {
            limit: Some(0.01),
            period: Some(Duration::from_secs(60)),
        },
    )]
    .into();
    let mut hand = Hand::new(&config);
    let _ = call(&mut hand, "a");

    for _ in 0..10 {
        let attempt = sent(hand.arrive("m"));
        assert_eq!(attempt.deployment(), B);
        let _ = hand.succeed(attempt);
    }
}

#[test]
fn blocking_calls_and_calls_by_id_are_not_held_back_and_only_the_latter_spend() {
    let mut hand = Hand::new(&limited(0.01, NEW));
    let blocking = || {
        Some(Overrides {
            blocking: true,
            ..Overrides::default()
        })
    };

    let attempt = sent(hand.arrive_with("m", false, blocking()));
    let _ = hand.succeed(attempt);
    assert!(
        !is_spent(&call(&mut hand, "a")),
        "the blocking call spent nothing"
    );
    assert!(is_spent(&call(&mut hand, "m")), "the call by id did");
    assert!(!is_spent(&call(&mut hand, "a")));
    let _ = sent(hand.arrive_with("m", false, blocking()));
}

#[test]
fn embeddings_spend_in_1_110_and_not_in_1_92() {
    let spent_by_embedding = |profile| {
        let mut hand = Hand::new(&limited(0.01, profile));
        let overrides = Overrides {
            api: Api::Embedding,
            ..Overrides::default()
        };
        let attempt = sent(hand.arrive_with("m", false, Some(overrides)));
        let _ = hand.succeed(attempt);
        is_spent(&call(&mut hand, "m"))
    };
    assert!(spent_by_embedding(NEW));
    assert!(!spent_by_embedding(OLD));
}

#[test]
fn a_missing_price_counts_as_nothing_and_the_other_one_is_booked() {
    let spends = |input, output| {
        let mut config = limited(0.01, NEW);
        let prices = Prices {
            input,
            output,
            ..Prices::default()
        };
        config.deployments[0].prices = prices;
        let mut hand = Hand::new(&config);
        let _ = call(&mut hand, "m");
        is_spent(&call(&mut hand, "m"))
    };

    assert!(spends(Some(1e-2), None));
    assert!(spends(None, Some(1e-2)));
    assert!(!spends(None, None));
}

#[test]
fn failures_cost_nothing() {
    let mut config = limited(0.01, NEW);
    config.settings.num_retries = Some(1);
    let mut hand = Hand::new(&config);

    let attempt = sent(hand.arrive("m"));
    let wait = waiting(hand.fail(attempt, 500));
    let again = sent(hand.wait(wait));

    assert_eq!(again.deployment(), A);
}
