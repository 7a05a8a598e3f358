//! A quota as a whole: what is told of it, and which of its limits is named.

use router::{DeploymentId, Epoch, Instant, RequestId, Seed};

use super::{Quota, QuotaSpec};
use crate::{
    place::Place, prompt_cache::Beginning, reply::ProviderCall, schedule::Origin, wire::Cause,
};

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

const ORIGIN: Origin = Origin {
    seed: Seed(1),
    provider: 0,
    fleet: None,
};

fn quota(json: &str) -> Quota {
    let spec: QuotaSpec = serde_json::from_str(json).unwrap();
    Quota::new(&spec, ORIGIN, Epoch::default(), &Place::default()).unwrap()
}

/// A call of 100 prompt tokens that will be answered with 50.
fn call() -> ProviderCall {
    ProviderCall {
        request: RequestId(0),
        attempt: 0,
        deployment: DeploymentId(0),
        prompt_tokens: 100,
        output_tokens: 50,
        max_tokens: None,
        stream: false,
        beginning: Beginning::default(),
        batch: false,
    }
}

fn charge(quota: &mut Quota, now: Instant) {
    assert!(quota.refusal(now, &call()).is_none());
    quota.charge(&call(), 50, now);
}

#[test]
fn the_share_that_is_used_is_that_of_the_tightest_limit() {
    let mut quota = quota(r#"{"requests_per_minute": 4, "tokens_per_minute": 3000}"#);
    charge(&mut quota, at(0.0));

    // One request of four, and at most 150 tokens of 3,000.
    assert!((quota.used(at(0.0)) - 0.25).abs() < 1e-9);
    for _ in 0..3 {
        charge(&mut quota, at(0.0));
    }
    assert!((quota.used(at(0.0)) - 1.0).abs() < 1e-9);
}

#[test]
fn a_call_fits_again_when_the_last_of_its_limits_has_room() {
    let mut quota = quota(
        r#"{"requests_per_minute": 60, "burst_requests": 1, "tokens_per_minute": 600,
            "burst_tokens": 100, "token_charge": "prompt", "window": "token_bucket"}"#,
    );
    assert_eq!(quota.frees(at(0.0), &call()), Some(at(0.0)));
    charge(&mut quota, at(0.0));

    // A request comes back after a second, a hundred tokens after ten.
    assert_eq!(quota.frees(at(0.0), &call()), Some(at(10.0)));
    let refusal = quota.refusal(at(5.0), &call()).unwrap();
    assert_eq!(refusal.1, Cause::Tokens);
}

#[test]
fn of_limits_that_free_together_the_first_is_named() {
    let mut quota =
        quota(r#"{"requests_per_minute": 1, "tokens_per_minute": 100, "token_charge": "prompt"}"#);
    charge(&mut quota, at(0.0));

    assert_eq!(quota.refusal(at(1.0), &call()).unwrap().1, Cause::Requests);
}

#[test]
fn a_slice_must_have_room_for_a_request() {
    let of = |per_minute: u32| {
        let json = format!(r#"{{"requests_per_minute": {per_minute}, "request_slice_s": 1}}"#);
        let spec: QuotaSpec = serde_json::from_str(&json).unwrap();
        Quota::new(&spec, ORIGIN, Epoch::default(), &Place::default())
    };

    assert!(of(60).is_ok());
    let error = of(59).unwrap_err().to_string();
    assert!(error.contains("request_slice_s"), "{error}");
}

#[test]
fn what_is_left_is_told_of_each_limit_that_there_is() {
    let mut quota = quota(
        r#"{"requests_per_minute": 4, "tokens_per_minute": 3000, "token_charge": "prompt",
            "requests_per_day": 9}"#,
    );
    charge(&mut quota, at(0.0));
    let gauges = quota.gauges(at(0.0));
    let left = |gauge: Option<super::meter::Gauge>| gauge.map(|gauge| gauge.remaining);

    assert_eq!(left(gauges.requests), Some(3));
    assert_eq!(left(gauges.tokens), Some(2_900));
    assert_eq!(left(gauges.output), None);
    assert_eq!(left(gauges.day), Some(8));
}

#[test]
fn what_a_weight_makes_an_answer_cost_beyond_its_reservation_is_charged_at_its_end() {
    let quota = |weight| {
        quota(&format!(
            r#"{{"tokens_per_minute": 3000, "token_charge": "prompt_and_max_tokens",
                "unset_max_tokens": 40, "output_weight": {weight}}}"#
        ))
    };
    let left = |quota: &mut Quota, second| {
        assert!(quota.refusal(at(second), &call()).is_none());
        quota.gauges(at(second)).tokens.map(|gauge| gauge.remaining)
    };
    // Reserved are 100 and 40, whatever becomes of it; 100 and 50 or 5 · 50 are used.
    for (weight, at_the_end) in [(1, 2_860), (5, 2_650)] {
        let mut quota = quota(weight);
        assert!(quota.refusal(at(0.0), &call()).is_none());
        quota.charge(&call(), 50, at(10.0));

        assert_eq!(left(&mut quota, 9.0), Some(2_860));
        assert_eq!(left(&mut quota, 10.0), Some(at_the_end), "weight {weight}");
    }
}

#[test]
fn the_first_attempt_of_a_lowered_time_meets_the_lowered_limit() {
    let mut quota = quota(
        r#"{"tokens_per_minute": 400, "lowered": {"to_share": 0.25, "from_s": 60, "to_s": 120}}"#,
    );

    assert!(quota.refusal(at(59.0), &call()).is_none());
    assert_eq!(quota.refusal(at(61.0), &call()).unwrap().1, Cause::Lowered);
    assert!(quota.refusal(at(120.0), &call()).is_none());
}
