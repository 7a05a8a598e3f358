//! How a deployment fails: time limits, outages, bursts, and errors that come independently, each status
//! for itself. 429s are the quota's affair.

use std::collections::BTreeMap;

use reports::{
    fits::{BurstFit, Fitted, Lasting, LatencyFit, OutageFit, Tried, outages},
    stats::{size, wilson},
};
use scenarios::logs::{LogResult, LogRow};
use serde::Serialize;

use super::window::{Span, Window};

/// A time limit that attempts ran into.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct TimeLimit {
    /// In seconds.
    pub after_s: f64,
    /// Attempts that it cut off.
    pub attempts: usize,
}

/// A share of attempts that fail with one status, independently.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ErrorShare {
    /// HTTP status.
    pub status: u16,
    /// Attempts that failed so.
    pub attempts: usize,
    /// Their share.
    pub share: Fitted,
    /// Median time until they failed, in milliseconds.
    pub after_ms: f64,
}

/// How a deployment fails.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FailureFit {
    /// A limit that cut attempts off.
    pub limit: Option<TimeLimit>,
    /// Share of attempts that are never answered; `None` if those cut off are just slow.
    pub hangs: Option<Fitted>,
    /// Times in which nearly everything failed, with their most frequent status.
    pub outages: Vec<(OutageFit, u16)>,
    /// How long outages last, those of ten seconds and more; `None` with too few.
    pub outage_lengths: Option<Lasting>,
    /// How long it is from the end of one to the beginning of the next; `None` with too few.
    pub outage_gaps: Option<Lasting>,
    /// Errors of the server in bursts, with their most frequent status; they are then not in `errors`.
    pub bursts: Option<(BurstFit, u16)>,
    /// Errors outside of outages, by status.
    pub errors: Vec<ErrorShare>,
}

impl TimeLimit {
    /// A limit, if most attempts that timed out did so after about the same time.
    pub(crate) fn of(rows: &[&LogRow]) -> Option<Self> {
        let timed_out = rows.iter().filter(|row| is_timeout(row));
        let mut taken: Vec<f64> = timed_out.filter_map(|row| took_s(row)).collect();
        if taken.len() < FEWEST_TIMEOUTS {
            return None;
        }
        taken.sort_by(f64::total_cmp);
        let after_s = taken[taken.len() / 2];
        let near = taken.iter().filter(|s| is_near(**s, after_s)).count();
        (near * 5 >= taken.len() * 3 && after_s >= SHORTEST_LIMIT_S).then_some(Self {
            after_s,
            attempts: near,
        })
    }

    /// Whether the limit cut this attempt off.
    pub(crate) fn is_cut(&self, row: &LogRow) -> bool {
        is_timeout(row) && took_s(row).is_some_and(|s| is_near(s, self.after_s))
    }

    /// What it hides, if that is a hundredth of the answers or more.
    pub(crate) fn told(&self, id: &str, answers: usize) -> Option<String> {
        let share = size(self.attempts) / size(self.attempts + answers);
        (share >= 0.01).then(|| {
            format!(
                "{id}: {} attempts ({:.1} %) were cut off after {:.1} s; how long they would have taken follows from the \
                 shape of the fit alone, and so do quantiles beyond that time",
                self.attempts,
                100.0 * share,
                self.after_s
            )
        })
    }

    /// Whether what it cut off would never have been answered: by the times of those that were, less than
    /// a tenth as many would be so slow.
    pub(crate) fn are_hangs(&self, fit: &LatencyFit, further: &[f64], attempts: usize) -> bool {
        let late = |further: &f64| 1.0 - fit.share_within(*further, 1e3 * self.after_s);
        let share = further.iter().map(late).sum::<f64>() / size(further.len().max(1));
        share * size(attempts) < 0.1 * size(self.attempts)
    }
}

