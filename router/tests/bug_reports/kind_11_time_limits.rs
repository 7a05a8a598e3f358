//! Kind 11: time limits.

use router::{Profile, StreamLimits};

use crate::{
    ask::Ask,
    frames::{
        Frame::{End, Ping, Text},
        Timed, WHOLE, frames, seen,
    },
    harness::{CORRECTED, NEW, OLD, World},
    provider::always,
    results::{at, span},
};

/// Content at 0.1 s, a ping every 5 s, nothing more until 60 s.
const STALLS: &[Timed] = &[
    (0.1, Text),
    (5.0, Ping),
    (10.0, Ping),
    (15.0, Ping),
    (20.0, Ping),
    (25.0, Ping),
    (30.0, Ping),
    (35.0, Ping),
    (40.0, Ping),
    (45.0, Ping),
    (50.0, Ping),
    (55.0, Ping),
    (60.0, End),
];

/// Pings from the start, and content at 30 s.
const PINGS: &[Timed] = &[
    (4.0, Ping),
    (8.0, Ping),
    (12.0, Ping),
    (16.0, Ping),
    (20.0, Ping),
    (24.0, Ping),
    (28.0, Ping),
    (30.0, Text),
    (30.1, End),
];

const fn limits(first_token: f64, idle: f64, total: Option<f64>) -> [Option<f64>; 3] {
    [Some(first_token), Some(idle), total]
}

/// One streamed request to A, with one retry at B.
fn world(profile: Profile, of_a: &'static [Timed], limits: [Option<f64>; 3]) -> World {
    let [first_token, idle, total] = limits.map(|l| l.map(span));
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.settings.allowed_fails = Some(0);
        c.settings.num_retries = Some(1);
        c.settings.stream_limits = StreamLimits {
            first_token,
            idle,
            total,
        };
    });
    world.provider("A", always(frames(of_a)));
    world.provider("B", always(frames(WHOLE)));
    world.ask(0.0, &Ask::of("m").streamed().to(["A", "B"]));
    world.run();
    world
}

/// The same under `stream_timeout` 5, LiteLLM's only limit.
fn under_stream_timeout(profile: Profile, of_a: &'static [Timed]) -> World {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.settings.allowed_fails = Some(0);
        c.settings.num_retries = Some(1);
        c.settings.stream_timeout = Some(span(5.0));
    });
    world.provider("A", always(frames(of_a)));
    world.provider("B", always(frames(WHOLE)));
    world.ask(0.0, &Ask::of("m").streamed().to(["A", "B"]));
    world.run();
    world
}

#[test]
fn br_051_a_stall_is_a_timeout_though_the_connection_is_kept_alive() {
    for world in [
        world(CORRECTED, STALLS, limits(5.0, 5.0, None)),
        under_stream_timeout(CORRECTED, STALLS),
    ] {
        assert_eq!(world.answer(0).ended, at(5.1));
        assert_eq!(world.answer(0).status(), Some(408));
        assert_eq!(seen(&world, 0), [Text]);
        assert_eq!(world.benches().len(), 1, "charged to A");
        assert!(world.hits("B").is_empty());
    }

    // The fault, in both versions: a clean end at 60.
    for profile in [OLD, NEW] {
        let world = under_stream_timeout(profile, STALLS);
        assert_eq!(world.answer(0).ended, at(60.0));
        assert!(world.answer(0).is_ok());
        assert!(world.benches().is_empty());
    }
}

#[test]
fn br_051_pings_from_the_start_are_no_first_token() {
    for world in [
        world(CORRECTED, PINGS, limits(5.0, 60.0, None)),
        under_stream_timeout(CORRECTED, PINGS),
    ] {
        assert_eq!(world.hit_times("B"), [5.0]);
        assert_eq!(world.answer(0).by(), "B");
    }

    // The fault: A is waited for.
    for profile in [OLD, NEW] {
        let world = under_stream_timeout(profile, PINGS);
        assert_eq!(world.answer(0).by(), "A");
        assert_eq!(world.answer(0).ended, at(30.1));
    }
}

/// A chunk every 4 s for 100 s.
fn steady() -> &'static [Timed] {
    let chunks = (1..=25).map(|n| (f64::from(n) * 4.0, Text));
    chunks.chain([(100.0, End)]).collect::<Vec<_>>().leak()
}

#[test]
fn br_051_first_token_idle_and_total_are_three_limits() {
    // The limits are settings of ours, so every profile obeys them.
    for profile in [OLD, NEW, CORRECTED] {
        let idle = world(profile, steady(), limits(5.0, 5.0, None));
        assert!(idle.answer(0).is_ok());
        assert_eq!(idle.answer(0).ended, at(100.0));

        let total = world(profile, steady(), limits(5.0, 5.0, Some(60.0)));
        assert_eq!(total.hits("A")[0].ended, at(60.0));
    }
    let total = world(CORRECTED, steady(), limits(5.0, 5.0, Some(60.0)));
    assert_eq!(total.answer(0).ended, at(60.0));
    assert_eq!(total.answer(0).status(), Some(408));
    assert_eq!(seen(&total, 0).len(), 15, "chunks at 4, 8, … 60");
}
