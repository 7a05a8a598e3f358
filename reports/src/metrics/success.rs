//! How many requests got an answer, and how many a good one.

use super::{Better, Reading, Unit, answered, share_of};
use crate::distribution::as_f64;

pub(super) const SUCCESS_RATIO: Reading = Reading {
    name: "success_ratio",
    title: "Success",
    unit: Unit::Ratio,
    better: Better::Higher,
    formula: "completed / (completed + failed)",
    about: "Share of requests that got an answer; callers that went away count on neither side.",
    read: |run| share_of(run.completed, answered(run)),
};

pub(super) const GOODPUT_RATIO: Reading = Reading {
    name: "goodput_ratio",
    title: "Goodput",
    unit: Unit::Ratio,
    better: Better::Higher,
    formula: "good / (completed + failed)",
    about: "Share of requests that got an answer within every bound of the service level; unknown without one.",
    read: |run| share_of(run.good?, answered(run)),
};

pub(super) const GOODPUT_PER_S: Reading = Reading {
    name: "goodput_per_s",
    title: "Goodput rate",
    unit: Unit::PerSecond,
    better: Better::Higher,
    formula: "good / (duration_s − warm_up_s)",
    about: "Good answers a second of arrivals.",
    read: |run| per_second(run.good?, run.duration_s - run.warm_up_s),
};

pub(super) const COMPLETED_PER_S: Reading = Reading {
    name: "completed_per_s",
    title: "Completed",
    unit: Unit::PerSecond,
    better: Better::Higher,
    formula: "completed / (duration_s − warm_up_s)",
    about: "Answers a second of arrivals.",
    read: |run| per_second(run.completed, run.duration_s - run.warm_up_s),
};

fn per_second(count: u64, duration_s: f64) -> Option<f64> {
    (duration_s > 0.0).then(|| as_f64(count) / duration_s)
}
