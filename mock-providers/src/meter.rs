//! Counts against one limit of a quota: how much has been used, whether more fits, and from when
//! on it will fit if nothing else comes.
//!
//! | window | what it never lets through | how it is kept |
//! | --- | --- | --- |
//! | fixed | more than the limit between two edges of the wall clock (up to twice the limit in a span that lies across an edge) | a count, reset at the edge |
//! | sliding | more than the limit in any span of the window's length | 61 counts, each of a 60th of the window; the oldest counts in whole, so a use leaves up to a 60th of the window late and never early |
//! | token bucket | more than `burst + rate·t` in any span `t` | a level in exact integers, no rounding |
//!
//! A reservation that is settled later ([`Meter::hold`]) counts in full until its answer has ended.

use router::{Epoch, Instant};

/// Used and limit, in requests or in tokens.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    window: Window,
    held: Option<Held>,
}

impl Meter {
    /// `limit` in each `length_ns` of the wall clock.
    pub(crate) fn fixed(limit: u64, length_ns: u64, epoch: Epoch) -> Self {
        let unix_ns = u128::from(epoch.unix_seconds()) * 1_000_000_000;
        let offset_ns = u64::try_from(unix_ns % u128::from(length_ns))
            .expect("a remainder is below its divisor, which is a u64");
        Self::of(Window::Fixed { limit, length_ns, offset_ns, number: 0, used: 0 })
    }

    /// `limit` in any span of `length_ns`.
    pub(crate) fn sliding(limit: u64, length_ns: u64) -> Self {
        let part_ns = length_ns.div_ceil(PARTS as u64 - 1);
        Self::of(Window::Sliding { limit, part_ns, used: [0; PARTS], newest: 0, slot: 0, sum: 0 })
    }

    /// `rate_per_minute`, with `burst` at once.
    pub(crate) fn bucket(rate_per_minute: u64, burst: u64) -> Self {
        let level = u128::from(burst) * UNITS;
        Self::of(Window::Bucket { rate_per_minute, burst, level, filled_at: Instant::ZERO })
    }

    /// The same meter, able to [`hold`](Self::hold).
    pub(crate) fn holding(mut self) -> Self {
        self.held = Some(Held { due: vec![0; HORIZON].into(), total: 0, second: 0 });
        self
    }

