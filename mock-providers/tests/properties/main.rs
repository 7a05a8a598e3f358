//! What must hold for any traffic: a quota never lets more through than its kind of window says, its
//! hint is true and not a millisecond too long, and luck does not depend on other traffic.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use mock_providers::{Provider, ProviderCall, ProviderSpec, Reply};
use proptest::prelude::*;
use router::{DeploymentId, Epoch, Failure, Instant, Outcome, RequestId, RetryAfter, Seed};

const MINUTE_NS: u64 = 60_000_000_000;
/// Seventeen seconds past a full minute, so that an edge of the wall clock is no edge of the run.
const EPOCH: Epoch = Epoch::from_unix_seconds(1_704_067_217);

fn provider(quota: &str) -> Provider {
    let json = format!(
        r#"{{"latency": {{"first_token": {{"constant": {{"ms": 100}}}}}}, "quota": {quota}}}"#
    );
    let spec: ProviderSpec = serde_json::from_str(&json).unwrap();
    Provider::new(&spec, Seed(1), 0, EPOCH).unwrap()
}

fn call(request: u64, prompt_tokens: u32) -> ProviderCall {
    ProviderCall {
        request: RequestId(request),
        attempt: 0,
        deployment: DeploymentId(0),
        prompt_tokens,
        output_tokens: 10,
        max_tokens: None,
        stream: false,
        beginning: mock_providers::Beginning::default(),
        batch: false,
    }
}

fn hint(reply: &Reply) -> Option<RetryAfter> {
    match reply.outcome {
        Outcome::Failure(Failure {
            status: Some(429),
            retry_after,
            ..
        }) => retry_after,
        Outcome::Failure(_) | Outcome::Success { .. } => None,
    }
}

/// Gaps in nanoseconds with prompt tokens: bursts at one moment, seconds, and long pauses.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let gap = prop_oneof![
        6 => Just(0),
        6 => 0..2_000_000_000_u64,
        2 => 0..MINUTE_NS,
        1 => 0..5 * MINUTE_NS,
    ];
    prop::collection::vec((gap, 0..200_u32), 1..400)
}

/// Sends the traffic and returns the moment and the tokens of what was let in.
fn admitted(provider: &mut Provider, traffic: &[(u64, u32)]) -> Vec<(u64, u64)> {
    let mut at = 0;
    let mut through = Vec::new();
    for (request, &(gap, prompt)) in (0..).zip(traffic) {
        at += gap;
        let reply = provider.respond(Instant::from_nanos(at), &call(request, prompt));
        if matches!(reply.outcome, Outcome::Success { .. }) {
            through.push((at, u64::from(prompt) + 10));
        }
    }
    through
}

fn sums(through: &[(u64, u64)], within: impl Fn(u64) -> bool) -> (u64, u64) {
    let inside = through.iter().filter(|(at, _)| within(*at));
    inside.fold((0, 0), |(count, sum), (_, tokens)| {
        (count + 1, sum + tokens)
    })
}

