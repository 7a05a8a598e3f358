//! The normal and Student's t distribution, from `libm` alone so that every machine gets the same bits.
//!
//! Quantiles are found by halving an interval of the distribution function: slower than a rational
//! approximation and accurate to the last few bits, for a few hundred calls a report.

/// P(Z ≤ x) of the standard normal distribution: erfc(−x/√2) / 2.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The x with P(Z ≤ x) = `p`. `p` must lie between 0 and 1, both excluded.
///
/// # Panics
///
/// If `p` is not strictly between 0 and 1.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    quantile(p, normal_cdf)
}

/// P(T ≤ t) of Student's t distribution with `degrees` of freedom, by the regularised incomplete
/// beta function: I(ν/(ν + t²); ν/2, ½) / 2 below zero. (NIST DLMF 8.17, Abramowitz & Stegun 26.7.1)
///
/// # Panics
///
/// If `degrees` is not positive.
#[must_use]
pub fn student_t_cdf(t: f64, degrees: f64) -> f64 {
    assert!(degrees > 0.0, "{degrees} degrees of freedom");
    let tail = 0.5 * incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5);
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// The t with P(T ≤ t) = `p`. `p` must lie between 0 and 1, both excluded.
///
/// # Panics
///
/// If `p` is not strictly between 0 and 1 or `degrees` is not positive.
#[must_use]
pub fn student_t_quantile(p: f64, degrees: f64) -> f64 {
    quantile(p, |t| student_t_cdf(t, degrees))
}

/// P(B ≤ `most`) of `trials` independent trials that succeed with `chance`, by the regularised incomplete beta
/// function: I(1 − p; n − k, k + 1). (NIST DLMF 8.17.5)
#[must_use]
pub fn binomial_cdf(most: usize, trials: usize, chance: f64) -> f64 {
    if most >= trials {
        return 1.0;
    }
    let (most, trials) = (super::size(most), super::size(trials));
    incomplete_beta(1.0 - chance, trials - most, most + 1.0)
}

/// Works on the lower half, where small probabilities keep their precision.
fn quantile(p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "a quantile of probability {p}");
    let lower = p.min(1.0 - p);
    let mut low = -1.0;
    while cdf(low) > lower {
        low *= 2.0;
    }
    let mut high = 0.0;
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if cdf(middle) < lower {
            low = middle
        } else {
            high = middle
        }
    }
    if p < 0.5 { high } else { -high }
}

/// I(x; a, b), by its continued fraction (NIST DLMF 8.17.22) on the side where that converges fast.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let log_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
        + a * libm::log(x)
        + b * libm::log1p(-x);
    let front = libm::exp(log_front);
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction, evaluated from the front by the modified Lentz method
/// (W. J. Lentz, Applied Optics 15, 1976; I. J. Thompson and A. R. Barnett, 1986).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..=MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

const TINY: f64 = 1e-300;
/// Far more than needed: about √max(a, b) steps suffice on the fast side.
const MOST_STEPS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, and, for more digits, closed
    /// forms: one degree of freedom is the Cauchy distribution, two have t = (2p − 1)·√(2 / (4p(1 − p))).
    #[test]
    fn t_quantiles_are_those_of_the_published_table() {
        let table = [
            (0.90, 1.0, 3.078),
            (0.95, 1.0, 6.314),
            (0.975, 1.0, 12.706),
            (0.99, 1.0, 31.821),
            (0.975, 2.0, 4.303),
            (0.975, 3.0, 3.182),
            (0.975, 4.0, 2.776),
            (0.95, 5.0, 2.015),
            (0.975, 9.0, 2.262),
            (0.995, 9.0, 3.250),
            (0.999, 9.0, 4.297),
            (0.975, 10.0, 2.228),
            (0.975, 29.0, 2.045),
            (0.90, 30.0, 1.310),
            (0.975, 60.0, 2.000),
            (0.975, 100.0, 1.984),
        ];
        for (p, degrees, published) in table {
            let found = student_t_quantile(p, degrees);
            assert!(
                (found - published).abs() <= 6e-4,
                "t({p}, {degrees}) = {found}, {published}"
            );
        }
    }

    #[test]
    fn t_quantiles_of_one_and_two_degrees_are_the_closed_forms() {
        for p in [0.6, 0.9, 0.975, 0.999, 0.999_9] {
            let cauchy = libm::tan(std::f64::consts::PI * (p - 0.5));
            let two = (2.0 * p - 1.0) * (2.0 / (4.0 * p * (1.0 - p))).sqrt();

            let (one_found, two_found) = (student_t_quantile(p, 1.0), student_t_quantile(p, 2.0));
            assert!(
                (one_found / cauchy - 1.0).abs() < 1e-10,
                "{one_found} for {cauchy}"
            );
            assert!(
                (two_found / two - 1.0).abs() < 1e-10,
                "{two_found} for {two}"
            );
        }
    }

    /// Tosses of a coin, and of one that shows heads once in ten times, counted out.
    #[test]
    fn binomial_shares_are_those_of_tosses() {
        for (most, trials, chance, share) in [
            (0, 6, 0.5, 1.0 / 64.0),
            (3, 6, 0.5, 42.0 / 64.0),
            (1, 4, 0.1, 0.6561 + 0.2916),
            (39, 100, 0.5, 0.017_600_1),
            (6, 6, 0.5, 1.0),
        ] {
            let found = binomial_cdf(most, trials, chance);
            assert!((found - share).abs() < 1e-7, "{most} of {trials}: {found}");
        }
    }

    #[test]
    fn with_many_degrees_t_becomes_the_normal_distribution() {
        let (t, z) = (student_t_quantile(0.975, 1e7), normal_quantile(0.975));

        assert!((t - z).abs() < 1e-6, "{t} {z}");
    }

    #[test]
    fn normal_quantiles_have_the_known_digits() {
        let known = [
            (0.5, 0.0),
            (0.9, 1.281_551_565_544_6),
            (0.975, 1.959_963_984_540_05),
            (0.995, 2.575_829_303_548_9),
            (0.000_1, -3.719_016_485_455_7),
        ];
        for (p, z) in known {
            let found = normal_quantile(p);
            assert!((found - z).abs() < 1e-12, "z({p}) = {found}, not {z}");
        }
    }

    #[test]
    fn distribution_functions_and_quantiles_undo_each_other() {
        for p in [1e-6, 0.01, 0.3, 0.5, 0.7, 0.999] {
            for degrees in [1.0, 3.0, 9.0, 49.0, 999.0] {
                let back = student_t_cdf(student_t_quantile(p, degrees), degrees);
                assert!((back - p).abs() < 1e-12, "{p} came back as {back}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a quantile of probability 1")]
    fn there_is_no_quantile_of_certainty() {
        let _ = student_t_quantile(1.0, 3.0);
    }
}
