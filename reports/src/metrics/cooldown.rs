//! How much of the fleet the router benched.

use super::{Better, Reading, Unit};
use crate::{distribution::as_f64, record::RunRecord, stats::size};

pub(super) const COOLED_SHARE: Reading = Reading {
    name: "cooled_share",
    title: "Cooled",
    unit: Unit::Ratio,
    better: Better::Neither,
    formula: "sum of cooled_s / (deployments × (end_s − warm_up_s))",
    about: "Share of deployment time spent in cooldown; overlapping cooldowns of one deployment count once.",
    read: cooled_share,
};

pub(super) const COOLDOWNS_PER_MINUTE: Reading = Reading {
    name: "cooldowns_per_minute",
    title: "Cooldowns",
    unit: Unit::PerMinute,
    better: Better::Neither,
    formula: "sum of cooldowns / ((end_s − warm_up_s) / 60)",
    about: "Cooldowns begun or renewed, over all deployments.",
    read: cooldowns_per_minute,
};

fn cooled_share(run: &RunRecord) -> Option<f64> {
    let whole = size(run.deployments.len()) * (run.end_s - run.warm_up_s);
    let cooled: f64 = run
        .deployments
        .iter()
        .map(|deployment| deployment.cooled_s)
        .sum();
    (whole > 0.0).then(|| cooled / whole)
}

fn cooldowns_per_minute(run: &RunRecord) -> Option<f64> {
    let begun: u64 = run
        .deployments
        .iter()
        .map(|deployment| deployment.cooldowns)
        .sum();
    let span_s = run.end_s - run.warm_up_s;
    (span_s > 0.0).then(|| as_f64(begun) * 60.0 / span_s)
}
