//! The events of a message as the frames of a chat completion.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{super::frames, Tokens, finish_reason};

/// Translates one stream, event by event.
#[derive(Debug)]
pub(in crate::live) struct Translator {
    created: u64,
    /// Whether the caller wants the usage as a last frame.
    tells_usage: bool,
    id: Value,
    model: Value,
    tokens: Tokens,
    /// Tool calls begun so far.
    calls: u64,
}

impl Translator {
    pub(in crate::live) const fn new(created: u64, tells_usage: bool) -> Self {
        Self {
            created,
            tells_usage,
            id: Value::Null,
            model: Value::Null,
            tokens: Tokens {
                prompt: 0,
                cached: 0,
                answer: 0,
            },
            calls: 0,
        }
    }

    /// The usage so far, as OpenAI writes it.
    pub(in crate::live) fn usage(&self) -> Value {
        self.tokens.told()
    }

    /// The frames of an event; none where OpenAI has no words for it. What is no event stays as it is.
    pub(in crate::live) fn frames(&mut self, event: &Bytes) -> Option<Bytes> {
        let Some(event) = data(event) else {
            return Some(event.clone());
        };
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let message = &event["message"];
                self.tokens.hear(&message["usage"]);
                self.id = message["id"].clone();
                self.model = message["model"].clone();
                Some(self.piece(&json!({"role": "assistant", "content": ""}), None))
            }
            "content_block_start" if event["content_block"]["type"] == "tool_use" => {
                let block = &event["content_block"];
                self.calls += 1;
                let function = json!({"name": block["name"], "arguments": ""});
                let call = json!({"index": self.calls - 1, "id": block["id"], "type": "function",
                                  "function": function});
                Some(self.piece(&json!({"tool_calls": [call]}), None))
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let told = match delta["type"].as_str().unwrap_or_default() {
                    "text_delta" => json!({"content": delta["text"]}),
                    "thinking_delta" => json!({"reasoning_content": delta["thinking"]}),
                    "input_json_delta" => {
                        let function = json!({"arguments": delta["partial_json"]});
                        let index = self.calls.saturating_sub(1);
                        json!({"tool_calls": [{"index": index, "function": function}]})
                    }
                    _ => return None,
                };
                Some(self.piece(&told, None))
            }
            "message_delta" => {
                self.tokens.hear(&event["usage"]);
                let reason = event["delta"]["stop_reason"].as_str()?;
                Some(self.piece(&json!({}), Some(finish_reason(reason))))
            }
            "message_stop" => Some(self.last()),
            "error" => {
                let error = json!({"error": event["error"]});
                Some(Bytes::from(format!("data: {error}\n\n")))
            }
            // A block that begins or ends says nothing; a ping is a sign of life, as a comment is.
            "ping" => Some(Bytes::from_static(b": ping\n\n")),
            _ => None,
        }
    }

    /// One frame: the usage if it is wanted, else the marker of the end, which nobody waits for.
    fn last(&self) -> Bytes {
        if !self.tells_usage {
            return Bytes::from_static(b"data: [DONE]\n\n");
        }
        let mut chunk = self.chunk();
        chunk["choices"] = json!([]);
        chunk["usage"] = self.tokens.told();
        Bytes::from(format!("data: {chunk}\n\n"))
    }

    fn piece(&self, delta: &Value, reason: Option<&str>) -> Bytes {
        let mut chunk = self.chunk();
        chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        Bytes::from(format!("data: {chunk}\n\n"))
    }

    fn chunk(&self) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
        })
    }
}

/// The data of an event, if that is an object with a type.
fn data(event: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(event).ok()?;
    let data = frames::data(text)?;
    let data: Value = serde_json::from_str(&data).ok()?;
    data["type"].is_string().then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(data: &str) -> Bytes {
        Bytes::from(format!("event: x\ndata: {data}\n\n"))
    }

    fn told(translator: &mut Translator, data: &str) -> Option<String> {
        let frames = translator.frames(&event(data))?;
        Some(String::from_utf8(frames.to_vec()).unwrap())
    }

    /// The JSON of a frame, the first of several.
    fn json_of(translator: &mut Translator, data: &str) -> Value {
        let text = told(translator, data).unwrap();
        let first = text.lines().next().unwrap().strip_prefix("data: ").unwrap();
        serde_json::from_str(first).unwrap()
    }

    #[test]
    fn a_message_streams_as_a_chat_completion_with_its_usage_last() {
        let mut t = Translator::new(9, true);
        let begin = r#"{"type": "message_start", "message": {"id": "msg_1", "model": "claude", "usage": {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1}}}"#;
        let opening = json_of(&mut t, begin);
        assert_eq!(opening["id"], "msg_1");
        let delta = &opening["choices"][0]["delta"];
        assert_eq!(*delta, json!({"role": "assistant", "content": ""}));
        let block = r#"{"type": "content_block_start", "content_block": {"type": "text"}}"#;
        assert_eq!(told(&mut t, block), None);
        let piece =
            r#"{"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}}"#;
        let piece = json_of(&mut t, piece);
        assert_eq!(piece["choices"][0]["delta"], json!({"content": "hi"}));
        assert_eq!(told(&mut t, r#"{"type": "ping"}"#).unwrap(), ": ping\n\n");
        let end = r#"{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}"#;
        assert_eq!(json_of(&mut t, end)["choices"][0]["finish_reason"], "stop");

        let last = r#"{"type": "message_stop"}"#;
        let usage = &json_of(&mut t, last)["usage"];

        assert_eq!(
            (&usage["prompt_tokens"], &usage["completion_tokens"]),
            (&json!(8), &json!(7))
        );
        assert_eq!(t.usage()["prompt_tokens_details"]["cached_tokens"], 3);
    }

    #[test]
    fn tools_stream_piece_by_piece() {
        let mut t = Translator::new(9, false);
        let begin = r#"{"type": "content_block_start", "content_block": {"type": "tool_use", "id": "t1", "name": "f"}}"#;
        let call = &json_of(&mut t, begin)["choices"][0]["delta"]["tool_calls"][0];
        assert_eq!((&call["id"], &call["index"]), (&json!("t1"), &json!(0)));
        let piece = r#"{"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{\"a\""}}"#;
        let call = &json_of(&mut t, piece)["choices"][0]["delta"]["tool_calls"][0];
        assert_eq!(call["function"]["arguments"], "{\"a\"");
        let last = told(&mut t, r#"{"type": "message_stop"}"#);
        assert_eq!(last.unwrap(), "data: [DONE]\n\n");
    }

    #[test]
    fn an_error_is_one_and_what_is_no_event_stays() {
        let mut t = Translator::new(9, false);
        let error = r#"{"type": "error", "error": {"type": "overloaded_error", "message": "no"}}"#;
        assert_eq!(json_of(&mut t, error)["error"]["type"], "overloaded_error");
        let two_lines = Bytes::from_static(b"data: {\"type\":\ndata: \"ping\"}\n\n");
        assert_eq!(t.frames(&two_lines).unwrap(), ": ping\n\n");
        let broken = Bytes::from_static(b"data: {\"type\": \"mess\n\n");
        assert_eq!(t.frames(&broken), Some(broken));
    }
}
