//! A request as it came, read as a call of the router.

use std::sync::Arc;

use axum::http::HeaderMap;
use mock_providers::estimated_tokens;
use router::{
    CallerId, ContentId, RouterConfig,
    live::{Call, Endpoint, Payload},
};
use serde_json::Value;

use super::{
    fields::{self, Body, hashed, peek, take_key},
    refusal::Refusal,
};

/// What of a request's content the router's settings ask for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The whole of it: answers are cached.
    content: bool,
    /// The part up to the last `cache_control`: prompt caching binds requests.
    prefix: bool,
    /// The `User-Agent`: some deployment has a `tag_regex`.
    agent: bool,
}

impl Wanted {
    /// Everything.
    #[cfg(any(test, fuzzing))]
    pub(super) const fn all() -> Self {
        Self {
            content: true,
            prefix: true,
            agent: true,
        }
    }

    pub(super) fn by(config: &RouterConfig) -> Self {
        let settings = &config.settings;
        let checks = settings.model_group_affinity_config.values();
        let mut checks = checks.chain([&settings.optional_pre_call_checks]);
        Self {
            content: settings.cache_responses,
            prefix: checks.any(|checks| checks.prompt_caching),
            agent: config.deployments.iter().any(|d| !d.tag_regex.is_empty()),
        }
    }
}

/// A call, and whether its answer is to be streamed.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) call: Call,
    pub(super) stream: bool,
}

/// Reads a body. `caller` is the key that it came with, `named` the model that its path names.
pub(super) fn read(
    endpoint: Endpoint,
    body: &[u8],
    headers: &HeaderMap,
    (caller, named): (Option<&str>, Option<&str>),
    wanted: Wanted,
) -> Result<Asked, Refusal> {
    let mut body: Body = serde_json::from_slice(body)
        .map_err(|error| Refusal::bad(format!("the body is no JSON object: {error}")))?;
    let model: Option<String> = take_key(&mut body, "model", "a text")?;
    let model = model.or_else(|| named.map(str::to_owned));
    let model = model.filter(|model| !model.is_empty() && model.len() <= LONGEST_NAME);
    let model = model.ok_or_else(|| {
        let told = format!("`model` must be the name of a model, of at most {LONGEST_NAME} bytes");
        Refusal::param("model", told)
    })?;
    let stream: Option<bool> = take_key(&mut body, "stream", "true or false")?;
    let (prompt, kind) = match endpoint {
        Endpoint::Chat => ("messages", "a list of messages"),
        Endpoint::Completions => ("prompt", "a text or a list"),
        Endpoint::Embeddings => ("input", "a text or a list"),
    };
    let parsed: Option<Value> = peek(&body, prompt, kind)?;
    let fits = |prompt: &Value| match endpoint {
        Endpoint::Chat => prompt.is_array(),
        Endpoint::Completions | Endpoint::Embeddings => prompt.is_array() || prompt.is_string(),
    };
    let Some(parsed) = parsed.filter(fits) else {
        return Err(Refusal::param(prompt, format!("`{prompt}` must be {kind}")));
    };
    let (overrides, mut origin) = fields::take(&mut body, headers, endpoint.api(), wanted.agent)?;
    origin.caller = caller.map(|key| CallerId(hashed([key.as_bytes()])));
    if wanted.content {
        let parts = body.iter();
        let parts = parts.flat_map(|(key, value)| [key.as_bytes(), value.get().as_bytes()]);
        origin.content = Some(ContentId(hashed(
            [endpoint.path().as_bytes()].into_iter().chain(parts),
        )));
    }
    if wanted.prefix {
        origin.prefix = prefix(&parsed, &body);
    }
    let most: Option<u32> = peek(&body, "max_tokens", "a whole number")?;
    let completion: Option<u32> = peek(&body, "max_completion_tokens", "a whole number")?;
    Ok(Asked {
        call: Call {
            model,
            prompt_tokens: estimated_tokens([&parsed]).max(1),
            max_tokens: most.or(completion),
            origin,
            overrides,
            payload: Arc::new(Payload {
                endpoint,
                body,
                headers: reqwest_headers(headers),
                number_headers: None,
            }),
            id: None,
        },
        stream: stream == Some(true) && endpoint != Endpoint::Embeddings,
    })
}

/// Headers of the caller's that go on to the provider: those that follow a request through systems.
fn reqwest_headers(headers: &HeaderMap) -> HeaderMap {
    let traced = ["traceparent", "tracestate"].into_iter();
    let traced = traced.filter_map(|name| {
        let value = headers.get(name)?;
        Some((axum::http::HeaderName::from_static(name), value.clone()))
    });
    traced.collect()
}

