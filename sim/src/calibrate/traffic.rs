//! Who asks what, when, as a log shows it.

use reports::{
    fits::{ArrivalFit, Fitted, TokenLengths},
    stats::size,
};
use scenarios::logs::{Log, LogResult, LogRow};
use serde::Serialize;

use super::{
    senders::{self, SenderShare},
    window::{Span, Window, share},
};

/// Traffic.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrafficFit {
    /// When requests come.
    pub arrivals: ArrivalFit,
    /// For the picture: seconds of the run, and requests a second around then.
    pub seen: Vec<(f64, f64)>,
    /// Mean rate of each hour of the day (UTC) ÷ mean rate, if the log spans two days or more.
    pub hours: Option<Vec<Fitted>>,
    /// Tokens of prompts; `None` if the log has too few.
    pub prompt: Option<TokenLengths>,
    /// Tokens of answers.
    pub output: Option<TokenLengths>,
    /// Rank correlation of the two, which the scenario does not keep.
    pub correlation: Option<f64>,
    /// Models asked for with their shares, the largest first.
    pub models: Vec<(String, f64)>,
    /// Share of streams; `None` if the log does not tell.
    pub stream_share: Option<f64>,
    /// Who sends, without names; empty if the log does not tell.
    pub senders: Vec<SenderShare>,
}

impl TrafficFit {
    pub(crate) fn of(
        log: &Log,
        window: &Window,
        span: Span,
        unknown: &mut Vec<String>,
    ) -> Option<Self> {
        let times = window.arrivals(log, span);
        let holes = window.holes_in(span);
        let arrivals = ArrivalFit::of(&times, span.0, span.1, &holes)?;
        let rows: Vec<&LogRow> = window.rows(log, span).collect();
        let prompt = counts(&rows, |row| row.prompt_tokens);
        let output = counts(&rows, answered_tokens);
        let lengths = |counts: &[f64], what: &str, unknown: &mut Vec<String>| {
            let fit = TokenLengths::of(counts);
            if fit.is_none() {
                unknown.push(format!(
                    "{what} tokens: {} rows have a count, too few for a distribution; the scenario says 1, \
                     so that nothing that depends on them can be studied",
                    counts.len()
                ));
            }
            fit
        };
        let asked: Vec<&&LogRow> = rows.iter().filter(|row| row.is_arrival).collect();
        let streams: Vec<bool> = rows.iter().filter_map(|row| row.stream).collect();
        if streams.is_empty() {
            unknown.push(
                "streams: the log does not tell which answers were streamed; the scenario has none"
                    .to_owned(),
            );
        }
        let streamed = streams.iter().filter(|stream| **stream).count();
        Some(Self {
            seen: seen(&times, span),
            hours: hours(window, &times, &arrivals),
            prompt: lengths(&prompt, "prompt", unknown),
            output: lengths(&output, "answer", unknown),
            correlation: correlation(&rows),
            models: models(log, &asked),
            stream_share: (!streams.is_empty()).then(|| share(streamed, streams.len())),
            senders: senders::shares(log, &asked),
            arrivals,
        })
    }
}

/// Rates in bins of a minute, or of more where there would be too many.
fn seen(times: &[f64], (from, to): Span) -> Vec<(f64, f64)> {
    let bin_s = (60.0 * ((to - from) / 60.0 / MOST_BINS).ceil()).max(1.0);
    let mut left = times;
    let bins = (0_u16..).map(|n| from + f64::from(n) * bin_s);
    let bins = bins.take_while(|begin| begin + bin_s <= to);
    bins.map(|begin| {
        let within = left.partition_point(|time| *time < begin + bin_s);
        left = &left[within..];
        (begin + bin_s / 2.0, size(within) / bin_s)
    })
    .collect()
}

/// Tokens of an answer that came whole.
pub(crate) fn answered_tokens(row: &LogRow) -> Option<u32> {
    row.output_tokens
        .filter(|_| row.result == LogResult::Success)
}

/// Token counts as numbers.
pub(crate) fn counts(rows: &[&LogRow], of: impl Fn(&LogRow) -> Option<u32>) -> Vec<f64> {
    rows.iter()
        .filter_map(|row| of(row))
        .map(f64::from)
        .collect()
}

fn models(log: &Log, asked: &[&&LogRow]) -> Vec<(String, f64)> {
    let mut counts = vec![0; log.models.len()];
    for row in asked {
        counts[row.model] += 1;
    }
    let mut shares: Vec<(String, f64)> = (log.models.iter().zip(&counts))
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| (name.clone(), share(*count, asked.len())))
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares
}

/// The rate of each hour of the day over the days of a log, by the time that the log covers of it. Its interval is
/// that of a count which varies as gaps do, given all requests: cv² · (1/count − 1/all) in the logarithm.
fn hours(window: &Window, times: &[f64], arrivals: &ArrivalFit) -> Option<Vec<Fitted>> {
    if !window.is_dated || window.span_s < TWO_DAYS_S || arrivals.curve.is_none() {
        return None;
    }
    let day_s = size(usize::try_from(window.zero_ns.rem_euclid(86_400_000_000_000)).ok()?) / 1e9;
    let hour = |at: f64| {
        let hour = ((day_s + at) / 3_600.0).floor().rem_euclid(24.0);
        (0_u8..24).position(|n| f64::from(n) >= hour).unwrap_or(0)
    };
    let (mut counts, mut covered) = ([0.0; 24], [0.0; 24]);
    for time in times {
        counts[hour(*time)] += 1.0;
    }
    let mut at = 0.0;
    while at < window.span_s {
        if !window
            .holes
            .iter()
            .any(|hole| hole.from_s <= at && at < hole.to_s)
        {
            covered[hour(at)] += 10.0;
        }
        at += 10.0;
    }
    let mean = arrivals.per_second.value;
    let factor = |n: usize| {
        if covered[n] <= 0.0 || counts[n] <= 0.0 {
            return Fitted::bare(if covered[n] > 0.0 { 0.0 } else { 1.0 });
        }
        let factor: f64 = counts[n] / covered[n] / mean;
        let variance = (1.0 / counts[n] - 1.0 / size(times.len())).max(0.0);
        let reach = Z_95 * arrivals.cv.value * variance.sqrt();
        Fitted::within(
            factor,
            (factor * libm::exp(-reach), factor * libm::exp(reach)),
        )
    };
    Some((0..24).map(factor).collect())
}

/// Spearman's rank correlation of prompt and answer tokens.
fn correlation(rows: &[&LogRow]) -> Option<f64> {
    let pair = |row: &&LogRow| {
        Some((
            f64::from(row.prompt_tokens?),
            f64::from(answered_tokens(row)?),
        ))
    };
    let pairs: Vec<(f64, f64)> = rows.iter().filter_map(pair).collect();
    if pairs.len() < LEAST_FOR_CORRELATION {
        return None;
    }
    let a = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let b = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let mean = (size(pairs.len()) - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

/// Ranks from 0, of equal values their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for same in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let rank = size(from) + (size(same.len()) - 1.0) / 2.0;
        for at in same {
            ranks[*at] = rank;
        }
        from += same.len();
    }
    ranks
}

const Z_95: f64 = 1.959_963_984_540_054;
const MOST_BINS: f64 = 240.0;
const TWO_DAYS_S: f64 = 172_800.0;
const LEAST_FOR_CORRELATION: usize = 50;
