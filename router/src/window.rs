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

/// A count of one wall-clock minute. Its key is made by the first write, which also says when it is
/// forgotten; the key of another minute is another count. (semantics 15.5)
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MinuteCount {
    minute: u64,
    count: u64,
    expires: Instant,
}

impl MinuteCount {
    /// The count of this minute; `None` if nothing was written.
    pub(crate) fn at(&self, now: Instant, minute: u64) -> Option<u64> {
        (self.minute == minute && now < self.expires).then_some(self.count)
    }

    /// Adds to the count of this minute and gives the new count.
    pub(crate) fn add(&mut self, now: Instant, minute: u64, ttl: Duration, more: u64) -> u64 {
        if self.at(now, minute).is_none() {
            *self = Self {
                minute,
                count: 0,
                expires: now + ttl,
            };
        }
        self.count = self.count.saturating_add(more);
        self.count
    }

    /// Raises the count of this minute to this, if there is one and it is lower.
    pub(crate) fn raise(&mut self, now: Instant, minute: u64, to: u64) {
        if self.at(now, minute).is_some() {
            self.count = self.count.max(to);
        }
    }

    /// Takes one back that was added in this minute.
    pub(crate) fn take_back(&mut self) {
        self.count = self.count.saturating_sub(1);
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

    #[test]
    fn a_minutes_count_is_gone_in_the_next_minute_or_a_ttl_after_its_first_write() {
        let ttl = Duration::from_secs(5);
        let at = Instant::from_secs_f64;
        let mut count = MinuteCount::default();

        assert_eq!(count.at(at(0.0), 0), None);
        assert_eq!(count.add(at(1.0), 0, ttl, 7), 7);
        assert_eq!(count.add(at(5.0), 0, ttl, 2), 9);
        assert_eq!(count.at(at(5.9), 0), Some(9));
        assert_eq!(count.at(at(5.9), 1), None);
        assert_eq!(count.at(at(6.0), 0), None);
        assert_eq!(count.add(at(6.0), 0, ttl, 1), 1);
    }
}
