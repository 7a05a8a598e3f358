//! Under which name the registry knows a model (semantics 11.1).
//!
//! LiteLLM asks for `provider/name`, then for `name`, and takes an entry only if it is of the same
//! provider, give or take what is listed here (observed with its own registry).

use super::{PriceEntry, PriceRegistry};

/// A model as LiteLLM sees it: its provider, if that is known, and the name without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ModelRef<'m> {
    pub(super) provider: Option<&'m str>,
    pub(super) name: &'m str,
}

impl<'m> ModelRef<'m> {
    /// A `litellm_params.model` or `base_model`. `given` is `custom_llm_provider`.
    pub(super) fn of(model: &'m str, given: Option<&'m str>) -> Self {
        match (given, model.split_once('/')) {
            (Some(provider), Some((prefix, name))) if prefix == provider => Self {
                provider: Some(provider),
                name,
            },
            (Some(_), _) => Self {
                provider: given,
                name: model,
            },
            (None, Some((provider, name))) => Self {
                provider: Some(provider),
                name,
            },
            (None, None) => Self {
                provider: None,
                name: model,
            },
        }
    }
}

impl PriceRegistry {
    /// What is known of a model.
    pub(super) fn find(&self, model: ModelRef<'_>) -> Option<&PriceEntry> {
        let ModelRef { provider, name } = model;
        let Some(provider) = provider else {
            return self.entry(name);
        };
        let full = |name: &str| self.entry(&format!("{provider}/{name}"));
        let bare = |name: &str| {
            self.entry(name)
                .filter(|entry| is_of(&entry.provider, provider))
        };
        let found = full(name).or_else(|| bare(name));
        match provider {
            "bedrock" => {}
            "fireworks_ai" => return found.or_else(|| full(&format!("{FIREWORKS_MODELS}{name}"))),
            _ => return found,
        }
        // Bedrock's names may say a way and a region first, and a group of regions.
        found.or_else(|| {
            let name = BEDROCK_WAYS
                .iter()
                .find_map(|way| name.strip_prefix(way))
                .unwrap_or(name);
            let name = name.rsplit('/').next().unwrap_or(name);
            let anywhere = || {
                let (regions, rest) = name.split_once('.')?;
                BEDROCK_REGIONS.contains(&regions).then_some(rest)
            };
            bare(name).or_else(|| bare(anywhere()?))
        })
    }
}

/// Whether an entry of a provider counts for a model of another name of it.
fn is_of(entry: &str, provider: &str) -> bool {
    let family = |start: &str| provider.starts_with(start) && entry.starts_with(start);
    entry == provider
        || ANY_PROVIDER.contains(&provider)
        || FAMILIES.iter().any(|start| family(start))
        || (provider == "azure_ai" && matches!(entry, "openai" | "azure"))
        || (provider == "cohere" && entry == "cohere_chat")
}

/// Providers that resell others' models: any entry of the name counts.
const ANY_PROVIDER: [&str; 4] = ["github", "huggingface", "litellm_proxy", "nadir"];
/// Providers whose entries carry longer names.
const FAMILIES: [&str; 3] = ["bedrock", "fireworks_ai", "vertex_ai"];
/// What Fireworks' short names leave out.
const FIREWORKS_MODELS: &str = "accounts/fireworks/models/";
const BEDROCK_WAYS: [&str; 3] = ["converse/", "invoke/", "converse_like/"];
const BEDROCK_REGIONS: [&str; 7] = ["us", "eu", "apac", "au", "jp", "global", "us-gov"];
