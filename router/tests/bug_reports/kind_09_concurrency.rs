//! Kind 9: concurrency limits and cancelled requests.

use router::Profile;

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, ok},
    results::span,
};

/// Three streams at t=0 to A, which takes one at once: headers and first token at 0.1 s, the end at
/// 10 s. The first caller may leave early.
fn three_streams(profile: Profile, first_leaves_after: Option<f64>) -> World {
    let mut world = World::of(profile, &["A"], |c| {
        c.deployments[0].max_parallel_requests = Some(1);
    });
    world.provider("A", always(ok().after(0.1).tokens(100, 0.1)));
    let stream = Ask::of("m").streamed();
    let first = match first_leaves_after {
        Some(seconds) => stream.clone().cancelled_after(seconds),
        None => stream.clone(),
    };
    world.ask(0.0, &first);
    world.ask(0.0, &stream);
    world.ask(0.0, &stream);
    world.run();
    world
}

#[test]
fn br_046_a_permit_is_held_until_the_body_ends_and_others_wait() {
    let world = three_streams(CORRECTED, None);

    assert_eq!(world.hit_times("A"), [0.0, 10.0, 20.0]);
    assert_eq!(world.oks(), 3);
    let queued: Vec<_> = world.answers().iter().map(|a| a.queued).collect();
    assert_eq!(queued, [0.0, 10.0, 20.0].map(span));
}

#[test]
fn br_046_a_caller_that_leaves_gives_its_permit_back() {
    let world = three_streams(CORRECTED, Some(4.0));

    assert_eq!(world.hit_times("A"), [0.0, 4.0, 14.0]);
    assert_eq!(world.oks(), 2);
}

#[test]
fn br_046_in_1_92_the_headers_give_the_permit_back_and_1_110_refuses() {
    let world = three_streams(OLD, None);
    assert_eq!(world.hit_times("A"), [0.0, 0.1, 0.2]);

    // 1.110 holds the permit, but nobody waits for it.
    let world = three_streams(NEW, None);
    assert_eq!(world.hit_times("A"), [0.0]);
    assert_eq!(world.answer(1).status(), Some(429));
    assert_eq!(world.answer(2).status(), Some(429));
}
