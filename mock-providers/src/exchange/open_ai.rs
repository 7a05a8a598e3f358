//! Answers and frames as OpenAI writes them: chat completions and embeddings.

use std::fmt::Write as _;

use super::{Letterhead, asked::Asked, text, word};
use crate::reply::ProviderCall;

/// A chat completion in one piece.
pub(crate) fn answer(call: &ProviderCall, tokens: u32, head: &Letterhead) -> String {
    let Letterhead {
        number,
        model,
        created,
        ..
    } = head;
    let (text, reason, usage) = (
        text(tokens),
        reason(call, tokens),
        usage(head, call, tokens),
    );
    let mut body = String::with_capacity(text.len() + AROUND);
    // Writing to a string does not fail.
    let _ = write!(
        body,
        r#"{{"id":"chatcmpl-{number}","object":"chat.completion","created":{created},"model":{model},"choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}","refusal":null}},"logprobs":null,"finish_reason":"{reason}"}}],"usage":{usage}}}"#
    );
    body
}

/// The frame that opens a stream.
pub(crate) fn opening(head: &Letterhead) -> String {
    chunk(head, r#"{"role":"assistant","content":""}"#, "null")
}

/// Token number `number`.
pub(crate) fn content(head: &Letterhead, number: u32) -> String {
    let word = word(number);
    chunk(head, &format!(r#"{{"content":"{word}"}}"#), "null")
}

/// The frame that tells why an answer ends, and the one with the usage where it was asked for.
pub(crate) fn closing(
    head: &Letterhead,
    call: &ProviderCall,
    tokens: u32,
    tells_usage: bool,
) -> String {
    let reason = format!(r#""{}""#, reason(call, tokens));
    let mut frames = chunk(head, "{}", &reason);
    if tells_usage {
        let rest = format!(r#""choices":[],"usage":{}"#, usage(head, call, tokens));
        frames += &frame(head, &rest);
    }
    frames
}

/// The end marker.
pub(crate) const DONE: &str = "data: [DONE]\n\n";

fn chunk(head: &Letterhead, delta: &str, reason: &str) -> String {
    let choice = format!(
        r#""choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{reason}}}]"#
    );
    frame(head, &choice)
}

fn frame(head: &Letterhead, rest: &str) -> String {
    let Letterhead {
        number,
        model,
        created,
        ..
    } = head;
    format!(
        "data: {{\"id\":\"chatcmpl-{number}\",\"object\":\"chat.completion.chunk\",\
         \"created\":{created},\"model\":{model},{rest}}}\n\n"
    )
}

/// Whether the answer ended by itself or at the caller's limit.
const fn reason(call: &ProviderCall, tokens: u32) -> &'static str {
    match call.max_tokens {
        Some(most) if most == tokens && most < call.output_tokens => "length",
        Some(_) | None => "stop",
    }
}

fn usage(head: &Letterhead, call: &ProviderCall, tokens: u32) -> String {
    let (prompt, cached) = (call.prompt_tokens, head.cached);
    let total = u64::from(prompt) + u64::from(tokens);
    format!(
        r#"{{"prompt_tokens":{prompt},"completion_tokens":{tokens},"total_tokens":{total},"prompt_tokens_details":{{"cached_tokens":{cached}}}}}"#
    )
}

/// One vector for each input, of the length that was asked for.
pub(crate) fn embeddings(asked: &Asked, head: &Letterhead) -> String {
    let mut data = String::new();
    for input in 0..asked.inputs {
        let comma = if input == 0 { "" } else { "," };
        // Any numbers do; these differ by input and place.
        let numbers =
            (0..asked.dimensions).map(|place| format!("0.{:03}", (input + place) % 1_000));
        let vector = numbers.collect::<Vec<_>>().join(",");
        let _ = write!(
            data,
            r#"{comma}{{"object":"embedding","index":{input},"embedding":[{vector}]}}"#
        );
    }
    let (model, tokens) = (&head.model, asked.prompt_tokens);
    format!(
        r#"{{"object":"list","data":[{data}],"model":{model},"usage":{{"prompt_tokens":{tokens},"total_tokens":{tokens}}}}}"#
    )
}

/// Letters of an answer around its text, about.
const AROUND: usize = 512;
