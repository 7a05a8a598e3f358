//! From a request of a vector's client to what the router is asked.

use std::num::NonZeroU64;

use router::{
    Api, ContentId, Origin, Overrides, ProfileName, RequestFallbacks, RequestId, config::Fallbacks,
};
use serde_json::Value;

use crate::{
    filters,
    setup::{as_fallbacks, as_u32, items, seconds},
    vector::Asked,
};

/// Who a request comes from. Its prompt names the request, so that no two have the same content.
pub(crate) fn origin(id: RequestId, asked: &Asked) -> Origin {
    Origin {
        content: NonZeroU64::new(id.0 + 1).map(ContentId),
        priority: asked.kwargs.get("priority").map(as_u32),
        ..filters::origin(asked)
    }
}

/// The settings that a request brings along.
pub(crate) fn overrides(asked: &Asked) -> Option<Overrides> {
    let mut overrides = Overrides {
        blocking: asked.sync,
        api: match asked.api.as_deref() {
            None => Api::Chat,
            Some("embedding") => Api::Embedding,
            Some(other) => panic!("the call {other} is not known to this test"),
        },
        ..Overrides::default()
    };
    for (key, value) in &asked.kwargs {
        match key.as_str() {
            "disable_fallbacks" => overrides.disable_fallbacks = *value == true,
            "content_policy_fallbacks" => {
                overrides.content_policy_fallbacks = Some(own_lists(key, value));
            }
            "context_window_fallbacks" => {
                overrides.context_window_fallbacks = Some(own_lists(key, value));
            }
            "fallbacks" => overrides.fallbacks = Some(own_fallbacks(value)),
            "cache" => overrides.no_cache |= value.get("no-cache") == Some(&Value::Bool(true)),
            "caching" => overrides.no_cache |= *value == false,
            "cooldown_time" => overrides.cooldown_time = Some(seconds(value)),
            "max_retries" => overrides.max_retries = Some(as_u32(value)),
            "num_retries" => overrides.num_retries = Some(as_u32(value)),
            "stream_timeout" => overrides.stream_timeout = Some(seconds(value)),
            "timeout" => overrides.timeout = Some(seconds(value)),
            // Of filters, read by features reported before, or by nobody.
            _ => filters::set_override(&mut overrides, key, value),
        }
    }
    let request_timeout = asked.kwargs.get("request_timeout").map(seconds);
    overrides.timeout = overrides
        .timeout
        .filter(|limit| !limit.is_zero())
        .or(request_timeout);
    (overrides != Overrides::default()).then_some(overrides)
}

/// A request's own list: names, maps that name a model, or a mapping by group. (semantics 6.5)
fn own_fallbacks(value: &Value) -> RequestFallbacks {
    let entries = items(value);
    let names: Vec<String> = entries
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    if !names.is_empty() && names.len() == entries.len() {
        return RequestFallbacks::Names(names);
    }
    let names_model = |entry: &Value| Some(entry.get("model")?.as_str()?.to_owned());
    let maps: Vec<String> = entries.iter().filter_map(names_model).collect();
    if !maps.is_empty() && maps.len() == entries.len() {
        return RequestFallbacks::Maps(maps);
    }
    RequestFallbacks::ByGroup(own_lists("fallbacks", value))
}

/// Lists by group. A name among them is the fallback of every group without a list.
fn own_lists(key: &str, value: &Value) -> Fallbacks {
    let entry = |entry: &Value| match entry.as_str() {
        Some(name) => vec![("*".to_owned(), vec![name.to_owned()])],
        None => {
            let one = Value::Array(vec![entry.clone()]);
            as_fallbacks(key, &one, ProfileName::Litellm1110).expect("lists by group")
        }
    };
    items(value).iter().flat_map(entry).collect()
}
