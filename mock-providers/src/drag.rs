//! What the faults of a provider add up to for one attempt that none of them has decided yet.

use router::{Outcome, RetryAfter};

use crate::{failure::Verdict, latency::Pace, reply::Reply, wire::Manner};

/// What faults do to an attempt without deciding it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drag {
    slowdown: f64,
    least_token_ms: f64,
    /// What an error says about when to come back, in place of its own.
    hint: Option<Option<RetryAfter>>,
}

impl Default for Drag {
    fn default() -> Self {
        Self {
            slowdown: 1.0,
            least_token_ms: 0.0,
            hint: None,
        }
    }
}

impl Drag {
    /// Takes in what a fault says; gives it back if it decides the attempt.
    #[inline]
    pub(crate) fn takes_in(&mut self, verdict: Verdict) -> Option<Verdict> {
        match verdict {
            Verdict::Pass => None,
            Verdict::Drip(least_ms) => {
                self.least_token_ms = self.least_token_ms.max(least_ms);
                None
            }
            Verdict::Hint(hint) => {
                self.hint = Some(hint);
                None
            }
            Verdict::Slow(factor) => {
                self.slowdown *= factor;
                None
            }
            decided @ (Verdict::As(_)
            | Verdict::CutShort { .. }
            | Verdict::Fail(_)
            | Verdict::Hang
            | Verdict::Refuse(_)
            | Verdict::SayNothing(..)
            | Verdict::Stall { .. }) => Some(decided),
        }
    }

    pub(crate) fn slowed(self, pace: Pace) -> Pace {
        pace.slowed(self.slowdown).dripping(self.least_token_ms)
    }

    /// The same error with the hint that is said in place of its own, if it has headers at all.
    pub(crate) fn hinted(self, mut reply: Reply) -> Reply {
        if let (Some(hint), Outcome::Failure(failure)) = (self.hint, &mut reply.outcome)
            && matches!(reply.manner, Manner::Error | Manner::Limited(_))
        {
            failure.retry_after = hint;
        }
        reply
    }
}
