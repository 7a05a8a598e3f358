//! Scripted providers: what a call gets, by its number, its time or its request.

use std::time::Duration;

use router::{Cause, Deadline, ErrorClass, Failure, Instant, Outcome, RetryAfter, Usage};

use crate::{
    frames::{self, Timed},
    results::span,
};

/// A call that reaches a provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// How many reached it before.
    pub(crate) number: usize,
    /// When, in seconds.
    pub(crate) at: f64,
    /// The place of its request in the order of asking, from 0.
    pub(crate) ask: usize,
    /// Others that are being served here.
    pub(crate) in_flight: usize,
    pub(crate) stream: bool,
    pub(crate) prompt_tokens: u32,
}

/// What a provider does: one function of the call.
pub(crate) type Provider = Box<dyn FnMut(&Call) -> Reply>;

/// One answer. Of a stream, `latency` is the time to the first token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply {
    latency: Duration,
    failure: Option<Failure>,
    /// Never ends, after the tokens that it delivers.
    hangs: bool,
    /// Tokens of a whole answer.
    tokens: u32,
    /// Between two tokens of a stream.
    gap: Duration,
    /// Tokens of a stream before it fails or hangs.
    delivered: u32,
    /// In place of all that: a stream, frame by frame.
    pub(crate) frames: &'static [Timed],
}

/// A success after 100 ms, of 5 tokens.
pub(crate) fn ok() -> Reply {
    Reply {
        latency: span(0.1),
        failure: None,
        hangs: false,
        tokens: 5,
        gap: Duration::ZERO,
        delivered: 0,
        frames: &[],
    }
}

/// An error answer after 20 ms.
pub(crate) fn failing(failure: Failure) -> Reply {
    Reply {
        latency: span(0.02),
        failure: Some(failure),
        ..ok()
    }
}

/// An error answer of this status, with a plain body.
pub(crate) fn status(status: u16) -> Reply {
    failing(Failure::with_status(status))
}

/// An error answer of this class.
pub(crate) fn class(class: ErrorClass) -> Reply {
    failing(Failure::of(class))
}

/// No answer, ever.
pub(crate) fn hangs() -> Reply {
    Reply {
        hangs: true,
        ..failing(Failure::of(ErrorClass::Timeout))
    }
}

impl Reply {
    /// Takes this long: to its end, or to its first token if it is streamed.
    pub(crate) fn after(mut self, seconds: f64) -> Self {
        self.latency = span(seconds);
        self
    }

    /// With what is behind it.
    pub(crate) fn because(mut self, cause: Cause) -> Self {
        self.failure = self.failure.map(|f| f.because(cause));
        self
    }

    /// With a wait time.
    pub(crate) fn hint(mut self, hint: RetryAfter) -> Self {
        self.failure = self.failure.map(|f| f.retry_after(hint));
        self
    }

    /// With a wait time in the body.
    pub(crate) fn wait_in_body(mut self, seconds: f64) -> Self {
        self.failure = self.failure.map(|f| f.wait_in_body(span(seconds)));
        self
    }

    /// With a `retry-after` header of whole seconds.
    pub(crate) fn hint_seconds(self, seconds: i64) -> Self {
        self.hint(RetryAfter::Seconds(seconds))
    }

    /// Delivers this many tokens, `gap` seconds apart if it is streamed.
    pub(crate) fn tokens(mut self, tokens: u32, gap: f64) -> Self {
        self.tokens = tokens;
        self.gap = span(gap);
        self
    }

    /// A stream fails (or hangs) one gap after this many tokens.
    pub(crate) fn broken_after(mut self, tokens: u32) -> Self {
        self.delivered = tokens;
        self
    }
}

/// The same for every call.
pub(crate) fn always(reply: Reply) -> Provider {
    Box::new(move |_| reply)
}

/// By the call's number; the last is used over and over.
pub(crate) fn replies<const N: usize>(list: [Reply; N]) -> Provider {
    Box::new(move |call| list[call.number.min(N - 1)])
}

/// One before a time in seconds, another from then on.
pub(crate) fn until(seconds: f64, before: Reply, after: Reply) -> Provider {
    Box::new(move |call| if call.at < seconds { before } else { after })
}

/// What the router's side sees of a call, counted from its sending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// Of a stream that delivers something.
    pub(crate) first_token_after: Option<Duration>,
    pub(crate) ends_after: Duration,
    pub(crate) outcome: Outcome,
    /// The caller's or the operator's limit ended it.
    pub(crate) timed_out: bool,
    /// What was sent meanwhile, if that is told.
    pub(crate) frames: &'static [Timed],
}

/// The earlier of the answer's end and the deadline.
pub(crate) fn course(reply: Reply, call: &Call, deadline: Deadline) -> Course {
    if !reply.frames.is_empty() {
        return frames::course(reply.frames, call, deadline);
    }
    let fails = reply.failure.is_some();
    let tokens = match (call.stream, fails) {
        (false, _) => 0,
        (true, true) => reply.delivered,
        (true, false) => reply.tokens,
    };
    let first = (tokens > 0).then_some(reply.latency);
    let gaps = if fails {
        tokens
    } else {
        tokens.saturating_sub(1)
    };
    let ends = reply.latency + reply.gap * gaps;
    let limit = match deadline {
        Deadline::None => None,
        Deadline::Whole(most) => (reply.hangs || ends > most).then_some((most, tokens)),
        Deadline::Silence(most) if reply.latency > most => Some((most, 0)),
        Deadline::Silence(most) if reply.gap > most && gaps > 0 => Some((reply.latency + most, 1)),
        Deadline::Silence(most) => reply.hangs.then_some((ends + most, tokens)),
        // None of these streams holds keep-alive frames, so that only the names of limits differ.
        Deadline::Content(limits) => {
            let [first, idle] =
                [limits.first_token, limits.idle].map(|l| l.unwrap_or(Duration::MAX));
            let quiet = match () {
                () if reply.latency > first => Some((first, 0)),
                () if reply.gap > idle && gaps > 0 => Some((reply.latency + idle, 1)),
                () => reply.hangs.then(|| (ends.saturating_add(idle), tokens)),
            };
            let late = limits.total.filter(|&most| ends > most || reply.hangs);
            late.map(|most| (most, tokens))
                .into_iter()
                .chain(quiet)
                .min()
        }
    };
    let failed = |failure: Failure, delivered| {
        Outcome::Failure(Failure {
            tokens_delivered: delivered,
            first_token_after: first.filter(|_| delivered > 0),
            ..failure
        })
    };
    if let Some((end, delivered)) = limit {
        return Course {
            first_token_after: first.filter(|&first| first < end),
            ends_after: end,
            outcome: failed(Failure::of(ErrorClass::Timeout), delivered),
            timed_out: true,
            frames: &[],
        };
    }
    assert!(!reply.hangs, "a call that hangs needs a limit");
    let outcome = match reply.failure {
        Some(failure) => failed(failure, tokens),
        None => Outcome::Success {
            usage: Usage::new(call.prompt_tokens, reply.tokens),
            first_token_after: first,
        },
    };
    Course {
        first_token_after: first,
        ends_after: ends,
        outcome,
        timed_out: false,
        frames: &[],
    }
}

/// A moment of the run as an HTTP date.
pub(crate) fn date(seconds: f64) -> RetryAfter {
    RetryAfter::Date(Instant::ZERO + span(seconds))
}
