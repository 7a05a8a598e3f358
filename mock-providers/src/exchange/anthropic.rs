//! Answers and frames as Anthropic writes them: messages.

use super::{Letterhead, text, word};
use crate::reply::ProviderCall;

/// A message in one piece.
pub(crate) fn answer(call: &ProviderCall, tokens: u32, head: &Letterhead) -> String {
    let Letterhead { number, model, .. } = head;
    let (text, reason, prompt) = (text(tokens), reason(call, tokens), prompt(head, call));
    format!(
        r#"{{"id":"msg_{number}","type":"message","role":"assistant","model":{model},"content":[{{"type":"text","text":"{text}"}}],"stop_reason":"{reason}","stop_sequence":null,"usage":{{{prompt},"output_tokens":{tokens}}}}}"#
    )
}

/// Tokens of the prompt: those from the cache are told apart.
fn prompt(head: &Letterhead, call: &ProviderCall) -> String {
    let (cached, read) = (head.cached, call.prompt_tokens.saturating_sub(head.cached));
    format!(
        r#""input_tokens":{read},"cache_creation_input_tokens":0,"cache_read_input_tokens":{cached}"#
    )
}

/// The events that open a stream.
pub(crate) fn opening(head: &Letterhead, call: &ProviderCall) -> String {
    let Letterhead { number, model, .. } = head;
    let prompt = prompt(head, call);
    event(
        "message_start",
        &format!(
            r#""message":{{"id":"msg_{number}","type":"message","role":"assistant","model":{model},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{{{prompt},"output_tokens":1}}}}"#
        ),
    ) + &event(
        "content_block_start",
        r#""index":0,"content_block":{"type":"text","text":""}"#,
    )
}

/// Token number `number`.
pub(crate) fn content(number: u32) -> String {
    let word = word(number);
    event(
        "content_block_delta",
        &format!(r#""index":0,"delta":{{"type":"text_delta","text":"{word}"}}"#),
    )
}

/// The events that tell why an answer ends.
pub(crate) fn closing(call: &ProviderCall, tokens: u32) -> String {
    let reason = reason(call, tokens);
    event("content_block_stop", r#""index":0"#)
        + &event(
            "message_delta",
            &format!(
                r#""delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":{tokens}}}"#
            ),
        )
}

/// The end marker.
pub(crate) fn end() -> String {
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".to_owned()
}

fn event(name: &str, rest: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\",{rest}}}\n\n")
}

/// Whether the answer ended by itself or at the caller's limit.
const fn reason(call: &ProviderCall, tokens: u32) -> &'static str {
    match call.max_tokens {
        Some(most) if most == tokens && most < call.output_tokens => "max_tokens",
        Some(_) | None => "end_turn",
    }
}
