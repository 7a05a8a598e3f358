//! Intervals of maximum-likelihood estimates: the covariance from the observed information, and the delta
//! method for what follows from the parameters.

use super::Fitted;
use crate::stats::{CONFIDENCE, normal_quantile};

/// The covariance of the estimates `at` by the observed information: the slopes of the `score`, which is the
/// gradient of the logarithm of the likelihood. `None` where the data do not tell the parameters apart.
///
/// The outer product of the scores of single rows would be cheaper, and is too small by chance in a small part
/// of a mixture: of a hundred slow answers it knows a deviation's information within a third only.
pub(crate) fn from_score(at: &[f64], score: impl Fn(&[f64]) -> Vec<f64>) -> Option<Vec<Vec<f64>>> {
    let slopes: Vec<Vec<f64>> = (0..at.len())
        .map(|which| {
            let moved = |by: f64| {
                let mut there = at.to_vec();
                there[which] += by;
                score(&there)
            };
            let (up, down) = (moved(SCORE_STEP), moved(-SCORE_STEP));
            let slope = |(up, down): (&f64, &f64)| (down - up) / (2.0 * SCORE_STEP);
            up.iter().zip(&down).map(slope).collect()
        })
        .collect();
    let both = |a: usize, b: usize| f64::midpoint(slopes[a][b], slopes[b][a]);
    let all = 0..at.len();
    let information = all
        .clone()
        .map(|a| all.clone().map(|b| both(a, b)).collect());
    sound(inverse(information.collect())?)
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
    sound(inverse(curvature)?)
}

/// Variances are above 0.
fn sound(covariance: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let is_sound = (0..covariance.len()).all(|which| covariance[which][which] > 0.0);
    is_sound.then_some(covariance)
}

