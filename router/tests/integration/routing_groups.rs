//! Strategies for some names only, and groups that are called by their own names.

use std::collections::BTreeMap;

use router::{
    DeploymentConfig, Failure, Outcome, Profile, RouteError, RouterConfig, RouterSettings,
    StrategySpec, config::RoutingGroup, strategy::UsageArgs,
};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent};

/// Deployments a and b, of the models m and n; b costs less.
fn two_models(profile: Profile) -> RouterConfig {
    let mut config = group(["a", "b"], profile);
    config.deployments[1].model_name = "n".to_owned();
    price(&mut config.deployments);
    config
}

/// Deployments a and b of the model m; b costs less, and shuffling never takes it.
fn one_model(profile: Profile) -> RouterConfig {
    let mut config = group(["a", "b"], profile);
    config.deployments[0].weight = Some(1.0);
    config.deployments[1].weight = Some(0.0);
    price(&mut config.deployments);
    config
}

fn price(deployments: &mut [DeploymentConfig]) {
    for (deployment, price) in deployments.iter_mut().zip([2.0, 1.0]) {
        deployment.own_prices.input = Some(price);
        deployment.own_prices.output = Some(price);
    }
}

fn routing_group(name: &str, models: &[&str], strategy: StrategySpec) -> RoutingGroup {
    RoutingGroup {
        group_name: name.to_owned(),
        models: models.iter().map(|&m| m.to_owned()).collect(),
        routing_strategy: strategy,
        model_priorities: BTreeMap::new(),
    }
}

fn by_priority(models: &[(&str, u32)]) -> RoutingGroup {
    let names: Vec<&str> = models.iter().map(|m| m.0).collect();
    RoutingGroup {
        model_priorities: models.iter().map(|&(m, p)| (m.to_owned(), p)).collect(),
        ..routing_group("g", &names, StrategySpec::Priority)
    }
}

#[test]
fn a_group_governs_its_models_and_nobody_else() {
    for profile in [OLD, NEW] {
        let mut config = one_model(profile);
        config.settings.routing_groups = vec![routing_group("g", &["n"], StrategySpec::LowestCost)];
        let mut hand = Hand::new(&config);
        assert_eq!(sent(hand.arrive("m")).deployment(), A, "shuffled");

        config.settings.routing_groups[0].models = vec!["m".to_owned()];
        let mut hand = Hand::new(&config);
        assert_eq!(sent(hand.arrive("m")).deployment(), B, "the cheaper");
    }
}

#[test]
fn an_alias_is_governed_by_its_own_name_in_1_92_and_by_its_target_in_1_110() {
    let picked = |profile, models: &[&str]| {
        let mut config = one_model(profile);
        let aliases = &mut config.settings.model_group_alias;
        aliases.insert("nick".to_owned(), "m".to_owned());
        config.settings.routing_groups = vec![routing_group("g", models, StrategySpec::LowestCost)];
        sent(Hand::new(&config).arrive("nick")).deployment()
    };

    assert_eq!(picked(OLD, &["m"]), A);
    assert_eq!(picked(OLD, &["nick"]), B);
    assert_eq!(picked(NEW, &["m"]), B);
    assert_eq!(picked(NEW, &["nick"]), A);
}

#[test]
fn only_1_110_governs_a_name_that_a_default_fallback_stands_in_for() {
    for (profile, expected) in [(OLD, A), (NEW, B)] {
        let mut config = one_model(profile);
        config.settings.default_fallbacks = vec!["m".to_owned()];
        config.settings.routing_groups = vec![routing_group("g", &["m"], StrategySpec::LowestCost)];

        assert_eq!(
            sent(Hand::new(&config).arrive("nobody")).deployment(),
            expected
        );
    }
}

#[test]
fn only_1_92_governs_a_name_that_a_pattern_matches() {
    for (profile, expected) in [(OLD, B), (NEW, A)] {
        let mut config = one_model(profile);
        for deployment in &mut config.deployments {
            deployment.model_name = "acme/*".to_owned();
        }
        let models = ["acme/x", "acme/*"];
        config.settings.routing_groups =
            vec![routing_group("g", &models, StrategySpec::LowestCost)];
        let mut hand = Hand::new(&config);

        assert_eq!(sent(hand.arrive("acme/x")).deployment(), expected);
        assert_eq!(sent(hand.arrive("acme/y")).deployment(), A);
        assert_eq!(sent(hand.arrive("acme/*")).deployment(), B);
    }
}

