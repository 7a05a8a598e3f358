//! The gamma distribution function.

/// P(X ≤ x) for a gamma distribution of this shape and mean 1: the regularised incomplete gamma function
/// P(shape, shape·x), by its series below and its continued fraction above (NIST DLMF 8.7.1 and 8.9.2).
pub(crate) fn cdf_of_mean_one(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let at = shape * x;
    let front = libm::exp(shape * libm::log(at) - at - libm::lgamma(shape));
    if at < shape + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / shape, 1.0 / shape, shape);
        for _ in 0..MOST_STEPS {
            n += 1.0;
            term *= at / n;
            sum += term;
            if term < sum * 1e-15 {
                break;
            }
        }
        return (front * sum).min(1.0);
    }
    let mut b = at + 1.0 - shape;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for step in 1..=MOST_STEPS {
        let n = f64::from(step);
        let a = n * (shape - n);
        b += 2.0;
        let away = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
        d = 1.0 / away(a * d + b);
        c = away(b + a / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (1.0 - front * fraction).clamp(0.0, 1.0)
}

const MOST_STEPS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms_are_met() {
        for x in [0.01, 0.5, 1.0, 3.0, 20.0] {
            let exponential = 1.0 - libm::exp(-x);
            assert!((cdf_of_mean_one(1.0, x) - exponential).abs() < 1e-12, "{x}");
            // Shape ½: the square of a normal number. Shape 2: two exponential gaps.
            let square = libm::erf((x / 2.0).sqrt());
            assert!((cdf_of_mean_one(0.5, x) - square).abs() < 1e-12, "{x}");
            let two = 1.0 - libm::exp(-2.0 * x) * (1.0 + 2.0 * x);
            assert!((cdf_of_mean_one(2.0, x) - two).abs() < 1e-12, "{x}");
        }
    }
}
