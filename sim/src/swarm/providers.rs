//! Random providers: how fast they are, what they let through, and how they fail.

use serde_json::{Value, json};

use super::{deployments::maybe, draws::Draws, tree::map};

/// A provider for each deployment, under its id.
pub(super) fn providers(draws: &mut Draws, deployments: usize, duration_s: u32) -> Value {
    let shared = draws.chance(10).then(|| quota(draws, Some("pool")));
    let each = (0..deployments).map(|number| {
        let own = maybe(draws, 35, |d| quota(d, None));
        let quota = match &shared {
            Some(shared) if draws.chance(50) => shared.clone(),
            _ => own,
        };
        (format!("d{number}"), provider(draws, quota, duration_s))
    });
    Value::Object(each.collect())
}

fn provider(draws: &mut Draws, quota: Value, duration_s: u32) -> Value {
    let faults = match draws.chance(60) {
        true => {
            let count = draws.between(1, 3);
            Value::Array((0..count).map(|_| fault(draws, duration_s, true)).collect())
        }
        false => Value::Null,
    };
    map([
        ("latency", latency(draws)),
        ("quota", quota),
        (
            "max_concurrent",
            maybe(draws, 10, |d| json!(d.between(1, 4))),
        ),
        (
            "prompt_cache",
            maybe(draws, 6, |_| json!({"at_least_tokens": 64})),
        ),
        ("faults", faults),
    ])
}

fn latency(draws: &mut Draws) -> Value {
    let first = match draws.below(4) {
        0 | 1 => json!({"constant": {"ms": draws.one(&[200, 20, 1_000, 3_000])}}),
        2 => json!({"gamma": {"mean_ms": 300, "cv": 1}}),
        _ => json!({"log_normal": {"median_ms": 250, "sigma": 0.8}}),
    };
    map([
        ("first_token", first),
        (
            "per_output_token",
            maybe(
                draws,
                50,
                |d| json!({"constant": {"ms": d.one(&[10, 1, 60])}}),
            ),
        ),
    ])
}

fn quota(draws: &mut Draws, pool: Option<&str>) -> Value {
    let window = draws.one(&["fixed_minute", "sliding", "token_bucket"]);
    let requests = maybe(draws, 65, |d| json!(d.between(3, 90)));
    let tokens = maybe(draws, 45, |d| json!(d.between(200, 9_000)));
    let output = maybe(draws, 12, |d| json!(d.between(100, 3_000)));
    let needs_one = requests.is_null() && tokens.is_null() && output.is_null();
    let requests = if needs_one { json!(12) } else { requests };
    let bucket = window == "token_bucket";
    let charge = match tokens.is_null() {
        true => Value::Null,
        false => maybe(draws, 50, |d| {
            json!(d.one(&[
                "prompt_and_answer",
                "prompt",
                "prompt_and_max_tokens",
                "larger_of_prompt_and_max_tokens",
            ]))
        }),
    };
    let reserves = charge
        .as_str()
        .is_some_and(|charge| charge.ends_with("max_tokens"));
    let with = |draws: &mut Draws, may: bool, percent, value: fn(&mut Draws) -> Value| match may {
        true => maybe(draws, percent, value),
        false => Value::Null,
    };
    let has_tokens = !tokens.is_null();
    let has_requests = !requests.is_null();
    map([
        ("window", json!(window)),
        ("pool", pool.map_or(Value::Null, |pool| json!(pool))),
        (
            "burst_requests",
            with(draws, bucket && has_requests, 40, |d| {
                json!(d.between(1, 9))
            }),
        ),
        (
            "burst_tokens",
            with(draws, bucket && has_tokens, 40, |d| {
                json!(d.between(100, 900))
            }),
        ),
        ("token_charge", charge),
        ("settles", with(draws, reserves, 50, |_| json!(true))),
        ("unset_max_tokens", with(draws, reserves, 40, |_| json!(64))),
        ("output_weight", with(draws, has_tokens, 8, |_| json!(3))),
        ("overdraft", with(draws, has_tokens, 10, |_| json!(true))),
        (
            "count_rejected",
            with(draws, has_requests, 12, |_| json!(true)),
        ),
        (
            "retry_after",
            maybe(draws, 50, |d| {
                json!(d.one(&["seconds", "millis", "date", "none", "body"]))
            }),
        ),
        ("rejection_ms", maybe(draws, 40, |_| json!(15))),
        ("requests_per_minute", requests),
        ("tokens_per_minute", tokens),
        ("output_tokens_per_minute", output),
    ])
}

