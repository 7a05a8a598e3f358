//! From replications to intervals: what may be claimed from a handful of independent runs.
//!
//! A replication gives one value of a metric; requests within a run are not independent, so nothing
//! here ever averages over requests. Arms are compared run by run on the same randomness, so that
//! what hits both alike cancels out. Intervals are two-sided at [`CONFIDENCE`] unless said otherwise.

mod distributions;
mod steady;

pub use distributions::{
    binomial_cdf, normal_cdf, normal_quantile, student_t_cdf, student_t_quantile,
};
pub use steady::{FEWEST_BATCHES, mser5};

use std::sync::OnceLock;

use crate::distribution::as_f64;

/// The confidence of every interval in a report.
pub const CONFIDENCE: f64 = 0.95;

/// Fewest replications from which a report claims anything. Three seeds are common and too few: the
/// t quantile is then 4.3 and the estimate of the spread itself worth little.
pub const FEWEST_FOR_A_CLAIM: usize = 10;

/// A mean over replications with half of its interval's width.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The interval is `mean ± half_width`; `None` with fewer than two values.
    pub half_width: Option<f64>,
    /// Number of values.
    pub n: usize,
}

impl Estimate {
    /// Lower and upper end of the interval.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.half_width
            .map(|half| (self.mean - half, self.mean + half))
    }

    /// Whether the interval lies on one side of zero.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.interval()
            .is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// Mean ± t(n − 1, 97.5 %) · S / √n of independent values; `None` without values.
///
/// Source: A. M. Law, *Simulation Modeling and Analysis*, 5th ed., section 4.5.
#[must_use]
pub fn mean_interval(values: &[f64]) -> Option<Estimate> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let half_width = (n > 1).then(|| t_for(n - 1) * (variance(values) / size(n)).sqrt());
    Some(Estimate {
        mean: mean(values),
        half_width,
        n,
    })
}

/// How two arms differ when run `i` of both had the same randomness.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PairedDifference {
    /// First minus second, over the pairs.
    pub difference: Estimate,
    /// Two-sided p-value of "no difference" by the paired t test; `None` with fewer than two pairs.
    pub p_value: Option<f64>,
    /// (S²ₐ + S²ᵦ) / S²ₐ₋ᵦ: how many times more replications unpaired runs would need for the same
    /// interval; `None` where the differences do not vary.
    pub variance_reduction: Option<f64>,
}

impl PairedDifference {
    /// Whether every pair had the same value twice.
    #[must_use]
    pub fn is_none_at_all(&self) -> bool {
        self.difference.mean == 0.0 && self.difference.half_width.is_none_or(|half| half == 0.0)
    }
}

/// The paired-t comparison of `a` with `b`; the longer of the two is cut. `None` without pairs.
///
/// Source: Law, 5th ed., sections 10.2.1 (paired-t interval) and 11.2 (common random numbers).
#[must_use]
pub fn paired_difference(a: &[f64], b: &[f64]) -> Option<PairedDifference> {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let difference = mean_interval(&differences)?;
    let spread = variance(&differences);
    let p_value = (n > 1).then(|| p_value(difference.mean, spread, n));
    let variance_reduction = (n > 1 && spread > 0.0).then(|| (variance(a) + variance(b)) / spread);
    Some(PairedDifference {
        difference,
        p_value,
        variance_reduction,
    })
}

fn p_value(mean: f64, variance: f64, n: usize) -> f64 {
    let standard_error = (variance / size(n)).sqrt();
    match (mean == 0.0, standard_error > 0.0) {
        (true, _) => 1.0,
        // The same difference each time, and not zero.
        (false, false) => 0.0,
        (false, true) => 2.0 * student_t_cdf(-(mean / standard_error).abs(), size(n - 1)),
    }
}

/// One-sided p-value of "no more than zero" for a mean with this standard error and as many degrees
/// of freedom, by Student's t.
#[must_use]
pub fn p_above_zero(mean: f64, standard_error: f64, degrees: f64) -> f64 {
    match standard_error > 0.0 {
        true => student_t_cdf(-mean / standard_error, degrees),
        // The same value each time.
        false if mean > 0.0 => 0.0,
        false => 1.0,
    }
}

/// Holm's step-down adjustment: the i-th smallest of m p-values becomes the largest so far of
/// (m − i + 1) · p, at most 1. Rejecting where the result is below α keeps the chance of
/// any false rejection at or below α, whatever the dependence. The order of the input is kept.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]).then(a.cmp(&b)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest
            .max(p_values[index] * size(p_values.len() - rank))
            .min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// Wilson's score interval of a proportion of independent trials; `None` without trials.
