//! From what the router did to tables, plots and one page.
//!
//! A [`Recorder`] listens to a router and ends as a [`RunRecord`]: plain data of bounded size,
//! however many requests the run had. The runs of a sweep lie together in a [`SweepRecord`], arm by
//! arm. [`metrics()`] is the table of everything that can be read off a run; [`stats`] turns the
//! replications of an arm into a mean with its interval.
//!
//! What each number means, by formula, is in `METRICS.md`.

mod advice;
mod comparison;
mod distribution;
mod effects;
mod error;
mod labels;
pub mod metrics;
mod record;
mod recorder;
mod span_union;
pub mod stats;
mod time_buckets;

pub use advice::{Findings, findings, headline};
pub use distribution::{Bin, Distribution};
pub use error::ReportError;
pub use metrics::{Better, Metric, Unit, metric, metrics};
pub use record::{
    AnswerError, ArmRecord, AttemptError, AxisRecord, CooldownSpan, DeploymentRecord,
    DeploymentTimeline, ErrorOrigin, FallbackCount, FaultSpanRecord, RunRecord, SweepRecord,
    TimeBucket, Timeline,
};
pub use recorder::{DeploymentLabel, Recorder, RecorderSetup};
