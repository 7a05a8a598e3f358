//! Kind 7: limits on requests and tokens a minute.

use router::{
    Cause, ErrorClass, Failure, Profile, RouterConfig, StrategySpec, WindowUsage,
    strategy::UsageArgs,
};

use crate::{
    ask::{Ask, member},
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, failing, ok, replies},
    results::span,
};

fn v1() -> StrategySpec {
    StrategySpec::UsageBased(UsageArgs::default())
}

fn v2() -> StrategySpec {
    StrategySpec::UsageBasedV2(UsageArgs::default())
}

/// Members of `m` with their requests a minute; slots, which LiteLLM derives from these, are plenty.
fn world(profile: Profile, strategy: StrategySpec, rpm: &[(&str, u64)]) -> World {
    let names: Vec<&str> = rpm.iter().map(|(name, _)| *name).collect();
    World::of(profile, &names, |c| {
        c.settings.routing_strategy = strategy;
        for (deployment, (_, rpm)) in c.deployments.iter_mut().zip(rpm) {
            deployment.rpm = Some(*rpm);
            deployment.max_parallel_requests = Some(1_000);
        }
    })
}

#[test]
fn br_036_a_limit_of_ten_requests_lets_ten_pass() {
    for strategy in [v1(), v2()] {
        let eleven = |profile| {
            let mut world = world(profile, strategy.clone(), &[("A", 10)]);
            world.each_second(0.0, 11, &Ask::of("m"));
            world.run();
            world
        };

        let world = eleven(CORRECTED);
        assert_eq!(world.oks(), 10);
        assert_eq!(world.answer(10).status(), Some(429));
        assert_eq!(
            world.answer(10).try_again_in(),
            Some(span(50.0)),
            "to the minute's end"
        );
        // The fault, in both versions.
        for profile in [OLD, NEW] {
            assert_eq!(eleven(profile).oks(), 9);
        }
    }
}

#[test]
fn br_036_a_limit_of_one_is_usable_and_nobody_is_picked_over_it() {
    for strategy in [v1(), v2()] {
        let twelve = |profile: Profile| {
            let mut world = world(profile, strategy.clone(), &[("A", 1), ("B", 10)]);
            world.each_second(0.0, 12, &Ask::of("m"));
            // The same again, in the next minute.
            world.each_second(60.0, 12, &Ask::of("m"));
            world.run();
            world
        };

        let world = twelve(CORRECTED);
        for minute in [0, 12] {
            for n in 0..11 {
                let answer = world.answer(minute + n);
                assert!(
                    answer.is_ok() && answer.path.len() == 1,
                    "no pick was refused"
                );
            }
            assert_eq!(world.answer(minute + 11).status(), Some(429));
            assert!(world.answer(minute + 11).path.is_empty());
        }
        assert_eq!((world.hits("A").len(), world.hits("B").len()), (2, 20));
        // Both versions stop B one early; A is never picked over its limit.
        for profile in [OLD, NEW] {
            let world = twelve(profile);
            assert_eq!((world.hits("A").len(), world.hits("B").len()), (2, 18));
        }
    }
}

#[test]
fn br_037_of_a_burst_no_more_is_sent_than_the_limit() {
    let burst = |profile, strategy| {
        let mut world = world(profile, strategy, &[("A", 1), ("B", 1)]);
        for _ in 0..5 {
            world.ask(0.0, &Ask::of("m"));
        }
        world.run();
        let refused = world
            .answers()
            .iter()
            .filter(|a| a.status() == Some(429))
            .count();
        (world.hits("A").len(), world.hits("B").len(), refused)
    };

    for strategy in [v1(), v2()] {
        assert_eq!(burst(CORRECTED, strategy), (1, 1, 3));
    }
    // The second version has no such fault in either: its reservation refuses. The first sends all.
    for profile in [OLD, NEW] {
        let (a, b, refused) = burst(profile, v2());
        assert!(
            a <= 1 && b <= 1 && refused == 5 - a - b,
            "{a} {b} {refused}"
        );
        let (a, b, refused) = burst(profile, v1());
        assert_eq!((a + b, refused), (5, 0));
    }
}

