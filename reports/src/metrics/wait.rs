//! Time that requests spent on nothing: backing off, parked, or in attempts that failed.

use super::{Better, Reading, Unit, answered};
use crate::{distribution::as_f64, record::RunRecord};

pub(super) const BACKOFF_S_PER_REQUEST: Reading = Reading {
    name: "backoff_s_per_request",
    title: "Waiting",
    unit: Unit::SecondsPerRequest,
    better: Better::Lower,
    formula: "waited_s / (completed + failed)",
    about: "Time in backoff, parked for a slot or in the priority queue.",
    read: |run| per_request(run, run.waited_s),
};

pub(super) const FAILED_ATTEMPT_S_PER_REQUEST: Reading = Reading {
    name: "failed_attempt_s_per_request",
    title: "In failed attempts",
    unit: Unit::SecondsPerRequest,
    better: Better::Lower,
    formula: "in_failed_attempts_s / (completed + failed)",
    about: "Time in attempts that failed.",
    read: |run| per_request(run, run.in_failed_attempts_s),
};

pub(super) const WASTED_WAIT_S_PER_REQUEST: Reading = Reading {
    name: "wasted_wait_s_per_request",
    title: "Wasted wait",
    unit: Unit::SecondsPerRequest,
    better: Better::Lower,
    formula: "(waited_s + in_failed_attempts_s) / (completed + failed)",
    about: "Both together: what a request waited beyond the attempt that answered it.",
    read: |run| per_request(run, run.waited_s + run.in_failed_attempts_s),
};

fn per_request(run: &RunRecord, seconds: f64) -> Option<f64> {
    let answered = answered(run);
    (answered > 0).then(|| seconds / as_f64(answered))
}
