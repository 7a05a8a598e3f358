//! What an attempt is, seen from the provider, and what it gets.

use std::time::Duration;

use router::{DeploymentId, ErrorClass, Failure, Outcome, Reached, RequestId, Usage};

use crate::{
    latency::Pace,
    prompt_cache::Beginning,
    wire::{Break, Manner},
};

/// One attempt, as the provider sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProviderCall {
    /// Whose attempt.
    pub request: RequestId,
    /// Which attempt of the request, from 0.
    pub attempt: u16,
    /// The deployment that it was sent to.
    pub deployment: DeploymentId,
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens that the model would say if it were not cut off. The router never sees it.
    pub output_tokens: u32,
    /// The caller's limit on the answer.
    pub max_tokens: Option<u32>,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// What other prompts begin with too.
    pub beginning: Beginning,
    /// Whether it is billed as part of a batch job.
    pub batch: bool,
}

impl ProviderCall {
    /// Tokens of the whole answer: what the model would say, cut at the caller's limit.
    #[must_use]
    pub fn answer_tokens(&self) -> u32 {
        self.max_tokens
            .map_or(self.output_tokens, |most| most.min(self.output_tokens))
    }
}

/// How an attempt ends, and when.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reply {
    /// What the caller gets.
    pub outcome: Outcome,
    /// From sending to the end. [`Duration::MAX`]: it never ends, and only the caller's own limit
    /// ends it.
    pub total_after: Duration,
    /// The silence that it ends with, if its stream stalls.
    pub stall: Option<Silence>,
    /// How it comes about. The router never sees it.
    pub manner: Manner,
}

/// What is left of a stream that stalls: no content until its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Silence {
    /// From sending to the last content, or to the beginning of the answer if there is none.
    pub from: Duration,
    /// How often a keep-alive frame comes, if any does.
    pub keep_alive: Option<Duration>,
}

impl Reply {
    /// An error with a status after this time.
    #[must_use]
    pub const fn failure(failure: Failure, total_after: Duration) -> Self {
        Self {
            outcome: Outcome::Failure(failure),
            total_after,
            stall: None,
            manner: Manner::Error,
        }
    }

    /// The same reply, come about in this manner.
    #[must_use]
    pub const fn in_manner(mut self, manner: Manner) -> Self {
        self.manner = manner;
        self
    }

    /// An answer in one piece after this time.
    #[must_use]
    pub const fn success(usage: Usage, total_after: Duration) -> Self {
        Self {
            outcome: Outcome::Success {
                usage,
                first_token_after: None,
            },
            total_after,
            stall: None,
            manner: Manner::Answer,
        }
    }

    /// No answer, ever.
    #[must_use]
    pub const fn hang() -> Self {
        Self::failure(Failure::of(ErrorClass::Timeout), Duration::MAX)
            .in_manner(Manner::Broken(Break::Silence))
    }
}

/// The answer as it should be, which lasts so long once it is served.
#[inline]
pub(crate) fn whole_answer(
    pace: Pace,
    waits: Duration,
    lasts: Duration,
    call: &ProviderCall,
) -> Reply {
    let tokens = call.answer_tokens();
    let usage = Usage::new(call.prompt_tokens, tokens);
    let first_token_after = call.stream.then(|| waits + pace.first_token());
    Reply {
        outcome: Outcome::Success {
            usage,
            first_token_after,
        },
        total_after: waits + lasts,
        stall: None,
        manner: Manner::Answer,
    }
}

/// A stream that says no more than these tokens, and ends after its silence has lasted so long.
pub(crate) fn stalled(
    pace: Pace,
    waits: Duration,
    call: &ProviderCall,
    tokens: u32,
    silence: Silence,
    lasts: Duration,
) -> Reply {
    Reply {
        outcome: Outcome::Success {
            usage: Usage::new(call.prompt_tokens, tokens),
            first_token_after: (tokens > 0).then(|| waits + pace.first_token()),
        },
        total_after: silence.from + lasts,
        stall: Some(silence),
        manner: Manner::Answer,
    }
}

/// The answer breaks off after `tokens`. Only a streamed one has delivered anything by then.
pub(crate) fn cut_short(
    pace: Pace,
    waits: Duration,
    call: &ProviderCall,
    failure: Failure,
    tokens: u32,
    how: Break,
) -> Reply {
    let total_after = waits + pace.until_token(tokens);
    let failure = match (call.stream, tokens) {
        (false, _) => failure,
        (true, 0) => failure.after(Reached::Headers),
        (true, _) => Failure {
            reached: Reached::Content,
            tokens_delivered: tokens,
            first_token_after: Some(waits + pace.first_token()),
            ..failure
        },
    };
    let mut reply = Reply::failure(failure, total_after).in_manner(Manner::Broken(how));
    if how == Break::Silence {
        reply.stall = call.stream.then_some(Silence {
            from: total_after,
            keep_alive: None,
        });
        reply.total_after = Duration::MAX;
    }
    reply
}

/// An answer that says nothing, after this time.
pub(crate) const fn silent_answer(call: &ProviderCall, after: Duration, how: Break) -> Reply {
    Reply::success(Usage::new(call.prompt_tokens, 0), after).in_manner(Manner::Broken(how))
}
