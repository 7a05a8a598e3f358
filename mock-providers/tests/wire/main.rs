//! What a reply looks like on the wire: the hint that the router gets is the one in the headers, and
//! the error's words make LiteLLM see the class that the reply has.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

use mock_providers::{
    Manner, Provider, ProviderCall, ProviderSpec, Reply, WireReply, presets, retry_after,
};
use router::{Epoch, ErrorBody, Failure, Instant, Outcome, Profile, Seed};
use serde_json::Value;

use crate::support::{at, call};

/// Tuesday, 26 March 2024, 19:59:17.
const EPOCH: Epoch = Epoch::from_unix_seconds(1_711_483_157);

fn provider(json: &str) -> Provider {
    let spec: ProviderSpec = serde_json::from_str(json).unwrap();
    Provider::new(&spec, Seed(5), 0, EPOCH).unwrap()
}

fn ask(provider: &mut Provider, now: Instant, call: &ProviderCall) -> (Reply, WireReply) {
    let reply = provider.respond(now, call);
    let wire = provider.on_wire(now, call, &reply);
    (reply, wire)
}

fn failure(reply: &Reply) -> Option<Failure> {
    match reply.outcome {
        Outcome::Failure(failure) => Some(failure),
        Outcome::Success { .. } => None,
    }
}

/// Headers as they are printed.
fn printed(wire: &WireReply) -> Vec<String> {
    let line = |header: &mock_providers::Header| format!("{}: {}", header.name, header.text(EPOCH));
    wire.headers.iter().map(line).collect()
}

fn body(wire: &WireReply) -> Value {
    serde_json::from_str(wire.body.as_deref().unwrap()).unwrap()
}

#[test]
fn the_hint_in_the_headers_is_the_hint_that_the_router_gets() {
    for preset in presets() {
        for form in ["seconds", "date", "millis", "none", "body"] {
            let quota = format!(
                r#""quota": {{"requests_per_minute": 6, "tokens_per_minute": 1000000,
                    "retry_after": "{form}"}}"#
            );
            let json = format!(r#"{{"preset": "{}", "faults": [], {quota}}}"#, preset.name);
            let mut provider = provider(&json);
            let mut refused = 0;
            for request in 0..20 {
                let (reply, wire) = ask(&mut provider, at(3.3), &call(request));
                let failure = failure(&reply);
                let hint = failure.and_then(|failure| failure.retry_after);
                assert_eq!(retry_after(&wire.headers), hint, "{} {form}", preset.name);
                refused += u32::from(failure.is_some());
                let status = failure.map_or(Some(200), |failure| failure.status);
                assert_eq!(wire.status, status);
            }
            assert!(refused >= 14, "{}: {refused}", preset.name);
        }
    }
}

#[test]
fn openai_tells_what_is_left_in_lengths_of_time() {
    let mut openai = provider(
        r#"{"preset": "openai", "quota": {"requests_per_minute": 500, "tokens_per_minute": 30000}}"#,
    );

    let (_, wire) = ask(&mut openai, at(0.0), &call(0));

    // One request at 500 a minute is free again in 120 ms, as in community.openai.com/t/541210.
    assert_eq!(
        printed(&wire),
        [
            "x-ratelimit-limit-requests: 500",
            "x-ratelimit-remaining-requests: 499",
            "x-ratelimit-reset-requests: 120ms",
            "x-ratelimit-limit-tokens: 30000",
            "x-ratelimit-remaining-tokens: 29900",
            "x-ratelimit-reset-tokens: 200ms",
        ]
    );
    assert_eq!(wire.body, None);
}

#[test]
fn anthropic_tells_moments_and_its_429_when_to_come_back() {
    let mut anthropic = provider(
        r#"{"preset": "anthropic", "quota": {"requests_per_minute": 2,
            "tokens_per_minute": 25000, "output_tokens_per_minute": 8000}}"#,
    );
    let _ = ask(&mut anthropic, at(12.5), &call(0));
    let _ = ask(&mut anthropic, at(12.5), &call(1));

    let (_, wire) = ask(&mut anthropic, at(12.5), &call(2));

    assert_eq!(
        printed(&wire),
        [
            "anthropic-ratelimit-requests-limit: 2",
            "anthropic-ratelimit-requests-remaining: 0",
            "anthropic-ratelimit-requests-reset: 2024-03-26T20:00:30Z",
            "anthropic-ratelimit-input-tokens-limit: 25000",
            "anthropic-ratelimit-input-tokens-remaining: 24800",
            "anthropic-ratelimit-input-tokens-reset: 2024-03-26T19:59:30Z",
            "anthropic-ratelimit-output-tokens-limit: 8000",
            "anthropic-ratelimit-output-tokens-remaining: 7900",
            "anthropic-ratelimit-output-tokens-reset: 2024-03-26T19:59:31Z",
            "retry-after: 30",
        ]
    );
    assert_eq!(body(&wire)["error"]["type"], "rate_limit_error");
}

