//! What is written in a scenario: presets and what overrides them, and every kind of mistake with
//! the key, what was found, and what would be accepted.

use mock_providers::{
    Provider, ProviderSpec, QuotaSpec, SpecError, TokenCharge, WindowKind,
    dist::{Constant, Distribution, Gamma, LogNormal},
};
use router::{Epoch, Seed};

fn spec(json: &str) -> ProviderSpec {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn build(spec: &ProviderSpec) -> Result<Provider, SpecError> {
    Provider::new(spec, Seed(1), 0, Epoch::default())
}

#[test]
fn what_is_given_beside_a_preset_overrides_it_and_the_rest_stays() {
    let given = spec(
        r#"{"preset": "azure-payg",
            "latency": {"per_output_token": {"constant": {"ms": 5}}},
            "quota": {"requests_per_minute": 600, "tokens_per_minute": 100000}}"#,
    );
    let preset = spec(r#"{"preset": "azure-payg", "quota": {"tokens_per_minute": 1}}"#);

    let resolved = given.resolve().unwrap();

    let latency = resolved.latency.unwrap();
    assert_eq!(
        latency.per_output_token,
        Some(Distribution::Constant(Constant { ms: 5.0 }))
    );
    assert_eq!(
        latency.first_token,
        preset.resolve().unwrap().latency.unwrap().first_token
    );
    let quota = resolved.quota.unwrap();
    assert_eq!(quota.window, Some(WindowKind::FixedMinute));
    assert_eq!(quota.token_charge, Some(TokenCharge::PromptAndMaxTokens));
    assert!(quota.request_slice_s.is_some());
}

#[test]
fn what_belongs_to_a_presets_window_or_charge_goes_with_it() {
    let given = spec(
        r#"{"preset": "bedrock",
            "quota": {"tokens_per_minute": 100000, "token_charge": "prompt"}}"#,
    );
    let azure = spec(
        r#"{"preset": "azure-payg",
            "quota": {"requests_per_minute": 600, "window": "token_bucket"}}"#,
    );

    build(&given).unwrap();
    build(&azure).unwrap();

    let quota = given.resolve().unwrap().quota.unwrap();
    assert_eq!((quota.settles, quota.unset_max_tokens), (None, None));
    assert_eq!(
        azure.resolve().unwrap().quota.unwrap().request_slice_s,
        None
    );
}

#[test]
fn a_preset_without_a_limit_has_no_quota_and_its_resolved_form_builds_too() {
    let resolved = spec(r#"{"preset": "bedrock"}"#).resolve().unwrap();

    assert_eq!(resolved.quota, None);
    build(&resolved).unwrap();
}

#[test]
fn a_spec_survives_being_written_and_read() {
    let given = spec(
        r#"{"latency": {"first_token": {"mixture": [
                {"weight": 1, "of": {"gamma": {"mean_ms": 5, "cv": 1}}},
                {"weight": 1, "of": {"empirical": {"values_ms": [1, 2]}}}]}},
            "max_concurrent": 4,
            "faults": [{"outage": {"every": {"period_s": 60, "on_s": 5}, "class": "bad_gateway"}},
                       {"rate_limit_storm": {"hint": {"seconds": -1}}}]}"#,
    );

    let written = serde_json::to_string(&given).unwrap();

    assert_eq!(spec(&written), given);
}

const LATENCY: &str = r#""latency": {"first_token": {"constant": {"ms": 1}}}"#;

/// Builds each spec, and holds the message to name what the case expects and what is accepted.
fn assert_refused(cases: &[(String, &str)]) {
    for (json, expected) in cases {
        let message = build(&spec(json)).expect_err(json).to_string();
        assert!(message.contains(expected), "{json}\n{message}");
        assert!(message.contains("accepted is"), "{message}");
    }
}

