//! One limit of a quota with what has been used of it: whether more fits, and from when on it will
//! fit if nothing else comes.
//!
//! A reservation that is settled later ([`Meter::hold`]) counts in full until its answer has ended;
//! what it fell short by ([`Meter::owe`]) is taken then.

use router::Instant;

use super::window::Window;

/// Used and limit, in requests or in tokens.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    window: Window,
    held: Option<Held>,
    /// What the limit says, before any lowering.
    limit: u64,
    share: f64,
}

/// What is left of a limit, as a header tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gauge {
    /// The limit in force.
    pub(crate) limit: u64,
    /// What is left of it now.
    pub(crate) remaining: u64,
    /// When all of it is free again, if nothing else comes.
    pub(crate) resets: Instant,
}

impl Gauge {
    /// The share that is used, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "counts are 10^12 at most")]
    pub(crate) fn used(self) -> f64 {
        let left = self.remaining as f64 / self.limit.max(1) as f64;
        (1.0 - left).clamp(0.0, 1.0)
    }
}

impl Meter {
    /// A meter of `limit` that counts by `window`, without reservations.
    pub(crate) const fn new(window: Window, limit: u64) -> Self {
        Self {
            window,
            held: None,
            limit,
            share: 1.0,
        }
    }

    /// The same meter, able to [`hold`](Self::hold).
    pub(crate) fn holding(mut self) -> Self {
        self.held = Some(Held {
            due: vec![0; HORIZON].into(),
            total: 0,
            owed: Box::default(),
            debt: 0,
            second: 0,
        });
        self
    }

    /// Brings the meter to `at`, which never runs back.
    pub(crate) fn advance(&mut self, at: Instant) {
        if let Some(held) = &mut self.held {
            held.release(at, &mut self.window);
        }
        self.window.advance(at);
    }

    /// Lets `share` of the limit through from now on.
    pub(crate) fn set_share(&mut self, share: f64) {
        self.share = share;
        self.window.set_share(share);
    }

