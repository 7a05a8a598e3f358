//! What differs between recorded facts and what was played, by the rules of `vectors/README.md`:
//! paths, results and benched sets exactly (one of the listed where they varied), waits within the
//! recorder's overhead, shares and jittered waits by their distribution.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    play::{Played, PlayedResult, Trace},
    statistics::{self, SIGNIFICANT},
    vector::{
        BatchFacts, BenchFacts, Benched, BurstFacts, Facts, OutcomeFacts, RequestFacts, Spread,
        Vector, text,
    },
};

/// Every difference, in words; empty if there is none.
pub(crate) fn differences(vector: &Vector, facts: &Facts, traces: &[Trace]) -> Vec<String> {
    let symmetric = !vector.symmetric.is_empty();
    let mut found = BTreeSet::new();
    for trace in traces {
        for request in &facts.requests {
            let played = &trace.requests[&request.id];
            found.extend(request_differs(request, played, symmetric));
        }
        for query in &facts.queries {
            let recorded: Vec<String> = query
                .value
                .as_array()
                .into_iter()
                .flatten()
                .map(text)
                .collect();
            if recorded != trace.queries[&query.id] {
                found.insert(format!("{}: {:?}", query.id, trace.queries[&query.id]));
            }
        }
        for (recorded, (after, played)) in facts.cooldowns.iter().flatten().zip(&trace.benched) {
            assert_eq!(
                &recorded.after, after,
                "benched sets are read after the same steps"
            );
            found.extend(bench_differs(recorded, played, symmetric));
        }
        for batch in &facts.batches {
            found.extend(batch_differs(batch, &trace.batches[&batch.id]));
        }
        found.extend(at_once_differs(facts, trace));
    }
    for burst in &facts.bursts {
        let runs: Vec<&[Played]> = traces
            .iter()
            .map(|t| t.bursts[&burst.id].as_slice())
            .collect();
        found.extend(burst_differs(burst, &runs));
    }
    for batch in &facts.batches {
        let runs: Vec<&[Played]> = traces
            .iter()
            .map(|t| t.batches[&batch.id].as_slice())
            .collect();
        found.extend(batch_waits_differ(batch, &runs));
    }
    found.into_iter().collect()
}

fn request_differs(facts: &RequestFacts, played: &Played, symmetric: bool) -> Option<String> {
    let exactly = |o: &&OutcomeFacts| same_outcome(o, played, true);
    // Of equal deployments any may be used; a handful of repeats does not show them all.
    let in_shape = |o: &&OutcomeFacts| facts.varies && symmetric && same_outcome(o, played, false);
    let matching: Vec<_> = facts
        .outcomes
        .iter()
        .filter(|o| exactly(o) || in_shape(o))
        .collect();
    if matching.is_empty() {
        let listed: Vec<_> = facts.outcomes.iter().map(describe).collect();
        return Some(format!(
            "{}: {} instead of {}",
            facts.id,
            describe_played(played),
            listed.join(" or ")
        ));
    }
    let timing: Vec<_> = matching
        .iter()
        .filter_map(|o| times_differ(o, played))
        .collect();
    (timing.len() == matching.len()).then(|| format!("{}: {}", facts.id, timing[0]))
}

fn same_outcome(facts: &OutcomeFacts, played: &Played, names: bool) -> bool {
    let same_attempts = facts.attempts.len() == played.attempts.len()
        && facts
            .attempts
            .iter()
            .zip(&played.attempts)
            .all(|(recorded, own)| {
                recorded.status() == own.status && (!names || recorded.deployment == own.deployment)
            });
    let same_result = match &played.result {
        PlayedResult::Served { by } => {
            facts.result.ok && (!names || facts.result.served_by.as_ref() == Some(by))
        }
        PlayedResult::Failed {
            exception,
            status,
            try_again_in,
        } => {
            let try_again = facts.result.message.try_again_in_seconds;
            !facts.result.ok
                && facts.result.exception.as_deref() == Some(*exception)
                && facts.result.status == *status
                && (try_again == try_again_in.map(|t| t.as_secs_f64()) || try_again.is_none())
        }
    };
    let retried = facts.result.message.retried;
    let same_refused = played.refused == 0 || retried.unwrap_or(0) + 1 == played.refused;
    same_attempts && same_result && same_refused
}

