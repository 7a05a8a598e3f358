//! Kind 2: cooldown that triggers wrongly.

use router::{
    Cause, CooldownReason, ErrorClass, Overrides, Profile, StrategySpec, config::RetryPolicy,
    strategy::UsageArgs,
};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{Reply, always, class, ok, replies, status, until},
    results::{at, span},
};

const ALL: [Profile; 3] = [OLD, NEW, CORRECTED];

fn timeout(seconds: f64) -> Overrides {
    Overrides {
        timeout: Some(span(seconds)),
        ..Overrides::default()
    }
}

/// A, which takes 2 s, under `allowed_fails` 2; five requests with a timeout of their own, then one
/// without. The fallback never helps; it lets 1.110 bench a lone deployment by `allowed_fails`.
fn impatient_caller(profile: Profile, operators: f64, callers: Option<f64>, a: Reply) -> World {
    let mut world = World::of(profile, &["A", "f:F"], |c| {
        c.settings.timeout = Some(span(operators));
        c.settings.allowed_fails = Some(2);
        c.settings.cooldown_time = Some(span(120.0));
        c.settings.fallbacks = Some(vec![("m".to_owned(), vec!["f".to_owned()])]);
    });
    world.provider("A", always(a));
    world.provider("F", always(status(500)));
    let mut ask = Ask::of("m");
    ask.overrides = callers.map(timeout);
    world.each_second(0.0, 5, &ask);
    world
}

#[test]
fn br_006_timeouts_of_one_caller_do_not_bench_a_shared_member() {
    // Both recorded versions count them: the exemption of 1.110 is for fallbacks only (FACTS 42).
    for profile in [OLD, NEW] {
        let mut world = impatient_caller(profile, 30.0, Some(0.1), ok().after(2.0));
        let other = world.ask(10.0, &Ask::of("m"));
        world.run();

        assert_eq!(world.benches()[0].at, at(2.1), "the third");
        assert_eq!(world.hits("A").len(), 3);
        assert!(!world.answer(other).is_ok(), "{:?}", profile.name);
    }

    let mut world = impatient_caller(CORRECTED, 30.0, Some(0.1), ok().after(2.0));
    let other = world.ask(10.0, &Ask::of("m"));
    world.run();

    assert!(world.benches().iter().all(|bench| bench.provider != "A"));
    assert_eq!(world.hits("A").len(), 6);
    assert_eq!(world.answer(other).took(), span(2.0));
    for impatient in 0..5 {
        assert_eq!(world.answer(impatient).status(), Some(408));
    }
}

#[test]
fn br_006_the_operators_own_limit_counts() {
    for profile in ALL {
        // Without a limit of the caller's, and with one that is longer than the operator's.
        for (callers, third) in [(None, 3.0), (Some(1.5), 3.5)] {
            let mut world = impatient_caller(profile, 1.0, callers, ok().after(2.0));
            world.run();

            assert_eq!(world.benches()[0].at, at(third), "{:?}", profile.name);
        }
    }
}

#[test]
fn br_006_a_408_of_the_providers_counts_whatever_the_caller_set() {
    for profile in ALL {
        let late = status(408).after(0.05);
        let mut world = impatient_caller(profile, 30.0, Some(5.0), late);
        world.run();

        assert_eq!(world.benches()[0].at, at(2.05), "{:?}", profile.name);
    }
}

/// A beside B; A succeeds (S) and fails (F) as told, one attempt a second within one minute. The
/// place of the attempt that benched it, from 1.
fn benched_after(profile: Profile, outcomes: &'static str) -> Option<usize> {
    let mut world = World::of(profile, &["A", "B"], |_| {});
    world.provider(
        "A",
        Box::new(move |call| match outcomes.as_bytes()[call.number] {
            b'S' => ok(),
            _ => status(500),
        }),
    );
    let times = u32::try_from(outcomes.len()).unwrap();
    world.each_second(0.0, times, &Ask::of("m").to(["A"]));
    world.run();
    let bench = world.benches().first().cloned()?;
    Some(
        world
            .hits("A")
            .iter()
            .filter(|hit| hit.at <= bench.at)
            .count(),
    )
}

