//! Lengths of time that are log-normal, of which some were under way when the log ended.

use serde::Serialize;

use super::{Fitted, gamma::cdf_of_mean_one, log_normal::density};
use crate::stats::{CONFIDENCE, mean, normal_cdf, size, student_t_quantile, variance};

/// How long something lasts, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Lasting {
    /// Lengths that were seen from their beginning to their end.
    pub n: usize,
    /// Median.
    pub median_s: Fitted,
    /// Deviation of the logarithm.
    pub sigma: Fitted,
    /// Mean.
    pub mean_s: Fitted,
    /// Coefficient of variation.
    pub cv: Fitted,
}

impl Lasting {
    /// Fits lengths that are whole, and some that are at least so long; `None` with fewer than `FEWEST` whole
    /// ones, or if all are the same. All are above 0.
    ///
    /// By maximum likelihood, what is missing of a length being filled in by its mean (EM); the variance then by
    /// n − 1. n counts a length that was cut off by the information that it has on the mean. Student's t for the
    /// mean of the logarithm and, with its variance σ²/n + σ⁴/2(n − 1), for that of the mean length (D. R. Cox's
    /// method); χ² for σ.
    pub(crate) fn of(whole: &[f64], cut_off: &[f64]) -> Option<Self> {
        if whole.len() < FEWEST {
            return None;
        }
        let known: Vec<f64> = whole.iter().map(|s| libm::log(*s)).collect();
        let beyond: Vec<f64> = cut_off.iter().map(|s| libm::log(*s)).collect();
        let (mut mu, mut sigma) = (mean(&known), variance(&known).sqrt());
        if sigma <= 0.0 {
            return None;
        }
        let all = size(known.len() + beyond.len());
        for _ in 0..ROUNDS {
            let filled = beyond.iter().map(|ln| {
                let (from, hazard) = above((ln - mu) / sigma);
                let square = 2.0 * mu * sigma * hazard + sigma * sigma * (1.0 + from * hazard);
                (mu + sigma * hazard, mu * mu + square)
            });
            let sums = filled
                .chain(known.iter().map(|ln| (*ln, ln * ln)))
                .fold((0.0, 0.0), |sums, one| (sums.0 + one.0, sums.1 + one.1));
            mu = sums.0 / all;
            sigma = (sums.1 / all - mu * mu).max(0.0).sqrt();
        }
        let informs = |ln: &f64| {
            let (from, hazard) = above((ln - mu) / sigma);
            hazard * (hazard - from)
        };
        let n = size(known.len()) + beyond.iter().map(informs).sum::<f64>();
        let (degrees, sigma) = (n - 1.0, sigma * (n / (n - 1.0)).sqrt());
        let squared = sigma * sigma;
        let t = student_t_quantile(f64::midpoint(1.0, CONFIDENCE), degrees);
        let around = |ln: f64, variance: f64| {
            let reach = t * variance.sqrt();
            Fitted::within(
                libm::exp(ln),
                (libm::exp(ln - reach), libm::exp(ln + reach)),
            )
        };
        let of_sigma = |share: f64| sigma / chi_square_share(degrees, share).sqrt();
        let ends = (
            of_sigma(f64::midpoint(1.0, CONFIDENCE)),
            of_sigma((1.0 - CONFIDENCE) / 2.0),
        );
        let cv = |sigma: f64| libm::expm1(sigma * sigma).sqrt();
        Some(Self {
            n: whole.len(),
            median_s: around(mu, squared / n),
            sigma: Fitted::within(sigma, ends),
            mean_s: around(
                mu + squared / 2.0,
                squared / n + squared * squared / (2.0 * degrees),
            ),
            cv: Fitted::within(cv(sigma), (cv(ends.0), cv(ends.1))),
        })
    }
}

/// How far above a normal number lies on average that is above `from`; with `from` itself.
fn above(from: f64) -> (f64, f64) {
    (from, density(from) / normal_cdf(-from).max(1e-300))
}

/// The χ² of so many degrees of freedom, by its degrees, that the share `share` lies below; found by halving.
fn chi_square_share(degrees: f64, share: f64) -> f64 {
    let (mut low, mut high) = (-20.0, 5.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match cdf_of_mean_one(degrees / 2.0, libm::exp(middle)) < share {
            true => low = middle,
            false => high = middle,
        }
    }
    libm::exp(f64::midpoint(low, high))
}

/// Fewer lengths are told one by one and not fitted.
pub(crate) const FEWEST: usize = 5;
const ROUNDS: usize = 200;

#[cfg(test)]
mod tests {
    use router::{KeyedRng, Purpose, Seed};

    use super::*;
    use crate::stats::normal_quantile;

    const TEST: Purpose = Purpose::named("test.lasting");

    /// Lengths of median 600 and sigma 0.5 one after the other, as a log of two hours sees them.
    fn seen(study: u64) -> (Vec<f64>, Vec<f64>) {
        let (mut whole, mut left) = (Vec::new(), 7_200.0);
        for n in 0.. {
            let luck = KeyedRng::new(Seed(study), TEST, n, 0).unit();
            let lasts = 600.0 * libm::exp(0.5 * normal_quantile(luck.clamp(1e-12, 1.0 - 1e-12)));
            if lasts > left {
                break;
            }
            whole.push(lasts);
            left -= lasts;
        }
        (whole, vec![left])
    }

    #[test]
    fn intervals_hold_the_truth_in_95_of_100_logs_of_ten_lengths() {
        let fits: Vec<Lasting> = (0..600)
            .filter_map(|study| {
                let (whole, cut_off) = seen(study);
                Lasting::of(&whole, &cut_off)
            })
            .collect();
        assert!(fits.len() > 590, "{}", fits.len());
        let holds = |name: &str, held: usize| {
            let held = size(held) / size(fits.len());
            // Three standard errors of a share of 600.
            assert!((held - 0.95).abs() < 0.027, "{name}: {held}");
        };
        let count = |of: fn(&Lasting) -> Fitted, truth: f64| {
            let held = fits.iter().filter(|fit| of(fit).holds(truth));
            held.count()
        };
        holds("median", count(|fit| fit.median_s, 600.0));
        holds("sigma", count(|fit| fit.sigma, 0.5));
        holds("mean", count(|fit| fit.mean_s, 600.0 * libm::exp(0.125)));
        holds("variation", count(|fit| fit.cv, libm::expm1(0.25).sqrt()));
    }

    #[test]
    fn few_lengths_and_equal_ones_are_not_fitted() {
        assert_eq!(Lasting::of(&[60.0, 70.0, 80.0, 90.0], &[100.0]), None);
        assert_eq!(Lasting::of(&[60.0; 9], &[]), None);
    }

    /// Published points of χ²: 2.700 and 19.023 for nine degrees of freedom.
    #[test]
    fn chi_square_has_its_published_points() {
        assert!((9.0 * chi_square_share(9.0, 0.025) - 2.700).abs() < 5e-4);
        assert!((9.0 * chi_square_share(9.0, 0.975) - 19.023).abs() < 5e-4);
    }
}
