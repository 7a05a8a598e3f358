//! How long completed requests took, from arrival to answer, waits and failed attempts included.
//! Quantiles are at most 0.1 % above the order statistic (see [`crate::Distribution`]).

use super::{Better, Reading, Unit};

pub(super) const LATENCY_P50_MS: Reading = Reading {
    name: "latency_p50_ms",
    title: "Latency p50",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.5 of latency",
    about: "Half of the completed requests took at most this long, from arrival to answer.",
    read: |run| run.latency.quantile_s(0.5).map(millis),
};

pub(super) const LATENCY_P90_MS: Reading = Reading {
    name: "latency_p90_ms",
    title: "Latency p90",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.9 of latency",
    about: "90 % of the completed requests took at most this long, from arrival to answer.",
    read: |run| run.latency.quantile_s(0.9).map(millis),
};

pub(super) const LATENCY_P95_MS: Reading = Reading {
    name: "latency_p95_ms",
    title: "Latency p95",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.95 of latency",
    about: "95 % of the completed requests took at most this long, from arrival to answer.",
    read: |run| run.latency.quantile_s(0.95).map(millis),
};

pub(super) const LATENCY_P99_MS: Reading = Reading {
    name: "latency_p99_ms",
    title: "Latency p99",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.99 of latency",
    about: "99 % of the completed requests took at most this long, from arrival to answer.",
    read: |run| run.latency.quantile_s(0.99).map(millis),
};

pub(super) const LATENCY_P99_9_MS: Reading = Reading {
    name: "latency_p99_9_ms",
    title: "Latency p99.9",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.999 of latency",
    about: "99.9 % of the completed requests took at most this long, from arrival to answer.",
    read: |run| run.latency.quantile_s(0.999).map(millis),
};

pub(super) const LATENCY_MEAN_MS: Reading = Reading {
    name: "latency_mean_ms",
    title: "Latency mean",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "sum of latencies / completed",
    about: "Mean time from arrival to answer of completed requests.",
    read: |run| (run.latency.count > 0).then(|| millis(run.latency.mean_s)),
};

pub(super) const ANSWERED_P99_MS: Reading = Reading {
    name: "answered_p99_ms",
    title: "Answered p99",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.99 of latency_all",
    about: "99 % of all requests knew their fate, answer or error, within this time.",
    read: |run| run.latency_all.quantile_s(0.99).map(millis),
};

pub(super) fn millis(seconds: f64) -> f64 {
    seconds * 1e3
}
