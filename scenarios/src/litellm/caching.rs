//! The response cache: `cache_responses` of the router, and `cache` with `cache_params` of
//! `litellm_settings`, by which the proxy turns it on (semantics 9.1).

use super::{
    section::{Section, ignored, used},
    setting::{Result, Setting},
    settings::Draft,
    tables::{SECRET, SHARED_STATE, UNKNOWN},
};

/// Reads `router_settings.cache_responses`, which has the last word.
pub(super) fn read_cache_responses(d: &mut Draft, s: &mut Setting<'_>) -> Result<()> {
    d.cache_responses = s.flag()?;
    d.settings.cache_responses = d.cache_responses == Some(true);
    Ok(())
}

/// Reads `litellm_settings.cache`: the proxy then has the router cache answers.
pub(super) fn read_cache(d: &mut Draft, s: &mut Setting<'_>) -> Result<()> {
    match (s.flag()?, d.cache_responses) {
        (Some(true), Some(false)) => s.ignore("router_settings.cache_responses is false"),
        (Some(true), _) => d.settings.cache_responses = true,
        (Some(false) | None, _) => {}
    }
    Ok(())
}

/// Reads `litellm_settings.cache_params`, after `cache`.
pub(super) fn read_cache_params(d: &mut Draft, s: &mut Setting<'_>) -> Result<()> {
    if !d.settings.cache_responses {
        s.ignore("no answers are cached: `cache: true` is not given beside it");
        return Ok(());
    }
    s.section(&CACHE_PARAMS, d)
}

/// Reads `caching_groups`: lists of groups that share entries.
pub(super) fn read_caching_groups(s: &mut Setting<'_>) -> Result<Vec<Vec<String>>> {
    let mut groups = Vec::new();
    s.items(|item| {
        if item.node.as_seq().is_none() {
            return Err(item.unaccepted("a list of model groups, as `[[gpt-4o, gpt-4o-mini]]`"));
        }
        groups.push(item.texts()?);
        Ok(())
    })?;
    Ok(groups)
}

static CACHE_PARAMS: Section<Draft> = Section {
    keys: &[
        used("ttl", |d, s| {
            s.seconds().map(|ttl| d.settings.cache_ttl = ttl)
        }),
        used("mode", |d, s| {
            match s.text()?.as_deref() {
                // Only requests that ask for the cache are then looked up, and none here does.
                Some("default_off") => d.settings.cache_responses = false,
                Some("default_on") | None => {}
                Some(_) => return Err(s.unaccepted("default_on or default_off")),
            }
            Ok(())
        }),
        used("supported_call_types", |d, s| {
            let types = s.texts()?;
            if !s.node.is_null() && !types.iter().any(|name| name == "acompletion") {
                d.settings.cache_responses = false;
            }
            Ok(())
        }),
        ignored(
            "type",
            "one store in the router's memory stands for every kind of store",
        ),
        ignored("default_in_memory_ttl", SHARED_STATE),
        ignored("default_in_redis_ttl", SHARED_STATE),
        ignored("host", SHARED_STATE),
        ignored("namespace", SHARED_STATE),
        ignored("password", SECRET),
        ignored("port", SHARED_STATE),
        ignored("similarity_threshold", SIMILARITY),
        ignored("url", SHARED_STATE),
    ],
    families: &[
        ignored("redis_semantic_*", SIMILARITY),
        ignored("qdrant_*", SIMILARITY),
        ignored("redis_*", SHARED_STATE),
        ignored("s3_*", SHARED_STATE),
        ignored("gcs_*", SHARED_STATE),
        ignored("disk_*", SHARED_STATE),
        ignored("ssl*", SHARED_STATE),
    ],
    otherwise: UNKNOWN,
};

const SIMILARITY: &str = "only equal requests share an answer here, not similar ones";
