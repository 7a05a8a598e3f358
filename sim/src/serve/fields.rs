//! LiteLLM's own fields of a request: `num_retries`, `fallbacks`, `metadata.tags` and so on. They are
//! for the router, and are taken out of what the provider gets.

use std::{collections::BTreeMap, num::NonZeroU64, sync::Arc, time::Duration};

use axum::http::HeaderMap;
use router::{Api, Origin, Overrides, RequestFallbacks, SessionId, config::Fallbacks};
use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};
use sha2::{Digest as _, Sha256};

use super::refusal::Refusal;

/// The keys of a body that are still unread.
pub(super) type Body = BTreeMap<String, Box<RawValue>>;

/// Takes the router's fields out of a body, and reads those that stand in headers. `hears_agents`:
/// some deployment is chosen by the `User-Agent`.
pub(super) fn take(
    body: &mut Body,
    headers: &HeaderMap,
    api: Api,
    hears_agents: bool,
) -> Result<(Option<Arc<Overrides>>, Origin), Refusal> {
    let metadata: Value = take_key(body, "metadata", "an object")?.unwrap_or_default();
    let more: Value = take_key(body, "litellm_metadata", "an object")?.unwrap_or_default();
    let named = |key: &str| {
        let own = Some(&metadata[key]).filter(|value| !value.is_null());
        own.unwrap_or_else(|| &more[key]).clone()
    };
    let cache: Value = take_key(body, "cache", "an object")?.unwrap_or_default();
    let caching: Option<bool> = take_key(body, "caching", "true or false")?;
    let whole = seconds(body, "timeout")?;
    let request_timeout = seconds(body, "request_timeout")?;
    let in_header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let overrides = Overrides {
        num_retries: take_key(body, "num_retries", COUNT)?
            .or(number(headers, "x-litellm-num-retries")?),
        max_retries: take_key(body, "max_retries", COUNT)?,
        api,
        blocking: false,
        timeout: whole
            .or(request_timeout)
            .or(seconds_in(headers, "x-litellm-timeout")?),
        stream_timeout: seconds(body, "stream_timeout")?
            .or(seconds_in(headers, "x-litellm-stream-timeout")?),
        cooldown_time: seconds(body, "cooldown_time")?,
        disable_fallbacks: take_key(body, "disable_fallbacks", "true or false")?.unwrap_or(false),
        fallbacks: take_key(body, "fallbacks", FALLBACKS)?
            .map(|value: Value| request_fallbacks(&value))
            .transpose()?,
        context_window_fallbacks: lists(body, "context_window_fallbacks")?,
        content_policy_fallbacks: lists(body, "content_policy_fallbacks")?,
        tags: tags(body, &named("tags"), in_header("x-litellm-tags"))?,
        user_agent: in_header("user-agent")
            .filter(|_| hears_agents)
            .map(str::to_owned),
        allowed_model_region: take_key(body, "allowed_model_region", "a text")?,
        no_cache: cache["no-cache"] == true || caching == Some(false),
    };
    let session: Option<String> = take_key(body, "litellm_session_id", "a text")?;
    let session = session.or_else(|| named("session_id").as_str().map(str::to_owned));
    let origin = Origin {
        session: session.map(|session| SessionId(hashed([session.as_bytes()]))),
        priority: take_key(body, "priority", COUNT)?,
        ..Origin::default()
    };
    for key in UNUSED {
        body.remove(key);
    }
    let overrides = (overrides != Overrides::default()).then(|| Arc::new(overrides));
    Ok((overrides, origin))
}

/// Takes a key out of the body; null is as if it were not there.
pub(super) fn take_key<T: DeserializeOwned>(
    body: &mut Body,
    key: &str,
    accepted: &str,
) -> Result<Option<T>, Refusal> {
    let value = body.remove(key);
    value.map_or(Ok(None), |value| read(&value, key, accepted))
}

/// Reads a key that stays in the body.
pub(super) fn peek<T: DeserializeOwned>(
    body: &Body,
    key: &str,
    accepted: &str,
) -> Result<Option<T>, Refusal> {
    let value = body.get(key);
    value.map_or(Ok(None), |value| read(value, key, accepted))
}

fn read<T: DeserializeOwned>(
    value: &RawValue,
    key: &str,
    accepted: &str,
) -> Result<Option<T>, Refusal> {
    serde_json::from_str(value.get())
        .map_err(|_| Refusal::param(key, format!("`{key}` must be {accepted}")))
}

