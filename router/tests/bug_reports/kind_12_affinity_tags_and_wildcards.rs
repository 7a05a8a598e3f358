//! Kind 12: affinity, tags and wildcards.

use std::{num::NonZeroU64, time::Duration};

use router::{
    DeploymentConfig, Origin, Overrides, Profile, RouteError, SessionId,
    config::OptionalPreCallChecks,
};

use crate::{
    ask::{Ask, member},
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, ok, status, until},
};

const ALL: [Profile; 3] = [OLD, NEW, CORRECTED];

/// A request of a session.
fn of_session(number: u64) -> Ask {
    let mut ask = Ask::of("m");
    ask.origin = Origin {
        session: NonZeroU64::new(number).map(SessionId),
        ..Origin::default()
    };
    ask
}

fn path(world: &World, ask: usize) -> String {
    world.answer(ask).path.concat()
}

/// A and B, failover between them, a fallback F, and sessions: 1 is pinned to A, 2 to B.
fn pinned(profile: Profile) -> World {
    let mut world = World::of(profile, &["A", "B", "f:F"], |c| {
        c.settings.enable_weighted_failover = true;
        c.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
        c.settings.cooldown_time = Some(Duration::from_secs(10));
        c.settings.optional_pre_call_checks = OptionalPreCallChecks {
            session_affinity: true,
            ..OptionalPreCallChecks::default()
        };
    });
    let first = world.ask(0.0, &of_session(1).to(["A"]));
    let second = world.ask(0.5, &of_session(2).to(["B"]));
    world.run_until(1.0);
    assert_eq!(
        (path(&world, first), path(&world, second)),
        ("A".into(), "B".into())
    );
    world
}

#[test]
fn br_053_a_pin_to_a_member_that_fails_does_not_hide_its_healthy_sibling() {
    for profile in ALL {
        let mut world = pinned(profile);
        world.provider("A", always(status(500)));
        let asks = [
            world.ask(1.0, &of_session(1)),
            world.ask(2.0, &of_session(1)),
        ];
        let other = world.ask(3.0, &of_session(2));
        world.run();

        // The fault of 1.92: the pin narrows to A, of whom nothing is left. The others keep the pin,
        // as it was never out, and use B for the time being.
        let expected = if profile == OLD { "AF" } else { "AB" };
        for ask in asks {
            assert_eq!(path(&world, ask), expected, "{:?}", profile.name);
        }
        assert_eq!(path(&world, other), "B", "other sessions stay");
        assert_eq!(world.hits("F").is_empty(), profile != OLD);
    }
}

#[test]
fn br_053_a_session_comes_back_to_its_member_after_the_cooldown() {
    for profile in ALL {
        let mut world = pinned(profile);
        world.provider("A", until(1.5, status(429), ok()));
        let failed = world.ask(1.0, &of_session(1));
        let during = world.ask(2.0, &of_session(1));
        let after = world.ask(12.0, &of_session(1));
        world.run();

        assert_eq!(path(&world, failed), "AB", "{:?}", profile.name);
        assert_eq!(path(&world, during), "B");
        let back = if profile == OLD { "B" } else { "A" };
        assert_eq!(path(&world, after), back, "1.92 moves the pin");
    }
}

fn tagged(id: &str, tags: &[&str]) -> DeploymentConfig {
    DeploymentConfig {
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        ..member(id)
    }
}

fn asking(tag: &str) -> Ask {
    Ask::of("m").with(Overrides {
        tags: vec![tag.to_owned()],
        ..Overrides::default()
    })
}

/// One member for the tag `free`, one for `paid`, one that is the default.
fn by_tags(profile: Profile) -> World {
    World::of(profile, &[], |c| {
        c.settings.enable_tag_filtering = true;
        c.deployments = vec![
            tagged("FREE", &["free"]),
            tagged("PAID", &["paid"]),
            tagged("DEFAULT", &["default"]),
        ];
    })
}

#[test]
fn br_055_the_default_serves_untagged_requests_and_tags_that_nobody_has_only() {
    for profile in ALL {
        let mut world = by_tags(profile);
        for n in 0..100 {
            let start = f64::from(n) * 3.0;
            world.ask(start, &asking("free"));
            world.ask(start + 1.0, &Ask::of("m"));
            world.ask(start + 2.0, &asking("x"));
        }
        world.run();

        for (n, answer) in world.answers().into_iter().enumerate() {
            let expected = if n % 3 == 0 { "FREE" } else { "DEFAULT" };
            assert_eq!(answer.by(), expected, "{:?}", profile.name);
        }
    }
}

