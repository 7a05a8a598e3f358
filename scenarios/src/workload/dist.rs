//! From uniform numbers to the distributions of traffic, with the same bits on every platform.
//!
//! Logarithms, powers and the gamma function come from the `libm` crate: `rand_distr` takes them
//! from the platform as soon as any crate of a build asks `num-traits` for `std`. Where there is a
//! choice the inverse of the distribution function is used: one uniform number a draw, and larger
//! luck gives a larger draw in every arm, whatever its parameters.

use router::KeyedRng;

/// A time between arrivals, as a multiple of its mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Gap {
    /// Always the mean.
    Even,
    /// Memoryless: a Poisson process.
    Exponential,
    /// Gamma of this shape. Coefficient of variation 1 ÷ √shape.
    Gamma(f64),
    /// Weibull of this shape; `unit` is 1 ÷ Γ(1 + 1 ÷ shape), which makes the mean 1.
    Weibull {
        /// 1 ÷ shape, the exponent of a draw.
        exponent: f64,
        /// What a draw is multiplied by.
        unit: f64,
    },
}

impl Gap {
    /// Gaps of this coefficient of variation: 0 even, 1 exponential, else gamma.
    #[expect(
        clippy::float_cmp,
        reason = "exactly 0 and exactly 1 are the named special cases"
    )]
    pub(crate) fn of_variation(cv: f64) -> Self {
        if cv == 0.0 {
            Self::Even
        } else if cv == 1.0 {
            Self::Exponential
        } else {
            Self::Gamma(1.0 / (cv * cv))
        }
    }

    /// Weibull gaps of this shape.
    pub(crate) fn weibull(shape: f64) -> Self {
        Self::Weibull {
            exponent: 1.0 / shape,
            unit: 1.0 / libm::tgamma(1.0 + 1.0 / shape),
        }
    }

    /// One gap.
    pub(crate) fn sample(self, rng: &mut KeyedRng) -> f64 {
        match self {
            Self::Even => 1.0,
            Self::Exponential => exponential(rng),
            Self::Gamma(shape) => gamma(shape, rng) / shape,
            Self::Weibull { exponent, unit } => libm::pow(exponential(rng), exponent) * unit,
        }
    }
}

/// Exponential of mean 1.
pub(crate) fn exponential(rng: &mut KeyedRng) -> f64 {
    -libm::log(1.0 - rng.unit())
}

/// Normal of mean 0 and deviation 1.
pub(crate) fn normal(rng: &mut KeyedRng) -> f64 {
    normal_quantile(rng.unit().max(f64::MIN_POSITIVE))
}

/// Gamma of this shape and scale 1 (Marsaglia and Tsang, "A simple method for generating gamma
/// variables", ACM TOMS 26, 2000; a shape below 1 by their power of a uniform number).
fn gamma(shape: f64, rng: &mut KeyedRng) -> f64 {
    if shape < 1.0 {
        let boost = libm::pow(1.0 - rng.unit(), 1.0 / shape);
        return gamma(shape + 1.0, rng) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let u = 1.0 - rng.unit();
        // Nearly all draws are let in by this bound, which needs no logarithm.
        if u < 1.0 - 0.0331 * (x * x) * (x * x)
            || libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v)
        {
            return d * v;
        }
    }
}

/// The inverse of the normal distribution function, to about 16 digits (Wichura, "Algorithm AS 241:
/// The percentage points of the normal distribution", Applied Statistics 37, 1988; PPND16).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-libm::log(tail)).sqrt();
    let z = if r <= 5.0 {
        ratio(r - 1.6, &SHOULDER)
    } else {
        ratio(r - 5.0, &TAIL)
    };
    if q < 0.0 { -z } else { z }
}

/// A polynomial of degree 7 over another.
fn ratio(x: f64, [above, below]: &[[f64; 8]; 2]) -> f64 {
    let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, k| sum * x + k);
    horner(above) / horner(below)
}

