//! Random traffic: when requests come, how long they are, who sends them, and who gives up on them.

use serde_json::{Value, json};

use super::{deployments::maybe, draws::Draws, tree::map};

/// `workload`, of some hundred requests at most.
pub(super) fn workload(draws: &mut Draws, duration_s: u32, names: &[&str]) -> Value {
    let requests = draws.between(4, 160);
    let per_second = f64::from(requests) / f64::from(duration_s);
    let arrivals = match draws.below(4) {
        0 => json!({"constant": {"per_second": per_second}}),
        1 => json!({"poisson": {"per_second": per_second}}),
        2 => json!({"gamma": {"per_second": per_second, "cv": 3}}),
        _ => json!({"pulse": {
            "per_second": per_second * 0.5, "factor": 6, "from_s": 0, "to_s": f64::from(duration_s) / 4.0,
        }}),
    };
    let output = match draws.below(3) {
        0 => json!({"constant": draws.one(&[5, 1, 40])}),
        1 => json!({"log_normal": {"p50": 12, "p95": 80, "at_most": 300}}),
        _ => json!({"empirical": {"points": [[0, 0.1], [10, 0.6], [60, 1.0]]}}),
    };
    let prompt = match draws.below(2) {
        0 => json!({"constant": draws.one(&[20, 200, 1_200])}),
        _ => json!({"log_normal": {"p50": 60, "p95": 900, "at_most": 3_000}}),
    };
    map([
        ("arrivals", arrivals),
        ("lengths", json!({"prompt": prompt, "output": output})),
        ("duration_s", json!(duration_s)),
        ("models", models(draws, names)),
        (
            "stream_share",
            maybe(draws, 55, |d| d.one(&[json!(1.0), json!(0.5)])),
        ),
        (
            "max_tokens",
            maybe(draws, 30, |d| json!(d.one(&[16, 4, 200]))),
        ),
        ("senders", maybe(draws, 50, |d| senders(d, names))),
    ])
}

/// The models asked for with their shares: one, or several in turn.
fn models(draws: &mut Draws, names: &[&str]) -> Value {
    let first = draws.one(names);
    if draws.chance(50) || names.len() == 1 {
        return json!(first);
    }
    let share = 1.0 / f64::from(u32::try_from(names.len()).unwrap_or(1));
    let shares = names.iter().map(|name| ((*name).to_owned(), json!(share)));
    Value::Object(shares.collect())
}

fn senders(draws: &mut Draws, names: &[&str]) -> Value {
    let mut all = serde_json::Map::new();
    for (name, share) in [("one", 0.5), ("two", 0.3)] {
        if name == "one" || draws.chance(50) {
            all.insert(name.to_owned(), sender(draws, share, names));
        }
    }
    Value::Object(all)
}

fn sender(draws: &mut Draws, share: f64, names: &[&str]) -> Value {
    let sessions = draws.chance(40);
    let tags = ["eu", "us", "!us", "nowhere"];
    map([
        ("share", json!(share)),
        ("callers", maybe(draws, 30, |d| json!(d.between(1, 3)))),
        (
            "sessions",
            if sessions {
                json!({"live": draws.between(1, 4), "turns": 6})
            } else {
                Value::Null
            },
        ),
        (
            "repeats",
            maybe(draws, 20, |_| json!({"share": 0.7, "pool": 3})),
        ),
        (
            "shared_prefix",
            maybe(draws, 15, |_| json!({"tokens": 1_100, "pool": 2})),
        ),
        ("priority", maybe(draws, 5, |d| json!(d.below(4)))),
        ("tags", maybe(draws, 20, |d| json!([d.one(&tags)]))),
        ("user_agent", maybe(draws, 8, |_| json!("agent/1"))),
        (
            "allowed_model_region",
            maybe(draws, 8, |d| json!(d.one(&["eu", "us"]))),
        ),
        ("no_cache", maybe(draws, 5, |_| json!(true))),
        ("num_retries", maybe(draws, 15, |d| json!(d.below(4)))),
        ("max_retries", maybe(draws, 10, |d| json!(d.below(3)))),
        (
            "timeout",
            maybe(draws, 12, |d| d.one(&[json!(1), json!(4)])),
        ),
        ("stream_timeout", maybe(draws, 8, |_| json!(0.5))),
        ("disable_fallbacks", maybe(draws, 8, |_| json!(true))),
        (
            "fallbacks",
            maybe(draws, 10, |d| json!([d.one(names), d.one(names)])),
        ),
        (
            "context_window_fallbacks",
            maybe(draws, 4, |d| json!([{d.one(names): [d.one(names)]}])),
        ),
        ("api", maybe(draws, 8, |_| json!("embedding"))),
        ("blocking", maybe(draws, 8, |_| json!(true))),
    ])
}

/// `client`: a library that tries again, gives up and hangs up.
pub(super) fn client(draws: &mut Draws) -> Value {
    map([
        ("sdk", json!(draws.one(&["openai", "anthropic", "none"]))),
        ("max_retries", maybe(draws, 50, |d| json!(d.below(3)))),
        (
            "timeout_s",
            maybe(draws, 50, |d| json!(d.one(&[3.0, 0.6, 20.0]))),
        ),
        (
            "patience",
            maybe(draws, 50, |d| match d.chance(50) {
                true => json!({"p50_s": 2, "p95_s": 9}),
                false => json!({"constant_s": 1.2}),
            }),
        ),
    ])
}

/// `actions`: an operator who ends cooldowns.
pub(super) fn actions(draws: &mut Draws, duration_s: u32) -> Value {
    let count = draws.between(1, 3);
    let action = |draws: &mut Draws| {
        map([
            ("at_s", json!(draws.below(duration_s + 1))),
            ("do", json!("clear_cooldowns")),
            ("deployment", maybe(draws, 50, |_| json!("d0"))),
        ])
    };
    Value::Array((0..count).map(|_| action(draws)).collect())
}
