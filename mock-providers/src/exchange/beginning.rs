//! What a prompt begins with, for the provider's prompt cache: its system prompt, which many
//! conversations share, and the conversation that it goes on with.

use std::num::NonZeroU64;

use router::ContentId;
use serde_json::Value;

use super::asked::tokens;
use crate::prompt_cache::Beginning;

/// The beginning of the prompt in a body. A conversation is known by its system prompt and its first
/// message; all of it but the last message was said before, and the only message of one was said
/// before if the whole prompt was.
pub(crate) fn of(body: &Value) -> Beginning {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let is_system = |message: &&Value| {
        let role = message["role"].as_str().unwrap_or_default();
        matches!(role, "system" | "developer")
    };
    let system = messages.iter().take_while(is_system).count();
    let (system, said) = messages.split_at(system);
    let mut text = body["system"].to_string();
    text.extend(system.iter().map(Value::to_string));
    let system_tokens = tokens([&body["system"]].into_iter().chain(system));
    let shared = (system_tokens > 0).then(|| (content(&text), system_tokens));
    let history = said.first().map(|first| {
        let before = match said {
            [only] => std::slice::from_ref(only),
            [before @ .., _] => before,
            [] => &[],
        };
        let all = [&body["system"]].into_iter().chain(system).chain(before);
        (content(&(text + &first.to_string())), tokens(all))
    });
    Beginning {
        shared,
        history,
        marked: has_mark(body),
    }
}

/// Whether `cache_control` stands anywhere in it.
fn has_mark(value: &Value) -> bool {
    match value {
        Value::Object(keys) => keys.contains_key("cache_control") || keys.values().any(has_mark),
        Value::Array(items) => items.iter().any(has_mark),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// FNV-1a with 64 bits.
fn content(text: &str) -> ContentId {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ContentId(NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning(messages: &str) -> Beginning {
        let body = format!(r#"{{"messages": [{messages}]}}"#);
        of(&serde_json::from_str(&body).unwrap())
    }

    const SYSTEM: &str = r#"{"role": "system", "content": "12345678"}"#;
    const ASKED: &str = r#"{"role": "user", "content": "1234"}"#;
    const SAID: &str = r#"{"role": "assistant", "content": "123456789012"}"#;

    #[test]
    fn a_conversation_is_known_again_when_it_goes_on() {
        let first = beginning(&format!("{SYSTEM}, {ASKED}"));
        let next = beginning(&format!("{SYSTEM}, {ASKED}, {SAID}, {ASKED}"));

        assert_eq!(first.shared, next.shared);
        assert_eq!(first.shared.unwrap().1, 2);
        let [first, next] = [first, next].map(|known| known.history.unwrap());
        assert_eq!(first.0, next.0);
        assert_eq!((first.1, next.1), (3, 6));
    }

    #[test]
    fn others_are_told_apart_and_share_their_system_prompt() {
        let one = beginning(&format!("{SYSTEM}, {ASKED}"));
        let other = beginning(&format!("{SYSTEM}, {SAID}"));

        assert_eq!(one.shared, other.shared);
        assert_ne!(one.history.unwrap().0, other.history.unwrap().0);
        assert_eq!(beginning(ASKED).shared, None);
    }

    #[test]
    fn a_mark_is_found_wherever_it_stands() {
        let marked = r#"{"role": "user", "content":
            [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}"#;

        assert!(beginning(marked).marked);
        assert!(!beginning(ASKED).marked);
    }
}
