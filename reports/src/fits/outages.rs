//! Times in which nearly everything failed.
//!
//! Each failure counts +1 and each answer −3, so a stretch in which more than three quarters fail climbs.
//! A stretch is an outage if its climb is one that the usual share of failures would not make by chance in
//! a log of that length (a chance of about e⁻¹² by the gambler's-ruin bound p^climb), if four fifths of
//! it failed, and if it lasted ten seconds. Shorter ones are bursts.

use serde::Serialize;

use super::Fitted;
use crate::stats::{mean, size, student_t_quantile, variance};

/// An attempt as it ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tried {
    /// When it began, in seconds.
    pub at_s: f64,
    /// Whether it failed.
    pub failed: bool,
}

/// A time in which nearly everything failed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct OutageFit {
    /// The first failure, and the last answer before it: it began between.
    pub from_s: Fitted,
    /// The last failure, and the first answer after it: it ended between.
    pub to_s: Fitted,
    /// Share of attempts that failed.
    pub severity: f64,
    /// Attempts in it.
    pub attempts: usize,
}

/// Every outage among these attempts, in order of their beginning.
#[must_use]
pub fn outages(tried: &[Tried]) -> Vec<OutageFit> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    // The usual share of failures is that outside of outages: once more, now that they are known.
    for _ in 0..2 {
        let outside = |at: &usize| !found.iter().any(|(from, to)| (*from..=*to).contains(at));
        let calm: Vec<usize> = (0..tried.len()).filter(outside).collect();
        let failed = calm.iter().filter(|at| tried[**at].failed).count();
        let usual = ((size(failed) + 1.0) / (size(calm.len()) + 2.0)).min(0.5);
        let needed = (libm::log(size(tried.len().max(1))) + 12.0) / -libm::log(usual);
        found = climbs(tried, needed.max(FEWEST_FAILURES));
        found.retain(|span| is_outage(tried, *span));
    }
    found.into_iter().map(|span| told(tried, span)).collect()
}

/// Stretches that climb by `needed` or more, from their first failure to the top of the climb.
fn climbs(tried: &[Tried], needed: f64) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut height, mut from, mut top) = (0.0, 0, (0.0, 0));
    for (at, one) in tried.iter().enumerate() {
        if height <= 0.0 {
            (height, from, top) = (0.0, at, (0.0, at));
        }
        height += if one.failed { 1.0 } else { -3.0 };
        if height > top.0 {
            top = (height, at);
        }
        let is_over = height <= 0.0 || height < top.0 - needed || at + 1 == tried.len();
        if is_over && top.0 >= needed {
            found.push((from, top.1));
            height = 0.0;
            top = (0.0, at);
        }
    }
    found
}

fn is_outage(tried: &[Tried], (from, to): (usize, usize)) -> bool {
    tried[to].at_s - tried[from].at_s >= SHORTEST_S && severity(tried, (from, to)) >= LEAST_SEVERITY
}

fn severity(tried: &[Tried], (from, to): (usize, usize)) -> f64 {
    let within = &tried[from..=to];
    size(within.iter().filter(|one| one.failed).count()) / size(within.len())
}

fn told(tried: &[Tried], (from, to): (usize, usize)) -> OutageFit {
    let before = from.checked_sub(1).map(|at| tried[at].at_s);
    let after = tried.get(to + 1).map(|one| one.at_s);
    OutageFit {
        from_s: Fitted {
            value: tried[from].at_s,
            low: before,
            high: Some(tried[from].at_s),
        },
        to_s: Fitted {
            value: tried[to].at_s,
            low: Some(tried[to].at_s),
            high: after,
        },
        severity: severity(tried, (from, to)),
        attempts: to - from + 1,
    }
}

impl OutageFit {
    /// Median in seconds and sigma of the log-normal distribution of their lengths; `None` with fewer
    /// than five whose beginning and end are both in the log.
    #[must_use]
    pub fn durations(outages: &[Self]) -> Option<(Fitted, Fitted)> {
        let whole = |o: &&Self| o.from_s.low.is_some() && o.to_s.high.is_some();
        let length = |o: &Self| libm::log(o.to_s.value - o.from_s.value);
        let logs: Vec<f64> = outages.iter().filter(whole).map(length).collect();
        if logs.len() < FEWEST_DURATIONS {
            return None;
        }
        let n = size(logs.len());
        let (centre, sigma) = (mean(&logs), variance(&logs).sqrt());
        let t = student_t_quantile(0.975, n - 1.0);
        let reach = t * sigma / n.sqrt();
        let of_sigma = t / (2.0 * (n - 1.0)).sqrt();
        let median = Fitted::within(
            libm::exp(centre),
            (libm::exp(centre - reach), libm::exp(centre + reach)),
        );
        let interval = (sigma * libm::exp(-of_sigma), sigma * libm::exp(of_sigma));
        Some((median, Fitted::within(sigma, interval)))
    }
}

const FEWEST_FAILURES: f64 = 5.0;
const SHORTEST_S: f64 = 10.0;
const LEAST_SEVERITY: f64 = 0.8;
const FEWEST_DURATIONS: usize = 5;

#[cfg(test)]
mod tests {
    use router::{KeyedRng, Purpose, Seed};

    use super::*;

    const TEST: Purpose = Purpose::named("test.outages");

    fn log(share: f64, down: &[(f64, f64)]) -> Vec<Tried> {
        let one = |n: u64| {
            let at_s = size(usize::try_from(n).unwrap()) * 0.5;
            let is_down = down.iter().any(|(from, to)| (*from..*to).contains(&at_s));
            let luck = KeyedRng::new(Seed(3), TEST, n, 0).unit();
            Tried {
                at_s,
                failed: is_down || luck < share,
            }
        };
        (0..20_000).map(one).collect()
    }

    #[test]
    fn outages_are_found_where_they_were_and_nowhere_else() {
        let down = [(1_000.0, 1_120.0), (5_000.0, 5_600.0)];
        for share in [0.0, 0.02, 0.2] {
            let found = outages(&log(share, &down));

            assert_eq!(found.len(), 2, "{share}: {found:?}");
            for (outage, (from, to)) in found.iter().zip(down) {
                assert!((outage.from_s.value - from).abs() < 6.0, "{outage:?}");
                assert!((outage.to_s.value - to).abs() < 6.0, "{outage:?}");
                assert!(outage.severity > 0.95);
            }
            assert_eq!(outages(&log(share, &[])), []);
        }
    }

    #[test]
    fn half_of_all_failing_is_no_outage() {
        assert_eq!(outages(&log(0.5, &[])), []);
    }

    #[test]
    fn an_outage_that_was_under_way_has_no_beginning() {
        let found = outages(&log(0.0, &[(0.0, 60.0)]));

        assert_eq!(found.len(), 1);
        assert_eq!(found[0].from_s.low, None);
        assert_eq!(OutageFit::durations(&found), None);
    }
}
