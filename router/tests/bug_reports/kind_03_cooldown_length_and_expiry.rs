//! Kind 3: cooldown length and expiry.

use std::time::Duration;

use router::{Profile, RetryAfter, StrategySpec, config::AllowedFailsPolicy, strategy::UsageArgs};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{Reply, always, date, ok, replies, status, until},
    results::{at, span},
};

const ALL: [Profile; 3] = [OLD, NEW, CORRECTED];

/// A 429 with a wait time, at once.
fn hinted(seconds: i64) -> Reply {
    status(429).hint_seconds(seconds).after(0.0)
}

/// A and B; four requests to A at t=0, of which the first is told to wait 1 s and the others, later,
/// nothing; then one a second, to A where it may be.
fn second_cooldown(profile: Profile) -> World {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.settings.cooldown_time = Some(span(60.0));
    });
    let slow = status(429).after(0.3);
    world.provider(
        "A",
        replies([status(429).hint_seconds(1), slow, slow, slow, ok()]),
    );
    for _ in 0..4 {
        world.ask(0.0, &Ask::of("m").to(["A"]));
    }
    for n in 1..=70 {
        world.ask(f64::from(n), &Ask::of("m").to(["A"]));
    }
    world.run();
    world
}

#[test]
fn br_013_a_second_cooldown_extends_the_first() {
    let fifth = |profile| second_cooldown(profile).hits("A")[4].at;

    // The end of the first stays (vector cooldown-second-failure-extends).
    for profile in [OLD, NEW] {
        assert_eq!(fifth(profile), at(2.0), "{:?}", profile.name);
    }
    assert_eq!(fifth(CORRECTED), at(61.0));
    assert_eq!(
        second_cooldown(CORRECTED).benches().last().unwrap().until,
        at(60.3)
    );
}

#[test]
fn br_013_two_equal_cooldowns_ten_seconds_apart_end_with_the_second() {
    let ends = |profile| {
        let mut world = World::of(profile, &["A", "B"], |c| {
            c.settings.cooldown_time = Some(span(60.0));
        });
        world.provider(
            "A",
            replies([status(429).after(0.0), status(429).after(10.0)]),
        );
        world.ask(0.0, &Ask::of("m").to(["A"]));
        world.ask(0.0, &Ask::of("A"));
        world.run();
        world.benches().last().unwrap().until
    };

    assert_eq!((ends(OLD), ends(NEW)), (at(60.0), at(60.0)));
    assert_eq!(ends(CORRECTED), at(70.0));
}

#[test]
fn br_013_a_later_shorter_hint_does_not_shorten() {
    for profile in ALL {
        let mut world = World::of(profile, &["A", "B"], |_| {});
        world.provider("A", replies([hinted(30), hinted(1).after(0.5)]));
        world.ask(0.0, &Ask::of("m").to(["A"]));
        world.ask(0.0, &Ask::of("A"));
        world.run();

        let ends: Vec<_> = world.benches().iter().map(|bench| bench.until).collect();
        assert_eq!(ends, [at(30.0), at(30.0)], "{:?}", profile.name);
    }
}

const DAYS: i64 = 561_600;

/// A alone, told at t=0 to wait for days, and healthy from t=600 on. What the operator set lets a
/// 429 bench a lone member in every version.
fn hint_of_days(profile: Profile, probe_after: Option<f64>) -> World {
    let mut world = World::of(profile, &["A"], |c| {
        c.settings.allowed_fails = Some(0);
        c.settings.allowed_fails_policy = Some(AllowedFailsPolicy {
            rate_limit: Some(0),
            ..AllowedFailsPolicy::default()
        });
        c.deployments[0].cooldown_probe_after = probe_after.map(span);
    });
    world.provider("A", until(600.0, hinted(DAYS), ok()));
    world.each_second(0.0, 700, &Ask::of("m"));
    world
}

#[test]
fn br_015_an_operator_can_end_a_cooldown_of_days() {
    for profile in ALL {
        let mut world = hint_of_days(profile, None);
        let last = world.ask(701.0, &Ask::of("m"));
        world.run_until(700.0);
        assert_eq!(world.hits("A").len(), 1, "{:?}", profile.name);

        let a = world.id("A");
        let now = world.now;
        assert!(world.router().clear_cooldown(now, a, &mut ()));
        world.run();
        assert_eq!(world.answer(last).by(), "A", "{:?}", profile.name);
    }
}

