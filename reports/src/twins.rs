//! Do two drivers of one router tell the same? The simulation against the run over HTTP, metric by
//! metric, on the same requests and the same luck.
//!
//! A metric is **the same** if the whole 95 % interval of its difference (paired by replication) lies
//! within the margin, up and down; it **differs** if the whole interval lies outside; else it is
//! **undecided**, and more replications or a wider margin would decide. One replication has no
//! interval, and decides only where nothing differs at all.

use std::fmt::Write as _;

use crate::{
    aligned::aligned,
    gate::{Loss, Margin},
    metrics::{Metric, metric},
    record::RunRecord,
    stats::{Estimate, paired_difference},
};

/// What became of a metric, or of the whole comparison; the worst is the greatest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Sameness {
    /// Within the margin.
    Same,
    /// Neither is shown.
    Undecided,
    /// Outside.
    Differs,
}

impl Sameness {
    const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Undecided => "undecided",
            Self::Differs => "differs",
        }
    }
}

/// One metric of both drivers.
#[derive(Clone, Debug)]
pub struct TwinRow {
    metric: &'static dyn Metric,
    sim: f64,
    live: f64,
    /// Live less simulated.
    difference: Estimate,
    margin: f64,
    /// What came of it.
    pub sameness: Sameness,
}

/// Both drivers side by side.
#[derive(Clone, Debug)]
pub struct Twins {
    /// The scenario.
    pub title: String,
    /// Replications of each.
    pub replications: usize,
    /// A metric each.
    pub rows: Vec<TwinRow>,
    /// Why nothing can be concluded, if so: the machine was too slow.
    pub doubt: Option<String>,
}

impl Twins {
    /// Compares run with run. `margins` come in the place of those of the same metric.
    #[must_use]
    pub fn judge(title: &str, sim: &[RunRecord], live: &[RunRecord], margins: &[Margin]) -> Self {
        let own = margins
            .iter()
            .map(|m| (m.metric, m.loss, Loss::Absolute(0.0)));
        let usual = USUAL.iter().filter_map(|&(name, loss, least)| {
            let replaced = margins.iter().any(|margin| margin.metric.name() == name);
            metric(name)
                .filter(|_| !replaced)
                .map(|metric| (metric, loss, least))
        });
        let rows = usual.chain(own).filter_map(|(metric, loss, least)| {
            let pairs = sim.iter().zip(live);
            let pairs = pairs.filter_map(|(a, b)| Some((metric.value(a)?, metric.value(b)?)));
            let (sim, live): (Vec<f64>, Vec<f64>) = pairs.unzip();
            let difference = paired_difference(&live, &sim)?.difference;
            let mean = |values: &[f64]| {
                let sum: f64 = values.iter().sum();
                #[expect(clippy::cast_precision_loss, reason = "there are few replications")]
                let count = values.len() as f64;
                sum / count
            };
            let (sim, live) = (mean(&sim), mean(&live));
            let margin = loss.of(sim).max(least.of(sim));
            Some(TwinRow {
                metric,
                sim,
                live,
                difference,
                margin,
                sameness: sameness(&difference, margin),
            })
        });
        Self {
            title: title.to_owned(),
            replications: sim.len().min(live.len()),
            rows: rows.collect(),
            doubt: None,
        }
    }

    /// What came of all. A machine that was too slow shows nothing.
    #[must_use]
    pub fn sameness(&self) -> Sameness {
        if self.doubt.is_some() || self.rows.is_empty() {
            return Sameness::Undecided;
        }
        let all = self.rows.iter().map(|row| row.sameness);
        all.max().unwrap_or(Sameness::Undecided)
    }

