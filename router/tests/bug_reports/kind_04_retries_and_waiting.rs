//! Kind 4: retries and waiting between them.

use router::{ErrorClass, Profile, config::RetryPolicy};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, class, ok, status},
};

/// A request to `S` (all the weight) and `L` (none); bad requests are retried twice.
fn small_and_large(profile: Profile, members: &[&str], s: crate::provider::Reply) -> Vec<String> {
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
        world.provider("A", crate::provider::replies([status(403), ok()]));
        world.each_second(0.0, 2, &Ask::of("m"));
        world.run();

        assert_eq!(world.answer(0).path, ["A", "B"]);
        assert_eq!(world.answer(1).path, ["A"]);
    }
}