#[test]
fn br_015_past_the_deadline_the_member_is_eligible() {
    for profile in ALL {
        let mut world = hint_of_days(profile, None);
        let last = world.ask(561_600.0, &Ask::of("m"));
        world.run();

        assert_eq!(world.answer(last).by(), "A", "{:?}", profile.name);
        assert_eq!(world.hits("A").len(), 2, "{:?}", profile.name);
    }
}

#[test]
fn br_015_a_ceiling_lets_one_probe_through_each_time_it_has_passed() {
    // LiteLLM knows no such setting.
    for profile in [OLD, NEW] {
        let mut world = hint_of_days(profile, Some(300.0));
        world.run();
        assert_eq!(world.hits("A").len(), 1, "{:?}", profile.name);
    }

    let mut world = hint_of_days(CORRECTED, Some(300.0));
    world.run();

    assert_eq!(world.hit_times("A")[..4], [0.0, 300.0, 600.0, 601.0]);
    assert_eq!(
        world.hits("A").len(),
        2 + 100,
        "open after the one that succeeded"
    );
    assert!(world.cooled().is_empty());
}

#[test]
fn br_015_of_two_requests_in_one_instant_one_is_the_probe() {
    let mut world = hint_of_days(CORRECTED, Some(300.0));
    world.provider("A", until(1.0, hinted(DAYS), ok().after(2.0)));
    let twin = world.ask(300.0, &Ask::of("m"));
    world.run();

    assert_eq!(world.hit_times("A")[..4], [0.0, 300.0, 303.0, 304.0]);
    assert_eq!(world.answer(twin).status(), Some(429));
}

#[test]
fn br_015_a_probe_whose_caller_goes_away_is_made_by_the_next() {
    let mut world = World::of(CORRECTED, &["A", "B"], |c| {
        c.deployments[0].cooldown_probe_after = Some(span(10.0));
        c.deployments[1].blocked = true;
    });
    world.provider("A", replies([hinted(1_000), ok().after(5.0), ok()]));
    world.ask(0.0, &Ask::of("m"));
    world.ask(10.0, &Ask::of("m").cancelled_after(1.0));
    let next = world.ask(12.0, &Ask::of("m"));
    world.run();

    assert_eq!(world.answer(next).by(), "A");
    assert!(world.cooled().is_empty());
}

#[test]
fn br_015_callers_are_told_the_real_time() {
    let told = |profile| {
        let mut world = hint_of_days(profile, None);
        world.run();
        world.answer(600).try_again_in()
    };

    let days = Duration::from_secs(DAYS.unsigned_abs());
    assert_eq!((told(OLD), told(NEW)), (Some(days), Some(days)));
    assert_eq!(told(CORRECTED), Some(days - span(600.0)));
}

#[test]
fn br_016_the_timer_alone_readmits() {
    // One state, in all versions.
    for profile in ALL {
        let mut world = World::of(profile, &["A", "B"], |c| {
            c.settings.cooldown_time = Some(span(1.0));
        });
        for name in ["A", "B"] {
            world.provider(name, until(0.1, status(429), ok()));
        }
        world.ask(0.0, &Ask::of("m").to(["A"]));
        world.ask(0.03, &Ask::of("m").to(["B"]));
        let early = world.ask(0.2, &Ask::of("m"));
        let late = world.ask(2.0, &Ask::of("m"));
        world.run();

        let early = world.answer(early);
        assert!(
            !early.is_ok() && early.path.is_empty(),
            "{:?}",
            profile.name
        );
        assert!(world.answer(late).is_ok(), "{:?}", profile.name);
    }
}

#[test]
fn br_017_the_members_own_length_comes_before_the_hint_and_zero_means_never() {
    // Mended before the recorded versions (vectors cooldown-time-*).
    for profile in ALL {
        for (hint, expected) in [(None, [300.0, 60.0]), (Some(10), [300.0, 10.0])] {
            let members = ["a:A", "a:A2", "b:B", "b:B2", "c:C", "c:C2"];
            let mut world = World::of(profile, &members, |c| {
                c.settings.cooldown_time = Some(span(60.0));
                c.deployments[0].cooldown_time = Some(Duration::ZERO);
                c.deployments[2].cooldown_time = Some(span(300.0));
            });
            let error = match hint {
                Some(seconds) => hinted(seconds),
                None => status(429).after(0.0),
            };
            for (group, name) in [("a", "A"), ("b", "B"), ("c", "C")] {
                world.provider(name, replies([error, ok()]));
                world.ask(0.0, &Ask::of(group).to([name]));
            }
            world.run();

            let benches = world.benches();
            let ends: Vec<_> = benches
                .iter()
                .map(|b| (b.provider.as_str(), b.until))
                .collect();
            let [b, c] = expected.map(at);
            assert_eq!(ends, [("B", b), ("C", c)], "{:?}", profile.name);
        }
    }
}