#[test]
fn br_008_a_percentage_needs_five_samples_and_more_than_half() {
    // Mended before the recorded versions (vectors failure-rate-*).
    for profile in ALL {
        for (outcomes, expected) in [
            ("F", None),
            ("FSFSS", None),
            ("FSFSF", Some(5)),
            ("SSSFFF", None),
        ] {
            assert_eq!(benched_after(profile, outcomes), expected, "{outcomes}");
        }
    }
}

#[test]
fn br_008_failures_of_the_minute_before_are_forgotten() {
    for profile in ALL {
        let mut world = World::of(profile, &["A", "B"], |_| {});
        world.provider("A", always(status(500)));
        for seconds in [0.0, 1.0, 2.0, 3.0, 62.0] {
            world.ask(seconds, &Ask::of("m").to(["A"]));
        }
        world.run();

        assert_eq!(world.hits("A").len(), 5);
        assert!(world.benches().is_empty(), "{:?}", profile.name);
    }
}

#[test]
fn br_009_requests_that_are_too_long_exclude_nobody() {
    for profile in ALL {
        let mut world = World::of(profile, &["A", "B"], |_| {});
        let too_long = |call: &crate::provider::Call| match call.prompt_tokens {
            0..1_000 => ok(),
            _ => class(ErrorClass::ContextWindowExceeded),
        };
        world.provider("A", Box::new(too_long));
        world.provider("B", Box::new(too_long));
        let mut long = Ask::of("m");
        long.prompt_tokens = 100_000;
        world.each_second(0.0, 10, &long);
        world.each_second(10.0, 5, &Ask::of("m"));
        world.run();

        // No version benches for a 400 alone (vector failure-rate-400-x7).
        assert!(world.benches().is_empty(), "{:?}", profile.name);
        assert_eq!(world.oks(), 5);
    }
}

#[test]
fn br_009_bad_requests_do_not_help_a_server_error_to_bench() {
    let benched = |profile| {
        let mut world = World::of(profile, &["A", "B"], |_| {});
        let bad = status(400);
        world.provider("A", replies([bad, bad, bad, bad, status(500), ok()]));
        world.each_second(0.0, 5, &Ask::of("m").to(["A"]));
        world.run();
        world.benches().first().map(|bench| (bench.at, bench.why))
    };

    // Four bad requests and one 500 are five failures out of five. (semantics, quirk Q9)
    for profile in [OLD, NEW] {
        let expected = Some((at(4.02), CooldownReason::FailureRate));
        assert_eq!(benched(profile), expected, "{:?}", profile.name);
    }
    assert_eq!(benched(CORRECTED), None);
}

#[test]
fn br_009_a_single_worker_that_was_busy_is_used_as_soon_as_it_has_drained() {
    for profile in ALL {
        for busy in [status(503), status(503).because(Cause::Backpressure)] {
            let mut world = World::of(profile, &["A"], |_| {});
            world.provider("A", until(10.0, busy, ok()));
            world.each_second(0.0, 20, &Ask::of("m"));
            world.run();

            let oks: Vec<_> = world.answers().iter().map(|a| a.is_ok()).collect();
            assert_eq!(
                oks,
                [[false; 10], [true; 10]].concat(),
                "{:?}",
                profile.name
            );
        }
    }
}

#[test]
fn br_009_a_full_queue_is_no_failure_of_one_among_several() {
    let benches = |profile, code| {
        let mut world = World::of(profile, &["A", "B"], |_| {});
        world.provider("A", always(status(code).because(Cause::Backpressure)));
        world.each_second(0.0, 8, &Ask::of("m").to(["A"]));
        world.run();
        world.benches().len()
    };

    for profile in [OLD, NEW] {
        assert_eq!(benches(profile, 503), 1, "{:?}", profile.name);
        assert!(benches(profile, 429) > 0, "{:?}", profile.name);
    }
    assert_eq!((benches(CORRECTED, 503), benches(CORRECTED, 429)), (0, 0));
}

