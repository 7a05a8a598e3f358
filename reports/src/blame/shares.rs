//! Blame shares over replications: parts of the requests without an answer, and of all requests.

use super::Blame;
use crate::{
    distribution::as_f64,
    record::RunRecord,
    stats::{Estimate, ratio},
};

/// One blame over the replications of an arm.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlameShare {
    /// The blame.
    pub blame: Blame,
    /// Its part of the requests without an answer; the shares of an arm add up to 1.
    pub of_unanswered: Estimate,
    /// Its part of all requests that arrived.
    pub of_all: Estimate,
}

/// Each blame that any of these runs met, largest first. Empty if every request was answered.
///
/// A share is Σ count / Σ requests without an answer over the replications, its interval that of the
/// jackknife for ratios. It has none where only one replication had such a request.
#[must_use]
pub fn blame_shares(runs: &[RunRecord]) -> Vec<BlameShare> {
    let unanswered = |run: &RunRecord| as_f64(run.failed + run.cancelled);
    let of = |blame: Blame| {
        let count = |run: &RunRecord| {
            let found = run.blames.iter().find(|one| one.blame == blame);
            as_f64(found.map_or(0, |one| one.count))
        };
        let share = |whole: &dyn Fn(&RunRecord) -> f64| {
            let pairs: Vec<_> = runs.iter().map(|run| (count(run), whole(run))).collect();
            pooled(&pairs)
        };
        let of_unanswered = share(&unanswered)?;
        let of_all = share(&|run| as_f64(run.requests))?;
        (of_unanswered.mean > 0.0).then_some(BlameShare {
            blame,
            of_unanswered,
            of_all,
        })
    };
    let mut shares: Vec<_> = Blame::ALL.into_iter().filter_map(of).collect();
    shares.sort_by(|a, b| b.of_unanswered.mean.total_cmp(&a.of_unanswered.mean));
    shares
}

/// Σy / Σx, which keeps shares adding up, with the jackknife's interval.
fn pooled(pairs: &[(f64, f64)]) -> Option<Estimate> {
    let (y, x) = (pairs.iter()).fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    (x > 0.0).then(|| Estimate {
        mean: y / x,
        half_width: ratio(pairs).and_then(|estimate| estimate.half_width),
        n: pairs.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::BlameCount;

    fn run(counts: &[(Blame, u64)]) -> RunRecord {
        RunRecord {
            requests: 1_000,
            failed: counts.iter().map(|one| one.1).sum(),
            blames: (counts.iter())
                .map(|&(blame, count)| BlameCount { blame, count })
                .collect(),
            ..RunRecord::default()
        }
    }

    #[test]
    fn shares_are_pooled_over_replications_and_add_up() {
        let runs = [
            run(&[(Blame::Outage, 30), (Blame::Timeout, 10)]),
            run(&[(Blame::Timeout, 20)]),
            run(&[(Blame::Outage, 40)]),
        ];

        let shares = blame_shares(&runs);

        assert_eq!(shares[0].blame, Blame::Outage);
        assert!((shares[0].of_unanswered.mean - 0.7).abs() < 1e-12);
        assert!((shares[0].of_all.mean - 0.07 / 3.0).abs() < 1e-12);
        let sum: f64 = shares.iter().map(|share| share.of_unanswered.mean).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert!(
            shares
                .iter()
                .all(|share| share.of_unanswered.half_width.is_some())
        );
    }

    #[test]
    fn one_run_has_no_interval_and_none_that_failed_no_shares() {
        let one = blame_shares(&[run(&[(Blame::OwnQuota, 3)])]);

        assert_eq!(one.len(), 1);
        assert_eq!(one[0].of_unanswered.half_width, None);
        assert_eq!(blame_shares(&[run(&[])]), []);
    }
}
