//! A chat completion's body as that of a message.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json, value::RawValue};

/// The body of a message. The error says what Anthropic has no words for.
pub(in crate::live) fn body<'a>(
    parameters: impl Iterator<Item = (&'a String, &'a Box<RawValue>)>,
    model: &str,
    stream: bool,
) -> Result<Vec<u8>, String> {
    let parameters: BTreeMap<&str, Value> = parameters
        .filter_map(|(key, value)| {
            let value: Value = serde_json::from_str(value.get()).ok()?;
            (!value.is_null()).then_some((key.as_str(), value))
        })
        .collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    if stream {
        body.insert("stream".to_owned(), true.into());
    }
    let mut unknown = Vec::new();
    for (key, value) in parameters {
        match key {
            "messages" => messages(value, &mut body)?,
            "max_tokens" | "max_completion_tokens" => put(&mut body, "max_tokens", value),
            "temperature" | "top_p" | "top_k" | "thinking" | "metadata" | "service_tier" => {
                put(&mut body, key, value);
            }
            "stop" => {
                let texts = if value.is_string() {
                    json!([value])
                } else {
                    value
                };
                put(&mut body, "stop_sequences", texts);
            }
            "user" => put(&mut body, "metadata", json!({"user_id": value})),
            "tools" => put(&mut body, "tools", tools(&value)?),
            "tool_choice" => put(&mut body, "tool_choice", tool_choice(&value)?),
            // Streams tell their usage always; one answer is what it gives.
            "stream_options" => {}
            "n" if value == 1 => {}
            other => unknown.push(other.to_owned()),
        }
    }
    if !unknown.is_empty() {
        return Err(format!(
            "anthropic does not support parameters: {}",
            unknown.join(", ")
        ));
    }
    body.entry("max_tokens").or_insert(MAX_TOKENS.into());
    serde_json::to_vec(&body).map_err(|error| error.to_string())
}

fn put(body: &mut Map<String, Value>, key: &str, value: Value) {
    body.insert(key.to_owned(), value);
}

/// Messages, with those of the system apart.
fn messages(all: Value, body: &mut Map<String, Value>) -> Result<(), String> {
    let Value::Array(all) = all else {
        return Err("`messages` is no list".to_owned());
    };
    let (mut system, mut told) = (Vec::new(), Vec::new());
    for message in all {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        let content = &message["content"];
        match role.as_str() {
            "system" | "developer" => system.extend(parts(content)?),
            "tool" => told.push(json!({"role": "user", "content": [{
                "type": "tool_result",
                "tool_use_id": message["tool_call_id"],
                "content": parts(content)?,
            }]})),
            "user" => told.push(json!({"role": "user", "content": parts(content)?})),
            "assistant" => {
                let mut content = parts(content)?;
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    content.push(tool_use(call));
                }
                told.push(json!({"role": "assistant", "content": content}));
            }
            other => return Err(format!("anthropic knows no messages of the role `{other}`")),
        }
    }
    if !system.is_empty() {
        put(body, "system", system.into());
    }
    put(body, "messages", told.into());
    Ok(())
}

/// A content as blocks; marks of the prompt cache stay.
fn parts(content: &Value) -> Result<Vec<Value>, String> {
    match content {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(text) => Ok(vec![json!({"type": "text", "text": text})]),
        Value::Array(parts) => parts.iter().map(part).collect(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err("the content of a message is neither a text nor a list".to_owned())
        }
    }
}

fn part(part: &Value) -> Result<Value, String> {
    let mut block = match part["type"].as_str() {
        Some("text") => json!({"type": "text", "text": part["text"]}),
        Some("image_url") => {
            let url = part["image_url"]["url"].as_str();
            let url = url
                .or_else(|| part["image_url"].as_str())
                .unwrap_or_default();
            json!({"type": "image", "source": source(url)})
        }
        other => {
            let other = other.unwrap_or_default();
            return Err(format!("anthropic knows no content of the type `{other}`"));
        }
    };
    if let Some(mark) = part.get("cache_control") {
        block["cache_control"] = mark.clone();
    }
    Ok(block)
}

