//! Fallback lists and weighted failover where features meet: what random configurations showed.

use std::time::Duration;

use router::{
    Answer, ErrorClass, Failure, Overrides, Prices, ProfileName, RequestFallbacks, RetryAfter,
    RouteError, RouterConfig, config::Budget,
};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent, waiting};

fn lists(name: &str, target: &str) -> Option<Vec<(String, Vec<String>)>> {
    Some(vec![(name.to_owned(), vec![target.to_owned()])])
}

#[test]
fn in_1_110_a_group_without_a_special_list_takes_over_that_of_the_group_before_it() {
    for profile in [OLD, NEW] {
        let mut config = group(["a", "b", "c"], profile);
        config.deployments[0].model_name = "f".to_owned();
        config.deployments[2].model_name = "g".to_owned();
        config.settings.num_retries = Some(0);
        config.settings.fallbacks = lists("f", "m");
        config.settings.content_policy_fallbacks = lists("f", "g");
        let mut hand = Hand::new(&config);

        let first = sent(hand.arrive("f"));
        let second = sent(hand.fail(first, 500));
        assert_eq!(second.deployment(), B);
        let policy = Failure::of(ErrorClass::ContentPolicyViolation);
        let turn = hand.finish(second, &router::Outcome::Failure(policy));

        if profile == NEW {
            assert_eq!(sent(turn).deployment().0, 2);
        } else {
            let answer = answered(turn);
            assert!(
                matches!(answer, Answer::Failed { error, .. } if error.status() == Some(500)),
                "1.92 has nowhere to go: {answer:?}"
            );
        }
    }
}

#[test]
fn a_spent_quota_is_waited_for_unless_the_requests_own_lists_name_somebody() {
    // `a` and `b` share a quota; `c` has none of it and is benched first.
    let after_429 = |lists: Vec<(String, Vec<String>)>| {
        let mut config = group(["a", "b", "c", "d"], ProfileName::Corrected.profile());
        for deployment in &mut config.deployments[..2] {
            deployment.quota_group = Some("q".to_owned());
        }
        config.deployments[2].weight = Some(1e12);
        config.deployments[3].model_name = "g".to_owned();
        config.settings.num_retries = Some(1);
        let mut hand = Hand::new(&config);
        let once = Overrides {
            num_retries: Some(0),
            ..Overrides::default()
        };
        let attempt = sent(hand.arrive_with("m", false, Some(once)));
        assert_eq!(attempt.deployment().0, 2);
        let next = hand.fail(attempt, 401);
        drop(next);
        let overrides = Overrides {
            fallbacks: Some(RequestFallbacks::ByGroup(lists)),
            ..Overrides::default()
        };
        let attempt = sent(hand.arrive_with("m", false, Some(overrides)));
        let spent = Failure::with_status(429).retry_after(RetryAfter::Seconds(9));
        hand.finish(attempt, &router::Outcome::Failure(spent))
    };

    let to_g = lists("m", "g").unwrap();
    assert_eq!(sent(after_429(to_g)).deployment().0, 3);
    let wait = waiting(after_429(Vec::new()));
    assert_eq!(
        wait.until(),
        router::Instant::from_secs_f64(5.0),
        "`c` is back first"
    );
}

/// Two deployments that fail over, the second of which has spent its budget.
fn second_is_spent(profile: router::Profile) -> RouterConfig {
    let mut config = group(["a", "b", "c"], profile);
    config.deployments[0].weight = Some(1e12);
    config.deployments[1].weight = Some(1.0);
    config.deployments[1].prices = Prices {
        input: Some(1.0),
        output: Some(1.0),
        ..Prices::default()
    };
    config.deployments[1].budget = Some(Budget {
        limit: Some(0.1),
        period: Some(Duration::from_secs(60)),
    });
    config.deployments[2].model_name = "g".to_owned();
    config.settings.num_retries = Some(0);
    config.settings.enable_weighted_failover = true;
    config
}

#[test]
fn a_rest_of_the_group_that_is_spent_puts_its_error_in_the_place_of_the_first() {
    for profile in [OLD, NEW] {
        for (status, surfaces) in [(429, None), (500, Some(500))] {
            let mut hand = Hand::new(&second_is_spent(profile));
            let spender = sent(hand.arrive("b"));
            let _ = hand.succeed(spender);
            let attempt = sent(hand.arrive("m"));
            assert_eq!(attempt.deployment(), A);

            // Benched by its 429 the first is no candidate of the rest, and the budgets leave nobody;
            // after a 500 it is one, and only then left out.
            let answer = answered(hand.fail(attempt, status));

            let Answer::Failed { error, .. } = answer else {
                panic!("{answer:?}")
            };
            assert_eq!(error.status(), surfaces);
            assert_eq!(error == RouteError::BudgetSpent, status == 429);
        }
    }
}

#[test]
fn the_lists_have_their_turn_after_a_rest_of_the_group_that_is_spent() {
    let mut config = second_is_spent(NEW);
    config.settings.fallbacks = lists("m", "g");
    let mut hand = Hand::new(&config);
    let spender = sent(hand.arrive("b"));
    let _ = hand.succeed(spender);
    let attempt = sent(hand.arrive("m"));

    let fallback = sent(hand.fail(attempt, 429));

    assert_eq!(fallback.deployment().0, 2);
}

