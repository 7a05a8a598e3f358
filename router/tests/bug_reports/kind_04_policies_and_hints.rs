//! Kind 4, second part: policies by class, keys that are dead, hints that are long.

use std::{cell::Cell, rc::Rc};

use router::{Api, ErrorClass, Overrides, Profile, config::RetryPolicy};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{Call, Reply, always, class, ok, status},
    results::{Answered, span},
};

/// Attempts of a lone A, which fails thus, for one request.
fn attempts(profile: Profile, policy: &RetryPolicy, api: Api, error: Reply) -> usize {
    let mut world = World::of(profile, &["A"], |c| {
        c.settings.num_retries = Some(2);
        c.settings.retry_policy = Some(policy.clone());
    });
    world.provider("A", always(error));
    let overrides = Overrides {
        api,
        ..Overrides::default()
    };
    world.ask(0.0, &Ask::of("m").with(overrides));
    world.run();
    world.hits("A").len()
}

fn table(profile: Profile, policy: &RetryPolicy, api: Api) -> Vec<usize> {
    let statuses = [400, 401, 404, 408, 429, 500, 502, 503, 504, 529];
    let refused = class(ErrorClass::InternalServer).after(0.005);
    let errors = statuses.map(status).into_iter().chain([refused]);
    errors
        .map(|error| attempts(profile, policy, api, error))
        .collect()
}

#[test]
fn br_024_a_policy_is_looked_up_along_the_classes_on_every_endpoint() {
    let server = RetryPolicy {
        internal_server: Some(0),
        ..RetryPolicy::default()
    };
    let server_and_unavailable = RetryPolicy {
        service_unavailable: Some(2),
        ..server.clone()
    };
    let default = RetryPolicy {
        default: Some(0),
        ..RetryPolicy::default()
    };

    for api in [Api::Chat, Api::Embedding] {
        let of = |policy| table(CORRECTED, policy, api);
        assert_eq!(of(&server), [1, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1], "{api:?}");
        assert_eq!(
            of(&server_and_unavailable),
            [1, 1, 1, 3, 3, 1, 1, 3, 1, 1, 1]
        );
        assert_eq!(of(&default), [1; 11], "{api:?}");
    }
    // 1.110: 500 only (FACTS 44), and other numbers on the other endpoint. 1.92 reads none of these.
    let chat = |profile| table(profile, &server, Api::Chat);
    assert_eq!(chat(OLD), [1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3]);
    assert_eq!(chat(NEW), [1, 1, 1, 3, 3, 1, 3, 3, 3, 3, 1]);
    assert_ne!(table(NEW, &server, Api::Embedding), chat(NEW));
    assert_eq!(table(NEW, &default, Api::Chat), [1; 11]);
}

/// Ten members, of which the first `dead` that are called have a dead key; one request.
fn keys(profile: Profile, dead: usize) -> (Answered, usize) {
    const NAMES: [&str; 10] = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];
    let mut world = World::of(profile, &NAMES, |c| c.settings.num_retries = Some(2));
    let called = Rc::new(Cell::new(0));
    for name in NAMES {
        let called = Rc::clone(&called);
        let reply = move |_: &Call| {
            called.set(called.get() + 1);
            if called.get() <= dead {
                status(401)
            } else {
                ok()
            }
        };
        world.provider(name, Box::new(reply));
    }
    let ask = world.ask(0.0, &Ask::of("m"));
    world.run();
    let unused = NAMES
        .iter()
        .filter(|name| world.hits(name).is_empty())
        .count();
    (world.answer(ask).clone(), unused)
}

#[test]
fn br_025_moving_on_from_dead_keys_uses_up_no_retry() {
    // Three dead keys, and the request is over while seven members, six of them well, are unused.
    for profile in [OLD, NEW] {
        let (answer, unused) = keys(profile, 4);
        assert_eq!(answer.status(), Some(401), "{:?}", profile.name);
        assert_eq!((answer.path.len(), unused), (3, 7), "{:?}", profile.name);
    }

    let (answer, _) = keys(CORRECTED, 4);
    assert!(answer.is_ok());
    assert_eq!((answer.path.len(), answer.took()), (5, span(0.18)));
    assert!(answer.waits.is_empty());
}