/// A has 10,000 tokens a minute.
fn tokens(config: &mut RouterConfig) {
    config.settings.routing_strategy = v2();
    config.deployments[0].tpm = Some(10_000);
    config.deployments[0].max_parallel_requests = Some(1_000);
}

/// Ten requests at t=0 of 2000 tokens, as far as is known before; in truth they take 3000.
fn ten_of_2000(profile: Profile) -> World {
    let mut world = World::of(profile, &["A"], tokens);
    world.provider("A", always(ok().tokens(1_000, 0.0)));
    let mut ask = Ask::of("m");
    ask.prompt_tokens = 2_000;
    for _ in 0..10 {
        world.ask(0.0, &ask);
    }
    world
}

fn used(world: &mut World) -> WindowUsage {
    let (now, a) = (world.now, world.id("A"));
    world.router().window_usage(now, a)
}

#[test]
fn br_037_estimated_tokens_are_reserved_and_settled() {
    let mut world = ten_of_2000(CORRECTED);
    world.run_until(0.05);
    assert_eq!(
        used(&mut world),
        WindowUsage {
            requests: 5,
            tokens: 10_000
        }
    );
    world.run_until(1.0);
    let WindowUsage { requests, tokens } = used(&mut world);
    assert_eq!((requests, tokens), (5, 15_000));
    assert_eq!(tokens - 10_000, 5_000, "the overshoot");
    world.run();
    assert_eq!(world.oks(), 5);

    // The fault, in both versions: all ten read the same zero.
    for profile in [OLD, NEW] {
        let mut world = ten_of_2000(profile);
        world.run_until(1.0);
        assert_eq!(used(&mut world).tokens - 10_000, 20_000, "the overshoot");
        world.run();
        assert_eq!(world.oks(), 10);
    }
}

#[test]
fn br_037_what_was_not_sent_is_given_back_and_nothing_goes_below_zero() {
    let mut world = World::of(CORRECTED, &["A"], |c| {
        tokens(c);
        c.deployments[0].rpm = Some(3);
    });
    let unsent = Failure::of(ErrorClass::ApiConnection).because(Cause::Request);
    let refused = Failure::with_status(500);
    world.provider("A", replies([failing(unsent), failing(refused), ok()]));
    let mut ask = Ask::of("m");
    ask.prompt_tokens = 4_000;
    world.each_second(0.0, 2, &ask);

    world.run_until(0.9);
    assert_eq!(
        used(&mut world),
        WindowUsage {
            requests: 0,
            tokens: 0
        }
    );
    // An error answer took a request, and no tokens.
    world.run_until(1.9);
    assert_eq!(
        used(&mut world),
        WindowUsage {
            requests: 1,
            tokens: 0
        }
    );
    // One that ends in the next minute was reserved in this one.
    world.ask(59.95, &ask);
    world.run_until(59.99);
    assert_eq!(
        used(&mut world),
        WindowUsage {
            requests: 2,
            tokens: 4_000
        }
    );
    world.run_until(61.0);
    assert_eq!(
        used(&mut world),
        WindowUsage {
            requests: 0,
            tokens: 0
        }
    );
    world.run();
    assert_eq!(world.answer(2).by(), "A");
}

/// Three instances, in turn.
fn three(config: &RouterConfig, shared: bool) -> World {
    match shared {
        true => World::sharing(config, 3),
        false => World::instances(config, 3),
    }
}

/// A under one of the three ways to keep limits.
fn limited(profile: Profile, strategy: Option<StrategySpec>) -> RouterConfig {
    let mut config = RouterConfig {
        profile,
        deployments: vec![member("A")],
        ..RouterConfig::default()
    };
    config.settings.num_retries = Some(0);
    config.deployments[0].max_parallel_requests = Some(1_000);
    match strategy {
        Some(strategy) => config.settings.routing_strategy = strategy,
        None => {
            let checks = &mut config.settings.optional_pre_call_checks;
            checks.enforce_model_rate_limits = true;
        }
    }
    config
}

