//! A log-normal body with a heavy tail through three published quantiles.
//!
//! 2 % of all come from the heavy part, so placed that 1 % of all lies above the 99th percentile.
//! That the tail has this form, and its sigma of 0.3, is an assumption: three quantiles say no more
//! than that one log-normal does not fit (field notes D3).

use crate::dist::{Component, Distribution, LogNormal};

/// The mixture through the three quantiles; `None` where the 99th percentile lies so near that a body
/// through the other two alone reaches beyond it.
pub(crate) fn body_and_tail(p50_ms: f64, p95_ms: f64, p99_ms: f64) -> Option<Distribution> {
    let sigma = (libm::log(p95_ms) - libm::log(p50_ms)) / (Z_P95 - Z_P50);
    let body_median_ms = p50_ms * libm::exp(-Z_P50 * sigma);
    let body_above = share_above((libm::log(p99_ms) - libm::log(body_median_ms)) / sigma);
    let tail_above = (0.01 - (1.0 - TAIL) * body_above) / TAIL;
    if !(LEAST_ABOVE..1.0).contains(&tail_above) {
        return None;
    }
    let tail_median_ms = p99_ms * libm::exp(-TAIL_SIGMA * z_with_share_above(tail_above));
    let part = |weight, median_ms, sigma| Component {
        weight,
        of: Distribution::LogNormal(LogNormal {
            median_ms: Some(median_ms),
            sigma: Some(sigma),
            ..LogNormal::default()
        }),
    };
    Some(Distribution::Mixture(vec![
        part(1.0 - TAIL, body_median_ms, sigma),
        part(TAIL, tail_median_ms, TAIL_SIGMA),
    ]))
}

/// The share of a standard normal distribution above `z`.
fn share_above(z: f64) -> f64 {
    libm::erfc(z / std::f64::consts::SQRT_2) / 2.0
}

/// Where `share` of a standard normal distribution lies above, found by halving.
fn z_with_share_above(share: f64) -> f64 {
    let (mut low, mut high) = (-4.0, 4.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if share_above(middle) > share {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

const TAIL: f64 = 0.02;
const TAIL_SIGMA: f64 = 0.3;
/// 0.98 · Φ(z) is 0.50 at the median, and 1 − 0.98 · (1 − Φ(z)) − 0.02 is 0.95 at the p95.
const Z_P50: f64 = 0.025_58;
const Z_P95: f64 = 1.871_9;
/// Below this the tail would begin beyond three of its deviations.
const LEAST_ABOVE: f64 = 0.002;