#[test]
fn a_group_can_be_called_in_1_110_and_has_the_deployments_of_its_models_in_their_order() {
    let mut config = two_models(NEW);
    config.settings.routing_groups = vec![
        routing_group("g", &["n", "ghost", "m"], StrategySpec::LeastBusy),
        routing_group("c", &[], StrategySpec::LowestCost),
    ];
    let mut hand = Hand::new(&config);

    let first = sent(hand.arrive("g"));
    let second = sent(hand.arrive("g"));

    assert_eq!((first.deployment(), second.deployment()), (B, A));
    let unknown = hand.model("c");
    let answer = answered(hand.arrive("c"));
    assert!(matches!(
        answer,
        router::Answer::Failed { error: RouteError::UnknownModel { model }, .. } if model == unknown
    ));

    config.profile = OLD;
    let mut hand = Hand::new(&config);
    assert!(matches!(
        answered(hand.arrive("g")),
        router::Answer::Failed { .. }
    ));
}

#[test]
fn a_model_or_an_alias_of_the_groups_name_is_meant_instead_of_the_group() {
    let mut config = two_models(NEW);
    config.settings.routing_groups = vec![routing_group("m", &["n"], StrategySpec::SimpleShuffle)];
    assert_eq!(sent(Hand::new(&config).arrive("m")).deployment(), A);

    config.settings.routing_groups[0].group_name = "g".to_owned();
    let aliases = &mut config.settings.model_group_alias;
    aliases.insert("g".to_owned(), "m".to_owned());
    assert_eq!(sent(Hand::new(&config).arrive("g")).deployment(), A);

    aliases_to_the_group(config);
}

fn aliases_to_the_group(mut config: RouterConfig) {
    config.settings.model_group_alias = BTreeMap::from([("nick".to_owned(), "g".to_owned())]);
    assert_eq!(sent(Hand::new(&config).arrive("nick")).deployment(), B);
}

#[test]
fn a_lone_deployment_is_spared_when_its_model_is_called_but_not_when_its_group_is() {
    let mut config = two_models(NEW);
    config.settings.num_retries = Some(0);
    config.settings.routing_groups =
        vec![routing_group("g", &["m", "n"], StrategySpec::SimpleShuffle)];
    config.deployments[0].weight = Some(1.0);
    let mut hand = Hand::new(&config);

    let attempt = sent(hand.arrive("m"));
    let _ = hand.fail(attempt, 429);
    assert!(hand.router.cooled_until(hand.now, A).is_none());

    let attempt = sent(hand.arrive("g"));
    let _ = hand.fail(attempt, 429);
    assert!(hand.router.cooled_until(hand.now, A).is_some());
    assert_eq!(sent(hand.arrive("g")).deployment(), B);
}

#[test]
fn a_group_by_priority_tries_the_next_priority_after_a_failure_and_in_a_cooldown() {
    let mut config = two_models(NEW);
    config.settings.num_retries = Some(0);
    // Its own order does not count here.
    config.deployments[0].order = Some(9);
    config.settings.routing_groups = vec![by_priority(&[("m", 1), ("n", 2)])];
    let mut hand = Hand::new(&config);

    let attempt = sent(hand.arrive("g"));
    assert_eq!(attempt.deployment(), A);
    let attempt = sent(hand.fail(attempt, 500));
    assert_eq!(attempt.deployment(), B, "after a failure");
    let _ = hand.succeed(attempt);

    let attempt = sent(hand.arrive("g"));
    let attempt = sent(hand.fail(attempt, 429));
    let _ = hand.succeed(attempt);
    assert_eq!(sent(hand.arrive("g")).deployment(), B, "in a cooldown");
}

#[test]
fn a_group_by_priority_does_not_govern_its_models() {
    let mut config = one_model(NEW);
    config.settings.routing_strategy = StrategySpec::LowestCost;
    config.settings.routing_groups = vec![by_priority(&[("m", 1)])];
    let mut hand = Hand::new(&config);

    assert_eq!(sent(hand.arrive("m")).deployment(), B, "the cheaper");
    assert_eq!(sent(hand.arrive("g")).deployment(), A, "shuffled");
}

