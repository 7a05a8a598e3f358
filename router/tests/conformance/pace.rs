//! How long the recorder's client took around its calls.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    upstream::millis,
    vector::{Asked, Facts},
};

/// How long the client itself takes: before a request is handed to the router, from there to the
/// upstream, and back. Which of two overlapping requests comes first depends on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) late: Duration,
    pub(crate) out: Duration,
    pub(crate) back: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            late: Duration::ZERO,
            out: Duration::from_millis(1),
            back: Duration::from_millis(1),
        }
    }
}

impl Pace {
    /// The recorder's own, for requests of a batch that overlap: those with one call each.
    pub(crate) fn of_batch(asked: &[Asked], facts: &Facts) -> BTreeMap<String, Self> {
        let known = |asked: &Asked| {
            let facts = facts.requests.iter().find(|f| f.id == asked.id)?;
            let [outcome] = facts.outcomes.as_slice() else {
                return None;
            };
            let [call] = outcome.attempts.as_slice() else {
                return None;
            };
            let lag = facts.started_at_ms.median - asked.delay_ms;
            let (out, back) = (call.start_ms.median, outcome.after_last_attempt_ms?.median);
            (out.max(back) < 100.0).then_some((asked.id.clone(), lag, out, back))
        };
        let known: Vec<_> = asked.iter().filter_map(known).collect();
        let least = known.iter().map(|k| k.1).fold(f64::INFINITY, f64::min);
        let pace = |(id, lag, out, back)| {
            let pace = Self {
                late: millis(lag - least),
                out: millis(out),
                back: millis(back),
            };
            (id, pace)
        };
        known.into_iter().map(pace).collect()
    }
}