/// A picture that is written out (`data:image/png;base64,…`), or where it is.
fn source(url: &str) -> Value {
    let written = url.strip_prefix("data:");
    match written.and_then(|rest| rest.split_once(";base64,")) {
        Some((kind, data)) => json!({"type": "base64", "media_type": kind, "data": data}),
        None => json!({"type": "url", "url": url}),
    }
}

fn tool_use(call: &Value) -> Value {
    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
    let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
    json!({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": input})
}

fn tools(all: &Value) -> Result<Value, String> {
    let all = all.as_array().ok_or("`tools` is no list")?;
    let tool = |tool: &Value| {
        let function = &tool["function"];
        let mut told = json!({"name": function["name"], "input_schema": function["parameters"]});
        if told["input_schema"].is_null() {
            told["input_schema"] = json!({"type": "object", "properties": {}});
        }
        if let Some(description) = function.get("description") {
            told["description"] = description.clone();
        }
        told
    };
    Ok(all.iter().map(tool).collect())
}

fn tool_choice(choice: &Value) -> Result<Value, String> {
    match (choice.as_str(), choice["function"]["name"].as_str()) {
        (Some("required"), _) => Ok(json!({"type": "any"})),
        (Some(word @ ("auto" | "none")), _) => Ok(json!({"type": word})),
        (None, Some(name)) => Ok(json!({"type": "tool", "name": name})),
        _ => Err(format!("anthropic knows no tool_choice {choice}")),
    }
}

/// Anthropic wants a limit always; this is LiteLLM's (`DEFAULT_ANTHROPIC_CHAT_MAX_TOKENS`).
const MAX_TOKENS: u32 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(keys: &str) -> Result<Value, String> {
        let keys: BTreeMap<String, Box<RawValue>> = serde_json::from_str(keys).unwrap();
        body(keys.iter(), "claude", false).map(|body| serde_json::from_slice(&body).unwrap())
    }

    #[test]
    fn the_system_stands_apart_and_each_limit_has_its_name() {
        let told = of(r#"{"messages": [{"role": "system", "content": "be brief"},
                                       {"role": "user", "content": "hi"}],
                          "max_completion_tokens": 7, "stop": "x", "user": "u", "n": 1,
                          "stream_options": {"include_usage": true}, "temperature": null}"#);

        let due = json!({
            "model": "claude",
            "system": [{"type": "text", "text": "be brief"}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
            "max_tokens": 7, "stop_sequences": ["x"], "metadata": {"user_id": "u"},
        });
        assert_eq!(told, Ok(due));
    }

    #[test]
    fn tools_and_their_results_are_blocks() {
        let told = of(r#"{"messages": [
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]},
            {"role": "tool", "tool_call_id": "t1", "content": "two"}],
          "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
          "tool_choice": "required"}"#)
        .unwrap();

        assert_eq!(
            told["messages"],
            json!([
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1",
                                              "content": [{"type": "text", "text": "two"}]}]},
            ])
        );
        assert_eq!(
            told["tools"],
            json!([{"name": "f", "input_schema": {"type": "object"}}])
        );
        assert_eq!(told["tool_choice"], json!({"type": "any"}));
        assert_eq!(told["max_tokens"], 4_096);
    }

    #[test]
    fn pictures_and_marks_of_the_cache_stay() {
        let told = of(r#"{"messages": [{"role": "user", "content": [
            {"type": "text", "text": "see", "cache_control": {"type": "ephemeral"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA"}},
            {"type": "image_url", "image_url": {"url": "https://h/p.png"}}]}]}"#)
        .unwrap();

        assert_eq!(
            told["messages"][0]["content"],
            json!([
                {"type": "text", "text": "see", "cache_control": {"type": "ephemeral"}},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAA"}},
                {"type": "image", "source": {"type": "url", "url": "https://h/p.png"}},
            ])
        );
    }

    #[test]
    fn what_anthropic_has_no_words_for_is_refused_and_named() {
        for (keys, says) in [
            (
                r#"{"messages": [], "logprobs": true, "n": 2}"#,
                "logprobs, n",
            ),
            (
                r#"{"messages": [{"role": "judge", "content": "x"}]}"#,
                "`judge`",
            ),
            (
                r#"{"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}"#,
                "`input_audio`",
            ),
            (r#"{"messages": [], "tool_choice": "some"}"#, "tool_choice"),
        ] {
            assert!(of(keys).unwrap_err().contains(says), "{keys}");
        }
    }
}
