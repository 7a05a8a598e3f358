//! Has routing become worse? Old against new, metric by metric, with a margin for each.
//!
//! The *loss* of a metric is how much worse the new side is, in the metric's own unit. A metric
//! **passes** if the upper end of the loss's one-sided 95 % interval is not beyond the margin
//! (non-inferiority). It **fails** if a loss is shown (one-sided, at 5 % after Holm's correction
//! over all metrics of the gate) and it does not pass. Otherwise it is **inconclusive**: more
//! replications are needed. The gate passes if every metric does, which needs no correction
//! (intersection–union), and fails if one does.
//!
//! Runs of the same scenario and seed are compared run by run on the same luck; others as two
//! independent samples with Welch's degrees of freedom.

mod loss;
mod margin;
mod outputs;
mod side;

use serde::Serialize;

use crate::{
    metrics::{Better, Metric},
    stats::{self, CONFIDENCE},
};

pub use loss::LossEstimate;
pub use margin::{Loss, Margin, MarginError};
pub use outputs::{gate_json, gate_junit, gate_markdown, gate_text};
pub use side::GateSide;

/// What became of a metric, or of the whole gate; the worst is the greatest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GateVerdict {
    /// No worse than the margin allows.
    Pass,
    /// Neither is shown.
    Inconclusive,
    /// Worse.
    Fail,
}

impl GateVerdict {
    /// As printed.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }
}

/// One metric of a gate.
#[derive(Clone, Debug)]
pub struct GateRow {
    /// Which.
    pub metric: &'static dyn Metric,
    /// Mean of the old side; `None` where no run has a value.
    pub old: Option<f64>,
    /// Mean of the new side.
    pub new: Option<f64>,
    /// How much worse the new side is, where both sides have values.
    pub loss: Option<LossEstimate>,
    /// The greatest loss that passes, in the metric's unit.
    pub margin: Option<f64>,
    /// One-sided p-value of "no loss", after Holm's correction.
    pub p_worse: Option<f64>,
    /// The verdict.
    pub verdict: GateVerdict,
    /// Why, where the numbers do not say it.
    pub remark: Option<String>,
}

/// A gate that was judged.
#[derive(Clone, Debug)]
pub struct Gate {
    /// What the old side is called.
    pub old: String,
    /// What the new side is called.
    pub new: String,
    /// One row for each margin.
    pub rows: Vec<GateRow>,
    /// What else was asked of the new side (`expect:`), with its verdict.
    pub expectations: Vec<(String, GateVerdict)>,
    /// Why a pass would say nothing, such as an outage that hits nobody. With any, the gate does not
    /// pass.
    pub doubts: Vec<String>,
}

impl Gate {
    /// Judges every margin.
    #[must_use]
    pub fn judge(old: &GateSide, new: &GateSide, margins: &[Margin]) -> Self {
        let mut rows: Vec<GateRow> = margins.iter().map(|m| row(old, new, m)).collect();
        let tested: Vec<usize> = (0..rows.len())
            .filter(|&at| rows[at].p_worse.is_some())
            .collect();
        let raw: Vec<f64> = tested
            .iter()
            .map(|&at| rows[at].p_worse.unwrap_or(1.0))
            .collect();
        for (&at, adjusted) in tested.iter().zip(stats::holm(&raw)) {
            let row = &mut rows[at];
            row.p_worse = Some(adjusted);
            if row.verdict != GateVerdict::Pass && adjusted < 1.0 - CONFIDENCE {
                row.verdict = GateVerdict::Fail;
            }
        }
        Self {
            old: old.label.clone(),
            new: new.label.clone(),
            rows,
            expectations: Vec::new(),
            doubts: Vec::new(),
        }
    }

    /// The worst verdict of all.
    #[must_use]
    pub fn verdict(&self) -> GateVerdict {
        let rows = self.rows.iter().map(|row| row.verdict);
        let expected = self.expectations.iter().map(|(_, verdict)| *verdict);
        let doubts = self.doubts.iter().map(|_| GateVerdict::Inconclusive);
        let all = rows.chain(expected).chain(doubts);
        all.max().unwrap_or(GateVerdict::Pass)
    }

    /// Up to how many replications to run before judging again, if a gate of `done` asks for more and
    /// `most` allows it. The number is chosen by the spread alone, never by the loss.
    #[must_use]
    pub fn next_replications(&self, done: u32, most: u32) -> Option<u32> {
        let wanted = self.replications_wanted()?.min(most);
        (wanted > done).then_some(wanted)
    }

