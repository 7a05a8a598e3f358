//! Whether a scenario's `expect:` holds: each expectation against each arm that its `where` selects.
//!
//! What is judged is the mean over replications with its 95 % interval. An expectation holds if the
//! whole interval keeps the bound, fails if the whole interval breaks it, and is inconclusive if the
//! bound lies inside: then more replications are needed, not another opinion. A single replication
//! has no interval and is judged by its value alone. An arm in which the metric has no value (no
//! request succeeded, so there is no latency) fails: nothing was shown. An arm without a finished
//! run is inconclusive.

use std::fmt;

use reports::{ArmRecord, Metric, SweepRecord, metrics, stats};
use scenarios::Expectation;

/// What became of one expectation in one arm.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    /// Name of the metric.
    pub metric: String,
    /// `axis=value` of each axis; empty if the scenario sweeps nothing.
    pub arm: String,
    /// What was asked, e.g. `at least 0.99`.
    pub bound: String,
    /// What was found, e.g. `0.9971 ± 0.0004`.
    pub found: String,
    /// The finding.
    pub finding: Finding,
}

/// Whether an expectation holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Finding {
    /// The whole interval keeps the bound.
    Holds,
    /// The interval holds the bound inside, or no run finished.
    Inconclusive,
    /// The whole interval breaks the bound, or the metric has no value.
    Fails,
}

impl Finding {
    /// The finding over many: the worst of them.
    #[must_use]
    pub fn worst(verdicts: &[Verdict]) -> Self {
        verdicts
            .iter()
            .map(|verdict| verdict.finding)
            .max()
            .unwrap_or(Self::Holds)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Inconclusive => "inconclusive",
            Self::Fails => "fails",
        })
    }
}

/// An expectation that cannot be judged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExpectError {
    /// No arm is selected by `where`.
    #[error("expect: no arm has {filter}; the axes are {axes}")]
    NoArm {
        /// What was asked for.
        filter: String,
        /// What there is.
        axes: String,
    },
    /// There is no such metric.
    #[error("expect: unknown metric `{name}`; {help}")]
    UnknownMetric {
        /// As written.
        name: String,
        /// What was probably meant, or all that there is.
        help: String,
    },
}

/// The metrics of the expectations, looked up before anything is run.
///
/// # Errors
///
/// If one is unknown.
pub fn check_metrics(expectations: &[Expectation]) -> Result<(), ExpectError> {
    expectations
        .iter()
        .try_for_each(|expectation| metric_named(&expectation.metric).map(|_| ()))
}

/// Judges every expectation in every arm that it selects.
///
/// # Errors
///
/// If a metric is unknown or no arm is selected.
pub fn judge(
    expectations: &[Expectation],
    sweep: &SweepRecord,
) -> Result<Vec<Verdict>, ExpectError> {
    let mut verdicts = Vec::new();
    for expectation in expectations {
        let metric = metric_named(&expectation.metric)?;
        let arms: Vec<&ArmRecord> = sweep
            .arms
            .iter()
            .filter(|arm| selects(&expectation.filter, arm))
            .collect();
        if arms.is_empty() {
            return Err(ExpectError::NoArm {
                filter: labels_text(&expectation.filter),
                axes: axes_text(sweep),
            });
        }
        verdicts.extend(
            arms.into_iter()
                .map(|arm| judge_arm(expectation, metric, arm)),
        );
    }
    Ok(verdicts)
}

/// `axis=value` of each label, with commas between.
#[must_use]
pub fn labels_text(labels: &[(String, String)]) -> String {
    labels
        .iter()
        .map(|(axis, value)| format!("{axis}={value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn judge_arm(expectation: &Expectation, metric: &dyn Metric, arm: &ArmRecord) -> Verdict {
    let values: Vec<f64> = arm
        .runs
        .iter()
        .filter_map(|run| metric.value(run))
        .collect();
    let missing = arm.runs.len() - values.len();
    let (found, finding) = match stats::mean_interval(&values) {
        _ if arm.runs.is_empty() => ("no run finished".to_owned(), Finding::Inconclusive),
        Some(estimate) if missing == 0 => (
            interval_text(estimate.mean, estimate.half_width),
            finding(
                expectation,
                estimate.mean,
                estimate.half_width.unwrap_or(0.0),
            ),
        ),
        _ => (
            format!("no value in {missing} of {} runs", arm.runs.len()),
            Finding::Fails,
        ),
    };
    Verdict {
        metric: expectation.metric.clone(),
        arm: labels_text(&arm.labels),
        bound: bound_text(expectation),
        found,
        finding,
    }
}

fn finding(expectation: &Expectation, mean: f64, half_width: f64) -> Finding {
    let (low, high) = (mean - half_width, mean + half_width);
    let least = expectation.at_least.map_or(Finding::Holds, |bound| {
        if low >= bound {
            Finding::Holds
        } else if high < bound {
            Finding::Fails
        } else {
            Finding::Inconclusive
        }
    });
    let most = expectation.at_most.map_or(Finding::Holds, |bound| {
        if high <= bound {
            Finding::Holds
        } else if low > bound {
            Finding::Fails
        } else {
            Finding::Inconclusive
        }
    });
    least.max(most)
}

fn selects(filter: &[(String, String)], arm: &ArmRecord) -> bool {
    filter.iter().all(|wanted| arm.labels.contains(wanted))
}

fn metric_named(name: &str) -> Result<&'static dyn Metric, ExpectError> {
    metrics()
        .iter()
        .copied()
        .find(|metric| metric.name() == name)
        .ok_or_else(|| {
            let names: Vec<&str> = metrics().iter().map(|metric| metric.name()).collect();
            ExpectError::UnknownMetric {
                name: name.to_owned(),
                help: help_for(name, &names),
            }
        })
}

/// What was probably meant, else all that could be.
fn help_for(name: &str, known: &[&str]) -> String {
    let slips = |other: &&&str| strsim::damerau_levenshtein(name, other);
    known
        .iter()
        .filter(|other| slips(other) <= 2 + name.len() / 8)
        .min_by_key(slips)
        .map_or_else(
            || format!("known are {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        )
}

/// What is asked of the metric: `at least 0.99`.
#[must_use]
pub fn bound_text(expectation: &Expectation) -> String {
    let least = expectation
        .at_least
        .map(|bound| format!("at least {bound}"));
    let most = expectation.at_most.map(|bound| format!("at most {bound}"));
    least
        .into_iter()
        .chain(most)
        .collect::<Vec<_>>()
        .join(" and ")
}

fn interval_text(mean: f64, half_width: Option<f64>) -> String {
    match half_width {
        Some(half_width) => format!("{mean:.6} ± {half_width:.6}"),
        None => format!("{mean:.6}"),
    }
}

fn axes_text(sweep: &SweepRecord) -> String {
    if sweep.axes.is_empty() {
        return "none: the scenario sweeps nothing".to_owned();
    }
    sweep
        .axes
        .iter()
        .map(|axis| format!("{} ({})", axis.name, axis.values.join(", ")))
        .collect::<Vec<_>>()
        .join("; ")
}
