//! Incidents against the status pages that they are from, and against each other: one provider's
//! deployments fail together, two providers' do not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use mock_providers::{
    FaultSpan, KnownIncidents, ProviderCall, ProviderSpec, Providers, known_incidents,
};
use router::{DeploymentId, Epoch, Instant, Outcome, RequestId, Seed};

const YEAR_S: f64 = 365.25 * 86_400.0;

fn spec(fleet: &str, incidents: &str) -> ProviderSpec {
    let json = format!(
        r#"{{"fleet": "{fleet}", "latency": {{"first_token": {{"constant": {{"ms": 1}}}}}},
             "faults": [{{"incidents": {{{incidents}}}}}]}}"#
    );
    serde_json::from_str(&json).unwrap()
}

fn like(known: &KnownIncidents) -> &'static str {
    match known.whose {
        "OpenAI's API" => r#""like": "open_ai""#,
        "Anthropic's API" => r#""like": "anthropic""#,
        other => panic!("{other}"),
    }
}

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

fn fails(providers: &mut Providers, now: Instant, request: u64, deployment: u32) -> bool {
    let call = ProviderCall {
        request: RequestId(request),
        attempt: 0,
        deployment: DeploymentId(deployment),
        prompt_tokens: 1,
        output_tokens: 1,
        max_tokens: None,
        stream: false,
        beginning: mock_providers::Beginning::default(),
        batch: false,
    };
    matches!(providers.respond(now, &call).outcome, Outcome::Failure(_))
}

fn lengths(spans: &[FaultSpan]) -> Vec<f64> {
    let mut lengths: Vec<f64> = spans
        .iter()
        .map(|s| s.to.since(s.from).as_secs_f64())
        .collect();
    lengths.sort_by(f64::total_cmp);
    lengths
}

#[expect(clippy::cast_precision_loss, reason = "a short list")]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[track_caller]
fn assert_near(found: f64, expected: f64, relative: f64, what: &str) {
    let off = (found / expected - 1.0).abs();
    assert!(
        off <= relative,
        "{what}: found {found}, expected {expected} within {relative}"
    );
}

/// Median, mean and 90th percentile of lengths in minutes, and the mean days between beginnings with
/// their variation, as the field notes (D5) have them; and availability weighted by severity.
const PUBLISHED: [(&str, [f64; 6]); 2] = [
    (
        "Anthropic's API",
        [46.0, 168.6, 247.0, 5.22, 1.85, 0.999_17],
    ),
    ("OpenAI's API", [74.5, 153.9, 301.0, 5.55, 2.17, 0.998_21]),
];

#[test]
fn incidents_have_the_lengths_and_gaps_of_the_status_pages() {
    for (known, (whose, published)) in known_incidents().iter().zip(PUBLISHED) {
        assert_eq!(known.whose, whose);
        // Every incident is full here, so that every one is seen.
        let all = r#""degraded_share": 0, "partial_share": 0"#;
        let spec = spec("one", &format!("{}, {all}", like(known)));
        let providers = Providers::new([&spec], Seed(5), Epoch::default()).unwrap();
        let spans = &providers.fault_spans(at(130.0 * YEAR_S))[0];
        assert!(
            (8_000..10_001).contains(&spans.len()),
            "{whose}: {}",
            spans.len()
        );

        let lengths = lengths(spans);
        let [median, mean_min, p90, days, cv, _] = published;
        let share = |numerator: usize| lengths[lengths.len() * numerator / 10] / 60.0;
        // The pages' own lengths are not quite log-normal: the fit's mean and tail differ from theirs.
        assert_near(share(5), median, 0.12, "median");
        assert_near(mean(&lengths) / 60.0, mean_min, 0.25, "mean");
        assert_near(share(9), p90, 0.25, "p90");
        let beginnings: Vec<f64> = spans.iter().map(|span| span.from.as_secs_f64()).collect();
        let between: Vec<f64> = beginnings
            .windows(2)
            .map(|w| (w[1] - w[0]) / 86_400.0)
            .collect();
        assert_near(mean(&between), days, 0.06, "days between beginnings");
        let squares: Vec<f64> = between
            .iter()
            .map(|d| libm::pow(d - mean(&between), 2.0))
            .collect();
        assert_near(
            mean(&squares).sqrt() / mean(&between),
            cv,
            0.25,
            "variation",
        );
    }
}

