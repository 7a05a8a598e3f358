//! Kind 10: streaming failures.
//!
//! Chat is the one endpoint that streams here. What the real versions do in each case was observed
//! of them with a scripted provider: 1.92 gives a stream to its caller with the headers, 1.110 with
//! the first frame.

use router::{CooldownReason, ErrorClass, Profile};

use crate::{
    ask::Ask,
    frames::{
        Frame::{End, Error, Opening, Ping, Text, ToolCall},
        Timed, WHOLE, frames, seen,
    },
    harness::{CORRECTED, NEW, OLD, World},
    provider::always,
    results::{at, span},
};

const OVERLOADED: &[Timed] = &[(0.1, Error(503, None))];
const OPENED_THEN_OVERLOADED: &[Timed] = &[(0.1, Opening), (0.2, Error(503, None))];
const SEEN_WHOLE: [crate::frames::Frame; 3] = [Opening, Text, End];

/// One streamed request at t=0, to A first, of `m`: A and B without fallbacks, one retry. A failure
/// that counts benches.
fn retried(profile: Profile, of_a: &'static [Timed]) -> World {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.settings.allowed_fails = Some(0);
        c.settings.num_retries = Some(1);
    });
    world.provider("A", always(frames(of_a)));
    world.provider("B", always(frames(WHOLE)));
    world.ask(0.0, &Ask::of("m").streamed().to(["A"]));
    world.run();
    world
}

/// One streamed request of `m`, which is A and falls back to `f`, which is F.
fn fallen_back(profile: Profile, of_a: &'static [Timed]) -> World {
    let mut world = World::of(profile, &["A", "f:F"], |c| {
        c.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    });
    world.provider("A", always(frames(of_a)));
    world.provider("F", always(frames(WHOLE)));
    world.ask(0.0, &Ask::of("m").streamed());
    world.run();
    world
}

#[test]
fn br_048_an_error_before_content_falls_back_and_the_caller_sees_one_stream() {
    for profile in [OLD, NEW, CORRECTED] {
        let world = fallen_back(profile, OVERLOADED);
        assert_eq!(world.answer(0).path, ["A", "F"]);
        assert_eq!(seen(&world, 0), SEEN_WHOLE);
    }
    let world = fallen_back(CORRECTED, OPENED_THEN_OVERLOADED);
    assert_eq!(world.answer(0).path, ["A", "F"]);
    assert_eq!(seen(&world, 0), SEEN_WHOLE);
}

#[test]
fn br_048_an_error_before_content_is_retried_where_there_are_no_fallbacks() {
    for of_a in [OVERLOADED, OPENED_THEN_OVERLOADED] {
        let world = retried(CORRECTED, of_a);
        assert_eq!(world.answer(0).path, ["A", "B"]);
        assert!(world.answer(0).is_ok());
        assert_eq!(seen(&world, 0), SEEN_WHOLE);

        // The fault: `num_retries` did nothing, and the true class was lost.
        let world = retried(OLD, of_a);
        assert_eq!(world.answer(0).path, ["A"]);
        assert_eq!(
            world.answer(0).error().class(),
            Some(ErrorClass::ApiConnection)
        );
    }
    // 1.110 has the fault only once a frame was passed on; before, it retries, here or there.
    assert_eq!(retried(NEW, OVERLOADED).answer(0).path.len(), 2);
    let world = retried(NEW, OPENED_THEN_OVERLOADED);
    assert_eq!(world.answer(0).path, ["A"]);
    assert_eq!(
        world.answer(0).error().class(),
        Some(ErrorClass::ApiConnection)
    );
}

/// Two streamed requests to A, which breaks after five chunks; a failure that counts benches.
fn broken_after_five(profile: Profile) -> World {
    const FIVE: &[Timed] = &[
        (0.1, Text),
        (0.2, Text),
        (0.3, Text),
        (0.4, Text),
        (0.5, Text),
        (0.6, Error(503, None)),
    ];
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.settings.allowed_fails = Some(0);
        c.settings.cooldown_time = Some(span(30.0));
        c.settings.num_retries = Some(1);
    });
    world.provider("A", always(frames(FIVE)));
    world.provider("B", always(frames(WHOLE)));
    world.ask(0.0, &Ask::of("m").streamed().to(["A"]));
    world.run();
    world
}

