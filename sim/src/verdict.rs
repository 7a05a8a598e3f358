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
    /// Place of the expectation in the scenario's list.
    pub expectation: usize,
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
    for (number, expectation) in expectations.iter().enumerate() {
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
                .map(|arm| judge_arm(number, expectation, metric, arm)),
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

fn judge_arm(
    number: usize,
    expectation: &Expectation,
    metric: &dyn Metric,
    arm: &ArmRecord,
) -> Verdict {
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
        expectation: number,
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

#[cfg(test)]
mod tests {
    use reports::{AxisRecord, RunRecord};

    use super::*;

    /// A run in which this many of 1,000 requests were answered.
    fn run(completed: u64) -> RunRecord {
        RunRecord {
            requests: 1_000,
            completed,
            failed: 1_000 - completed,
            ..RunRecord::default()
        }
    }

    fn arm(value: &str, completed: &[u64]) -> ArmRecord {
        ArmRecord {
            labels: vec![("cooldown_time".to_owned(), value.to_owned())],
            runs: completed.iter().map(|&completed| run(completed)).collect(),
        }
    }

    fn sweep(arms: Vec<ArmRecord>) -> SweepRecord {
        let values = arms.iter().map(|arm| arm.labels[0].1.clone()).collect();
        let axes = vec![AxisRecord {
            name: "cooldown_time".to_owned(),
            values,
        }];
        SweepRecord {
            axes,
            arms,
            ..SweepRecord::default()
        }
    }

    fn expectation(metric: &str, at_least: Option<f64>, at_most: Option<f64>) -> Expectation {
        Expectation {
            metric: metric.to_owned(),
            at_least,
            at_most,
            filter: Vec::new(),
        }
    }

    fn findings(expectation: Expectation, sweep: &SweepRecord) -> Vec<Finding> {
        judge(&[expectation], sweep)
            .unwrap()
            .iter()
            .map(|verdict| verdict.finding)
            .collect()
    }

    #[test]
    fn an_interval_that_holds_the_bound_inside_decides_nothing() {
        // 0.9 ± 0.0131 by Student's t with 2 degrees of freedom is 0.876 to 0.924.
        let sweep = sweep(vec![arm("5", &[890, 900, 910])]);
        let of = |at_least| findings(expectation("success_ratio", Some(at_least), None), &sweep);

        assert_eq!(of(0.87), [Finding::Holds]);
        assert_eq!(of(0.89), [Finding::Inconclusive]);
        assert_eq!(of(0.91), [Finding::Inconclusive]);
        assert_eq!(of(0.93), [Finding::Fails]);
    }

    #[test]
    fn an_upper_bound_is_judged_the_other_way_round_and_both_together() {
        let sweep = sweep(vec![arm("5", &[890, 900, 910])]);
        let of = |least, most| findings(expectation("success_ratio", least, most), &sweep);

        assert_eq!(of(None, Some(0.93)), [Finding::Holds]);
        assert_eq!(of(None, Some(0.87)), [Finding::Fails]);
        assert_eq!(of(Some(0.87), Some(0.9)), [Finding::Inconclusive]);
        assert_eq!(of(Some(0.95), Some(0.96)), [Finding::Fails]);
    }

    #[test]
    fn one_replication_is_judged_by_its_value() {
        let sweep = sweep(vec![arm("5", &[900])]);

        assert_eq!(
            findings(expectation("success_ratio", Some(0.9), None), &sweep),
            [Finding::Holds]
        );
        assert_eq!(
            findings(expectation("success_ratio", Some(0.901), None), &sweep),
            [Finding::Fails]
        );
    }

    #[test]
    fn an_arm_without_runs_is_undecided_and_a_metric_without_a_value_fails() {
        let sweep = sweep(vec![arm("5", &[]), arm("30", &[0])]);

        assert_eq!(
            findings(expectation("latency_p99_ms", None, Some(1_000.0)), &sweep),
            [Finding::Inconclusive, Finding::Fails]
        );
    }

    #[test]
    fn where_selects_arms_and_selecting_none_is_an_error() {
        let sweep = sweep(vec![arm("5", &[900]), arm("30", &[100])]);
        let mut expected = expectation("success_ratio", Some(0.5), None);
        expected.filter = vec![("cooldown_time".to_owned(), "30".to_owned())];

        let verdicts = judge(&[expected.clone()], &sweep).unwrap();
        assert_eq!(verdicts.len(), 1);
        assert_eq!(verdicts[0].arm, "cooldown_time=30");
        assert_eq!(Finding::worst(&verdicts), Finding::Fails);

        expected.filter[0].1 = "60".to_owned();
        insta::assert_snapshot!(judge(&[expected], &sweep).unwrap_err(), @"expect: no arm has cooldown_time=60; the axes are cooldown_time (5, 30)");
    }

    #[test]
    fn an_unknown_metric_is_refused_with_what_was_probably_meant() {
        let of = |metric| metric_named(metric).map(|_| ()).unwrap_err();

        insta::assert_snapshot!(of("sucess_ratio"), @"expect: unknown metric `sucess_ratio`; did you mean `success_ratio`?");
        assert!(
            of("beauty")
                .to_string()
                .contains("known are success_ratio, ")
        );
    }

    #[test]
    fn the_worst_finding_counts_and_nothing_expected_holds() {
        assert!(Finding::Fails > Finding::Inconclusive && Finding::Inconclusive > Finding::Holds);
        assert_eq!(Finding::worst(&[]), Finding::Holds);
    }
}
