//! Arrivals as a whole: their rate, their regularity, what is asked for.

use router::{Instant, Seed};
use scenarios::Arrival;

use super::{load, with};

fn arrivals(workload: &str) -> Vec<Arrival> {
    let text = with(
        "  arrivals: {poisson: {per_second: 10}}\n  lengths: azure-conv-2023\n  duration_s: 60\n",
        workload,
    );
    let plan = load(&text)
        .unwrap_or_else(|error| panic!("{error}"))
        .plan(0, 0);
    let arrivals: Vec<Arrival> = plan.workload.arrivals(plan.seed).collect();
    assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
    assert!(arrivals.last().unwrap().at < Instant::ZERO + plan.workload.duration());
    arrivals
}

/// Arrivals a second, and deviation ÷ mean of the gaps.
fn rate_and_variation(arrivals: &[Arrival]) -> (f64, f64) {
    let gaps: Vec<f64> = arrivals
        .windows(2)
        .map(|pair| pair[1].at.since(pair[0].at).as_secs_f64())
        .collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps
        .iter()
        .map(|gap| libm::pow(gap - mean, 2.0))
        .sum::<f64>()
        / n;
    (1.0 / mean, variance.sqrt() / mean)
}

fn generated(arrivals: &str, duration_s: u32) -> String {
    format!("  arrivals: {arrivals}\n  lengths: azure-conv-2023\n  duration_s: {duration_s}\n")
}

#[test]
fn processes_have_the_rate_and_the_variation_asked_for() {
    for (spec, cv, slack) in [
        ("{constant: {per_second: 20}}", 0.0, 1e-6),
        ("{poisson: {per_second: 20}}", 1.0, 0.02),
        ("{gamma: {per_second: 20, cv: 0.5}}", 0.5, 0.02),
        ("{gamma: {per_second: 20, cv: 2.5}}", 2.5, 0.08),
    ] {
        let (rate, found) = rate_and_variation(&arrivals(&generated(spec, 5_000)));

        // 100,000 gaps: five standard errors of their mean.
        assert!(
            (rate / 20.0 - 1.0).abs() < 0.001 + 5.0 * cv / 316.0,
            "{spec}: {rate}"
        );
        assert!((found - cv).abs() < slack, "{spec}: {found}");
    }
}

#[test]
fn a_pulse_multiplies_the_rate_while_it_lasts() {
    let spec = "{pulse: {per_second: 10, factor: 5, from_s: 100, to_s: 200}}";
    let arrivals = arrivals(&generated(spec, 1_000));

    let within = |from: f64, to: f64| {
        arrivals
            .iter()
            .filter(|a| (from..to).contains(&a.at.as_secs_f64()))
            .count() as f64
    };
    assert!((within(100.0, 200.0) - 5_000.0).abs() < 300.0);
    assert!((within(200.0, 1_000.0) - 8_000.0).abs() < 400.0);
}

#[test]
fn bursts_are_far_from_regular_and_keep_their_mean() {
    let spec = "{bursts: {on_per_second: 50, off_per_second: 0, on_mean_s: 10, off_mean_s: 40}}";
    let (rate, cv) = rate_and_variation(&arrivals(&generated(spec, 40_000)));

    assert!((rate - 10.0).abs() < 1.2, "{rate}");
    assert!(cv > 3.0, "{cv}");
}

#[test]
fn a_day_has_its_hours_by_the_wall_clock() {
    let mut hours = ["0"; 24];
    hours[1] = "1";
    let spec = format!(
        "{{daily: {{per_second: 1, hours: [{}]}}}}",
        hours.join(", ")
    );
    let arrivals = arrivals(&generated(&spec, 86_400));

    // The run begins at midnight, so all of the day's requests come in the second hour.
    assert!((arrivals.len() as f64 - 86_400.0).abs() < 1_500.0);
    let in_second_hour = |arrival: &Arrival| (3_600.0..7_200.0).contains(&arrival.at.as_secs_f64());
    assert!(arrivals.iter().all(in_second_hour));
}

#[test]
fn models_streams_and_limits_come_in_their_shares() {
    let text = with(
        "    - {model_name: chat, litellm_params: {model: openai",
        "    - {model_name: \
        code, litellm_params: {model: openai",
    )
    .replace(
        "  lengths:",
        "  models: {chat: 3, code: 1}\n  stream_share: 0.25\n  max_tokens: \
        400\n  lengths:",
    )
    .replace("duration_s: 60", "duration_s: 4000");
    let plan = load(&text).unwrap().plan(0, 0);
    let arrivals: Vec<Arrival> = plan.workload.arrivals(plan.seed).collect();

    let n = arrivals.len() as f64;
    let share =
        |holds: fn(&Arrival) -> bool| arrivals.iter().filter(|a| holds(a)).count() as f64 / n;
    assert_eq!(plan.workload.models(), ["chat", "code"]);
    assert!((share(|a| a.model == 0) - 0.75).abs() < 0.015);
    assert!((share(|a| a.stream) - 0.25).abs() < 0.015);
    assert!(arrivals.iter().all(|a| a.max_tokens == Some(400)));
}

#[test]
fn a_higher_rate_brings_the_same_requests_sooner() {
    let slow = arrivals(&generated("{poisson: {per_second: 10}}", 100));
    let fast = arrivals(&generated("{poisson: {per_second: 20}}", 100));

    for (slow, fast) in slow.iter().zip(&fast) {
        assert_eq!(slow.prompt_tokens, fast.prompt_tokens);
        assert!((slow.at.as_secs_f64() - 2.0 * fast.at.as_secs_f64()).abs() < 1e-6);
    }
}

#[test]
fn arrivals_are_the_same_bits_on_every_machine() {
    let plan = load(super::GOOD).unwrap().plan(0, 0);
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for arrival in plan.workload.arrivals(Seed(1)) {
        for word in [
            arrival.at.as_nanos(),
            arrival.prompt_tokens.into(),
            arrival.output_tokens.into(),
        ] {
            digest = (digest ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    insta::assert_snapshot!(format!("{digest:016x}"), @"a1b7559562ed8c52");
}

#[test]
fn a_curve_has_the_rate_of_each_step_and_nothing_after_the_last() {
    let spec = "{curve: {step_s: 100, per_second: [10, 0, 30], cv: 1.5}}";
    let arrivals = arrivals(&generated(spec, 1_000));

    let within = |from: f64, to: f64| {
        let inside = |a: &&Arrival| (from..to).contains(&a.at.as_secs_f64());
        arrivals.iter().filter(inside).count() as f64
    };
    assert!((within(0.0, 100.0) / 1_000.0 - 1.0).abs() < 0.25);
    let outside = arrivals.len() as f64 - within(0.0, 100.0) - within(200.0, 300.0);
    assert!(outside.abs() < 0.5, "{outside}");
    assert!((within(200.0, 300.0) / 3_000.0 - 1.0).abs() < 0.15);
}
