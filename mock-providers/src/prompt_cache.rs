//! The provider's own prompt cache: the beginning of a prompt that it has computed lately is read and
//! not computed again, and its answer says how many tokens that were (`cached_tokens`).
//!
//! What is known of a prompt is which beginning it shares with others ([`Beginning`]): a shared prefix
//! such as a system prompt, and the history of its conversation. A beginning is there once an answer
//! to it has begun, and until it was not used for a while. Each deployment has a cache of its own. What
//! caching does to the time of an answer and to a quota is not modelled: it changes what is billed.

use std::{collections::BTreeMap, time::Duration};

use router::{ContentId, Instant, Outcome, nanos_from_secs};
use serde::{Deserialize, Serialize};

use crate::{
    error::SpecError,
    place::Place,
    reply::{ProviderCall, Reply},
};

/// `prompt_cache`: which beginnings of prompts are read from the provider's cache.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptCacheSpec {
    /// Shortest beginning that is cached, in tokens. Default: 1,024, as with most providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_tokens: Option<u32>,
    /// Cached tokens come in whole multiples of this. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_tokens: Option<u32>,
    /// How long a beginning is kept after its last use, in seconds. Default: 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<f64>,
    /// Whether only prompts that carry `cache_control` marks are cached. Default: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked_only: Option<bool>,
}

impl PromptCacheSpec {
    /// These settings where they are given, `base` elsewhere.
    pub(crate) fn over(self, base: Self) -> Self {
        Self {
            at_least_tokens: self.at_least_tokens.or(base.at_least_tokens),
            step_tokens: self.step_tokens.or(base.step_tokens),
            ttl_s: self.ttl_s.or(base.ttl_s),
            marked_only: self.marked_only.or(base.marked_only),
        }
    }
}

/// What a prompt begins with, as far as others begin so too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beginning {
    /// A beginning that prompts of many conversations share, and its tokens.
    pub shared: Option<(ContentId, u32)>,
    /// The conversation, and the tokens of what was said in it before, a shared beginning among them.
    pub history: Option<(ContentId, u32)>,
    /// Whether `cache_control` marks stand behind both.
    pub marked: bool,
}

/// Writes into an answer's usage at which prices its tokens are billed.
#[inline]
pub(crate) fn bill(
    cache: Option<&mut PromptCache>,
    at: Instant,
    call: &ProviderCall,
    reply: &mut Reply,
) {
    if let Outcome::Success {
        usage,
        first_token_after,
    } = &mut reply.outcome
    {
        usage.batch = call.batch;
        if let Some(cache) = cache {
            let begins_after = first_token_after.unwrap_or(reply.total_after);
            usage.cached_tokens = cache.read(at, call, begins_after);
        }
    }
}

/// The beginnings that one deployment's provider has in its cache.
#[derive(Clone, Debug)]
pub(crate) struct PromptCache {
    at_least: u32,
    step: u32,
    ttl: Duration,
    marked_only: bool,
    entries: BTreeMap<ContentId, Entry>,
    /// At so many entries those that ended are dropped.
    sweep_at: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    tokens: u32,
    from: Instant,
    until: Instant,
}

impl PromptCache {
    /// `place` is the provider's.
    pub(crate) fn new(spec: PromptCacheSpec, place: &Place) -> Result<Self, SpecError> {
        let place = place.key("prompt_cache");
        let tokens = |name: &str, found: Option<u32>, default: u32| {
            let found = found.unwrap_or(default);
            let fits = (1..=MOST_TOKENS).contains(&found);
            let accepted = "a whole number from 1 to 100000000";
            place.number(name, found.into(), fits, accepted)?;
            Ok(found)
        };
        let ttl_s = place.positive("ttl_s", spec.ttl_s.unwrap_or(TTL_S))?;
        Ok(Self {
            at_least: tokens("at_least_tokens", spec.at_least_tokens, AT_LEAST_TOKENS)?,
            step: tokens("step_tokens", spec.step_tokens, 1)?,
            ttl: Duration::from_nanos(nanos_from_secs(ttl_s)),
            marked_only: spec.marked_only.unwrap_or(false),
            entries: BTreeMap::new(),
            sweep_at: FIRST_SWEEP,
        })
    }

    /// Tokens of this prompt that are read from the cache. It will know the prompt's beginning once
    /// the answer has begun, `begins_after` from now.
    #[inline(never)]
    pub(crate) fn read(&mut self, at: Instant, call: &ProviderCall, begins_after: Duration) -> u32 {
        let Beginning {
            shared,
            history,
            marked,
        } = call.beginning;
        if (shared.is_none() && history.is_none()) || (self.marked_only && !marked) {
            return 0;
        }
        let known = [shared, history].map(|part| {
            let (content, tokens) = part?;
            let entry = self.entries.get(&content)?;
            let is_there = entry.from <= at && at < entry.until;
            is_there.then_some(entry.tokens.min(tokens))
        });
        let longest = known.into_iter().flatten().max().unwrap_or(0);
        let from = at + begins_after;
        for (content, tokens) in [
            shared,
            // All of this prompt will be history in the next one.
            history.map(|(content, _)| (content, call.prompt_tokens)),
        ]
        .into_iter()
        .flatten()
        {
            self.keep(at, content, tokens, from);
        }
        let whole_steps = longest.min(call.prompt_tokens) / self.step * self.step;
        if whole_steps < self.at_least {
            return 0;
        }
        whole_steps
    }