#[test]
fn a_providers_model_is_told_the_routers_cooldown_time_and_a_group_its_members() {
    for profile in [OLD, NEW] {
        let mut config = group(["a", "b"], profile);
        for deployment in &mut config.deployments {
            deployment.model = "openai/x".to_owned();
            deployment.cooldown_time = Some(Duration::from_secs(20));
        }
        config.settings.num_retries = Some(0);
        config.settings.cooldown_time = Some(Duration::from_secs(60));
        let mut hand = Hand::new(&config);
        for _ in 0..2 {
            let attempt = sent(hand.arrive("m"));
            let _ = hand.fail(attempt, 429);
        }

        for (name, seconds) in [("openai/x", 60), ("m", 20)] {
            let answer = answered(hand.arrive(name));
            let Answer::Failed { error, .. } = answer else {
                panic!("{answer:?}")
            };
            let RouteError::NoDeployments { try_again_in, .. } = error else {
                panic!("{error:?}")
            };
            assert_eq!(try_again_in, Duration::from_secs(seconds));
        }
    }
}

#[test]
fn in_1_110_embeddings_keep_to_the_region_that_they_ask_for_and_not_to_windows() {
    for profile in [OLD, NEW] {
        let mut config = group(["a"], profile);
        config.settings.enable_pre_call_checks = true;
        config.settings.num_retries = Some(0);
        config.deployments[0].region_name = Some("us".to_owned());
        config.deployments[0].model_info_max_input_tokens = Some(1);
        let mut hand = Hand::new(&config);
        let asking = |region: Option<&str>| {
            Some(Overrides {
                api: router::Api::Embedding,
                allowed_model_region: region.map(str::to_owned),
                ..Overrides::default()
            })
        };

        let _ = sent(hand.arrive_with("m", false, asking(None)));
        let _ = sent(hand.arrive_with("m", false, asking(Some("us"))));
        let turn = hand.arrive_with("m", false, asking(Some("eu")));

        assert_eq!(matches!(turn.step, router::Step::Done(_)), profile == NEW);
    }
}

#[test]
fn in_1_92_weighted_failover_is_not_for_embeddings() {
    for profile in [OLD, NEW] {
        let mut config = group(["a", "b"], profile);
        config.deployments[0].weight = Some(1e12);
        config.deployments[1].weight = Some(1.0);
        config.settings.num_retries = Some(0);
        config.settings.enable_weighted_failover = true;
        let mut hand = Hand::new(&config);
        let embedding = Overrides {
            api: router::Api::Embedding,
            ..Overrides::default()
        };
        let attempt = sent(hand.arrive_with("m", false, Some(embedding)));

        let turn = hand.fail(attempt, 400);

        match profile == NEW {
            true => assert_eq!(sent(turn).deployment(), B),
            false => assert!(matches!(answered(turn), Answer::Failed { .. })),
        }
    }
}

#[test]
fn only_where_there_are_later_tiers_the_error_of_the_last_entry_surfaces() {
    for profile in [OLD, NEW] {
        for (orders, surfaces) in [([1, 1], 500), ([1, 2], 503)] {
            let mut config = group(["a", "b", "c"], profile);
            config.deployments[0].order = Some(orders[0]);
            config.deployments[1].order = Some(orders[1]);
            config.deployments[2].model_name = "g".to_owned();
            config.settings.num_retries = Some(0);
            config.settings.fallbacks = lists("m", "g");
            let mut hand = Hand::new(&config);

            let mut turn = hand.arrive("m");
            let answer = loop {
                let router::Step::Send(attempt) = turn.step else {
                    break answered(turn);
                };
                let status = if attempt.deployment().0 == 2 {
                    503
                } else {
                    500
                };
                turn = hand.fail(attempt, status);
            };

            let Answer::Failed { error, .. } = answer else {
                panic!("{answer:?}")
            };
            assert_eq!(error.status(), Some(surfaces), "orders {orders:?}");
        }
    }
}

#[test]
fn in_1_110_what_surfaces_from_the_list_of_a_list_is_of_another_kind_once_the_generic_one_had_its_turn()
 {
    let policy = || router::Outcome::Failure(Failure::of(ErrorClass::ContentPolicyViolation));
    let mut config = group(["a", "b", "c", "d", "e"], NEW);
    for (deployment, name) in config.deployments.iter_mut().zip(["f", "g", "h", "i", "j"]) {
        deployment.model_name = name.to_owned();
    }
    let both = |one, other: Option<Vec<_>>| -> Option<Vec<_>> {
        Some([one, other].into_iter().flatten().flatten().collect())
    };
    config.settings.num_retries = Some(0);
    config.settings.fallbacks = both(lists("f", "i"), lists("g", "j"));
    config.settings.content_policy_fallbacks = both(lists("f", "g"), lists("g", "h"));
    let mut hand = Hand::new(&config);

    let first = sent(hand.arrive("f"));
    let second = sent(hand.finish(first, &policy()));
    let third = sent(hand.finish(second, &policy()));
    assert_eq!(third.deployment().0, 2);
    let generic_of_g = sent(hand.fail(third, 500));
    assert_eq!(generic_of_g.deployment().0, 4);

    // Now `g` fails for what its list met, and no longer for its own reason.
    let generic_of_f = sent(hand.fail(generic_of_g, 500));
    assert_eq!(generic_of_f.deployment().0, 3);
}
