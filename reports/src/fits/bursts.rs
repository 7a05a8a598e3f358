//! Errors that come in bursts: the two-state process of Gilbert (1960) and Elliott (1963) in continuous
//! time, by the likelihood of a hidden Markov chain.
//!
//! With a and c the rates of leaving the good and the bad time, the chance of being in a bad time d seconds
//! after one is p + (1 − p)·e^(−(a + c)·d), p = a ÷ (a + c). The filter multiplies these chances with the
//! share of errors of either state. It is taken against independent errors if the BIC says so.

use serde::Serialize;

use super::{
    Fitted, Tried,
    information::{from_curvature, logit, share_of},
    simplex::smallest,
};
use crate::stats::size;

/// Good and bad times with their shares of errors.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct BurstFit {
    /// Mean length of a good time, in seconds.
    pub good_mean_s: Fitted,
    /// Mean length of a bad time, in seconds.
    pub bad_mean_s: Fitted,
    /// Share of attempts that fail in good times.
    pub good_error_share: Fitted,
    /// Share of attempts that fail in bad times.
    pub bad_error_share: Fitted,
}

impl BurstFit {
    /// Fits attempts in order of time; `None` if independent errors explain them as well, or if there
    /// are fewer than `FEWEST_ERRORS` errors.
    #[must_use]
    pub fn of(tried: &[Tried]) -> Option<Self> {
        let step = tried.len().div_ceil(MOST);
        let rows: Vec<Tried> = tried.iter().copied().step_by(step.max(1)).collect();
        let failed = size(rows.iter().filter(|row| row.failed).count());
        let n = size(rows.len());
        if failed < FEWEST_ERRORS || failed > n - FEWEST_ERRORS {
            return None;
        }
        let share = failed / n;
        let alone = failed * libm::log(share) + (n - failed) * libm::log(1.0 - share);
        let pace_s = (rows[rows.len() - 1].at_s - rows[0].at_s) / n;
        let cost = |at: &[f64]| -ln_likelihood(&rows, at);
        let starts = [10.0, 100.0].map(|attempts| {
            let bad_s = attempts * pace_s;
            let at = [bad_s * 10.0, bad_s].map(libm::log);
            [
                at[0],
                at[1],
                logit((share * 0.3).max(1e-5)),
                logit((share * 5.0).clamp(0.2, 0.8)),
            ]
        });
        let found = starts
            .into_iter()
            .map(|start| smallest(&start, 0.5, MOST_CALLS, cost));
        let (at, best) = found.reduce(|a, b| if b.1 < a.1 { b } else { a })?;
        if -best - alone < 1.5 * libm::log(n) {
            return None;
        }
        // The bad state is the one with more errors.
        let at = match at[3] >= at[2] {
            true => at,
            false => vec![at[1], at[0], at[3], at[2]],
        };
        if libm::exp(at[1]) < 2.0 * pace_s {
            return None;
        }
        let spread = from_curvature(&at, cost);
        let told = |which: usize, of: fn(f64) -> f64| {
            let error = spread
                .as_ref()
                .map(|spread| spread[which][which].max(0.0).sqrt());
            match error.filter(|error| error.is_finite() && *error < WIDEST) {
                Some(error) => Fitted::within(
                    of(at[which]),
                    (of(at[which] - Z_95 * error), of(at[which] + Z_95 * error)),
                ),
                None => Fitted::bare(of(at[which])),
            }
        };
        Some(Self {
            good_mean_s: told(0, libm::exp),
            bad_mean_s: told(1, libm::exp),
            good_error_share: told(2, share_of),
            bad_error_share: told(3, share_of),
        })
    }
}

/// The filter's likelihood at logarithms of the mean lengths and log-odds of the shares.
fn ln_likelihood(rows: &[Tried], at: &[f64]) -> f64 {
    let (to_bad, to_good) = (libm::exp(-at[0]), libm::exp(-at[1]));
    let (good, bad) = (share_of(at[2]), share_of(at[3]));
    let usual = to_bad / (to_bad + to_good);
    let mut is_bad = usual;
    let mut before = rows[0].at_s;
    let mut sum = 0.0;
    for row in rows {
        let kept = libm::exp(-(to_bad + to_good) * (row.at_s - before));
        before = row.at_s;
        is_bad = usual + (is_bad - usual) * kept;
        let (in_good, in_bad) = match row.failed {
            true => (good, bad),
            false => (1.0 - good, 1.0 - bad),
        };
        let chance = ((1.0 - is_bad) * in_good + is_bad * in_bad).max(1e-300);
        sum += libm::log(chance);
        is_bad = is_bad * in_bad / chance;
    }
    sum
}

/// Fewer errors show no bursts.
pub(crate) const FEWEST_ERRORS: f64 = 20.0;
/// Attempts that take part; longer logs are thinned out evenly, which leaves the process as it is.
const MOST: usize = 20_000;
const MOST_CALLS: usize = 300;
const WIDEST: f64 = 1.5;
const Z_95: f64 = 1.959_963_984_540_054;

#[cfg(test)]
mod tests {
    use router::{KeyedRng, Purpose, Seed};

    use super::*;

    const TEST: Purpose = Purpose::named("test.bursts");

    /// One attempt each half second; bad times of 40 s on average, good ones of 400 s.
    fn log(shares: (f64, f64)) -> Vec<Tried> {
        let mut rng = KeyedRng::new(Seed(5), TEST, 0, 0);
        let (mut is_bad, mut until) = (false, 0.0);
        (0..20_000_u32)
            .map(|n| {
                let at_s = f64::from(n) * 0.5;
                while at_s >= until {
                    is_bad = !is_bad;
                    let mean = if is_bad { 40.0 } else { 400.0 };
                    until += -libm::log(1.0 - rng.unit()) * mean;
                }
                let share = if is_bad { shares.1 } else { shares.0 };
                Tried {
                    at_s,
                    failed: rng.unit() < share,
                }
            })
            .collect()
    }

    #[test]
    fn bursts_are_given_back_within_their_intervals() {
        let fit = BurstFit::of(&log((0.01, 0.4))).unwrap();

        assert!(fit.good_error_share.holds(0.01), "{fit:?}");
        assert!(fit.bad_error_share.holds(0.4), "{fit:?}");
        assert!(fit.bad_mean_s.holds(40.0), "{fit:?}");
        assert!(fit.good_mean_s.holds(400.0), "{fit:?}");
    }

    #[test]
    fn independent_errors_are_no_bursts() {
        assert_eq!(BurstFit::of(&log((0.05, 0.05))), None);
        assert_eq!(BurstFit::of(&log((0.0, 0.0))), None);
    }
}