    /// A beginning was used, or is new `from` a moment on.
    fn keep(&mut self, at: Instant, content: ContentId, tokens: u32, from: Instant) {
        if tokens < self.at_least {
            return;
        }
        let until = from + self.ttl;
        if let Some(entry) = self.entries.get_mut(&content)
            && at < entry.until
        {
            entry.tokens = entry.tokens.max(tokens);
            entry.until = entry.until.max(until);
            return;
        }
        if self.entries.len() >= self.sweep_at {
            self.entries.retain(|_, entry| at < entry.until);
            self.sweep_at = FIRST_SWEEP.max(2 * self.entries.len());
        }
        let entry = Entry {
            tokens,
            from,
            until,
        };
        self.entries.insert(content, entry);
    }
}

/// The least of OpenAI, Azure, Anthropic's and Google's usual models alike.
const AT_LEAST_TOKENS: u32 = 1_024;
/// Anthropic's and Bedrock's lifetime, and the lower end of OpenAI's.
const TTL_S: f64 = 300.0;
const MOST_TOKENS: u32 = 100_000_000;
const FIRST_SWEEP: usize = 64;

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use router::{DeploymentId, RequestId};

    use super::*;

    fn content(number: u64) -> ContentId {
        ContentId(NonZeroU64::new(number).unwrap())
    }

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    fn call(prompt_tokens: u32, beginning: Beginning) -> ProviderCall {
        ProviderCall {
            request: RequestId(0),
            attempt: 0,
            deployment: DeploymentId(0),
            prompt_tokens,
            output_tokens: 1,
            max_tokens: None,
            stream: false,
            beginning,
            batch: false,
        }
    }

    fn shares(tokens: u32) -> Beginning {
        Beginning {
            shared: Some((content(1), tokens)),
            ..Beginning::default()
        }
    }

    fn cache(spec: PromptCacheSpec) -> PromptCache {
        PromptCache::new(spec, &Place::default()).unwrap()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_shared_beginning_is_read_once_its_first_answer_has_begun_and_while_it_is_used() {
        let mut cache = cache(PromptCacheSpec::default());
        let mut read = |seconds| cache.read(at(seconds), &call(3_000, shares(2_000)), SECOND);

        assert_eq!(read(0.0), 0, "nobody has seen it");
        assert_eq!(read(0.5), 0, "the first answer has not begun");
        assert_eq!(read(1.0), 2_000);
        assert_eq!(read(300.0), 2_000, "each use renews it");
        assert_eq!(read(600.9), 2_000);
        assert_eq!(read(901.9), 0, "300 s after its last answer began");
    }

    #[test]
    fn cached_tokens_come_in_steps_and_not_below_the_least() {
        let spec = PromptCacheSpec {
            step_tokens: Some(128),
            ..PromptCacheSpec::default()
        };
        let mut cache = cache(spec);
        let mut second = |tokens| {
            cache.entries.clear();
            let call = call(5_000, shares(tokens));
            cache.read(at(0.0), &call, SECOND);
            cache.read(at(2.0), &call, SECOND)
        };

        assert_eq!(second(1_023), 0);
        assert_eq!(second(1_024), 1_024);
        assert_eq!(second(1_300), 1_280);
    }

    #[test]
    fn of_a_conversation_all_that_was_sent_before_is_read() {
        let mut cache = cache(PromptCacheSpec::default());
        let mut read = |seconds, prompt, history| {
            let beginning = Beginning {
                shared: Some((content(1), 1_500)),
                history: Some((content(2), history)),
                marked: true,
            };
            cache.read(at(seconds), &call(prompt, beginning), SECOND)
        };

        assert_eq!(read(0.0, 1_600, 1_500), 0);
        assert_eq!(read(10.0, 2_600, 2_500), 1_600, "the whole first prompt");
        assert_eq!(
            read(20.0, 3_600, 2_550),
            2_550,
            "as far as the history goes"
        );
    }

    #[test]
    fn where_marks_are_needed_prompts_without_them_are_not_cached() {
        let mut cache = cache(PromptCacheSpec {
            marked_only: Some(true),
            ..PromptCacheSpec::default()
        });
        let mut read = |seconds, marked| {
            let beginning = Beginning {
                marked,
                ..shares(2_000)
            };
            cache.read(at(seconds), &call(3_000, beginning), SECOND)
        };

        assert_eq!(read(0.0, false), 0);
        assert_eq!(read(10.0, true), 0, "the first was not kept");
        assert_eq!(read(20.0, true), 2_000);
        assert_eq!(read(30.0, false), 0);
    }

    #[test]
    fn memory_follows_the_beginnings_that_are_alive() {
        let mut cache = cache(PromptCacheSpec {
            ttl_s: Some(10.0),
            ..PromptCacheSpec::default()
        });

        // A new conversation each second, each kept for eleven.
        for second in 1..10_000_u32 {
            let beginning = Beginning {
                history: Some((content(second.into()), 0)),
                ..Beginning::default()
            };
            cache.read(at(second.into()), &call(2_000, beginning), SECOND);
            assert!(cache.entries.len() <= FIRST_SWEEP);
        }
    }

    #[test]
    fn a_number_that_makes_no_sense_is_refused_with_its_place() {
        let spec = PromptCacheSpec {
            step_tokens: Some(0),
            ..PromptCacheSpec::default()
        };
        let error = PromptCache::new(spec, &Place::default()).unwrap_err();

        assert_eq!(
            error.to_string(),
            "prompt_cache.step_tokens is 0; accepted is a whole number from 1 to 100000000"
        );
    }
}
