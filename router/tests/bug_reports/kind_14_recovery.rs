//! Kind 14: recovery, and limits on exclusion. The ways to come back are settings of ours, which
//! every profile knows; without them a cooldown ends by its timer alone, as in LiteLLM.

use router::{CooldownRecovery, Profile, RouterConfig};

use crate::{
    ask::{Ask, member},
    harness::{CORRECTED, NEW, OLD, World},
    provider::{Provider, always, ok, status, until},
    results::at,
};

const ALL: [Profile; 3] = [OLD, NEW, CORRECTED];

/// A, beside a sibling that is paused, so that a 429 benches it for 30 s.
fn config(profile: Profile, recovery: CooldownRecovery) -> RouterConfig {
    let mut config = RouterConfig {
        profile,
        deployments: ["A", "paused"].iter().map(|name| member(name)).collect(),
        ..RouterConfig::default()
    };
    config.deployments[1].blocked = true;
    config.settings.num_retries = Some(0);
    config.settings.cooldown_time = Some(std::time::Duration::from_secs(30));
    config.settings.cooldown_recovery = recovery;
    config
}

const ONE_TRIAL: CooldownRecovery = CooldownRecovery {
    one_trial: true,
    spread: 0.0,
};

/// Refuses everybody at first; from `from` on it holds five at once.
fn holds_five(from: f64) -> Provider {
    Box::new(move |call| {
        let full = call.at < from || call.in_flight >= 5;
        if full { status(429) } else { ok() }
    })
}

/// 200 callers who come back whenever they are told to: how many reached A each time.
fn bursts(profile: Profile, recovery: CooldownRecovery) -> Vec<usize> {
    let mut world = World::instances(&config(profile, recovery), 1);
    world.provider("A", holds_five(1.0));
    world.ask(0.0, &Ask::of("m"));
    world.run_until(1.0);
    let mut waiting = 200;
    let mut when = 30.02;
    let mut bursts = Vec::new();
    while waiting > 0 {
        let before = world.hits("A").len();
        let asks: Vec<usize> = (0..waiting)
            .map(|_| world.ask(when, &Ask::of("m")))
            .collect();
        world.run_until(when + 0.5);
        let served = |ask: &&usize| world.answer(**ask).is_ok();
        waiting -= asks.iter().filter(served).count();
        bursts.push(world.hits("A").len() - before);
        // What is told is when A returns; a caller that is told nothing comes in a second.
        let back = world.routers[0].0.cooled_until(world.now, world.id("A"));
        when = back.map_or(when + 1.0, |back| back.as_secs_f64().max(when + 1.0));
        assert!(bursts.len() < 300, "it never becomes steady");
    }
    bursts
}

#[test]
fn br_059_by_the_timer_alone_everybody_comes_in_the_instant_that_it_ends() {
    for profile in ALL {
        let bursts = bursts(profile, CooldownRecovery::default());

        assert_eq!(bursts[0], 200, "{:?}", profile.name);
        // Five are served each time, and the 429s of the others bench A anew.
        assert_eq!(bursts.len(), 40, "{:?}", profile.name);
    }
}

#[test]
fn br_059_one_request_tries_a_member_whose_timer_has_ended_and_the_rest_follow_its_success() {
    for profile in ALL {
        let mut world = World::instances(&config(profile, ONE_TRIAL), 1);
        world.provider("A", until(1.0, status(429), ok()));
        world.ask(0.0, &Ask::of("m"));
        let early = world.ask(29.0, &Ask::of("m"));
        let first: Vec<usize> = (0..10).map(|_| world.ask(30.02, &Ask::of("m"))).collect();
        let after: Vec<usize> = (0..10).map(|_| world.ask(30.2, &Ask::of("m"))).collect();
        world.run();

        let served = |asks: &[usize]| asks.iter().filter(|a| world.answer(**a).is_ok()).count();
        assert!(!world.answer(early).is_ok());
        assert_eq!(served(&first), 1, "{:?}", profile.name);
        assert_eq!(served(&after), 10, "{:?}", profile.name);
        let trials = world.hits("A").iter().filter(|h| h.at == at(30.02)).count();
        assert_eq!(trials, 1);
    }
}

