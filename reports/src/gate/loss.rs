//! How much worse the new side is, with what may be claimed of it.

use crate::stats::{self, CONFIDENCE, student_t_quantile};

/// A loss with what may be claimed of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossEstimate {
    /// Its mean.
    pub mean: f64,
    /// Standard error of the mean; `None` with too few runs.
    pub standard_error: Option<f64>,
    /// Degrees of freedom.
    pub degrees: f64,
    /// Whether runs were compared on the same luck.
    pub paired: bool,
    /// Runs (pairs, or those of the smaller side).
    pub n: usize,
}

impl LossEstimate {
    /// Upper end of the one-sided interval.
    #[must_use]
    pub fn upper(&self) -> Option<f64> {
        let error = self.standard_error?;
        Some(match error > 0.0 {
            true => self.mean + student_t_quantile(CONFIDENCE, self.degrees) * error,
            false => self.mean,
        })
    }

    /// Lower end of the one-sided interval.
    pub(super) fn lower(&self) -> Option<f64> {
        self.upper().map(|upper| 2.0 * self.mean - upper)
    }

    /// One-sided p-value of "no loss".
    pub(super) fn p_worse(&self) -> Option<f64> {
        Some(stats::p_above_zero(
            self.mean,
            self.standard_error?,
            self.degrees,
        ))
    }

    /// Replications from which a loss as large as `margin` is shown in four of five gates, if
    /// `metrics` metrics are judged: ((z₁₋ₐ + z₀.₈) · S / margin)², with a = 5 % / metrics.
    ///
    /// Source: Law, 5th ed., section 9.4, for the form; the normal quantiles stand for t's.
    #[must_use]
    pub fn replications_for(&self, margin: f64, metrics: usize) -> Option<f64> {
        let spread = self.standard_error? * stats::size(self.n).sqrt();
        let alpha = (1.0 - CONFIDENCE) / stats::size(metrics.max(1));
        let reach = stats::normal_quantile(1.0 - alpha) + stats::normal_quantile(POWER);
        let needed = reach * spread / margin;
        (margin > 0.0).then(|| (needed * needed).ceil() + 2.0)
    }
}

/// The power for which replications are chosen.
const POWER: f64 = 0.8;