/// A length of time in seconds, as a number or as the text of one.
fn seconds(body: &mut Body, key: &str) -> Result<Option<Duration>, Refusal> {
    let value: Option<Value> = take_key(body, key, SECONDS)?;
    value
        .map(|value| {
            let number = value.as_f64();
            let number = number.or_else(|| value.as_str()?.trim().parse().ok());
            duration(number, key)
        })
        .transpose()
}

fn seconds_in(headers: &HeaderMap, name: &str) -> Result<Option<Duration>, Refusal> {
    let value = headers.get(name);
    value
        .map(|value| duration(value.to_str().ok().and_then(|text| text.parse().ok()), name))
        .transpose()
}

fn duration(seconds: Option<f64>, name: &str) -> Result<Duration, Refusal> {
    let known = seconds.filter(|seconds| *seconds <= MOST_SECONDS);
    known
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| Refusal::param(name, format!("`{name}` must be {SECONDS}")))
}

fn number(headers: &HeaderMap, name: &str) -> Result<Option<u32>, Refusal> {
    let read = |text: &str| text.trim().parse().ok();
    let value = headers.get(name);
    value
        .map(|value| {
            let number = value.to_str().ok().and_then(read);
            number.ok_or_else(|| Refusal::param(name, format!("`{name}` must be {COUNT}")))
        })
        .transpose()
}

fn tags(body: &mut Body, named: &Value, header: Option<&str>) -> Result<Vec<String>, Refusal> {
    let own: Option<Vec<String>> = take_key(body, "tags", "a list of texts")?;
    let named: Option<Vec<String>> = serde_json::from_value(named.clone())
        .map_err(|_| Refusal::param("metadata.tags", "`metadata.tags` must be a list of texts"))?;
    let header = header.map(|text| text.split(',').map(|tag| tag.trim().to_owned()));
    let mut tags: Vec<String> = header.into_iter().flatten().collect();
    for tag in own.into_iter().chain(named).flatten() {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

fn request_fallbacks(value: &Value) -> Result<RequestFallbacks, Refusal> {
    let wrong = || Refusal::param("fallbacks", format!("`fallbacks` must be {FALLBACKS}"));
    let entries = value.as_array().ok_or_else(wrong)?;
    let names = || {
        entries
            .iter()
            .map(|entry| entry.as_str().map(str::to_owned))
    };
    if let Some(names) = names().collect::<Option<Vec<_>>>() {
        return Ok(RequestFallbacks::Names(names));
    }
    let models = || {
        let model = |entry: &Value| entry["model"].as_str().map(str::to_owned);
        entries.iter().map(model)
    };
    if let Some(models) = models().collect::<Option<Vec<_>>>() {
        return Ok(RequestFallbacks::Maps(models));
    }
    by_group(value)
        .map(RequestFallbacks::ByGroup)
        .ok_or_else(wrong)
}

fn lists(body: &mut Body, key: &str) -> Result<Option<Fallbacks>, Refusal> {
    let value: Option<Value> = take_key(body, key, LISTS)?;
    value
        .map(|value| {
            by_group(&value).ok_or_else(|| Refusal::param(key, format!("`{key}` must be {LISTS}")))
        })
        .transpose()
}

/// `[{group: [names]}]`.
fn by_group(value: &Value) -> Option<Fallbacks> {
    let mut lists = Fallbacks::new();
    for entry in value.as_array()? {
        for (group, names) in entry.as_object()? {
            let names = names.as_array()?.iter();
            let names = names.map(|name| name.as_str().map(str::to_owned));
            lists.push((group.clone(), names.collect::<Option<_>>()?));
        }
    }
    Some(lists)
}

/// Equal things get equal numbers.
pub(super) fn hashed<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> NonZeroU64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let number = digest.iter().take(8);
    let number = number.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN)
}

const COUNT: &str = "a whole number of 0 or more";
const SECONDS: &str = "a number of seconds from 0 to 1,000,000,000";
const MOST_SECONDS: f64 = 1e9;
const FALLBACKS: &str = "a list of names, of objects with `model`, or of {name: [names]}";
const LISTS: &str = "a list of {name: [names]}";

/// Fields of LiteLLM's that no provider knows, and that decide nothing here.
const UNUSED: [&str; 5] = [
    "litellm_call_id",
    "litellm_trace_id",
    "no-log",
    "guardrails",
    "user_config",
];