    fn of(window: Window) -> Self {
        Self { window, held: None }
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

#[derive(Clone, Debug)]
enum Window {
    Fixed { limit: u64, length_ns: u64, offset_ns: u64, number: u64, used: u64 },
    Sliding { limit: u64, part_ns: u64, used: [u64; PARTS], newest: u64, slot: usize, sum: u64 },
    Bucket { rate_per_minute: u64, burst: u64, level: u128, filled_at: Instant },
}

impl Window {
    fn advance(&mut self, at: Instant) {
        match self {
            Self::Fixed { length_ns, offset_ns, number, used, .. } => {
                let now = at.as_nanos().saturating_add(*offset_ns) / *length_ns;
                if now != *number {
                    *number = now;
                    *used = 0;
                }
            }
            Self::Sliding { part_ns, used, newest, slot, sum, .. } => {
                let now = at.as_nanos() / *part_ns;
                if now - *newest >= PARTS as u64 {
                    *used = [0; PARTS];
                    *sum = 0;
                    *newest = now;
                }
                while *newest < now {
                    *newest += 1;
                    *slot = (*slot + 1) % PARTS;
                    *sum -= used[*slot];
                    used[*slot] = 0;
                }
            }
            Self::Bucket { rate_per_minute, burst, level, filled_at } => {
                let passed = at.as_nanos().saturating_sub(filled_at.as_nanos());
                let filled = *level + u128::from(passed) * u128::from(*rate_per_minute);
                *level = filled.min(u128::from(*burst) * UNITS);
                *filled_at = at;
            }
        }
    }

    fn fits(&self, amount: u64) -> bool {
        match self {
            Self::Fixed { limit, used, .. } => used.saturating_add(amount) <= *limit,
            Self::Sliding { limit, sum, .. } => sum.saturating_add(amount) <= *limit,
            Self::Bucket { level, .. } => u128::from(amount) * UNITS <= *level,
        }
    }

    fn take(&mut self, amount: u64) {
        match self {
            Self::Fixed { used, .. } => *used = used.saturating_add(amount),
            Self::Sliding { used, slot, sum, .. } => {
                used[*slot] += amount;
                *sum += amount;
            }
            Self::Bucket { level, .. } => {
                *level = level.saturating_sub(u128::from(amount) * UNITS);
            }
        }
    }

    fn frees(&self, at: Instant, amount: u64) -> Option<Instant> {
        if self.fits(amount) {
            return Some(at);
        }
        match self {
            Self::Fixed { limit, length_ns, offset_ns, number, .. } => {
                let edge = (*number + 1).saturating_mul(*length_ns).saturating_sub(*offset_ns);
                (amount <= *limit).then_some(Instant::from_nanos(edge))
            }
            Self::Sliding { limit, part_ns, used, newest, slot, sum } => {
                let room = limit.checked_sub(amount)?;
                let mut left = *sum;
                for age in (0..PARTS).rev() {
                    left -= used[(*slot + PARTS - age) % PARTS];
                    if left <= room {
                        let leaves = (*newest + (PARTS - age) as u64).saturating_mul(*part_ns);
                        return Some(Instant::from_nanos(leaves));
                    }
                }
                None
            }
            Self::Bucket { rate_per_minute, burst, level, filled_at } => {
                let missing = u128::from(amount) * UNITS - level;
                let wait = u64::try_from(missing.div_ceil(u128::from(*rate_per_minute)));
                let free = filled_at.as_nanos().saturating_add(wait.unwrap_or(u64::MAX));
                (amount <= *burst).then_some(Instant::from_nanos(free))
            }
        }
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
        let now = at.as_nanos() / SECOND_NS;
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

/// Parts of a sliding window: sixty, and the one that is going out of it.
const PARTS: usize = 61;
/// Seconds for which a reservation can be held.
const HORIZON: usize = 1_024;
const SECOND_NS: u64 = 1_000_000_000;
/// A bucket's level is counted in 60 billionths of a request or token, so that a nanosecond at
/// one a minute fills exactly one unit.
const UNITS: u128 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    fn admit(meter: &mut Meter, at: Instant, amount: u64) -> bool {
        meter.advance(at);
        let fits = meter.fits(amount);
        if fits {
            meter.take(amount);
        }
        fits
    }

    const MINUTE_NS: u64 = 60 * SECOND_NS;

    #[test]
    fn a_fixed_window_lets_twice_its_limit_through_across_an_edge_and_no_more() {
        let mut meter = Meter::fixed(100, MINUTE_NS, Epoch::from_unix_seconds(30));

        let before = (0..150).filter(|_| admit(&mut meter, at(29.999), 1)).count();
        let after = (0..150).filter(|_| admit(&mut meter, at(30.0), 1)).count();

        assert_eq!((before, after), (100, 100));
    }

    #[test]
    fn a_sliding_window_has_no_burst_at_an_edge_and_forgets_within_a_sixtieth() {
        let mut meter = Meter::sliding(100, MINUTE_NS);

        let first = (0..150).filter(|_| admit(&mut meter, at(59.999), 1)).count();
        assert_eq!(first, 100);
        assert!(!admit(&mut meter, at(60.0), 1));
        assert!(!admit(&mut meter, at(119.999), 1), "exactly a minute later it still counts");
        assert!(admit(&mut meter, at(121.0), 1), "and a sixtieth later it does not");
    }

    #[test]
    fn a_bucket_gives_its_burst_at_once_and_then_its_rate_exactly() {
        let mut meter = Meter::bucket(60, 5);

        assert_eq!((0..9).filter(|_| admit(&mut meter, at(0.0), 1)).count(), 5);
        assert!(!admit(&mut meter, Instant::from_nanos(SECOND_NS - 1), 1));
        assert!(admit(&mut meter, Instant::from_nanos(SECOND_NS), 1));
        assert_eq!(meter.frees(at(1.0), 1), Some(at(2.0)));
    }

    #[test]
    fn what_is_more_than_the_limit_never_fits() {
        for mut meter in [
            Meter::fixed(10, MINUTE_NS, Epoch::default()),
            Meter::sliding(10, MINUTE_NS),
            Meter::bucket(60, 10),
        ] {
            meter.advance(at(1.0));
            assert_eq!(meter.frees(at(1.0), 11), None);
        }
    }

    #[test]
    fn a_reservation_counts_until_the_second_in_which_it_ends_is_over() {
        let mut meter = Meter::bucket(60, 100).holding();
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
        let mut meter = Meter::sliding(100, MINUTE_NS).holding();
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