/// The variance of a smooth function of the estimates, by its slopes.
fn variance(at: &[f64], covariance: &[Vec<f64>], value: impl Fn(&[f64]) -> f64) -> f64 {
    let gradient: Vec<f64> = (0..at.len())
        .map(|which| {
            let moved = |by: f64| {
                let mut there = at.to_vec();
                there[which] += by;
                value(&there)
            };
            (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
        })
        .collect();
    let row = |(a, row): (&f64, &Vec<f64>)| {
        a * row.iter().zip(&gradient).map(|(c, b)| c * b).sum::<f64>()
    };
    gradient.iter().zip(covariance).map(row).sum()
}

/// `value` of the estimates with its interval by the delta method; it is positive, and the interval is
/// symmetric in its logarithm.
pub(crate) fn positive(
    at: &[f64],
    covariance: Option<&[Vec<f64>]>,
    value: impl Fn(&[f64]) -> f64,
) -> Fitted {
    scaled(at, covariance, value, (libm::log, libm::exp))
}

/// The same of a share, whose interval is symmetric in its log-odds.
pub(crate) fn share(
    at: &[f64],
    covariance: Option<&[Vec<f64>]>,
    value: impl Fn(&[f64]) -> f64,
) -> Fitted {
    scaled(at, covariance, value, (logit, share_of))
}

/// To a scale, or back.
type Scale = fn(f64) -> f64;

fn scaled(
    at: &[f64],
    covariance: Option<&[Vec<f64>]>,
    value: impl Fn(&[f64]) -> f64,
    (scale, back): (Scale, Scale),
) -> Fitted {
    let found = value(at);
    let Some(covariance) = covariance else {
        return Fitted::bare(found);
    };
    let variance = variance(at, covariance, |at| scale(value(at)));
    if !(variance.is_finite() && variance >= 0.0) {
        return Fitted::bare(found);
    }
    let reach = normal_quantile(f64::midpoint(1.0, CONFIDENCE)) * variance.sqrt();
    if reach > WIDEST {
        return Fitted::bare(found);
    }
    let middle = scale(found);
    Fitted::within(found, (back(middle - reach), back(middle + reach)))
}

/// The log-odds of a share.
pub(crate) fn logit(share: f64) -> f64 {
    libm::log(share / (1.0 - share))
}

/// The share of log-odds.
pub(crate) fn share_of(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}

/// The quantile `q` of a distribution whose share at or below a value is `share(at, value)`, with its interval
/// by inversion (Woodruff, 1952): all values at which the share, with its own interval on the scale of
/// log-odds, may be `q`. Where the density is low, as between two parts, the quantile is no smooth function
/// of the estimates and the delta method fails; the share is one everywhere.
pub(crate) fn inverted_quantile(
    (at, covariance): (&[f64], Option<&[Vec<f64>]>),
    found: f64,
    q: f64,
    share: impl Fn(&[f64], f64) -> f64,
) -> Fitted {
    let Some(covariance) = covariance else {
        return Fitted::bare(found);
    };
    let odds = |share: f64| logit(share.clamp(1e-12, 1.0 - 1e-12));
    let z = normal_quantile(f64::midpoint(1.0, CONFIDENCE));
    // How far the share's log-odds at a value lie from those of `q`, less or more its reach.
    let beyond = |ln_value: f64, side: f64| {
        let value = libm::exp(ln_value);
        let variance = variance(at, covariance, |at| odds(share(at, value)));
        odds(share(at, value)) - odds(q) + side * z * libm::sqrt(variance.max(0.0))
    };
    let middle = libm::log(found);
    // The end of the values at which the difference has the sign that it has at the estimate.
    let end = |side: f64| {
        let is_outside = |ln_value: f64| beyond(ln_value, side) * side < 0.0;
        let (mut inside, mut step) = (middle, 1.0 / 256.0);
        // Outwards to the first that is outside: far away, where nothing was seen, all is uncertain again.
        let mut outside = loop {
            let next = middle - side * step;
            if is_outside(next) {
                break next;
            }
            if step >= WIDEST {
                return None;
            }
            (inside, step) = (next, step * 1.5);
        };
        for _ in 0..50 {
            let between = f64::midpoint(inside, outside);
            if is_outside(between) {
                outside = between;
            } else {
                inside = between;
            }
        }
        Some(libm::exp(inside))
    };
    match (end(1.0), end(-1.0)) {
        (Some(low), Some(high)) => Fitted::within(found, (low, high)),
        _ => Fitted::bare(found),
    }
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
const SCORE_STEP: f64 = 1e-3;
const WIDE_STEP: f64 = 0.02;
const SINGULAR: f64 = 1e-9;
/// An interval of a factor of e³ each way says nothing.
const WIDEST: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn share_below(value: f64, median: f64, sigma: f64) -> f64 {
        crate::stats::normal_cdf(libm::log(value / median) / sigma)
    }

    #[test]
    fn a_median_known_to_a_tenth_is_known_to_a_tenth_by_inversion_too() {
        let share = |at: &[f64], value: f64| share_below(value, libm::exp(at[0]), 0.4);
        let known = [vec![0.01]];

        let found = inverted_quantile((&[libm::log(500.0)], Some(&known)), 500.0, 0.5, share);

        assert!(
            (found.low.unwrap() / 500.0 - libm::exp(-0.196)).abs() < 0.01,
            "{found:?}"
        );
        assert!(
            (found.high.unwrap() / 500.0 - libm::exp(0.196)).abs() < 0.01,
            "{found:?}"
        );
    }

    #[test]
    fn a_quantile_between_two_parts_may_lie_in_either() {
        // Five per cent are slow, give or take a fifth of that; both parts are narrow.
        let share = |at: &[f64], value: f64| {
            let slow = 1.0 / (1.0 + libm::exp(-at[0]));
            (1.0 - slow) * share_below(value, 500.0, 0.1) + slow * share_below(value, 4_000.0, 0.1)
        };
        let known = [vec![0.04]];

        let found = inverted_quantile(
            (&[libm::log(0.05 / 0.95)], Some(&known)),
            1_500.0,
            0.95,
            share,
        );

        assert!(found.low.unwrap() < 700.0, "{found:?}");
        assert!(found.high.unwrap() > 3_300.0, "{found:?}");
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let of = vec![vec![4.0, 1.0], vec![1.0, 3.0]];
        let found = inverse(of).unwrap();

        assert!((found[0][0] - 3.0 / 11.0).abs() < 1e-12);
        assert!((found[0][1] + 1.0 / 11.0).abs() < 1e-12);
        assert!(inverse(vec![vec![1.0, 1.0], vec![1.0, 1.0]]).is_none());
    }
}
