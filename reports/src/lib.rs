//! From what the router did to tables, plots and one page.
//!
//! A [`Recorder`] listens to a router and ends as a [`RunRecord`]: plain data of bounded size,
//! however many requests the run had. The runs of a sweep lie together in a [`SweepRecord`], arm by
//! arm. [`metrics()`] is the table of everything that can be read off a run; [`stats`] turns the
//! replications of an arm into a mean with its interval.
//!
//! What each number means, by formula, is in `METRICS.md`.

mod advice;
mod aligned;
mod along;
mod blame;
mod blames_table;
mod calls;
mod capacity;
mod common_luck;
mod comparison;
mod console;
mod console_pictures;
mod distribution;
mod effects;
mod error;
#[cfg(feature = "render")]
mod fit_page;
pub mod fits;
#[cfg(feature = "render")]
mod found_table;
#[cfg(feature = "render")]
mod gate;
#[cfg(feature = "render")]
mod html;
mod labels;
mod markdown;
pub mod metrics;
mod overview;
#[cfg(feature = "render")]
mod page;
#[cfg(feature = "render")]
pub mod plots;
mod precision;
mod probe;
mod record;
mod recorder;
mod recorder_setup;
#[cfg(feature = "render")]
mod report;
mod senders;
mod senders_table;
mod span_union;
pub mod stats;
#[cfg(feature = "render")]
mod story_page;
#[cfg(feature = "render")]
mod table;
mod tally;
mod text_frontier;
mod text_plots;
mod time_buckets;
#[cfg(feature = "render")]
mod twins;

pub use advice::{Findings, findings, headline};
pub use aligned::aligned;
pub use blame::{Blame, BlameCount, BlameShare, Blamer, blame_shares};
pub use calls::{CallEnd, CallTally, CallsRecord};
pub use capacity::{
    Below, Bottleneck, CapacityGroup, CapacityLine, CapacityRecord, Headroom, Measure, Outage,
    SizeFound, SizeUnit, capacity_finding, capacity_markdown, capacity_picture, capacity_table,
};
pub use console::console;
pub use distribution::{Bin, Distribution};
pub use error::ReportError;
pub use markdown::markdown;
pub use metrics::{Better, Metric, Unit, metric, metrics};
pub use precision::{Precision, precision};
pub use probe::{ProbeArm, ProbeRecord, probe_finding, probe_markdown, probe_picture, probe_table};
pub use record::{
    AnswerError, ArmRecord, AttemptError, AxisRecord, CooldownSpan, DeploymentRecord,
    DeploymentTimeline, ErrorOrigin, FallbackCount, FaultSpanRecord, RunRecord, SweepRecord,
    TimeBucket, Timeline,
};
pub use recorder::Recorder;
pub use recorder_setup::{DeploymentLabel, RecorderSetup};
pub use senders::{BySender, SenderRecord};
pub use text_frontier::{Candidate as FrontierCandidate, text_frontier};
pub use text_plots::bar;
#[cfg(feature = "render")]
pub use {
    fit_page::{FitPage, FitTable, fit_page},
    gate::{
        Gate, GateRow, GateSide, GateVerdict, Loss, LossEstimate, Margin, MarginError, gate_json,
        gate_junit, gate_markdown, gate_text,
    },
    page::page,
    report::{csv_text, json_text, write_report},
    story_page::{StoryPage, story_page},
    table::{arms_frame, runs_frame},
    twins::{Sameness, TwinRow, Twins},
};
