//! Kind 1: cooldown that does not trigger.

use router::{Cause, CooldownReason, ErrorClass, Profile, RetryAfter, config::AllowedFailsPolicy};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{Reply, always, class, ok, replies, status},
    results::{at, span},
};

/// `m` of A, which refuses every connection in 5 ms, and B; 20 requests, one a second.
fn unreachable_host(profile: Profile, refused: Reply) -> World {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.deployments[0].weight = Some(9.0);
        c.deployments[1].weight = Some(1.0);
        c.settings.allowed_fails = Some(0);
        c.settings.cooldown_time = Some(span(30.0));
        c.settings.num_retries = Some(2);
    });
    world.provider("A", always(refused.after(0.005)));
    world.each_second(0.0, 20, &Ask::of("m"));
    world
}

#[test]
fn br_001_an_unreachable_host_is_benched_at_its_first_failure() {
    // The fault needs the exception APIConnectionError. For a refused connection of an OpenAI-shaped
    // provider both recorded versions raise InternalServerError, which counts (vectors
    // fault-connection-refused-*), so these two do not show it here.
    for profile in [OLD, NEW, CORRECTED] {
        let mut world = unreachable_host(profile, class(ErrorClass::InternalServer));
        world.run();

        assert_eq!(world.hits("A").len(), 1, "{:?}", profile.name);
        assert_eq!(world.oks(), 20, "{:?}", profile.name);
    }
}

#[test]
fn br_001_a_connection_error_by_name_is_exempt_in_litellm_and_counts_in_corrected() {
    let connection = class(ErrorClass::ApiConnection);
    for profile in [OLD, NEW] {
        let mut world = unreachable_host(profile, connection);
        world.run();

        assert!(world.hits("A").len() > 20, "{:?}", profile.name);
        assert!(world.oks() < 20, "{:?}", profile.name);
        assert!(world.benches().is_empty(), "{:?}", profile.name);
    }

    let mut world = unreachable_host(CORRECTED, connection);
    world.ask(40.0, &Ask::of("m").to(["A"]));
    world.run();

    assert_eq!(world.hits("A").len(), 2, "one further probe after 30 s");
    assert_eq!(world.oks(), 21);
}

#[test]
fn br_001_a_connection_class_raised_for_a_bad_request_does_not_count() {
    let never_sent = class(ErrorClass::ApiConnection).because(Cause::Request);
    let mut world = unreachable_host(CORRECTED, never_sent);
    world.run();

    assert!(world.benches().is_empty());
}

/// A policy with one field set.
type Field = fn(u32) -> AllowedFailsPolicy;

/// Every field of the policy, and a failure that it is for.
fn fields() -> [(&'static str, Field, ErrorClass); 9] {
    macro_rules! field {
        ($name:ident, $class:ident) => {
            (
                stringify!($name),
                (|n| AllowedFailsPolicy {
                    $name: Some(n),
                    ..AllowedFailsPolicy::default()
                }) as Field,
                ErrorClass::$class,
            )
        };
    }
    [
        field!(authentication, Authentication),
        field!(timeout, Timeout),
        field!(rate_limit, RateLimit),
        field!(content_policy_violation, ContentPolicyViolation),
        field!(bad_request, BadRequest),
        field!(internal_server, InternalServer),
        field!(service_unavailable, ServiceUnavailable),
        field!(bad_gateway, BadGateway),
        field!(not_found, NotFound),
    ]
}

/// A and B; A fails thus, one request a second is steered to A. When is A benched, by its failures?
fn benched_at_failure<const N: usize>(
    profile: Profile,
    policy: AllowedFailsPolicy,
    failures: [Reply; N],
) -> Option<usize> {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.settings.allowed_fails = Some(1_000);
        c.settings.allowed_fails_policy = Some(policy);
        c.settings.cooldown_time = Some(span(60.0));
    });
    world.provider("A", replies(failures));
    world.each_second(0.0, u32::try_from(N).unwrap(), &Ask::of("m").to(["A"]));
    world.run();
    let first = world.benches().first().cloned()?;
    Some(
        world
            .hits("A")
            .iter()
            .filter(|hit| hit.at <= first.at)
            .count(),
    )
}

