//! A provider as it is written in a scenario file. Units stand in the names of the keys.

use serde::{Deserialize, Serialize};

use crate::{
    error::SpecError, failure::FailureMode, latency::LatencySpec, presets,
    prompt_cache::PromptCacheSpec, quota::QuotaSpec, wire::Dialect,
};

/// What a provider is like: how long it takes, what it lets through, and how it fails.
///
/// ```
/// use mock_providers::{Provider, ProviderSpec};
/// use router::{Epoch, Seed};
///
/// let spec: ProviderSpec = serde_json::from_str(
///     r#"{
///         "preset": "openai",
///         "quota": {"requests_per_minute": 600},
///         "faults": [{"brownout": {"from_s": 60, "to_s": 180, "slowdown": 6}}]
///     }"#,
/// )?;
/// let provider = Provider::new(&spec, Seed(1), 0, Epoch::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderSpec {
    /// A preset whose settings hold where none are given here. `faults`, if given, replaces the
    /// preset's whole list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Deployments of one fleet are struck together by what is `shared`. Default: the preset's name;
    /// without a preset, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
    /// Whose headers and error bodies it sends, which matters over HTTP only. Default `plain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// How long answers take. Needed, unless a preset brings it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencySpec>,
    /// The provider's own quota. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaSpec>,
    /// Its own prompt cache, which makes prompts cheaper. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache: Option<PromptCacheSpec>,
    /// Attempts that it answers at once, from 1 to 4,096; the others wait, first come, first served.
    /// Default: no bound, as with a large provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
    /// How it fails, in the order in which the faults are asked: the first that decides the attempt
    /// wins, slow-downs before it multiply. Default: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<FailureMode>>,
}

impl ProviderSpec {
    /// The spec that names this preset and nothing else; `None` if there is no such preset.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let preset = presets::find(name)?;
        Some(Self {
            preset: Some(preset.name.to_owned()),
            ..Self::default()
        })
    }

    /// The same provider with its preset written out. A preset's quota is a way of counting without
    /// a limit: it stays only if this spec gives a limit.
    ///
    /// # Errors
    ///
    /// If the preset is unknown.
    pub fn resolve(&self) -> Result<Self, SpecError> {
        let Some(name) = &self.preset else {
            return Ok(self.clone());
        };
        let Some(preset) = presets::find(name) else {
            return Err(presets::unknown(name));
        };
        let base = preset.spec();
        let latency = match (&self.latency, &base.latency) {
            (Some(own), Some(base)) => Some(own.over(base)),
            (own, base) => own.clone().or_else(|| base.clone()),
        };
        let quota = match (&self.quota, &base.quota) {
            (Some(own), Some(base)) => Some(own.over(base)),
            (own, _) => own.clone(),
        };
        let prompt_cache = match (self.prompt_cache, base.prompt_cache) {
            (Some(own), Some(base)) => Some(own.over(base)),
            (own, base) => own.or(base),
        };
        Ok(Self {
            preset: None,
            fleet: self.fleet.clone().or(base.fleet),
            dialect: self.dialect.or(base.dialect),
            latency,
            quota,
            prompt_cache,
            max_concurrent: self.max_concurrent.or(base.max_concurrent),
            faults: self.faults.clone().or(base.faults),
        })
    }
}
