//! What happens around the calls: answers without one, refusals before one, copies of one.

use super::{Better, Reading, Unit, answered, share_of};

pub(super) const CACHE_HIT_RATIO: Reading = Reading {
    name: "cache_hit_ratio",
    title: "Cache hits",
    unit: Unit::Ratio,
    better: Better::Neither,
    formula: "cache_hits / (completed + failed)",
    about: "Share of requests that the response cache answered, without a call and without a price.",
    read: |run| share_of(run.cache_hits, answered(run)),
};

pub(super) const LIMITS_REFUSED_PER_REQUEST: Reading = Reading {
    name: "limits_refused_per_request",
    title: "Limits refused",
    unit: Unit::PerRequest,
    better: Better::Lower,
    formula: "limits_refused / requests",
    about: "Attempts that the router's own counts of requests or tokens refused before they were sent.",
    read: |run| share_of(run.limits_refused, run.requests),
};

pub(super) const MIRRORS_PER_REQUEST: Reading = Reading {
    name: "mirrors_per_request",
    title: "Mirrors",
    unit: Unit::PerRequest,
    better: Better::Neither,
    formula: "mirrors / requests",
    about: "Copies that went to silent models, of which no other metric but the cost knows.",
    read: |run| share_of(run.mirrors, run.requests),
};