/// What of the waits and the whole time does not fit.
fn times_differ(facts: &OutcomeFacts, played: &Played) -> Option<String> {
    let ms = |from: router::Instant, to: router::Instant| to.since(from).as_secs_f64() * 1e3;
    for (i, (recorded, own)) in facts.attempts.iter().zip(&played.attempts).enumerate() {
        let (name, wait, spread) = match (i, &recorded.wait_before_ms) {
            (0, _) => (
                "first attempt after",
                ms(played.started, own.arrived),
                recorded.start_ms,
            ),
            (_, Some(spread)) => {
                let before = played.attempts[i - 1].ended;
                ("wait before an attempt", ms(before, own.arrived), *spread)
            }
            (_, None) => continue,
        };
        if !fits(wait, spread) {
            return Some(format!(
                "{name} {wait:.0} ms, recorded {:.0} to {:.0}",
                spread.min, spread.max
            ));
        }
    }
    if let (Some(spread), Some(last)) = (facts.after_last_attempt_ms, played.attempts.last()) {
        let wait = ms(last.ended, played.ended);
        if !fits(wait, spread) {
            return Some(format!(
                "after the last attempt {wait:.0} ms, recorded {:.0} to {:.0}",
                spread.min, spread.max
            ));
        }
    }
    let elapsed = ms(played.started, played.ended);
    let jitter = JITTER_MS * count(played.waits);
    let spread = facts.elapsed_ms;
    if elapsed > spread.max + OVERHEAD_MS + jitter || elapsed < spread.min - WARM_UP_MS - jitter {
        return Some(format!(
            "took {elapsed:.0} ms, recorded {:.0} to {:.0}",
            spread.min, spread.max
        ));
    }
    None
}

/// Whether a wait fits what was recorded. Short ones are overhead; long ones are jittered, and a
/// few repeats show only a part of the jitter's range.
fn fits(ms: f64, recorded: Spread) -> bool {
    if recorded.min < NO_WAIT_MS {
        return ms <= recorded.max.max(NO_WAIT_MS) + OVERHEAD_MS;
    }
    let unseen = if recorded.max >= LEAST_BACKOFF_MS {
        JITTER_MS - (recorded.max - recorded.min)
    } else {
        0.0
    };
    let unseen = unseen.max(0.0);
    (recorded.min - unseen - OVERHEAD_MS..=recorded.max + unseen + OVERHEAD_MS).contains(&ms)
}

type BenchedSet = BTreeMap<String, (f64, String)>;

