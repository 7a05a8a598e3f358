//! Whole runs against closed formulas, and what a calibration or a bound by hindsight must give back.
//!
//! The queueing models are scenarios: their requests go from the workload through the engine and the
//! router to the mock providers, and what is compared is what a report would say (or an observer would
//! count). Each figure has its 99 % interval over replications, at most 1 % of the figure to each side;
//! theory must lie inside, and theory for an input that is 2 % larger or smaller outside (`figure`).

#![allow(
    clippy::float_cmp,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail, and looks at few events"
)]

mod calibration;
mod cooldowns;
mod figure;
mod hindsight;
mod losses;
mod odd_logs;
mod queues;
mod quotas;
mod retries;
mod schemas;
mod two_choices;
