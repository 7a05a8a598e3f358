//! What a trace looks like in numbers: rates, regularity, lengths, oddities.
//!
//! Quantiles of gaps and tokens are linear between order statistics (R's type 7); the nearest-rank
//! ones stand beside them. Seconds and minutes are counted from the first row. `pop` divides by n,
//! `sample` by n − 1.

use serde::Serialize;

use super::trace::{Trace, TraceRow};

/// Statistics of a trace of single requests.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceStats {
    /// Rows kept.
    pub rows: usize,
    /// From the first row to the last, in seconds.
    pub duration_s: f64,
    /// Rows ÷ duration.
    pub mean_rate_rps: f64,
    /// Mean of the gaps between neighbouring rows, in seconds.
    pub mean_interarrival_s: f64,
    /// Deviation ÷ mean of the gaps, by n.
    pub interarrival_cv_pop: f64,
    /// Deviation ÷ mean of the gaps, by n − 1.
    pub interarrival_cv_sample: f64,
    /// Median gap.
    pub interarrival_p50_s: f64,
    /// 99th percentile of the gaps.
    pub interarrival_p99_s: f64,
    /// Longest gap.
    pub interarrival_max_s: f64,
    /// Minutes touched, the last one included.
    pub minutes_bins: usize,
    /// Rows of the fullest minute.
    pub peak_per_min: u64,
    /// Which one that is, from 0.
    pub peak_min_index: usize,
    /// Rows of the emptiest whole minute.
    pub min_per_min_full_bins: Option<u64>,
    /// Rows a minute over the whole duration.
    pub mean_per_min: f64,
    /// Fullest minute ÷ mean; `None` for a trace shorter than a minute.
    pub peak_over_mean_per_min: Option<f64>,
    /// Variance ÷ mean of the counts of whole minutes; 1 for a Poisson process.
    pub per_min_fano_full_bins: Option<f64>,
    /// Rows of the fullest second.
    pub peak_per_sec: u64,
    /// Seconds without a row.
    pub empty_seconds: usize,
    /// Gaps above 10 s.
    pub gaps_over_10s: usize,
    /// Gaps above 30 s.
    pub gaps_over_30s: usize,
    /// As `interarrival_cv_pop`, without gaps above 10 s (holes in a collection).
    pub interarrival_cv_pop_excluding_gaps_over_10s: f64,
    /// Different times.
    pub distinct_timestamps: usize,
    /// Steps at which time ran back in the file.
    pub unsorted_steps: u64,
    /// Rows with the time of the row before.
    pub duplicate_timestamps: usize,
    /// Most rows at one time.
    pub largest_tie: usize,
    /// Greatest time that divides all times, in nanoseconds.
    pub granularity_ns: u64,
    /// Prompt lengths.
    pub input_tokens: TokenStats,
    /// Answer lengths.
    pub output_tokens: TokenStats,
    /// Sums of both.
    pub total_tokens: TokenStats,
    /// Pearson's correlation of prompt and answer lengths.
    pub corr_in_out: f64,
}

/// Statistics of token counts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TokenStats {
    pub mean: f64,
    /// By n.
    pub std_pop: f64,
    pub min: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
    pub sum: f64,
    /// Rows without tokens.
    pub zeros: usize,
    pub p50_nearest_rank: f64,
    pub p95_nearest_rank: f64,
    pub p99_nearest_rank: f64,
}