/// The messages up to the last one with a `cache_control` mark, and the tools before them.
fn prefix(messages: &Value, body: &Body) -> Option<ContentId> {
    let messages = messages.as_array()?;
    let marked = |part: &Value| !part["cache_control"].is_null();
    let last = messages.iter().rposition(|message| {
        let parts = message["content"].as_array();
        marked(message) || parts.is_some_and(|parts| parts.iter().any(marked))
    })?;
    let tools = body.get("tools").map_or("", |tools| tools.get());
    let messages: Vec<String> = messages[..=last].iter().map(Value::to_string).collect();
    let parts = messages.iter().map(String::as_bytes);
    Some(ContentId(hashed(
        [tools.as_bytes()].into_iter().chain(parts),
    )))
}

/// Longer than any name of a model.
const LONGEST_NAME: usize = 256;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use router::RequestFallbacks;

    use super::*;

    fn asked(body: &str) -> Result<Asked, Refusal> {
        let config = RouterConfig::of_deployments(["a"]);
        let mut wanted = Wanted::by(&config);
        (wanted.content, wanted.prefix) = (true, true);
        read(
            Endpoint::Chat,
            body.as_bytes(),
            &HeaderMap::new(),
            (Some("k"), None),
            wanted,
        )
    }

    const MESSAGES: &str = r#""messages": [{"role": "user", "content": "twenty letters, just"}]"#;

    #[test]
    fn the_routers_fields_are_read_and_do_not_reach_the_provider() {
        let body = format!(
            r#"{{"model": "m", {MESSAGES}, "stream": true, "temperature": 1.10, "num_retries": 3,
                "timeout": "2.5", "fallbacks": ["x", "y"], "priority": 4, "max_tokens": 9,
                "metadata": {{"tags": ["paid"], "session_id": "s"}}, "caching": false,
                "context_window_fallbacks": [{{"m": ["big"]}}]}}"#
        );

        let asked = asked(&body).unwrap();

        assert!(asked.stream);
        let call = asked.call;
        assert_eq!((call.prompt_tokens, call.max_tokens), (5, Some(9)));
        let own = call.overrides.unwrap();
        assert_eq!((own.num_retries, own.no_cache), (Some(3), true));
        assert_eq!(own.timeout, Some(Duration::from_millis(2_500)));
        let names = ["x".to_owned(), "y".to_owned()];
        assert_eq!(own.fallbacks, Some(RequestFallbacks::Names(names.into())));
        assert_eq!(own.tags, ["paid"]);
        assert_eq!(call.origin.priority, Some(4));
        assert!(call.origin.session.is_some() && call.origin.caller.is_some());
        let left: Vec<&str> = call.payload.body.keys().map(String::as_str).collect();
        assert_eq!(left, ["max_tokens", "messages", "temperature"]);
        assert_eq!(call.payload.body["temperature"].get(), "1.10");
    }

    #[test]
    fn equal_contents_are_known_again_whoever_asks_whatever_model() {
        let content = |body: String| asked(&body).unwrap().call.origin.content;
        let base = content(format!(r#"{{"model": "m", {MESSAGES}}}"#));

        assert_eq!(
            base,
            content(format!(r#"{{"num_retries": 1, "model": "n", {MESSAGES}}}"#))
        );
        assert_ne!(
            base,
            content(format!(r#"{{"model": "m", "n": 2, {MESSAGES}}}"#))
        );
    }

    #[test]
    fn a_prefix_ends_with_the_last_mark() {
        let prefix = |last: &str, mark: &str| {
            let body = format!(
                r#"{{"model": "m", "messages": [
                    {{"role": "system", "content": [{{"type": "text", "text": "s"{mark}}}]}},
                    {{"role": "user", "content": "{last}"}}]}}"#
            );
            asked(&body).unwrap().call.origin.prefix
        };
        let mark = r#", "cache_control": {"type": "ephemeral"}"#;

        assert_eq!(prefix("one", ""), None);
        assert!(prefix("one", mark).is_some());
        assert_eq!(prefix("one", mark), prefix("two", mark));
    }

    #[test]
    fn what_makes_no_sense_is_told_with_its_key() {
        for (body, says) in [
            ("{", "no JSON object"),
            ("[1]", "no JSON object"),
            (r#"{"messages": []}"#, "`model`"),
            (r#"{"model": "m"}"#, "`messages`"),
            (r#"{"model": "m", "messages": "hi"}"#, "`messages`"),
            (
                r#"{"model": "m", "messages": [], "stream": "yes"}"#,
                "`stream`",
            ),
            (
                r#"{"model": "m", "messages": [], "timeout": -1}"#,
                "`timeout`",
            ),
            (
                r#"{"model": "m", "messages": [], "num_retries": -1}"#,
                "`num_retries`",
            ),
            (
                r#"{"model": "m", "messages": [], "fallbacks": [1]}"#,
                "`fallbacks`",
            ),
            (
                r#"{"model": "m", "messages": [], "metadata": {"tags": "a"}}"#,
                "tags",
            ),
        ] {
            let refusal = asked(body).expect_err(body);
            assert_eq!(refusal.status.as_u16(), 400);
            assert!(refusal.json().contains(says), "{body}: {}", refusal.json());
        }
    }
}
