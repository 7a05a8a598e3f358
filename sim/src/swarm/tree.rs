//! A scenario as a tree of JSON values: what the generator makes, the shrinker cuts down, and a file
//! holds. JSON is YAML too, so a tree is read as any scenario is.

use std::fmt::Write as _;

use serde_json::Value;

/// A mapping of these keys; those whose value is null are left out.
pub(super) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let given = entries.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The scenario as a file: a line for each key of the two outer levels, the rest in one line each.
#[must_use]
pub fn text(tree: &Value) -> String {
    let mut text = String::new();
    let Value::Object(top) = tree else {
        return format!("{tree}\n");
    };
    for key in TOP {
        if let Some(value) = top.get(key) {
            block(&mut text, key, value);
        }
    }
    for (key, value) in top {
        if !TOP.contains(&key.as_str()) {
            block(&mut text, key, value);
        }
    }
    text
}

fn block(text: &mut String, key: &str, value: &Value) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let _ = writeln!(text, "{key}:");
            for (key, value) in map {
                entry(text, key, value);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            let _ = writeln!(text, "{key}: {value}");
        }
    }
}

fn entry(text: &mut String, key: &str, value: &Value) {
    let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let key = match plain && !key.is_empty() {
        true => key.to_owned(),
        false => Value::from(key).to_string(),
    };
    match value {
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
            let _ = writeln!(text, "  {key}:");
            for item in items {
                let _ = writeln!(text, "    - {item}");
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            let _ = writeln!(text, "  {key}: {value}");
        }
    }
}

/// The keys of a scenario, in the order in which they are read most easily.
const TOP: [&str; 11] = [
    "purpose",
    "kind",
    "profile",
    "seed",
    "replications",
    "starts_at",
    "litellm",
    "providers",
    "workload",
    "instances",
    "client",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tree_is_written_as_yaml_that_reads_back_as_itself() {
        let tree = json!({
            "purpose": "A test.",
            "workload": {"duration_s": 5, "models": {"g": 1}},
            "litellm": {"model_list": [{"model_name": "g"}], "router_settings": {}},
            "actions": [],
        });

        let written = text(&tree);

        assert_eq!(
            written,
            "purpose: \"A test.\"\nlitellm:\n  model_list:\n    - {\"model_name\":\"g\"}\n  \
             router_settings: {}\nworkload:\n  duration_s: 5\n  models: {\"g\":1}\nactions: []\n"
        );
    }
}
