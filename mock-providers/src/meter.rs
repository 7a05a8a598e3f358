//! One limit of a quota with what has been used of it: whether more fits, and from when on it will
//! fit if nothing else comes.
//!
//! A reservation that is settled later ([`Meter::hold`]) counts in full until its answer has ended.

use router::Instant;

use crate::window::Window;

/// Used and limit, in requests or in tokens.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    window: Window,
    held: Option<Held>,
}

impl Meter {
    /// A meter that counts by `window`, without reservations.
    pub(crate) const fn new(window: Window) -> Self {
        Self { window, held: None }
    }

    /// The same meter, able to [`hold`](Self::hold).
    pub(crate) fn holding(mut self) -> Self {
        self.held = Some(Held {
            due: vec![0; HORIZON].into(),
            total: 0,
            second: 0,
        });
        self
    }

    /// Brings the meter to `at`, which never runs back.
    pub(crate) fn advance(&mut self, at: Instant) {
        self.window.advance(at);
        if let Some(held) = &mut self.held {
            held.release(at);
        }
    }

    /// Whether `amount` more fits now.
    pub(crate) fn fits(&self, amount: u64) -> bool {
        self.window.fits(amount.saturating_add(self.held()))
    }

    /// Uses up `amount`, whether it fits or not.
    pub(crate) fn take(&mut self, amount: u64) {
        self.window.take(amount);
    }

    /// Keeps `amount` reserved until `end`, rounded up to a whole second of the run, and for 1,023 s
    /// at most.
    pub(crate) fn hold(&mut self, amount: u64, end: Instant) {
        if let Some(held) = &mut self.held {
            held.add(amount, end);
        }
    }

    /// From when on `amount` fits, if nothing else comes; `None` if it never will.
    pub(crate) fn frees(&self, at: Instant, amount: u64) -> Option<Instant> {
        let mut left = self.held();
        let mut best = self.window.frees(at, amount.saturating_add(left));
        let Some(held) = &self.held else {
            return best;
        };
        for second in held.second + 1..held.second + HORIZON as u64 {
            let due = Instant::from_nanos(second.saturating_mul(SECOND_NS));
            if best.is_some_and(|best| best <= due) {
                break;
            }
            let released = held.due[slot_of(second)];
            if released > 0 {
                left -= released;
                let then = self.window.frees(at, amount.saturating_add(left));
                let then = then.map(|then| then.max(due));
                best = match (best, then) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        best
    }

    fn held(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.total)
    }
}

/// Reservations in flight, by the second in which they end.
#[derive(Clone, Debug)]
struct Held {
    due: Box<[u64]>,
    total: u64,
    /// All that was due up to this second of the run has been released.
    second: u64,
}

impl Held {
    fn release(&mut self, at: Instant) {
        let now = (at.as_nanos() / SECOND_NS).max(self.second);
        let mut steps = (now - self.second).min(HORIZON as u64);
        while steps > 0 && self.total > 0 {
            self.second += 1;
            self.total -= std::mem::take(&mut self.due[slot_of(self.second)]);
            steps -= 1;
        }
        self.second = now;
    }

    fn add(&mut self, amount: u64, end: Instant) {
        let ends = end.as_nanos().div_ceil(SECOND_NS);
        let second = ends.clamp(self.second + 1, self.second + HORIZON as u64 - 1);
        self.due[slot_of(second)] += amount;
        self.total += amount;
    }
}

fn slot_of(second: u64) -> usize {
    usize::try_from(second % HORIZON as u64).expect("a remainder below 1,024 is a usize")
}

/// Seconds for which a reservation can be held.
const HORIZON: usize = 1_024;
const SECOND_NS: u64 = 1_000_000_000;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{Bucket, Sliding};

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    #[test]
    fn a_reservation_counts_until_the_second_in_which_it_ends_is_over() {
        let mut meter = Meter::new(Window::Bucket(Bucket::new(60, 100))).holding();
        meter.advance(at(0.5));
        meter.hold(95, at(3.2));

        assert!(!meter.fits(6));
        assert_eq!(meter.frees(at(0.5), 6), Some(at(4.0)));
        meter.advance(at(3.999));
        assert!(!meter.fits(6));
        meter.advance(at(4.0));
        assert!(meter.fits(100));
    }

    #[test]
    fn a_long_pause_releases_every_reservation() {
        let mut meter = Meter::new(Window::Sliding(Sliding::new(100, 60 * SECOND_NS))).holding();
        meter.advance(at(0.0));
        meter.hold(60, at(500.0));
        meter.hold(40, Instant::NEVER);
        assert!(!meter.fits(1));

        meter.advance(at(501.0));
        assert!(meter.fits(60) && !meter.fits(61));
        meter.advance(at(1_000_000.0));
        assert!(meter.fits(100));
    }
}