/// Four members; one request for an object that none of them holds, then ten ordinary ones.
fn missing_object(profile: Profile, policy: Option<RetryPolicy>) -> World {
    let mut world = World::of(profile, &["A", "B", "C", "D"], |c| {
        c.settings.num_retries = Some(3);
        c.settings.retry_policy = policy;
    });
    for name in ["A", "B", "C", "D"] {
        let missing = status(404).because(Cause::ObjectNotFound);
        let reply = move |call: &crate::provider::Call| if call.ask == 0 { missing } else { ok() };
        world.provider(name, Box::new(reply));
    }
    world.ask(0.0, &Ask::of("m"));
    world.each_second(1.0, 10, &Ask::of("m"));
    world.run();
    world
}

#[test]
fn br_010_one_missing_object_benches_nobody() {
    let retried = || {
        Some(RetryPolicy {
            not_found: Some(3),
            ..RetryPolicy::default()
        })
    };
    // By itself a 404 is not retried, so that it benches one member (vectors status-404-*). With a
    // policy that retries it, which only 1.110 reads, one request benches all four (FACTS 43).
    for profile in [OLD, NEW] {
        assert_eq!(missing_object(profile, None).benches().len(), 1);
    }
    let storm = missing_object(NEW, retried());
    assert_eq!(storm.benches().len(), 4);
    assert_eq!(storm.answer(1).status(), Some(429), "everybody is out");

    let corrected = missing_object(CORRECTED, None);
    assert!(corrected.benches().is_empty());
    assert_eq!(corrected.answer(0).path.len(), 1);
    assert_eq!(corrected.oks(), 10);
    let asked_for = missing_object(CORRECTED, retried());
    assert!(asked_for.benches().is_empty());
    assert_eq!(asked_for.oks(), 10);
}

#[test]
fn br_010_a_model_that_is_not_there_is_sought_at_another_member() {
    let unknown_model = |profile| {
        let mut world = World::of(profile, &["A", "B"], |c| c.settings.num_retries = Some(3));
        world.provider("A", always(status(404)));
        let ask = world.ask(0.0, &Ask::of("m").to(["A"]));
        world.run_until(1.0);
        assert_eq!(world.cooled(), ["A"], "{:?}", profile.name);
        world.run();
        world.answer(ask).clone()
    };

    // Neither version tries another member (semantics 5.5, rule 4).
    for profile in [OLD, NEW] {
        assert_eq!(unknown_model(profile).status(), Some(404));
    }
    assert_eq!(unknown_model(CORRECTED).by(), "B");
}

/// A with `rpm` 1 under usage-based-routing-v2 and `allowed_fails` 1; B is out for 60 s. A fails
/// once, and the retry finds nobody within the limits.
fn own_refusal(profile: Profile) -> World {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.deployments[0].rpm = Some(1);
        c.settings.routing_strategy = StrategySpec::UsageBasedV2(UsageArgs::default());
        c.settings.allowed_fails = Some(1);
        c.settings.num_retries = Some(1);
        c.settings.cooldown_time = Some(span(100.0));
    });
    world.provider("A", always(status(500)));
    world.provider("B", always(status(429).hint_seconds(60)));
    // By its id, which only its own bench can come of.
    world.ask(0.0, &Ask::of("B"));
    world.ask(0.1, &Ask::of("B"));
    world
}

#[test]
fn br_011_a_refusal_of_the_routers_own_is_charged_to_nobody() {
    // The versions' choice refuses before a reservation is made, which charges nobody either (the
    // fault came with code after them).
    for profile in ALL {
        let mut world = own_refusal(profile);
        let ask = world.ask(1.0, &Ask::of("m"));
        world.run_until(50.0);

        assert_eq!(world.cooled(), ["B"], "{:?}", profile.name);
        let answer = world.answer(ask);
        assert_eq!(answer.path, ["A"]);
        assert_eq!(answer.status(), Some(429), "the choice's refusal");
        assert!(answer.try_again_in().is_some());
        // The count stands at one: the next failure, not an earlier one, benches.
        world.ask(65.0, &Ask::of("A"));
        world.run_until(66.0);
        assert!(world.cooled().contains(&"A"), "{:?}", profile.name);
        world.run();
    }
}

