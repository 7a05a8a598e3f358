//! The arms of a sweep side by side: estimates, differences to the reference, and an order.
//!
//! Arms are ordered by the share of good answers (of answers, without a service level) at a tenth
//! of a percentage point, and among equals by p99 latency. Differences are paired by replication.
//! A difference is called clear if Holm's correction over every arm that is compared
//! with the reference leaves it below 5 %; intervals are shown as they are, each at 95 %.

use crate::{
    metrics::{Better, Metric, metric},
    record::{RunRecord, SweepRecord},
    stats::{self, Estimate, PairedDifference},
};

/// A sweep, with everything that sentences and tables ask of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'a> {
    pub(crate) sweep: &'a SweepRecord,
    /// What arms are ordered by first.
    pub(crate) primary: &'static dyn Metric,
}

/// How an arm stands against another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Better, and clear after correction.
    Better,
    /// Worse, and clear after correction.
    Worse,
    /// Its own interval excludes zero, but the correction does not let it stand.
    Uncorrected,
    /// The interval contains zero, or there is none.
    Unclear,
}

/// An arm against another, by one metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Versus {
    pub(crate) arm: usize,
    pub(crate) paired: PairedDifference,
    pub(crate) verdict: Verdict,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(sweep: &'a SweepRecord) -> Self {
        let runs = || sweep.arms.iter().flat_map(|arm| &arm.runs);
        let is_known = |metric: &&dyn Metric| runs().any(|run| metric.value(run).is_some());
        // What those who ask see comes before what the router's own callers see.
        let primary = ["call_goodput_ratio", "call_success_ratio", "goodput_ratio"].map(named);
        let primary = primary.into_iter().find(is_known);
        let primary = primary.unwrap_or_else(|| named("success_ratio"));
        Self { sweep, primary }
    }

    pub(crate) fn runs(&self, arm: usize) -> &'a [RunRecord] {
        &self.sweep.arms[arm].runs
    }

    /// Known values of an arm's replications.
    pub(crate) fn values(&self, arm: usize, metric: &dyn Metric) -> Vec<f64> {
        self.runs(arm)
            .iter()
            .filter_map(|run| metric.value(run))
            .collect()
    }

    pub(crate) fn estimate(&self, arm: usize, metric: &dyn Metric) -> Option<Estimate> {
        stats::mean_interval(&self.values(arm, metric))
    }

    pub(crate) fn mean(&self, arm: usize, metric: &dyn Metric) -> Option<f64> {
        self.estimate(arm, metric).map(|estimate| estimate.mean)
    }

    /// `arm` minus `other` over the replications that both have.
    pub(crate) fn paired(
        &self,
        arm: usize,
        other: usize,
        metric: &dyn Metric,
    ) -> Option<PairedDifference> {
        let of_other = |run: &RunRecord| {
            let twin = self
                .runs(other)
                .iter()
                .find(|twin| twin.replication == run.replication)?;
            metric.value(twin)
        };
        let pairs = self
            .runs(arm)
            .iter()
            .filter_map(|run| metric.value(run).zip(of_other(run)));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
        stats::paired_difference(&a, &b)
    }

    /// Every other arm against `other`, with Holm's correction over all of them.
    pub(crate) fn all_versus(&self, other: usize, metric: &dyn Metric) -> Vec<Versus> {
        let paired: Vec<(usize, PairedDifference)> = (self.sweep.arms_with_runs())
            .filter(|&arm| arm != other)
            .filter_map(|arm| Some((arm, self.paired(arm, other, metric)?)))
            .collect();
        let p_values: Vec<f64> = paired
            .iter()
            .map(|(_, paired)| paired.p_value.unwrap_or(1.0))
            .collect();
        (paired.into_iter().zip(stats::holm(&p_values)))
            .map(|((arm, paired), adjusted)| Versus {
                arm,
                paired,
                verdict: verdict(&paired, adjusted, metric.better()),
            })
            .collect()
    }

    /// The metric that tells the arms apart: the primary one, unless all arms are equal in it to a
    /// tenth of a percentage point; then p99 latency.
    pub(crate) fn deciding(&self) -> &'static dyn Metric {
        let mut ranks = self
            .sweep
            .arms_with_runs()
            .map(|arm| self.primary_rank(arm));
        let first = ranks.next();
        if ranks.all(|rank| Some(rank) == first) {
            p99()
        } else {
            self.primary
        }
    }

    /// Arms with runs, best first.
    pub(crate) fn ranking(&self) -> Vec<usize> {
        let latency = |arm| self.mean(arm, p99()).unwrap_or(f64::INFINITY);
        let mut arms: Vec<usize> = self.sweep.arms_with_runs().collect();
        arms.sort_by(|&a, &b| {
            let by_primary = self.primary_rank(b).cmp(&self.primary_rank(a));
            by_primary
                .then_with(|| latency(a).total_cmp(&latency(b)))
                .then(a.cmp(&b))
        });
        arms
    }

    /// Whether two arms are the same in the primary metric to a tenth of a percentage point.
    pub(crate) fn ranks_equal(&self, arm: usize, other: usize) -> bool {
        self.primary_rank(arm) == self.primary_rank(other)
    }

    /// The primary metric in tenths of a percentage point; unknown is last.
    #[expect(clippy::cast_possible_truncation, reason = "a ratio times a thousand")]
    fn primary_rank(&self, arm: usize) -> i64 {
        self.mean(arm, self.primary)
            .map_or(-1, |mean| (mean * 1_000.0).round() as i64)
    }

    /// One more than the highest number of a replication.
    pub(crate) fn replications(&self) -> u32 {
        let runs = self.sweep.arms.iter().flat_map(|arm| &arm.runs);
        runs.map(|run| run.replication + 1).max().unwrap_or(0)
    }

    /// Runs of the arm that has fewest, of those that have any.
    pub(crate) fn fewest_runs(&self) -> usize {
        self.sweep
            .arms_with_runs()
            .map(|arm| self.runs(arm).len())
            .min()
            .unwrap_or(0)
    }
}

/// What a difference says whose p-value was corrected for many.
pub(crate) fn verdict(paired: &PairedDifference, adjusted: f64, better: Better) -> Verdict {
    match better.improves(paired.difference.mean) {
        Some(true) if adjusted < 1.0 - stats::CONFIDENCE => Verdict::Better,
        Some(false) if adjusted < 1.0 - stats::CONFIDENCE => Verdict::Worse,
        _ if paired.difference.excludes_zero() => Verdict::Uncorrected,
        _ => Verdict::Unclear,
    }
}

pub(crate) fn named(name: &'static str) -> &'static dyn Metric {
    metric(name).expect("the name is one of the table's")
}

pub(crate) fn p99() -> &'static dyn Metric {
    named("latency_p99_ms")
}
