//! The time of a log that counts, and where it has holes.
//!
//! A log is cut at both ends: of the requests under way then it has the quick ones or the slow ones only,
//! whichever way it was cut. So as long as nearly all answers take (their 99.9th percentile, but at most a
//! twentieth of the log) is left out at either end. The run's zero is the next full minute of the wall
//! clock, for quotas count in those.

use reports::fits::{Silence, silences};
use router::Instant;
use scenarios::logs::{Log, LogResult, LogRow};
use serde::Serialize;

use reports::stats::size;

/// The time that counts.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Window {
    /// The run's zero, in nanoseconds since 1970 or since the log's zero.
    pub zero_ns: i64,
    /// How long it is, in seconds.
    pub span_s: f64,
    /// What is left out at either end, in seconds.
    pub cut_s: f64,
    /// Where nothing was recorded, in seconds of the run.
    pub holes: Vec<Silence>,
    /// Whether times are those of a calendar.
    pub is_dated: bool,
    /// The last moment that the log knows of, on the clock of `zero_ns`.
    pub ends_ns: i64,
}

/// A part of the window, in seconds: from, to.
pub(crate) type Span = (f64, f64);

impl Window {
    pub(crate) fn of(log: &Log) -> Self {
        let starts = || log.rows.iter().map(|row| row.start_ns);
        let (first, last) = (starts().min().unwrap_or(0), starts().max().unwrap_or(0));
        let whole_s = seconds(last - first);
        let mut taken: Vec<i64> = log
            .rows
            .iter()
            .filter(|row| row.result == LogResult::Success)
            .filter_map(|row| Some(row.end_ns? - row.start_ns))
            .collect();
        taken.sort_unstable();
        let slowest = taken.get(taken.len().saturating_sub(1 + taken.len() / 1_000));
        let cut_s = slowest.map_or(0.0, |ns| seconds(*ns)).min(whole_s / 20.0);
        let from_ns = first.saturating_add(nanos(cut_s));
        let unit_ns = if whole_s >= LEAST_FOR_MINUTES_S {
            60_000_000_000
        } else {
            1_000_000_000
        };
        let rounded = from_ns + (-from_ns).rem_euclid(unit_ns);
        let zero_ns = if log.is_dated { rounded } else { from_ns };
        let mut window = Self {
            zero_ns,
            span_s: (seconds(last - zero_ns) - cut_s).max(0.0),
            cut_s,
            holes: Vec::new(),
            is_dated: log.is_dated,
            ends_ns: log
                .rows
                .iter()
                .filter_map(|row| row.end_ns)
                .fold(last, i64::max),
        };
        let all = window.arrivals(log, window.whole());
        window.holes = silences(&all);
        window
    }

    /// All of it.
    pub(crate) const fn whole(&self) -> Span {
        (0.0, self.span_s)
    }

    /// The part that is fitted for the test, and the part that it is tested on.
    pub(crate) fn halves(&self) -> (Span, Span) {
        let middle = self.span_s * (1.0 - HELD_OUT);
        ((0.0, middle), (middle, self.span_s))
    }

    /// When a row began, in seconds of the run.
    pub(crate) fn at(&self, row: &LogRow) -> f64 {
        seconds(row.start_ns - self.zero_ns)
    }

    /// Rows that began within `span`.
    pub(crate) fn rows<'a>(
        &self,
        log: &'a Log,
        (from, to): Span,
    ) -> impl Iterator<Item = &'a LogRow> {
        let zero = self.zero_ns;
        let begin = log
            .rows
            .partition_point(|row| seconds(row.start_ns - zero) < from);
        let end = log
            .rows
            .partition_point(|row| seconds(row.start_ns - zero) < to);
        log.rows[begin..end.max(begin)].iter()
    }

    /// When requests came within `span`.
    pub(crate) fn arrivals(&self, log: &Log, span: Span) -> Vec<f64> {
        let rows = self.rows(log, span).filter(|row| row.is_arrival);
        rows.map(|row| self.at(row)).collect()
    }

    /// Holes within `span`.
    pub(crate) fn holes_in(&self, (from, to): Span) -> Vec<Silence> {
        let within = |hole: &&Silence| hole.from_s >= from && hole.to_s <= to;
        self.holes.iter().filter(within).copied().collect()
    }

    /// What of the log does not count.
    pub(crate) fn told(&self, log: &Log) -> Vec<String> {
        let mut told = Vec::new();
        if !self.holes.is_empty() {
            let missing: f64 = self.holes.iter().map(|hole| hole.to_s - hole.from_s).sum();
            told.push(format!(
                "{} silences, {} together, are too long for the traffic around them: they are taken for \
                 holes in the log and not for quiet times (the first from {} to {} of the run)",
                self.holes.len(),
                span_text(missing),
                span_text(self.holes[0].from_s),
                span_text(self.holes[0].to_s),
            ));
        }
        let inside = self.rows(log, self.whole()).count();
        let outside = log.rows.len() - inside;
        if outside > 0 {
            told.push(format!(
                "{outside} rows at the log's ends are left out: {} at either end, as long as slow answers \
                 take, is only half recorded",
                span_text(self.cut_s)
            ));
        }
        told
    }
}

/// A length of time in words.
pub(crate) fn span_text(seconds: f64) -> String {
    match seconds {
        s if s >= 172_800.0 => format!("{:.1} days", s / 86_400.0),
        s if s >= 5_400.0 => format!("{:.1} h", s / 3_600.0),
        s if s >= 120.0 => format!("{:.1} min", s / 60.0),
        s if s >= 1.0 => format!("{s:.1} s"),
        s => format!("{:.0} ms", s * 1e3),
    }
}

fn seconds(ns: i64) -> f64 {
    let size = Instant::from_nanos(ns.unsigned_abs()).as_secs_f64();
    if ns < 0 { -size } else { size }
}

#[expect(clippy::cast_possible_truncation, reason = "seconds of a log")]
fn nanos(seconds: f64) -> i64 {
    (seconds * 1e9) as i64
}

/// Shares of rows as counts.
pub(crate) fn share(of: usize, all: usize) -> f64 {
    size(of) / size(all.max(1))
}

/// The share of the time that is held out.
const HELD_OUT: f64 = 0.25;
/// Shorter logs begin at a full second, for a minute would be much of them.
const LEAST_FOR_MINUTES_S: f64 = 600.0;