#[test]
fn br_011_a_limit_that_the_router_enforces_benches_its_member_in_litellm_only() {
    let out = |profile| {
        let mut world = World::of(profile, &["A", "B"], |c| {
            c.deployments[0].rpm = Some(1);
            c.deployments[1].rpm = Some(1);
            let checks = &mut c.settings.optional_pre_call_checks;
            checks.enforce_model_rate_limits = true;
        });
        world.each_second(0.0, 4, &Ask::of("m").to(["A"]));
        world.run_until(3.5);
        assert_eq!(world.oks(), 2, "{:?}", profile.name);
        world.cooled().len()
    };

    // A 429 that no provider gave (FACTS 35, quirk Q40).
    for profile in [OLD, NEW] {
        assert_eq!(out(profile), 2, "{:?}", profile.name);
    }
    // The second request is refused by A and served by B at once; the others find nobody.
    assert_eq!(out(CORRECTED), 0);
}

#[test]
fn br_012_the_only_member_stays_after_an_occasional_error() {
    let oks = |profile, error: Reply| {
        let mut world = World::of(profile, &["A"], |_| {});
        world.provider("A", replies([error, ok()]));
        world.each_second(0.0, 3, &Ask::of("m"));
        world.run();
        world
            .answers()
            .iter()
            .map(|a| a.is_ok())
            .collect::<Vec<_>>()
    };

    // Mended before the recorded versions for 429 and 5xx (vectors status-*-single).
    for profile in ALL {
        for code in [429, 500, 503] {
            assert_eq!(oks(profile, status(code)), [false, true, true], "{code}");
        }
    }
    // A 401 or a 404 still takes a lone member out (quirk Q5).
    for code in [401, 404] {
        for profile in [OLD, NEW] {
            assert_eq!(oks(profile, status(code)), [false; 3], "{code}");
        }
        assert_eq!(oks(CORRECTED, status(code)), [false, true, true], "{code}");
    }
}

#[test]
fn br_012_what_the_operator_allows_explicitly_benches_the_only_member() {
    let benched = |profile| {
        let mut world = World::of(profile, &["A"], |c| c.settings.allowed_fails = Some(1));
        world.provider("A", always(status(429)));
        world.each_second(0.0, 3, &Ask::of("m"));
        world.run();
        world.benches().first().map(|bench| bench.at)
    };

    assert_eq!(benched(OLD), Some(at(1.02)));
    // 1.110 spares a lone deployment without fallback all the same (FACTS 17).
    assert_eq!(benched(NEW), None);
    assert_eq!(benched(CORRECTED), Some(at(1.02)));
}

#[test]
fn br_012_a_thousand_failures_out_of_a_thousand_bench_the_only_member() {
    let benched = |profile, succeeds: Option<usize>| {
        let mut world = World::of(profile, &["A"], |_| {});
        let reply = move |call: &crate::provider::Call| match Some(call.number) == succeeds {
            true => ok(),
            false => status(500),
        };
        world.provider("A", Box::new(reply));
        for n in 0..1_000 {
            world.ask(0.05 * f64::from(n), &Ask::of("m"));
        }
        world.run();
        world.benches().len()
    };

    for profile in ALL {
        assert_eq!(benched(profile, None), 1, "{:?}", profile.name);
        assert_eq!(benched(profile, Some(500)), 0, "{:?}", profile.name);
    }
}

#[test]
fn br_012_lone_is_who_was_configured_alone_and_not_whose_sibling_is_out() {
    for profile in ALL {
        let mut world = World::of(profile, &["A", "B"], |c| {
            c.settings.cooldown_time = Some(span(30.0));
        });
        world.provider("A", always(status(429)));
        world.provider("B", always(status(429)));
        world.ask(0.0, &Ask::of("m").to(["B"]));
        world.ask(1.0, &Ask::of("m").to(["A"]));
        world.run_until(2.0);

        assert_eq!(world.cooled(), ["A", "B"], "{:?}", profile.name);
        world.run();
    }
}
