//! How long answers take, against what was published: ten models' first tokens, a vLLM server's tokens
//! by its load, the hours of a day.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use mock_providers::{
    Distribution, LatencySpec, Provider, ProviderCall, ProviderSpec, Reply, measured,
};
use router::{DeploymentId, Epoch, Instant, Outcome, RequestId, Seed};

fn provider(json: &str) -> Provider {
    let spec: ProviderSpec = serde_json::from_str(json).unwrap();
    Provider::new(&spec, Seed(20_240_101), 0, Epoch::default()).unwrap()
}

fn call(request: u64, output_tokens: u32) -> ProviderCall {
    ProviderCall {
        request: RequestId(request),
        attempt: 0,
        deployment: DeploymentId(0),
        prompt_tokens: 100,
        output_tokens,
        max_tokens: None,
        stream: true,
        beginning: mock_providers::Beginning::default(),
        batch: false,
    }
}

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

/// Milliseconds to the first token and to the end.
fn times(reply: &Reply) -> (f64, f64) {
    let Outcome::Success {
        first_token_after: Some(first),
        ..
    } = reply.outcome
    else {
        panic!("no streamed answer: {reply:?}");
    };
    (
        first.as_secs_f64() * 1e3,
        reply.total_after.as_secs_f64() * 1e3,
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the index of a quantile in a list"
)]
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(share * (values.len() - 1) as f64) as usize]
}

#[track_caller]
fn assert_near(found: f64, expected: f64, relative: f64, what: &str) {
    let off = (found / expected - 1.0).abs();
    assert!(
        off <= relative,
        "{what}: found {found}, expected {expected} within {relative}"
    );
}

#[test]
fn first_tokens_have_the_quantiles_that_were_measured_of_ten_models() {
    assert_eq!(measured().len(), 10);
    for model in measured() {
        let spec = ProviderSpec {
            latency: Some(LatencySpec {
                first_token: Some(model.first_token()),
                ..LatencySpec::default()
            }),
            ..ProviderSpec::default()
        };
        let mut provider = Provider::new(&spec, Seed(1), 0, Epoch::default()).unwrap();
        let mut firsts: Vec<f64> = (0..200_000)
            .map(|request| times(&provider.respond(at(0.0), &call(request, 1))).0)
            .collect();

        assert_near(quantile(&mut firsts, 0.5), model.p50_ms, 0.01, model.model);
        assert_near(quantile(&mut firsts, 0.95), model.p95_ms, 0.03, model.model);
        assert_near(quantile(&mut firsts, 0.99), model.p99_ms, 0.05, model.model);
    }
}

#[test]
fn three_quantiles_are_refused_where_the_body_alone_reaches_the_third() {
    let build = |p99: f64| {
        let json = format!(
            r#"{{"latency": {{"first_token": {{"body_and_tail":
                {{"p50_ms": 100, "p95_ms": 300, "p99_ms": {p99}}}}}}}}}"#
        );
        let spec: ProviderSpec = serde_json::from_str(&json).unwrap();
        Provider::new(&spec, Seed(1), 0, Epoch::default()).map(|_| ())
    };

    build(700.0).unwrap();
    // A log-normal distribution through 100 and 300 is at 473 here.
    for near in [301.0, 380.0] {
        let message = build(near).unwrap_err().to_string();
        assert!(message.contains("accepted is a larger p99_ms"), "{message}");
    }
    let message = build(300.0).unwrap_err().to_string();
    assert!(message.contains("p99_ms is 300"), "{message}");
    assert!(matches!(
        measured()[0].first_token(),
        Distribution::BodyAndTail(_)
    ));
}

