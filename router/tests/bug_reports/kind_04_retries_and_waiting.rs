//! Kind 4: retries and waiting between them. (BR-024 to BR-026: `kind_04_policies_and_hints`)

use std::{cell::Cell, rc::Rc};

use router::{Api, ErrorClass, Overrides, Profile, WaitReason, config::RetryPolicy};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{Call, Provider, Reply, always, class, ok, replies, status},
    results::{Answered, span},
};

const ALL: [Profile; 3] = [OLD, NEW, CORRECTED];

/// Calls of A, which always fails, for one request. Its own `num_retries` is 5, the router's 1.
fn calls(profile: Profile, overrides: Overrides) -> usize {
    let mut world = World::of(profile, &["A"], |c| {
        c.deployments[0].num_retries = Some(5);
        c.settings.num_retries = Some(1);
    });
    world.provider("A", always(status(500)));
    world.ask(0.0, &Ask::of("m").with(overrides));
    world.run();
    world.hits("A").len()
}

#[test]
fn br_020_there_is_one_owner_of_retries() {
    let none = Overrides::default;
    let header = || Overrides {
        num_retries: Some(0),
        ..none()
    };
    let body = || Overrides {
        max_retries: Some(4),
        ..none()
    };

    // 1.92 hands the count to the client library too, and it outranks the caller's (quirks Q1, Q2).
    assert_eq!([none(), header(), body()].map(|o| calls(OLD, o)), [36; 3]);
    // 1.110 is mended (vectors num-retries-*).
    for profile in [NEW, CORRECTED] {
        let got = [none(), header(), body()].map(|o| calls(profile, o));
        assert_eq!(got, [6, 1, 6], "{:?}", profile.name);
    }
}

#[test]
fn br_020_the_client_library_does_not_retry_embeddings_either() {
    let embedding = Overrides {
        api: Api::Embedding,
        ..Overrides::default()
    };

    // Three calls an attempt in both versions (FACTS 11).
    assert_eq!(calls(NEW, embedding.clone()), 18);
    assert_eq!(calls(CORRECTED, embedding), 6);
}

/// An account that takes one request in 10 s and tells how long to wait, used by as many providers
/// as ask for it.
fn account() -> impl Fn() -> Provider {
    let free_at = Rc::new(Cell::new(0.0));
    move || {
        let free_at = Rc::clone(&free_at);
        Box::new(move |call: &Call| {
            let left = free_at.get() - call.at;
            if left > 0.0 {
                #[expect(clippy::cast_possible_truncation, reason = "some seconds")]
                return status(429).hint_seconds(left.ceil() as i64);
            }
            free_at.set(call.at + 10.0);
            ok()
        })
    }
}

fn limit(seconds: f64) -> Overrides {
    Overrides {
        timeout: Some(span(seconds)),
        ..Overrides::default()
    }
}

/// A, B and C of one account; the first request uses its quota up, the second comes at t=1.
fn shared_quota(profile: Profile, limit_s: f64) -> Answered {
    let mut world = World::of(profile, &["A", "B", "C"], |c| {
        for deployment in &mut c.deployments {
            deployment.quota_group = Some("q".to_owned());
        }
        c.settings.num_retries = Some(3);
    });
    let shared = account();
    for name in ["A", "B", "C"] {
        world.provider(name, shared());
    }
    world.ask(0.0, &Ask::of("m"));
    let second = world.ask(1.0, &Ask::of("m").with(limit(limit_s)));
    world.run();
    world.answer(second).clone()
}

#[test]
fn br_021_members_of_one_quota_wait_for_its_hint() {
    for profile in [OLD, NEW] {
        let second = shared_quota(profile, 60.0);
        assert_eq!(second.status(), Some(429), "{:?}", profile.name);
        // Each of them is called once and benched.
        assert_eq!(second.path.len(), 3);
        assert!(second.took() < span(0.1));
    }

    let second = shared_quota(CORRECTED, 60.0);
    assert!(second.is_ok());
    assert_eq!(second.path.len(), 2);
    assert_eq!(second.waits, [(span(9.0), WaitReason::RetryAfter)]);
}

#[test]
fn br_021_the_hint_is_not_waited_for_beyond_the_requests_time() {
    let second = shared_quota(CORRECTED, 5.0);

    assert_eq!((second.status(), second.waits.len()), (Some(429), 0));
}

#[test]
fn br_021_separate_quotas_are_retried_on_a_peer_at_once() {
    for profile in ALL {
        let mut world = World::of(profile, &["A", "B", "C"], |c| {
            c.settings.num_retries = Some(3);
        });
        for name in ["A", "B", "C"] {
            world.provider(name, account()());
        }
        world.ask(0.0, &Ask::of("m").to(["A"]));
        let second = world.ask(1.0, &Ask::of("m").to(["A"]));
        world.run();

        let second = world.answer(second);
        assert!(
            second.is_ok() && second.waits.is_empty(),
            "{:?}",
            profile.name
        );
        assert_eq!(second.path.len(), 2);
    }
}

