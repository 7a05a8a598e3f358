//! What a caller asks, and the ids that stand for names inside the router.

use std::{fmt, num::NonZeroU64, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::config::Fallbacks;

/// A request of a run. Unique in the run; it keys the request's randomness.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

impl RequestId {
    /// The request that a caller sends when it tries `retry` times again what it called by this
    /// number: a request of its own, of the same content.
    ///
    /// # Panics
    ///
    /// If the number is not below 2^40.
    #[must_use]
    pub const fn again(self, retry: u8) -> Self {
        assert!(self.0 <= Self::NUMBER, "the number of a call is below 2^40");
        Self(self.0 | (retry as u64) << Self::RETRY_AT)
    }

    /// The number of the call that it belongs to: its own, unless a caller or a mirror repeats it.
    #[must_use]
    pub const fn call(self) -> u64 {
        self.0 & Self::NUMBER
    }

    /// How many times its caller had tried before.
    #[must_use]
    pub const fn retry(self) -> u8 {
        (self.0 >> Self::RETRY_AT & Self::RETRIES) as u8
    }

    /// Whether it is a mirror's: nobody waits for its answer, and nobody counts it as a request.
    #[must_use]
    pub const fn is_mirror(self) -> bool {
        self.0 & Self::MIRROR != 0
    }

    /// Below are the number of a call, then how often its caller tried again, then mirrors.
    const RETRY_AT: u32 = 40;
    const NUMBER: u64 = (1 << Self::RETRY_AT) - 1;
    const RETRIES: u64 = 0x7f;

    /// Set in the ids of mirrors only.
    pub(crate) const MIRROR: u64 = 1 << 63;
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_mirror() {
            return crate::mirroring::show(*self, f);
        }
        match self.retry() {
            0 => write!(f, "#{}", self.0),
            retry => write!(f, "#{}, retry {retry}", self.call()),
        }
    }
}

/// A deployment: its place in the `model_list`, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeploymentId(pub u32);

impl DeploymentId {
    /// For indexing tables of deployments.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A model name that can be asked for, interned by [`Router::model`](crate::Router::model).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelId(pub u32);

impl ModelId {
    /// For indexing tables of names.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a caller asks for. The router sees no more of it than a real one would: never the length of
/// the answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// Unique in the run.
    pub id: RequestId,
    /// The name asked for.
    pub model: ModelId,
    /// Tokens of the prompt, as the router counts them.
    pub prompt_tokens: u32,
    /// The caller's limit on the answer, if any.
    pub max_tokens: Option<u32>,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// Who sends it, and what of it was seen before.
    pub origin: Origin,
    /// Settings that this request brings along; none for most.
    pub overrides: Option<Arc<Overrides>>,
}

impl Request {
    /// Which of LiteLLM's calls it is.
    #[must_use]
    pub fn api(&self) -> Api {
        self.overrides.as_ref().map(|o| o.api).unwrap_or_default()
    }

    /// Whether it came through LiteLLM's blocking API.
    #[must_use]
    pub fn is_blocking(&self) -> bool {
        self.overrides.as_ref().is_some_and(|o| o.blocking)
    }
}

/// Who sends a request, and what of its content was seen before. Drivers give equal things equal
/// ids; the router never sees what is behind them. `None`: not known, or not given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Origin {
    /// `metadata.session_id`.
    pub session: Option<SessionId>,
    /// The caller's key (`user_api_key_hash`).
    pub caller: Option<CallerId>,
    /// The whole content: requests that would share an entry of the response cache.
    pub content: Option<ContentId>,
    /// The part up to the last `cache_control` mark: what prompt-caching affinity goes by.
    pub prefix: Option<ContentId>,
    /// `priority`: the lower, the earlier.
    pub priority: Option<u32>,
    /// It mirrors this request (`silent_model`): nobody waits for its answer.
    pub mirror_of: Option<RequestId>,
}

/// A conversation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub NonZeroU64);

/// A caller's key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallerId(pub NonZeroU64);

/// A piece of content, as a hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentId(pub NonZeroU64);

/// Which of LiteLLM's calls a request is. They share everything but what is said here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `acompletion`.
    #[default]
    Chat,
    /// `aembedding`: the provider's client library retries twice inside each attempt (observed).
    Embedding,
}

/// Settings that a request may bring along, in LiteLLM's words. `None`: not given.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// Retries in each model group.
    pub num_retries: Option<u32>,
    /// Retries of the provider's client library inside each attempt, which only 1.92 passes on.
    pub max_retries: Option<u32>,
    /// Which of LiteLLM's calls it is.
    pub api: Api,
    /// Called through LiteLLM's blocking API, which knows no slots.
    pub blocking: bool,
    /// Bound on a whole attempt: `timeout`, else `request_timeout`.
    pub timeout: Option<Duration>,
    /// Bound on silence in a streamed attempt.
    pub stream_timeout: Option<Duration>,
    /// `cooldown_time` of a deployment that fails it, before the deployment's own. Zero: none.
    /// (observed)
    pub cooldown_time: Option<Duration>,
    /// Skip order tiers, weighted failover and fallbacks.
    pub disable_fallbacks: bool,
    /// `fallbacks`, in place of the router's. An empty list turns generic fallbacks off.
    pub fallbacks: Option<RequestFallbacks>,
    /// `context_window_fallbacks`, in place of the router's.
    pub context_window_fallbacks: Option<Fallbacks>,
    /// `content_policy_fallbacks`, in place of the router's.
    pub content_policy_fallbacks: Option<Fallbacks>,
    /// `metadata.tags`; those that begin with `!` are bans.
    pub tags: Vec<String>,
    /// The `User-Agent` header, which `tag_regex` looks at.
    pub user_agent: Option<String>,
    /// `allowed_model_region`.
    pub allowed_model_region: Option<String>,
    /// `cache: {no-cache: true}` or `caching: false`: the response cache is not asked.
    pub no_cache: bool,
}

impl Overrides {
    /// Every name of a model group in its lists of fallbacks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (names, by_group) = match &self.fallbacks {
            None => (None, None),
            Some(RequestFallbacks::Names(names) | RequestFallbacks::Maps(names)) => {
                (Some(names), None)
            }
            Some(RequestFallbacks::ByGroup(lists)) => (None, Some(lists)),
        };
        let lists = [
            by_group,
            self.context_window_fallbacks.as_ref(),
            self.content_policy_fallbacks.as_ref(),
        ];
        let lists = lists.into_iter().flatten().flatten();
        let lists = lists.flat_map(|(group, names)| names.iter().chain([group]));
        names.into_iter().flatten().chain(lists).map(String::as_str)
    }
}

/// Letters that make a token, in English text: OpenAI's rule of thumb (help.openai.com, "What are tokens
/// and how to count them").
pub const LETTERS_PER_TOKEN: u32 = 4;

/// Tokens of a text of so many letters, where nobody counts them.
#[must_use]
pub fn tokens_of_letters(letters: usize) -> u32 {
    u32::try_from(letters.div_ceil(LETTERS_PER_TOKEN as usize)).unwrap_or(u32::MAX)
}

/// A request's own `fallbacks`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestFallbacks {
    /// Names to fall back to, whatever group failed.
    Names(Vec<String>),
    /// The same, each as a map `{"model": name}`. A map never equals the name of a group, so it is
    /// not passed over where it names the group that failed (semantics 6.3).
    Maps(Vec<String>),
    /// Lists by the group that failed, as the router's own.
    ByGroup(Fallbacks),
}