/// Median milliseconds for each further token of an attempt that arrives as number `in_flight`.
fn token_ms(in_flight: u64) -> f64 {
    let mut vllm = provider(r#"{"preset": "vllm"}"#);
    for request in 0..in_flight - 1 {
        let _ = vllm.respond(at(0.0), &call(1_000_000 + request, 1_000_000));
    }
    let mut each: Vec<f64> = (0..2_000)
        .map(|request| {
            let call = call(request, 101);
            let (first, total) = times(&vllm.respond(at(1.0), &call));
            vllm.abandon(at(1.0), &call);
            (total - first) / 100.0
        })
        .collect();
    quantile(&mut each, 0.5)
}

#[test]
fn a_vllm_server_says_its_tokens_as_fast_as_was_measured_at_each_load() {
    // Mean sequences in flight and median ms a token of the run of 2026-04-25 (300 requests), in bins.
    for (in_flight, ms) in [
        (56, 19.50),
        (68, 21.66),
        (92, 27.69),
        (106, 31.01),
        (117, 32.30),
        (123, 34.17),
        (128, 35.63),
    ] {
        assert_near(
            token_ms(in_flight),
            ms,
            0.05,
            &format!("{in_flight} in flight"),
        );
    }
    assert_near(token_ms(1), 9.0, 0.02, "alone");
}

#[test]
fn a_vllm_server_queues_above_its_slots_and_grows_no_slower_for_it() {
    let mut vllm = provider(r#"{"preset": "vllm"}"#);
    let replies: Vec<(f64, f64)> = (0..256)
        .map(|request| times(&vllm.respond(at(0.0), &call(request, 201))))
        .collect();

    let waits = |range: std::ops::Range<usize>| replies[range].iter().map(|reply| reply.0);
    assert!(waits(0..128).all(|first| first < 400.0));
    // The 129th waits for the first to end: 200 tokens at the pace of an empty server.
    assert!(waits(128..256).all(|first| first > 1_700.0));
    let token = |(first, total): (f64, f64)| (total - first) / 200.0;
    assert_near(token(replies[200]), 35.3, 0.15, "a full server");
}

#[test]
fn a_cloud_may_grow_slow_before_it_turns_anybody_away() {
    let mut cloud = provider(
        r#"{"latency": {"first_token": {"constant": {"ms": 100}},
                        "load": [{"by": "quota_used", "slows": "first_token",
                                  "points": [{"at": 0.8, "slowdown": 1}, {"at": 1, "slowdown": 3}]}]},
            "quota": {"requests_per_minute": 100}}"#,
    );

    let firsts: Vec<f64> = (0..100)
        .map(|request| times(&cloud.respond(at(0.0), &call(request, 1))).0)
        .collect();

    assert_near(firsts[0], 100.0, 1e-6, "nothing used");
    assert_near(firsts[80], 100.0, 1e-6, "80 used");
    assert_near(firsts[90], 200.0, 1e-6, "90 used");
    assert_near(firsts[99], 290.0, 1e-6, "99 used");
    assert!(matches!(
        cloud.respond(at(0.0), &call(100, 1)).outcome,
        Outcome::Failure(_)
    ));
}

#[test]
fn a_day_has_its_hours_by_the_wall_clock() {
    let json = r#"{"latency": {"first_token": {"constant": {"ms": 100}},
                               "per_output_token": {"constant": {"ms": 10}}, "daily": "us_day"}}"#;
    let spec: ProviderSpec = serde_json::from_str(json).unwrap();
    let noon = Epoch::from_unix_seconds(86_400 * 19_000 + 43_200);
    let mut provider = Provider::new(&spec, Seed(1), 0, noon).unwrap();

    // 12:00 UTC is on the way to the peak, 16:00 is in it, 5:00 is night.
    for (hours, slowdown) in [(0.0, 1.1375), (4.0, 1.3), (17.0, 0.65), (28.0, 1.3)] {
        let (first, total) = times(&provider.respond(at(hours * 3_600.0), &call(1, 11)));
        assert_near(first, 100.0 * slowdown, 1e-6, "first token");
        assert_near(total, 200.0 * slowdown, 1e-6, "whole answer");
    }
}

#[test]
fn curves_and_days_that_make_no_sense_are_refused() {
    for (latency, says) in [
        (r#""daily": {"points": []}"#, "latency.daily has no point"),
        (
            r#""daily": {"points": [{"hour_utc": 24, "slowdown": 1}]}"#,
            "latency.daily.points[0].hour_utc is 24",
        ),
        (
            r#""load": [{"by": "in_flight", "points": []}]"#,
            "latency.load[0] has no point",
        ),
        (
            r#""load": [{"by": "in_flight", "points": [{"at": 2, "slowdown": 1}, {"at": 2, "slowdown": 3}]}]"#,
            "latency.load[0].points[1].at is 2",
        ),
        (
            r#""load": [{"by": "in_flight", "points": [{"at": 2, "slowdown": 0}]}]"#,
            "latency.load[0].points[0].slowdown is 0",
        ),
    ] {
        let json =
            format!(r#"{{"latency": {{"first_token": {{"constant": {{"ms": 1}}}}, {latency}}}}}"#);
        let spec: ProviderSpec = serde_json::from_str(&json).unwrap();
        let error = Provider::new(&spec, Seed(1), 0, Epoch::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(says) && error.contains("accepted is"),
            "{error}"
        );
    }
}