#[test]
fn br_025_ten_dead_keys_end_after_ten_attempts() {
    let (answer, unused) = keys(CORRECTED, 10);

    assert_eq!(answer.status(), Some(401));
    assert_eq!((answer.path.len(), unused), (10, 0));
    assert!(answer.waits.is_empty());
}

#[test]
fn br_025_a_tier_with_a_dead_key_is_left_for_the_next() {
    let path = |profile| {
        let mut world = World::of(profile, &["A", "B"], |c| {
            c.deployments[0].order = Some(1);
            c.deployments[1].order = Some(2);
            c.settings.num_retries = Some(1);
        });
        world.provider("A", always(status(403)));
        let ask = world.ask(0.0, &Ask::of("m"));
        world.run();
        world.answer(ask).path.concat()
    };

    // The retry stays in the tier, which is A alone; then comes the next one.
    assert_eq!((path(OLD).as_str(), path(NEW).as_str()), ("AAB", "AAB"));
    assert_eq!(path(CORRECTED), "AB");
}

#[test]
fn br_025_a_transient_error_still_uses_up_a_retry() {
    let mut world = World::of(CORRECTED, &["A", "B", "C"], |c| {
        c.settings.num_retries = Some(1)
    });
    let called = Rc::new(Cell::new(0));
    for name in ["A", "B", "C"] {
        let called = Rc::clone(&called);
        let reply = move |_: &Call| {
            called.set(called.get() + 1);
            if called.get() == 1 {
                status(403)
            } else {
                status(500)
            }
        };
        world.provider(name, Box::new(reply));
    }
    let ask = world.ask(0.0, &Ask::of("m"));
    world.run();

    assert_eq!(
        world.answer(ask).path.len(),
        3,
        "one dead key, and one retry"
    );
}

/// A lone A that always answers 429 with this hint, `num_retries` 1.
fn hinted(profile: Profile, seconds: i64, fallback: bool) -> Answered {
    let mut world = World::of(profile, &["A", "f:F"], |c| {
        c.settings.num_retries = Some(1);
        let list = vec![("m".to_owned(), vec!["f".to_owned()])];
        c.settings.fallbacks = fallback.then_some(list);
    });
    world.provider("A", always(status(429).hint_seconds(seconds)));
    let ask = world.ask(0.0, &Ask::of("m"));
    world.run();
    world.answer(ask).clone()
}

#[test]
fn br_026_hints_are_obeyed_up_to_a_minute_and_longer_ones_end_the_request() {
    for (seconds, waited, attempts) in [
        (0, 0.0, 2),
        (1, 1.0, 2),
        (60, 60.0, 2),
        (61, 0.0, 1),
        (120, 0.0, 1),
        (600, 0.0, 1),
    ] {
        let answer = hinted(CORRECTED, seconds, false);
        assert_eq!(answer.status(), Some(429));
        assert_eq!(answer.waited(), span(waited), "{seconds} s");
        assert_eq!(answer.path.len(), attempts, "{seconds} s");
    }
    // A hint of more than a minute is ignored: a second attempt follows within seconds; and there
    // is a wait after the last attempt too (semantics 5.4, quirk Q3).
    for profile in [OLD, NEW] {
        let answer = hinted(profile, 61, false);
        assert_eq!(
            (answer.path.len(), answer.waits.len()),
            (2, 2),
            "{:?}",
            profile.name
        );
        assert!(answer.waits[0].0 < span(1.25));
        assert!(hinted(profile, 60, false).waited() >= span(120.0));
    }
}

#[test]
fn br_026_a_fallback_is_used_at_once_where_the_hint_is_too_long() {
    for seconds in [61, 120, 600] {
        let answer = hinted(CORRECTED, seconds, true);
        assert_eq!(answer.path, ["A", "F"], "{seconds} s");
        assert!(answer.waits.is_empty());
    }
    // A short hint is waited for, since retries come before fallbacks: the choice of `corrected`.
    let answer = hinted(CORRECTED, 1, true);
    assert_eq!((answer.path.len(), answer.waited()), (3, span(1.0)));
    for profile in [OLD, NEW] {
        let answer = hinted(profile, 600, true);
        assert_eq!(answer.path, ["A", "A", "F"], "{:?}", profile.name);
        assert!(answer.waited() > span(0.5));
    }
}