#[test]
fn br_048_an_error_after_content_is_told_and_charged_with_its_true_class() {
    let world = broken_after_five(CORRECTED);
    assert_eq!(world.answer(0).path, ["A"]);
    assert_eq!(seen(&world, 0), [Text; 5]);
    assert_eq!(world.answer(0).status(), Some(503));
    let benches = world.benches();
    assert_eq!(benches.len(), 1);
    assert_eq!(benches[0].why, CooldownReason::AllowedFailsExceeded);

    // The fault: what is not known by its text becomes a connection error, which benches nobody.
    for profile in [OLD, NEW] {
        let world = broken_after_five(profile);
        assert_eq!(seen(&world, 0), [Text; 5]);
        assert_eq!(
            world.answer(0).error().class(),
            Some(ErrorClass::ApiConnection)
        );
        assert!(world.benches().is_empty());
    }
}

#[test]
fn br_048_an_in_band_429_benches_for_as_long_as_it_says() {
    const LIMITED: &[Timed] = &[(0.1, Error(429, Some(20)))];
    let until = |profile| {
        let mut world = World::of(profile, &["A", "B"], |c| {
            c.settings.cooldown_time = Some(span(60.0));
            c.settings.num_retries = Some(1);
        });
        world.provider("A", always(frames(LIMITED)));
        world.provider("B", always(frames(WHOLE)));
        world.ask(0.0, &Ask::of("m").streamed().to(["A"]));
        world.run();
        world.benches().iter().map(|b| b.until).collect::<Vec<_>>()
    };

    assert_eq!(until(CORRECTED), [at(20.1)]);
    // 1.110 knows the class by its text and looks for a hint among headers only; 1.92 never
    // benches for an error inside a stream.
    assert_eq!(until(NEW), [at(60.1)]);
    assert!(until(OLD).is_empty());
}

#[test]
fn br_050_a_tool_call_commits_the_stream() {
    const CALLS_THEN_FAILS: &[Timed] = &[(0.1, Opening), (0.2, ToolCall), (0.4, Error(503, None))];
    // 1.110 does not have the fault.
    for profile in [NEW, CORRECTED] {
        let world = fallen_back(profile, CALLS_THEN_FAILS);
        assert!(world.hits("F").is_empty());
        assert_eq!(seen(&world, 0), [Opening, ToolCall]);
        assert_eq!(world.answer(0).ended, at(0.4));
    }
    assert_eq!(
        fallen_back(CORRECTED, CALLS_THEN_FAILS).answer(0).status(),
        Some(503)
    );

    // The fault: chunks of both answers.
    let world = fallen_back(OLD, CALLS_THEN_FAILS);
    assert_eq!(seen(&world, 0), [Opening, ToolCall, Opening, Text, End]);
}

#[test]
fn br_050_opening_frames_and_pings_commit_nothing_and_are_seen_once() {
    const OPENS_THEN_FAILS: &[Timed] = &[
        (0.1, Opening),
        (0.2, Ping),
        (0.3, Ping),
        (0.4, Error(503, None)),
    ];
    let world = fallen_back(CORRECTED, OPENS_THEN_FAILS);
    assert_eq!(world.answer(0).by(), "F");
    assert_eq!(seen(&world, 0), SEEN_WHOLE);

    // The fault, in both versions: F serves, and the caller sees two opening frames.
    for profile in [OLD, NEW] {
        let world = fallen_back(profile, OPENS_THEN_FAILS);
        assert_eq!(world.answer(0).by(), "F");
        assert_eq!(seen(&world, 0), [Opening, Opening, Text, End]);
    }
}