    /// Replications that would decide every row that is undecided, or that fails by a loss which is not
    /// shown to be beyond its margin, as far as its spread tells.
    #[must_use]
    pub fn replications_wanted(&self) -> Option<u32> {
        let is_open = |row: &&GateRow| match row.verdict {
            GateVerdict::Pass => false,
            GateVerdict::Inconclusive => true,
            // A loss within the margin may show before it is known to be within.
            GateVerdict::Fail => {
                let lower = row.loss.and_then(|loss| loss.lower());
                lower
                    .zip(row.margin)
                    .is_some_and(|(lower, margin)| lower <= margin)
            }
        };
        let wanted = self.rows.iter().filter(is_open).filter_map(|row| {
            row.loss?
                .replications_for(row.margin?, self.rows.len())
                .filter(|n| n.is_finite())
        });
        wanted.reduce(f64::max).map(as_replications)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded before"
)]
fn as_replications(n: f64) -> u32 {
    n.clamp(0.0, 1e9) as u32
}

fn row(old: &GateSide, new: &GateSide, margin: &Margin) -> GateRow {
    let metric = margin.metric;
    let (mut before, mut after) = (old.values(metric), new.values(metric));
    if old.same_luck(new) && !before.is_empty() && !after.is_empty() {
        // Pairs only, so that the means told are those whose difference is the loss.
        let (had, has) = (before.clone(), after.clone());
        before.retain(|(r, _)| has.iter().any(|(other, _)| other == r));
        after.retain(|(r, _)| had.iter().any(|(other, _)| other == r));
    }
    let mut row = GateRow {
        metric,
        old: mean(&before),
        new: mean(&after),
        loss: None,
        margin: None,
        p_worse: None,
        verdict: GateVerdict::Inconclusive,
        remark: None,
    };
    match (row.old, row.new) {
        (None, None) => {
            row.verdict = GateVerdict::Pass;
            row.remark = Some("neither side has a value".to_owned());
            return row;
        }
        (Some(_), None) => {
            row.verdict = GateVerdict::Fail;
            row.remark = Some("only the old side has a value".to_owned());
            return row;
        }
        (None, Some(_)) => {
            row.remark = Some("only the new side has a value".to_owned());
            return row;
        }
        (Some(_), Some(_)) => {}
    }
    let loss = match old.same_luck(new) {
        true => paired_loss(&before, &after, metric.better()),
        false => independent_loss(&before, &after, metric.better()),
    };
    let allowed = margin.loss.of(row.old.unwrap_or(0.0));
    row.loss = loss;
    row.margin = Some(allowed);
    row.p_worse = loss.and_then(|loss| loss.p_worse());
    let Some(upper) = loss.and_then(|loss| loss.upper()) else {
        row.remark = Some("too few runs for an interval".to_owned());
        return row;
    };
    if upper <= allowed {
        row.verdict = GateVerdict::Pass;
    }
    row
}

/// By replication.
type Values = Vec<(u32, Option<f64>)>;

fn mean(values: &Values) -> Option<f64> {
    let known: Vec<f64> = values.iter().filter_map(|(_, value)| *value).collect();
    (!known.is_empty()).then(|| stats::mean(&known))
}

/// How much worse `new` is than `old`.
const fn worse_by(old: f64, new: f64, better: Better) -> f64 {
    match better {
        Better::Higher => old - new,
        Better::Lower | Better::Neither => new - old,
    }
}

fn paired_loss(old: &Values, new: &Values, better: Better) -> Option<LossEstimate> {
    let twin = |replication: u32| new.iter().find(|(r, _)| *r == replication)?.1;
    let losses: Vec<f64> = old
        .iter()
        .filter_map(|&(replication, value)| Some(worse_by(value?, twin(replication)?, better)))
        .collect();
    if losses.is_empty() {
        return None;
    }
    let n = losses.len();
    let error = (stats::variance(&losses) / stats::size(n)).sqrt();
    Some(LossEstimate {
        mean: stats::mean(&losses),
        standard_error: (n > 1).then_some(error),
        degrees: stats::size(n.saturating_sub(1)),
        paired: true,
        n,
    })
}

