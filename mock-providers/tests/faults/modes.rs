//! Each way to fail does what its name says, when its schedule says, and nothing else.

use std::time::Duration;

use mock_providers::{FaultSpan, Provider, ProviderCall, ProviderSpec};
use router::{DeploymentId, Epoch, ErrorClass, Instant, Outcome, RetryAfter, Seed};

use super::{at, call, failure, provider, status_at};

fn refused(faults: &str) -> String {
    let json = format!(r#"{{"faults": [{faults}]}}"#);
    match serde_json::from_str::<ProviderSpec>(&json) {
        Ok(spec) => Provider::new(&spec, Seed(3), 0, Epoch::default())
            .unwrap_err()
            .to_string(),
        Err(error) => error.to_string(),
    }
}

/// The share of 20,000 requests that fail, one each millisecond from `from_s` on.
fn failing_share(provider: &mut Provider, from_s: f64) -> f64 {
    let fails = |n: u32| {
        let now = at(from_s + f64::from(n) * 0.001);
        failure(&provider.respond(now, &call(u64::from(n), true))).is_some()
    };
    let failed = (0..20_000).map(fails).filter(|&failed| failed).count();
    f64::from(u32::try_from(failed).unwrap()) / 20_000.0
}

#[test]
fn an_outage_fails_everything_from_its_beginning_up_to_its_end() {
    let mut provider = provider(r#"{"outage": {"from_s": 10, "to_s": 20, "status": 502}}"#);

    let met: Vec<_> = [9.9, 10.0, 19.9, 20.0]
        .map(|s| status_at(&mut provider, s, true))
        .into_iter()
        .collect();

    assert_eq!(met, [None, Some(502), Some(502), None]);
}

#[test]
fn the_spans_that_are_drawn_are_the_spans_that_calls_meet() {
    let random = r#"{"outage": {"random": {"gap_mean_s": 30, "gap_cv": 2,
                     "duration_mean_s": 10, "duration_cv": 1.5}}}"#;
    let mut asked_often = provider(random);
    let asked_never = provider(random);

    let spans = asked_never.fault_spans(at(2_000.0));
    assert!(spans.len() > 10, "only {} spans", spans.len());
    let inside = |now: Instant| {
        spans
            .iter()
            .any(|s: &FaultSpan| s.from <= now && now < s.to)
    };
    for step in 0..20_000_u32 {
        let now = at(f64::from(step) * 0.1);
        let fails = failure(&asked_often.respond(now, &call(step.into(), true))).is_some();
        assert_eq!(fails, inside(now), "at {now}");
    }
    assert_eq!(asked_often.fault_spans(at(2_000.0)), spans);
}

