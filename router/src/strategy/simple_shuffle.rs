//! `simple-shuffle`: a weighted draw. (semantics 3.1)
//!
//! The weights are `weight`, else `rpm`, else `tpm`, else all alike; which of them is used depends on
//! the candidates, so a cooldown can change it. While every member of a group is a candidate the
//! draw comes from a table made once, whatever the group's size.
//!
//! LiteLLM takes negative weights too, and draws by running sums that then go down: 1.92 halves the
//! list as if they rose, 1.110 takes the first sum that is above the draw. (`weights-negative-*`)

use rand_distr::{Distribution, weighted::WeightedAliasIndex};

use super::{Candidates, PickContext, RoutingStrategy};
use crate::{config::DeploymentConfig, request::DeploymentId, rng::KeyedRng, rules::ShuffleMetric};

/// `simple-shuffle`.
#[derive(Debug)]
pub(super) struct SimpleShuffle {
    metric: ShuffleMetric,
    /// By group: how to draw when every member is a candidate; `None` until asked for.
    whole: Vec<Option<Draw>>,
}

/// How to draw among the members of a group.
#[derive(Debug)]
enum Draw {
    Evenly,
    Weighted(WeightedAliasIndex<f64>),
    /// Some weights are negative: there is no table for that.
    BySums,
}

impl SimpleShuffle {
    pub(super) fn new(metric: ShuffleMetric) -> Self {
        Self {
            metric,
            whole: Vec::new(),
        }
    }

    /// The value that decides a deployment's share, if any does among these candidates.
    fn deciding(&self, cx: &PickContext<'_>, candidates: &[DeploymentId]) -> Option<Value> {
        const VALUES: [Value; 3] = [
            |d| d.weight,
            |d| d.rpm.map(as_weight),
            |d| d.tpm.map(as_weight),
        ];
        let values = |value: Value| candidates.iter().map(move |&d| value(cx.config(d)));
        VALUES.into_iter().find(|&value| {
            let told = match self.metric {
                ShuffleMetric::AnyCandidate => values(value).flatten().any(|v| v > 0.0),
                ShuffleMetric::FirstCandidate => values(value).next().flatten().is_some(),
            };
            told && values(value).map(Option::unwrap_or_default).sum::<f64>() > 0.0
        })
    }

    fn draw(&self, cx: &PickContext<'_>, members: &[DeploymentId]) -> Draw {
        let Some(value) = self.deciding(cx, members) else {
            return Draw::Evenly;
        };
        let weights = members.iter().map(|&d| value(cx.config(d)).unwrap_or(0.0));
        // There is no table if a weight is negative: their sum is above zero, and `Router::new`
        // refuses what is not finite.
        WeightedAliasIndex::new(weights.collect()).map_or(Draw::BySums, Draw::Weighted)
    }
}

impl RoutingStrategy for SimpleShuffle {
    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        let members = candidates.members;
        if candidates.whole {
            let group = cx.group.index();
            if group >= self.whole.len() {
                self.whole.resize_with(group + 1, || None);
            }
            if self.whole[group].is_none() {
                self.whole[group] = Some(self.draw(cx, members));
            }
            match &self.whole[group] {
                Some(Draw::Weighted(table)) => return members.get(table.sample(rng)).copied(),
                Some(Draw::BySums) => {}
                Some(Draw::Evenly) | None => {
                    return members.get(rng.below(members.len())).copied();
                }
            }
        }
        let Some(value) = self.deciding(cx, members) else {
            return members.get(rng.below(members.len())).copied();
        };
        let weight = |d: DeploymentId| value(cx.config(d)).unwrap_or(0.0);
        let total: f64 = members.iter().map(|&d| weight(d)).sum();
        let drawn = rng.unit() * total;
        if self.metric == ShuffleMetric::FirstCandidate && members.iter().any(|&d| weight(d) < 0.0)
        {
            return halved(members, drawn, weight);
        }
        let mut left = drawn;
        for &deployment in members {
            left -= weight(deployment);
            if left < 0.0 {
                return Some(deployment);
            }
        }
        // Rounding may leave a sliver: it belongs to the last that has a share.
        members.iter().rfind(|&&d| weight(d) > 0.0).copied()
    }

    fn counts(&self) -> bool {
        false
    }

    fn on_groups_changed(&mut self) {
        self.whole.clear();
    }
}

