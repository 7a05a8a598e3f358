//! Kind 1: cooldown that does not trigger.

use router::ErrorClass;

use crate::{
    ask::Ask,
    harness::{NEW, OLD, World},
    provider::{always, class},
    results::span,
};

/// `m` of A, which refuses every connection in 5 ms, and B.
fn unreachable_host(profile: router::Profile) -> World {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.deployments[0].weight = Some(9.0);
        c.deployments[1].weight = Some(1.0);
        c.settings.allowed_fails = Some(0);
        c.settings.cooldown_time = Some(span(30.0));
        c.settings.num_retries = Some(2);
    });
    let refused = class(ErrorClass::InternalServer).after(0.005);
    world.provider("A", always(refused));
    world.each_second(0.0, 20, &Ask::of("m"));
    world.run();
    world
}

#[test]
fn br_001_an_unreachable_host_is_benched_at_its_first_failure() {
    // Both recorded versions map a refused connection to InternalServerError, which counts
    // (vector fault-connection-refused-two).
    for profile in [OLD, NEW] {
        let world = unreachable_host(profile);
        assert_eq!(world.hits("A").len(), 1);
        assert_eq!(world.oks(), 20);
    }
}
