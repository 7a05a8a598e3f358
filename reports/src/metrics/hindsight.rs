//! How near a strategy comes to what nobody can surpass.

use super::{Better, Reading, Unit, share_of};

pub(super) const OF_HINDSIGHT_RATIO: Reading = Reading {
    name: "of_hindsight_ratio",
    title: "Of hindsight",
    unit: Unit::Ratio,
    better: Better::Higher,
    formula: "good / hindsight_good",
    about: "Good answers as a share of the most that a router could have given that knew every outage, quota and draw beforehand: an upper bound, computed with --hindsight.",
    read: |run| share_of(run.good?, run.hindsight_good?),
};
