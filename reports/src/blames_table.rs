//! The table of blames that console, Markdown and page share: a row for each blame of an arm.

use crate::{
    blame::{BlameShare, blame_shares},
    comparison::Comparison,
    metrics::Unit,
    record::SweepRecord,
};

/// The shares of the best arm and of the reference, where requests failed.
#[derive(Debug)]
pub(crate) struct BlamesTable {
    /// Label and shares, best arm first.
    pub(crate) arms: Vec<(String, Vec<BlameShare>)>,
    with_arm: bool,
}

impl BlamesTable {
    /// `None` where every request of these arms was answered.
    pub(crate) fn new(sweep: &SweepRecord) -> Option<Self> {
        let best = Comparison::new(sweep).ranking().first().copied();
        let mut places: Vec<usize> = best.into_iter().chain([sweep.reference]).collect();
        places.dedup();
        let arms = places.iter().filter_map(|&place| {
            let arm = sweep.arms.get(place)?;
            let shares = blame_shares(&arm.runs);
            (!shares.is_empty()).then(|| (arm.label(), shares))
        });
        let arms: Vec<_> = arms.collect();
        (!arms.is_empty()).then_some(Self {
            arms,
            with_arm: sweep.arms.len() > 1,
        })
    }

    pub(crate) fn titles(&self) -> Vec<String> {
        let arm = self.with_arm.then_some("Arm");
        let titles = ["Blame", "Of those without an answer", "Of all requests"];
        arm.into_iter().chain(titles).map(str::to_owned).collect()
    }

    /// As long as the titles.
    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for (label, shares) in &self.arms {
            for share in shares {
                let arm = self.with_arm.then(|| label.clone());
                let cells = [
                    share.blame.title().to_owned(),
                    Unit::Ratio.show_estimate(&share.of_unanswered),
                    Unit::Ratio.show_estimate(&share.of_all),
                ];
                rows.push(arm.into_iter().chain(cells).collect());
            }
        }
        rows
    }

    /// The share of those without an answer, row by row, for bars.
    pub(crate) fn shares(&self) -> impl Iterator<Item = f64> {
        let all = self.arms.iter().flat_map(|(_, shares)| shares);
        all.map(|share| share.of_unanswered.mean)
    }
}
