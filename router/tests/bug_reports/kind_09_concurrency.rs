//! Kind 9: concurrency limits and cancelled requests.

use router::{Profile, StrategySpec};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, hangs, ok, status},
    results::{Got, span},
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

/// A thousand streams of 2 s, one in ten of which ends in one of five bad ways, to three members
/// under least-busy. `World::run` finds every count at zero in the end, and every slot free.
fn callers_that_leave(profile: Profile) -> World {
    let mut world = World::of(profile, &["A", "B", "C"], |c| {
        c.settings.routing_strategy = StrategySpec::LeastBusy;
        c.settings.default_max_parallel_requests = Some(1_000);
        c.settings.disable_cooldowns = true;
        c.settings.stream_timeout = Some(span(5.0));
    });
    let whole = ok().after(1.0).tokens(11, 0.1);
    for name in ["A", "B", "C"] {
        let does = move |call: &crate::provider::Call| match call.ask % 20 {
            0 => status(500).after(1.0),
            1 => hangs(),
            // It fails while it is being closed, after its last token.
            2 => status(500).after(1.0).tokens(11, 0.1).broken_after(11),
            _ => whole,
        };
        world.provider(name, Box::new(does));
    }
    let stream = Ask::of("m").streamed();
    for n in 0..1_000 {
        let ask = match n % 20 {
            // Before the first byte; in the stream; and with a call upstream that goes on.
            3 => stream.clone().cancelled_after(0.5),
            4 => stream.clone().cancelled_after(1.5),
            5 => stream.clone().cancelled_after(0.5).upstream_goes_on(),
            _ => stream.clone(),
        };
        world.ask(f64::from(n) * 0.05, &ask);
    }
    world.run();
    world
}

/// The greatest share of the next hundred calls, in a hundredth.
fn greatest_share(world: &mut World) -> usize {
    let before = ["A", "B", "C"].map(|name| world.hits(name).len());
    for n in 0..100 {
        world.ask(200.0 + f64::from(n) * 10.0, &Ask::of("m"));
    }
    world.run();
    let after = ["A", "B", "C"].map(|name| world.hits(name).len());
    let shares = before.into_iter().zip(after).map(|(b, a)| a - b);
    shares.max().unwrap()
}

#[test]
fn br_047_every_way_out_gives_back_what_was_taken() {
    let mut world = callers_that_leave(CORRECTED);
    let got = |got: Got| world.answers().iter().filter(|a| a.got == got).count();
    assert_eq!(got(Got::Cancelled), 150);
    assert_eq!(world.oks(), 700);

    // Nothing is left behind, so nobody draws all traffic, not even one that begins anew.
    let share = greatest_share(&mut world);
    assert!(share < 60, "{share} of 100");
}

#[test]
fn br_047_what_abandoned_streams_leave_behind_steers_all_traffic_in_1_92() {
    let mut world = callers_that_leave(OLD);
    let share = greatest_share(&mut world);
    assert!(share > 60, "{share} of 100");
}

#[test]
fn br_047_a_call_that_goes_on_without_its_caller_counts_until_it_ends() {
    for profile in [OLD, NEW, CORRECTED] {
        let mut world = World::of(profile, &["A"], |c| {
            c.deployments[0].max_parallel_requests = Some(1);
            c.settings.num_retries = Some(3);
        });
        world.provider("A", always(status(500).after(2.0)));
        world.ask(0.0, &Ask::of("m").cancelled_after(0.5).upstream_goes_on());
        world.ask(3.0, &Ask::of("m").cancelled_after(0.5));

        let a = world.id("A");
        world.run_until(1.9);
        assert_eq!(
            (world.router().in_flight(a), world.router().slots_taken(a)),
            (1, 1)
        );
        world.run_until(2.1);
        assert_eq!(
            (world.router().in_flight(a), world.router().slots_taken(a)),
            (0, 0)
        );
        assert_eq!(
            world.router().unfinished(),
            0,
            "nothing is retried for nobody"
        );
        // Where the call is cancelled with its caller, it stops to count at once.
        world.run_until(3.6);
        assert_eq!(
            (world.router().in_flight(a), world.router().slots_taken(a)),
            (0, 0)
        );
        world.run();
    }
}
