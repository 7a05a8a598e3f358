//! One side of a gate: the values of each metric by replication, from a sweep or from the
//! `results.json` of an earlier one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Values;
use crate::{
    metrics::{Metric, metrics},
    record::SweepRecord,
};

/// The runs of one side.
#[derive(Clone, PartialEq, Debug)]
pub struct GateSide {
    /// What it is called.
    pub label: String,
    /// Scenario and seed: sides that agree met the same luck.
    luck: Option<(String, u64)>,
    replications: Vec<u32>,
    values: BTreeMap<String, Vec<Option<f64>>>,
}

impl GateSide {
    /// An arm of a sweep.
    #[must_use]
    pub fn of_arm(sweep: &SweepRecord, arm: usize, label: &str) -> Self {
        let runs = &sweep.arms[arm].runs;
        let of = |metric: &&dyn Metric| {
            let values = runs.iter().map(|run| metric.value(run)).collect();
            (metric.name().to_owned(), values)
        };
        Self {
            label: label.to_owned(),
            luck: Some((sweep.title.clone(), sweep.seed)),
            replications: runs.iter().map(|run| run.replication).collect(),
            values: metrics().iter().map(of).collect(),
        }
    }

    /// The reference arm of a report's `results.json`.
    ///
    /// # Errors
    ///
    /// With what is missing, in words.
    pub fn of_results(text: &str, label: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        if document["partial"] == true {
            return Err("it is partial: its runs were interrupted".to_owned());
        }
        let arms = document["arms"].as_array().ok_or(NO_RESULTS)?;
        let arm = arms
            .iter()
            .find(|arm| arm["is_reference"] == true)
            .ok_or("it has no reference arm")?;
        let replications = arm["replications"].as_array().ok_or(NO_RESULTS)?;
        let replications: Option<Vec<u32>> = replications
            .iter()
            .map(|r| r.as_u64().and_then(|r| u32::try_from(r).ok()))
            .collect();
        let metrics = arm["metrics"].as_object().ok_or(NO_RESULTS)?;
        let values = metrics.iter().map(|(name, metric)| {
            let values = metric["values"].as_array();
            let values = values.map(|list| list.iter().map(Value::as_f64).collect());
            (name.clone(), values.unwrap_or_default())
        });
        let luck = document["title"]
            .as_str()
            .map(str::to_owned)
            .zip(document["seed"].as_u64());
        Ok(Self {
            label: label.to_owned(),
            luck,
            replications: replications.ok_or(NO_RESULTS)?,
            values: values.collect(),
        })
    }

    /// Whether run i of both met the same requests and the same providers.
    pub(super) fn same_luck(&self, other: &Self) -> bool {
        self.luck.is_some() && self.luck == other.luck
    }

    /// Whether both are of one scenario, as far as they say.
    #[must_use]
    pub fn same_scenario(&self, other: &Self) -> bool {
        let titles = self.luck.as_ref().zip(other.luck.as_ref());
        titles.is_none_or(|((a, _), (b, _))| a == b)
    }

    pub(super) fn values(&self, metric: &dyn Metric) -> Values {
        let values = self.values.get(metric.name()).map(Vec::as_slice);
        self.replications
            .iter()
            .zip(values.unwrap_or_default())
            .map(|(&replication, &value)| (replication, value))
            .collect()
    }

    /// A side with one metric, for tests.
    #[cfg(test)]
    pub(super) fn of_values(
        label: &str,
        luck: Option<(&str, u64)>,
        metric: &str,
        values: &[f64],
    ) -> Self {
        Self {
            label: label.to_owned(),
            luck: luck.map(|(title, seed)| (title.to_owned(), seed)),
            replications: (0..).take(values.len()).collect(),
            values: [(
                metric.to_owned(),
                values.iter().copied().map(Some).collect(),
            )]
            .into(),
        }
    }
}

const NO_RESULTS: &str = "it is no `results.json` of a report of this version";