impl FailureFit {
    pub(crate) fn of(
        window: &Window,
        span: Span,
        rows: &[&LogRow],
        limit: Option<TimeLimit>,
        hang: bool,
    ) -> Self {
        let counted = |row: &&&LogRow| row.result != LogResult::Failure(429);
        let rows: Vec<&LogRow> = rows.iter().filter(counted).copied().collect();
        let tried = |row: &&LogRow, failed: bool| Tried {
            at_s: window.at(row),
            failed,
        };
        let all: Vec<Tried> = rows.iter().map(|row| tried(row, is_down(row))).collect();
        let found = outages(&all);
        let during = |outage: &OutageFit, row: &&LogRow| {
            let at = window.at(row);
            outage.from_s.value <= at && at <= outage.to_s.value
        };
        let with_status = |outage: &OutageFit| {
            let inside = rows
                .iter()
                .filter(|row| during(outage, row) && is_down(row));
            (*outage, most_frequent(inside.filter_map(|row| status(row))))
        };
        let calm: Vec<&LogRow> = rows
            .iter()
            .copied()
            .filter(|row| !found.iter().any(|outage| during(outage, row)))
            .collect();
        let is_cut = |row: &LogRow| limit.is_some_and(|limit| limit.is_cut(row));
        let is_server = |row: &LogRow| is_server_error(row) && !is_cut(row);
        let server: Vec<Tried> = calm.iter().map(|row| tried(row, is_server(row))).collect();
        let bursts = BurstFit::of(&server).map(|bursts| {
            let failed = calm.iter().filter(|row| is_server(row));
            (bursts, most_frequent(failed.filter_map(|row| status(row))))
        });
        let alone = |row: &&&LogRow| !(is_cut(row) || bursts.is_some() && is_server(row));
        let hung = calm.iter().filter(|row| is_cut(row)).count();
        Self {
            outage_lengths: OutageFit::lengths(&found),
            outage_gaps: OutageFit::gaps(&found, span.1, &window.holes_in(span)),
            outages: found.iter().map(with_status).collect(),
            errors: error_shares(calm.iter().filter(alone), calm.len()),
            hangs: (hang && hung > 0).then(|| proportion(hung, calm.len())),
            bursts,
            limit,
        }
    }
}

impl FailureFit {
    /// What of its outages is not known, and what the scenario has instead.
    pub(crate) fn told(&self, id: &str) -> Option<String> {
        let known = self.outage_lengths.is_some() && self.outage_gaps.is_some();
        (!self.outages.is_empty() && !known).then(|| {
            format!(
                "{id}: its outages ({}) are too few to tell how long they last and how far apart they are (five whole \
                 ones are needed, and five times between them); the scenario has those of the log, when they were",
                self.outages.len()
            )
        })
    }
}

fn error_shares<'a>(rows: impl Iterator<Item = &'a &'a LogRow>, of: usize) -> Vec<ErrorShare> {
    let mut by_status: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
    for row in rows {
        if let Some(status) = status(row) {
            let took = took_s(row).unwrap_or(0.0);
            by_status.entry(status).or_default().push(took);
        }
    }
    let share = |(status, mut took): (u16, Vec<f64>)| {
        took.sort_by(f64::total_cmp);
        ErrorShare {
            status,
            attempts: took.len(),
            share: proportion(took.len(), of),
            after_ms: 1e3 * took[took.len() / 2],
        }
    };
    by_status.into_iter().map(share).collect()
}

/// A share with Wilson's interval.
pub(crate) fn proportion(of: usize, all: usize) -> Fitted {
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let share = size(of) / size(all.max(1));
    match wilson(count(of), count(all)) {
        Some(interval) => Fitted::within(share, interval),
        None => Fitted::bare(share),
    }
}

fn most_frequent(statuses: impl Iterator<Item = u16>) -> u16 {
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    for status in statuses {
        *counts.entry(status).or_default() += 1;
    }
    // Of equals the smallest status.
    let most = counts
        .into_iter()
        .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
    most.map_or(500, |(status, _)| status)
}

const fn status(row: &LogRow) -> Option<u16> {
    match row.result {
        LogResult::Failure(status) => Some(status),
        LogResult::Success | LogResult::Cached | LogResult::Unfinished => None,
    }
}

const fn is_timeout(row: &LogRow) -> bool {
    matches!(row.result, LogResult::Failure(408 | 504))
}

/// A failure of the deployment and not of what was asked: all but 400, 413 and 422.
const fn is_down(row: &LogRow) -> bool {
    matches!(row.result, LogResult::Failure(status) if !matches!(status, 400 | 413 | 422 | 429))
}

const fn is_server_error(row: &LogRow) -> bool {
    matches!(row.result, LogResult::Failure(500..))
}

fn took_s(row: &LogRow) -> Option<f64> {
    let ns = usize::try_from(row.end_ns? - row.start_ns).ok()?;
    Some(size(ns) / 1e9)
}

fn is_near(seconds: f64, limit: f64) -> bool {
    (seconds / limit - 1.0).abs() <= 0.05
}

const FEWEST_TIMEOUTS: usize = 3;
/// A timeout after less is the provider's own.
const SHORTEST_LIMIT_S: f64 = 0.5;
