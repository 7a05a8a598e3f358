//! How evenly the deployments of a model group share its attempts, and how full they got.

use std::collections::BTreeMap;

use super::{Better, Reading, Unit};
use crate::{distribution::as_f64, record::RunRecord, stats::size};

pub(super) const SHARE_IMBALANCE: Reading = Reading {
    name: "share_imbalance",
    title: "Imbalance",
    unit: Unit::Factor,
    better: Better::Neither,
    formula: "largest share × deployments of the group, mean over groups by attempts",
    about: "How many times its even share the busiest deployment of a group got: 1 is even, n is all on one of n.",
    read: share_imbalance,
};

pub(super) const IN_FLIGHT_MAX: Reading = Reading {
    name: "in_flight_max",
    title: "Peak in flight",
    unit: Unit::Count,
    better: Better::Neither,
    formula: "largest in_flight_max",
    about: "Most attempts that one deployment had in flight at one moment.",
    read: |run| {
        run.deployments
            .iter()
            .map(|deployment| f64::from(deployment.in_flight_max))
            .reduce(f64::max)
    },
};

fn share_imbalance(run: &RunRecord) -> Option<f64> {
    let mut groups: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for deployment in &run.deployments {
        groups
            .entry(&deployment.group)
            .or_default()
            .push(deployment.sent);
    }
    // With weights by attempts, the group's own total cancels out of each term.
    let peaks: f64 = (groups.values())
        .map(|sent| size(sent.len()) * as_f64(sent.iter().copied().max().unwrap_or(0)))
        .sum();
    (run.attempts > 0).then(|| peaks / as_f64(run.attempts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::DeploymentRecord;

    /// In hundredths.
    fn imbalance(sent: &[(&str, u64)]) -> String {
        let deployments = (sent.iter())
            .map(|&(group, sent)| DeploymentRecord {
                group: group.into(),
                sent,
                ..DeploymentRecord::default()
            })
            .collect();
        let attempts = sent.iter().map(|(_, sent)| sent).sum();
        let run = RunRecord {
            deployments,
            attempts,
            ..RunRecord::default()
        };
        format!("{:.2}", share_imbalance(&run).unwrap())
    }

    #[test]
    fn an_even_group_is_at_one_and_a_lone_favourite_at_its_size() {
        assert_eq!(imbalance(&[("a", 5), ("a", 5)]), "1.00");
        assert_eq!(imbalance(&[("a", 10), ("a", 0), ("a", 0)]), "3.00");
    }

    #[test]
    fn a_quiet_fallback_group_is_no_imbalance_of_the_busy_one() {
        assert_eq!(imbalance(&[("a", 50), ("a", 50), ("backup", 0)]), "1.00");
    }
}
