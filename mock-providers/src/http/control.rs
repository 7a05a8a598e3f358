//! The control endpoint: changes what providers do while the server runs, and tells what it saw.
//!
//! | request | does |
//! | --- | --- |
//! | `GET /_mock/providers` | the providers, as they are written, and the server's clock |
//! | `PATCH /_mock/providers/NAME` | changes keys of a spec (JSON merge patch, RFC 7396); its counts begin anew |
//! | `PUT /_mock/providers/NAME` | puts a spec in the place of another |
//! | `GET /_mock/requests[?provider=NAME]` | what was seen, oldest first, the last 10,000 |
//! | `DELETE /_mock/requests` | forgets what was seen |
//! | `POST /_mock/reset` | everything as it was at the beginning, but for the clock |

use axum::{
    body::Bytes,
    http::{Method, StatusCode},
    response::Response,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Upstream, desk::Desk, seen::Seen, serve::json as reply};
use crate::spec::ProviderSpec;

pub(super) fn answer(
    desk: &Desk,
    method: &Method,
    path: &str,
    query: &str,
    body: &Bytes,
) -> Response {
    let parts: Vec<&str> = path.split('/').collect();
    match (method.as_str(), &parts[..]) {
        ("GET", ["providers"]) => {
            let providers: Vec<Value> = desk.upstreams().iter().map(told).collect();
            let now_s = desk.clock.now().as_secs_f64();
            ok(&json!({"now_s": now_s, "providers": providers}))
        }
        ("GET", ["providers", name]) => match desk.upstreams().iter().find(|up| up.name == *name) {
            Some(upstream) => ok(&told(upstream)),
            None => unknown(name),
        },
        ("PATCH", ["providers", name]) => change(desk, name, body, |spec, patch| {
            let mut whole = serde_json::to_value(spec).unwrap_or_default();
            merge(&mut whole, patch);
            whole
        }),
        ("PUT", ["providers", name]) => change(desk, name, body, |_, whole| whole),
        ("GET", ["requests"]) => {
            let only = query.strip_prefix("provider=");
            ok(&desk.ledger(|ledger, upstreams| {
                let seen = ledger.last.iter().map(|seen| Named {
                    provider: &upstreams[seen.provider].name,
                    seen,
                });
                let seen = seen.filter(|seen| only.is_none_or(|name| seen.provider == name));
                json!(seen.collect::<Vec<_>>())
            }))
        }
        ("DELETE", ["requests"]) => {
            desk.ledger(|ledger, _| ledger.last.clear());
            ok(&json!({}))
        }
        ("POST", ["reset"]) => {
            desk.reset();
            ok(&json!({}))
        }
        _ => refused(
            StatusCode::NOT_FOUND,
            "accepted are GET /_mock/providers, GET, PATCH and PUT /_mock/providers/NAME, \
             GET and DELETE /_mock/requests, POST /_mock/reset",
        ),
    }
}

/// A record and whose it is.
#[derive(Serialize)]
struct Named<'a> {
    provider: &'a str,
    #[serde(flatten)]
    seen: &'a Seen,
}

fn change(
    desk: &Desk,
    name: &str,
    body: &Bytes,
    make: impl FnOnce(&ProviderSpec, Value) -> Value,
) -> Response {
    let patch = match serde_json::from_slice::<Value>(body) {
        Ok(patch) if patch.is_object() => patch,
        Ok(_) => return refused(StatusCode::BAD_REQUEST, "a JSON object is accepted"),
        Err(error) => return refused(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let changed = desk.change(name, |spec| {
        let whole = make(spec, patch.clone());
        serde_json::from_value::<ProviderSpec>(whole)
            .map_err(|error| culprit(spec, &patch).unwrap_or_else(|| error.to_string()))
    });
    match changed {
        None => unknown(name),
        Some(Ok(upstream)) => ok(&told(&upstream)),
        Some(Err(message)) => refused(StatusCode::BAD_REQUEST, &message),
    }
}

/// The first key that is refused on its own, and why.
fn culprit(spec: &ProviderSpec, patch: &Value) -> Option<String> {
    patch.as_object()?.iter().find_map(|(key, value)| {
        let mut whole = serde_json::to_value(spec).unwrap_or_default();
        let mut one = serde_json::Map::new();
        one.insert(key.clone(), value.clone());
        merge(&mut whole, Value::Object(one));
        let refused = serde_json::from_value::<ProviderSpec>(whole).err()?;
        Some(format!("{key}: {refused}"))
    })
}

/// RFC 7396: null takes a key away, objects are merged, everything else is replaced.
fn merge(whole: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *whole = patch;
        return;
    };
    if !whole.is_object() {
        *whole = json!({});
    }
    for (key, value) in patch {
        if let Value::Object(keys) = whole {
            if value.is_null() {
                keys.remove(&key);
            } else {
                merge(keys.entry(key).or_insert(Value::Null), value);
            }
        }
    }
}

fn told(upstream: &Upstream) -> Value {
    json!({"name": upstream.name, "models": upstream.models, "spec": upstream.spec})
}

fn ok(value: &Value) -> Response {
    reply(StatusCode::OK, value.to_string())
}

fn unknown(name: &str) -> Response {
    let message = format!("there is no provider `{name}`");
    refused(StatusCode::NOT_FOUND, &message)
}

fn refused(status: StatusCode, message: &str) -> Response {
    reply(status, json!({"error": message}).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_takes_away_what_is_null_and_leaves_what_it_does_not_name() {
        let mut whole = json!({"a": {"b": 1, "c": 2}, "d": [1, 2], "e": 5});

        merge(&mut whole, json!({"a": {"b": null, "x": 9}, "d": [3]}));

        assert_eq!(whole, json!({"a": {"c": 2, "x": 9}, "d": [3], "e": 5}));
    }
}