#[test]
fn br_055_while_the_tagged_member_is_out_the_request_fails_and_in_1_92_the_default_serves() {
    for profile in ALL {
        let mut world = by_tags(profile);
        world.provider("FREE", always(status(429)));
        world.ask(0.0, &asking("free"));
        let ask = world.ask(1.0, &asking("free"));
        world.run();

        let answer = world.answer(ask);
        if profile == OLD {
            assert_eq!(answer.by(), "DEFAULT");
        } else {
            assert_eq!(answer.error(), RouteError::NoMatchingTags);
        }
    }
}

#[test]
fn br_055_tags_of_the_routers_own_do_not_bar_the_fallback() {
    for profile in ALL {
        let mut world = World::of(profile, &[], |c| {
            c.settings.enable_tag_filtering = true;
            c.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
            c.deployments = vec![tagged("P", &["paid", "default"]), member("f:F")];
        });
        world.provider("P", always(status(500)));
        let ask = world.ask(0.0, &Ask::of("m"));
        world.run();

        // The fault of 1.92: the tags of P join the caller's, who sent none.
        let expected = if profile == OLD { "P" } else { "PF" };
        assert_eq!(path(&world, ask), expected, "{:?}", profile.name);
        assert_eq!(world.answer(ask).is_ok(), profile != OLD);
    }
}

/// A before B under one name with a star, and F to fall back to.
fn starred(profile: Profile, fallbacks_of: &str) -> World {
    World::of(profile, &["p/*:A", "p/*:B", "f:F"], |c| {
        c.deployments[0].order = Some(1);
        c.deployments[1].order = Some(2);
        c.settings.fallbacks = Some(vec![(fallbacks_of.to_owned(), vec!["f".to_owned()])]);
    })
}

#[test]
fn br_056_the_next_tier_of_a_name_with_stars_is_found() {
    for profile in ALL {
        let mut world = starred(profile, "p/m1");
        world.provider("A", always(status(503)));
        let ask = world.ask(0.0, &Ask::of("p/m1"));
        world.run();

        assert_eq!(path(&world, ask), "AB", "{:?}", profile.name);
        assert_eq!(world.answer(ask).by(), "B");
    }
}

#[test]
fn br_056_a_name_that_is_written_out_comes_before_the_pattern() {
    for profile in ALL {
        let mut world = World::of(profile, &["p/*:A", "p/m1:EXACT"], |_| {});
        let exact = world.ask(0.0, &Ask::of("p/m1"));
        let other = world.ask(1.0, &Ask::of("p/m2"));
        world.run();

        assert_eq!(
            (world.answer(exact).by(), world.answer(other).by()),
            ("EXACT", "A")
        );
    }
}

#[test]
fn br_056_fallbacks_of_a_pattern_serve_its_names_in_corrected_only() {
    for profile in ALL {
        let mut world = starred(profile, "p/*");
        for name in ["A", "B"] {
            world.provider(name, always(status(503)));
        }
        let ask = world.ask(0.0, &Ask::of("p/m1"));
        world.run();

        let found = world.answer(ask).path.last().unwrap() == "F";
        assert_eq!(found, profile == CORRECTED, "{:?}", profile.name);
    }
}

#[test]
fn br_056_a_member_that_is_out_is_out_for_every_name_of_its_pattern_in_corrected() {
    for profile in ALL {
        let mut world = World::of(profile, &["p/*:A", "p/*:B"], |_| {});
        world.provider("A", always(status(429)));
        world.ask(0.0, &Ask::of("p/m1"));
        world.each_second(1.0, 20, &Ask::of("p/m1"));
        world.each_second(21.0, 20, &Ask::of("p/m2"));
        world.run();

        // LiteLLM never benches it, our choice is to bench it for all names.
        let hits = world.hits("A").len();
        if profile == CORRECTED {
            assert!((1..=9).contains(&hits), "once a cooldown of 5 s: {hits}");
        } else {
            assert!(hits > 10, "{hits}");
            assert!(world.benches().is_empty());
        }
    }
}
