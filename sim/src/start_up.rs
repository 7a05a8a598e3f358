//! How long the start-up of a lasting state takes, and whether there is a lasting state at all.

use reports::{RunRecord, stats};

use crate::capacity::backlog_grows;

/// When the start-up is over.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StartUp {
    /// From this many seconds on.
    EndsAt(f64),
    /// Not before half of the run, so nobody knows.
    NotOver,
}

/// Judges the start-up by MSER-5 over the number of unfinished requests, as a mean over all runs given: it
/// is what fills up when a run begins with nobody in it.
#[must_use]
pub fn start_up(runs: &[RunRecord]) -> StartUp {
    let Some(duration_s) = runs.first().map(|run| run.duration_s) else {
        return StartUp::EndsAt(0.0);
    };
    let series: Vec<f64> = (0..POINTS)
        .map(|point| {
            let at_s = duration_s * (stats::size(point) + 0.5) / stats::size(POINTS);
            let values: Vec<f64> = runs.iter().map(|run| unfinished(run, at_s)).collect();
            stats::mean(&values)
        })
        .collect();
    match stats::mser5(&series) {
        Some(left_out) => StartUp::EndsAt(duration_s * stats::size(left_out) / stats::size(POINTS)),
        None => StartUp::NotOver,
    }
}

/// Whether the backlog of these runs of one arm grows from the first half of their arrivals to the second,
/// so that there is no lasting state; with the mean peaks of both halves.
#[must_use]
pub fn overload(runs: &[RunRecord]) -> Option<(f64, f64)> {
    let peaks: Vec<(f64, f64)> = runs.iter().map(peaks).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| stats::mean(&peaks.iter().map(of).collect::<Vec<_>>());
    backlog_grows(&peaks).then(|| (mean(|peak| peak.0), mean(|peak| peak.1)))
}

/// The most unfinished requests in each half of the arrivals.
fn peaks(run: &RunRecord) -> (f64, f64) {
    let half_s = run.duration_s / 2.0;
    let peak = |from_s: f64, to_s: f64| {
        let buckets = run.timeline.buckets.iter().enumerate();
        let within = buckets.filter(|(at, _)| {
            let middle_s = (stats::size(*at) + 0.5) * run.timeline.bucket_s;
            middle_s >= from_s && middle_s < to_s
        });
        within
            .map(|(_, bucket)| f64::from(bucket.unfinished_max))
            .fold(0.0, f64::max)
    };
    (peak(0.0, half_s), peak(half_s, run.duration_s))
}

/// The most unfinished requests in the bucket of a moment.
fn unfinished(run: &RunRecord, at_s: f64) -> f64 {
    let buckets = run.timeline.buckets.iter().enumerate();
    let mut before = buckets.take_while(|(at, _)| stats::size(*at) * run.timeline.bucket_s <= at_s);
    let last = before.by_ref().last();
    last.map_or(0.0, |(_, bucket)| f64::from(bucket.unfinished_max))
}

/// Points of the series.
const POINTS: usize = 240;
