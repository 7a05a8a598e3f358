//! How finely a log counts time, and places drawn between its counts.
//!
//! A log that counts whole seconds says of an answer that it took between 1.5 and 2.5 s. Taken at its word
//! many answers would be exactly alike, which no distribution of times allows, and many requests would come
//! at once, as if in clusters. So where the count is coarse, each value is put at a place drawn from its
//! own part of the line. The draw is keyed by the row: the same log gives the same fit.

use std::borrow::Cow;

use router::{KeyedRng, Purpose, Seed};
use scenarios::logs::{Log, LogRow};

use super::window::span_text;

/// Smallest differences that a log tells, in nanoseconds; 0 where it tells everything that matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Grain {
    /// Of the beginnings of attempts.
    starts_ns: i64,
    /// Of how long attempts took.
    taken_ns: i64,
    /// Of how long first tokens took.
    firsts_ns: i64,
}

impl Grain {
    pub(crate) fn of(log: &Log) -> Self {
        let mut starts: Vec<i64> = log.rows.iter().map(|row| row.start_ns).collect();
        let whole = starts.last().zip(starts.first()).map_or(0, |(a, b)| a - b);
        let usual_gap = whole / i64::try_from(starts.len().max(1)).unwrap_or(1);
        let of = |end: fn(&LogRow) -> Option<i64>| -> Vec<i64> {
            let took = |row: &LogRow| Some(end(row)? - row.start_ns);
            log.rows.iter().filter_map(took).collect()
        };
        let (mut taken, mut firsts) = (of(|row| row.end_ns), of(|row| row.first_token_ns));
        taken.sort_unstable();
        firsts.sort_unstable();
        let middle = |sorted: &[i64]| sorted.get(sorted.len() / 2).copied().unwrap_or(0);
        let (usual_taken, usual_first) = (middle(&taken), middle(&firsts));
        Self {
            starts_ns: coarse(&mut starts, usual_gap),
            taken_ns: coarse(&mut taken, usual_taken),
            firsts_ns: coarse(&mut firsts, usual_first),
        }
    }

    /// The log with every value at a place of its own. Beginnings only move forward, as clocks cut off and
    /// do not round, so that none leaves its minute; lengths move either way.
    pub(crate) fn spread(self, log: &Log) -> Cow<'_, Log> {
        if self == Self::default() {
            return Cow::Borrowed(log);
        }
        let mut log = log.clone();
        for (number, row) in (0..).zip(&mut log.rows) {
            let draw = |of: u64| KeyedRng::new(SEED, WITHIN, number, of).unit();
            let start = row.start_ns + part(self.starts_ns, draw(0));
            let moved = |end: i64, grain: i64, draw: f64| {
                start + (end - row.start_ns + part(grain, draw - 0.5)).abs()
            };
            let end = row.end_ns.map(|end| moved(end, self.taken_ns, draw(1)));
            let first = row.first_token_ns;
            let first = first.map(|first| moved(first, self.firsts_ns, draw(2)));
            row.first_token_ns = match (first, end) {
                (Some(first), Some(end)) => Some(first.min(end)),
                (first, _) => first,
            };
            (row.start_ns, row.end_ns) = (start, end);
        }
        log.rows.sort_by_key(|row| row.start_ns);
        Cow::Owned(log)
    }

    /// What a reader should know of it.
    pub(crate) fn told(self) -> Option<String> {
        let counts = [
            (self.starts_ns, "when requests came"),
            (self.taken_ns, "how long they took"),
            (self.firsts_ns, "when first tokens came"),
        ];
        let told: Vec<String> = counts
            .iter()
            .filter(|(grain, _)| *grain > 0)
            .map(|(grain, what)| format!("{what} in steps of {}", span_text(part_s(*grain))))
            .collect();
        (!told.is_empty()).then(|| {
            format!(
                "the log counts coarsely ({}): values are spread evenly within a step, and nothing finer is known",
                told.join(", ")
            )
        })
    }
}

/// The step of these values if it is coarse beside `usual`: the largest unit that divides all of them and
/// is the smallest difference between any two. Fewer than three different values tell no step: they may
/// as well be what they are.
fn coarse(values: &mut Vec<i64>, usual: i64) -> i64 {
    values.sort_unstable();
    values.dedup();
    let divides = |unit: &i64| values.iter().all(|value| value % unit == 0);
    let is_coarse = |unit: &i64| unit.saturating_mul(FINE) > usual;
    let Some(unit) = UNITS_NS.into_iter().find(divides).filter(is_coarse) else {
        return 0;
    };
    let is_step = |pair: &[i64]| pair[1] - pair[0] == unit;
    match values.len() >= 3 && values.windows(2).any(is_step) {
        true => unit,
        false => 0,
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a part of a minute at most"
)]
fn part(grain: i64, share: f64) -> i64 {
    (grain as f64 * share) as i64
}

#[expect(clippy::cast_precision_loss, reason = "a minute at most")]
fn part_s(grain: i64) -> f64 {
    grain as f64 / 1e9
}

/// Steps in which logs count.
const UNITS_NS: [i64; 9] = [
    60_000_000_000,
    1_000_000_000,
    100_000_000,
    10_000_000,
    1_000_000,
    100_000,
    10_000,
    1_000,
    1,
];
/// A step is fine if as many of it fit into what is usual.
const FINE: i64 = 50;
const SEED: Seed = Seed(1);
const WITHIN: Purpose = Purpose::named("sim.calibrate.within_a_step");

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn a_step_is_told_from_values_that_are_just_alike() {
        let seconds = || vec![1_000 * MS, 2_000 * MS, 2_000 * MS, 7_000 * MS];
        assert_eq!(coarse(&mut seconds(), 2_000 * MS), 1_000 * MS);
        // As much of it fits into what is usual as matters to nobody.
        assert_eq!(coarse(&mut seconds(), 50_000 * MS), 0);
        // One answer is as long as the other: no step is seen.
        assert_eq!(coarse(&mut vec![200 * MS; 9], 200 * MS), 0);
        assert_eq!(coarse(&mut vec![200 * MS, 300 * MS], 200 * MS), 0);
        // Batches every three seconds are no steps of one second.
        assert_eq!(coarse(&mut vec![0, 3_000 * MS, 9_000 * MS], 1), 0);
        assert_eq!(coarse(&mut vec![1, 7, 8], 1_000), 0);
    }
}
