//! Reads requests and plays exchanges: each byte at its moment.

use std::{io, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
};
use futures_util::{
    future::{self, Either},
    stream,
};
use router::Instant;
use tokio::{task::yield_now, time::sleep_until};

use super::{
    connection::Fuse,
    control,
    desk::{Desk, Meeting, Visit},
    limits::Limits,
    metrics,
};
use crate::exchange::{
    Head, Play,
    asked::{Api, Asked},
    frames::{End, Frames},
    orders::Orders,
};

/// Answers a request; the fuse is its connection's.
pub(super) async fn answer(
    desk: Arc<Desk>,
    limits: Limits,
    request: Request,
    fuse: Fuse,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = match limits.read(&parts.headers, body).await {
        Ok(body) => body,
        Err(bad) => return complaint(bad.status(), Api::Chat, &bad.to_string()),
    };
    let met = meet(&desk, &parts, &body);
    drop((parts, body));
    match met {
        Ok(meeting) => play(meeting, &fuse).await,
        Err(response) => *response,
    }
}

/// Reads a request: what an upstream makes of it, or a response that is there at once.
fn meet(desk: &Arc<Desk>, parts: &Parts, body: &Bytes) -> Result<Meeting, Box<Response>> {
    let path = parts.uri.path().trim_matches('/');
    Err(Box::new(match Called::at(path) {
        Called::Api(api, named) if parts.method == Method::POST => {
            return exchange(desk, (api, named, path), &parts.headers, body);
        }
        Called::Models if parts.method == Method::GET => models(desk),
        Called::Metrics => metrics::page(desk),
        Called::Control(path) => {
            let query = parts.uri.query().unwrap_or_default();
            control::answer(desk, &parts.method, path, query, body)
        }
        Called::Api(..) | Called::Models => {
            complaint(StatusCode::METHOD_NOT_ALLOWED, Api::Chat, "wrong method")
        }
        Called::Nothing => {
            let message = format!("there is nothing at /{path}");
            complaint(StatusCode::NOT_FOUND, Api::Chat, &message)
        }
    }))
}