proptest! {
    #[test]
    fn a_fixed_minute_never_lets_more_than_its_limits_through(traffic in traffic()) {
        let mut provider =
            provider(r#"{"requests_per_minute": 20, "tokens_per_minute": 1500}"#);
        let minute = |at| EPOCH.minute(Instant::from_nanos(at));

        let through = admitted(&mut provider, &traffic);

        for &(at, _) in &through {
            let (count, tokens) = sums(&through, |other| minute(other) == minute(at));
            prop_assert!(count <= 20 && tokens <= 1_500, "{count} requests, {tokens} tokens");
        }
    }

    #[test]
    fn a_slice_never_lets_more_than_its_share_through(traffic in traffic()) {
        let mut provider =
            provider(r#"{"requests_per_minute": 30, "request_slice_s": 10}"#);
        let slice = |at: u64| (at + 7_000_000_000) / 10_000_000_000;

        let through = admitted(&mut provider, &traffic);

        for &(at, _) in &through {
            let (count, _) = sums(&through, |other| slice(other) == slice(at));
            prop_assert!(count <= 5, "{count} requests");
        }
    }

    #[test]
    fn a_sliding_window_never_lets_more_than_its_limits_through_in_any_minute(
        traffic in traffic(),
    ) {
        let mut provider = provider(
            r#"{"requests_per_minute": 20, "tokens_per_minute": 1500, "window": "sliding"}"#,
        );

        let through = admitted(&mut provider, &traffic);

        for &(at, _) in &through {
            let (count, tokens) = sums(&through, |other| other <= at && other + MINUTE_NS > at);
            prop_assert!(count <= 20 && tokens <= 1_500, "{count} requests, {tokens} tokens");
        }
    }

    #[test]
    fn a_bucket_never_lets_more_than_burst_and_rate_through_in_any_span(traffic in traffic()) {
        let mut provider = provider(
            r#"{"requests_per_minute": 20, "tokens_per_minute": 1500, "window": "token_bucket",
                "burst_requests": 5, "burst_tokens": 300}"#,
        );

        let through = admitted(&mut provider, &traffic);

        for &(from, _) in &through {
            for &(to, _) in through.iter().filter(|(to, _)| *to >= from) {
                let (count, tokens) = sums(&through, |at| from <= at && at <= to);
                let filled = |rate: u64| u128::from(to - from) * u128::from(rate);
                let minute = u128::from(MINUTE_NS);
                prop_assert!((u128::from(count) - 5.min(u128::from(count))) * minute <= filled(20));
                let over = u128::from(tokens.saturating_sub(300));
                prop_assert!(over * minute <= filled(1_500), "{tokens} tokens");
            }
        }
    }

    #[test]
    fn a_lone_caller_who_obeys_the_hint_is_let_in_and_not_a_millisecond_late(
        traffic in traffic(),
        kind in prop::sample::select(vec!["fixed_minute", "sliding", "token_bucket"]),
        form in prop::sample::select(vec!["seconds", "date", "millis"]),
        settled in any::<bool>(),
    ) {
        let charge = if settled {
            r#", "token_charge": "prompt_and_max_tokens", "unset_max_tokens": 400, "settles": true"#
        } else {
            ""
        };
        let mut provider = provider(&format!(
            r#"{{"requests_per_minute": 20, "tokens_per_minute": 1500, "window": "{kind}",
                 "retry_after": "{form}"{charge}}}"#,
        ));
        let mut at = 0;
        let mut request = 0;
        for &(gap, prompt) in &traffic {
            at += gap;
            request += 1;
            let reply = provider.respond(Instant::from_nanos(at), &call(request, prompt));
            let Some(hint) = hint(&reply) else {
                let let_in = matches!(reply.outcome, Outcome::Success { .. });
                prop_assert!(let_in, "a 429 without a hint: {reply:?}");
                continue;
            };
            let (wait, rounding) = match hint {
                RetryAfter::Date(then) => (then.as_nanos() - at, 1_000_000_000),
                RetryAfter::Millis(millis) => (millis * 1_000_000, 1_000_000),
                RetryAfter::Seconds(s) => (u64::try_from(s).unwrap() * 1_000_000_000, 1_000_000_000),
                RetryAfter::Unreadable => unreachable!("no quota sends that"),
            };
            if let Some(early) = wait.checked_sub(rounding) {
                request += 1;
                let early = Instant::from_nanos(at + early);
                let reply = provider.respond(early, &call(request, prompt));
                let refused = matches!(reply.outcome, Outcome::Failure(_));
                prop_assert!(refused, "the hint {hint:?} at {at} is too long");
            }
            at += wait;
            request += 1;
            let reply = provider.respond(Instant::from_nanos(at), &call(request, prompt));
            let let_in = matches!(reply.outcome, Outcome::Success { .. });
            prop_assert!(let_in, "the hint {hint:?} is too short: {reply:?}");
        }
    }

    #[test]
    fn what_an_attempt_gets_does_not_depend_on_other_traffic(
        others in prop::collection::vec(0..1_000_u64, 0..50),
        request in 1_000..2_000_u64,
    ) {
        let json = r#"{
            "preset": "openai",
            "faults": [
                {"outage": {"random": {"gap_mean_s": 5, "gap_cv": 2, "duration_mean_s": 3, "duration_cv": 1}}},
                {"bursty": {"good_mean_s": 2, "bad_mean_s": 2, "bad_error_share": 0.5}},
                {"error_rate": {"share": 0.2}},
                {"mid_stream": {"share": 0.2, "after_share": 0.5}},
                {"content": {"policy_share": 0.1}}
            ]
        }"#;
        let spec: ProviderSpec = serde_json::from_str(json).unwrap();
        let fresh = || Provider::new(&spec, Seed(3), 4, EPOCH).unwrap();
        let at = Instant::from_secs_f64(30.0);

        let mut busy = fresh();
        for (number, &other) in (0..).zip(&others) {
            let _ = busy.respond(Instant::from_nanos(number * 500_000_000), &call(other, 5));
        }

        prop_assert_eq!(
            busy.respond(at, &call(request, 5)),
            fresh().respond(at, &call(request, 5))
        );
    }
}
