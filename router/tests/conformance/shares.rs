//! Bursts and batches: how many were served by whom, on which paths, after which waits.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    compare::{JITTER_MS, OVERHEAD_MS, WARM_UP_MS, count},
    luck::Luck,
    statistics::{self, SIGNIFICANT},
    trace::{Played, PlayedAttempt, PlayedResult},
    vector::{BatchFacts, BurstFacts},
};

/// A batch that is judged by counts: those of one run.
pub(crate) fn batch_differs(facts: &BatchFacts, played: &[Played]) -> Vec<String> {
    let mut found = Vec::new();
    let own = tally(played.iter().map(batch_label));
    let fits = if facts.varies {
        facts
            .per_repeat
            .iter()
            .flat_map(BTreeMap::keys)
            .chain(own.keys())
            .all(|key| {
                let counts = || {
                    facts
                        .per_repeat
                        .iter()
                        .map(|r| r.get(key).copied().unwrap_or(0))
                };
                let own = own.get(key).copied().unwrap_or(0);
                counts().min() <= Some(own) && Some(own) <= counts().max()
            })
    } else {
        facts.per_repeat.contains(&own)
    };
    if !fits {
        found.push(format!(
            "{}: {own:?} instead of {:?}",
            facts.id, facts.per_repeat[0]
        ));
    }
    let mut elapsed: Vec<(f64, usize)> = played
        .iter()
        .map(|p| (p.ended.since(p.started).as_secs_f64() * 1e3, p.waits))
        .collect();
    elapsed.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (rank, ((ms, waits), spread)) in elapsed.iter().zip(&facts.elapsed_ms_by_rank).enumerate() {
        let slack = OVERHEAD_MS + JITTER_MS * count(*waits);
        if *ms > spread.max + slack || *ms < spread.min - WARM_UP_MS - slack {
            found.push(format!(
                "{}: rank {rank} took {ms:.0} ms, recorded {:.0} to {:.0}",
                facts.id, spread.min, spread.max
            ));
        }
    }
    found
}

/// The waits of a batch, over all runs, by their distribution.
pub(crate) fn batch_waits_differ(facts: &BatchFacts, runs: &[&[Played]]) -> Vec<String> {
    let mut found = Vec::new();
    let all = || runs.iter().flat_map(|run| run.iter());
    let ms = |from: router::Instant, to: router::Instant| to.since(from).as_secs_f64() * 1e3;
    for (&number, recorded) in &facts.wait_before_attempt_ms {
        let mut waits: Vec<f64> = all()
            .filter(|p| p.attempts.len() >= number)
            .map(|p| ms(p.attempts[number - 2].ended, p.attempts[number - 1].arrived))
            .collect();
        if waits.is_empty() {
            found.push(format!("{}: no attempt {number}", facts.id));
        } else if let Some(what) = statistics::differs(recorded, &mut waits, OVERHEAD_MS) {
            found.push(format!(
                "{}: wait before attempt {number}: {what}",
                facts.id
            ));
        }
    }
    if let Some(recorded) = &facts.after_last_attempt_ms {
        let mut waits: Vec<f64> = all()
            .filter_map(|p| Some(ms(p.attempts.last()?.ended, p.ended)))
            .collect();
        if let Some(what) = statistics::differs(recorded, &mut waits, OVERHEAD_MS) {
            found.push(format!("{}: after the last attempt: {what}", facts.id));
        }
    }
    let recorded = facts
        .paths
        .iter()
        .map(|(path, n)| (without_result(path), *n));
    let own = tally(all().map(|p| without_result(&path(p)).to_owned()));
    let own = own.iter().map(|(path, n)| (path.as_str(), *n));
    found.extend(shares_differ(
        &facts.id,
        "path",
        recorded.collect(),
        own.collect(),
    ));
    found
}

pub(crate) fn burst_differs(
    facts: &BurstFacts,
    runs: &[&[Played]],
    luck: Option<&Luck>,
) -> Vec<String> {
    let mut found = Vec::new();
    if let (true, Some(sequence)) = (facts.sequence_deterministic, &facts.sequence) {
        return sequence_differs(facts, sequence, runs);
    }
    let all = || runs.iter().flat_map(|run| run.iter());
    let keys: BTreeSet<&String> = facts.per_repeat.iter().flat_map(BTreeMap::keys).collect();
    let settles = keys.iter().any(|key| {
        let of = |r: &BTreeMap<String, u32>| (r.get(*key).copied().unwrap_or(0), r.values().sum());
        statistics::over_dispersed(&facts.per_repeat.iter().map(of).collect::<Vec<_>>())
    });
    if settles && luck.is_some_and(|luck| luck.explains_settling(facts)) {
        return found;
    }
    if settles {
        // Each repeat settled on something of its own: ours must lie among them.
        for run in runs {
            let own = tally(run.iter().map(burst_label));
            let slack = u32::try_from(run.len()).unwrap() / 5;
            for key in keys.iter().copied().chain(own.keys()) {
                let counts = || {
                    facts
                        .per_repeat
                        .iter()
                        .map(|r| r.get(key).copied().unwrap_or(0))
                };
                let least = counts().min().unwrap_or(0).saturating_sub(slack);
                let most = counts().max().unwrap_or(0) + slack;
                let n = own.get(key).copied().unwrap_or(0);
                if !(least..=most).contains(&n) {
                    found.push(format!(
                        "{}: {n} by {key}, recorded {least} to {most}",
                        facts.id
                    ));
                }
            }
        }
        return found;
    }
    let mut recorded: BTreeMap<&str, u32> = BTreeMap::new();
    for (key, n) in facts.per_repeat.iter().flatten() {
        *recorded.entry(key).or_default() += n;
    }
    let own = tally(all().map(burst_label));
    let own = own.iter().map(|(label, n)| (label.as_str(), *n)).collect();
    found.extend(shares_differ(&facts.id, "answer", recorded, own));
    let recorded = facts
        .paths
        .iter()
        .map(|(path, n)| (path.as_str(), *n))
        .collect();
    let own = tally(all().map(path));
    let own = own.iter().map(|(path, n)| (path.as_str(), *n)).collect();
    found.extend(shares_differ(&facts.id, "path", recorded, own));
    found
}