/// What a path leads to.
enum Called<'a> {
    /// An API, and what the path says before it.
    Api(Api, Option<&'a str>),
    Control(&'a str),
    Metrics,
    Models,
    Nothing,
}

impl<'a> Called<'a> {
    /// Reads a path without its outer slashes.
    fn at(path: &'a str) -> Self {
        if path == "metrics" {
            return Self::Metrics;
        }
        if let Some(rest) = path.strip_prefix("_mock") {
            return Self::Control(rest.trim_matches('/'));
        }
        if path == "models" || path.ends_with("/models") {
            return Self::Models;
        }
        match Api::of_path(path) {
            Some((api, named)) => Self::Api(api, named),
            None => Self::Nothing,
        }
    }
}

fn exchange(
    desk: &Arc<Desk>,
    (api, named, path): (Api, Option<&str>, &str),
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Meeting, Box<Response>> {
    let refuse = |status, message: &str| Box::new(complaint(status, api, message));
    let wrong = |message: &str| refuse(StatusCode::BAD_REQUEST, message);
    let asked = Asked::read(api, path, body).map_err(|message| wrong(&message))?;
    let texts = headers.iter();
    let texts = texts.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    let orders = Orders::read(texts).map_err(|message| wrong(&message))?;
    let Some(upstream) = desk.called(named, &asked.model) else {
        let message = format!("the model `{}` does not exist", asked.model);
        return Err(refuse(StatusCode::NOT_FOUND, &message));
    };
    let met = desk.meet(upstream, &asked, &orders);
    met.map_err(|error| wrong(&error.to_string()))
}

/// Does what the model says, when it says.
async fn play(meeting: Meeting, fuse: &Fuse) -> Response {
    let Meeting { play, begun, visit } = meeting;
    match play {
        Play::Hang => {
            Box::pin(visit.desk().closed()).await;
            reset(fuse)
        }
        Play::Reset { after } => {
            wait(&visit, begun, after).await;
            visit.end();
            reset(fuse)
        }
        Play::Piece {
            after,
            head,
            body,
            cut,
        } => {
            if !wait(&visit, begun, after).await {
                return reset(fuse);
            }
            visit.end();
            if cut {
                let length = body.len();
                let mut response = respond(head, cut_body(body));
                let headers = response.headers_mut();
                headers.insert(header::CONTENT_LENGTH, length.into());
                response
            } else {
                respond(head, Body::from(body))
            }
        }
        Play::Stream {
            after,
            head,
            frames,
        } => {
            if !wait(&visit, begun, after).await {
                return reset(fuse);
            }
            respond(head, streamed(frames, begun, visit))
        }
    }
}

/// Waits; `false`: the server closes before that. What is due already waits for no timer, whose ticks
/// are a millisecond long.
async fn wait(visit: &Visit, begun: Instant, after: Duration) -> bool {
    let desk = visit.desk();
    let at = Instant::from_nanos(begun.as_nanos().saturating_add(nanos(after)));
    let now = desk.clock.now();
    if at <= now {
        desk.leaves_late(now.nanos_since(at));
        return true;
    }
    // Boxed, so that who need not wait does not carry a timer about.
    Box::pin(wait_until(desk, at)).await
}

async fn wait_until(desk: &Desk, at: Instant) -> bool {
    let Some(at) = desk.clock.when(at) else {
        desk.closed().await;
        return false;
    };
    let closed = std::pin::pin!(desk.closed());
    let slept = std::pin::pin!(sleep_until(at.into()));
    matches!(future::select(slept, closed).await, Either::Left(_))
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

/// The frames, each when it is due. A client that leaves drops the stream, and the visit with it.
fn streamed(frames: Box<Frames>, begun: Instant, visit: Visit) -> Body {
    let frames = stream::unfold(Some((frames, visit)), move |state| async move {
        let (mut frames, visit) = state?;
        let Some((after, frame)) = frames.next() else {
            return match frames.end {
                End::Whole => {
                    visit.end();
                    None
                }
                End::Cut => {
                    visit.end();
                    // The last frame leaves first.
                    yield_now().await;
                    Some((Err(cut()), None))
                }
                End::Silence => {
                    visit.desk().closed().await;
                    Some((Err(cut()), None))
                }
            };
        };
        if wait(&visit, begun, after).await {
            Some((Ok(Bytes::from(frame)), Some((frames, visit))))
        } else {
            Some((Err(cut()), None))
        }
    });
    Body::from_stream(frames)
}

/// The first half of a body, and then the end of the connection.
fn cut_body(mut body: String) -> Body {
    body.truncate(body.len() / 2);
    Body::from_stream(stream::unfold(Some(Some(body)), |state| async move {
        match state? {
            Some(half) => Some((Ok(Bytes::from(half)), Some(None))),
            None => {
                yield_now().await;
                Some((Err(cut()), None))
            }
        }
    }))
}

fn cut() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

/// A response that never leaves: the connection is reset in its place.
fn reset(fuse: &Fuse) -> Response {
    fuse.blow();
    Response::default()
}

fn respond(head: Head, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static(head.content_type);
    headers.insert(header::CONTENT_TYPE, kind);
    for (name, value) in head.headers {
        // No header of ours holds what HTTP forbids.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    response
}

/// An error that is the caller's, or the test's, and none of the model's.
fn complaint(status: StatusCode, api: Api, message: &str) -> Response {
    json(status, api.complaint("invalid_request_error", message))
}

pub(super) fn json(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn models(desk: &Desk) -> Response {
    let created = desk.clock.epoch().unix_seconds();
    let models = desk.models().into_iter().map(|id| {
        serde_json::json!({"id": id, "object": "model", "created": created, "owned_by": "routelab"})
    });
    let list = serde_json::json!({"object": "list", "data": models.collect::<Vec<_>>()});
    json(StatusCode::OK, list.to_string())
}
