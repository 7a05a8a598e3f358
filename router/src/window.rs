//! Counts that forget: LiteLLM's cache counters live for a fixed time from their first increment.
//!
//! Such a window tumbles: it is neither sliding nor tied to the calendar minute, and an increment
//! never extends it. (semantics 0.1, rules 2 and 3)

use std::time::Duration;

use crate::time::Instant;

/// A count that is forgotten `ttl` after its first increment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TumblingCount {
    count: u32,
    expires: Instant,
}

impl TumblingCount {
    /// The count at `now`.
    pub(crate) fn at(&self, now: Instant) -> u32 {
        if now < self.expires { self.count } else { 0 }
    }

    /// Adds one and gives the new count. Starts a new window if the last one is over.
    pub(crate) fn increment(&mut self, now: Instant, ttl: Duration) -> u32 {
        if now >= self.expires {
            *self = Self {
                count: 0,
                expires: now + ttl,
            };
        }
        self.count = self.count.saturating_add(1);
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_a_ttl_after_its_first_increment_however_many_follow() {
        let ttl = Duration::from_secs(60);
        let at = Instant::from_secs_f64;
        let mut count = TumblingCount::default();

        assert_eq!(count.increment(at(10.0), ttl), 1);
        assert_eq!(count.increment(at(69.0), ttl), 2);
        assert_eq!(count.at(at(69.9)), 2);
        assert_eq!(count.at(at(70.0)), 0);
        assert_eq!(count.increment(at(70.0), ttl), 1);
    }
}
