//! Intervals of maximum-likelihood estimates: the covariance from the scores of single rows (the "outer
//! product of gradients", Berndt, Hall, Hall and Hausman, 1974), and the delta method for what follows
//! from the parameters.

use super::Fitted;
use crate::stats::{CONFIDENCE, normal_quantile};

/// The covariance of the estimates `at`, where `rows` gives the log-likelihood of each row. `None` where
/// the data do not tell the parameters apart.
pub(crate) fn covariance(at: &[f64], rows: impl Fn(&[f64]) -> Vec<f64>) -> Option<Vec<Vec<f64>>> {
    let scores: Vec<Vec<f64>> = (0..at.len())
        .map(|which| {
            let moved = |by: f64| {
                let mut there = at.to_vec();
                there[which] += by;
                rows(&there)
            };
            let (up, down) = (moved(STEP), moved(-STEP));
            let slope = |(up, down): (&f64, &f64)| (up - down) / (2.0 * STEP);
            up.iter().zip(&down).map(slope).collect()
        })
        .collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let information: Vec<Vec<f64>> = scores
        .iter()
        .map(|a| scores.iter().map(|b| product(a, b)).collect())
        .collect();
    inverse(information)
}

/// The covariance from how fast `cost`, minus the logarithm of the likelihood, rises around its smallest
/// value at `at` (the observed information). `None` where it does not rise in every direction.
pub(crate) fn from_curvature(at: &[f64], cost: impl Fn(&[f64]) -> f64) -> Option<Vec<Vec<f64>>> {
    let n = at.len();
    let moved = |by: &[(usize, f64)]| {
        let mut there = at.to_vec();
        for (which, by) in by {
            there[*which] += by;
        }
        cost(&there)
    };
    let here = cost(at);
    let (up, down) = (WIDE_STEP, -WIDE_STEP);
    let second = |a: usize, b: usize| {
        let sum = match a == b {
            true => moved(&[(a, up)]) - 2.0 * here + moved(&[(a, down)]),
            false => {
                (moved(&[(a, up), (b, up)])
                    - moved(&[(a, up), (b, down)])
                    - moved(&[(a, down), (b, up)])
                    + moved(&[(a, down), (b, down)]))
                    / 4.0
            }
        };
        sum / (WIDE_STEP * WIDE_STEP)
    };
    let curvature = (0..n)
        .map(|a| (0..n).map(|b| second(a, b)).collect())
        .collect();
    let found = inverse(curvature)?;
    (0..n)
        .all(|which| found[which][which] > 0.0)
        .then_some(found)
}

/// `value` of the estimates with its interval by the delta method; it is positive, and the interval is
/// symmetric in its logarithm.
pub(crate) fn positive(
    at: &[f64],
    covariance: Option<&[Vec<f64>]>,
    value: impl Fn(&[f64]) -> f64,
) -> Fitted {
    let found = value(at);
    let Some(covariance) = covariance else {
        return Fitted::bare(found);
    };
    let gradient: Vec<f64> = (0..at.len())
        .map(|which| {
            let moved = |by: f64| {
                let mut there = at.to_vec();
                there[which] += by;
                libm::log(value(&there))
            };
            (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
        })
        .collect();
    let row = |(a, row): (&f64, &Vec<f64>)| {
        a * row.iter().zip(&gradient).map(|(c, b)| c * b).sum::<f64>()
    };
    let variance: f64 = gradient.iter().zip(covariance).map(row).sum();
    if !(variance.is_finite() && variance >= 0.0) {
        return Fitted::bare(found);
    }
    let reach = normal_quantile(f64::midpoint(1.0, CONFIDENCE)) * variance.sqrt();
    if reach > WIDEST {
        return Fitted::bare(found);
    }
    Fitted::within(found, (found * libm::exp(-reach), found * libm::exp(reach)))
}

/// By Gauss and Jordan with pivots; `None` if it is singular.
fn inverse(mut of: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = of.len();
    let mut out: Vec<Vec<f64>> = (0..n)
        .map(|row| {
            (0..n)
                .map(|column| f64::from(u8::from(row == column)))
                .collect()
        })
        .collect();
    for column in 0..n {
        let size = |row: &usize| of[*row][column].abs();
        let pivot = (column..n).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if size(&pivot) < SINGULAR || !size(&pivot).is_finite() {
            return None;
        }
        of.swap(column, pivot);
        out.swap(column, pivot);
        let scale = of[column][column];
        for k in 0..n {
            of[column][k] /= scale;
            out[column][k] /= scale;
        }
        for row in (0..n).filter(|row| *row != column) {
            let factor = of[row][column];
            for k in 0..n {
                of[row][k] -= factor * of[column][k];
                out[row][k] -= factor * out[column][k];
            }
        }
    }
    Some(out)
}

/// Parameters are logarithms or log-odds, of size about 1.
const STEP: f64 = 1e-4;
const WIDE_STEP: f64 = 0.02;
const SINGULAR: f64 = 1e-9;
/// An interval of a factor of e³ each way says nothing.
const WIDEST: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let of = vec![vec![4.0, 1.0], vec![1.0, 3.0]];
        let found = inverse(of).unwrap();

        assert!((found[0][0] - 3.0 / 11.0).abs() < 1e-12);
        assert!((found[0][1] + 1.0 / 11.0).abs() < 1e-12);
        assert!(inverse(vec![vec![1.0, 1.0], vec![1.0, 1.0]]).is_none());
    }
}
