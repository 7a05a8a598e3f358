//! What became of calls where a client library stands in front of the router: what those who ask see,
//! and what it costs to serve them.
//!
//! A call is what somebody asks; it may take several requests at the router, and a request several
//! attempts upstream. Whoever asked sees calls only. All other numbers of a [`RunRecord`] are of
//! requests.
//!
//! [`RunRecord`]: crate::RunRecord

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::distribution::{Distribution, Spans};

/// What became of the calls of one run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CallsRecord {
    /// Calls that began.
    pub calls: u64,
    /// Calls that were answered while somebody waited.
    pub answered: u64,
    /// Calls that ended with an error, the last retry's.
    pub failed: u64,
    /// Of those, calls whose last request was silent for longer than the library's timeout.
    pub timed_out: u64,
    /// Calls whose maker went away first.
    pub hung_up: u64,
    /// Answered calls within every bound of the service level, from the call's beginning; `None` if it
    /// has no bound.
    pub good: Option<u64>,
    /// Beginning of the call to its answer, of answered calls.
    pub latency: Distribution,
    /// Requests that reached the router.
    pub requests: u64,
    /// Attempts that the router sent upstream for them.
    pub attempts: u64,
    /// Requests that went on at the router after their caller had given them up, and ended there.
    pub unheard: u64,
    /// Those of them that were answered: paid for, and read by nobody.
    pub unheard_answers: u64,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEnd {
    /// With an answer.
    Answered {
        /// When its first token came, counted from the call's beginning.
        first_token: Option<Duration>,
    },
    /// With an error.
    Failed,
    /// Whoever made it went away.
    HungUp,
    /// The library's timeout was up, and no retry was left.
    TimedOut,
}

/// Counts calls while a run goes on.
#[derive(Debug)]
pub struct CallTally {
    record: CallsRecord,
    slo_latency: Option<Duration>,
    slo_first_token: Option<Duration>,
    latency: Spans,
}

impl CallTally {
    /// Has counted nothing yet. Good answers are within these bounds.
    #[must_use]
    pub fn new(slo_latency: Option<Duration>, slo_first_token: Option<Duration>) -> Self {
        let has_slo = slo_latency.is_some() || slo_first_token.is_some();
        Self {
            record: CallsRecord {
                good: has_slo.then_some(0),
                ..CallsRecord::default()
            },
            slo_latency,
            slo_first_token,
            latency: Spans::new(),
        }
    }

    /// A call begins.
    pub const fn began(&mut self) {
        self.record.calls += 1;
    }

    /// A request for a call reaches the router.
    pub const fn requested(&mut self) {
        self.record.requests += 1;
    }

    /// The router sends an attempt for one.
    pub const fn attempted(&mut self) {
        self.record.attempts += 1;
    }

    /// A request that nobody waits for has ended.
    pub fn unheard(&mut self, is_answer: bool) {
        self.record.unheard += 1;
        self.record.unheard_answers += u64::from(is_answer);
    }

    /// A call ends, this long after its beginning.
    pub fn ended(&mut self, how: CallEnd, took: Duration) {
        let record = &mut self.record;
        match how {
            CallEnd::Answered { first_token } => {
                record.answered += 1;
                self.latency.add(router::nanos(took));
                let in_time = self.slo_latency.is_none_or(|bound| took <= bound);
                let begun = |bound| first_token.is_some_and(|span| span <= bound);
                let is_good = in_time && self.slo_first_token.is_none_or(begun);
                record.good = record.good.map(|good| good + u64::from(is_good));
            }
            CallEnd::Failed => record.failed += 1,
            CallEnd::HungUp => record.hung_up += 1,
            CallEnd::TimedOut => {
                record.failed += 1;
                record.timed_out += 1;
            }
        }
    }

    /// The counts.
    ///
    /// # Panics
    ///
    /// In debug builds, if a call has not ended.
    #[must_use]
    pub fn finish(self) -> CallsRecord {
        let record = CallsRecord {
            latency: self.latency.finish(),
            ..self.record
        };
        debug_assert_eq!(
            record.calls,
            record.answered + record.failed + record.hung_up,
            "each call ends once"
        );
        record
    }
}
