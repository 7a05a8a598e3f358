//! What providers draw, against what their distributions promise: means and quantiles of 200,000
//! answers, within about five standard errors of each estimate.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use mock_providers::{Provider, ProviderCall, ProviderSpec, Setting, Shape, presets};
use router::{DeploymentId, Epoch, Instant, Outcome, RequestId, Seed};

const DRAWS: u64 = 200_000;

fn provider(json: &str) -> Provider {
    let spec: ProviderSpec = serde_json::from_str(json).unwrap();
    Provider::new(&spec, Seed(20_240_101), 0, Epoch::default()).unwrap()
}

/// Milliseconds to the first token and to the end of many answers of two tokens.
fn answers(mut provider: Provider) -> Vec<(f64, f64)> {
    (0..DRAWS)
        .map(|request| {
            let call = ProviderCall {
                request: RequestId(request),
                attempt: 0,
                deployment: DeploymentId(0),
                prompt_tokens: 100,
                output_tokens: 2,
                max_tokens: None,
                stream: true,
                beginning: mock_providers::Beginning::default(),
                batch: false,
            };
            // So far apart that nobody waits for a slot.
            let now = Instant::from_nanos(request * 100_000_000_000);
            let reply = provider.respond(now, &call);
            let Outcome::Success {
                first_token_after: Some(first),
                ..
            } = reply.outcome
            else {
                panic!("no streamed answer: {reply:?}");
            };
            (
                first.as_secs_f64() * 1_000.0,
                reply.total_after.as_secs_f64() * 1_000.0,
            )
        })
        .collect()
}

fn first_tokens(json: &str) -> Vec<f64> {
    let distribution = format!(r#"{{"latency": {{"first_token": {json}}}}}"#);
    sorted(
        answers(provider(&distribution))
            .into_iter()
            .map(|answer| answer.0),
    )
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the index of a quantile in a list"
)]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(share * (sorted.len() - 1) as f64) as usize]
}

#[expect(clippy::cast_precision_loss, reason = "a short list")]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: Vec<f64> = values
        .iter()
        .map(|value| libm::pow(value - mean, 2.0))
        .collect();
    self::mean(&squares).sqrt() / mean
}

#[track_caller]
fn assert_near(found: f64, expected: f64, relative: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(
        off <= relative,
        "found {found}, expected {expected} within {relative}, off {off}"
    );
}

