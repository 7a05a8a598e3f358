//! How long things took, kept in a size that does not grow with the number of requests.
//!
//! While a run lasts, spans are counted in an HDR histogram with three significant figures. What is
//! kept of it is a table of quantiles at that precision, and a coarser histogram with 64 bins an
//! octave for drawing and for pooling replications.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// What is kept of many spans.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// How many there were.
    pub count: u64,
    /// Their mean in seconds; 0 if there were none.
    pub mean_s: f64,
    /// Quantiles as (q, seconds), ascending, for each q of [`Distribution::QUANTILES`]; empty if there
    /// were no spans. Each is at most 0.1 % (or 1 µs) above the true order statistic.
    pub quantiles: Vec<(f64, f64)>,
    /// Counts by value, ascending, empty bins left out. A bin is at most 1/64 = 1.6 % wide.
    pub bins: Vec<Bin>,
}

/// A bin of a [`Distribution`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bin {
    /// Upper edge in seconds; every span counted here is at most this long.
    pub up_to_s: f64,
    /// How many spans lie in the bin.
    pub count: u64,
}

impl Distribution {
    /// The quantiles that are kept. 1 is the longest span.
    pub const QUANTILES: [f64; 9] = [0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

    /// A kept quantile in seconds; `None` if there were no spans or `q` is not one of
    /// [`Distribution::QUANTILES`].
    #[must_use]
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        self.quantiles
            .iter()
            .find(|(kept, _)| (kept - q).abs() < 1e-9)
            .map(|&(_, seconds)| seconds)
    }

    /// Counts of several distributions together, by bin.
    #[must_use]
    pub fn pooled<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Vec<Bin> {
        let mut bins: Vec<Bin> = parts
            .into_iter()
            .flat_map(|part| part.bins.clone())
            .collect();
        bins.sort_by(|a, b| a.up_to_s.total_cmp(&b.up_to_s));
        bins.dedup_by(|next, kept| {
            let same = next.up_to_s.total_cmp(&kept.up_to_s).is_eq();
            if same {
                kept.count += next.count;
            }
            same
        });
        bins
    }
}

/// Counts spans while a run lasts.
#[derive(Debug)]
pub(crate) struct Spans {
    micros: Histogram<u64>,
    /// Kept beside the histogram, whose own mean is taken over bin middles.
    sum_us: u64,
}

impl Spans {
    pub(crate) fn new() -> Self {
        let micros = Histogram::new_with_bounds(1, LONGEST_US, SIGNIFICANT_FIGURES)
            .expect("the bounds are constants that the histogram accepts");
        Self { micros, sum_us: 0 }
    }

    /// Counts one span of so many nanoseconds. What is longer than a day counts as a day.
    #[inline]
    pub(crate) fn add(&mut self, ns: u64) {
        let us = ns / 1_000;
        self.micros.saturating_record(us);
        self.sum_us = self.sum_us.saturating_add(us);
    }

    pub(crate) fn len(&self) -> u64 {
        self.micros.len()
    }

    /// Counts every span of `other` here too.
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.micros
            .add(&other.micros)
            .expect("both histograms have the same bounds");
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
    }

    pub(crate) fn finish(&self) -> Distribution {
        let count = self.micros.len();
        if count == 0 {
            return Distribution::default();
        }
        // The upper edge for the shortest span too, where the histogram would give the lower one.
        let upper = |us| self.micros.highest_equivalent(us);
        let quantile = |q| (q, seconds(upper(self.micros.value_at_quantile(q))));
        Distribution {
            count,
            mean_s: seconds(self.sum_us) / as_f64(count),
            quantiles: Distribution::QUANTILES.map(quantile).to_vec(),
            bins: self.bins(),
        }
    }

    fn bins(&self) -> Vec<Bin> {
        let mut bins: Vec<Bin> = Vec::new();
        for fine in self.micros.iter_recorded() {
            let (up_to_s, count) = (
                seconds(bin_top(fine.value_iterated_to())),
                fine.count_at_value(),
            );
            match bins.last_mut() {
                Some(last) if last.up_to_s.total_cmp(&up_to_s).is_eq() => last.count += count,
                _ => bins.push(Bin { up_to_s, count }),
            }
        }
        bins
    }
}

/// The largest value that shares its leading seven bits with `us`: 64 bins an octave.
fn bin_top(us: u64) -> u64 {
    let free_bits = (u64::BITS - us.leading_zeros()).saturating_sub(7);
    us | ((1 << free_bits) - 1)
}

fn seconds(us: u64) -> f64 {
    as_f64(us) / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(crate) const fn as_f64(count: u64) -> f64 {
    count as f64
}

/// A day.
const LONGEST_US: u64 = 86_400_000_000;
/// Relative error at most 1/1,000.
const SIGNIFICANT_FIGURES: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(millis: impl IntoIterator<Item = u64>) -> Distribution {
        let mut spans = Spans::new();
        millis.into_iter().for_each(|ms| spans.add(ms * 1_000_000));
        spans.finish()
    }

    #[test]
    fn quantiles_are_within_a_thousandth_above_the_order_statistic() {
        let spans = of(1..=10_000);

        for (q, exact) in [
            (0.5, 5.0),
            (0.9, 9.0),
            (0.99, 9.9),
            (0.999, 9.99),
            (1.0, 10.0),
        ] {
            let found = spans.quantile_s(q).unwrap();
            assert!(
                (exact..=exact * 1.001).contains(&found),
                "q {q}: {found} for {exact}"
            );
        }
        assert!((spans.mean_s - 5.0005).abs() < 1e-9, "{}", spans.mean_s);
    }

    #[test]
    fn no_spans_have_no_quantiles() {
        let none = of([]);

        assert_eq!(none.count, 0);
        assert_eq!(none.quantile_s(0.5), None);
        assert!(none.bins.is_empty());
    }

    #[test]
    fn a_quantile_that_is_not_kept_is_not_made_up() {
        assert_eq!(of([1, 2, 3]).quantile_s(0.42), None);
    }

    #[test]
    fn bins_hold_every_span_and_are_at_most_a_sixty_fourth_wide() {
        let spans = of((1..2_000).map(|n| n * 17));

        assert_eq!(
            spans.bins.iter().map(|bin| bin.count).sum::<u64>(),
            spans.count
        );
        for pair in spans.bins.windows(2) {
            assert!(pair[0].up_to_s < pair[1].up_to_s);
        }
        for us in [1, 63, 64, 127, 128, 129, 5_000, 123_456_789] {
            let top = bin_top(us);
            assert!(
                top >= us && (top - us) * 64 <= us,
                "{us} in a bin up to {top}"
            );
        }
    }

    #[test]
    fn pooling_adds_the_counts_of_equal_bins() {
        let (a, b) = (of([10, 20, 30]), of([20, 30, 40]));

        let pooled = Distribution::pooled([&a, &b]);

        assert_eq!(
            pooled.iter().map(|bin| bin.count).collect::<Vec<_>>(),
            [1, 2, 2, 1]
        );
    }

    #[test]
    fn what_is_longer_than_a_day_counts_as_a_day() {
        let mut spans = Spans::new();
        spans.add(1_000_000 * 1_000_000_000);

        let day = spans.finish().quantile_s(1.0).unwrap();
        assert!((86_400.0..86_500.0).contains(&day), "{day}");
    }
}
