//! What those who ask see where a client library stands in front of the router, and how its retries
//! multiply with the router's. Unknown in scenarios without a `client`.

use super::{Better, Reading, Unit, latency::millis, share_of};
use crate::{calls::CallsRecord, record::RunRecord};

pub(super) const CALL_SUCCESS_RATIO: Reading = Reading {
    name: "call_success_ratio",
    title: "Calls answered",
    unit: Unit::Ratio,
    better: Better::Higher,
    formula: "calls.answered / calls.calls",
    about: "Share of calls that were answered while somebody waited, after the client library's retries.",
    read: |run| of_calls(run, |calls| Some(calls.answered)),
};

pub(super) const CALL_GOODPUT_RATIO: Reading = Reading {
    name: "call_goodput_ratio",
    title: "Call goodput",
    unit: Unit::Ratio,
    better: Better::Higher,
    formula: "calls.good / calls.calls",
    about: "Share of calls that were answered within every bound of the service level, counted from the call's beginning; unknown without one.",
    read: |run| of_calls(run, |calls| calls.good),
};

pub(super) const CALL_LATENCY_P50_MS: Reading = Reading {
    name: "call_latency_p50_ms",
    title: "Call latency p50",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.5 of calls.latency",
    about: "Half of the answered calls took at most this long, the client library's retries and waits included.",
    read: |run| run.calls.as_ref()?.latency.quantile_s(0.5).map(millis),
};

pub(super) const CALL_LATENCY_P99_MS: Reading = Reading {
    name: "call_latency_p99_ms",
    title: "Call latency p99",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.99 of calls.latency",
    about: "99 % of the answered calls took at most this long, the client library's retries and waits included.",
    read: |run| run.calls.as_ref()?.latency.quantile_s(0.99).map(millis),
};

pub(super) const REQUESTS_PER_CALL: Reading = Reading {
    name: "requests_per_call",
    title: "Requests per call",
    unit: Unit::PerCall,
    better: Better::Lower,
    formula: "calls.requests / calls.calls",
    about: "Requests that the client library sent to the router for a call.",
    read: |run| of_calls(run, |calls| Some(calls.requests)),
};

pub(super) const ATTEMPTS_PER_CALL: Reading = Reading {
    name: "attempts_per_call",
    title: "Attempts per call",
    unit: Unit::PerCall,
    better: Better::Lower,
    formula: "calls.attempts / calls.calls",
    about: "What reaches the providers for a call: the client library's tries times the router's.",
    read: |run| of_calls(run, |calls| Some(calls.attempts)),
};

pub(super) const HUNG_UP_RATIO: Reading = Reading {
    name: "hung_up_ratio",
    title: "Hung up",
    unit: Unit::Ratio,
    better: Better::Lower,
    formula: "calls.hung_up / calls.calls",
    about: "Share of calls whose maker went away before an answer or an error.",
    read: |run| of_calls(run, |calls| Some(calls.hung_up)),
};

pub(super) const UNHEARD_ANSWERS_PER_CALL: Reading = Reading {
    name: "unheard_answers_per_call",
    title: "Unheard answers",
    unit: Unit::PerCall,
    better: Better::Lower,
    formula: "calls.unheard_answers / calls.calls",
    about: "Answers that came after their caller had given up: paid for, and read by nobody.",
    read: |run| of_calls(run, |calls| Some(calls.unheard_answers)),
};

fn of_calls(run: &RunRecord, count: fn(&CallsRecord) -> Option<u64>) -> Option<f64> {
    let calls = run.calls.as_ref()?;
    share_of(count(calls)?, calls.calls)
}