/// One way to fail. A script holds others.
fn fault(draws: &mut Draws, duration_s: u32, may_be_script: bool) -> Value {
    let last = if may_be_script { 14 } else { 13 };
    match draws.below(last) {
        0 => {
            let keys = with_error(json!({}), draws);
            timed(draws, duration_s, "outage", &keys)
        }
        1 => {
            let keys = json!({"share": draws.one(&[0.3, 0.05, 1.0])});
            json!({"error_rate": with_error(keys, draws)})
        }
        2 => {
            let hint = hint(draws);
            let share = draws.one(&[0.5, 0.1, 1.0]);
            timed(
                draws,
                duration_s,
                "rate_limit_storm",
                &json!({"share": share, "hint": hint}),
            )
        }
        3 => {
            let keys =
                json!({"period_s": draws.one(&[4, 1, 15]), "up_share": draws.one(&[0.5, 0.9])});
            json!({"flapping": with_error(keys, draws)})
        }
        4 => {
            let keys = json!({
                "good_mean_s": 5, "bad_mean_s": 2, "good_error_share": 0.02, "bad_error_share": 0.9,
            });
            json!({"bursty": with_error(keys, draws)})
        }
        5 => timed(
            draws,
            duration_s,
            "brownout",
            &json!({"slowdown": 5, "error_share": 0.2}),
        ),
        6 => {
            json!({"content": {"policy_share": draws.one(&[0.1, 0.6]), "context_window_tokens": 200}})
        }
        7 => json!({"hang": {"share": 0.1}}),
        8 => json!({"mid_stream": map([
            ("share", json!(draws.one(&[0.4, 1.0]))),
            ("how", json!(draws.one(&["error_event", "cut", "malformed", "no_end", "silence"]))),
            ("after_tokens", json!(draws.below(5))),
        ])}),
        9 => json!({"broken": map([
            ("share", json!(draws.one(&[0.3, 1.0]))),
            ("how", json!(draws.one(
                &["reset", "refused", "tls", "empty", "error_object", "malformed", "not_json", "no_done"],
            ))),
        ])}),
        10 => {
            json!({"stall": {"share": 0.4, "after_tokens": draws.below(4), "for_s": draws.one(&[3, 30]),
            "keep_alive_s": draws.one(&[1.0, 0.2])}})
        }
        11 => {
            let kind = draws.one(&["bad_key", "model_gone"]);
            timed(draws, duration_s, kind, &json!({}))
        }
        12 => json!({"wrong_hint": {"hint": hint(draws), "share": 0.7}}),
        _ => {
            let steps = draws.between(1, 5);
            let steps = (0..steps).map(|_| match draws.chance(70) {
                true => fault(draws, duration_s, false),
                false => Value::Null,
            });
            let steps: Vec<Value> = steps.collect();
            json!({"scripted": {"steps": steps, "repeat": draws.chance(50)}})
        }
    }
}

/// A fault that is on for a while, or always.
fn timed(draws: &mut Draws, duration_s: u32, kind: &str, keys: &Value) -> Value {
    let mut keys = keys.clone();
    if let (Value::Object(keys), true) = (&mut keys, draws.chance(75)) {
        let from = draws.below(duration_s.max(1));
        keys.insert("from_s".to_owned(), json!(from));
        keys.insert("to_s".to_owned(), json!(from + draws.between(1, 20)));
    }
    json!({kind: keys})
}

/// These keys, with an error that is not the fault's own.
fn with_error(mut keys: Value, draws: &mut Draws) -> Value {
    let given = match draws.below(4) {
        0 => None,
        1 => Some((
            "class",
            json!(draws.one(&["api_connection", "timeout", "api", "bad_request"])),
        )),
        _ => Some((
            "status",
            json!(draws.one(&[503, 500, 429, 400, 401, 402, 403, 404, 408, 413, 529])),
        )),
    };
    if let (Value::Object(keys), Some((key, value))) = (&mut keys, given) {
        keys.insert(key.to_owned(), value);
        if draws.chance(20) {
            let causes = [
                "backpressure",
                "credit_exhausted",
                "object_not_found",
                "request",
                "callers_limit",
            ];
            keys.insert("cause".to_owned(), json!(draws.one(&causes)));
        }
        if draws.chance(30) {
            keys.insert("after_ms".to_owned(), json!(draws.one(&[30, 900])));
        }
    }
    keys
}

fn hint(draws: &mut Draws) -> Value {
    match draws.below(6) {
        0 => json!("none"),
        1 | 2 => json!({"seconds": draws.one(&[2, 0, 7, 60, 61, -1])}),
        3 => json!({"millis": draws.one(&[700, 1_500])}),
        4 => json!({"date_in_s": draws.one(&[3.0, -2.0, 9.5])}),
        _ => json!("unreadable"),
    }
}
