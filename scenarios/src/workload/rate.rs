//! How the rate of arrivals changes in time, and when the n-th expected arrival falls due.
//!
//! A renewal process runs in "expected arrivals"; this file translates that axis to seconds (a
//! change of time by the inverse of the integrated rate). No draw is thrown away as thinning would,
//! so arrival n has the same luck in every arm, also where the arms' rates differ.

use std::sync::Arc;

use router::{KeyedRng, Purpose, Seed};

use super::dist;

/// A rate of arrivals over time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Rate {
    /// The same rate for ever.
    Constant(f64),
    /// Steps; nothing after the last.
    Steps(Arc<[Step]>),
    /// Steps that begin again and again.
    Cycle {
        /// One period, from 0.
        steps: Arc<[Step]>,
        /// Where in the period the run begins.
        offset_s: f64,
    },
    /// On and off by turns, each for an exponential time; the run begins off.
    OnOff {
        /// Arrivals a second while on.
        on: f64,
        /// Arrivals a second while off.
        off: f64,
        /// Mean length of being on.
        on_mean_s: f64,
        /// Mean length of being off.
        off_mean_s: f64,
    },
}

/// A stretch of constant rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Step {
    /// Its end, in seconds since the beginning of the curve; it begins where the last one ends.
    pub until_s: f64,
    /// Arrivals a second.
    pub per_second: f64,
}

/// Walks along a rate curve.
#[derive(Clone, Debug)]
pub(crate) struct RateCursor<'a> {
    rate: &'a Rate,
    seed: Seed,
    index: u64,
    from_s: f64,
    until_s: f64,
    per_second: f64,
    /// 1 ÷ `per_second`, for a product is cheaper than a quotient.
    seconds_each: f64,
    /// Expected arrivals before `from_s`.
    expected: f64,
    /// Expected arrivals before `until_s`.
    expected_end: f64,
}

impl Rate {
    /// A cursor at the curve's beginning. Only random curves look at the seed.
    pub(crate) fn cursor(&self, seed: Seed) -> RateCursor<'_> {
        let mut cursor = RateCursor {
            rate: self,
            seed,
            index: 0,
            from_s: 0.0,
            until_s: 0.0,
            per_second: 0.0,
            seconds_each: 0.0,
            expected: 0.0,
            expected_end: 0.0,
        };
        let more = cursor.enter(0);
        debug_assert!(more, "a curve has at least one step");
        cursor
    }

    /// Expected arrivals before `seconds`, on average over seeds.
    pub(crate) fn expected_until(&self, seconds: f64) -> f64 {
        match self {
            Self::Constant(rate) => rate * seconds,
            Self::OnOff {
                on,
                off,
                on_mean_s,
                off_mean_s,
            } => {
                let share_on = on_mean_s / (on_mean_s + off_mean_s);
                (on * share_on + off * (1.0 - share_on)) * seconds
            }
            Self::Steps(steps) => area(steps, seconds),
            Self::Cycle { steps, offset_s } => {
                let period = steps[steps.len() - 1].until_s;
                let until =
                    |t: f64| (t / period).floor() * area(steps, period) + area(steps, t % period);
                until(offset_s + seconds) - until(*offset_s)
            }
        }
    }
}

