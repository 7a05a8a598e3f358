//! What must hold of a request, whatever it says (`crate::fuzzed`).

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use router::{Overrides, live::Endpoint};
use serde_json::Value;

use super::asked::{Asked, Wanted, read};

/// A request (a line that is its path, lines of headers, an empty line, a body) is refused in JSON as a
/// bad one, or becomes a call that can be sent on: what goes on, read again, is the same call.
pub fn request(data: &[u8]) {
    let (headers, body) = split(data);
    let wanted = Wanted::all();
    for endpoint in [Endpoint::Chat, Endpoint::Completions, Endpoint::Embeddings] {
        let asked = match read(endpoint, body, &headers, (Some("key"), None), wanted) {
            Ok(asked) => asked,
            Err(refusal) => {
                assert_eq!(refusal.status.as_u16(), 400);
                let told: Value = serde_json::from_str(&refusal.json()).expect("it is JSON");
                assert!(told["error"]["message"].is_string(), "{told}");
                continue;
            }
        };
        let sent_on = written(&asked);
        let again = read(
            endpoint,
            &sent_on,
            &HeaderMap::new(),
            (Some("key"), None),
            wanted,
        );
        let again = again.expect("what goes on can be read");
        assert_eq!(told(&asked), told(&again));
        assert!(asked.call.prompt_tokens > 0);
        let overrides = again.call.overrides.as_deref().cloned().unwrap_or_default();
        let none = Overrides {
            api: overrides.api,
            ..Overrides::default()
        };
        assert_eq!(overrides, none, "nothing of the router's goes on");
    }
}

/// What of a call does not depend on the router's own fields.
fn told(asked: &Asked) -> impl PartialEq + std::fmt::Debug {
    let call = &asked.call;
    let origin = (call.origin.content, call.origin.prefix, call.origin.caller);
    (
        call.model.clone(),
        call.prompt_tokens,
        call.max_tokens,
        asked.stream,
        origin,
    )
}

/// The body that goes on, as whoever sends it on writes it.
fn written(asked: &Asked) -> Vec<u8> {
    let mut body = asked.call.payload.body.clone();
    let own = |text: String| serde_json::value::RawValue::from_string(text).expect("it is JSON");
    body.insert(
        "model".to_owned(),
        own(Value::from(asked.call.model.as_str()).to_string()),
    );
    body.insert("stream".to_owned(), own(asked.stream.to_string()));
    serde_json::to_vec(&body).expect("a body can be written")
}

/// Headers that HTTP allows, and the body.
fn split(data: &[u8]) -> (HeaderMap, &[u8]) {
    let mut headers = HeaderMap::new();
    let mut rest = data;
    let mut first = true;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = rest[..end].trim_ascii_end();
        rest = &rest[end + 1..];
        if line.is_empty() {
            break;
        }
        let colon = line
            .iter()
            .position(|byte| *byte == b':')
            .filter(|_| !first);
        first = false;
        let Some(colon) = colon else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii_start());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    (headers, rest)
}