impl TraceStats {
    /// The statistics of a trace, which has at least one row.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let rows = &trace.rows;
        let duration_s = seconds(rows[rows.len() - 1].at_ns);
        let mut gaps: Vec<f64> = rows
            .windows(2)
            .map(|pair| seconds(pair[1].at_ns - pair[0].at_ns))
            .collect();
        gaps.sort_by(f64::total_cmp);
        let calm: Vec<f64> = gaps.iter().copied().filter(|gap| *gap <= 10.0).collect();
        let (mean_gap, deviation) = mean_and_deviation(&gaps);
        let n = count(gaps.len());
        let minutes = bins(rows, 60);
        let full = &minutes[..minutes.len() - 1];
        let mean_per_min = count(rows.len()) / duration_s * 60.0;
        let peak_per_min = minutes.iter().copied().max().unwrap_or(0);
        let per_second = bins(rows, 1);
        let ties = ties(rows);
        let of = |value: fn(&TraceRow) -> u64| TokenStats::of(rows.iter().map(value));
        Self {
            rows: rows.len(),
            duration_s,
            mean_rate_rps: count(rows.len()) / duration_s,
            mean_interarrival_s: mean_gap,
            interarrival_cv_pop: deviation / mean_gap,
            interarrival_cv_sample: deviation * (n / (n - 1.0)).sqrt() / mean_gap,
            interarrival_p50_s: quantile(&gaps, 0.5),
            interarrival_p99_s: quantile(&gaps, 0.99),
            interarrival_max_s: gaps.last().copied().unwrap_or(0.0),
            minutes_bins: minutes.len(),
            peak_per_min,
            peak_min_index: minutes.iter().position(|n| *n == peak_per_min).unwrap_or(0),
            min_per_min_full_bins: full.iter().copied().min(),
            mean_per_min,
            peak_over_mean_per_min: (!full.is_empty())
                .then(|| count64(peak_per_min) / mean_per_min),
            per_min_fano_full_bins: fano(full),
            peak_per_sec: per_second.iter().copied().max().unwrap_or(0),
            empty_seconds: per_second.iter().filter(|n| **n == 0).count(),
            gaps_over_10s: gaps.len() - calm.len(),
            gaps_over_30s: gaps.iter().filter(|gap| **gap > 30.0).count(),
            interarrival_cv_pop_excluding_gaps_over_10s: {
                let (mean, deviation) = mean_and_deviation(&calm);
                deviation / mean
            },
            distinct_timestamps: ties.len(),
            unsorted_steps: trace.books.unsorted_steps,
            duplicate_timestamps: rows.len() - ties.len(),
            largest_tie: ties.iter().copied().max().unwrap_or(0),
            granularity_ns: rows.iter().fold(0, |sum, row| gcd(sum, row.at_ns)),
            input_tokens: of(|row| u64::from(row.prompt_tokens)),
            output_tokens: of(|row| u64::from(row.output_tokens)),
            total_tokens: of(|row| u64::from(row.prompt_tokens) + u64::from(row.output_tokens)),
            corr_in_out: correlation(rows),
        }
    }
}

impl TokenStats {
    /// Statistics of counts, of which there is at least one.
    #[must_use]
    pub fn of(values: impl Iterator<Item = u64>) -> Self {
        let mut values: Vec<f64> = values.map(count64).collect();
        values.sort_by(f64::total_cmp);
        let (mean, std_pop) = mean_and_deviation(&values);
        Self {
            mean,
            std_pop,
            min: values[0],
            p50: quantile(&values, 0.5),
            p90: quantile(&values, 0.9),
            p95: quantile(&values, 0.95),
            p99: quantile(&values, 0.99),
            max: values[values.len() - 1],
            sum: values.iter().sum(),
            zeros: values.partition_point(|value| *value <= 0.0),
            p50_nearest_rank: nearest_rank(&values, 0.5),
            p95_nearest_rank: nearest_rank(&values, 0.95),
            p99_nearest_rank: nearest_rank(&values, 0.99),
        }
    }
}

/// The quantile of sorted values, linear between neighbours; 0 of none.
#[must_use]
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = count(last) * p;
    let below = floor(place).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - count(below))
}

/// The least value that at least the share `p` of all values does not exceed.
fn nearest_rank(sorted: &[f64], p: f64) -> f64 {
    sorted[floor((p * count(sorted.len())).ceil()).max(1) - 1]
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = count(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    (mean, (squares / n).sqrt())
}

fn bins(rows: &[TraceRow], width_s: u64) -> Vec<u64> {
    let bin = |row: &TraceRow| {
        usize::try_from(row.at_ns / (width_s * 1_000_000_000)).expect("as many bins as seconds")
    };
    let mut bins = vec![0; bin(&rows[rows.len() - 1]) + 1];
    for row in rows {
        bins[bin(row)] += 1;
    }
    bins
}

/// Sizes of the groups of rows with equal times.
fn ties(rows: &[TraceRow]) -> Vec<usize> {
    rows.chunk_by(|a, b| a.at_ns == b.at_ns)
        .map(<[_]>::len)
        .collect()
}

fn fano(counts: &[u64]) -> Option<f64> {
    if counts.is_empty() {
        return None;
    }
    let values: Vec<f64> = counts.iter().copied().map(count64).collect();
    let (mean, deviation) = mean_and_deviation(&values);
    Some(deviation * deviation / mean)
}

fn correlation(rows: &[TraceRow]) -> f64 {
    let prompt: Vec<f64> = rows
        .iter()
        .map(|row| f64::from(row.prompt_tokens))
        .collect();
    let output: Vec<f64> = rows
        .iter()
        .map(|row| f64::from(row.output_tokens))
        .collect();
    let ((mean_in, dev_in), (mean_out, dev_out)) =
        (mean_and_deviation(&prompt), mean_and_deviation(&output));
    let products = prompt
        .iter()
        .zip(&output)
        .map(|(a, b)| (a - mean_in) * (b - mean_out));
    products.sum::<f64>() / count(rows.len()) / (dev_in * dev_out)
}

const fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[expect(
    clippy::cast_precision_loss,
    reason = "statistics of traces need no more than 53 bits"
)]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "2^53 rows fit no memory")]
const fn count(n: usize) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "statistics of traces need no more than 53 bits"
)]
const fn count64(n: u64) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list"
)]
const fn floor(place: f64) -> usize {
    place as usize
}
