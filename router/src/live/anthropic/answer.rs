//! A message as a chat completion, in one piece.

use serde_json::{Value, json};

use super::{Tokens, finish_reason};

/// The chat completion; `None` if this is no message. An error object stays as it is.
pub(in crate::live) fn answer(body: &[u8], created: u64) -> Option<Vec<u8>> {
    let message: Value = serde_json::from_slice(body).ok()?;
    if message["error"].is_object() {
        return Some(body.to_vec());
    }
    let blocks = message["content"].as_array()?;
    let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
    let text: String = of("text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    let thoughts: String = of("thinking")
        .filter_map(|block| block["thinking"].as_str())
        .collect();
    let calls: Vec<Value> = of("tool_use").map(call).collect();
    let mut told = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        told["tool_calls"] = calls.into();
        if text.is_empty() {
            told["content"] = Value::Null;
        }
    }
    if !thoughts.is_empty() {
        told["reasoning_content"] = thoughts.into();
    }
    let mut tokens = Tokens::default();
    tokens.hear(&message["usage"]);
    let answer = json!({
        "id": message["id"],
        "object": "chat.completion",
        "created": created,
        "model": message["model"],
        "choices": [{
            "index": 0,
            "message": told,
            "finish_reason": finish_reason(message["stop_reason"].as_str().unwrap_or_default()),
        }],
        "usage": tokens.told(),
    });
    serde_json::to_vec(&answer).ok()
}

fn call(block: &Value) -> Value {
    json!({
        "id": block["id"],
        "type": "function",
        "function": {"name": block["name"], "arguments": block["input"].to_string()},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Value {
        serde_json::from_slice(&answer(body.as_bytes(), 9).unwrap()).unwrap()
    }

    #[test]
    fn a_message_is_a_chat_completion_and_its_cached_tokens_are_of_the_prompt() {
        let told = of(
            r#"{"id": "msg_1", "type": "message", "model": "claude", "stop_reason": "max_tokens",
            "content": [{"type": "text", "text": "one"}, {"type": "text", "text": " two"}],
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3,
                      "output_tokens": 4}}"#,
        );

        assert_eq!(told["choices"][0]["message"]["content"], "one two");
        assert_eq!(told["choices"][0]["finish_reason"], "length");
        assert_eq!(
            (&told["id"], &told["created"]),
            (&json!("msg_1"), &json!(9))
        );
        assert_eq!(
            told["usage"],
            json!({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14,
                   "prompt_tokens_details": {"cached_tokens": 3}})
        );
    }

    #[test]
    fn a_tool_that_is_wanted_is_a_tool_call() {
        let told = of(r#"{"stop_reason": "tool_use", "content": [
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]}"#);

        let message = &told["choices"][0]["message"];
        assert_eq!(message["content"], Value::Null);
        assert_eq!(
            message["tool_calls"][0]["function"],
            json!({"name": "f", "arguments": "{\"a\":1}"})
        );
        assert_eq!(told["choices"][0]["finish_reason"], "tool_calls");
    }

    #[test]
    fn what_is_no_message_is_none_and_an_error_stays() {
        assert_eq!(answer(b"<html>", 0), None);
        assert_eq!(answer(b"{}", 0), None);
        let error = br#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#;
        assert_eq!(answer(error, 0).as_deref(), Some(&error[..]));
    }
}