#[test]
fn availability_by_severity_is_that_of_the_status_pages() {
    for (known, (whose, published)) in known_incidents().iter().zip(PUBLISHED) {
        let spec = spec("one", like(known));
        let specs = vec![&spec; 8];
        let mut failed = 0_u32;
        let mut asked = 0_u32;
        for seed in 0..4 {
            let mut providers =
                Providers::new(specs.clone(), Seed(seed), Epoch::default()).unwrap();
            // A call each twenty minutes for twenty years, to one deployment after the other.
            for n in 0..525_960_u32 {
                let now = at(f64::from(n) * 1_200.0);
                failed += u32::from(fails(&mut providers, now, n.into(), n % 8));
                asked += 1;
            }
        }

        let unavailable = f64::from(failed) / f64::from(asked);
        assert_near(unavailable, 1.0 - published[5], 0.25, whose);
    }
}

#[test]
fn a_provider_fails_everywhere_at_once_and_two_providers_do_not() {
    let full = r#""gap_mean_s": 900, "gap_cv": 2, "duration_median_s": 60, "duration_sigma": 1,
        "degraded_share": 0, "partial_share": 0, "degraded_error_share": 0, "degraded_slowdown": 1,
        "partial_touches": 0"#;
    let (one, two) = (spec("one", full), spec("two", full));
    let mut providers = Providers::new([&one, &one, &two], Seed(2), Epoch::default()).unwrap();
    let spans = providers.fault_spans(at(400_000.0));
    assert_eq!(spans[0], spans[1]);
    assert!(spans[0].len() > 200);

    let mut down = [0_u32; 3];
    let mut both = 0_u32;
    for n in 0..40_000_u32 {
        let now = at(f64::from(n) * 10.0);
        let failed = [0, 1, 2].map(|d| fails(&mut providers, now, n.into(), d));
        assert_eq!(failed[0], failed[1], "at {now}");
        for (count, failed) in down.iter_mut().zip(failed) {
            *count += u32::from(failed);
        }
        both += u32::from(failed[0] && failed[2]);
    }
    let share = |count: u32| f64::from(count) / 40_000.0;
    let independent = share(down[0]) * share(down[2]);
    assert!((0.05..0.2).contains(&share(down[0])), "{down:?}");
    assert!(
        (share(both) - independent).abs() < 0.01,
        "{both}: {independent}"
    );
}

#[test]
fn a_partial_incident_takes_its_share_of_deployments_down_and_a_degraded_one_none() {
    let severity = |degraded: f64, partial: f64| {
        let json = format!(
            r#""gap_mean_s": 100, "gap_cv": 0, "duration_median_s": 100, "duration_sigma": 0,
            "degraded_share": {degraded}, "partial_share": {partial}, "degraded_error_share": 0.1,
            "degraded_slowdown": 3, "partial_touches": 0.3"#
        );
        let spec = spec("one", &json);
        let specs = vec![&spec; 50];
        let mut providers = Providers::new(specs, Seed(4), Epoch::default()).unwrap();
        let mut failed = 0_u32;
        for incident in 0..200_u32 {
            // Each begins after a hundred seconds and lasts as long.
            let now = at(f64::from(incident) * 200.0 + 150.0);
            failed += (0..50)
                .map(|d| u32::from(fails(&mut providers, now, incident.into(), d)))
                .sum::<u32>();
        }
        f64::from(failed) / 10_000.0
    };

    assert!((severity(0.0, 1.0) - 0.3).abs() < 0.03);
    assert!((severity(1.0, 0.0) - 0.1).abs() < 0.02);
    assert!((severity(0.0, 0.0) - 1.0).abs() < 1e-9);
}

#[test]
fn every_known_incident_has_a_source_and_a_date_and_says_what_was_assumed() {
    for known in known_incidents() {
        assert!(
            known.dated.starts_with("20") && known.source.len() > 30,
            "{}",
            known.whose
        );
        assert!(known.assumed.len() > 30, "{}", known.whose);
    }
}

#[test]
fn without_a_likeness_every_number_must_be_given() {
    let spec = spec("one", r#""gap_mean_s": 100"#);

    let error = Providers::new([&spec], Seed(4), Epoch::default())
        .unwrap_err()
        .1
        .to_string();

    assert!(
        error.contains("no `gap_cv`; accepted is it, or `like`"),
        "{error}"
    );
}