    /// What is left at `at`, where the meter was brought to last.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a count of 10^12 at most"
    )]
    pub(crate) fn gauge(&self, at: Instant) -> Gauge {
        let remaining = self.window.remaining().saturating_sub(self.held());
        Gauge {
            limit: (self.limit as f64 * self.share) as u64,
            remaining,
            resets: self.window.resets(at),
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

    /// Takes `amount` when `end` has come, rounded as with [`hold`](Self::hold).
    pub(crate) fn owe(&mut self, amount: u64, end: Instant) {
        if let Some(held) = &mut self.held
            && amount > 0
        {
            held.owe(amount, end);
        }
    }

    /// From when on `amount` fits, if nothing else comes; `None` if it never will. What will be owed
    /// until then is not foreseen.
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
    /// What is to be taken when its second has come; empty until something is.
    owed: Box<[u64]>,
    debt: u64,
    /// All that was due up to this second of the run has been released.
    second: u64,
}

impl Held {
    fn release(&mut self, at: Instant, window: &mut Window) {
        let now = (at.as_nanos() / SECOND_NS).max(self.second);
        let mut steps = (now - self.second).min(HORIZON as u64);
        while steps > 0 && (self.total > 0 || self.debt > 0) {
            self.second += 1;
            let slot = slot_of(self.second);
            self.total -= std::mem::take(&mut self.due[slot]);
            if self.debt > 0 {
                let owed = std::mem::take(&mut self.owed[slot]);
                if owed > 0 {
                    self.debt -= owed;
                    window.advance(Instant::from_nanos(self.second.saturating_mul(SECOND_NS)));
                    window.take(owed);
                }
            }
            steps -= 1;
        }
        self.second = now;
    }

    fn add(&mut self, amount: u64, end: Instant) {
        self.due[self.slot_at(end)] += amount;
        self.total += amount;
    }

    fn owe(&mut self, amount: u64, end: Instant) {
        if self.owed.is_empty() {
            self.owed = vec![0; HORIZON].into();
        }
        self.owed[self.slot_at(end)] += amount;
        self.debt += amount;
    }

    fn slot_at(&self, end: Instant) -> usize {
        let ends = end.as_nanos().div_ceil(SECOND_NS);
        slot_of(ends.clamp(self.second + 1, self.second + HORIZON as u64 - 1))
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
    use crate::quota::window::{Bucket, Fixed, Sliding};

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    #[test]
    fn a_reservation_counts_until_the_second_in_which_it_ends_is_over() {
        let mut meter = Meter::new(Window::Bucket(Bucket::new(60, 100)), 60).holding();
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
        let mut meter =
            Meter::new(Window::Sliding(Sliding::new(100, 60 * SECOND_NS)), 100).holding();
        meter.advance(at(0.0));
        meter.hold(60, at(500.0));
        meter.hold(40, Instant::NEVER);
        assert!(!meter.fits(1));

        meter.advance(at(501.0));
        assert!(meter.fits(60) && !meter.fits(61));
        meter.advance(at(1_000_000.0));
        assert!(meter.fits(100));
    }

    #[test]
    fn what_a_reservation_fell_short_by_is_taken_when_its_answer_has_ended() {
        let window = Window::Fixed(Fixed::new(100, 60 * SECOND_NS, router::Epoch::default()));
        let mut meter = Meter::new(window, 100).holding();
        meter.advance(at(0.0));
        meter.take(20);
        meter.owe(50, at(3.2));

        meter.advance(at(3.9));
        assert_eq!(meter.gauge(at(3.9)).remaining, 80);
        meter.advance(at(4.0));
        assert_eq!(meter.gauge(at(4.0)).remaining, 30);
        meter.advance(at(60.0));
        assert_eq!(meter.gauge(at(60.0)).remaining, 100);
    }

    #[test]
    fn a_lowered_limit_holds_until_it_is_raised_again() {
        let mut meter = Meter::new(Window::Bucket(Bucket::new(600, 600)), 600);
        meter.advance(at(0.0));
        meter.set_share(0.25);
        assert_eq!(meter.gauge(at(0.0)).limit, 150);
        assert!(meter.fits(150) && !meter.fits(151));
        meter.take(150);

        // 150 a minute are 2.5 a second.
        meter.advance(at(2.0));
        assert!(meter.fits(5) && !meter.fits(6));
        meter.set_share(1.0);
        meter.advance(at(3.0));
        assert!(meter.fits(15) && !meter.fits(16));
    }

    #[test]
    fn what_is_used_is_the_share_that_is_not_left() {
        let gauge = |limit, remaining| Gauge {
            limit,
            remaining,
            resets: at(0.0),
        };

        for (gauge, used) in [
            (gauge(80, 20), 0.75),
            (gauge(80, 80), 0.0),
            // Lowered to nothing, and raised again before what was left was spent.
            (gauge(0, 0), 1.0),
            (gauge(80, 160), 0.0),
        ] {
            assert!((gauge.used() - used).abs() < 1e-12, "{gauge:?}");
        }
    }

    #[test]
    fn what_is_held_frees_when_it_is_released_if_the_window_frees_later() {
        let window = Window::Fixed(Fixed::new(100, 60 * SECOND_NS, router::Epoch::default()));
        let mut meter = Meter::new(window, 100).holding();
        meter.advance(at(7.5));
        meter.take(20);
        meter.hold(30, at(12.0));
        meter.hold(40, at(20.0));

        assert_eq!(meter.frees(at(7.5), 10), Some(at(7.5)));
        assert_eq!(meter.frees(at(7.5), 40), Some(at(12.0)));
        assert_eq!(meter.frees(at(7.5), 41), Some(at(20.0)));
        assert_eq!(meter.frees(at(7.5), 80), Some(at(20.0)));
        assert_eq!(meter.frees(at(7.5), 81), Some(at(60.0)));
        assert_eq!(meter.frees(at(7.5), 101), None);
    }

    #[test]
    fn a_reservation_that_ends_later_is_not_released_with_an_earlier_one() {
        let window = Window::Fixed(Fixed::new(100, 60 * SECOND_NS, router::Epoch::default()));
        let mut meter = Meter::new(window, 100).holding();
        meter.advance(at(5.0));
        meter.hold(60, at(7.0));
        meter.hold(30, at(9.0));

        meter.advance(at(7.0));
        assert!(meter.fits(70) && !meter.fits(71));
        meter.advance(at(8.0));
        assert!(meter.fits(70) && !meter.fits(71));
        meter.advance(at(9.0));
        assert!(meter.fits(100));
    }

    #[test]
    fn what_ends_at_once_is_held_to_the_next_second_and_what_never_ends_for_1_023() {
        let window = Window::Fixed(Fixed::new(100, 60 * SECOND_NS, router::Epoch::default()));
        let mut meter = Meter::new(window, 100).holding();
        meter.advance(at(5.0));
        meter.hold(60, at(5.0));
        meter.hold(40, Instant::NEVER);
        assert!(!meter.fits(1));

        meter.advance(at(6.0));
        assert!(meter.fits(60) && !meter.fits(61));
        meter.advance(at(1_027.9));
        assert!(!meter.fits(61));
        meter.advance(at(1_028.0));
        assert!(meter.fits(100));
    }

    #[test]
    fn each_of_several_debts_is_taken_in_its_own_second() {
        let window = Window::Bucket(Bucket::new(60, 1_000).owing());
        let mut meter = Meter::new(window, 1_000).holding();
        meter.advance(at(0.0));
        for (amount, second) in [(100, 1.0), (100, 2.0), (10, 3.0)] {
            meter.owe(amount, at(second));
        }

        // One a second flows in, once there is room for it.
        for (second, left) in [(1.0, 900), (2.0, 801), (3.0, 792), (4.0, 793)] {
            meter.advance(at(second));
            assert_eq!(meter.gauge(at(second)).remaining, left, "at {second}");
        }
    }
}
