//! Which path leads where, and who may go there.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use mock_providers::http::Limits;
use router::live::{Endpoint, LiveRouter, Secret};
use serde_json::{Value, json};

use super::{
    answered,
    asked::{self, Asked, Wanted},
    recorded::Heard,
    refusal::Refusal,
    state,
};

/// What all requests share.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) live: LiveRouter<Heard>,
    pub(super) master_key: Option<Secret>,
    pub(super) wanted: Wanted,
    pub(super) limits: Limits,
    /// Names that callers may ask for, in the order of the config.
    pub(super) models: Vec<String>,
    /// Seconds since 1970 when it began.
    pub(super) began: u64,
    pub(super) numbers: std::sync::atomic::AtomicU64,
}

pub(super) async fn answer(desk: Arc<Desk>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().trim_matches('/').to_owned();
    let answered = desk.route(&parts.method, &path, &parts.headers, body).await;
    answered.unwrap_or_else(Refusal::response)
}

impl Desk {
    async fn route(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Response, Refusal> {
        // What load balancers and collectors ask, without a key.
        match (method, path) {
            (&Method::GET, "health/liveliness" | "health/liveness") => {
                return Ok(object(json!("I'm alive!")));
            }
            (&Method::GET, "health/readiness") => {
                return Ok(object(json!({"status": "healthy"})));
            }
            (&Method::GET, "metrics") => return Ok(self.metrics()),
            _ => {}
        }
        let caller = self.admit(headers)?;
        let inner = path.strip_prefix("v1/").unwrap_or(path);
        // Azure's clients put the model before the path, and need not say it in the body.
        let azure = inner.strip_prefix("openai/deployments/");
        let (named, inner) = match azure.map(|rest| rest.split_once('/').unwrap_or(("", rest))) {
            Some((model, rest)) => (Some(model).filter(|model| !model.is_empty()), rest),
            None => (None, inner),
        };
        let endpoint = match inner {
            "chat/completions" => Some(Endpoint::Chat),
            "completions" => Some(Endpoint::Completions),
            "embeddings" => Some(Endpoint::Embeddings),
            _ => None,
        };
        match (method, endpoint, inner) {
            (&Method::POST, Some(endpoint), _) => {
                let from = (caller.as_deref(), named);
                self.ask(endpoint, headers, body, from).await
            }
            (&Method::GET, None, "models") => Ok(self.models()),
            (&Method::GET, None, "health") => Ok(object(
                self.live.look(|router, _, now| state::health(router, now)),
            )),
            (&Method::GET, None, "cooldowns") => Ok(object(
                self.live
                    .look(|router, _, now| state::cooldowns(router, now)),
            )),
            (&Method::DELETE, None, "cooldowns") => {
                Ok(object(json!({"cleared": self.live.clear_cooldowns(None)})))
            }
            (&Method::DELETE, None, path) if path.starts_with("cooldowns/") => {
                let id = path.trim_start_matches("cooldowns/");
                self.clear(id)
            }
            (_, Some(_), _) | (_, None, "models" | "health" | "cooldowns") => {
                let told = format!("{method} is not allowed at /{path}");
                Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, told))
            }
            _ => {
                let told = format!("there is nothing at /{path}");
                Err(Refusal::new(StatusCode::NOT_FOUND, told))
            }
        }
    }

    /// Looks at the caller's key, and gives it.
    fn admit(&self, headers: &HeaderMap) -> Result<Option<String>, Refusal> {
        let Some(master_key) = &self.master_key else {
            return Ok(None);
        };
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = text("authorization").map(|value| {
            let (scheme, key) = value.split_once(' ').unwrap_or(("", value));
            if scheme.eq_ignore_ascii_case("bearer") {
                key.trim()
            } else {
                ""
            }
        });
        let given = bearer
            .or_else(|| text("x-litellm-api-key"))
            .or_else(|| text("x-api-key"));
        match given.or_else(|| text("api-key")) {
            None => Err(Refusal::unauthorized("No api key passed in.")),
            Some("") => Err(Refusal::unauthorized(
                "Malformed API Key passed in. Ensure Key has `Bearer ` prefix.",
            )),
            Some(key) if master_key.is(key) => Ok(Some(key.to_owned())),
            Some(_) => Err(Refusal::unauthorized("Invalid proxy server token passed.")),
        }
    }

    async fn ask(
        &self,
        endpoint: Endpoint,
        headers: &HeaderMap,
        body: Body,
        from: (Option<&str>, Option<&str>),
    ) -> Result<Response, Refusal> {
        let body = self.read(headers, body).await?;
        let Asked { call, stream } = asked::read(endpoint, &body, headers, from, self.wanted)?;
        drop(body);
        let call_id = self.call_id(headers);
        let too_many = |error: router::live::TooManyNames| Refusal::bad(error.to_string());
        if stream {
            let items = self.live.stream(call).map_err(too_many)?;
            Ok(answered::streamed(self.live.clone(), call_id, items).await)
        } else {
            let reply = self.live.call(call).await.map_err(too_many)?;
            Ok(answered::whole(&self.live, &call_id, reply))
        }
    }

    async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
        let read = self.limits.read(headers, body).await;
        read.map_err(|bad| Refusal::new(bad.status(), bad.to_string()))
    }

    /// The caller's own id for the request, if it is short and plain, else one of ours.
    fn call_id(&self, headers: &HeaderMap) -> String {
        let given = headers.get("x-litellm-call-id");
        let given = given.and_then(|id| id.to_str().ok());
        let plain = |id: &&str| !id.is_empty() && id.len() <= 128;
        given.filter(plain).map_or_else(
            || {
                let number = self
                    .numbers
                    .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                format!("{:x}-{number:x}", self.began)
            },
            str::to_owned,
        )
    }

    fn models(&self) -> Response {
        let created = self.began;
        let models = self.models.iter().map(
            |id| json!({"id": id, "object": "model", "created": created, "owned_by": "openai"}),
        );
        object(json!({"object": "list", "data": models.collect::<Vec<_>>()}))
    }

    fn clear(&self, id: &str) -> Result<Response, Refusal> {
        let found = self.live.look(|router, _, _| state::find(router, id));
        let Some(deployment) = found else {
            let told = format!("there is no deployment `{id}`");
            return Err(Refusal::new(StatusCode::NOT_FOUND, told));
        };
        let cleared = self.live.clear_cooldowns(Some(deployment));
        Ok(object(json!({"cleared": cleared})))
    }

    fn metrics(&self) -> Response {
        let text = self
            .live
            .look(|router, (metrics, _), now| metrics.text(router, now));
        let mut response = Response::new(Body::from(text));
        let kind = HeaderValue::from_static("text/plain; version=0.0.4");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

fn object(value: Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
