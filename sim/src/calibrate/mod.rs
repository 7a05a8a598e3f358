//! From a log to a scenario: what of it is traffic, what each deployment is like, how well that holds on
//! the part of the log that took no part, and the scenario file that says so.
//!
//! The last quarter of the time is held out: everything is fitted once on the first three quarters to be
//! tested on the last, and once on all of it to be written down. What the log does not show is not made
//! up: it is left out of the scenario and told among `unknown`.

mod deployment;
mod failures;
mod fault_text;
mod grain;
mod held_out;
mod pairs;
mod scenario_text;
mod senders;
mod told;
mod traffic;
mod window;

use scenarios::logs::{Log, LogBooks};
use serde::Serialize;

pub use self::{
    deployment::DeploymentFit,
    failures::{ErrorShare, FailureFit, TimeLimit},
    held_out::{HeldOut, HeldOutDeployment, QuantileCheck},
    pairs::QuantilePair,
    senders::SenderShare,
    traffic::TrafficFit,
    window::Window,
};

/// Everything that was found in a log.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Calibration {
    /// The time that counts.
    pub window: Window,
    /// Rows of the log, and what became of them.
    pub rows: RowsTold,
    /// Who asks what, when.
    pub traffic: TrafficFit,
    /// What each deployment is like, the busiest first.
    pub deployments: Vec<DeploymentFit>,
    /// How well a fit of the first three quarters holds on the last.
    pub held_out: HeldOut,
    /// What could not be fitted, and why.
    pub unknown: Vec<String>,
}

/// The books of a log, as told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RowsTold {
    /// Formats that were found.
    pub formats: Vec<String>,
    /// Rows in the files.
    pub read: u64,
    /// Rows that were used.
    pub kept: usize,
    /// Reason → rows dropped, and the first.
    pub dropped: Vec<(String, u64, String)>,
    /// Columns that were not read, and why.
    pub ignored: Vec<(String, String)>,
}

/// Why a log cannot be calibrated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CalibrationError {
    /// It has too few requests to tell a rate.
    #[error("the log has {found} requests in the time that counts; accepted are {least} or more")]
    TooFew {
        /// So many.
        found: usize,
        /// So many are needed.
        least: usize,
    },
}

impl Calibration {
    /// Fits everything.
    ///
    /// # Errors
    ///
    /// If the log has too few requests.
    pub fn of(log: &Log) -> Result<Self, CalibrationError> {
        let grain = grain::Grain::of(log);
        let spread = grain.spread(log);
        let log = spread.as_ref();
        let window = Window::of(log);
        let mut unknown = window.told(log);
        unknown.extend(grain.told());
        let Some(traffic) = TrafficFit::of(log, &window, window.whole(), &mut unknown) else {
            return Err(CalibrationError::TooFew {
                found: window.arrivals(log, window.whole()).len(),
                least: FEWEST_REQUESTS,
            });
        };
        let deployments = deployment::fit_all(log, &window, window.whole(), &mut unknown);
        let held_out = HeldOut::of(log, &window, &deployments);
        Ok(Self {
            rows: RowsTold::of(&log.books, log),
            window,
            traffic,
            deployments,
            held_out,
            unknown,
        })
    }

    /// The scenario file, with where each number comes from. `source` names the log.
    #[must_use]
    pub fn scenario(&self, source: &str) -> String {
        scenario_text::text(self, source)
    }

    /// The findings in sentences, the most important first.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        told::findings(self)
    }

    /// Everything, for programs.
    #[must_use]
    pub fn json(&self, source: &str) -> String {
        let document = serde_json::json!({
            "source": source,
            "findings": self.findings(),
            "calibration": self,
        });
        format!("{document:#}\n")
    }
}

impl RowsTold {
    fn of(books: &LogBooks, log: &Log) -> Self {
        let dropped = books.dropped.iter();
        let ignored = books.ignored.iter();
        Self {
            formats: log.formats.clone(),
            read: books.read,
            kept: log.rows.len(),
            dropped: dropped
                .map(|(reason, (count, first))| ((*reason).to_owned(), *count, first.clone()))
                .collect(),
            ignored: ignored
                .map(|(column, reason)| (column.clone(), (*reason).to_owned()))
                .collect(),
        }
    }
}

/// Fewer requests are refused.
pub const FEWEST_REQUESTS: usize = 30;