#[test]
fn flapping_is_up_for_its_share_of_each_period() {
    let mut provider = provider(r#"{"flapping": {"period_s": 60, "up_share": 0.75}}"#);

    for minute in 0..3 {
        let start = f64::from(minute) * 60.0;
        assert_eq!(status_at(&mut provider, start + 44.9, true), None);
        assert!(status_at(&mut provider, start + 45.1, true).is_some());
        assert!(status_at(&mut provider, start + 59.9, true).is_some());
    }
}

#[test]
fn a_brownout_multiplies_times_and_fails_a_share() {
    let mut slow = provider(r#"{"brownout": {"from_s": 0, "slowdown": 3}}"#);
    let reply = slow.respond(at(1.0), &call(0, true));
    assert_eq!(reply.total_after, Duration::from_millis(600));

    let mut failing = provider(r#"{"brownout": {"slowdown": 1, "error_share": 0.3}}"#);
    // Four standard errors of a share of 0.3 in 20,000.
    assert!((failing_share(&mut failing, 0.0) - 0.3).abs() < 0.013);
}

#[test]
fn slow_downs_of_two_faults_multiply() {
    let brownout = r#"{"brownout": {"slowdown": 2}}"#;
    let mut provider = provider(&format!("{brownout}, {brownout}"));

    assert_eq!(
        provider.respond(at(0.0), &call(0, true)).total_after,
        Duration::from_millis(800)
    );
}

#[test]
fn an_error_rate_is_its_share_with_its_status() {
    let mut provider = provider(r#"{"error_rate": {"share": 0.1, "status": 503}}"#);

    assert!((failing_share(&mut provider, 0.0) - 0.1).abs() < 0.009);
    let failures = (0..200).filter_map(|n| failure(&provider.respond(at(30.0), &call(n, true))));
    assert!(failures.into_iter().all(|f| f.status == Some(503)));
}

#[test]
fn bursts_are_bad_times_with_their_own_share() {
    let bursts = r#"{"bursty": {"good_mean_s": 10, "bad_mean_s": 10, "bad_error_share": 1}}"#;
    let mut asked = provider(bursts);
    let spans = provider(bursts).fault_spans(at(200.0));

    assert!(!spans.is_empty());
    for step in 0..2_000_u32 {
        let now = at(f64::from(step) * 0.1);
        let bad = spans.iter().any(|s| s.from <= now && now < s.to);
        assert_eq!(
            failure(&asked.respond(now, &call(step.into(), true))).is_some(),
            bad,
            "at {now}"
        );
    }
}

#[test]
fn a_storm_answers_429_with_the_hint_it_was_given() {
    let hint = |hint: &str| {
        let mut provider = provider(&format!(r#"{{"rate_limit_storm": {{"hint": {hint}}}}}"#));
        let failure = failure(&provider.respond(at(5.0), &call(0, true))).unwrap();
        assert_eq!(failure.status, Some(429));
        failure.retry_after
    };

    assert_eq!(hint(r#"{"seconds": 7}"#), Some(RetryAfter::Seconds(7)));
    assert_eq!(hint(r#"{"seconds": -1}"#), Some(RetryAfter::Seconds(-1)));
    assert_eq!(hint(r#"{"millis": 1500}"#), Some(RetryAfter::Millis(1_500)));
    assert_eq!(hint(r#""unreadable""#), Some(RetryAfter::Unreadable));
    assert_eq!(hint(r#""none""#), None);
    let Some(RetryAfter::Date(date)) = hint(r#"{"date_in_s": 3}"#) else {
        panic!("no date")
    };
    assert_eq!(date, at(8.0));
}

#[test]
fn a_hang_never_ends_by_itself() {
    let mut provider = provider(r#"{"hang": {"from_s": 1}}"#);

    assert!(failure(&provider.respond(at(0.5), &call(0, true))).is_none());
    assert_eq!(
        provider.respond(at(1.5), &call(1, true)).total_after,
        Duration::MAX
    );
}

#[test]
fn a_stream_breaks_after_its_tokens_and_says_how_many_got_through() {
    let mut provider = provider(r#"{"mid_stream": {"after_tokens": 5}}"#);
    let reply = provider.respond(at(0.0), &call(0, true));
    let broken = failure(&reply).unwrap();

    assert!(broken.is_mid_stream());
    assert_eq!(broken.tokens_delivered, 5);
    assert_eq!(broken.first_token_after, Some(Duration::from_millis(100)));
    // The first token and four more.
    assert_eq!(reply.total_after, Duration::from_millis(140));
    let short = ProviderCall {
        output_tokens: 5,
        ..call(1, true)
    };
    assert!(failure(&provider.respond(at(1.0), &short)).is_none());
}

#[test]
fn a_stalled_stream_says_no_more_and_ends_as_if_all_were_well() {
    let stall = r#"{"stall": {"after_tokens": 5, "for_s": 60, "keep_alive_s": 5}}"#;
    let mut provider = provider(stall);
    let reply = provider.respond(at(0.0), &call(0, true));

    let Outcome::Success {
        usage,
        first_token_after,
    } = reply.outcome
    else {
        panic!("{reply:?}")
    };
    assert_eq!(usage.completion_tokens, 5);
    assert_eq!(first_token_after, Some(Duration::from_millis(100)));
    let silence = reply.stall.unwrap();
    assert_eq!(silence.from, Duration::from_millis(140));
    assert_eq!(silence.keep_alive, Some(Duration::from_secs(5)));
    assert_eq!(reply.total_after, Duration::from_millis(60_140));
    let whole = ProviderCall {
        stream: false,
        ..call(1, true)
    };
    assert_eq!(provider.respond(at(1.0), &whole).stall, None);
}

#[test]
fn a_stream_may_stall_before_its_first_token() {
    let mut provider = provider(r#"{"stall": {"for_s": 10}}"#);
    let reply = provider.respond(at(0.0), &call(0, true));

    let Outcome::Success {
        usage,
        first_token_after,
    } = reply.outcome
    else {
        panic!("{reply:?}")
    };
    assert_eq!((usage.completion_tokens, first_token_after), (0, None));
}

#[test]
fn a_bad_key_is_refused_from_its_moment_on() {
    let mut provider = provider(r#"{"bad_key": {"from_s": 60}}"#);

    assert_eq!(status_at(&mut provider, 59.0, true), None);
    assert_eq!(status_at(&mut provider, 60.0, true), Some(401));
    assert_eq!(status_at(&mut provider, 6_000.0, true), Some(401));
}

#[test]
fn content_is_refused_by_its_length_and_by_policy_and_neither_looks_like_an_outage() {
    let mut short = provider(r#"{"content": {"context_window_tokens": 99}}"#);
    let too_long = failure(&short.respond(at(0.0), &call(0, true))).unwrap();
    assert_eq!(too_long.class, ErrorClass::ContextWindowExceeded);
    assert_eq!(too_long.status, Some(400));

    let mut strict = provider(r#"{"content": {"policy_share": 1}}"#);
    let refused = failure(&strict.respond(at(0.0), &call(0, true))).unwrap();
    assert_eq!(refused.class, ErrorClass::ContentPolicyViolation);
    assert_eq!(refused.status, Some(400));
}

#[test]
fn a_content_that_is_refused_is_refused_again_in_every_attempt_anywhere() {
    let mut strict = provider(r#"{"content": {"policy_share": 0.5}}"#);
    let mut refused = 0;
    for request in 0..1_000 {
        let mut is_refused = |attempt, deployment| {
            let call = ProviderCall {
                attempt,
                deployment: DeploymentId(deployment),
                ..call(request, true)
            };
            failure(&strict.respond(at(0.0), &call)).is_some()
        };

        let first = is_refused(0, 0);
        assert_eq!((first, first), (is_refused(1, 0), is_refused(2, 9)));
        refused += i32::from(first);
    }
    assert!((420..580).contains(&refused), "{refused} of 1,000");
}

#[test]
fn the_first_fault_in_the_list_that_does_not_pass_decides() {
    let outage = r#"{"outage": {"status": 500}}"#;
    let bad_key = r#"{"bad_key": {}}"#;

    assert_eq!(
        status_at(&mut provider(&format!("{outage}, {bad_key}")), 0.0, true),
        Some(500)
    );
    assert_eq!(
        status_at(&mut provider(&format!("{bad_key}, {outage}")), 0.0, true),
        Some(401)
    );
}

#[test]
fn numbers_that_make_no_sense_are_refused_with_what_would_be_accepted() {
    for faults in [
        r#"{"outage": {"from_s": 20, "to_s": 10}}"#,
        r#"{"outage": {"from_s": -1}}"#,
        r#"{"error_rate": {"share": 1.5}}"#,
        r#"{"brownout": {"slowdown": 0}}"#,
        r#"{"flapping": {"period_s": 0, "up_share": 0.5}}"#,
        r#"{"flapping": {"period_s": 60, "up_share": 1}}"#,
        r#"{"hang": {"share": -0.1}}"#,
    ] {
        let message = refused(faults);
        assert!(message.contains("accepted"), "{faults}: {message}");
    }
    for faults in [r#"{"outrage": {}}"#, r#"{"outage": {"from": 3}}"#] {
        let message = refused(faults);
        assert!(message.contains("expected"), "{faults}: {message}");
    }
}
