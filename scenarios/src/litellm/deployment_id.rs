//! The id that LiteLLM gives to a `model_list` entry without `model_info.id`: SHA-256 over the
//! group's name and the parameters, as Python prints them (semantics 1.4).
//!
//! The id equals LiteLLM's for a config without secrets. It differs where LiteLLM looks up
//! `os.environ/…` first (here the text itself is hashed), and where YAML 1.1 and 1.2 read a plain
//! word differently (`yes`, `010`, `1e-7`) or order keys differently (a merge key's come last here).

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::numbers::underscored;
use crate::yaml::{Map, Node, Value};

/// The id of an entry of this group with these `litellm_params`.
pub(super) fn deployment_id(model_name: &str, litellm_params: &Map) -> String {
    let mut text = model_name.to_owned();
    for entry in &litellm_params.entries {
        text.push_str(&entry.key.name);
        match &entry.value.value {
            Value::Str(value) => match underscored(&entry.value) {
                Some(number) => text.push_str(&number.to_string()),
                None => text.push_str(value),
            },
            Value::Map(_) => write_json(&mut text, &entry.value),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Seq(_) => {
                write_repr(&mut text, &entry.value);
            }
        }
    }
    Sha256::digest(text.as_bytes())
        .iter()
        .fold(String::new(), |mut id, byte| {
            write!(id, "{byte:02x}").expect("writing to text cannot fail");
            id
        })
}

/// As Python's `json.dumps` with its defaults.
fn write_json(text: &mut String, node: &Node) {
    match &node.value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => text.push_str(&number.to_string()),
        Value::Float(number) => text.push_str(&match number {
            n if n.is_nan() => "NaN".to_owned(),
            n if n.is_infinite() => if *n > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
            n => float(*n),
        }),
        Value::Str(value) => write_json_text(text, value),
        Value::Seq(items) => {
            write_list(text, ["[", "]"], items, write_json);
        }
        Value::Map(map) => write_list(text, ["{", "}"], &map.entries, |text, entry| {
            write_json_text(text, &entry.key.name);
            text.push_str(": ");
            write_json(text, &entry.value);
        }),
    }
}

/// As Python's `repr`.
fn write_repr(text: &mut String, node: &Node) {
    match &node.value {
        Value::Null => text.push_str("None"),
        Value::Bool(flag) => text.push_str(if *flag { "True" } else { "False" }),
        Value::Int(number) => text.push_str(&number.to_string()),
        Value::Float(number) => text.push_str(&float(*number)),
        Value::Str(value) => write_repr_text(text, value),
        Value::Seq(items) => {
            write_list(text, ["[", "]"], items, write_repr);
        }
        Value::Map(map) => write_list(text, ["{", "}"], &map.entries, |text, entry| {
            write_repr_text(text, &entry.key.name);
            text.push_str(": ");
            write_repr(text, &entry.value);
        }),
    }
}

fn write_list<T>(
    text: &mut String,
    [open, close]: [&str; 2],
    items: &[T],
    write: impl Fn(&mut String, &T),
) {
    text.push_str(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        write(text, item);
    }
    text.push_str(close);
}

/// JSON text with everything beyond ASCII escaped as UTF-16.
fn write_json_text(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(text, "\\u{unit:04x}").expect("writing to text cannot fail");
                }
            }
        }
    }
    text.push('"');
}

/// Python's quotes: single ones, unless the text holds these and no double ones.
fn write_repr_text(text: &mut String, value: &str) {
    let quote = if value.contains('\'') && !value.contains('"') {
        '"'
    } else {
        '\''
    };
    text.push(quote);
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\\' => text.push_str("\\\\"),
            c if c == quote => text.extend(['\\', c]),
            c => text.push(c),
        }
    }
    text.push(quote);
}

/// The shortest digits that give the number back, with an exponent below 1e-4 and from 1e16 on.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific
        .split_once('e')
        .expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a whole number");
    if (-4..16).contains(&exponent) {
        format!("{number:?}")
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    fn id(params: &str) -> String {
        deployment_id("gpt", parse(params, "t").unwrap().as_map().unwrap())
    }

    fn sha256_hex(text: &str) -> String {
        Sha256::digest(text.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    #[test]
    fn names_and_values_are_hashed_as_python_prints_them() {
        let params = "model: openai/x\nrpm: 5\nweight: 0.5\ndrop_params: true\nseed: null\n\
                      extra_body: {a: [1, 2.0, x], é: \"q\\\"\"}\nstop: [a, \"it's\"]\n";

        let printed = "gptmodelopenai/xrpm5weight0.5drop_paramsTrueseedNone\
                       extra_body{\"a\": [1, 2.0, \"x\"], \"\\u00e9\": \"q\\\"\"}\
                       stop['a', \"it's\"]";
        assert_eq!(id(params), sha256_hex(printed));
    }

    #[test]
    fn the_order_of_the_keys_counts() {
        assert_ne!(id("{model: a, rpm: 1}"), id("{rpm: 1, model: a}"));
        assert_eq!(id("{model: a, rpm: 1}"), id("{model: a, rpm: 1}"));
    }

    /// Digests from Python's hashlib over `"gpt" + "model" + "openai/x"` and the longer one.
    #[test]
    fn an_id_equals_the_one_that_python_computes() {
        assert_eq!(id("{model: openai/x}"), PY1);
        assert_eq!(
            id("{model: openai/x, input_cost_per_token: 1.5e-07, tags: [a, 1]}"),
            PY2
        );
    }

    #[test]
    fn floats_are_printed_as_python_does() {
        let printed = [1.0, 0.5, 1e15, 1e16, 1.5e-5, 0.0001, 2.5e-7, 1e22].map(float);

        let python = [
            "1.0",
            "0.5",
            "1000000000000000.0",
            "1e+16",
            "1.5e-05",
            "0.0001",
            "2.5e-07",
            "1e+22",
        ];
        assert_eq!(printed, python);
    }

    const PY1: &str = "efc3981d80988b04119ce85ab3a8cbe3c8450d77dc299dc1d4424199f704883f";
    const PY2: &str = "14394ae7d75b401088914672c8ea2c8792b8d34b62a1563432d68c38e4771119";
}
