//! Draws of milliseconds. A draw takes no memory and calls no platform logarithm or exponential, so
//! that every machine draws the same bits.

use router::KeyedRng;

use crate::normal::normal;

/// What draws are made from.
#[derive(Clone, Debug)]
pub(crate) enum Sampler {
    Constant(f64),
    /// (share, value), both rising; two points or more.
    Empirical(Vec<(f64, f64)>),
    /// Shape below 1 is drawn as shape + 1 times a power of a uniform.
    Gamma {
        shape: f64,
        scale: f64,
    },
    /// `mu` is the logarithm of the median.
    LogNormal {
        mu: f64,
        sigma: f64,
    },
    /// (share, leaf); shares sum to 1, no leaf is a mixture itself.
    Mixture(Vec<(f64, Self)>),
}

impl Sampler {
    /// A gamma distribution of this mean and coefficient of variation; both already checked.
    pub(crate) fn gamma(mean: f64, cv: f64) -> Self {
        if cv < SMALLEST_CV {
            return Self::Constant(mean);
        }
        let shape = 1.0 / (cv * cv);
        Self::Gamma {
            shape,
            scale: mean / shape,
        }
    }

    /// A log-normal distribution of this mean and coefficient of variation; both already checked.
    pub(crate) fn log_normal(mean: f64, cv: f64) -> Self {
        let variance = libm::log1p(cv * cv);
        Self::LogNormal {
            mu: libm::log(mean) - variance / 2.0,
            sigma: variance.sqrt(),
        }
    }

    /// One draw: finite, 0 or more.
    pub(crate) fn draw(&self, rng: &mut KeyedRng) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Empirical(points) => interpolate(points, rng.unit()),
            Self::Gamma { shape, scale } => gamma(*shape, rng) * scale,
            Self::LogNormal { mu, sigma } => libm::exp(mu + sigma * normal(rng)),
            Self::Mixture(leaves) => {
                let mut left = rng.unit();
                let mut drawn = &leaves[0].1;
                for (share, leaf) in leaves {
                    drawn = leaf;
                    left -= share;
                    if left < 0.0 {
                        break;
                    }
                }
                drawn.draw(rng)
            }
        }
    }
}

/// The value at `share` on the line through `points`.
fn interpolate(points: &[(f64, f64)], share: f64) -> f64 {
    let above = points.partition_point(|point| point.0 <= share);
    if above == 0 {
        return points[0].1;
    }
    let Some(&(high_share, high)) = points.get(above) else {
        return points[above - 1].1;
    };
    let (low_share, low) = points[above - 1];
    low + (high - low) * (share - low_share) / (high_share - low_share)
}

/// A gamma draw of scale 1, by Marsaglia and Tsang, "A simple method for generating gamma
/// variables", ACM TOMS 26(3), 2000. Not the one of `rand_distr`, which calls the platform's
/// logarithm and power whenever another crate of the build turns on the standard library.
fn gamma(shape: f64, rng: &mut KeyedRng) -> f64 {
    let (boosted, factor) = if shape < 1.0 {
        (shape + 1.0, libm::pow(1.0 - rng.unit(), 1.0 / shape))
    } else {
        (shape, 1.0)
    };
    let d = boosted - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let u = 1.0 - rng.unit();
        if libm::log(u) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
            return d * v * factor;
        }
    }
}

/// Below this a gamma distribution is narrower than a nanosecond in any latency.
const SMALLEST_CV: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_joined_by_straight_lines_and_never_passed() {
        let points = [(0.1, 10.0), (0.5, 20.0), (0.9, 100.0)];

        assert!((interpolate(&points, 0.0) - 10.0).abs() < 1e-12);
        assert!((interpolate(&points, 0.3) - 15.0).abs() < 1e-12);
        assert!((interpolate(&points, 0.7) - 60.0).abs() < 1e-12);
        assert!((interpolate(&points, 0.99) - 100.0).abs() < 1e-12);
    }
}