fn bench_differs(facts: &BenchFacts, played: &BenchedSet, symmetric: bool) -> Option<String> {
    let listed: Vec<_> = facts
        .cooling
        .iter()
        .chain(facts.variants.iter().map(|v| &v.cooling))
        .collect();
    let same = |recorded: &&&BTreeMap<String, Benched>| {
        recorded.len() == played.len()
            && recorded
                .iter()
                .zip(played)
                .all(|((name, b), (own, (length, status)))| {
                    let names = name == own || (symmetric && listed.len() > 1);
                    names && (b.cooldown_s - length).abs() < 1e-3 && text(&b.status) == *status
                })
    };
    if listed.iter().any(|r| same(&r)) {
        return None;
    }
    let show = |set: &BTreeMap<String, Benched>| {
        let one = |(name, b): (&String, &Benched)| {
            format!("{name} {} s ({})", b.cooldown_s, text(&b.status))
        };
        set.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let recorded: Vec<_> = listed
        .iter()
        .map(|set| format!("[{}]", show(set)))
        .collect();
    Some(format!(
        "benched after {}: {played:?} instead of {}",
        facts.after,
        recorded.join(" or ")
    ))
}

fn at_once_differs(facts: &Facts, trace: &Trace) -> Vec<String> {
    let differs = |(name, spread): (&String, &Spread)| {
        let own = f64::from(trace.most_at_once.get(name).copied().unwrap_or(0));
        let fits = (spread.min..=spread.max).contains(&own);
        (!fits).then(|| {
            format!(
                "{own} calls at once at {name}, recorded {} to {}",
                spread.min, spread.max
            )
        })
    };
    facts
        .max_upstream_calls_at_once
        .iter()
        .filter_map(differs)
        .collect()
}

/// A batch that is judged by counts: those of one run.
fn batch_differs(facts: &BatchFacts, played: &[Played]) -> Vec<String> {
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
fn batch_waits_differ(facts: &BatchFacts, runs: &[&[Played]]) -> Vec<String> {
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

fn burst_differs(facts: &BurstFacts, runs: &[&[Played]]) -> Vec<String> {
    let mut found = Vec::new();
    if let (true, Some(sequence)) = (facts.sequence_deterministic, &facts.sequence) {
        for run in runs {
            let own: Vec<_> = run.iter().map(burst_label).collect();
            if own != *sequence {
                found.push(format!(
                    "{}: served by {own:?} instead of {sequence:?}",
                    facts.id
                ));
            }
        }
        return found;
    }
    let all = || runs.iter().flat_map(|run| run.iter());
    let keys: BTreeSet<&String> = facts.per_repeat.iter().flat_map(BTreeMap::keys).collect();
    let settles = keys.iter().any(|key| {
        let of = |r: &BTreeMap<String, u32>| (r.get(*key).copied().unwrap_or(0), r.values().sum());
        statistics::over_dispersed(&facts.per_repeat.iter().map(of).collect::<Vec<_>>())
    });
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

/// Kinds whose shares differ more than chance explains.
fn shares_differ(
    id: &str,
    what: &str,
    recorded: BTreeMap<&str, u32>,
    own: BTreeMap<&str, u32>,
) -> Vec<String> {
    let kinds: BTreeSet<&str> = recorded.keys().chain(own.keys()).copied().collect();
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

fn path(played: &Played) -> String {
    let attempts = match played.attempts.is_empty() {
        true => "no upstream call".to_owned(),
        false => {
            let one = |a: &crate::play::PlayedAttempt| format!("{}:{}", a.deployment, a.status);
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

fn burst_label(played: &Played) -> String {
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

fn describe(facts: &OutcomeFacts) -> String {
    let attempts: Vec<_> = facts
        .attempts
        .iter()
        .map(|a| format!("{}:{}", a.deployment, a.status()))
        .collect();
    let result = match (&facts.result.served_by, &facts.result.exception) {
        (Some(by), _) => format!("served by {by}"),
        (None, exception) => format!(
            "{}/{:?} try again {:?}",
            exception.as_deref().unwrap_or("?"),
            facts.result.status,
            facts.result.message.try_again_in_seconds
        ),
    };
    format!("[{}] {result}", attempts.join(">"))
}

fn describe_played(played: &Played) -> String {
    let served = match &played.result {
        PlayedResult::Served { by } => format!(" served by {by}"),
        PlayedResult::Failed { try_again_in, .. } => format!(" try again {try_again_in:?}"),
    };
    format!("[{}]{served} (refused {})", path(played), played.refused)
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap())
}

/// The recorder's overhead of one step, as `vectors/README.md` allows it.
const OVERHEAD_MS: f64 = 60.0;
/// Waits below this are no waits. (`vectors/README.md`)
const NO_WAIT_MS: f64 = 100.0;
/// The first call of a feature took the recorder up to this. (`vectors/README.md`)
const WARM_UP_MS: f64 = 400.0;
/// The range of LiteLLM's jitter. (semantics 5.4)
const JITTER_MS: f64 = 750.0;
/// The shortest backoff is half a second; a client's own is a quarter shorter. (semantics 5.4)
const LEAST_BACKOFF_MS: f64 = 375.0;
