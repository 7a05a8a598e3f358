//! Quantiles of held-out values beside those of the fit, from where each value lies in the fitted
//! distribution.

use reports::{fits::Lived, stats::size};
use serde::Serialize;

/// One quantile as fitted and as seen.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct QuantilePair {
    /// Which, from 0 to 1.
    pub share: f64,
    /// What the fit says.
    pub fitted: f64,
    /// What was seen.
    pub seen: f64,
    /// From where to where it would be by chance alone, for 95 of 100 samples as a whole.
    pub by_chance: (f64, f64),
}

/// Quantiles of values whose places in the fitted distribution are `shares`; `quantile` undoes a place.
/// `above` is the curve of shares above each place. None with fewer than 20 values.
pub(crate) fn pairs(
    above: &[(f64, f64)],
    n: usize,
    quantile: impl Fn(f64) -> f64,
) -> Vec<QuantilePair> {
    if n < FEWEST || above.is_empty() {
        return Vec::new();
    }
    let reach = BY_CHANCE / size(n).sqrt();
    let least = 0.5 / size(n);
    let inside = |share: f64| share.clamp(least, 1.0 - least);
    let of = |share: f64| {
        let (place, _) = above.iter().find(|(_, above)| *above <= 1.0 - share)?;
        Some(QuantilePair {
            share,
            fitted: quantile(share),
            seen: quantile(inside(*place)),
            by_chance: (
                quantile(inside(share - reach)),
                quantile(inside(share + reach)),
            ),
        })
    };
    SHARES
        .into_iter()
        .filter(|share| share.min(1.0 - share) * size(n) >= 1.0)
        .filter_map(of)
        .collect()
}

/// Values that are all known, as shares above each place.
pub(crate) fn known(shares: &[f64]) -> Vec<(f64, f64)> {
    let lived = |at: &f64| Lived {
        at: *at,
        beyond: false,
    };
    let all: Vec<Lived> = shares.iter().map(lived).collect();
    reports::fits::survivors(&all)
}

const FEWEST: usize = 20;
/// Kolmogorov's 95 % point.
const BY_CHANCE: f64 = 1.358;
const SHARES: [f64; 27] = [
    0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6,
    0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999,
];
