//! Which of several deployments it was, where chance alone decides and everything after follows: a
//! handful of repeats does not show them all. Then many runs of ours say how likely each is, and what
//! was recorded must not be too unlikely a sample of that.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    shares::burst_label,
    statistics::{SIGNIFICANT, fisher},
    trace::{Played, PlayedResult, Trace},
    vector::{BurstFacts, Facts, OutcomeFacts, RequestFacts},
};

/// Many runs of a vector whose recordings differ from repeat to repeat.
pub(crate) struct Luck {
    pub(crate) runs: Vec<Trace>,
}

impl Luck {
    /// Whether a vector's recordings differ from repeat to repeat at all.
    pub(crate) fn decides(facts: &Facts) -> bool {
        facts.requests.iter().any(|request| request.varies)
            || facts
                .bursts
                .iter()
                .any(|burst| !burst.sequence_deterministic)
    }

    /// Whether the deployments that were recorded for a request may be a sample of ours.
    pub(crate) fn explains(&self, facts: &RequestFacts) -> bool {
        let mut recorded = BTreeMap::new();
        for outcome in &facts.outcomes {
            *recorded.entry(recorded_names(outcome)).or_default() += outcome.seen;
        }
        let mut own = BTreeMap::new();
        for run in &self.runs {
            *own.entry(names(&run.requests[&facts.id])).or_default() += 1;
        }
        alike(&recorded, &own)
    }

    /// Whether each repeat of a burst settled on one deployment, ours do too, and those that were
    /// recorded may be a sample of ours.
    pub(crate) fn explains_settling(&self, facts: &BurstFacts) -> bool {
        let mut recorded = BTreeMap::new();
        for tally in &facts.per_repeat {
            let mut kinds = tally.keys();
            let (Some(only), None) = (kinds.next(), kinds.next()) else {
                return false;
            };
            *recorded.entry(only.clone()).or_default() += 1;
        }
        let mut own = BTreeMap::new();
        for run in &self.runs {
            let labels: BTreeSet<_> = run.bursts[&facts.id].iter().map(burst_label).collect();
            let mut labels = labels.into_iter();
            let (Some(only), None) = (labels.next(), labels.next()) else {
                return false;
            };
            *own.entry(only).or_default() += 1;
        }
        alike(&recorded, &own)
    }
}

fn alike(recorded: &BTreeMap<String, u32>, own: &BTreeMap<String, u32>) -> bool {
    let kinds: BTreeSet<&String> = recorded.keys().chain(own.keys()).collect();
    let level = SIGNIFICANT / f64::from(u32::try_from(kinds.len().max(1)).unwrap());
    let (all, all_own) = (recorded.values().sum(), own.values().sum());
    let of = |counts: &BTreeMap<String, u32>, kind| counts.get(kind).copied().unwrap_or(0);
    kinds
        .into_iter()
        .all(|kind| fisher((of(recorded, kind), all), (of(own, kind), all_own)) >= level)
}

fn names(played: &Played) -> String {
    let served = match &played.result {
        PlayedResult::Served { by } => by.as_str(),
        PlayedResult::Failed { .. } => "",
    };
    let attempts = played.attempts.iter().map(|a| a.deployment.as_str());
    attempts.chain([served]).collect::<Vec<_>>().join(" ")
}

fn recorded_names(outcome: &OutcomeFacts) -> String {
    let served = outcome.result.served_by.as_deref().unwrap_or_default();
    let attempts = outcome.attempts.iter().map(|a| a.deployment.as_str());
    attempts.chain([served]).collect::<Vec<_>>().join(" ")
}

/// Pairs of requests (`…-1` and `…-2`) that were served by one deployment, and how many there are.
pub(crate) fn pairs_on_same(trace: &Trace) -> (u32, u32) {
    let served = |id: &str| {
        let played = trace.requests.get(id)?;
        played.attempts.last().map(|a| a.deployment.as_str())
    };
    let firsts = trace.requests.keys().filter_map(|id| id.strip_suffix("-1"));
    let pairs = firsts.filter_map(|stem| {
        let (one, two) = (format!("{stem}-1"), format!("{stem}-2"));
        Some(served(&one)? == served(&two)?)
    });
    pairs.fold((0, 0), |(same, of), is_same| {
        (same + u32::from(is_same), of + 1)
    })
}
