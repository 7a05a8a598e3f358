//! How many tokens prompts or answers have: log-normal where that holds, else their own quantiles.

use serde::Serialize;

use super::Fitted;
use crate::stats::{mean, normal_cdf, normal_quantile, size, student_t_quantile, variance};

/// Token counts as a distribution.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TokenLengths {
    /// How many counts.
    pub n: usize,
    /// Mean of the natural logarithm.
    pub ln_mean: Fitted,
    /// Deviation of the natural logarithm.
    pub ln_sigma: Fitted,
    /// Largest difference between the log-normal distribution function and that of the counts.
    pub off: f64,
    /// The longest.
    pub longest: f64,
    /// Tokens with the share of counts at or below; to be used where `off` is too much.
    pub points: Vec<(f64, f64)>,
}

impl TokenLengths {
    /// Fits them; `None` with fewer than `FEWEST`.
    #[must_use]
    pub fn of(tokens: &[f64]) -> Option<Self> {
        if tokens.len() < FEWEST {
            return None;
        }
        let mut sorted = tokens.to_vec();
        sorted.sort_by(f64::total_cmp);
        let logs: Vec<f64> = sorted.iter().map(|count| libm::log(*count)).collect();
        let n = size(logs.len());
        let (centre, sigma) = (mean(&logs), variance(&logs).sqrt());
        let reach = student_t_quantile(0.975, n - 1.0) * sigma / n.sqrt();
        // Deviation of ln S for any shape: √(κ − 1) ÷ (2√n), κ the fourth moment over the variance squared.
        let fourth = logs.iter().map(|l| (l - centre) * (l - centre));
        let fourth = fourth.map(|square| square * square).sum::<f64>() / n;
        let peaked = fourth / (sigma * sigma * sigma * sigma);
        let of_sigma = match peaked.is_finite() {
            true => 1.96 * (peaked - 1.0).max(0.0).sqrt() / (2.0 * n.sqrt()),
            false => 0.0,
        };
        let mut lengths = Self {
            n: tokens.len(),
            ln_mean: Fitted::within(centre, (centre - reach, centre + reach)),
            ln_sigma: Fitted::within(
                sigma,
                (sigma * libm::exp(-of_sigma), sigma * libm::exp(of_sigma)),
            ),
            off: 0.0,
            longest: sorted[sorted.len() - 1],
            points: points(&sorted),
        };
        lengths.off = lengths.distance(&sorted);
        Some(lengths)
    }

    /// Whether a log-normal distribution is near enough: nowhere off by more than `NEAR`.
    #[must_use]
    pub fn is_log_normal(&self) -> bool {
        self.off <= NEAR && self.ln_sigma.value > 0.0
    }

    /// The share at or below so many tokens, as the scenario will draw them.
    #[must_use]
    pub fn cdf(&self, tokens: f64) -> f64 {
        if self.is_log_normal() {
            return self.log_normal_cdf(tokens);
        }
        let at = self.points.partition_point(|(value, _)| *value <= tokens);
        let Some((value, share)) = self.points.get(at) else {
            return 1.0;
        };
        let (before, below) = if at == 0 {
            (0.0, 0.0)
        } else {
            self.points[at - 1]
        };
        below + (share - below) * (tokens - before) / (value - before)
    }

    /// The tokens that the share `q` lies at or below; between whole tokens where the curve is.
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        if self.is_log_normal() {
            let z = normal_quantile(q.clamp(1e-12, 1.0 - 1e-12));
            return libm::exp(self.ln_mean.value + self.ln_sigma.value * z);
        }
        let at = self.points.partition_point(|(_, share)| *share < q);
        let Some((value, share)) = self.points.get(at) else {
            return self.longest;
        };
        let (before, below) = if at == 0 {
            (0.0, 0.0)
        } else {
            self.points[at - 1]
        };
        before + (value - before) * ((q - below) / (share - below)).clamp(0.0, 1.0)
    }

    /// Half a token above counts as the token: draws are rounded.
    fn log_normal_cdf(&self, tokens: f64) -> f64 {
        normal_cdf((libm::log(tokens + 0.5) - self.ln_mean.value) / self.ln_sigma.value)
    }

    /// Largest difference over all counts, ties together.
    fn distance(&self, sorted: &[f64]) -> f64 {
        let n = size(sorted.len());
        let mut seen = 0;
        let mut off: f64 = 0.0;
        for same in sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()) {
            seen += same.len();
            off = off.max((self.log_normal_cdf(same[0]) - size(seen) / n).abs());
        }
        off
    }
}

/// Quantiles with their shares, without those that the counts do not tell apart.
fn points(sorted: &[f64]) -> Vec<(f64, f64)> {
    let n = sorted.len();
    let mut points: Vec<(f64, f64)> = Vec::new();
    // The curve begins at 0 tokens; a first point just below the shortest keeps what is not there out.
    if sorted[0] > 1.0 {
        points.push((sorted[0] - 0.5, 1e-6));
    }
    for share in SHARES {
        let value = sorted[place(share, n)];
        // The share that really lies at or below that count.
        let share = size(sorted.partition_point(|count| *count <= value)) / size(n);
        if points
            .last()
            .is_none_or(|last| value > last.0 && share > last.1)
        {
            points.push((value, share));
        }
    }
    if let Some(last) = points.last_mut() {
        last.1 = 1.0;
    }
    points
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length is a place in it"
)]
fn place(share: f64, n: usize) -> usize {
    ((share * size(n)).ceil() as usize).clamp(1, n) - 1
}

/// Fewer counts are no distribution.
pub(crate) const FEWEST: usize = 30;
/// A log-normal distribution is taken if it is nowhere further off than this share.
pub(crate) const NEAR: f64 = 0.05;
const SHARES: [f64; 24] = [
    0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7,
    0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lumps_are_drawn_from_their_quantiles_and_not_from_a_bell() {
        let lumps: Vec<f64> = (0..1_000)
            .map(|n| if n % 3 == 0 { 10.0 } else { 900.0 })
            .collect();

        let fit = TokenLengths::of(&lumps).unwrap();

        assert!(!fit.is_log_normal());
        assert!((fit.cdf(10.0) - 0.334).abs() < 1e-9, "{fit:?}");
        assert!((fit.cdf(9.0)) < 1e-5, "{fit:?}");
        assert!((fit.cdf(900.0) - 1.0).abs() < 1e-9);
        for tokens in [9.6, 10.0, 500.0, 890.0] {
            let back = fit.quantile(fit.cdf(tokens));
            assert!((back - tokens).abs() < 1e-6, "{tokens} came back as {back}");
        }
    }

    #[test]
    fn a_bell_is_found_with_its_interval() {
        let bell: Vec<f64> = (1..2_000)
            .map(|n| {
                let z = normal_quantile(f64::from(n) / 2_000.0);
                libm::exp(5.0 + 0.8 * z).round()
            })
            .collect();

        let fit = TokenLengths::of(&bell).unwrap();

        assert!(fit.is_log_normal(), "{fit:?}");
        assert!(fit.ln_mean.holds(5.0) && fit.ln_sigma.holds(0.8), "{fit:?}");
        assert_eq!(TokenLengths::of(&bell[..FEWEST - 1]), None);
    }
}
