//! Replies of the router as responses: bodies and frames as the provider wrote them, and LiteLLM's
//! headers beside them.

use std::{convert::Infallible, fmt::Display};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use futures_util::stream;
use router::{
    Answer, DeploymentId, Observer, Router,
    live::{Item, LiveRouter, Reply, ReplyStream},
};

use super::{failed::refusal, refusal::Refusal};

/// An answer in one piece, or the error in its place.
pub(super) fn whole<O: Observer + Send + 'static>(
    live: &LiveRouter<O>,
    call_id: &str,
    reply: Reply,
) -> Response {
    let told = |router: &Router| told(router, &reply, call_id);
    let mut headers = live.look(|router, _, _| told(router));
    match reply.answer {
        Answer::Completed { .. } => {
            let json = HeaderValue::from_static("application/json");
            headers.insert(header::CONTENT_TYPE, json);
            let mut response = Response::new(Body::from(reply.body));
            *response.headers_mut() = headers;
            response
        }
        Answer::Failed { error, .. } => {
            let mut refusal =
                live.look(|router, _, _| refusal(router, error, reply.message.as_deref()));
            headers.extend(std::mem::take(&mut *refusal.headers));
            *refusal.headers = headers;
            refusal.response()
        }
    }
}

/// A stream, once somebody answers; else the error in its place.
pub(super) async fn streamed<O: Observer + Send + Sync + 'static>(
    live: LiveRouter<O>,
    call_id: String,
    mut items: ReplyStream,
) -> Response {
    let begun = match items.next().await {
        Some(Item::Begun(begun)) => begun,
        Some(Item::End(reply)) => {
            return match reply.answer {
                Answer::Completed { .. } => empty(&live, &call_id, &reply),
                Answer::Failed { .. } => whole(&live, &call_id, *reply),
            };
        }
        Some(Item::Frame(_)) | None => {
            let told = "the stream ended before it began";
            return Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, told).response();
        }
    };
    let mut headers = live.look(|router, _, _| who(router, begun.deployment, &call_id));
    attempts(&mut headers, begun.attempts, begun.fallbacks);
    providers(&mut headers, &begun.headers);
    let frames = stream::unfold(Some((live, items)), |state| async move {
        let (live, mut items) = state?;
        loop {
            match items.next().await {
                Some(Item::Frame(frames)) => {
                    return Some((Ok::<_, Infallible>(frames), Some((live, items))));
                }
                Some(Item::End(reply)) => return Some((Ok(last(&live, &reply)), None)),
                Some(Item::Begun(_)) => {}
                None => return None,
            }
        }
    });
    events(headers, Body::from_stream(frames))
}

/// The marker of the end, or the error in its place: status and headers are gone by then.
fn last<O: Observer + Send + 'static>(live: &LiveRouter<O>, reply: &Reply) -> Bytes {
    match reply.answer {
        Answer::Completed { .. } => Bytes::from_static(DONE),
        Answer::Failed { error, .. } => {
            let refusal =
                live.look(|router, _, _| refusal(router, error, reply.message.as_deref()));
            Bytes::from(format!("data: {}\n\n", refusal.json()))
        }
    }
}

/// A stream of no frames.
fn empty<O: Observer + Send + 'static>(
    live: &LiveRouter<O>,
    call_id: &str,
    reply: &Reply,
) -> Response {
    let headers = live.look(|router, _, _| told(router, reply, call_id));
    events(headers, Body::from(Bytes::from_static(DONE)))
}

fn events(mut headers: HeaderMap, body: Body) -> Response {
    let fixed = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    headers.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    response
}

/// Headers of a request that is over.
fn told(router: &Router, reply: &Reply, call_id: &str) -> HeaderMap {
    let trail = reply.answer.trail();
    let deployment = match reply.answer {
        Answer::Completed { deployment, .. } => Some(deployment),
        Answer::Failed { error, .. } => error.deployment(),
    };
    let mut headers = match deployment {
        Some(deployment) => who(router, deployment, call_id),
        None => HeaderMap::new(),
    };
    put(&mut headers, "x-litellm-call-id", call_id);
    attempts(&mut headers, trail.attempts, trail.fallbacks);
    providers(&mut headers, &reply.headers);
    headers
}

fn who(router: &Router, deployment: DeploymentId, call_id: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let deployment = &router.config().deployments[deployment.index()];
    put(&mut headers, "x-litellm-call-id", call_id);
    put(&mut headers, "x-litellm-model-id", &deployment.id);
    put(
        &mut headers,
        "x-litellm-model-group",
        &deployment.model_name,
    );
    headers
}

/// Attempts beyond the first of each group count as retries.
fn attempts(headers: &mut HeaderMap, attempts: u16, fallbacks: u16) {
    let retries = attempts.saturating_sub(1).saturating_sub(fallbacks);
    put(headers, "x-litellm-attempted-retries", retries);
    put(headers, "x-litellm-attempted-fallbacks", fallbacks);
}

/// The provider's headers: those of OpenAI's limits and hints by their own names, and all with
/// `llm_provider-` before them, so that none can pass for one of the router's.
fn providers(headers: &mut HeaderMap, from: &HeaderMap) {
    for (name, value) in from {
        if KEPT.contains(&name.as_str()) {
            headers.insert(name.clone(), value.clone());
        }
        if let Some((_, ours)) = ANTHROPICS
            .iter()
            .find(|(theirs, _)| *theirs == name.as_str())
        {
            headers.insert(HeaderName::from_static(ours), value.clone());
        }
        let is_theirs = !CONNECTION.contains(&name.as_str());
        let prefixed = HeaderName::try_from(format!("llm_provider-{name}"));
        if let Ok(prefixed) = prefixed
            && is_theirs
        {
            headers.insert(prefixed, value.clone());
        }
    }
}

pub(super) fn put(headers: &mut HeaderMap, name: &'static str, value: impl Display) {
    if let Ok(value) = HeaderValue::try_from(value.to_string()) {
        headers.insert(name, value);
    }
}

const DONE: &[u8] = b"data: [DONE]\n\n";

/// Those of OpenAI's, which LiteLLM passes on as they are, and the hints, which it passes on only with
/// a prefix, where no client looks for them.
const KEPT: [&str; 8] = [
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-limit-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
];

/// Anthropic's limits by OpenAI's names, as LiteLLM passes them on.
const ANTHROPICS: [(&str, &str); 4] = [
    (
        "anthropic-ratelimit-requests-limit",
        "x-ratelimit-limit-requests",
    ),
    (
        "anthropic-ratelimit-requests-remaining",
        "x-ratelimit-remaining-requests",
    ),
    (
        "anthropic-ratelimit-tokens-limit",
        "x-ratelimit-limit-tokens",
    ),
    (
        "anthropic-ratelimit-tokens-remaining",
        "x-ratelimit-remaining-tokens",
    ),
];

/// Headers of the connection to the provider.
const CONNECTION: [&str; 6] = [
    "connection",
    "content-length",
    "keep-alive",
    "set-cookie",
    "transfer-encoding",
    "upgrade",
];
