//! What differs between recorded facts and what was played, by the rules of `vectors/README.md`:
//! paths, results and benched sets exactly (one of the listed where they varied), waits within the
//! recorder's overhead, shares and jittered waits by their distribution.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{
    luck::{Luck, pairs_on_same},
    shares::{batch_differs, batch_waits_differ, burst_differs, path},
    statistics::{SIGNIFICANT, fisher},
    trace::{BenchedSet, Played, PlayedResult, Trace},
    vector::{BenchFacts, Benched, Facts, OutcomeFacts, RequestFacts, Spread, Vector, text},
};

/// Every difference, in words; empty if there is none.
pub(crate) fn differences(
    vector: &Vector,
    facts: &Facts,
    traces: &[Trace],
    luck: Option<&Luck>,
) -> Vec<String> {
    let symmetric = !vector.symmetric.is_empty();
    let mut found = BTreeSet::new();
    for trace in traces {
        for request in &facts.requests {
            let played = &trace.requests[&request.id];
            found.extend(request_differs(request, played, symmetric, luck));
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
    if let Some(recorded) = facts.pairs_on_same_deployment {
        let own = traces.iter().map(pairs_on_same);
        let (same, of) = own.fold((0, 0), |sum, pairs| (sum.0 + pairs.0, sum.1 + pairs.1));
        if fisher((recorded.same, recorded.of), (same, of)) < SIGNIFICANT {
            found.insert(format!(
                "{same} of {of} pairs on one deployment, recorded {} of {}",
                recorded.same, recorded.of
            ));
        }
    }
    for burst in &facts.bursts {
        let runs: Vec<&[Played]> = traces
            .iter()
            .map(|t| t.bursts[&burst.id].as_slice())
            .collect();
        found.extend(burst_differs(burst, &runs, luck));
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

fn request_differs(
    facts: &RequestFacts,
    played: &Played,
    symmetric: bool,
    luck: Option<&Luck>,
) -> Option<String> {
    let exactly = |o: &&OutcomeFacts| same_outcome(o, played, true);
    // Of equal deployments any may be used; a handful of repeats does not show them all.
    let in_shape = |o: &&OutcomeFacts| same_outcome(o, played, false);
    let any_of_equals = facts.varies && symmetric;
    let mut matching: Vec<_> = facts
        .outcomes
        .iter()
        .filter(|o| exactly(o) || (any_of_equals && in_shape(o)))
        .collect();
    if matching.is_empty() && luck.is_some_and(|luck| luck.explains(facts)) {
        matching = facts.outcomes.iter().filter(in_shape).collect();
    }
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
            // Other errors quote the hint of a fallback's in their text.
            let hint = facts.result.message.try_again_in_seconds;
            let same_hint =
                |own: &Duration| hint.is_none_or(|h| (h - own.as_secs_f64()).abs() < 1e-3);
            !facts.result.ok
                && facts.result.exception.as_deref() == Some(*exception)
                && facts.result.status == *status
                && try_again_in.as_ref().is_none_or(same_hint)
        }
    };
    let retried = facts.result.message.retried;
    let same_refused = played.refused == 0 || retried.unwrap_or(0) + 1 == played.refused;
    same_attempts && same_result && same_refused
}

/// What of the waits, and of the attempts' own time, does not fit.
fn times_differ(facts: &OutcomeFacts, played: &Played) -> Option<String> {
    let ms = |from: router::Instant, to: router::Instant| to.since(from).as_secs_f64() * 1e3;
    let mut before = played.started;
    for (i, (recorded, own)) in facts.attempts.iter().zip(&played.attempts).enumerate() {
        let (name, spread, no_wait) = match i {
            0 => ("first attempt after", Some(recorded.start_ms), WARM_UP_MS),
            _ => ("wait before an attempt", recorded.wait_before_ms, 0.0),
        };
        let wait = ms(before, own.arrived);
        let fit = |s: Spread| fits(wait, s, facts.seen, own.waits_before, no_wait);
        if let Some(spread) = spread.filter(|s| !fit(*s)) {
            let (min, max) = (spread.min, spread.max);
            return Some(format!(
                "{name} {wait:.0} ms, recorded {min:.0} to {max:.0}"
            ));
        }
        before = own.ended;
        let took = ms(own.arrived, own.ended);
        let (min, max) = (recorded.upstream_ms.min, recorded.upstream_ms.max);
        // The upstream sees late that a client gave up.
        let late = match own.status.as_str() {
            "abandoned" => GIVING_UP_MS,
            _ => OVERHEAD_MS,
        };
        if took < min - late || took > max + OVERHEAD_MS {
            return Some(format!(
                "attempt {} took {took:.0} ms, recorded {min:.0} to {max:.0}",
                i + 1
            ));
        }
    }
    let (what, spread, no_wait) = match facts.after_last_attempt_ms {
        Some(spread) => ("after the last attempt", spread, 0.0),
        None => ("without an attempt", facts.elapsed_ms, WARM_UP_MS),
    };
    let wait = ms(before, played.ended);
    (!fits(wait, spread, facts.seen, played.waits_after, no_wait)).then(|| {
        let (min, max) = (spread.min, spread.max);
        format!("{what} {wait:.0} ms, recorded {min:.0} to {max:.0}")
    })
}

/// Whether a stretch of time without a call, in which the router asked for `waits` waits, fits what
/// was recorded. Short ones are overhead; the waits are jittered, and a few repeats show only a part
/// of the jitter's range.
fn fits(ms: f64, recorded: Spread, seen: u32, waits: usize, no_wait_ms: f64) -> bool {
    if recorded.min < LEAST_BACKOFF_MS.max(no_wait_ms) && waits == 0 {
        return ms <= recorded.max.max(LEAST_WAIT_MS) + OVERHEAD_MS;
    }
    let unseen = match waits {
        0 => 0.0,
        // What this many draws leave unseen at an end of the range, but for one time in 10,000.
        1 => JITTER_MS * (1.0 - libm::pow(SIGNIFICANT, 1.0 / f64::from(seen))),
        _ => JITTER_MS * count(waits),
    };
    let range = JITTER_MS * count(waits);
    let least = recorded.min - unseen;
    let most = (recorded.min + range).min(recorded.max + unseen);
    (least - OVERHEAD_MS..=most.max(recorded.max) + OVERHEAD_MS).contains(&ms)
}

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

/// Calls at once, where all repeats had as many: a number that varied is one of random picks,
/// which the shares judge.
fn at_once_differs(facts: &Facts, trace: &Trace) -> Vec<String> {
    let differs = |(name, spread): (&String, &Spread)| {
        let own = trace.most_at_once(name);
        let fits = spread.min < spread.max || (count(own) - spread.min).abs() < 0.5;
        (!fits).then(|| format!("{own} calls at once at {name}, recorded {}", spread.min))
    };
    let recorded = facts.max_upstream_calls_at_once.iter();
    recorded.filter_map(differs).collect()
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

pub(crate) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap())
}

/// The recorder's overhead of one step, as `vectors/README.md` allows it.
pub(crate) const OVERHEAD_MS: f64 = 60.0;
/// Waits below this are no waits. (`vectors/README.md`)
const LEAST_WAIT_MS: f64 = 100.0;
/// The first call of a feature took the recorder up to this. (`vectors/README.md`)
pub(crate) const WARM_UP_MS: f64 = 400.0;
/// How late the recorder's upstream saw that a client gave up (observed in `timeout-*`).
const GIVING_UP_MS: f64 = 250.0;
/// The range of LiteLLM's jitter. (semantics 5.4)
pub(crate) const JITTER_MS: f64 = 750.0;
/// The shortest backoff is half a second; a client's own is a quarter shorter. (semantics 5.4)
const LEAST_BACKOFF_MS: f64 = 375.0;
