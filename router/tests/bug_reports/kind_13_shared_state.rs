//! Kind 13: what instances learn of each other.

use std::num::NonZeroU64;

use router::{Profile, RouterConfig, SessionId};

use crate::{
    ask::{Ask, member},
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, ok, status, until},
    results::Hit,
};

/// A and B, of which A comes first wherever it may; a 429 of A benches it for as long as is said.
fn config(profile: Profile, cooldown_s: u64) -> RouterConfig {
    let mut config = RouterConfig {
        profile,
        deployments: ["A", "B"].iter().map(|name| member(name)).collect(),
        ..RouterConfig::default()
    };
    (config.deployments[0].weight, config.deployments[1].weight) = (Some(1.0), Some(0.0));
    config.settings.num_retries = Some(0);
    config.settings.cooldown_time = Some(std::time::Duration::from_secs(cooldown_s));
    config
}

/// When A was called through a router, after the first call of all, which benches it through R1.
fn later_hits(world: &World, router: usize) -> Vec<f64> {
    let through = |hit: &&&Hit| world.went_through(hit.ask) == router;
    let hits = world.hits("A");
    let times = hits.iter().skip(1).filter(through);
    times.map(|hit| hit.at.as_secs_f64()).collect()
}

/// A refuses the first call, which is R1's; both routers send two requests a second for 45 s.
fn told_by_the_other(profile: Profile) -> World {
    let mut world = World::sharing(&config(profile, 30), 2);
    world.provider("A", until(0.001, status(429), ok()));
    // R2 has looked before: a look that finds nothing counts.
    world.ask(0.0, &Ask::of("m"));
    for n in 0..90 {
        let when = 0.005 + f64::from(n) * 0.5;
        world.ask(when, &Ask::of("m").through(1));
        world.ask(when + 0.1, &Ask::of("m"));
    }
    world.run();
    world
}

#[test]
fn br_057_siblings_learn_of_a_cooldown_within_the_stated_time() {
    // Wasted: two a second until R2 looks again.
    for (profile, wasted) in [(CORRECTED, 2), (NEW, 2), (OLD, 20)] {
        let world = told_by_the_other(profile);

        let hits = later_hits(&world, 1);
        let inside = hits.iter().filter(|t| **t < 30.02).count();
        assert_eq!(inside, wasted, "{:?}", profile.name);
        let own = later_hits(&world, 0);
        assert!(own.iter().all(|t| *t >= 30.02), "R1 sees what it wrote");
        assert!(!own.is_empty(), "R1 takes A back when its cooldown ends");
    }
}

#[test]
fn br_057_a_cooldown_that_was_read_ends_when_it_ends_but_for_1_92_that_keeps_it_ten_minutes() {
    let back = |profile| {
        let world = told_by_the_other(profile);
        later_hits(&world, 1).into_iter().find(|t| *t > 12.0)
    };

    for profile in [CORRECTED, NEW] {
        let back = back(profile).unwrap();
        assert!((30.02..31.1).contains(&back), "{back}");
    }
    // The fault: nothing more of A through R2 in this run.
    assert_eq!(back(OLD), None);
}

#[test]
fn br_057_other_keys_do_not_push_out_an_own_cooldown() {
    let mut config = config(CORRECTED, 30);
    config.settings.optional_pre_call_checks.session_affinity = true;
    let mut world = World::sharing(&config, 2);
    world.provider("A", until(0.001, status(429), ok()));
    world.ask(0.0, &Ask::of("m"));
    for n in 1..=1_000 {
        let mut ask = Ask::of("m");
        ask.origin.session = NonZeroU64::new(n).map(SessionId);
        world.ask(2.0, &ask);
    }
    for n in 0..50 {
        world.ask(3.0 + f64::from(n) * 0.5, &Ask::of("m"));
    }
    world.run();

    assert_eq!(world.hits("A").len(), 1);
}

#[test]
fn without_a_store_nobody_learns_of_anything() {
    for profile in [CORRECTED, NEW, OLD] {
        let mut world = World::instances(&config(profile, 30), 2);
        world.provider("A", until(0.001, status(429), ok()));
        world.ask(0.0, &Ask::of("m"));
        for n in 1..20 {
            world.ask(f64::from(n), &Ask::of("m").through(1));
        }
        world.run();

        assert_eq!(world.hits("A").len(), 20);
    }
}

#[test]
fn failures_within_allowed_fails_are_counted_together_but_in_1_92() {
    for (profile, benched_at) in [(CORRECTED, 3), (NEW, 3), (OLD, 5)] {
        let mut config = config(profile, 30);
        config.settings.allowed_fails = Some(2);
        let mut world = World::sharing(&config, 2);
        world.provider("A", always(status(500)));
        for n in 0..10 {
            world.ask(f64::from(n) * 0.1, &Ask::of("m").through(n as usize % 2));
        }
        world.run();

        let benches = world.routers.iter().flat_map(|(_, log)| &log.benches);
        let first = benches.map(|(_, at, ..)| *at).min().unwrap();
        let failed = world.hits("A").iter().filter(|h| h.ended <= first).count();
        assert_eq!(failed, benched_at, "{:?}", profile.name);
    }
}

#[test]
fn failure_rates_are_each_instances_own() {
    for profile in [CORRECTED, NEW, OLD] {
        let mut world = World::sharing(&config(profile, 30), 2);
        world.provider("A", always(status(500)));
        for n in 0..8 {
            world.ask(f64::from(n) * 0.1, &Ask::of("m").through(n as usize % 2));
        }
        world.run();

        assert_eq!(world.hits("A").len(), 8, "four of each are too few");
    }
}