/// A (order 1) always answers 429, B (order 2) serves. Until when is A out, after one request?
fn out_until(profile: Profile, a: Reply) -> Option<f64> {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.deployments[0].order = Some(1);
        c.deployments[1].order = Some(2);
    });
    world.provider("A", always(a.after(0.0)));
    let ask = world.ask(0.0, &Ask::of("m"));
    world.run();
    assert_eq!(
        world.answer(ask).by(),
        "B",
        "a missing hint does not stop failover"
    );
    world
        .benches()
        .first()
        .map(|bench| bench.until.as_secs_f64())
}

#[test]
fn br_018_every_known_hint_is_read_and_nonsense_means_the_usual_cooldown() {
    let fifty_two = || status(429).wait_in_body(52.0);
    let header = |hint| status(429).hint(hint);
    let cases: [(&str, Reply, f64, Option<f64>); 7] = [
        ("none", status(429), 5.0, Some(5.0)),
        ("body", fifty_two(), 52.0, Some(5.0)),
        ("both", fifty_two().hint_seconds(10), 10.0, Some(10.0)),
        ("words", header(RetryAfter::Unreadable), 5.0, Some(5.0)),
        ("negative", header(RetryAfter::Seconds(-3)), 5.0, Some(5.0)),
        ("date ahead", header(date(30.0)), 30.0, Some(30.0)),
        // The choice of `corrected`: a zero is no hint. In LiteLLM it means no cooldown (quirk Q4).
        ("zero", header(RetryAfter::Seconds(0)), 5.0, None),
    ];
    for (name, reply, corrected, litellm) in cases {
        assert_eq!(out_until(CORRECTED, reply), Some(corrected), "{name}");
        for profile in [OLD, NEW] {
            assert_eq!(
                out_until(profile, reply),
                litellm,
                "{name} {:?}",
                profile.name
            );
        }
    }
}

#[test]
fn br_018_a_date_in_the_past_means_the_usual_cooldown() {
    for profile in ALL {
        let mut world = World::of(profile, &["A", "B"], |_| {});
        world.provider("A", always(status(429).hint(date(10.0)).after(0.0)));
        world.ask(20.0, &Ask::of("m").to(["A"]));
        world.run();

        assert_eq!(world.benches()[0].until, at(25.0), "{:?}", profile.name);
    }
}

/// A is out until 20 and B until 45.
fn all_out(profile: Profile) -> World {
    let mut world = World::of(profile, &["A", "B"], |_| {});
    world.provider("A", replies([hinted(20), ok()]));
    world.provider("B", replies([hinted(45), ok()]));
    world.ask(0.0, &Ask::of("m").to(["A"]));
    world.ask(0.0, &Ask::of("m").to(["B"]));
    world
}

#[test]
fn br_019_the_hint_is_the_time_until_the_first_member_returns_rounded_up() {
    let hints = |profile| {
        let mut world = all_out(profile);
        let asks = [5.0, 19.5, 20.0].map(|seconds| world.ask(seconds, &Ask::of("m")));
        world.run();
        assert_eq!(world.answer(asks[2]).by(), "A", "{:?}", profile.name);
        [asks[0], asks[1]].map(|ask| world.answer(ask).try_again_in().unwrap())
    };

    // The shortest length that was set, whatever is left of it (quirk Q31).
    for profile in [OLD, NEW] {
        assert_eq!(hints(profile), [span(20.0), span(20.0)]);
    }
    assert_eq!(hints(CORRECTED), [span(15.0), span(1.0)]);
}

#[test]
fn br_019_out_by_a_minute_limit_the_hint_is_the_rest_of_the_minute() {
    let hint = |profile| {
        let mut world = World::of(profile, &["A"], |c| {
            c.deployments[0].rpm = Some(1);
            c.settings.routing_strategy = StrategySpec::UsageBasedV2(UsageArgs::default());
        });
        world.ask(0.0, &Ask::of("m"));
        let second = world.ask(12.5, &Ask::of("m"));
        world.run();
        world.answer(second).try_again_in()
    };

    assert_eq!((hint(OLD), hint(NEW)), (Some(span(60.0)), Some(span(60.0))));
    assert_eq!(hint(CORRECTED), Some(span(48.0)));
}