#[test]
fn br_021_beside_an_independent_member_a_used_up_quota_is_left_whole() {
    let mut world = World::of(CORRECTED, &["A", "B", "D"], |c| {
        for deployment in &mut c.deployments[..2] {
            deployment.quota_group = Some("q".to_owned());
        }
        c.settings.num_retries = Some(3);
    });
    let shared = account();
    world.provider("A", shared());
    world.provider("B", shared());
    world.provider("D", replies([ok(), status(429).hint_seconds(30)]));
    world.ask(0.0, &Ask::of("m").to(["A"]));
    let second = world.ask(1.0, &Ask::of("m").to(["A"]));
    let third = world.ask(2.0, &Ask::of("m"));
    world.run_until(1.5);
    assert_eq!(world.cooled(), ["A", "B"]);
    world.run();

    assert_eq!(world.answer(second).path, ["A", "D"]);
    // Nobody independent is left: it waits for whoever returns first.
    let third = world.answer(third);
    assert_eq!(third.path[0], "D");
    assert!(third.is_ok());
    assert_eq!(third.ended.since(third.asked).as_secs(), 8, "at t=10");
}

/// A request to `S` (all the weight) and `L` (none); bad requests are retried twice.
fn small_and_large(profile: Profile, members: &[&str], s: Reply) -> Vec<String> {
    let mut world = World::of(profile, members, |c| {
        for (place, deployment) in c.deployments.iter_mut().enumerate() {
            deployment.weight = Some(if place == 0 { 1.0 } else { 0.0 });
        }
        c.settings.num_retries = Some(2);
        c.settings.retry_policy = Some(RetryPolicy {
            bad_request: Some(2),
            ..RetryPolicy::default()
        });
    });
    world.provider("S", always(s));
    let ask = world.ask(0.0, &Ask::of("m"));
    world.run();
    world.answer(ask).path.clone()
}

#[test]
fn br_022_a_retry_after_a_refusal_skips_the_member_that_refused() {
    let too_long = class(ErrorClass::ContextWindowExceeded);

    for profile in [NEW, CORRECTED] {
        assert_eq!(
            small_and_large(profile, &["S", "L"], too_long),
            ["S", "L"],
            "{:?}",
            profile.name
        );
    }
    assert_eq!(small_and_large(OLD, &["S", "L"], too_long), ["S", "S", "S"]);
}

#[test]
fn br_022_a_group_of_one_is_retried_in_place() {
    for profile in [OLD, NEW, CORRECTED] {
        let too_long = class(ErrorClass::ContextWindowExceeded);
        assert_eq!(
            small_and_large(profile, &["S"], too_long),
            ["S", "S", "S"],
            "{:?}",
            profile.name
        );
    }
}

#[test]
fn br_022_a_retry_after_a_server_error_may_return_to_the_same_member() {
    for profile in [OLD, NEW, CORRECTED] {
        assert_eq!(
            small_and_large(profile, &["S", "L"], status(500)),
            ["S", "S", "S"],
            "{:?}",
            profile.name
        );
    }
}

#[test]
fn br_022_everybody_who_refused_is_skipped_until_nobody_else_is_left() {
    // Seen at 1.110.2: a, b, c (or a, c, b), then a and a again. A 403 is a dead key to
    // `corrected`, which is over once everybody had it (BR-025).
    for (profile, expected) in [
        (NEW, vec!["A", "B", "C", "A", "A"]),
        (CORRECTED, vec!["A", "B", "C"]),
    ] {
        let mut world = World::of(profile, &["A", "B", "C"], |c| {
            for (deployment, weight) in c.deployments.iter_mut().zip([1.0, 0.0, 0.0]) {
                deployment.weight = Some(weight);
            }
            c.settings.num_retries = Some(4);
        });
        for name in ["A", "B", "C"] {
            world.provider(name, always(status(403)));
        }
        let ask = world.ask(0.0, &Ask::of("m"));
        world.run();

        let mut path = world.answer(ask).path.clone();
        path[1..3].sort();
        assert_eq!(path, expected, "{:?}", profile.name);
    }
}

#[test]
fn br_022_a_member_that_was_skipped_is_picked_by_the_next_request() {
    for profile in [NEW, CORRECTED] {
        let mut world = World::of(profile, &["A", "B"], |c| {
            c.deployments[0].weight = Some(1.0);
            c.deployments[1].weight = Some(0.0);
            c.settings.num_retries = Some(1);
        });
        world.provider("A", replies([status(403), ok()]));
        world.each_second(0.0, 2, &Ask::of("m"));
        world.run();

        assert_eq!(world.answer(0).path, ["A", "B"]);
        assert_eq!(world.answer(1).path, ["A"]);
    }
}