/// A sequence that was the same in every repeat: each run serves as many by each, and enough of them
/// in the same order that all repeats could have shown it.
fn sequence_differs(facts: &BurstFacts, sequence: &[String], runs: &[&[Played]]) -> Vec<String> {
    let own: Vec<Vec<String>> = runs
        .iter()
        .map(|run| run.iter().map(burst_label).collect())
        .collect();
    let as_recorded = own.iter().filter(|run| *run == sequence).count();
    let share = count(as_recorded) / count(runs.len());
    let repeats = count(facts.per_repeat.len());
    let likely = libm::pow(share, repeats) >= SIGNIFICANT;
    let same_tally =
        |run: &&Vec<String>| tally(run.iter().cloned()) == tally(sequence.iter().cloned());
    let differing = own
        .iter()
        .filter(|run| !(likely && same_tally(run)) && *run != sequence);
    differing
        .map(|run| format!("{}: served by {run:?} instead of {sequence:?}", facts.id))
        .collect()
}

/// Kinds whose shares differ more than chance explains: by the chi-square test over all of them
/// together, or where one of them is too rare for that, by Fisher's exact test of each.
fn shares_differ(
    id: &str,
    what: &str,
    recorded: BTreeMap<&str, u32>,
    own: BTreeMap<&str, u32>,
) -> Vec<String> {
    let kinds: BTreeSet<&str> = recorded.keys().chain(own.keys()).copied().collect();
    let of = |counts: &BTreeMap<&str, u32>, kind| counts.get(kind).copied().unwrap_or(0);
    let pairs: Vec<_> = kinds
        .iter()
        .map(|kind| (of(&recorded, kind), of(&own, kind)))
        .collect();
    if let Some(chance) = statistics::chi_square(&pairs) {
        let same = chance >= SIGNIFICANT;
        let told = || format!("{id}: {what} {own:?}, recorded {recorded:?}: chance {chance:.1e}");
        return (!same).then(told).into_iter().collect();
    }
    let level = SIGNIFICANT / count(kinds.len().max(1));
    let (all, all_own) = (recorded.values().sum(), own.values().sum());
    let differs = |kind: &str| {
        let theirs = recorded.get(kind).copied().unwrap_or(0);
        let ours = own.get(kind).copied().unwrap_or(0);
        let same = statistics::fisher((theirs, all), (ours, all_own)) >= level;
        (!same)
            .then(|| format!("{id}: {what} {kind} {ours} of {all_own}, recorded {theirs} of {all}"))
    };
    kinds.into_iter().filter_map(differs).collect()
}

pub(crate) fn path(played: &Played) -> String {
    let attempts = match played.attempts.is_empty() {
        true => "no upstream call".to_owned(),
        false => {
            let one = |a: &PlayedAttempt| format!("{}:{}", a.deployment, a.status);
            played
                .attempts
                .iter()
                .map(one)
                .collect::<Vec<_>>()
                .join(">")
        }
    };
    match &played.result {
        PlayedResult::Served { .. } => attempts,
        PlayedResult::Failed { .. } => format!("{attempts} -> {}", failure(played)),
    }
}

fn without_result(path: &str) -> &str {
    path.split(" -> ").next().unwrap_or(path)
}

fn failure(played: &Played) -> String {
    match &played.result {
        PlayedResult::Served { .. } => String::new(),
        PlayedResult::Failed {
            exception, status, ..
        } => {
            let status = status.map_or("None".to_owned(), |s| s.to_string());
            format!("{exception}/{status}")
        }
    }
}

pub(crate) fn burst_label(played: &Played) -> String {
    match &played.result {
        PlayedResult::Served { by } => by.clone(),
        PlayedResult::Failed { .. } => format!("!{}", failure(played)),
    }
}

fn batch_label(played: &Played) -> String {
    match &played.result {
        PlayedResult::Served { by } => format!("ok:{by}"),
        PlayedResult::Failed { .. } => format!("!{}", failure(played)),
    }
}

fn tally(labels: impl Iterator<Item = String>) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_default() += 1;
    }
    counts
}
