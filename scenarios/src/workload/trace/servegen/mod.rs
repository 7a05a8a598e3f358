//! ServeGen (Xiang et al., arXiv 2505.09999): rates by window, of a whole service or of each caller.
//!
//! `rates.rs` reads the one, `callers.rs` the other, `stats.rs` says what they look like. Nothing
//! here draws: the result is data that a workload is made of.

mod callers;
mod rates;
mod stats;

pub use self::{
    callers::{ClientRow, ClientTable, LengthFields, Pattern, read_folder},
    rates::RateTable,
    stats::{ClientsStats, RateStats},
};
use super::problem;
use crate::{error::ScenarioError, workload::rate::Step};

/// The part of a trace that is played, and how fast.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slice {
    /// First second of the trace that is played.
    pub from_s: f64,
    /// The second of the trace at which it ends; its own end where `None`.
    pub to_s: Option<f64>,
    /// What rates are multiplied by.
    pub rate_multiplier: f64,
}

impl Slice {
    /// Where it ends, given the trace's end.
    pub(crate) fn end(self, end: f64, file: &str) -> Result<f64, ScenarioError> {
        let to_s = self.to_s.unwrap_or(end).min(end);
        if self.from_s < to_s {
            return Ok(to_s);
        }
        let message = format!(
            "the slice from {} s on is empty: the trace ends at {} s",
            self.from_s,
            seconds(end)
        );
        Err(problem(file, None, &message))
    }
}

/// Seconds with at most three decimals.
pub(crate) fn seconds(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The rate curve of a slice, from 0. `windows` end where the next begins, the last at `end`.
fn steps(windows: &[(f64, f64)], slice: Slice, to_s: f64, end: f64) -> Vec<Step> {
    let ends = windows.iter().skip(1).map(|(begin, _)| *begin).chain([end]);
    let mut steps = Vec::new();
    for ((_, rate), until) in windows.iter().zip(ends) {
        let until_s = until.min(to_s) - slice.from_s;
        if until_s > steps.last().map_or(0.0, |step: &Step| step.until_s) {
            steps.push(Step {
                until_s,
                per_second: rate * slice.rate_multiplier,
            });
        }
    }
    steps
}
