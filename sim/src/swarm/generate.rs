//! A whole random scenario: a config over all profiles, strategies and policies, providers with their
//! quotas and faults, and traffic.

use serde_json::{Value, json};

use super::{deployments, draws::Draws, providers, settings, traffic, tree::map};

/// By this a scenario of the swarm is known.
pub(super) const PURPOSE: &str = "Do the invariants hold here?";

/// The scenario that these choices make. It is always one that loads.
#[must_use]
pub fn scenario(draws: &mut Draws) -> Value {
    let profile = draws.one(&["litellm-1.110", "litellm-1.92", "corrected"]);
    let duration_s = draws.one(&[10, 3, 30, 70, 150]);
    let model_list = deployments::model_list(draws);
    let count = model_list.len();
    let router = settings::router(draws, profile);
    let names = names(&model_list, &router);
    let litellm = map([
        ("model_list", Value::Array(model_list)),
        ("router_settings", router),
        ("litellm_settings", settings::library(draws)),
    ]);
    let instances = match draws.chance(15) {
        true => json!({"count": draws.between(2, 3), "shared_state": draws.chance(50)}),
        false => Value::Null,
    };
    let clients = draws.chance(25);
    let acts = draws.chance(15);
    // Close before a full minute, where windows of the wall clock change.
    let starts_at = draws.one(&[Value::Null, json!("2026-03-02T10:00:55Z")]);
    map([
        ("purpose", json!(PURPOSE)),
        ("kind", json!("terminating")),
        ("profile", json!(profile)),
        ("seed", json!(draws.below(1_000))),
        ("replications", json!(1)),
        ("starts_at", starts_at),
        ("providers", providers::providers(draws, count, duration_s)),
        ("workload", traffic::workload(draws, duration_s, &names)),
        ("litellm", litellm),
        ("instances", instances),
        (
            "client",
            if clients {
                traffic::client(draws)
            } else {
                Value::Null
            },
        ),
        (
            "actions",
            if acts {
                traffic::actions(draws, duration_s)
            } else {
                Value::Null
            },
        ),
    ])
}

/// The names that somebody may ask for.
fn names(model_list: &[Value], router: &Value) -> Vec<&'static str> {
    let there = |name: &str| model_list.iter().any(|entry| entry["model_name"] == name);
    let mut names: Vec<&str> = ["g", "h", "i"]
        .into_iter()
        .filter(|name| there(name))
        .collect();
    if there("w/*") {
        names.push("w/1");
    }
    if there("g") && router.get("model_group_alias").is_some() {
        names.push("alias");
    }
    names
}