///
/// Centre (p̂ + z²/2n) / (1 + z²/n), half-width z·√(p̂(1 − p̂)/n + z²/4n²) / (1 + z²/n).
/// Source: E. B. Wilson, JASA 22 (1927).
#[must_use]
pub fn wilson(successes: u64, trials: u64) -> Option<(f64, f64)> {
    if trials == 0 {
        return None;
    }
    let (n, z) = (
        as_f64(trials),
        normal_quantile(f64::midpoint(1.0, CONFIDENCE)),
    );
    let share = as_f64(successes) / n;
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    Some(((centre - half).max(0.0), (centre + half).min(1.0)))
}

/// The interval of the quantile `q` of independent values, by order statistics: [x₍ₗ₎, x₍ᵤ₎] with
/// l = ⌊nq − z√(nq(1 − q))⌋ and u = ⌈nq + z√(nq(1 − q))⌉ + 1, counted from 1. `None` where the
/// sample does not reach that far, which is the honest answer for a high quantile of few values.
///
/// Source: W. J. Conover, *Practical Nonparametric Statistics*, 3rd ed., section 3.2.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the ranks are checked to lie between 1 and n"
)]
pub fn quantile_interval(values: &[f64], q: f64) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = size(sorted.len());
    let reach = normal_quantile(f64::midpoint(1.0, CONFIDENCE)) * (n * q * (1.0 - q)).sqrt();
    let (low, high) = ((n * q - reach).floor(), (n * q + reach).ceil() + 1.0);
    (low >= 1.0 && high <= n).then(|| (sorted[low as usize - 1], sorted[high as usize - 1]))
}

/// The ratio Σy / Σx with its interval by the jackknife: pseudo-values n·R − (n − 1)·R₍₋ᵢ₎, their
/// mean and t interval. `None` without pairs or where a denominator is zero.
///
/// Source: Law, 5th ed., section 9.5.3 (jackknife for ratios).
#[must_use]
pub fn ratio(pairs: &[(f64, f64)]) -> Option<Estimate> {
    let n = size(pairs.len());
    let total = |skipped: usize| {
        let kept = pairs
            .iter()
            .enumerate()
            .filter(|&(index, _)| index != skipped);
        let (y, x) = kept.fold((0.0, 0.0), |(y, x), (_, pair)| (y + pair.0, x + pair.1));
        (x != 0.0).then(|| y / x)
    };
    let whole = total(usize::MAX)?;
    if pairs.len() == 1 {
        return Some(Estimate {
            mean: whole,
            half_width: None,
            n: 1,
        });
    }
    let pseudo: Option<Vec<f64>> = (0..pairs.len())
        .map(|skipped| total(skipped).map(|without| n * whole - (n - 1.0) * without))
        .collect();
    mean_interval(&pseudo?)
}

/// The quantile that every interval takes. A large grid asks for it a hundred thousand times with the same
/// degrees, so that it is found once for each.
fn t_for(degrees: usize) -> f64 {
    static FOUND: [OnceLock<f64>; 64] = [const { OnceLock::new() }; 64];
    let find = || student_t_quantile(f64::midpoint(1.0, CONFIDENCE), size(degrees));
    let kept = FOUND.get(degrees);
    kept.map_or_else(find, |kept| *kept.get_or_init(find))
}

/// Their mean; of no values, not a number.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / size(values.len())
}

/// Unbiased, about the mean; zero for a single value.
#[must_use]
pub fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values
        .iter()
        .map(|value| (value - centre) * (value - centre))
        .sum();
    squares / size(values.len().saturating_sub(1).max(1))
}

