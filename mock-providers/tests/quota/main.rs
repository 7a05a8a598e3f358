//! The provider's own quota and its slots, as a caller meets them: what is charged, what is told,
//! and how long the queue is.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use mock_providers::{Provider, ProviderCall, ProviderSpec, Reply};
use router::{Epoch, Failure, Instant, KeyedRng, Outcome, Purpose, RetryAfter, Seed};

use crate::support::{at, call};

/// A provider that answers after 10 s, with further settings.
fn provider(settings: &str) -> Provider {
    let json =
        format!(r#"{{"latency": {{"first_token": {{"constant": {{"ms": 10000}}}}}}, {settings}}}"#);
    let spec: ProviderSpec = serde_json::from_str(&json).unwrap();
    Provider::new(&spec, Seed(5), 0, Epoch::default()).unwrap()
}

fn succeeds(reply: &Reply) -> bool {
    matches!(reply.outcome, Outcome::Success { .. })
}

fn failure(reply: &Reply) -> Failure {
    match reply.outcome {
        Outcome::Failure(failure) => failure,
        Outcome::Success { .. } => panic!("it succeeded"),
    }
}

/// How many of `calls` attempts at one moment are let in.
fn let_in(provider: &mut Provider, now: Instant, calls: u64, call: &ProviderCall) -> usize {
    (0..calls)
        .filter(|_| succeeds(&provider.respond(now, call)))
        .count()
}

#[test]
fn a_fixed_minute_lets_twice_its_limit_through_around_an_edge() {
    let mut provider = provider(r#""quota": {"requests_per_minute": 100}"#);

    let before = let_in(&mut provider, at(59.99), 300, &call(0));
    let after = let_in(&mut provider, at(60.0), 300, &call(0));

    assert_eq!((before, after), (100, 100));
}

#[test]
fn a_bucket_lets_its_burst_through_and_then_its_rate() {
    let mut provider = provider(
        r#""quota": {"requests_per_minute": 600, "window": "token_bucket", "burst_requests": 7}"#,
    );

    assert_eq!(let_in(&mut provider, at(0.0), 50, &call(0)), 7);
    assert_eq!(let_in(&mut provider, at(0.3), 50, &call(0)), 3);
}

#[test]
fn slices_spread_a_minutes_limit() {
    let mut provider = provider(r#""quota": {"requests_per_minute": 600, "request_slice_s": 1}"#);

    assert_eq!(let_in(&mut provider, at(0.5), 50, &call(0)), 10);
    assert_eq!(let_in(&mut provider, at(1.0), 50, &call(0)), 10);
}

#[test]
fn each_charge_counts_what_it_says() {
    let capped = ProviderCall {
        max_tokens: Some(400),
        ..call(0)
    };
    for (charge, tokens) in [
        ("prompt", 100),
        ("prompt_and_answer", 150),
        ("prompt_and_max_tokens", 500),
    ] {
        let mut provider = provider(&format!(
            r#""quota": {{"tokens_per_minute": 3000, "token_charge": "{charge}"}}"#
        ));

        assert_eq!(
            let_in(&mut provider, at(0.0), 100, &capped),
            3_000 / tokens,
            "{charge}"
        );
    }
}

#[test]
fn reserving_64_000_tokens_lets_31_of_two_million_in_at_once() {
    // The self-made outage of field notes D1: 2 M tokens a minute admit 31 unset answers.
    let mut provider = provider(r#""preset": "bedrock", "quota": {"tokens_per_minute": 2000000}"#);
    let tiny = ProviderCall {
        prompt_tokens: 1,
        output_tokens: 1,
        ..call(0)
    };

    assert_eq!(let_in(&mut provider, at(0.0), 2_000, &tiny), 31);
    assert!(!succeeds(&provider.respond(at(9.9), &tiny)));
    assert_eq!(
        let_in(&mut provider, at(10.0), 2_000, &tiny),
        31,
        "the answers have ended"
    );
}

#[test]
fn without_settlement_a_reservation_stays_for_the_minute() {
    let mut provider = provider(
        r#""quota": {"tokens_per_minute": 1000, "token_charge": "prompt_and_max_tokens",
            "unset_max_tokens": 900}"#,
    );

    assert!(succeeds(&provider.respond(at(0.0), &call(0))));
    assert!(!succeeds(&provider.respond(at(59.0), &call(1))));
    assert!(succeeds(&provider.respond(at(60.0), &call(2))));
}

#[test]
fn a_hint_has_the_form_that_is_asked_for() {
    let hint = |form: &str| {
        let mut provider = provider(&format!(
            r#""quota": {{"requests_per_minute": 1, "retry_after": "{form}", "rejection_ms": 25}}"#
        ));
        let _ = provider.respond(at(0.0), &call(0));
        let reply = provider.respond(at(12.3456), &call(1));
        assert_eq!(failure(&reply).status, Some(429));
        assert_eq!(reply.total_after, Duration::from_millis(25));
        failure(&reply).retry_after
    };

    assert_eq!(hint("seconds"), Some(RetryAfter::Seconds(48)));
    assert_eq!(hint("millis"), Some(RetryAfter::Millis(47_655)));
    assert_eq!(hint("date"), Some(RetryAfter::Date(at(60.0))));
    assert_eq!(hint("none"), None);
}

#[test]
fn what_never_fits_is_refused_without_a_hint() {
    for window in ["fixed_minute", "sliding", "token_bucket"] {
        let mut provider = provider(&format!(
            r#""quota": {{"tokens_per_minute": 149, "window": "{window}"}}"#
        ));

        assert_eq!(
            failure(&provider.respond(at(0.0), &call(0))).retry_after,
            None,
            "{window}"
        );
    }
}

#[test]
fn where_rejected_attempts_count_a_caller_who_never_rests_never_gets_in_again() {
    for (counts, later) in [(true, 0), (false, 2)] {
        let mut provider = provider(&format!(
            r#""quota": {{"requests_per_minute": 2, "window": "token_bucket",
                "count_rejected": {counts}}}"#
        ));
        assert_eq!(let_in(&mut provider, at(0.0), 2, &call(0)), 2);

        let seconds = (1..=60).map(f64::from);
        let admitted = seconds
            .filter(|&s| succeeds(&provider.respond(at(s), &call(0))))
            .count();

        assert_eq!(admitted, later, "count_rejected: {counts}");
    }
}

#[test]
fn failures_at_the_door_are_not_charged_and_failures_inside_are() {
    for (fault, left) in [("outage", 10), ("rate_limit_storm", 10), ("error_rate", 4)] {
        let share = if fault == "error_rate" {
            r#""share": 1, "#
        } else {
            ""
        };
        let mut provider = provider(&format!(
            r#""quota": {{"requests_per_minute": 10}},
               "faults": [{{"{fault}": {{{share}"to_s": 10}}}}]"#
        ));
        assert_eq!(let_in(&mut provider, at(0.0), 6, &call(0)), 0);

        assert_eq!(
            let_in(&mut provider, at(10.0), 100, &call(0)),
            left,
            "{fault}"
        );
    }
}

#[test]
fn an_answer_is_cut_at_the_callers_limit_and_so_is_its_time() {
    let json = r#"{"latency": {"first_token": {"constant": {"ms": 100}},
                               "per_output_token": {"constant": {"ms": 10}}}}"#;
    let spec: ProviderSpec = serde_json::from_str(json).unwrap();
    let mut provider = Provider::new(&spec, Seed(5), 0, Epoch::default()).unwrap();

    let reply = provider.respond(
        at(0.0),
        &ProviderCall {
            max_tokens: Some(11),
            ..call(0)
        },
    );

    let Outcome::Success {
        usage,
        first_token_after,
    } = reply.outcome
    else {
        panic!("it failed");
    };
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (100, 11));
    assert_eq!(first_token_after, None, "it was not streamed");
    assert_eq!(reply.total_after, Duration::from_millis(200));
}

