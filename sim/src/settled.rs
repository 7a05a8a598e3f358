//! Hears a run without its start-up: what requests do that arrived before a moment is kept back.
//!
//! A request is counted whole or not at all, so that books balance: also what it does after the moment
//! is kept back. Cooldowns last whoever caused them; those that reach beyond the moment begin there.

use std::collections::BTreeSet;

use router::{Event, Instant, Observer, RequestId};

/// Passes on to `inner` what belongs to requests that arrived at `from` or later.
#[derive(Debug)]
pub(crate) struct Settled<O> {
    from: Instant,
    inner: O,
    /// Requests of the start-up, and copies of them, that are under way.
    kept_back: BTreeSet<RequestId>,
}

impl<O: Observer> Settled<O> {
    pub(crate) const fn new(from: Instant, inner: O) -> Self {
        Self {
            from,
            inner,
            kept_back: BTreeSet::new(),
        }
    }

    /// Whether an event belongs to the start-up.
    fn keeps_back(&mut self, at: Instant, event: &Event<'_>) -> bool {
        if let Event::Arrived { request } = event
            && at < self.from
        {
            self.kept_back.insert(request.id);
        }
        let Some(request) = event.request() else {
            return false;
        };
        let is_kept_back = self.kept_back.contains(&request);
        if is_kept_back {
            if let Event::Mirrored { mirror, .. } = event {
                self.kept_back.insert(*mirror);
            } else if matches!(event, Event::Answered { .. } | Event::Cancelled { .. }) {
                self.kept_back.remove(&request);
            }
        }
        is_kept_back
    }
}

impl<O: Observer> Observer for Settled<O> {
    const LAST_LOOK: bool = O::LAST_LOOK;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if let Event::CooledDown { until, .. } = event {
            if *until > self.from {
                self.inner.observe(at.max(self.from), event);
            }
        } else if !self.keeps_back(at, event) {
            self.inner.observe(at.max(self.from), event);
        }
    }
}
