//! What each axis does on its own: the mean over all arms that share a value, replication by replication.

use crate::{
    comparison::Comparison,
    metrics::{Better, Metric},
    record::AxisRecord,
    stats::{self, PairedDifference},
};

/// The main effect of one axis on one metric.
#[derive(Clone, Debug)]
pub(crate) struct Effect<'a> {
    pub(crate) axis: &'a AxisRecord,
    /// The value with the best mean, and that mean.
    pub(crate) best: (&'a str, f64),
    /// The value with the worst mean, and that mean.
    pub(crate) worst: (&'a str, f64),
    /// Best minus worst.
    pub(crate) paired: PairedDifference,
}

/// The effect of each axis that has at least two values, largest first.
pub(crate) fn effects<'a>(comparison: &Comparison<'a>, metric: &dyn Metric) -> Vec<Effect<'a>> {
    let axes = comparison
        .sweep
        .axes
        .iter()
        .filter(|axis| axis.values.len() > 1);
    let mut effects: Vec<_> = axes
        .filter_map(|axis| effect(comparison, axis, metric))
        .collect();
    effects.sort_by(|a, b| {
        let size = |effect: &Effect<'_>| effect.paired.difference.mean.abs();
        size(b).total_cmp(&size(a))
    });
    effects
}

fn effect<'a>(
    comparison: &Comparison<'a>,
    axis: &'a AxisRecord,
    metric: &dyn Metric,
) -> Option<Effect<'a>> {
    let by_value: Vec<Level<'_>> = (axis.values.iter())
        .filter_map(|value| Level::new(comparison, axis, value, metric))
        .collect();
    let rank = |level: &Level<'_>| match metric.better() {
        Better::Lower => -level.mean,
        Better::Higher | Better::Neither => level.mean,
    };
    let best = by_value.iter().max_by(|a, b| rank(a).total_cmp(&rank(b)))?;
    let worst = by_value.iter().min_by(|a, b| rank(a).total_cmp(&rank(b)))?;
    (best.value != worst.value).then_some(())?;
    let both = best.by_replication.iter().zip(&worst.by_replication);
    let (of_best, of_worst): (Vec<f64>, Vec<f64>) = both.filter_map(|(a, b)| a.zip(*b)).unzip();
    Some(Effect {
        axis,
        best: (best.value, best.mean),
        worst: (worst.value, worst.mean),
        paired: stats::paired_difference(&of_best, &of_worst)?,
    })
}

/// The arms that share a value.
struct Level<'a> {
    value: &'a str,
    mean: f64,
    /// Their mean in each replication; unknown where one of them has no value.
    by_replication: Vec<Option<f64>>,
}

impl<'a> Level<'a> {
    fn new(
        comparison: &Comparison<'_>,
        axis: &AxisRecord,
        value: &'a str,
        metric: &dyn Metric,
    ) -> Option<Self> {
        let arms: Vec<usize> = (0..comparison.sweep.arms.len())
            .filter(|&arm| comparison.sweep.arms[arm].value_on(&axis.name) == Some(value))
            .collect();
        let of = |arm: usize, replication: u32| {
            let run = comparison
                .runs(arm)
                .iter()
                .find(|run| run.replication == replication)?;
            metric.value(run)
        };
        let by_replication: Vec<Option<f64>> = (0..comparison.replications())
            .map(|replication| {
                let values = arms.iter().map(|&arm| of(arm, replication));
                values
                    .collect::<Option<Vec<f64>>>()
                    .filter(|values| !values.is_empty())
            })
            .map(|values| values.map(|values| stats::mean(&values)))
            .collect();
        let known: Vec<f64> = by_replication.iter().copied().flatten().collect();
        (!known.is_empty()).then(|| Self {
            value,
            mean: stats::mean(&known),
            by_replication,
        })
    }
}
