//! How long completed requests waited for the first token, from arrival. An answer in one piece has its
//! first token when it arrives.

use super::{Better, Reading, Unit, latency::millis};

pub(super) const FIRST_TOKEN_P50_MS: Reading = Reading {
    name: "first_token_p50_ms",
    title: "First token p50",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.5 of first_token",
    about: "Half of the completed requests had their first token within this time of arriving.",
    read: |run| run.first_token.quantile_s(0.5).map(millis),
};

pub(super) const FIRST_TOKEN_P95_MS: Reading = Reading {
    name: "first_token_p95_ms",
    title: "First token p95",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.95 of first_token",
    about: "95 % of the completed requests had their first token within this time of arriving.",
    read: |run| run.first_token.quantile_s(0.95).map(millis),
};

pub(super) const FIRST_TOKEN_P99_MS: Reading = Reading {
    name: "first_token_p99_ms",
    title: "First token p99",
    unit: Unit::Millis,
    better: Better::Lower,
    formula: "quantile 0.99 of first_token",
    about: "99 % of the completed requests had their first token within this time of arriving.",
    read: |run| run.first_token.quantile_s(0.99).map(millis),
};
