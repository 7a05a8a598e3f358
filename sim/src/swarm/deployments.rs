//! A random `model_list`: who there is, with which limits, weights, tiers and settings of its own.

use serde_json::{Value, json};

use super::{draws::Draws, tree::map};

/// Names of model groups; the last serves every name that begins so.
pub(super) const GROUPS: [&str; 4] = ["g", "h", "i", "w/*"];

/// The entries.
pub(super) fn model_list(draws: &mut Draws) -> Vec<Value> {
    let count = draws.between(1, 6);
    (0..count).map(|number| entry(draws, number)).collect()
}

fn entry(draws: &mut Draws, number: u32) -> Value {
    let group = draws.one(&["g", "g", "g", "g", "h", "h", "i", "w/*"]);
    json!({
        "model_name": group,
        "litellm_params": params(draws, number),
        "model_info": info(draws, number),
    })
}

fn params(draws: &mut Draws, number: u32) -> Value {
    let provider = draws.one(&["openai", "openai", "openai", "azure"]);
    let budget = draws.chance(8);
    let tags = ["eu", "us", "default"];
    map([
        ("model", json!(format!("{provider}/m{number}"))),
        ("rpm", maybe(draws, 20, |d| json!(d.between(1, 30)))),
        ("tpm", maybe(draws, 8, |d| json!(d.between(50, 3_000)))),
        (
            "weight",
            maybe(draws, 25, |d| d.one(&[json!(1), json!(0), json!(5)])),
        ),
        ("order", maybe(draws, 25, |d| json!(d.between(1, 3)))),
        (
            "max_parallel_requests",
            maybe(draws, 25, |d| json!(d.between(1, 4))),
        ),
        (
            "timeout",
            maybe(draws, 15, |d| d.one(&[json!(2), json!(0.5), json!(20)])),
        ),
        (
            "stream_timeout",
            maybe(draws, 10, |d| d.one(&[json!(2), json!(0.3)])),
        ),
        ("num_retries", maybe(draws, 12, |d| json!(d.below(3)))),
        (
            "cooldown_time",
            maybe(draws, 25, |d| {
                d.one(&[json!(3), json!(0), json!(0.5), json!(40)])
            }),
        ),
        (
            "region_name",
            maybe(draws, 15, |d| json!(d.one(&["eu", "us"]))),
        ),
        ("tags", maybe(draws, 20, |d| json!([d.one(&tags)]))),
        (
            "tag_regex",
            maybe(draws, 4, |_| json!(["^User-Agent: agent"])),
        ),
        (
            "silent_model",
            maybe(draws, 5, |d| json!(d.one(&GROUPS[..3]))),
        ),
        (
            "max_budget",
            if budget { json!(0.002) } else { Value::Null },
        ),
        (
            "budget_duration",
            if budget {
                draws.one(&[json!("10s"), json!("1m")])
            } else {
                Value::Null
            },
        ),
        (
            "input_cost_per_token",
            maybe(draws, 50, |d| d.one(&[json!(0.000_001), json!(0.0)])),
        ),
        (
            "output_cost_per_token",
            maybe(draws, 50, |d| d.one(&[json!(0.000_004), json!(0.0)])),
        ),
    ])
}

fn info(draws: &mut Draws, number: u32) -> Value {
    map([
        ("id", json!(format!("d{number}"))),
        ("blocked", maybe(draws, 6, |_| json!(true))),
        (
            "cooldown_time",
            maybe(draws, 8, |d| d.one(&[json!(2), json!(0)])),
        ),
        ("cooldown_probe_after", maybe(draws, 8, |_| json!(1.5))),
        (
            "quota_group",
            maybe(draws, 10, |d| json!(d.one(&["a", "b"]))),
        ),
        ("allowed_fails", maybe(draws, 8, |d| json!(d.below(3)))),
        (
            "allowed_fails_policy",
            maybe(draws, 6, allowed_fails_policy),
        ),
        (
            "max_input_tokens",
            maybe(draws, 10, |d| json!(d.between(50, 500))),
        ),
    ])
}

/// `allowed_fails_policy`, of a deployment or of the router.
pub(super) fn allowed_fails_policy(draws: &mut Draws) -> Value {
    some_of(
        draws,
        &[
            "RateLimitErrorAllowedFails",
            "InternalServerErrorAllowedFails",
            "TimeoutErrorAllowedFails",
            "AuthenticationErrorAllowedFails",
            "BadRequestErrorAllowedFails",
        ],
        3,
    )
}

/// `retry_policy`, of a group or of the router.
pub(super) fn retry_policy(draws: &mut Draws) -> Value {
    some_of(
        draws,
        &[
            "RateLimitErrorRetries",
            "InternalServerErrorRetries",
            "TimeoutErrorRetries",
            "AuthenticationErrorRetries",
            "BadRequestErrorRetries",
            "DefaultRetries",
        ],
        4,
    )
}

/// A number below `bound` for some of these keys.
fn some_of(draws: &mut Draws, keys: &[&str], bound: u32) -> Value {
    let mut policy = serde_json::Map::new();
    for key in keys {
        if draws.chance(40) {
            policy.insert((*key).to_owned(), json!(draws.below(bound)));
        }
    }
    Value::Object(policy)
}

/// A value, `percent` times out of a hundred; else none.
pub(super) fn maybe(
    draws: &mut Draws,
    percent: u32,
    value: impl FnOnce(&mut Draws) -> Value,
) -> Value {
    if draws.chance(percent) {
        value(draws)
    } else {
        Value::Null
    }
}