#[test]
fn weighted_failover_asks_for_the_strategy_of_the_name() {
    let failed_over = |top: StrategySpec, of_group: StrategySpec| {
        let mut config = one_model(NEW);
        config.settings.num_retries = Some(0);
        config.settings.enable_weighted_failover = true;
        config.settings.routing_strategy = top;
        config.settings.routing_groups = vec![routing_group("g", &["m"], of_group)];
        let mut hand = Hand::new(&config);
        let attempt = sent(hand.arrive("m"));
        let failure = Outcome::Failure(Failure::with_status(500));
        matches!(hand.finish(attempt, &failure).step, router::Step::Send(_))
    };

    assert!(failed_over(
        StrategySpec::LeastBusy,
        StrategySpec::SimpleShuffle
    ));
    assert!(!failed_over(
        StrategySpec::SimpleShuffle,
        StrategySpec::LeastBusy
    ));
}

#[test]
fn a_groups_reservations_are_made_for_every_name() {
    for profile in [OLD, NEW] {
        let mut config = two_models(profile);
        config.settings.num_retries = Some(0);
        config.deployments[0].rpm = Some(1);
        let spec = StrategySpec::UsageBasedV2(UsageArgs::default());
        config.settings.routing_groups = vec![routing_group("g", &["n"], spec)];
        let mut hand = Hand::new(&config);
        let attempt = sent(hand.arrive("m"));
        let _ = hand.succeed(attempt);

        let answer = answered(hand.arrive("m"));

        assert!(matches!(
            answer,
            router::Answer::Failed {
                error: RouteError::RateLimited { .. },
                ..
            }
        ));
    }
}

#[test]
fn latency_and_cost_together_count_each_request_twice_in_1_92() {
    let passed = |profile| {
        let mut config = two_models(profile);
        config.settings.num_retries = Some(0);
        config.settings.routing_strategy = StrategySpec::named("latency-based-routing").unwrap();
        config.settings.routing_groups = vec![routing_group("g", &["n"], StrategySpec::LowestCost)];
        for deployment in &mut config.deployments {
            deployment.rpm = Some(4);
        }
        let mut hand = Hand::new(&config);
        ["m", "n"].map(|model| {
            let mut passed = 0;
            while let router::Step::Send(attempt) = hand.arrive(model).step {
                let _ = hand.succeed(attempt);
                passed += 1;
            }
            passed
        })
    };

    assert_eq!(passed(OLD), [2, 2]);
    assert_eq!(passed(NEW), [4, 4]);
}

#[test]
fn usage_based_routing_of_the_router_has_1_92_pick_like_a_blocking_call() {
    let mut config = one_model(OLD);
    config.settings.routing_strategy = StrategySpec::UsageBased(UsageArgs::default());
    config.settings.routing_groups = vec![routing_group("g", &["m"], StrategySpec::LowestCost)];
    let answer = answered(Hand::new(&config).arrive("m"));
    assert!(matches!(
        answer,
        router::Answer::Failed {
            error: RouteError::NoDeployments { .. },
            ..
        }
    ));

    config.profile = NEW;
    assert_eq!(sent(Hand::new(&config).arrive("m")).deployment(), B);
}

#[test]
fn an_alias_never_sees_what_was_counted_for_it_in_1_92s_blocking_path() {
    for (profile, second) in [(OLD, A), (NEW, B)] {
        let mut config = one_model(profile);
        config.settings.routing_strategy = StrategySpec::UsageBased(UsageArgs::default());
        let aliases = &mut config.settings.model_group_alias;
        aliases.insert("nick".to_owned(), "m".to_owned());
        let mut hand = Hand::new(&config);
        let attempt = sent(hand.arrive("nick"));
        let _ = hand.succeed(attempt);

        assert_eq!(sent(hand.arrive("nick")).deployment(), second);
    }
}

#[test]
fn groups_can_be_changed_at_work_and_bad_ones_change_nothing() {
    let mut config = one_model(NEW);
    config.settings.routing_groups = vec![routing_group("g", &["m"], StrategySpec::LowestCost)];
    let mut hand = Hand::new(&config);
    assert_eq!(sent(hand.arrive("m")).deployment(), B);

    let bad = RouterSettings {
        routing_groups: vec![routing_group("", &["m"], StrategySpec::LeastBusy)],
        ..config.settings.clone()
    };
    assert!(hand.router.update_settings(bad).is_err());
    assert_eq!(sent(hand.arrive("m")).deployment(), B);

    config.settings.routing_groups.clear();
    hand.router.update_settings(config.settings).unwrap();
    assert_eq!(sent(hand.arrive("m")).deployment(), A);
}