    /// The finding in a sentence, the table, and the verdict.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.sentence() + "\n\n";
        let header = [
            "metric",
            "sim",
            "live",
            "difference (95 % interval)",
            "margin",
            "verdict",
        ];
        let lines = [header.map(str::to_owned).to_vec()];
        let lines: Vec<_> = lines
            .into_iter()
            .chain(self.rows.iter().map(cells))
            .collect();
        for line in aligned(&lines) {
            let _ = writeln!(text, "  {line}");
        }
        let _ = writeln!(text, "\n{}", self.sameness().word());
        text
    }

    fn sentence(&self) -> String {
        let Self {
            title,
            replications,
            ..
        } = self;
        let of = |sameness| {
            let names = self.rows.iter().filter(|row| row.sameness == sameness);
            names
                .map(|row| row.metric.name())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let runs = match replications {
            1 => "1 replication".to_owned(),
            n => format!("{n} replications"),
        };
        if let Some(doubt) = &self.doubt {
            return format!("Nothing is shown of {title}: {doubt}.");
        }
        match self.sameness() {
            Sameness::Same => format!(
                "The run over HTTP tells the same as the simulation of {title}: all {} metrics are within \
                 their margins over {runs}.",
                self.rows.len()
            ),
            Sameness::Differs => format!(
                "The run over HTTP does not tell the same as the simulation of {title}: {} differs by more \
                 than its margin over {runs}.",
                of(Sameness::Differs)
            ),
            Sameness::Undecided => format!(
                "Whether the run over HTTP tells the same as the simulation of {title} is undecided after \
                 {runs}: {} may be within the margin or outside; more replications decide.",
                of(Sameness::Undecided)
            ),
        }
    }
}

fn sameness(difference: &Estimate, margin: f64) -> Sameness {
    let (low, high) = match difference.interval() {
        Some(interval) => interval,
        None if difference.mean == 0.0 => (0.0, 0.0),
        None => return Sameness::Undecided,
    };
    if low >= -margin && high <= margin {
        Sameness::Same
    } else if low > margin || high < -margin {
        Sameness::Differs
    } else {
        Sameness::Undecided
    }
}

fn cells(row: &TwinRow) -> Vec<String> {
    let unit = row.metric.unit();
    let change = unit.show_change(row.difference.mean, row.sim);
    let difference = match row.difference.interval() {
        None => change,
        Some((low, high)) => {
            format!("{change} ({})", unit.show_change_ends(low, high, row.sim))
        }
    };
    vec![
        row.metric.name().to_owned(),
        unit.show(row.sim),
        unit.show(row.live),
        difference,
        format!(
            "±{}",
            unit.show_change(row.margin, row.sim)
                .trim_start_matches('+')
        ),
        row.sameness.word().to_owned(),
    ]
}

/// Metrics that are compared, the margin of each, and the least margin.
const USUAL: [(&str, Loss, Loss); 9] = [
    ("success_ratio", Loss::Absolute(0.01), NOTHING),
    ("goodput_ratio", Loss::Absolute(0.01), NOTHING),
    ("attempts_per_request", Loss::Relative(0.02), NOTHING),
    (
        "rate_limited_per_request",
        Loss::Relative(0.02),
        A_HUNDREDTH,
    ),
    ("fallbacks_per_request", Loss::Relative(0.02), A_HUNDREDTH),
    ("latency_mean_ms", Loss::Relative(0.03), NOTHING),
    ("first_token_p50_ms", Loss::Relative(0.03), NOTHING),
    ("call_success_ratio", Loss::Absolute(0.01), NOTHING),
    ("requests_per_call", Loss::Relative(0.02), NOTHING),
];
const NOTHING: Loss = Loss::Absolute(0.0);
const A_HUNDREDTH: Loss = Loss::Absolute(0.01);

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mean: f64, half_width: Option<f64>) -> Sameness {
        let difference = Estimate {
            mean,
            half_width,
            n: 3,
        };
        sameness(&difference, 1.0)
    }

    #[test]
    fn only_an_interval_within_the_margin_is_the_same_and_only_one_outside_differs() {
        assert_eq!(of(0.2, Some(0.7)), Sameness::Same);
        assert_eq!(of(0.2, Some(0.9)), Sameness::Undecided);
        assert_eq!(of(-1.5, Some(0.9)), Sameness::Undecided);
        assert_eq!(of(-1.5, Some(0.4)), Sameness::Differs);
        assert_eq!(of(1.5, Some(0.4)), Sameness::Differs);
    }

    #[test]
    fn one_replication_decides_only_where_nothing_differs() {
        assert_eq!(of(0.0, None), Sameness::Same);
        assert_eq!(of(0.001, None), Sameness::Undecided);
    }

    #[test]
    fn every_usual_metric_is_one() {
        for (name, ..) in USUAL {
            assert!(metric(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_machine_that_was_too_slow_shows_nothing() {
        let mut twins = Twins::judge("main", &[], &[], &[]);
        assert_eq!(twins.sameness(), Sameness::Undecided);
        twins.doubt = Some("the machine was too slow".to_owned());

        assert_eq!(twins.sameness(), Sameness::Undecided);
        assert!(
            twins
                .text()
                .starts_with("Nothing is shown of main: the machine was too slow.")
        );
    }
}