#[test]
fn br_059_a_trial_that_fails_keeps_the_member_out_for_the_same_length_again() {
    for profile in ALL {
        let mut world = World::instances(&config(profile, ONE_TRIAL), 1);
        world.provider("A", until(80.0, status(429), ok()));
        world.each_second(0.0, 120, &Ask::of("m"));
        world.run();

        // Out from 0.02 to 30.02, from 31.02 to 61.02, from 62.02 to 92.02.
        let tried: Vec<f64> = world
            .hit_times("A")
            .into_iter()
            .filter(|t| *t < 93.5)
            .collect();
        assert_eq!(tried, [0.0, 31.0, 62.0, 93.0], "{:?}", profile.name);
        assert_eq!(world.oks(), 27, "{:?}", profile.name);
    }
}

#[test]
fn br_059_a_trial_that_fails_without_benching_is_followed_by_another() {
    let mut world = World::instances(&config(CORRECTED, ONE_TRIAL), 1);
    world.provider(
        "A",
        Box::new(|call| match call.number {
            0 => status(429),
            1 => status(500),
            _ => ok(),
        }),
    );
    world.each_second(0.0, 70, &Ask::of("m"));
    world.run();

    assert_eq!(world.hit_times("A")[..3], [0.0, 31.0, 62.0]);
    assert_eq!(world.oks(), 8);
}

#[test]
fn br_059_a_caller_who_leaves_during_the_trial_lets_somebody_else_try() {
    let mut world = World::instances(&config(CORRECTED, ONE_TRIAL), 1);
    world.provider("A", until(1.0, status(429), ok().after(10.0)));
    world.ask(0.0, &Ask::of("m"));
    world.ask(31.0, &Ask::of("m").cancelled_after(2.0));
    let next = world.ask(34.0, &Ask::of("m"));
    world.run();

    assert!(world.answer(next).is_ok());
}

/// How many trials A has in the instant that its timer ends, when four instances have six callers
/// each. All are benched by the same refusals, or only the first one.
fn trials(profile: Profile, shared: bool, benched: usize) -> usize {
    let config = config(profile, ONE_TRIAL);
    let mut world = match shared {
        true => World::sharing(&config, 4),
        false => World::instances(&config, 4),
    };
    world.provider("A", until(1.0, status(429), ok()));
    for router in 0..4 {
        if router < benched {
            world.ask(0.0, &Ask::of("m").through(router));
        }
        for _ in 0..6 {
            world.ask(30.02, &Ask::of("m").through(router));
        }
        world.ask(30.5, &Ask::of("m").through(router));
    }
    world.run();
    let after = world.hits("A").iter().filter(|h| h.at == at(30.5)).count();
    assert_eq!(after, 4, "the trial's success brings it back for all");
    world.hits("A").iter().filter(|h| h.at == at(30.02)).count()
}

#[test]
fn br_059_instances_that_share_a_store_have_one_trial_together_and_others_one_each() {
    for profile in ALL {
        assert_eq!(trials(profile, true, 4), 1, "{:?}", profile.name);
        assert_eq!(trials(profile, true, 1), 1, "{:?}", profile.name);
        assert_eq!(trials(profile, false, 4), 4, "{:?}", profile.name);
    }
}

#[test]
fn br_059_returns_are_spread_around_the_length() {
    let recovery = CooldownRecovery {
        one_trial: false,
        spread: 0.15,
    };
    let mut config = config(CORRECTED, recovery);
    let names: Vec<String> = (0..200).map(|n| format!("D{n}")).collect();
    config.deployments = names.iter().map(|name| member(name)).collect();
    let mut world = World::instances(&config, 1);
    for name in &names {
        world.provider(name, always(status(429).after(0.0)));
        world.ask(0.0, &Ask::of(name));
    }
    world.run();

    let lengths: Vec<f64> = world
        .benches()
        .iter()
        .map(|b| b.until.as_secs_f64())
        .collect();
    assert_eq!(lengths.len(), 200);
    assert!(lengths.iter().all(|l| (25.5..=34.5).contains(l)));
    let early = lengths.iter().filter(|l| **l < 30.0).count();
    assert!((70..=130).contains(&early), "{early} of 200 are early");
}