#[test]
fn one_who_gives_up_leaves_the_slot_to_the_next() {
    let mut provider = provider(r#""max_concurrent": 1"#);
    let _ = provider.respond(at(0.0), &call(0));

    assert_eq!(
        provider.respond(at(1.0), &call(1)).total_after,
        Duration::from_secs(19)
    );
    provider.abandon(at(2.0), &call(1));
    assert_eq!(
        provider.respond(at(3.0), &call(2)).total_after,
        Duration::from_secs(17)
    );
}

#[test]
fn waiting_for_slots_is_as_long_as_erlangs_formula_says() {
    // M/M/c: Poisson arrivals at λ = 8 a second, exponential answers of 0.5 s on c = 5 slots, so
    // a = 4. Erlang C gives P(wait) = 0.554 and a mean wait of P(wait) · 0.5 s ÷ (c − a) = 0.277 s.
    const ARRIVALS: Purpose = Purpose::named("test.arrivals");
    let json = r#"{"latency": {"first_token": {"gamma": {"mean_ms": 500, "cv": 1}}},
                   "max_concurrent": 5}"#;
    let spec: ProviderSpec = serde_json::from_str(json).unwrap();
    let unbounded = ProviderSpec {
        max_concurrent: None,
        ..spec.clone()
    };
    let mut queued = Provider::new(&spec, Seed(7), 0, Epoch::default()).unwrap();
    let mut free = Provider::new(&unbounded, Seed(7), 0, Epoch::default()).unwrap();

    let (mut now, mut waited, mut waiting) = (0.0, 0.0, 0_u32);
    let requests = 1_000_000_u32;
    for request in 0..requests {
        let draw = KeyedRng::new(Seed(7), ARRIVALS, request.into(), 0).unit();
        now -= libm::log(1.0 - draw) / 8.0;
        let call = call(request.into());
        let wait =
            queued.respond(at(now), &call).total_after - free.respond(at(now), &call).total_after;
        waited += wait.as_secs_f64();
        waiting += u32::from(wait > Duration::ZERO);
    }

    let mean = waited / f64::from(requests);
    let share = f64::from(waiting) / f64::from(requests);
    assert!((share - 0.5541).abs() < 0.008, "P(wait) {share}");
    assert!((mean - 0.2770).abs() < 0.012, "mean wait {mean}");
}
