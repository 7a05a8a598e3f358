//! Time in cooldown: spans that may touch or overlap, counted once.

use std::time::Duration;

use router::{CooldownReason, Instant};

use crate::record::{CooldownSpan, DeploymentRecord};

/// The cooldowns of one deployment so far. Events come in order of time.
#[derive(Debug, Default)]
pub(crate) struct SpanUnion {
    /// The latest span, which may still be going on.
    open: Option<Open>,
    /// Length of the spans before it.
    total: Duration,
    begun: u64,
    spans: Vec<CooldownSpan>,
    dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    from: Instant,
    until: Instant,
    why: CooldownReason,
}

/// What is left at the run's end.
#[derive(Debug)]
pub(crate) struct Cooled {
    pub(crate) total: Duration,
    pub(crate) begun: u64,
    pub(crate) spans: Vec<CooldownSpan>,
    pub(crate) dropped: u64,
}

impl SpanUnion {
    /// A cooldown that ends `until` begins, or one that goes on is renewed: the event says when the
    /// deployment is a candidate again, whether or not the profile lets a renewed cooldown last longer.
    /// Another instance's that ends earlier leaves the end where it is.
    pub(crate) fn begin(&mut self, at: Instant, until: Instant, why: CooldownReason) {
        self.begun += 1;
        match &mut self.open {
            Some(open) if at <= open.until => open.until = open.until.max(until),
            open => {
                if let Some(over) = open.replace(Open {
                    from: at,
                    until,
                    why,
                }) {
                    self.close(over);
                }
            }
        }
    }

    /// The cooldown that is going on ends now and not later.
    pub(crate) fn end(&mut self, at: Instant) {
        if let Some(open) = &mut self.open {
            open.until = open.until.min(at);
        }
    }

    /// Cuts the last span at `end`.
    pub(crate) fn finish(mut self, end: Instant) -> Cooled {
        if let Some(last) = self.open.take() {
            self.close(Open {
                until: last.until.min(end),
                ..last
            });
        }
        Cooled {
            total: self.total,
            begun: self.begun,
            spans: self.spans,
            dropped: self.dropped,
        }
    }

    fn close(&mut self, span: Open) {
        self.total += span.until.since(span.from);
        if self.spans.len() == DeploymentRecord::SPANS_KEPT {
            self.dropped += 1;
        } else {
            self.spans.push(CooldownSpan {
                from_s: span.from.as_secs_f64(),
                to_s: span.until.as_secs_f64(),
                why: span.why,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cooled(spans: &[(u64, u64)], end: u64) -> Cooled {
        let at = |s| Instant::from_nanos(s * 1_000_000_000);
        let mut union = SpanUnion::default();
        for &(from, until) in spans {
            union.begin(at(from), at(until), CooldownReason::RateLimited);
        }
        union.finish(at(end))
    }

    #[test]
    fn overlapping_cooldowns_are_counted_once() {
        let found = cooled(&[(0, 5), (3, 8), (10, 15)], 100);

        assert_eq!(found.total, Duration::from_secs(13));
        assert_eq!(found.begun, 3);
        assert_eq!(found.spans.len(), 2);
    }

    #[test]
    fn a_renewal_that_keeps_the_first_expiry_adds_nothing() {
        assert_eq!(
            cooled(&[(0, 10), (6, 10)], 100).total,
            Duration::from_secs(10)
        );
    }

    #[test]
    fn another_instances_cooldown_that_ends_earlier_cuts_nothing() {
        assert_eq!(
            cooled(&[(0, 10), (3, 8)], 100).total,
            Duration::from_secs(10)
        );
    }

    #[test]
    fn a_cooldown_beyond_the_end_is_cut_there() {
        let found = cooled(&[(90, 150)], 100);

        assert_eq!(found.total, Duration::from_secs(10));
        assert_eq!((found.spans[0].from_s, found.spans[0].to_s), (90.0, 100.0));
    }

    #[test]
    fn spans_beyond_the_cap_are_counted_and_still_add_up() {
        let spans: Vec<_> = (0..2_005).map(|n| (n * 10, n * 10 + 1)).collect();

        let found = cooled(&spans, 100_000);

        assert_eq!(found.spans.len(), DeploymentRecord::SPANS_KEPT);
        assert_eq!(found.dropped, 5);
        assert_eq!(found.total, Duration::from_secs(2_005));
    }
}
