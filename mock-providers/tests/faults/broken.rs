//! Exchanges and streams that break, each as LiteLLM's client reported it when it was asked over HTTP
//! (both versions); drips, lies, removed models; each by rate, by schedule, or one by one.

use std::time::Duration;

use mock_providers::{Break, Manner, Provider, ProviderSpec, Reply, retry_after};
use router::{Epoch, ErrorClass, Outcome, Reached, RetryAfter, Seed};

use super::{at, call, failure, provider, provider_with, status_at};

/// Class, status and how far it came; `None`: an answer.
type Seen = Option<(ErrorClass, Option<u16>, Reached)>;

fn seen(faults: &str, stream: bool) -> (Seen, Reply) {
    let reply = provider(faults).respond(at(1.0), &call(0, stream));
    let seen = failure(&reply).map(|f| (f.class, f.status, f.reached()));
    (seen, reply)
}

const SERVER: Seen = Some((ErrorClass::InternalServer, Some(500), Reached::Nothing));
/// A frame that means nothing to the client.
const FRAME: Seen = Some((ErrorClass::ApiConnection, None, Reached::Headers));

#[test]
fn an_exchange_that_breaks_is_what_litellm_makes_of_it() {
    let object = Some((ErrorClass::Api, None, Reached::Nothing));
    for (how, whole, streamed) in [
        ("refused", SERVER, SERVER),
        ("reset", SERVER, SERVER),
        ("tls", SERVER, SERVER),
        ("error_object", object, FRAME),
        ("malformed", SERVER, FRAME),
        ("empty", SERVER, None),
        ("not_json", SERVER, None),
        ("no_done", None, None),
    ] {
        let fault = format!(r#"{{"broken": {{"how": "{how}", "after_ms": 30}}}}"#);
        for (stream, expected) in [(false, whole), (true, streamed)] {
            let (found, reply) = seen(&fault, stream);

            assert_eq!(found, expected, "{how}, stream: {stream}");
            let takes = if how == "no_done" { 200 } else { 30 };
            assert_eq!(reply.total_after, Duration::from_millis(takes), "{how}");
            assert!(matches!(reply.manner, Manner::Broken(_)), "{how}");
        }
    }
}

#[test]
fn an_empty_stream_is_an_answer_without_a_word() {
    let (_, reply) = seen(r#"{"broken": {"how": "empty"}}"#, true);

    let Outcome::Success {
        usage,
        first_token_after,
    } = reply.outcome
    else {
        panic!("{reply:?}")
    };
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (100, 0));
    assert_eq!(first_token_after, None);
}

#[test]
fn an_error_object_with_a_known_word_has_its_class() {
    let object = |class: &str, stream| {
        let fault = format!(r#"{{"broken": {{"how": "error_object", "class": "{class}"}}}}"#);
        seen(&fault, stream).0
    };

    let limit = ErrorClass::RateLimit;
    assert_eq!(
        object("rate_limit", false),
        Some((limit, Some(429), Reached::Nothing))
    );
    assert_eq!(
        object("rate_limit", true),
        Some((limit, None, Reached::Headers))
    );
    assert_eq!(object("internal_server", false), SERVER);
    // Inside a stream the code says nothing.
    assert_eq!(object("internal_server", true), FRAME);
}

#[test]
fn a_stream_that_breaks_is_what_litellm_makes_of_it() {
    let content = |class, status| Some((class, status, Reached::Content));
    let connection = ErrorClass::ApiConnection;
    for (how, whole, streamed) in [
        // With a status it is a cut, which 1.92 takes for a short answer.
        ("cut", SERVER, content(connection, Some(500))),
        ("no_end", None, content(connection, Some(500))),
        ("malformed", SERVER, content(connection, None)),
        (
            "error_event",
            SERVER,
            content(ErrorClass::InternalServer, Some(500)),
        ),
    ] {
        let fault = format!(r#"{{"mid_stream": {{"how": "{how}", "after_tokens": 5}}}}"#);
        assert_eq!(seen(&fault, false).0, whole, "{how}");
        let (found, reply) = seen(&fault, true);
        assert_eq!(found, streamed, "{how}");
        assert_eq!(failure(&reply).unwrap().tokens_delivered, 5, "{how}");
        assert_eq!(reply.total_after, Duration::from_millis(140), "{how}");
    }
}

#[test]
fn a_stream_may_lose_its_end_after_its_last_token_and_others_may_not() {
    let last = |how: &str, length: &str| {
        let fault = format!(r#"{{"mid_stream": {{"how": "{how}", {length}}}}}"#);
        failure(&seen(&fault, true).1).map(|failure| failure.tokens_delivered)
    };

    assert_eq!(last("no_end", r#""after_share": 1"#), Some(11));
    assert_eq!(last("no_end", r#""after_tokens": 99"#), Some(11));
    assert_eq!(last("silence", r#""after_tokens": 11"#), Some(11));
    assert_eq!(last("cut", r#""after_tokens": 11"#), None);
}

#[test]
fn a_stream_that_falls_silent_never_ends_and_keeps_its_slot_until_it_is_given_up() {
    let mut provider = provider_with(
        r#""max_concurrent": 1, "faults": [{"scripted": {"steps":
            [{"mid_stream": {"how": "silence", "after_tokens": 5}}]}}]"#,
    );
    let silent = provider.respond(at(0.0), &call(0, true));

    assert_eq!(silent.total_after, Duration::MAX);
    assert_eq!(failure(&silent).unwrap().tokens_delivered, 5);
    assert_eq!(silent.stall.unwrap().from, Duration::from_millis(140));
    provider.abandon(at(30.0), &call(0, true));
    let next = provider.respond(at(30.0), &call(1, true));
    assert_eq!(next.total_after, Duration::from_millis(200));
}

#[test]
fn an_answer_that_drips_takes_its_time_for_each_token() {
    let (_, reply) = seen(r#"{"slow_drip": {"per_token_ms": 4000}}"#, true);

    let Outcome::Success {
        first_token_after, ..
    } = reply.outcome
    else {
        panic!("{reply:?}")
    };
    assert_eq!(first_token_after, Some(Duration::from_millis(100)));
    assert_eq!(reply.total_after, Duration::from_millis(40_100));
}

#[test]
fn a_model_is_gone_from_its_moment_on_and_back_at_another() {
    let mut provider = provider(r#"{"model_gone": {"from_s": 60, "to_s": 90}}"#);

    let met = [59.9, 60.0, 89.9, 90.0].map(|s| status_at(&mut provider, s, false));

    assert_eq!(met, [None, Some(404), Some(404), None]);
}

#[test]
fn a_wrong_hint_stands_on_the_quotas_429_and_on_the_errors_after_it() {
    let now = at(100.0);
    for (hint, expected) in [
        (r#"{"seconds": 0}"#, Some(RetryAfter::Seconds(0))),
        (r#"{"seconds": -30}"#, Some(RetryAfter::Seconds(-30))),
        (r#"{"seconds": 86400}"#, Some(RetryAfter::Seconds(86_400))),
        (
            r#"{"seconds": 9223372036854775807}"#,
            Some(RetryAfter::Seconds(i64::MAX)),
        ),
        (r#"{"millis": 250}"#, Some(RetryAfter::Millis(250))),
        (r#"{"date_in_s": 40}"#, Some(RetryAfter::Date(at(140.0)))),
        (r#"{"date_in_s": -40}"#, Some(RetryAfter::Date(at(60.0)))),
        (r#"{"date_in_s": -400}"#, Some(RetryAfter::Date(at(0.0)))),
        (r#""unreadable""#, Some(RetryAfter::Unreadable)),
        (r#""none""#, None),
    ] {
        let lie = format!(r#"{{"wrong_hint": {{"hint": {hint}}}}}"#);
        for rest in [
            format!(r#""quota": {{"requests_per_minute": 1}}, "faults": [{lie}]"#),
            format!(r#""faults": [{lie}, {{"outage": {{"from_s": 100}}}}]"#),
        ] {
            let mut provider = provider_with(&rest);
            let _ = provider.respond(at(99.9), &call(0, false));
            let reply = provider.respond(now, &call(1, false));
            let wire = provider.on_wire(now, &call(1, false), &reply);

            assert_eq!(failure(&reply).unwrap().retry_after, expected, "{rest}");
            assert_eq!(retry_after(&wire.headers), expected, "{rest}");
        }
    }
    // An exchange without headers has none, and an answer none either.
    let silent = r#"{"wrong_hint": {"hint": {"seconds": 5}}}, {"broken": {"how": "reset"}}"#;
    assert_eq!(failure(&seen(silent, false).1).unwrap().retry_after, None);
    assert_eq!(
        seen(r#"{"wrong_hint": {"hint": {"seconds": 5}}}"#, false).0,
        None
    );
}

#[test]
fn a_script_meets_attempts_one_by_one() {
    let steps = r#"[null, {"outage": {"status": 502}}, {"model_gone": {}},
        {"rate_limit_storm": {"hint": {"seconds": 9}}}, {"outage": {"from_s": 1000}}, {"broken":
        {"how": "refused"}}]"#;
    let met = |repeat: bool| {
        let mut provider = provider(&format!(
            r#"{{"scripted": {{"steps": {steps}, "repeat": {repeat}}}}}"#
        ));
        (0..9)
            .map(|n| status_at(&mut provider, f64::from(n), false))
            .collect::<Vec<_>>()
    };

    let once = [None, Some(502), Some(404), Some(429), None, Some(500)];
    assert_eq!(met(false)[..6], once);
    assert_eq!(met(false)[6..], [None, None, None]);
    assert_eq!(met(true)[6..], [None, Some(502), Some(404)]);
}

#[test]
fn what_a_fault_before_it_decides_does_not_move_a_script_on() {
    let mut provider = provider(
        r#"{"outage": {"to_s": 10}}, {"scripted": {"steps": [{"outage": {"status": 502}}]}}"#,
    );

    let met = [0.0, 5.0, 10.0, 11.0].map(|s| status_at(&mut provider, s, false));

    assert_eq!(met, [Some(503), Some(503), Some(502), None]);
}

#[test]
fn every_way_to_break_has_its_rate_and_its_schedule() {
    let faults = [
        r#""broken": {"how": "refused", SHARE"#,
        r#""broken": {"how": "error_object", SHARE"#,
        r#""mid_stream": {"how": "cut", "after_tokens": 2, SHARE"#,
        r#""mid_stream": {"how": "silence", "after_share": 0.5, SHARE"#,
        r#""slow_drip": {"per_token_ms": 500, SHARE"#,
        r#""hang": {SHARE"#,
        r#""stall": {"for_s": 60, SHARE"#,
        r#""rate_limit_storm": {SHARE"#,
        r#""error_rate": {SHARE"#,
    ];
    for fault in faults {
        let whole = Duration::from_millis(200);
        let keys = r#""share": 0.3, "every": {"period_s": 20, "on_s": 10}}"#;
        let mut provider = provider(&format!("{{{}}}", fault.replace("SHARE", keys)));
        let (mut struck_on, mut struck_off) = (0_u32, 0_u32);
        for n in 0..40_000_u32 {
            let second = f64::from(n) * 0.01;
            let call = call(n.into(), true);
            let reply = provider.respond(at(second), &call);
            let struck = failure(&reply).is_some() || reply.total_after != whole;
            if n % 2_000 < 1_000 {
                struck_on += u32::from(struck);
            } else {
                struck_off += u32::from(struck);
            }
        }

        // Five standard errors of a share of 0.3 in 20,000.
        let share = f64::from(struck_on) / 20_000.0;
        assert!((share - 0.3).abs() < 0.017, "{fault}: {share}");
        assert_eq!(struck_off, 0, "{fault}");
    }
}

#[test]
fn a_broken_exchange_is_printed_as_it_breaks() {
    let printed = |fault: &str, stream: bool| {
        let mut provider = provider(fault);
        let call = call(0, stream);
        let reply = provider.respond(at(1.0), &call);
        let wire = provider.on_wire(at(1.0), &call, &reply);
        let Manner::Broken(how) = reply.manner else {
            panic!("{reply:?}")
        };
        (how, wire.status, wire.body)
    };
    let broken = |how: &str| printed(&format!(r#"{{"broken": {{"how": "{how}"}}}}"#), false);
    let cut = |how: &str| {
        printed(
            &format!(r#"{{"mid_stream": {{"how": "{how}", "after_tokens": 3}}}}"#),
            true,
        )
    };

    assert_eq!(broken("refused"), (Break::Refused, None, None));
    assert_eq!(broken("reset"), (Break::Reset, None, None));
    assert_eq!(broken("tls"), (Break::Tls, None, None));
    assert_eq!(
        broken("empty"),
        (Break::Empty, Some(200), Some(String::new()))
    );
    assert_eq!(broken("no_done"), (Break::NoDone, Some(200), None));
    let (how, status, page) = broken("not_json");
    assert_eq!((how, status), (Break::NotJson, Some(200)));
    assert!(page.unwrap().starts_with("<html>"));
    for (how, status, body) in [broken("malformed"), cut("malformed")] {
        assert_eq!((how, status), (Break::Malformed, Some(200)));
        assert!(serde_json::from_str::<serde_json::Value>(&body.unwrap()).is_err());
    }
    for (how, status, body) in [broken("error_object"), cut("error_event")] {
        assert_eq!((how, status), (Break::ErrorObject, Some(200)));
        let body: serde_json::Value = serde_json::from_str(&body.unwrap()).unwrap();
        assert!(body["error"]["message"].is_string());
    }
    assert_eq!(cut("cut"), (Break::Cut, Some(200), None));
    assert_eq!(cut("no_end"), (Break::NoEnd, Some(200), None));
    assert_eq!(cut("silence"), (Break::Silence, Some(200), None));
    assert_eq!(
        printed(r#"{"hang": {}}"#, true),
        (Break::Silence, None, None)
    );
}

#[test]
fn an_error_object_in_the_place_of_an_answer_has_its_status_as_a_number() {
    let code = |settings: &str| {
        let fault = format!(r#"{{"broken": {{"how": "error_object"{settings}}}}}"#);
        let mut provider = provider(&fault);
        let call = call(0, false);
        let reply = provider.respond(at(1.0), &call);
        let body = provider.on_wire(at(1.0), &call, &reply).body.unwrap();
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        body["error"]["code"].clone()
    };

    assert_eq!(code(r#", "class": "rate_limit""#), 429);
    assert_eq!(code(r#", "class": "internal_server""#), 500);
    assert_eq!(code(""), serde_json::Value::Null);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (fault, says) in [
        (
            r#"{"broken": {"how": "refused", "class": "rate_limit"}}"#,
            "`class`",
        ),
        (
            r#"{"mid_stream": {"how": "cut", "after_tokens": 1, "class": "timeout"}}"#,
            "`class`",
        ),
        (
            r#"{"mid_stream": {"how": "cut", "after_share": 1}}"#,
            "after_share is 1",
        ),
        (r#"{"slow_drip": {"per_token_ms": 0}}"#, "per_token_ms is 0"),
        (r#"{"scripted": {"steps": []}}"#, "no step"),
        (
            r#"{"scripted": {"steps": [null, {"error_rate": {"share": 2}}]}}"#,
            "faults[0].scripted.steps[1].error_rate.share is 2",
        ),
    ] {
        let json = format!(
            r#"{{"latency": {{"first_token": {{"constant": {{"ms": 1}}}}}}, "faults": [{fault}]}}"#
        );
        let spec: ProviderSpec = serde_json::from_str(&json).unwrap();
        let error = Provider::new(&spec, Seed(3), 0, Epoch::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(says) && error.contains("accepted is"),
            "{fault}: {error}"
        );
    }
    for fault in [r#"{"broken": {}}"#, r#"{"broken": {"how": "somehow"}}"#] {
        let json = format!(r#"{{"faults": [{fault}]}}"#);
        serde_json::from_str::<ProviderSpec>(&json).unwrap_err();
    }
}
