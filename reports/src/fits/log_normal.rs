//! Mixtures of log-normal distributions, by the logarithm of what is measured.

use serde::Serialize;

use crate::stats::normal_cdf;

/// One part of a mixture.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LogNormalPart {
    /// Its share, from 0 to 1.
    pub weight: f64,
    /// Mean of the natural logarithm.
    pub mu: f64,
    /// Deviation of the natural logarithm, above 0.
    pub sigma: f64,
}

/// One log-normal part or more, whose weights sum to 1.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mixture {
    /// The parts, the heaviest last.
    pub parts: Vec<LogNormalPart>,
}

impl LogNormalPart {
    /// The density of the logarithm at `ln`.
    pub(crate) fn density(&self, ln: f64) -> f64 {
        density((ln - self.mu) / self.sigma) / self.sigma
    }
}

impl Mixture {
    /// A single log-normal distribution.
    #[must_use]
    pub fn single(mu: f64, sigma: f64) -> Self {
        Self {
            parts: vec![LogNormalPart {
                weight: 1.0,
                mu,
                sigma,
            }],
        }
    }

    /// The share at or below `value`.
    #[must_use]
    pub fn cdf(&self, value: f64) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        let ln = libm::log(value);
        let part = |p: &LogNormalPart| p.weight * normal_cdf((ln - p.mu) / p.sigma);
        self.parts.iter().map(part).sum()
    }

    /// The value that the share `q` lies at or below, found by halving.
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        let ends = self
            .parts
            .iter()
            .map(|p| (p.mu - 9.0 * p.sigma, p.mu + 9.0 * p.sigma));
        let (mut low, mut high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, part| {
            (all.0.min(part.0), all.1.max(part.1))
        });
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            if self.cdf(libm::exp(middle)) < q {
                low = middle;
            } else {
                high = middle;
            }
        }
        libm::exp(f64::midpoint(low, high))
    }

    /// The mean: Σ w · e^(μ + σ²/2).
    #[must_use]
    pub fn mean(&self) -> f64 {
        let part = |p: &LogNormalPart| p.weight * libm::exp(p.mu + p.sigma * p.sigma / 2.0);
        self.parts.iter().map(part).sum()
    }
}

/// The density of the standard normal distribution.
pub(crate) fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) * INV_SQRT_TAU
}

/// 1 ÷ √(2π).
const INV_SQRT_TAU: f64 = 0.398_942_280_401_432_7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_undo_the_distribution_function() {
        let mixture = Mixture {
            parts: vec![
                LogNormalPart {
                    weight: 0.97,
                    mu: 6.0,
                    sigma: 0.4,
                },
                LogNormalPart {
                    weight: 0.03,
                    mu: 8.0,
                    sigma: 0.3,
                },
            ],
        };
        for q in [0.01, 0.5, 0.95, 0.99, 0.999] {
            let back = mixture.cdf(mixture.quantile(q));
            assert!((back - q).abs() < 1e-9, "{q} came back as {back}");
        }
        assert!((Mixture::single(6.0, 0.4).mean() - libm::exp(6.08)).abs() < 1e-9);
    }
}
