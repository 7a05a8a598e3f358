//! What the router makes of exchanges that break: what a caller of each version gets, in how many
//! attempts. The rows are what both versions answered over HTTP (mock-providers' README), retries
//! and first frames as in semantics 5 and FACTS S1 to S8.

use super::*;

/// The share of requests that are completed in percent, and attempts for each request.
type Seen = (usize, u64);

const REFUSED: Seen = (0, 2);
/// Broken after the answer was given out: nobody tries again.
const SURFACES: Seen = (0, 1);
const ANSWER: Seen = (100, 1);

/// One request a second with one retry at two deployments with these faults, none of which is benched.
fn seen(profile: &str, faults: &str, streamed: bool) -> Seen {
    let latency = "{first_token: {constant: {ms: 10}}, per_output_token: {constant: {ms: 1}}}";
    let providers = format!("default: {{latency: {latency}, faults: [{faults}]}}");
    let share = u8::from(streamed);
    let workload =
        format!("stream_share: {share}, arrivals: {{constant: {{per_second: 1}}}}, duration_s: 20");
    let settings = "num_retries: 1, disable_cooldowns: true, timeout: 3, stream_timeout: 2";
    let text = scenario(settings, &providers, &workload) + "profile: " + profile + "\n";
    let mut ledger = Ledger::default();
    let end = simulate(&plan(&text), &mut ledger).unwrap();
    let answers = ledger.answered.values();
    let completed = answers.filter(|(_, answer)| matches!(answer, Answer::Completed { .. }));
    let requests = end.requests;
    assert_eq!(end.attempts % requests, 0, "{faults}: {}", end.attempts);
    let percent = completed.count() * 100 / ledger.answered.len();
    (percent, end.attempts / requests)
}

#[test]
fn what_breaks_in_one_piece_is_tried_again_by_both() {
    for (fault, expected) in [
        ("{broken: {how: refused}}", REFUSED),
        ("{broken: {how: reset}}", REFUSED),
        ("{broken: {how: tls}}", REFUSED),
        ("{broken: {how: error_object}}", REFUSED),
        ("{broken: {how: error_object, class: rate_limit}}", REFUSED),
        ("{broken: {how: empty}}", REFUSED),
        ("{broken: {how: not_json}}", REFUSED),
        ("{broken: {how: malformed}}", REFUSED),
        ("{mid_stream: {how: cut, after_tokens: 5}}", REFUSED),
        ("{mid_stream: {how: malformed, after_tokens: 5}}", REFUSED),
        ("{mid_stream: {how: silence, after_tokens: 5}}", REFUSED),
        ("{hang: {}}", REFUSED),
        ("{outage: {}}", REFUSED),
        ("{rate_limit_storm: {hint: unreadable}}", REFUSED),
        ("{broken: {how: no_done}}", ANSWER),
        ("{mid_stream: {how: no_end, after_tokens: 5}}", ANSWER),
        ("{slow_drip: {per_token_ms: 200}}", ANSWER),
    ] {
        for profile in ["litellm-1.110", "litellm-1.92"] {
            assert_eq!(seen(profile, fault, false), expected, "{profile} {fault}");
        }
    }
}

#[test]
fn what_breaks_in_a_stream_is_what_each_version_makes_of_it() {
    for (fault, in_1_110, in_1_92) in [
        ("{broken: {how: refused}}", REFUSED, REFUSED),
        ("{broken: {how: reset}}", REFUSED, REFUSED),
        ("{broken: {how: tls}}", REFUSED, REFUSED),
        ("{hang: {}}", REFUSED, REFUSED),
        ("{outage: {}}", REFUSED, REFUSED),
        // 1.92 gives a stream out with its headers.
        ("{broken: {how: error_object}}", REFUSED, SURFACES),
        ("{broken: {how: malformed}}", REFUSED, SURFACES),
        ("{broken: {how: empty}}", ANSWER, ANSWER),
        ("{broken: {how: not_json}}", ANSWER, ANSWER),
        ("{broken: {how: no_done}}", ANSWER, ANSWER),
        ("{slow_drip: {per_token_ms: 1900}}", ANSWER, ANSWER),
        // In 1.92 an answer that is cut off is a short one.
        (
            "{mid_stream: {how: cut, after_tokens: 5}}",
            SURFACES,
            ANSWER,
        ),
        (
            "{mid_stream: {how: no_end, after_tokens: 11}}",
            SURFACES,
            ANSWER,
        ),
        (
            "{mid_stream: {how: error_event, after_tokens: 5}}",
            SURFACES,
            SURFACES,
        ),
        (
            "{mid_stream: {how: malformed, after_tokens: 5}}",
            SURFACES,
            SURFACES,
        ),
        (
            "{mid_stream: {how: silence, after_tokens: 5}}",
            SURFACES,
            SURFACES,
        ),
    ] {
        assert_eq!(
            seen("litellm-1.110", fault, true),
            in_1_110,
            "1.110 {fault}"
        );
        assert_eq!(seen("litellm-1.92", fault, true), in_1_92, "1.92 {fault}");
    }
}

#[test]
fn what_is_wrong_with_the_request_is_not_tried_again() {
    for class in ["content_policy_violation", "context_window_exceeded"] {
        let fault = format!("{{error_rate: {{share: 1, class: {class}}}}}");
        for profile in ["litellm-1.110", "litellm-1.92"] {
            assert_eq!(seen(profile, &fault, false), SURFACES, "{profile} {class}");
        }
    }
}

#[test]
fn of_a_script_each_attempt_meets_its_own_step() {
    // At each deployment every other attempt is refused.
    let every_other = "{scripted: {repeat: true, steps: [{broken: {how: refused}}, null]}}";
    let providers = format!(
        "default: {{latency: {{first_token: {{constant: {{ms: 10}}}}}}, faults: [{every_other}]}}"
    );
    let text = scenario("disable_cooldowns: true", &providers, STEADY);
    let mut ledger = Ledger::default();

    let _ = simulate(&plan(&text), &mut ledger).unwrap();

    let refused = |(_, outcome): &&(Instant, Outcome)| matches!(outcome, Outcome::Failure(_));
    let attempts = ledger.ended.len();
    let refused = ledger.ended.iter().filter(refused).count();
    assert!(attempts >= 150, "{attempts} attempts");
    // Each deployment's last pair may lack its second half.
    assert!(
        (2 * refused).abs_diff(attempts) <= 2,
        "{refused} of {attempts}"
    );
}