#[test]
fn a_constant_is_that_constant() {
    let drawn = first_tokens(r#"{"constant": {"ms": 12.5}}"#);

    assert_near(drawn[0], 12.5, 1e-9);
    assert_near(drawn[drawn.len() - 1], 12.5, 1e-9);
}

#[test]
fn a_log_normal_has_its_median_and_tails() {
    let drawn = first_tokens(r#"{"log_normal": {"median_ms": 500, "sigma": 0.5}}"#);

    // exp(ln 500 + z · 0.5); the mean is exp(ln 500 + 0.125).
    assert_near(quantile(&drawn, 0.05), 219.7, 0.012);
    assert_near(quantile(&drawn, 0.5), 500.0, 0.007);
    assert_near(quantile(&drawn, 0.95), 1_138.0, 0.012);
    assert_near(quantile(&drawn, 0.99), 1_599.9, 0.021);
    assert_near(mean(&drawn), 566.6, 0.006);
}

#[test]
fn a_log_normal_by_two_quantiles_has_them() {
    let drawn = first_tokens(r#"{"log_normal": {"p50_ms": 639, "p95_ms": 1144}}"#);

    assert_near(quantile(&drawn, 0.5), 639.0, 0.006);
    assert_near(quantile(&drawn, 0.95), 1_144.0, 0.01);
}

#[test]
fn a_gamma_has_its_mean_and_variation_whether_narrow_or_wide() {
    for (cv, bound) in [(0.1, 0.01), (0.5, 0.02), (1.0, 0.03), (2.0, 0.05)] {
        let drawn = first_tokens(&format!(r#"{{"gamma": {{"mean_ms": 300, "cv": {cv}}}}}"#));

        assert_near(mean(&drawn), 300.0, 0.012 * cv);
        assert_near(variation(&drawn), cv, bound);
    }
}

#[test]
fn a_gamma_of_variation_one_is_exponential() {
    let drawn = first_tokens(r#"{"gamma": {"mean_ms": 100, "cv": 1}}"#);

    // −100 · ln(1 − share)
    assert_near(quantile(&drawn, 0.5), 69.315, 0.012);
    assert_near(quantile(&drawn, 0.95), 299.57, 0.017);
    assert_near(quantile(&drawn, 0.99), 460.5, 0.025);
}

#[test]
fn a_mixture_draws_its_parts_by_weight() {
    let drawn = first_tokens(
        r#"{"mixture": [
            {"weight": 7, "of": {"constant": {"ms": 10}}},
            {"weight": 2, "of": {"constant": {"ms": 20}}},
            {"weight": 1, "of": {"mixture": [
                {"weight": 1, "of": {"constant": {"ms": 30}}},
                {"weight": 3, "of": {"constant": {"ms": 40}}}
            ]}}
        ]}"#,
    );

    for (ms, share) in [(10.0, 0.7), (20.0, 0.2), (30.0, 0.025), (40.0, 0.075)] {
        let alike = drawn.iter().filter(|&&value| (value - ms).abs() < 1e-6);
        let count = f64::from(u32::try_from(alike.count()).unwrap());
        assert_near(count / 200_000.0, share, 5.0 / (share * 200_000.0).sqrt());
    }
}

#[test]
fn measured_values_are_drawn_between_and_never_beyond_them() {
    let drawn = first_tokens(r#"{"empirical": {"values_ms": [300, 100, 200, 1000]}}"#);

    assert!(drawn[0] >= 100.0 && drawn[drawn.len() - 1] <= 1_000.0);
    assert_near(quantile(&drawn, 1.0 / 3.0), 200.0, 0.012);
    assert_near(quantile(&drawn, 2.0 / 3.0), 300.0, 0.02);
    assert_near(mean(&drawn), (150.0 + 250.0 + 650.0) / 3.0, 0.01);
}

#[test]
fn measured_quantiles_come_out_as_they_went_in() {
    let drawn = first_tokens(
        r#"{"empirical": {"quantiles": [
            {"share": 0.1, "ms": 50}, {"share": 0.5, "ms": 100}, {"share": 0.99, "ms": 900}
        ]}}"#,
    );

    assert_near(quantile(&drawn, 0.05), 50.0, 1e-9);
    assert_near(quantile(&drawn, 0.3), 75.0, 0.01);
    assert_near(quantile(&drawn, 0.5), 100.0, 0.02);
    assert_near(quantile(&drawn, 0.745), 500.0, 0.02);
    assert_near(quantile(&drawn, 0.995), 900.0, 1e-9);
}

#[test]
fn the_shared_slowness_ties_the_two_times_of_a_request_together() {
    let drawn = answers(provider(
        r#"{"latency": {
            "first_token": {"log_normal": {"median_ms": 500, "sigma": 0.3}},
            "per_output_token": {"log_normal": {"median_ms": 20, "sigma": 0.3}},
            "slowness_sigma": 0.4
        }}"#,
    ));

    let logs: Vec<(f64, f64)> = drawn
        .iter()
        .map(|&(first, total)| (libm::log(first / 500.0), libm::log((total - first) / 20.0)))
        .collect();
    let products: Vec<f64> = logs.iter().map(|(first, token)| first * token).collect();
    let firsts: Vec<f64> = logs.iter().map(|(first, _)| first * first).collect();
    // The covariance is 0.4² and each variance 0.3² + 0.4².
    assert_near(mean(&products), 0.16, 0.025);
    assert_near(mean(&firsts), 0.25, 0.02);
}

#[test]
fn presets_have_the_quantiles_that_their_source_gives() {
    for preset in presets() {
        for parameter in preset.parameters {
            let Setting::FirstToken(shape) = parameter.setting else {
                continue;
            };
            let json = format!(r#"{{"preset": "{}", "faults": []}}"#, preset.name);
            let drawn = answers(provider(&json));
            let drawn = sorted(drawn.into_iter().map(|answer| answer.0));
            match shape {
                Shape::Constant { ms } => assert_near(mean(&drawn), ms, 1e-9),
                Shape::ThreeQuantiles {
                    p50_ms,
                    p95_ms,
                    p99_ms,
                } => {
                    assert_near(quantile(&drawn, 0.5), p50_ms, 0.01);
                    assert_near(quantile(&drawn, 0.95), p95_ms, 0.03);
                    assert_near(quantile(&drawn, 0.99), p99_ms, 0.05);
                }
                Shape::Quantiles(points) => {
                    for &(share, ms) in points {
                        assert_near(quantile(&drawn, share), ms, 0.02);
                    }
                }
                Shape::LogNormal { median_ms, .. } => {
                    assert_near(quantile(&drawn, 0.5), median_ms, 0.01);
                }
            }
        }
    }
}
