//! What a caller asks for, as it goes on to a provider: the body key by key, unread.

use std::{collections::BTreeMap, sync::Arc};

use reqwest::header::{HeaderMap, HeaderName};
use serde_json::value::RawValue;

use super::{
    anthropic,
    upstream::{Shape, Upstream},
};
use crate::{
    request::{Api, Origin, Overrides, RequestId},
    step::AttemptPlan,
};

/// Which address of a provider is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Endpoint {
    /// `/chat/completions`.
    Chat,
    /// `/completions`: the older shape of the same.
    Completions,
    /// `/embeddings`.
    Embeddings,
}

impl Endpoint {
    /// The last part of the address.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "chat/completions",
            Self::Completions => "completions",
            Self::Embeddings => "embeddings",
        }
    }

    /// Which of LiteLLM's calls it is.
    #[must_use]
    pub const fn api(self) -> Api {
        match self {
            Self::Chat | Self::Completions => Api::Chat,
            Self::Embeddings => Api::Embedding,
        }
    }
}

/// A request of a caller.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name asked for.
    pub model: String,
    /// Tokens of the prompt, as whoever calls counts or estimates them.
    pub prompt_tokens: u32,
    /// The caller's limit on the answer.
    pub max_tokens: Option<u32>,
    /// Who sends it, and what of it was seen before.
    pub origin: Origin,
    /// Settings that it brings along.
    pub overrides: Option<Arc<Overrides>>,
    /// What is sent.
    pub payload: Arc<Payload>,
    /// Its number, where it has one already: below 2^47, and no two alike. `None`: the next one.
    pub id: Option<RequestId>,
}

/// What is sent upstream, but for the model and whether to stream.
#[derive(Debug)]
pub struct Payload {
    /// Where to.
    pub endpoint: Endpoint,
    /// The keys of the body, without `model` and `stream`, each as it was written.
    pub body: BTreeMap<String, Box<RawValue>>,
    /// Headers to send along.
    pub headers: HeaderMap,
    /// Headers in which the numbers of the request and of its attempt, from 0, are told; none if not
    /// given. A mirror has a number of its own.
    pub number_headers: Option<[HeaderName; 2]>,
}

impl Payload {
    /// The body of an attempt, in the words of its upstream. The deployment's own parameters stand in
    /// for those that are missing. The error says what the upstream has no words for.
    pub(super) fn body_for(
        &self,
        upstream: &Upstream,
        model: &str,
        stream: bool,
    ) -> Result<Vec<u8>, String> {
        match upstream.shape {
            Shape::Anthropic => {
                let defaults = upstream.parameters.iter();
                let defaults = defaults.filter(|(key, _)| !self.body.contains_key(*key));
                anthropic::body(self.body.iter().chain(defaults), model, stream)
            }
            Shape::Azure { .. } | Shape::OpenAi => Ok(self.open_ai(upstream, model, stream)),
        }
    }

    /// Whether a stream shall tell its usage in a last frame.
    pub(super) fn wants_usage(&self) -> bool {
        let options = self.body.get("stream_options");
        let options = options.and_then(|o| serde_json::from_str::<serde_json::Value>(o.get()).ok());
        options.is_some_and(|options| options["include_usage"] == true)
    }

    fn open_ai(&self, upstream: &Upstream, model: &str, stream: bool) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.length() + 64);
        body.push(b'{');
        if let Ok(model) = serde_json::to_string(model) {
            body.extend_from_slice(b"\"model\":");
            body.extend_from_slice(model.as_bytes());
        }
        if stream {
            body.extend_from_slice(b",\"stream\":true");
        }
        let defaults = upstream.parameters.iter();
        let defaults = defaults.filter(|(key, _)| !self.body.contains_key(*key));
        for (key, value) in self.body.iter().chain(defaults) {
            // What describes a stream is refused without one.
            if !stream && key == "stream_options" {
                continue;
            }
            if let Ok(key) = serde_json::to_string(key) {
                body.push(b',');
                body.extend_from_slice(key.as_bytes());
                body.push(b':');
                body.extend_from_slice(value.get().as_bytes());
            }
        }
        body.push(b'}');
        body
    }

    fn length(&self) -> usize {
        let each = self.body.iter();
        each.map(|(key, value)| key.len() + value.get().len() + 4)
            .sum()
    }
}

/// What of an attempt's plan a driver keeps while it is under way.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    pub(super) request: RequestId,
    pub(super) deployment: crate::request::DeploymentId,
    pub(super) number: u16,
    pub(super) model: String,
    pub(super) stream: bool,
    pub(super) deadline: crate::step::Deadline,
    pub(super) timeout_cause: crate::blame::Cause,
    pub(super) keeps_opening_back: bool,
    pub(super) wants_first_token: bool,
    /// Moves to other groups, tiers or remaining sets so far.
    pub(super) fallbacks: u16,
}

impl Sending {
    pub(super) fn new(
        attempt: &crate::step::Attempt,
        plan: &AttemptPlan<'_>,
        fallbacks: u16,
    ) -> Self {
        Self {
            request: attempt.request(),
            deployment: attempt.deployment(),
            number: attempt.number(),
            model: plan.model.to_owned(),
            stream: plan.stream,
            deadline: plan.deadline,
            timeout_cause: plan.timeout_cause(),
            keeps_opening_back: plan.keeps_opening_back,
            wants_first_token: plan.wants_first_token,
            fallbacks,
        }
    }
}