impl RateCursor<'_> {
    /// When `expected` arrivals fall due, in seconds; `None` after the end of the curve. Must not
    /// be asked for less than the last time.
    pub(crate) fn due(&mut self, expected: f64) -> Option<f64> {
        while expected > self.expected_end {
            self.expected = self.expected_end;
            self.from_s = self.until_s;
            if !self.enter(self.index + 1) {
                return None;
            }
        }
        let due = self.from_s + (expected - self.expected) * self.seconds_each;
        // Rounding must not carry an arrival over the end of its step.
        Some(due.min(self.until_s))
    }

    /// The step that the cursor is in.
    pub(crate) const fn step(&self) -> u64 {
        self.index
    }

    /// Goes to step `index`; false where there is none.
    fn enter(&mut self, index: u64) -> bool {
        self.index = index;
        match self.rate {
            Rate::Constant(rate) => {
                (self.until_s, self.per_second) = (f64::INFINITY, *rate);
            }
            Rate::Steps(steps) => {
                let Some(step) = usize::try_from(index).ok().and_then(|at| steps.get(at)) else {
                    return false;
                };
                (self.until_s, self.per_second) = (step.until_s, step.per_second);
            }
            Rate::Cycle { steps, offset_s } => {
                let period = steps[steps.len() - 1].until_s;
                let first = steps.partition_point(|step| step.until_s <= *offset_s);
                let place = first as u64 + index;
                let (round, at) = (place / steps.len() as u64, place % steps.len() as u64);
                let step = steps[usize::try_from(at).expect("below the number of steps")];
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "2^53 periods never come to pass"
                )]
                let begin = round as f64 * period - offset_s;
                (self.until_s, self.per_second) = (begin + step.until_s, step.per_second);
            }
            Rate::OnOff {
                on,
                off,
                on_mean_s,
                off_mean_s,
            } => {
                let (rate, mean_s) = if index % 2 == 1 {
                    (*on, *on_mean_s)
                } else {
                    (*off, *off_mean_s)
                };
                let mut rng = KeyedRng::new(self.seed, BURST, index, 0);
                self.until_s = self.from_s + dist::exponential(&mut rng) * mean_s;
                self.per_second = rate;
            }
        }
        self.seconds_each = 1.0 / self.per_second;
        let length_s = self.until_s - self.from_s;
        // A step without arrivals holds none, be it endless.
        let inside = if self.per_second > 0.0 {
            self.per_second * length_s
        } else {
            0.0
        };
        self.expected_end = self.expected + inside;
        true
    }
}

/// The integral of steps from 0 to `seconds`.
fn area(steps: &[Step], seconds: f64) -> f64 {
    let mut from_s = 0.0;
    let mut sum = 0.0;
    for step in steps {
        let until_s = step.until_s.min(seconds);
        if until_s > from_s {
            sum += step.per_second * (until_s - from_s);
        }
        from_s = step.until_s;
    }
    sum
}

/// Lengths of being on and off. Number: the turn.
const BURST: Purpose = Purpose::named("scenarios.burst");

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(list: &[(f64, f64)]) -> Arc<[Step]> {
        list.iter()
            .map(|&(until_s, per_second)| Step {
                until_s,
                per_second,
            })
            .collect()
    }

    #[test]
    fn arrivals_fall_due_where_the_integral_reaches_their_number() {
        let rate = Rate::Steps(steps(&[(10.0, 1.0), (20.0, 0.0), (30.0, 2.0)]));
        let mut cursor = rate.cursor(Seed(0));

        assert_eq!(cursor.due(4.0), Some(4.0));
        assert_eq!(cursor.due(10.0), Some(10.0));
        assert_eq!(cursor.due(12.0), Some(21.0));
        assert_eq!(cursor.due(30.0), Some(30.0));
        assert_eq!(cursor.due(30.5), None);
    }

    #[test]
    fn a_cycle_begins_at_its_offset_and_comes_round() {
        let rate = Rate::Cycle {
            steps: steps(&[(10.0, 1.0), (20.0, 3.0)]),
            offset_s: 15.0,
        };
        let mut cursor = rate.cursor(Seed(0));

        assert_eq!(cursor.due(15.0), Some(5.0));
        assert_eq!(cursor.due(20.0), Some(10.0));
        assert_eq!(cursor.due(28.0), Some(16.0));
        assert!((rate.expected_until(16.0) - 28.0).abs() < 1e-12);
    }

    #[test]
    fn bursts_give_the_mean_rate_of_their_shares() {
        let rate = Rate::OnOff {
            on: 90.0,
            off: 0.0,
            on_mean_s: 1.0,
            off_mean_s: 2.0,
        };
        let mut cursor = rate.cursor(Seed(5));
        let mut due = 0.0;
        for n in 1..=300_000_u32 {
            due = cursor.due(f64::from(n)).unwrap();
        }

        let mean = 300_000.0 / due;
        assert!((mean - 30.0).abs() < 1.0, "{mean} a second");
        assert!((rate.expected_until(due) - 30.0 * due).abs() < 1e-6);
    }
}