/// A number of replications or arms, to count with.
#[expect(
    clippy::cast_precision_loss,
    reason = "a number of replications or arms"
)]
#[must_use]
pub const fn size(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, within: f64) {
        assert!(
            (found - expected).abs() <= within,
            "{found} is not {expected} ± {within}"
        );
    }

    /// Law's worked example (5th ed., example 4.27): ten values, mean 1.34, S² = 0.17, and a
    /// 90 % interval of ± 0.24; at 95 % the t quantile is 2.262 and the half-width 0.30.
    #[test]
    fn a_mean_of_ten_values_has_the_interval_of_the_textbook() {
        let values = [1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09];

        let found = mean_interval(&values).unwrap();

        close(found.mean, 1.343, 1e-12);
        close(variance(&values), 0.1675, 0.0005);
        close(found.half_width.unwrap(), 0.2928, 0.0005);
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_no_mean() {
        assert_eq!(mean_interval(&[3.0]).unwrap().half_width, None);
        assert!(!mean_interval(&[3.0]).unwrap().excludes_zero());
        assert!(mean_interval(&[]).is_none());
    }

    #[test]
    fn what_hits_both_arms_alike_cancels_out_of_their_difference() {
        let luck = [5.0, -3.0, 8.0, 0.0, -6.0];
        let a: Vec<f64> = luck
            .iter()
            .enumerate()
            .map(|(i, l)| 100.0 + l + 0.1 * size(i))
            .collect();
        let b: Vec<f64> = luck.iter().map(|l| 99.0 + l).collect();

        let found = paired_difference(&a, &b).unwrap();

        close(found.difference.mean, 1.2, 1e-9);
        assert!(found.difference.half_width.unwrap() < 0.2);
        assert!(found.difference.excludes_zero());
        assert!(found.p_value.unwrap() < 0.001);
        assert!(found.variance_reduction.unwrap() > 1_000.0);
    }

    /// Differences 1, 2, 3: mean 2, S = 1, t = 2·√3 = 3.4641 with 2 degrees of freedom, whose
    /// two-sided p-value is 1 − t/√(2 + t²) = 0.07418.
    #[test]
    fn the_p_value_of_three_pairs_is_the_closed_form() {
        let found = paired_difference(&[1.0, 2.0, 3.0], &[0.0; 3]).unwrap();

        close(found.p_value.unwrap(), 0.074_179_9, 1e-7);
    }

    #[test]
    fn identical_runs_do_not_differ_and_constant_differences_do() {
        assert_eq!(
            paired_difference(&[1.0, 2.0], &[1.0, 2.0]).unwrap().p_value,
            Some(1.0)
        );
        assert_eq!(
            paired_difference(&[2.0, 3.0], &[1.0, 2.0]).unwrap().p_value,
            Some(0.0)
        );
        assert_eq!(
            paired_difference(&[2.0, 3.0], &[1.0, 2.0])
                .unwrap()
                .variance_reduction,
            None
        );
        assert!(paired_difference(&[2.0], &[]).is_none());
    }

    /// 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02.
    #[test]
    fn holm_multiplies_from_the_smallest_up_and_never_falls() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);

        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            close(*found, expected, 1e-12);
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    /// Newcombe, Statistics in Medicine 17 (1998), table I: 81/263 gives 0.2553 to 0.3662, 15/148
    /// gives 0.0624 to 0.1605, 0/20 gives 0 to 0.1611, 1/29 gives 0.0061 to 0.1718.
    #[test]
    fn wilson_gives_the_published_intervals() {
        let published = [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ];
        for (successes, trials, low, high) in published {
            let found = wilson(successes, trials).unwrap();
            close(found.0, low, 5e-5);
            close(found.1, high, 5e-5);
        }
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn a_quantile_lies_between_the_order_statistics_of_the_formula() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();

        // nq = 50, z√(nq(1 − q)) = 9.8: ranks 40 and 61.
        assert_eq!(quantile_interval(&values, 0.5), Some((40.0, 61.0)));
        assert_eq!(quantile_interval(&values, 0.999), None);
        assert_eq!(quantile_interval(&[], 0.5), None);
    }

    #[test]
    fn a_ratio_of_exactly_proportional_pairs_has_no_spread() {
        let pairs = [(2.0, 1.0), (4.0, 2.0), (10.0, 5.0)];

        let found = ratio(&pairs).unwrap();

        close(found.mean, 2.0, 1e-12);
        close(found.half_width.unwrap(), 0.0, 1e-9);
        assert_eq!(ratio(&[(1.0, 0.0)]), None);
        assert!(ratio(&[]).is_none());
    }

    /// Pairs (1, 1), (2, 1), (6, 2): R = 9/4. Without each in turn 8/3, 7/3, 3/2, so the
    /// pseudo-values are 17/12, 25/12 and 15/4, their mean 29/12.
    #[test]
    fn the_jackknife_of_three_pairs_is_the_one_by_hand() {
        let found = ratio(&[(1.0, 1.0), (2.0, 1.0), (6.0, 2.0)]).unwrap();

        close(found.mean, 29.0 / 12.0, 1e-12);
        let pseudo = [17.0 / 12.0, 25.0 / 12.0, 15.0 / 4.0];
        close(
            found.half_width.unwrap(),
            4.302_65 * (variance(&pseudo) / 3.0).sqrt(),
            1e-4,
        );
    }
}
