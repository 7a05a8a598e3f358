//! Kind 8, choosing by load.

use std::num::NonZeroU64;

use router::{ContentId, Profile, RouterConfig, StrategySpec};

use crate::{
    ask::{Ask, member},
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, ok},
};

fn world(profile: Profile, cached: bool) -> World {
    World::of(profile, &["A", "B", "C"], |c| {
        c.settings.routing_strategy = StrategySpec::LeastBusy;
        c.settings.cache_responses = cached;
    })
}

fn hits(world: &World) -> [usize; 3] {
    ["A", "B", "C"].map(|name| world.hits(name).len())
}

/// The greatest share of all calls, in percent.
fn greatest_share(world: &World) -> usize {
    let hits = hits(world);
    hits.iter().max().unwrap() * 100 / hits.iter().sum::<usize>()
}

#[test]
fn br_044_idle_members_share_alike() {
    let sequential = |profile| {
        let mut world = world(profile, false);
        world.each_second(0.0, 300, &Ask::of("m"));
        world.run();
        world
    };

    let spread = hits(&sequential(CORRECTED));
    assert!(spread.iter().all(|n| (70..=130).contains(n)), "{spread:?}");
    // The fault, in both versions: equals go to the first.
    for profile in [OLD, NEW] {
        assert_eq!(greatest_share(&sequential(profile)), 100);
    }
}

#[test]
fn br_044_a_cache_hit_lowers_nothing_that_was_not_raised() {
    // Each content is asked for twice; the second time the cache answers.
    let half_cached = |profile| {
        let mut world = world(profile, true);
        for n in 0..300_u32 {
            let mut ask = Ask::of("m");
            let content = NonZeroU64::new(u64::from(n / 2) + 1).unwrap();
            ask.origin.content = Some(ContentId(content));
            world.ask(f64::from(n), &ask);
        }
        world.run();
        assert_eq!(world.all_hits().len(), 150);
        world
    };

    let spread = hits(&half_cached(CORRECTED));
    assert!(spread.iter().all(|n| (35..=65).contains(n)), "{spread:?}");
    // The fault: in 1.92 whoever a hit was counted for is below zero from then on.
    assert!(greatest_share(&half_cached(OLD)) > 60);
}

#[test]
fn br_044_counts_do_not_go_below_zero_when_they_would_expire() {
    // Calls of 5 s, one of which crosses t=600, when the first counts of 1.92 expire.
    let crossing = |profile| {
        let mut world = world(profile, false);
        for name in ["A", "B", "C"] {
            world.provider(name, always(ok().after(5.0)));
        }
        for n in 0..300_u32 {
            world.ask(f64::from(n) * 6.0 - f64::from(n / 100) * 2.0, &Ask::of("m"));
        }
        world.run();
        world
    };

    let spread = hits(&crossing(CORRECTED));
    assert!(spread.iter().all(|n| (70..=130).contains(n)), "{spread:?}");
    assert!(greatest_share(&crossing(OLD)) > 60);
}

#[test]
fn br_044_whoever_is_in_flight_is_counted_and_nobody_else() {
    let mut world = world(CORRECTED, false);
    for name in ["A", "B", "C"] {
        world.provider(name, always(ok().after(5.0)));
    }
    for n in 0..60_u32 {
        world.ask(f64::from(n) * 0.5, &Ask::of("m"));
    }

    // Ten calls of 5 s overlap at any time, and are spread as evenly as ten can be.
    for seconds in [6.2, 13.7, 29.9] {
        world.run_until(seconds);
        let ids = ["A", "B", "C"].map(|name| world.id(name));
        let mut counts = ids.map(|id| world.router().in_flight(id));
        counts.sort_unstable();
        assert_eq!(counts, [3, 3, 4]);
    }
    world.run();
}

/// W1 holds a call of 60 s on A; W2 sends ten short ones: how many reach A. `warm`: W2 sent one before.
fn reach_a(profile: Profile, shared: bool, warm: bool) -> usize {
    let mut config = RouterConfig {
        profile,
        deployments: ["A", "B", "C"].iter().map(|name| member(name)).collect(),
        ..RouterConfig::default()
    };
    config.settings.routing_strategy = StrategySpec::LeastBusy;
    let mut world = match shared {
        true => World::sharing(&config, 2),
        false => World::instances(&config, 2),
    };
    if warm {
        // W2 holds one of its own on another, which it then gives back.
        world.ask(0.0, &Ask::of("m").through(1));
    }
    world.run_until(1.0);
    // Whom W1 holds is called A here.
    let held = world.all_hits().len();
    let long = |call: &crate::provider::Call| {
        if call.at < 2.0 {
            ok().after(60.0)
        } else {
            ok()
        }
    };
    for name in ["A", "B", "C"] {
        world.provider(name, Box::new(long));
    }
    world.ask(1.5, &Ask::of("m"));
    for n in 0..10 {
        world.ask(3.0 + f64::from(n), &Ask::of("m").through(1));
    }
    world.run();
    let a = &world.all_hits()[held].provider;
    world.all_hits()[held + 1..]
        .iter()
        .filter(|hit| hit.provider == *a)
        .count()
}

#[test]
fn br_044_with_a_store_a_worker_sees_what_another_holds() {
    for warm in [false, true] {
        assert_eq!(reach_a(CORRECTED, true, warm), 0);
        assert_eq!(reach_a(NEW, true, warm), 0);
    }
    // The fault: 1.92 reads the store only while it has no dictionary of its own (FACTS R5).
    assert_eq!(reach_a(OLD, true, false), 0);
    assert_eq!(reach_a(OLD, true, true), 10);
}

#[test]
fn br_044_without_a_store_counts_are_per_worker() {
    assert!(reach_a(CORRECTED, false, true) > 0);
    for profile in [NEW, OLD] {
        assert_eq!(reach_a(profile, false, true), 10);
    }
}