#[expect(clippy::excessive_precision, reason = "the coefficients as published")]
#[expect(clippy::unreadable_literal, reason = "the coefficients as published")]
const CENTRE: [[f64; 8]; 2] = [
    [
        3.3871328727963666080e0,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ],
    [
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ],
];

#[expect(clippy::excessive_precision, reason = "the coefficients as published")]
#[expect(clippy::unreadable_literal, reason = "the coefficients as published")]
const SHOULDER: [[f64; 8]; 2] = [
    [
        1.42343711074968357734e0,
        4.63033784615654529590e0,
        5.76949722146069140550e0,
        3.64784832476320460504e0,
        1.27045825245236838258e0,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ],
    [
        1.0,
        2.05319162663775882187e0,
        1.67638483018380384940e0,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ],
];

#[expect(clippy::excessive_precision, reason = "the coefficients as published")]
#[expect(clippy::unreadable_literal, reason = "the coefficients as published")]
const TAIL: [[f64; 8]; 2] = [
    [
        6.65790464350110377720e0,
        5.46378491116411436990e0,
        1.78482653991729133580e0,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ],
    [
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ],
];

#[cfg(test)]
mod tests {
    use router::{Purpose, Seed};

    use super::*;

    const HERE: Purpose = Purpose::named("test.dist");

    fn mean_and_cv(gap: Gap) -> (f64, f64) {
        let n = 200_000_u32;
        let draws: Vec<f64> = (0..u64::from(n))
            .map(|request| gap.sample(&mut KeyedRng::new(Seed(3), HERE, request, 0)))
            .collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| libm::pow(x - mean, 2.0)).sum::<f64>() / f64::from(n);
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn quantiles_of_the_normal_are_those_of_the_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.95, 1.644_853_626_951_472_2),
            (0.01, -2.326_347_874_040_841),
            (1e-9, -5.997_807_015_007_687),
            (1e-20, -9.262_340_089_798_409),
        ] {
            assert!(
                (normal_quantile(p) - z).abs() < 1e-12,
                "{p}: {}",
                normal_quantile(p)
            );
        }
    }

    #[test]
    fn gaps_have_mean_one_and_the_variation_asked_for() {
        for (cv, slack) in [
            (0.0, 1e-9),
            (0.3, 0.01),
            (1.0, 0.015),
            (1.5, 0.03),
            (3.0, 0.08),
        ] {
            let (mean, found) = mean_and_cv(Gap::of_variation(cv));

            assert!(
                (mean - 1.0).abs() < 0.004 + 5.0 * cv / 447.0,
                "cv {cv}: mean {mean}"
            );
            assert!((found - cv).abs() <= slack, "cv {cv}: {found}");
        }
    }

    #[test]
    fn weibull_gaps_have_the_variation_of_their_shape() {
        // √(Γ(1 + 2/k) / Γ(1 + 1/k)² − 1) at k = 2 is √(4/π − 1).
        let (mean, cv) = mean_and_cv(Gap::weibull(2.0));

        assert!((mean - 1.0).abs() < 0.01, "mean {mean}");
        assert!(
            (cv - (4.0 / std::f64::consts::PI - 1.0).sqrt()).abs() < 0.01,
            "cv {cv}"
        );
    }

    #[test]
    fn the_extreme_uniform_numbers_give_finite_draws() {
        for gap in [
            Gap::Exponential,
            Gap::of_variation(20.0),
            Gap::weibull(0.16),
        ] {
            for request in 0..50_000 {
                let draw = gap.sample(&mut KeyedRng::new(Seed(1), HERE, request, 1));
                assert!(draw.is_finite() && draw >= 0.0, "{gap:?}: {draw}");
            }
        }
        assert!(normal_quantile(f64::MIN_POSITIVE).is_finite());
        assert!(normal_quantile(1.0 - f64::EPSILON / 2.0).is_finite());
    }
}