#[test]
fn br_002_a_threshold_of_zero_benches_at_the_first_failure() {
    let zero = || AllowedFailsPolicy {
        rate_limit: Some(0),
        ..AllowedFailsPolicy::default()
    };
    let at_failure = |profile| benched_at_failure(profile, zero(), [status(429); 5]);

    assert_eq!(at_failure(OLD), None, "0 is read as unset");
    // 1.110 is mended (vector allowed-fails-policy-rate-limit-0).
    assert_eq!(at_failure(NEW), Some(1));
    assert_eq!(at_failure(CORRECTED), Some(1));
}

#[test]
fn br_002_the_threshold_for_server_errors_is_read() {
    let two = || AllowedFailsPolicy {
        internal_server: Some(2),
        ..AllowedFailsPolicy::default()
    };
    let at_failure = |profile| benched_at_failure(profile, two(), [status(500); 5]);

    assert_eq!(at_failure(OLD), None, "no code consults the field");
    // 1.110 is mended (semantics 4.4).
    assert_eq!(at_failure(NEW), Some(3));
    assert_eq!(at_failure(CORRECTED), Some(3));
}

#[test]
fn br_002_every_field_benches_at_the_second_failure_of_its_class() {
    let at_failure = |profile, (_, policy, own): (_, Field, _)| {
        benched_at_failure(profile, policy(1), [class(own); 4])
    };
    let dead = |profile| {
        let fields = fields()
            .into_iter()
            .filter(|f| at_failure(profile, *f).is_none());
        fields.map(|(name, ..)| name).collect::<Vec<_>>()
    };

    // What the gate for bad requests lets through in neither version, and 1.92 reads nowhere.
    let gated = ["content_policy_violation", "bad_request"];
    let unread = [
        "internal_server",
        "service_unavailable",
        "bad_gateway",
        "not_found",
    ];
    assert_eq!(dead(OLD), [&gated[..], &unread[..]].concat());
    assert_eq!(dead(NEW), gated);
    for field in fields() {
        assert_eq!(at_failure(CORRECTED, field), Some(2), "{}", field.0);
    }
}

#[test]
fn br_002_a_field_counts_no_other_class() {
    for (name, policy, own) in fields() {
        let other = match own {
            ErrorClass::Timeout => status(502),
            _ => class(ErrorClass::Timeout),
        };
        let mixed = [other, other, class(own), other, class(own)];

        let at_failure = benched_at_failure(CORRECTED, policy(1), mixed);
        assert_eq!(at_failure, Some(5), "{name}");
    }
    // One counter for all classes: the first 429 after a timeout benches, in both versions.
    let policy = || AllowedFailsPolicy {
        rate_limit: Some(1),
        ..AllowedFailsPolicy::default()
    };
    for profile in [OLD, NEW] {
        let mixed = [status(408), status(429), status(429)];
        assert_eq!(benched_at_failure(profile, policy(), mixed), Some(2));
    }
}

#[test]
fn br_003_failures_add_up_over_the_minute_and_bench_at_the_fifth() {
    // The fault (counters that read one failure at every decision) came with a shared store; one
    // router without a store shows it in neither recorded version (vector failure-rate-fail-x6).
    for profile in [OLD, NEW, CORRECTED] {
        let mut world = World::of(profile, &["A", "B"], |_| {});
        world.provider("A", always(status(500)));
        for n in 0..20_u32 {
            let to = if n % 2 == 0 { "A" } else { "B" };
            world.ask(f64::from(n), &Ask::of("m").to([to]));
        }
        world.run();

        let benches = world.benches();
        assert_eq!(benches[0].at, at(8.02), "the fifth failure");
        assert_eq!(benches[0].until, at(13.02));
        assert_eq!(benches[0].why, CooldownReason::FailureRate);
        // From then on one attempt for each 5 s, which benches it again.
        assert_eq!(world.hit_times("A"), [0.0, 2.0, 4.0, 6.0, 8.0, 14.0]);
        assert_eq!(benches.len(), 2);
    }
}

