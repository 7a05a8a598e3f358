//! Where a lasting state begins.

use super::{mean, size, variance};

/// How many values at the beginning of a series belong to the start-up, by MSER-5: means of five values
/// each, and the number d of them to leave out that makes Σ (yⱼ − ȳ)² / (m − d)² over the m − d others
/// least, for d up to m / 2. `None` if that is at m / 2, for then the series is too short to tell, or if
/// there are fewer than [`FEWEST_BATCHES`] means.
///
/// Source: K. P. White, Simulation 69 (1997); of means of five: K. P. White, M. J. Cobb and S. C. Spratt, Winter
/// Simulation Conference 2000.
#[must_use]
pub fn mser5(series: &[f64]) -> Option<usize> {
    let batches: Vec<f64> = series.chunks_exact(BATCH).map(mean).collect();
    if batches.len() < FEWEST_BATCHES {
        return None;
    }
    let half = batches.len() / 2;
    let error = |left_out: usize| {
        let rest = &batches[left_out..];
        variance(rest) * size(rest.len() - 1) / (size(rest.len()) * size(rest.len()))
    };
    let errors: Vec<f64> = (0..=half).map(error).collect();
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    // Of several that are as good to rounding the one that leaves out least.
    let best = errors
        .iter()
        .position(|error| *error <= least * (1.0 + 1e-9) + 1e-18)?;
    (best < half).then_some(best * BATCH)
}

/// Values of a mean.
const BATCH: usize = 5;
/// Means from which on a start-up can be told.
pub const FEWEST_BATCHES: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rises_at_the_beginning_is_left_out_and_nothing_else() {
        // 40 values that rise to 10, then 160 around it.
        let rising = (0..40).map(|n| 0.25 * size(n));
        let around = (0..160).map(|n| if n % 2 == 0 { 9.0 } else { 11.0 });
        let series: Vec<f64> = rising.chain(around).collect();

        let left_out = mser5(&series).unwrap();

        assert!((30..=45).contains(&left_out), "{left_out}");
    }

    /// Means 0, 4, 4, … of ten: without the first nothing varies. By hand, with the first the error is
    /// (9 · 0.16 + 12.96) / 100 = 0.144.
    #[test]
    fn a_state_that_lasts_from_the_second_mean_on_loses_the_first() {
        let series: Vec<f64> = (0..50).map(|n| if n < 5 { 0.0 } else { 4.0 }).collect();

        assert_eq!(mser5(&series), Some(5));
        assert_eq!(mser5(&[3.0; 50]), Some(0));
    }

    #[test]
    fn a_series_that_never_settles_or_is_short_has_no_answer() {
        let rising: Vec<f64> = (0..200).map(size).collect();

        assert_eq!(mser5(&rising), None);
        assert_eq!(mser5(&[1.0; 49]), None);
        assert_eq!(mser5(&[]), None);
    }
}
