//! What is kept of a run: numbers, and not the record, for a plan makes thousands of runs.

use reports::{AnswerError, RunRecord};
use sim::tune::Bound;

/// What is kept of a run.
pub(super) struct Seen {
    /// Values of the bounds' metrics, group by group.
    pub(super) values: Vec<Option<f64>>,
    pub(super) cost_usd: Option<f64>,
    requests: f64,
    hours: f64,
    /// Peaks of unfinished requests of each group in the halves of the arrivals.
    pub(super) peaks: Vec<(f64, f64)>,
    /// Why requests of each group failed.
    pub(super) errors: Vec<Vec<AnswerError>>,
}

impl Seen {
    pub(super) fn of(records: &[RunRecord], groups: usize, bounds: &[Bound]) -> Self {
        let values = (0..groups).flat_map(|group| {
            let record = records.get(group);
            bounds.iter().map(move |bound| bound.metric.value(record?))
        });
        let hours = records
            .first()
            .map_or(0.0, |record| record.duration_s / 3_600.0);
        let requests = records.iter().map(|record| record.requests);
        Self {
            values: values.collect(),
            cost_usd: records.iter().map(RunRecord::cost_usd).sum(),
            requests: f64::from(u32::try_from(requests.sum::<u64>()).unwrap_or(u32::MAX)),
            hours,
            peaks: records.iter().map(peaks).collect(),
            errors: records.iter().map(|record| record.errors.clone()).collect(),
        }
    }

    /// US dollars for a thousand requests, and an hour.
    pub(super) fn costs(&self) -> Option<(f64, f64)> {
        let usd = self.cost_usd?;
        (self.requests > 0.0).then(|| (1_000.0 * usd / self.requests, usd / self.hours))
    }
}

/// Most unfinished requests in the first and in the second half of the arrivals.
fn peaks(record: &RunRecord) -> (f64, f64) {
    let timeline = &record.timeline;
    let mut peaks = (0.0, 0.0);
    let mut end_s = 0.0;
    for bucket in &timeline.buckets {
        end_s += timeline.bucket_s;
        let unfinished = f64::from(bucket.unfinished_max);
        if end_s <= record.duration_s / 2.0 {
            peaks.0 = f64::max(peaks.0, unfinished);
        } else if end_s <= record.duration_s * 1.001 {
            peaks.1 = f64::max(peaks.1, unfinished);
        }
    }
    peaks
}