/// A (order 1) without credit and B (order 2), `num_retries` 1, 10 requests, one a second.
fn without_credit(profile: Profile, a: Reply) -> World {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.deployments[0].order = Some(1);
        c.deployments[1].order = Some(2);
        c.settings.num_retries = Some(1);
    });
    world.provider("A", always(a));
    world.each_second(0.0, 10, &Ask::of("m"));
    world.run();
    world
}

#[test]
fn br_005_a_member_without_credit_is_tried_once() {
    let old = without_credit(OLD, status(402));
    assert_eq!(
        (old.hits("A").len(), old.oks()),
        (10, 10),
        "402 never benches"
    );
    // 1.110 benches it, but for the ordinary 5 s only.
    let new = without_credit(NEW, status(402));
    assert_eq!((new.hit_times("A"), new.oks()), (vec![0.0, 6.0], 10));

    let corrected = without_credit(CORRECTED, status(402));
    assert_eq!((corrected.hits("A").len(), corrected.oks()), (1, 10));
    let bench = &corrected.benches()[0];
    assert_eq!(
        (bench.until, bench.why),
        (at(3_600.02), CooldownReason::NoCredit)
    );
}

#[test]
fn br_005_a_usage_limit_until_a_date_is_told_by_its_kind_and_not_its_status() {
    let limit = status(400)
        .because(Cause::CreditExhausted)
        .hint(RetryAfter::Date(at(86_400.0)));
    for profile in [OLD, NEW] {
        let world = without_credit(profile, limit);
        assert_eq!(
            (world.hits("A").len(), world.oks()),
            (10, 10),
            "{:?}",
            profile.name
        );
    }

    let world = without_credit(CORRECTED, limit);
    assert_eq!((world.hits("A").len(), world.oks()), (1, 10));
    let until = world.benches()[0].until.since(at(0.0)).as_secs();
    assert!((86_399..=86_400).contains(&until), "{until}");
}

#[test]
fn br_005_members_without_order_are_moved_on_from_as_well() {
    let mut world = World::of(CORRECTED, &["A", "B"], |c| c.settings.num_retries = Some(1));
    world.provider("A", always(status(402)));
    world.each_second(0.0, 10, &Ask::of("m").to(["A"]));
    world.run();

    assert_eq!((world.hits("A").len(), world.oks()), (1, 10));
}

#[test]
fn br_005_an_ordinary_bad_request_excludes_nobody() {
    for profile in [OLD, NEW, CORRECTED] {
        let mut world = World::of(profile, &["A", "B"], |c| {
            c.deployments[0].order = Some(1);
            c.deployments[1].order = Some(2);
        });
        world.provider("A", replies([status(400), ok()]));
        world.each_second(0.0, 10, &Ask::of("m"));
        world.run();

        assert!(world.benches().is_empty(), "{:?}", profile.name);
        assert_eq!(world.hits("A").len(), 10, "{:?}", profile.name);
    }
}

#[test]
fn br_005_a_lone_member_without_credit_is_benched_only_if_there_is_a_fallback() {
    let benches = |fallback: bool| {
        let mut world = World::of(CORRECTED, &["A", "f:F"], |c| {
            let list = vec![("m".to_owned(), vec!["f".to_owned()])];
            c.settings.fallbacks = fallback.then_some(list);
        });
        world.provider("A", always(status(402)));
        world.each_second(0.0, 3, &Ask::of("m"));
        world.run();
        (world.hits("A").len(), world.oks())
    };

    assert_eq!(benches(false), (3, 0));
    assert_eq!(benches(true), (1, 3));
}
