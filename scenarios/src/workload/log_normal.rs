//! Log-normal token counts at the price of a table look-up.
//!
//! The quantile function is kept at 1,024 steps of equal probability and read along straight lines.
//! Where such a line would be off by more than one part in ten thousand in its middle, as it is
//! towards the tails, the draw is computed in full instead. A count of tokens is rounded to a whole
//! number, which is a coarser step; and the table is monotone, so that larger luck is a longer
//! answer whatever the parameters.

use std::sync::Arc;

use super::dist::normal_quantile;

/// A log-normal distribution, ready to be drawn from.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LogNormal {
    ln_mean: f64,
    ln_sigma: f64,
    /// Quantiles at multiples of 1 ÷ `CELLS`; those of the first and last cell are not used.
    quantiles: Arc<[f64]>,
    /// First cell that a line is good enough for, and the first after them.
    straight: (usize, usize),
}

impl LogNormal {
    /// Mean and deviation are those of the natural logarithm.
    pub(crate) fn new(ln_mean: f64, ln_sigma: f64) -> Self {
        let exact = |u: f64| libm::exp(ln_mean + ln_sigma * normal_quantile(u));
        let edge = |at: usize| share(at.clamp(1, CELLS - 1));
        let quantiles: Arc<[f64]> = (0..=CELLS).map(|at| exact(edge(at))).collect();
        let is_straight = |cell: &usize| {
            let line = f64::midpoint(quantiles[*cell], quantiles[cell + 1]);
            let curve = exact(share(*cell) + share(1) / 2.0);
            (line - curve).abs() <= TOLERANCE * curve
        };
        // The curve bends least about its middle and more and more towards both ends.
        let half = CELLS / 2;
        let from = (1..half)
            .rev()
            .take_while(is_straight)
            .last()
            .unwrap_or(half);
        let to = (half..CELLS - 1)
            .take_while(is_straight)
            .last()
            .map_or(half, |last| last + 1);
        let straight = if from < half && to > half {
            (from, to)
        } else {
            (half, half)
        };
        Self {
            ln_mean,
            ln_sigma,
            quantiles,
            straight,
        }
    }

    /// The quantile of `u`, which is from 0 to below 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cell's number"
    )]
    #[expect(clippy::cast_precision_loss, reason = "a cell's number")]
    pub(crate) fn quantile(&self, u: f64) -> f64 {
        let place = u * CELLS as f64;
        let cell = place as usize;
        if cell >= self.straight.0 && cell < self.straight.1 {
            let (from, to) = (self.quantiles[cell], self.quantiles[cell + 1]);
            return from + (to - from) * (place - cell as f64);
        }
        libm::exp(self.ln_mean + self.ln_sigma * normal_quantile(u.max(f64::MIN_POSITIVE)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a cell's number")]
const fn share(cell: usize) -> f64 {
    cell as f64 / CELLS as f64
}

const CELLS: usize = 1_024;
const TOLERANCE: f64 = 1e-4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_within_its_tolerance_and_never_falls() {
        for (mean, sigma) in [
            (6.633, 0.985),
            (5.019, 0.859),
            (8.0, 0.0),
            (7.0, 3.0),
            (2.0, 5.0),
        ] {
            let table = LogNormal::new(mean, sigma);
            let mut before = 0.0;
            for n in 0..200_000_u32 {
                let u = (f64::from(n) + 0.5) / 200_000.0;
                let (found, exact) = (
                    table.quantile(u),
                    libm::exp(mean + sigma * normal_quantile(u)),
                );

                assert!(
                    (found / exact - 1.0).abs() < 1.5 * TOLERANCE,
                    "{sigma} {u}: {found} {exact}"
                );
                assert!(found >= before * (1.0 - 1e-12), "{sigma} {u}");
                before = found;
            }
        }
    }

    #[test]
    fn most_draws_of_ordinary_lengths_come_from_the_table() {
        let (from, to) = LogNormal::new(6.633, 0.985).straight;

        assert!(to - from > CELLS * 9 / 10, "cells {from} to {to}");
    }
}