/// Two independent samples: Welch's standard error and degrees of freedom.
///
/// Source: B. L. Welch, Biometrika 34 (1947); Law, 5th ed., section 10.2.2.
fn independent_loss(old: &Values, new: &Values, better: Better) -> Option<LossEstimate> {
    let known = |values: &Values| -> Vec<f64> { values.iter().filter_map(|(_, v)| *v).collect() };
    let (a, b) = (known(old), known(new));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (na, nb) = (stats::size(a.len()), stats::size(b.len()));
    let (va, vb) = (stats::variance(&a) / na, stats::variance(&b) / nb);
    let enough = a.len() > 1 && b.len() > 1;
    let degrees = match va + vb > 0.0 && enough {
        true => (va + vb) * (va + vb) / (va * va / (na - 1.0) + vb * vb / (nb - 1.0)),
        false => (na + nb - 2.0).max(1.0),
    };
    Some(LossEstimate {
        mean: worse_by(stats::mean(&a), stats::mean(&b), better),
        standard_error: enough.then(|| (va + vb).sqrt()),
        degrees,
        paired: false,
        n: a.len().min(b.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::metric;

    fn side(label: &str, seed: u64, success: &[f64]) -> GateSide {
        GateSide::of_values(label, Some(("main", seed)), "success_ratio", success)
    }

    fn margin(loss: Loss) -> Margin {
        Margin {
            metric: metric("success_ratio").unwrap(),
            loss,
        }
    }

    fn judged(old: &[f64], new: &[f64], allowed: f64) -> GateVerdict {
        let (old, new) = (side("old", 1, old), side("new", 1, new));
        Gate::judge(&old, &new, &[margin(Loss::Absolute(allowed))]).verdict()
    }

    #[test]
    fn what_is_the_same_run_by_run_passes_even_without_a_margin() {
        let values = [0.98, 0.97, 0.99];

        assert_eq!(judged(&values, &values, 0.0), GateVerdict::Pass);
    }

    #[test]
    fn a_loss_within_the_margin_passes_and_one_beyond_it_fails() {
        let old = [0.980, 0.970, 0.990, 0.985];
        let new = [0.978, 0.969, 0.987, 0.983];

        assert_eq!(judged(&old, &new, 0.01), GateVerdict::Pass);
        assert_eq!(judged(&old, &new, 0.001), GateVerdict::Fail);
        assert_eq!(judged(&new, &old, 0.0), GateVerdict::Pass, "a gain");
    }

    #[test]
    fn noise_around_the_margin_decides_nothing() {
        let old = [0.98, 0.90, 0.99, 0.91];
        let new = [0.90, 0.98, 0.91, 0.98];

        assert_eq!(judged(&old, &new, 0.005), GateVerdict::Inconclusive);
        assert_eq!(judged(&[0.9], &[0.9], 0.005), GateVerdict::Inconclusive);
    }

    #[test]
    fn an_undecided_gate_says_how_many_replications_would_decide_it() {
        let (old, new) = (
            side("old", 1, &[0.98, 0.90, 0.99, 0.91]),
            side("new", 1, &[0.90, 0.98, 0.91, 0.98]),
        );
        let gate = Gate::judge(&old, &new, &[margin(Loss::Absolute(0.05))]);

        // S = 0.0893 of the differences: ((1.645 + 0.842) · 0.0893 / 0.05)² = 19.7.
        assert_eq!(gate.replications_wanted(), Some(22));
    }

    #[test]
    fn a_loss_that_is_not_shown_to_be_beyond_its_margin_does_not_fail_on_the_first_look() {
        // A loss of 0.006 ± 0.002: shown, and neither within nor beyond a margin of 0.007.
        let old = [0.980, 0.980, 0.980, 0.980];
        let new = [0.976, 0.972, 0.974, 0.974];
        let gate = |allowed| {
            let (old, new) = (side("old", 1, &old), side("new", 1, &new));
            Gate::judge(&old, &new, &[margin(Loss::Absolute(allowed))])
        };

        let (open, beyond) = (gate(0.007), gate(0.001));

        assert_eq!(open.verdict(), GateVerdict::Fail);
        // ((1.645 + 0.842) · 0.001633 / 0.007)² = 0.3: what there is would do already.
        assert_eq!(open.replications_wanted(), Some(3));
        assert_eq!(beyond.verdict(), GateVerdict::Fail);
        assert_eq!(beyond.replications_wanted(), None);
    }

    /// Welch's example in Law (5th ed., example 10.3): the form is checked by hand instead.
    /// a = 1, 2, 3 and b = 2, 4, 6, 8: S²/n = 1/3 and 5/3, so the error is √2 and the degrees
    /// are 4 / (1/9/2 + 25/9/3) = 4.075.
    #[test]
    fn runs_of_another_seed_are_independent_samples() {
        let a = vec![(0, Some(1.0)), (1, Some(2.0)), (2, Some(3.0))];
        let b = vec![
            (0, Some(2.0)),
            (1, Some(4.0)),
            (2, Some(6.0)),
            (3, Some(8.0)),
        ];

        let loss = independent_loss(&a, &b, Better::Lower).unwrap();

        assert!((loss.mean - 3.0).abs() < 1e-12);
        assert!((loss.standard_error.unwrap() - 2.0_f64.sqrt()).abs() < 1e-12);
        assert!((loss.degrees - 4.0 / (1.0 / 18.0 + 25.0 / 27.0)).abs() < 1e-9);
        assert!(!loss.paired);
    }

    #[test]
    fn a_metric_that_lost_its_value_fails_and_one_that_nobody_has_passes() {
        let old = side("old", 1, &[0.9, 0.9]);
        let none = side("new", 1, &[]);
        let margins = [margin(Loss::Absolute(0.1))];

        assert_eq!(
            Gate::judge(&old, &none, &margins).verdict(),
            GateVerdict::Fail
        );
        assert_eq!(
            Gate::judge(&none, &none, &margins).verdict(),
            GateVerdict::Pass
        );
        assert_eq!(
            Gate::judge(&none, &old, &margins).verdict(),
            GateVerdict::Inconclusive
        );
    }
}