#[test]
fn azure_tells_the_lowered_limit_and_two_hints() {
    let mut azure = provider(
        r#"{"preset": "azure-payg", "quota": {"tokens_per_minute": 1000,
            "lowered": {"to_share": 0.3, "from_s": 10}}}"#,
    );
    let _ = ask(&mut azure, at(11.0), &call(0));
    let _ = ask(&mut azure, at(11.0), &call(1));

    let (reply, wire) = ask(&mut azure, at(11.0), &call(2));

    assert_eq!(
        reply.manner,
        Manner::Limited(mock_providers::Cause::Lowered)
    );
    assert_eq!(
        printed(&wire),
        [
            "x-ratelimit-limit-tokens: 300",
            "x-ratelimit-remaining-tokens: 0",
            "x-ratelimit-reset-tokens: 32",
            "retry-after: 32",
            "retry-after-ms: 32000",
        ]
    );
}

#[test]
fn gemini_tells_the_wait_in_the_body_only_and_vertex_not_at_all() {
    let mut gemini = provider(r#"{"preset": "gemini", "quota": {"requests_per_minute": 1}}"#);
    let _ = ask(&mut gemini, at(1.0), &call(0));

    let (reply, wire) = ask(&mut gemini, at(1.0), &call(1));

    assert_eq!(failure(&reply).unwrap().retry_after, None);
    assert_eq!(printed(&wire), [""; 0]);
    let error = &body(&wire)["error"];
    assert_eq!(error["status"], "RESOURCE_EXHAUSTED");
    assert_eq!(error["details"][0]["retryDelay"], "42s", "until 20:00:00");

    let mut vertex = provider(r#"{"preset": "vertex-dsq", "faults": [{"rate_limit_storm": {}}]}"#);
    let (_, wire) = ask(&mut vertex, at(1.0), &call(0));
    let error = &body(&wire)["error"];
    assert_eq!(
        (&error["code"], &error["details"]),
        (&Value::from(429), &Value::Null)
    );
    assert_eq!(wire.headers, []);
}

#[test]
fn a_day_that_is_used_up_tells_hours() {
    let mut gemini = provider(r#"{"preset": "gemini", "quota": {"requests_per_day": 1}}"#);
    let _ = ask(&mut gemini, at(0.0), &call(0));

    let (_, wire) = ask(&mut gemini, at(0.0), &call(1));

    // From 19:59:17 to 8:00:00 of the next day.
    assert_eq!(body(&wire)["error"]["details"][0]["retryDelay"], "43243s");
}

#[test]
fn bedrock_names_the_exception_and_anthropic_the_overload() {
    let mut bedrock = provider(r#"{"preset": "bedrock", "faults": [{"rate_limit_storm": {}}]}"#);
    let (_, wire) = ask(&mut bedrock, at(1.0), &call(0));
    assert_eq!(printed(&wire), ["x-amzn-errortype: ThrottlingException"]);
    assert!(body(&wire)["message"].is_string());

    let mut anthropic = provider(
        r#"{"preset": "anthropic", "faults": [{"shared_capacity": {"demand_median": 1e9,
            "demand_sigma": 0, "varies_over_s": 1, "status": 529}}]}"#,
    );
    let (_, wire) = ask(&mut anthropic, at(1.0), &call(0));
    assert_eq!(wire.status, Some(529));
    assert_eq!(body(&wire)["error"]["type"], "overloaded_error");
    assert_eq!(body(&wire)["error"]["message"], "Overloaded");
}

#[test]
fn the_words_of_an_error_make_litellm_see_its_class() {
    let faults = [
        r#"{"outage": {"status": 500}}"#,
        r#"{"outage": {"status": 502}}"#,
        r#"{"outage": {"status": 529}}"#,
        r#"{"outage": {"class": "bad_request"}}"#,
        r#"{"bad_key": {}}"#,
        r#"{"model_gone": {}}"#,
        r#"{"rate_limit_storm": {"hint": {"seconds": -3}}}"#,
        r#"{"content": {"policy_share": 1}}"#,
        r#"{"content": {"context_window_tokens": 1}}"#,
    ];
    for dialect in ["azure", "groq", "open_ai", "plain"] {
        for fault in faults {
            let json =
                format!(r#"{{"preset": "generic", "dialect": "{dialect}", "faults": [{fault}]}}"#);
            let mut provider = provider(&json);
            let (reply, wire) = ask(&mut provider, at(1.0), &call(0));
            let own = failure(&reply).unwrap();
            let error = &body(&wire)["error"];
            let read = ErrorBody {
                code: error["code"].as_str(),
                kind: error["type"].as_str(),
                message: error["message"].as_str().unwrap(),
            };

            for profile in [Profile::litellm_1_110(), Profile::litellm_1_92()] {
                let seen = Failure::with_body(wire.status.unwrap(), &read, &profile);
                assert_eq!(seen.class, own.class, "{dialect} {fault} {read:?}");
            }
            assert_eq!(retry_after(&wire.headers), own.retry_after);
        }
    }
}

#[test]
fn what_never_answers_has_no_status() {
    let mut silent = provider(r#"{"preset": "generic", "faults": [{"hang": {}}]}"#);

    let (_, wire) = ask(&mut silent, at(1.0), &call(0));

    assert_eq!((wire.status, wire.body), (None, None));
}