/// How many of 18 calls of 1000 tokens within 50 s pass a limit of 6000 tokens a minute.
fn of_18(profile: Profile, strategy: Option<StrategySpec>, shared: bool) -> usize {
    let mut config = limited(profile, strategy);
    config.deployments[0].tpm = Some(6_000);
    let mut world = three(&config, shared);
    world.provider("A", always(ok().tokens(990, 0.0)));
    for n in 0..18 {
        let ask = Ask::of("m").through(n % 3);
        world.ask(f64::from(u8::try_from(n).unwrap()) * 2.9, &ask);
    }
    world.run();
    world.oks()
}

#[test]
fn br_039_with_a_store_the_limit_is_one_for_all_instances() {
    for strategy in [Some(v1()), Some(v2()), None] {
        // The age bound is none: all instances reserve in the store itself.
        assert_eq!(of_18(CORRECTED, strategy, true), 6);
    }
    // The fault: 15 and 18 (FACTS R2, R3); 1.110 has mended enforcement.
    for profile in [OLD, NEW] {
        assert_eq!(of_18(profile, Some(v1()), true), 15);
        assert_eq!(of_18(profile, Some(v2()), true), 15);
    }
    assert_eq!(of_18(OLD, None, true), 18);
    assert_eq!(of_18(NEW, None, true), 6);
}

#[test]
fn br_039_without_a_store_limits_are_of_each_instance() {
    for profile in [CORRECTED, NEW, OLD] {
        for strategy in [Some(v1()), Some(v2()), None] {
            assert_eq!(of_18(profile, strategy, false), 18);
        }
    }
}

/// How many requests pass a limit of six a minute: 18, one every 0.4 s, in turn, or `burst` through
/// each instance at once.
fn of_rpm_6(profile: Profile, strategy: Option<StrategySpec>, burst: Option<usize>) -> usize {
    let mut config = limited(profile, strategy);
    config.deployments[0].rpm = Some(6);
    let mut world = three(&config, true);
    for n in 0..18 {
        let ask = Ask::of("m").through(n % 3);
        match burst {
            Some(burst) if n < 3 => (0..burst).for_each(|_| {
                world.ask(0.0, &ask);
            }),
            Some(_) => {}
            None => {
                world.ask(f64::from(u8::try_from(n).unwrap()) * 0.4, &ask);
            }
        }
    }
    world.run();
    world.oks()
}

#[test]
fn br_039_requests_too_are_counted_over_all_instances() {
    for strategy in [Some(v1()), Some(v2()), None] {
        assert_eq!(of_rpm_6(CORRECTED, strategy.clone(), None), 6);
        assert_eq!(of_rpm_6(CORRECTED, strategy, Some(20)), 6);
    }
    // The fault: a view is renewed by own reservations only, a tenth of a second late (FACTS R4, R7).
    // Enforcement asks the store.
    assert_eq!(of_rpm_6(NEW, Some(v2()), Some(20)), 18);
    assert_eq!(of_rpm_6(OLD, Some(v2()), Some(20)), 15);
    for profile in [OLD, NEW] {
        assert_eq!(of_rpm_6(profile, Some(v2()), None), 7);
        assert_eq!(of_rpm_6(profile, None, None), 6);
        assert_eq!(of_rpm_6(profile, None, Some(20)), 6);
    }
}

#[test]
fn br_039_reservations_of_all_instances_are_settled_in_the_store() {
    let mut config = limited(CORRECTED, Some(v2()));
    config.deployments[0].tpm = Some(10_000);
    let mut world = World::sharing(&config, 2);
    world.provider("A", always(ok().tokens(1_000, 0.0)));
    let mut ask = Ask::of("m");
    ask.prompt_tokens = 2_000;
    for n in 0..10 {
        world.ask(0.0, &ask.clone().through(n % 2));
    }
    world.run();

    let store = world.store.as_mut().unwrap();
    let (now, a) = (world.now, router::DeploymentId(0));
    for (router, _) in &mut world.routers {
        let used = store.lend(router, |router| router.window_usage(now, a));
        assert_eq!((used.requests, used.tokens), (5, 15_000));
    }
}