/// Whom a search by halves finds among running sums that need not rise.
fn halved(
    members: &[DeploymentId],
    drawn: f64,
    weight: impl Fn(DeploymentId) -> f64,
) -> Option<DeploymentId> {
    let sum = |upto: usize| members[..=upto].iter().map(|&d| weight(d)).sum::<f64>();
    let (mut low, mut high) = (0, members.len().saturating_sub(1));
    while low < high {
        let middle = usize::midpoint(low, high);
        match drawn < sum(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    members.get(low).copied()
}

/// Whether a weight among these candidates is a text, which cannot be compared or added.
/// (observed)
pub(crate) fn meets_text(
    metric: ShuffleMetric,
    deployments: &[DeploymentConfig],
    candidates: &[DeploymentId],
) -> bool {
    let config = |d: &DeploymentId| &deployments[d.index()];
    let looks_at_weights = match metric {
        ShuffleMetric::AnyCandidate => true,
        ShuffleMetric::FirstCandidate => candidates
            .first()
            .map(config)
            .is_some_and(|first| first.weight_is_text || first.weight.is_some()),
    };
    looks_at_weights && candidates.iter().any(|d| config(d).weight_is_text)
}

type Value = fn(&DeploymentConfig) -> Option<f64>;

#[expect(
    clippy::cast_precision_loss,
    reason = "a share needs no more than 53 bits"
)]
fn as_weight(per_minute: u64) -> f64 {
    per_minute as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        StrategySpec,
        profile::Profile,
        strategy::tests::{Fixture, deployments},
    };

    fn shares(configs: Vec<DeploymentConfig>, members: &[u32], profile: Profile) -> Vec<f64> {
        let mut fixture = Fixture::new(StrategySpec::SimpleShuffle, configs, profile);
        let whole = members.len() == fixture.len();
        let draws = 40_000;
        let mut counts = vec![0_u32; fixture.len()];
        for request in 0..draws {
            let picked = fixture.pick(request, members, whole).unwrap();
            counts[picked.index()] += 1;
        }
        counts
            .into_iter()
            .map(|n| f64::from(n) / f64::from(u32::try_from(draws).unwrap()))
            .collect()
    }

    fn weights(values: [Option<f64>; 3]) -> Vec<DeploymentConfig> {
        let mut configs = deployments(3);
        for (config, weight) in configs.iter_mut().zip(values) {
            config.weight = weight;
        }
        configs
    }

    fn close(got: &[f64], want: &[f64]) {
        for (g, w) in got.iter().zip(want) {
            // Four standard errors of 40,000 draws at one half.
            assert!((g - w).abs() < 0.01, "{got:?} is not {want:?}");
        }
    }

    #[test]
    fn shares_follow_the_weights_whether_or_not_the_group_is_whole() {
        let configs = weights([Some(5.0), Some(3.0), Some(2.0)]);

        close(
            &shares(configs.clone(), &[0, 1, 2], Profile::default()),
            &[0.5, 0.3, 0.2],
        );
        close(
            &shares(configs, &[0, 2], Profile::default()),
            &[5.0 / 7.0, 0.0, 2.0 / 7.0],
        );
    }

    #[test]
    fn without_any_value_all_are_alike() {
        let third = 1.0 / 3.0;

        close(
            &shares(deployments(3), &[0, 1, 2], Profile::default()),
            &[third, third, third],
        );
        close(
            &shares(deployments(3), &[1, 2], Profile::default()),
            &[0.0, 0.5, 0.5],
        );
    }

    #[test]
    fn weights_that_are_all_zero_fall_through_to_rpm() {
        let mut configs = weights([Some(0.0), Some(0.0), Some(0.0)]);
        configs[0].rpm = Some(300);
        configs[1].rpm = Some(100);

        close(
            &shares(configs, &[0, 1, 2], Profile::default()),
            &[0.75, 0.25, 0.0],
        );
    }

    #[test]
    fn a_weight_on_the_last_only_counts_in_1_110_and_not_in_1_92() {
        let configs = weights([None, None, Some(3.0)]);
        let third = 1.0 / 3.0;

        close(
            &shares(configs.clone(), &[0, 1, 2], Profile::litellm_1_110()),
            &[0.0, 0.0, 1.0],
        );
        close(
            &shares(configs, &[0, 1, 2], Profile::litellm_1_92()),
            &[third, third, third],
        );
    }

    #[test]
    fn a_negative_weight_takes_shares_of_its_neighbours_by_each_versions_search() {
        let configs = weights([Some(2.0), Some(-1.0), Some(2.0)]);
        let (one, two) = (1.0 / 3.0, 2.0 / 3.0);

        close(
            &shares(configs.clone(), &[0, 1, 2], Profile::litellm_1_110()),
            &[two, 0.0, one],
        );
        close(
            &shares(configs.clone(), &[0, 1, 2], Profile::litellm_1_92()),
            &[one, 0.0, two],
        );
        close(
            &shares(configs, &[1, 2], Profile::litellm_1_92()),
            &[0.0, 0.0, 1.0],
        );
    }

    #[test]
    fn weights_whose_sum_is_not_above_zero_decide_nothing() {
        for profile in [Profile::litellm_1_110(), Profile::litellm_1_92()] {
            let configs = weights([Some(-3.0), Some(1.0), Some(2.0)]);
            let third = 1.0 / 3.0;
            close(
                &shares(configs, &[0, 1, 2], profile),
                &[third, third, third],
            );
        }
    }
}
