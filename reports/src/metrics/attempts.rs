//! How much work the router makes out of one request.

use super::{Better, Reading, Unit, share_of};

pub(super) const ATTEMPTS_PER_REQUEST: Reading = Reading {
    name: "attempts_per_request",
    title: "Attempts",
    unit: Unit::PerRequest,
    better: Better::Lower,
    formula: "attempts / requests",
    about: "Attempts sent upstream for each request: the load that providers see.",
    read: |run| share_of(run.attempts, run.requests),
};

pub(super) const RETRIES_PER_REQUEST: Reading = Reading {
    name: "retries_per_request",
    title: "Retries",
    unit: Unit::PerRequest,
    better: Better::Lower,
    formula: "retries / requests",
    about: "Retries within a model group for each request.",
    read: |run| share_of(run.retries, run.requests),
};

pub(super) const FALLBACKS_PER_REQUEST: Reading = Reading {
    name: "fallbacks_per_request",
    title: "Fallbacks",
    unit: Unit::PerRequest,
    better: Better::Neither,
    formula: "sum of fallbacks / requests",
    about: "Moves to another group, tier or remaining set for each request.",
    read: |run| {
        share_of(
            run.fallbacks.iter().map(|one| one.count).sum(),
            run.requests,
        )
    },
};
