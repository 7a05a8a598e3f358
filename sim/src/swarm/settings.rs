//! Random `router_settings` and `litellm_settings`: strategies, retries, cooldowns, fallbacks, filters.

use serde_json::{Value, json};

use super::{
    deployments::{GROUPS, allowed_fails_policy, maybe, retry_policy},
    draws::Draws,
    tree::map,
};

/// Strategies that every profile knows.
const STRATEGIES: [&str; 6] = [
    "simple-shuffle",
    "least-busy",
    "latency-based-routing",
    "cost-based-routing",
    "usage-based-routing",
    "usage-based-routing-v2",
];

/// `router_settings`.
pub(super) fn router(draws: &mut Draws, profile: &str) -> Value {
    let mut all = retries_and_cooldowns(draws);
    merge(&mut all, choosing(draws, profile));
    merge(&mut all, moving_on(draws));
    merge(&mut all, filters(draws));
    all
}

/// `litellm_settings`.
pub(super) fn library(draws: &mut Draws) -> Value {
    map([
        ("num_retries", maybe(draws, 10, |d| json!(d.below(3)))),
        ("allowed_fails", maybe(draws, 8, |d| json!(d.below(5)))),
        ("request_timeout", maybe(draws, 8, |_| json!(3))),
        (
            "num_retries_per_request",
            maybe(draws, 5, |d| json!(d.between(1, 3))),
        ),
    ])
}

fn retries_and_cooldowns(draws: &mut Draws) -> Value {
    map([
        ("num_retries", maybe(draws, 60, |d| json!(d.below(4)))),
        ("retry_after", maybe(draws, 10, |_| json!(1))),
        ("retry_policy", maybe(draws, 15, retry_policy)),
        (
            "model_group_retry_policy",
            maybe(draws, 8, |d| {
                let group = d.one(&GROUPS[..3]);
                json!({group: retry_policy(d)})
            }),
        ),
        ("allowed_fails", maybe(draws, 30, |d| json!(d.below(4)))),
        (
            "allowed_fails_policy",
            maybe(draws, 10, allowed_fails_policy),
        ),
        (
            "cooldown_time",
            maybe(draws, 50, |d| {
                d.one(&[json!(4), json!(0), json!(1), json!(0.25), json!(30)])
            }),
        ),
        ("disable_cooldowns", maybe(draws, 6, |_| json!(true))),
        ("cooldown_one_trial", maybe(draws, 12, |_| json!(true))),
        (
            "cooldown_spread",
            maybe(draws, 12, |d| d.one(&[json!(0.2), json!(1.0)])),
        ),
        (
            "timeout",
            maybe(draws, 35, |d| d.one(&[json!(5), json!(1), json!(30)])),
        ),
        (
            "stream_timeout",
            maybe(draws, 15, |d| d.one(&[json!(2), json!(0.4)])),
        ),
        ("first_token_timeout", maybe(draws, 5, |_| json!(0.8))),
        ("stream_idle_timeout", maybe(draws, 5, |_| json!(0.7))),
        ("stream_total_timeout", maybe(draws, 5, |_| json!(6))),
    ])
}

fn choosing(draws: &mut Draws, profile: &str) -> Value {
    let strategy = draws.one(&STRATEGIES);
    let args = match strategy {
        "latency-based-routing" => maybe(draws, 40, |d| {
            map([
                ("ttl", maybe(d, 50, |_| json!(5))),
                ("lowest_latency_buffer", maybe(d, 50, |_| json!(0.5))),
            ])
        }),
        "usage-based-routing" | "usage-based-routing-v2" => {
            maybe(draws, 30, |_| json!({"ttl": 30}))
        }
        _ => Value::Null,
    };
    let knows_priority = profile != "litellm-1.92";
    let groups = maybe(draws, 15, |d| match knows_priority && d.chance(30) {
        true => json!([{
            "group_name": "r",
            "models": ["g", "h"],
            "routing_strategy": "priority",
            "model_priorities": {"g": 1, "h": 2},
        }]),
        false => json!([{
            "group_name": "r",
            "models": [d.one(&GROUPS[..3])],
            "routing_strategy": d.one(&STRATEGIES),
        }]),
    });
    map([
        ("routing_strategy", json!(strategy)),
        ("routing_strategy_args", args),
        ("routing_groups", groups),
        ("usage_window", maybe(draws, 10, |_| json!("sliding"))),
    ])
}

fn moving_on(draws: &mut Draws) -> Value {
    map([
        ("fallbacks", maybe(draws, 40, lists)),
        (
            "default_fallbacks",
            maybe(draws, 15, |d| json!([d.one(&GROUPS[..3])])),
        ),
        ("context_window_fallbacks", maybe(draws, 12, lists)),
        ("content_policy_fallbacks", maybe(draws, 12, lists)),
        ("max_fallbacks", maybe(draws, 20, |d| json!(d.below(4)))),
        (
            "enable_weighted_failover",
            maybe(draws, 20, |_| json!(true)),
        ),
        (
            "model_group_alias",
            maybe(draws, 15, |_| json!({"alias": "g"})),
        ),
        (
            "default_max_parallel_requests",
            maybe(draws, 15, |d| json!(d.between(1, 5))),
        ),
    ])
}

/// Lists of names by the group that failed.
fn lists(draws: &mut Draws) -> Value {
    let count = draws.between(1, 3) as usize;
    let keys = ["g", "h", "i"];
    let entries = keys[..count].iter().map(|key| {
        let names = draws.between(1, 3);
        let names: Vec<&str> = (0..names)
            .map(|_| draws.one(&["h", "g", "i", "w/2", "d0", "nobody"]))
            .collect();
        json!({*key: names})
    });
    Value::Array(entries.collect())
}

fn filters(draws: &mut Draws) -> Value {
    let checks = maybe(draws, 30, |d| {
        let names = [
            "session_affinity",
            "deployment_affinity",
            "prompt_caching",
            "enforce_model_rate_limits",
        ];
        Value::Array(
            names
                .into_iter()
                .filter(|_| d.chance(45))
                .map(Value::from)
                .collect(),
        )
    });
    map([
        ("optional_pre_call_checks", checks),
        (
            "deployment_affinity_ttl_seconds",
            maybe(draws, 10, |d| d.one(&[json!(20), json!(2)])),
        ),
        (
            "session_affinity_repin_on_failover",
            maybe(draws, 10, |_| json!(true)),
        ),
        ("enable_pre_call_checks", maybe(draws, 15, |_| json!(true))),
        ("enable_tag_filtering", maybe(draws, 15, |_| json!(true))),
        ("tag_filtering_match_any", maybe(draws, 6, |_| json!(false))),
        (
            "provider_budget_config",
            maybe(
                draws,
                8,
                |_| json!({"openai": {"budget_limit": 0.01, "time_period": "20s"}}),
            ),
        ),
        ("cache_responses", maybe(draws, 8, |_| json!(true))),
        ("default_priority", maybe(draws, 3, |_| json!(2))),
    ])
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
