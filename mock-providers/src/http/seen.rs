//! What a server saw: one record for each request, kept for tests to read, and counts for Prometheus.

use std::collections::{BTreeMap, VecDeque};

use router::Outcome;
use serde::Serialize;

use crate::{
    exchange::{Met, asked::Asked},
    wire::{Break, Manner},
};

/// One request and what became of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Seen {
    /// In the order of arrival, from 0.
    pub(super) number: u64,
    /// Seconds of the server's clock.
    pub(super) at_s: f64,
    /// The provider's place; who reads records writes its name beside them.
    #[serde(skip)]
    pub(super) provider: usize,
    pub(super) api: &'static str,
    pub(super) model: String,
    pub(super) stream: bool,
    pub(super) prompt_tokens: u32,
    pub(super) max_tokens: Option<u32>,
    /// What its luck was keyed by.
    pub(super) request: u64,
    pub(super) attempt: u16,
    /// HTTP status; null where there is no HTTP answer.
    pub(super) status: Option<u16>,
    /// `answer`, `error`, `limited`, or how the exchange breaks.
    pub(super) manner: &'static str,
    /// LiteLLM's name of the error; null for an answer.
    pub(super) error: Option<&'static str>,
    /// Tokens that are delivered if the client stays.
    pub(super) tokens: u32,
    /// Seconds from arrival to the end, as the model has it; null if it never ends.
    pub(super) ends_after_s: Option<f64>,
    /// `under_way`, `ended`, or `abandoned` by the client.
    pub(super) state: State,
}

/// Where an exchange stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    UnderWay,
    Ended,
    Abandoned,
}

impl Seen {
    pub(super) fn new(number: u64, at_s: f64, provider: usize, asked: &Asked, met: &Met) -> Self {
        let Met {
            call,
            reply,
            status,
            ..
        } = met;
        let (error, tokens) = match reply.outcome {
            Outcome::Success { usage, .. } => (None, usage.completion_tokens),
            Outcome::Failure(failure) => {
                (Some(failure.class.exception()), failure.tokens_delivered)
            }
        };
        let ends = reply.total_after != std::time::Duration::MAX;
        Self {
            number,
            at_s,
            provider,
            api: asked.api.name(),
            model: asked.model.clone(),
            stream: asked.stream,
            prompt_tokens: call.prompt_tokens,
            max_tokens: call.max_tokens,
            request: call.request.0,
            attempt: call.attempt,
            status: *status,
            manner: manner(reply.manner),
            error,
            tokens,
            ends_after_s: ends.then_some(reply.total_after.as_secs_f64()),
            state: State::UnderWay,
        }
    }
}

/// The last requests, and counts of all.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) last: VecDeque<Seen>,
    pub(super) counts: BTreeMap<Counted, u64>,
    /// By place of the provider.
    pub(super) sums: BTreeMap<usize, Sums>,
}

/// What requests are counted by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Counted {
    pub(super) provider: usize,
    pub(super) api: &'static str,
    pub(super) status: Option<u16>,
    pub(super) manner: &'static str,
}

/// What is summed up of a provider.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) under_way: u64,
    pub(super) abandoned: u64,
    /// Of those that ended, in seconds.
    pub(super) duration_s: f64,
    pub(super) ended: u64,
}

impl Ledger {
    pub(super) fn arrived(&mut self, seen: Seen) {
        let counted = Counted {
            provider: seen.provider,
            api: seen.api,
            status: seen.status,
            manner: seen.manner,
        };
        *self.counts.entry(counted).or_default() += 1;
        let sums = self.sums.entry(seen.provider).or_default();
        sums.under_way += 1;
        if seen.status == Some(200) {
            sums.prompt_tokens += u64::from(seen.prompt_tokens);
            sums.completion_tokens += u64::from(seen.tokens);
        }
        if self.last.len() == MOST_SEEN {
            self.last.pop_front();
        }
        self.last.push_back(seen);
    }

    /// An exchange has ended, or its client has left, after so many seconds.
    pub(super) fn left(&mut self, provider: usize, number: u64, state: State, after_s: f64) {
        let sums = self.sums.entry(provider).or_default();
        sums.under_way = sums.under_way.saturating_sub(1);
        if state == State::Abandoned {
            sums.abandoned += 1;
        } else {
            sums.ended += 1;
            sums.duration_s += after_s;
        }
        // The youngest are at the end.
        if let Some(seen) = self.last.iter_mut().rev().find(|s| s.number == number) {
            seen.state = state;
        }
    }
}

const fn manner(manner: Manner) -> &'static str {
    match manner {
        Manner::Answer => "answer",
        Manner::Error => "error",
        Manner::Limited(_) => "limited",
        Manner::Broken(how) => match how {
            Break::Cut => "cut",
            Break::Empty => "empty",
            Break::ErrorObject => "error_object",
            Break::Malformed => "malformed",
            Break::NoDone => "no_done",
            Break::NoEnd => "no_end",
            Break::NotJson => "not_json",
            Break::Refused => "refused",
            Break::Reset => "reset",
            Break::Silence => "silence",
            Break::Tls => "tls",
        },
    }
}

/// Older records are dropped.
pub(super) const MOST_SEEN: usize = 10_000;
