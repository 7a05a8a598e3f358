//! Kind 8, choosing by latency.

use router::{
    Profile, StrategySpec,
    strategy::{LowestLatencyArgs, Unmeasured},
};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, ok, replies, status},
    results::{at, span},
};

fn world(profile: Profile, args: LowestLatencyArgs) -> World {
    World::of(profile, &["A", "B"], |c| {
        c.settings.routing_strategy = StrategySpec::LowestLatency(args);
    })
}

/// Who serves ten calls one after another, after eight to get to know both: A starts early and
/// writes 20 tokens, B starts late and writes 400.
fn who_serves(profile: Profile, stream: bool) -> Vec<String> {
    let mut world = world(profile, LowestLatencyArgs::default());
    let (of_a, of_b) = match stream {
        true => (
            ok().after(1.0).tokens(20, 0.02),
            ok().after(3.0).tokens(400, 0.02),
        ),
        false => (
            ok().after(1.4).tokens(20, 0.0),
            ok().after(11.0).tokens(400, 0.0),
        ),
    };
    world.provider("A", always(of_a));
    world.provider("B", always(of_b));
    let ask = match stream {
        true => Ask::of("m").streamed(),
        false => Ask::of("m"),
    };
    for n in 0..18 {
        world.ask(f64::from(n) * 20.0, &ask);
    }
    world.run();
    assert!(!world.hits("A").is_empty() && !world.hits("B").is_empty());
    world.answers()[8..]
        .iter()
        .map(|a| a.by().to_owned())
        .collect()
}

#[test]
fn br_041_streams_are_ranked_by_plain_time_to_first_token() {
    // 1.110 does not have the fault.
    for profile in [NEW, CORRECTED] {
        assert_eq!(who_serves(profile, true), ["A"; 10]);
    }
    // The fault: 3/400 is less than 1/20.
    assert_eq!(who_serves(OLD, true), ["B"; 10]);
}

#[test]
fn br_041_answers_in_one_piece_are_ranked_by_time_per_token() {
    for profile in [OLD, NEW, CORRECTED] {
        assert_eq!(who_serves(profile, false), ["B"; 10]);
    }
}

/// A is measured at 0.2 s a token, B was out meanwhile and has no samples; it takes 5 s.
fn newcomer(profile: Profile, args: LowestLatencyArgs) -> World {
    let mut world = world(profile, args);
    world.provider("A", always(ok().after(0.2).tokens(1, 0.0)));
    let late = ok().after(5.0).tokens(1, 0.0);
    world.provider("B", replies([status(429).hint_seconds(100), late]));
    world.ask(0.0, &Ask::of("B"));
    world.each_second(1.0, 12, &Ask::of("m"));
    world
}

#[test]
fn br_042_a_member_without_samples_counts_as_zero_and_gets_all_until_it_is_measured() {
    for profile in [OLD, NEW, CORRECTED] {
        let mut world = newcomer(profile, LowestLatencyArgs::default());
        let stampede: Vec<_> = (0..20).map(|_| world.ask(110.0, &Ask::of("m"))).collect();
        let after = world.ask(116.0, &Ask::of("m"));
        world.run();

        let on_b = stampede.iter().filter(|&&n| world.answer(n).by() == "B");
        assert_eq!(on_b.count(), 20, "the stampede");
        assert_eq!(world.answer(after).by(), "A");
    }
}

#[test]
fn br_042_a_record_without_samples_is_no_error() {
    // B's record exists, for B was looked at, and holds nothing. (In the report another strategy
    // had written it; here each keeps its own records.)
    for profile in [OLD, NEW, CORRECTED] {
        let mut world = world(profile, LowestLatencyArgs::default());
        world.provider("A", always(ok().after(0.2).tokens(1, 0.0)));
        world.provider("B", replies([status(500), status(500), ok()]));
        world.each_second(0.0, 10, &Ask::of("m"));
        world.run();

        assert_eq!(world.oks(), 8);
        let errors: Vec<_> = world.answers().iter().filter_map(|a| a.status()).collect();
        assert_eq!(errors, [500, 500], "B's own");
    }
}

#[test]
fn br_042_with_a_start_value_a_newcomer_is_tried_once_it_has_decayed_below_the_others() {
    let args = LowestLatencyArgs {
        unmeasured: Some(Unmeasured {
            latency: span(1.0),
            decay: span(10.0),
        }),
        ..LowestLatencyArgs::default()
    };
    let mut world = newcomer(CORRECTED, args);
    world.each_second(110.0, 30, &Ask::of("m"));
    world.run();

    // B is first a candidate at 110, and 1 s decays below 0.2 s in 10·ln 5 = 16.1 s.
    assert_eq!(world.hits("B")[1].at, at(127.0));
}

#[test]
fn br_042_members_without_samples_share_by_the_seed() {
    for profile in [OLD, NEW, CORRECTED] {
        let mut world = world(profile, LowestLatencyArgs::default());
        for _ in 0..400 {
            world.ask(0.0, &Ask::of("m"));
        }
        world.run();

        let on_a = world.hits("A").len();
        assert!((160..=240).contains(&on_a), "{on_a} of 400");
    }
}
