//! What the answers cost, at the prices of the configuration.

use super::{Better, Reading, Unit};
use crate::distribution::as_f64;

pub(super) const COST_USD_PER_1000_REQUESTS: Reading = Reading {
    name: "cost_usd_per_1000_requests",
    title: "Cost",
    unit: Unit::UsdPer1000Requests,
    better: Better::Lower,
    formula: "1000 × sum of cost_usd / requests",
    about: "Tokens of successful attempts × price; unknown as soon as one billed token has no price.",
    read: |run| {
        run.cost_usd()
            .filter(|_| run.requests > 0)
            .map(|usd| 1_000.0 * usd / as_f64(run.requests))
    },
};
