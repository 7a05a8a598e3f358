//! What may stand under `workload.senders`. Keys that LiteLLM has a word for are called by it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::schema::NameOr;

/// One sender of `workload.senders`: a share of the traffic, and what its requests have in common.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SenderSpec {
    /// Share of the requests, above 0 and up to 1. Default: what the other senders leave. What all of
    /// them leave is of nobody in particular.
    #[serde(default)]
    pub share: Option<f64>,
    /// The models that it asks for with their shares, or the name of the only one. Default: those of
    /// the workload.
    #[serde(default)]
    pub models: Option<NameOr<BTreeMap<String, f64>>>,
    /// Share of its requests that ask for a stream. Default: that of the workload.
    #[serde(default)]
    pub stream_share: Option<f64>,
    /// Its limit on answers, in tokens. Default: that of the workload.
    #[serde(default)]
    pub max_tokens: Option<u32>,

    /// API keys that its requests come under (`user_api_key_hash`), which `deployment_affinity` goes by.
    /// A session has one key. Default: no key is known.
    #[serde(default, deserialize_with = "crate::whole::between::<_, 1, 1_000_000>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub callers: Option<u32>,
    /// Conversations that its requests belong to (`metadata.session_id`), which `session_affinity` goes
    /// by. Default: none.
    #[serde(default)]
    pub sessions: Option<SessionsSpec>,
    /// Requests that are sent again, word by word, which `cache_responses` goes by. Default: none; each
    /// request is unlike all others.
    #[serde(default)]
    pub repeats: Option<RepeatsSpec>,
    /// What its prompts begin with, such as a system prompt. It comes on top of the prompt's length.
    /// Providers cache it (`prompt_cache`), and `prompt_caching` goes by it. Default: none.
    #[serde(default)]
    pub shared_prefix: Option<SharedPrefixSpec>,
    /// Whether `cache_control` marks stand behind the shared prefix and behind the conversation so far:
    /// without them LiteLLM's `prompt_caching` does not see the prefix, and some providers cache nothing.
    /// Default: yes.
    #[serde(default)]
    pub cache_control: Option<bool>,

    /// `priority`: the lower, the earlier. Default: none.
    #[serde(default)]
    pub priority: Option<u32>,
    /// `metadata.tags`; those that begin with `!` are bans. Default: none.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// The `User-Agent` header, which `tag_regex` looks at.
    #[serde(default)]
    pub user_agent: Option<String>,
    /// `allowed_model_region`: only deployments of this `region_name`, where pre-call checks are on.
    #[serde(default)]
    pub allowed_model_region: Option<String>,
    /// `cache: {no-cache: true}`: its requests do not ask the response cache.
    #[serde(default)]
    pub no_cache: Option<bool>,

    /// Retries in each model group, in place of the router's.
    #[serde(default)]
    pub num_retries: Option<u32>,
    /// Retries of the provider's client library inside each attempt, which only LiteLLM 1.92 passes on.
    #[serde(default)]
    pub max_retries: Option<u32>,
    /// Bound on a whole attempt, in seconds.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// Bound on silence in a streamed attempt, in seconds.
    #[serde(default)]
    pub stream_timeout: Option<f64>,
    /// Skip order tiers, weighted failover and fallbacks.
    #[serde(default)]
    pub disable_fallbacks: Option<bool>,
    /// In place of the router's: names, or lists of names by the group that failed. An empty list turns
    /// generic fallbacks off.
    #[serde(default)]
    pub fallbacks: Option<Vec<FallbackSpec>>,
    /// In place of the router's: lists of names by the group that failed.
    #[serde(default)]
    pub context_window_fallbacks: Option<Vec<BTreeMap<String, Vec<String>>>>,
    /// In place of the router's: lists of names by the group that failed.
    #[serde(default)]
    pub content_policy_fallbacks: Option<Vec<BTreeMap<String, Vec<String>>>>,

    /// Which of LiteLLM's calls its requests are. Default: chat.
    #[serde(default)]
    pub api: Option<ApiSpec>,
    /// Whether they come through LiteLLM's blocking API, which knows neither slots nor affinity.
    #[serde(default)]
    pub blocking: Option<bool>,
    /// Whether their answers are billed at batch prices. They are sent and answered as all others.
    #[serde(default)]
    pub batch: Option<bool>,
}

/// `sessions`.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionsSpec {
    /// Sessions under way at any time.
    pub live: u32,
    /// Requests of a session, on average.
    pub turns: f64,
    /// Tokens by which each turn makes the later prompts of its session longer, which providers cache.
    /// They come on top of the prompt's length. Default: 0.
    #[serde(default)]
    pub history_tokens: Option<u32>,
}

/// `repeats`.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepeatsSpec {
    /// Share of the sender's requests that are of the pool.
    pub share: f64,
    /// Contents that come up again.
    pub pool: u32,
    /// How unlike their frequencies are: the k-th comes up as often as 1 ÷ k^skew. Default: 0, all alike.
    #[serde(default)]
    pub skew: Option<f64>,
}

/// `shared_prefix`.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedPrefixSpec {
    /// Its length.
    pub tokens: u32,
    /// How many there are; a session keeps its own. Default: 1.
    #[serde(default)]
    pub pool: Option<u32>,
    /// How unlike their frequencies are: the k-th comes up as often as 1 ÷ k^skew. Default: 0, all alike.
    #[serde(default)]
    pub skew: Option<f64>,
}

/// One entry of `fallbacks`: a name, `{model: name}`, or `{group: [names]}`.
pub type FallbackSpec = NameOr<BTreeMap<String, NameOr<Vec<String>>>>;

/// `api`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApiSpec {
    /// `acompletion`.
    Chat,
    /// `aembedding`: answers without tokens and without streams.
    Embedding,
}