#[test]
fn mistakes_in_latencies_are_refused_with_key_found_and_accepted() {
    let first_token =
        |distribution: &str| format!(r#"{{"latency": {{"first_token": {distribution}}}}}"#);

    assert_refused(&[
        ("{}".to_owned(), "latency.first_token is missing"),
        (
            r#"{"preset": "opnai"}"#.to_owned(),
            "did you mean `openai`?",
        ),
        (
            first_token(r#"{"constant": {"ms": -1}}"#),
            "latency.first_token.constant.ms is -1",
        ),
        (
            first_token(r#"{"log_normal": {"median_ms": 0, "sigma": 1}}"#),
            "median_ms is 0",
        ),
        (
            first_token(r#"{"log_normal": {"median_ms": 9, "sigma": 6}}"#),
            "sigma is 6",
        ),
        (
            first_token(r#"{"log_normal": {"median_ms": 9}}"#),
            "another set of keys",
        ),
        (
            first_token(r#"{"log_normal": {"p50_ms": 9, "p95_ms": 8}}"#),
            "p95_ms is 8",
        ),
        (
            first_token(r#"{"gamma": {"mean_ms": 0, "cv": 1}}"#),
            "gamma.mean_ms is 0",
        ),
        (
            first_token(r#"{"gamma": {"mean_ms": 1, "cv": -1}}"#),
            "gamma.cv is -1",
        ),
        (first_token(r#"{"mixture": []}"#), "weights that sum to 0"),
        (
            first_token(r#"{"mixture": [{"weight": 0, "of": {"constant": {"ms": 1}}}]}"#),
            "weights that sum to 0",
        ),
        (
            first_token(r#"{"mixture": [{"weight": -1, "of": {"constant": {"ms": 1}}}]}"#),
            "mixture[0].weight is -1",
        ),
        (
            first_token(r#"{"empirical": {}}"#),
            "either values_ms or quantiles",
        ),
        (
            first_token(r#"{"empirical": {"values_ms": []}}"#),
            "one value or more",
        ),
        (
            first_token(r#"{"empirical": {"values_ms": [1, -2]}}"#),
            "values_ms[1].ms is -2",
        ),
        (
            first_token(r#"{"empirical": {"quantiles": [{"share": 0.5, "ms": 1}]}}"#),
            "two points or more",
        ),
        (
            first_token(
                r#"{"empirical": {"quantiles": [{"share": 0.5, "ms": 2}, {"share": 0.5, "ms": 3}]}}"#,
            ),
            "more than the share before",
        ),
        (
            first_token(
                r#"{"empirical": {"quantiles": [{"share": 0.5, "ms": 2}, {"share": 0.9, "ms": 1}]}}"#,
            ),
            "no less than the value before",
        ),
    ]);
}

#[test]
fn mistakes_in_quotas_are_refused_with_key_found_and_accepted() {
    let quota = |keys: &str| format!(r#"{{{LATENCY}, "quota": {{{keys}}}}}"#);

    assert_refused(&[
        (quota(r#""window": "sliding""#), "no limit"),
        (
            quota(r#""requests_per_minute": 0"#),
            "quota.requests_per_minute is 0",
        ),
        (
            quota(r#""tokens_per_minute": 0"#),
            "quota.tokens_per_minute is 0",
        ),
        (
            quota(r#""requests_per_minute": 9, "burst_requests": 3"#),
            "`burst_requests`",
        ),
        (
            quota(r#""requests_per_minute": 9, "burst_tokens": 3"#),
            "`burst_tokens`",
        ),
        (
            quota(r#""requests_per_minute": 9, "token_charge": "prompt""#),
            "`token_charge`",
        ),
        (
            quota(r#""tokens_per_minute": 9, "settles": true"#),
            "`settles`",
        ),
        (
            quota(r#""tokens_per_minute": 9, "unset_max_tokens": 3"#),
            "`unset_max_tokens`",
        ),
        (
            quota(r#""tokens_per_minute": 9, "request_slice_s": 3"#),
            "`request_slice_s`",
        ),
        (
            quota(r#""requests_per_minute": 9, "request_slice_s": 1"#),
            "request_slice_s is 1",
        ),
        (
            quota(r#""requests_per_minute": 9, "request_slice_s": 61"#),
            "request_slice_s is 61",
        ),
        (
            quota(r#""requests_per_minute": 9, "rejection_ms": -1"#),
            "rejection_ms is -1",
        ),
        (
            format!(r#"{{{LATENCY}, "max_concurrent": 0}}"#),
            "max_concurrent is 0",
        ),
    ]);
}

#[test]
fn mistakes_in_faults_are_refused_with_key_found_and_accepted() {
    let fault =
        |fault: &str| format!(r#"{{{LATENCY}, "faults": [{{"hang": {{}}}}, {{{fault}}}]}}"#);

    assert_refused(&[
        (
            fault(r#""outage": {"from_s": 5, "to_s": 5}"#),
            "faults[1].outage.to_s is 5",
        ),
        (
            fault(r#""outage": {"status": 200}"#),
            "faults[1].outage.status is 200",
        ),
        (
            fault(r#""outage": {"status": 500, "class": "api"}"#),
            "both `status` and `class`",
        ),
        (
            fault(r#""outage": {"every": {"period_s": 0, "on_s": 1}}"#),
            "every.period_s is 0",
        ),
        (
            fault(r#""outage": {"every": {"period_s": 5, "on_s": 6}}"#),
            "every.on_s is 6",
        ),
        (
            fault(
                r#""outage": {"random": {"gap_mean_s": 0, "gap_cv": 1,
                                         "duration_mean_s": 1, "duration_cv": 1}}"#,
            ),
            "random.gap_mean_s is 0",
        ),
        (
            fault(
                r#""outage": {"every": {"period_s": 9, "on_s": 6},
                              "random": {"gap_mean_s": 1, "gap_cv": 1,
                                         "duration_mean_s": 1, "duration_cv": 1}}"#,
            ),
            "both `every` and `random`",
        ),
        (
            fault(r#""brownout": {"slowdown": 0.5}"#),
            "brownout.slowdown is 0.5",
        ),
        (
            fault(r#""mid_stream": {}"#),
            "either after_tokens or after_share",
        ),
        (
            fault(r#""mid_stream": {"after_share": 1}"#),
            "after_share is 1",
        ),
        (
            fault(r#""content": {}"#),
            "policy_share, context_window_tokens or both",
        ),
        (
            fault(r#""content": {"context_window_tokens": 0}"#),
            "context_window_tokens is 0",
        ),
        (
            fault(r#""bursty": {"good_mean_s": 0, "bad_mean_s": 1, "bad_error_share": 1}"#),
            "bursty.good_mean_s is 0",
        ),
    ]);
}

#[test]
fn numbers_that_are_none_are_refused_everywhere() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let with = |distribution| {
            let mut spec = spec(r#"{"preset": "openai", "latency": {}}"#);
            spec.latency.as_mut().unwrap().first_token = Some(distribution);
            build(&spec)
        };
        let log_normal = |median_ms, sigma| LogNormal {
            median_ms: Some(median_ms),
            sigma: Some(sigma),
            ..LogNormal::default()
        };

        assert!(with(Distribution::Constant(Constant { ms: number })).is_err());
        assert!(
            with(Distribution::Gamma(Gamma {
                mean_ms: number,
                cv: 1.0
            }))
            .is_err()
        );
        assert!(
            with(Distribution::Gamma(Gamma {
                mean_ms: 1.0,
                cv: number
            }))
            .is_err()
        );
        assert!(with(Distribution::LogNormal(log_normal(number, 1.0))).is_err());
        assert!(with(Distribution::LogNormal(log_normal(1.0, number))).is_err());
        let slice = QuotaSpec {
            requests_per_minute: Some(60),
            request_slice_s: Some(number),
            ..QuotaSpec::default()
        };
        let mut sliced = spec(r#"{"preset": "generic"}"#);
        sliced.quota = Some(QuotaSpec {
            window: Some(WindowKind::Sliding),
            ..slice
        });
        assert!(build(&sliced).is_err());
    }
}

#[test]
fn unknown_keys_are_refused_in_every_block() {
    for json in [
        r#"{"presets": "openai"}"#,
        r#"{"latency": {"first": {}}}"#,
        r#"{"latency": {"first_token": {"lognormal": {}}}}"#,
        r#"{"quota": {"rpm": 5}}"#,
        r#"{"faults": [{"outage": {"start_s": 5}}]}"#,
        r#"{"faults": [{"hang": {"every": {"period_s": 5, "on_s": 1, "off_s": 4}}}]}"#,
    ] {
        let error = serde_json::from_str::<ProviderSpec>(json)
            .expect_err(json)
            .to_string();
        assert!(error.contains("unknown"), "{json}: {error}");
    }
}
