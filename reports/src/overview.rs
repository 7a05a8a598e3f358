//! The table of arms that console, Markdown and page share: which columns, in what order, and what
//! stands in each cell.

use crate::{
    advice::lower_first,
    comparison::{Comparison, Verdict, named},
    labels::short_axis,
    metrics::Metric,
    record::SweepRecord,
};

/// Arms as rows, best first.
#[derive(Debug)]
pub(crate) struct Overview<'a> {
    /// Short names of the axes.
    pub(crate) axes: Vec<&'a str>,
    /// Metrics that at least one arm has and that are not zero everywhere.
    pub(crate) columns: Vec<&'static dyn Metric>,
    /// What the rows are ordered by first.
    pub(crate) primary: &'static dyn Metric,
    /// What the differences are differences of.
    pub(crate) deciding: &'static dyn Metric,
    pub(crate) rows: Vec<Row<'a>>,
}

/// One arm.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// Its place in the order, from 1.
    pub(crate) place: usize,
    pub(crate) is_reference: bool,
    /// Its value on each axis.
    pub(crate) values: Vec<&'a str>,
    /// Mean ± half-width for each column; empty where unknown.
    pub(crate) cells: Vec<String>,
    /// Its difference to the reference with the interval, and how clear it is.
    pub(crate) difference: Option<(String, Verdict)>,
}

impl<'a> Overview<'a> {
    /// With the metrics of `wanted` that tell something.
    pub(crate) fn new(sweep: &'a SweepRecord, wanted: &[&'static str]) -> Self {
        let comparison = Comparison::new(sweep);
        let ranking = comparison.ranking();
        let says_something = |metric: &&'static dyn Metric| {
            ranking.iter().any(|&arm| {
                comparison
                    .mean(arm, *metric)
                    .is_some_and(|mean| mean != 0.0)
            })
        };
        let columns: Vec<_> = wanted
            .iter()
            .map(|name| named(name))
            .filter(says_something)
            .collect();
        let deciding = comparison.deciding();
        let versus = comparison.all_versus(sweep.reference, deciding);
        let row = |(index, &arm): (usize, &usize)| Row {
            place: index + 1,
            is_reference: arm == sweep.reference,
            values: sweep.arms[arm]
                .labels
                .iter()
                .map(|(_, value)| value.as_str())
                .collect(),
            cells: columns
                .iter()
                .map(|&metric| cell(&comparison, arm, metric))
                .collect(),
            difference: (versus.iter().find(|versus| versus.arm == arm)).map(|versus| {
                let size = comparison.mean(arm, deciding).unwrap_or(0.0);
                (
                    difference(deciding, &versus.paired.difference, size),
                    versus.verdict,
                )
            }),
        };
        let rows = ranking.iter().enumerate().map(row).collect();
        let axes = sweep
            .axes
            .iter()
            .map(|axis| short_axis(&axis.name))
            .collect();
        Self {
            axes,
            columns,
            primary: comparison.primary,
            deciding,
            rows,
        }
    }

    /// Titles of all columns but the first, which is the place.
    pub(crate) fn titles(&self) -> Vec<String> {
        let axes = self.axes.iter().map(|&axis| axis.to_owned());
        let metrics = self.columns.iter().map(|metric| metric.title().to_owned());
        let difference = format!("{} vs reference", self.deciding.title());
        self.in_order(axes, metrics, difference)
    }

    /// A line of the table: settings, the first metric, the difference, the other metrics.
    pub(crate) fn in_order(
        &self,
        settings: impl Iterator<Item = String>,
        mut metrics: impl Iterator<Item = String>,
        difference: String,
    ) -> Vec<String> {
        let mut line: Vec<String> = settings.collect();
        line.extend(metrics.next());
        line.extend(self.has_differences().then_some(difference));
        line.extend(metrics);
        line
    }

    /// Why the rows are in this order; nothing for a single one.
    pub(crate) fn order(&self) -> Option<String> {
        let by = lower_first(self.primary.title());
        (self.rows.len() > 1)
            .then(|| format!("In order of {by} to a tenth of a point, then of p99 latency."))
    }

    pub(crate) fn has_differences(&self) -> bool {
        self.rows.iter().any(|row| row.difference.is_some())
    }
}

impl Row<'_> {
    /// The difference in words, or that there is none.
    pub(crate) fn difference_text(&self) -> String {
        match &self.difference {
            None if self.is_reference => "reference".into(),
            None => "—".into(),
            Some((text, verdict)) => format!("{text} {}", verdict.word()).trim_end().to_owned(),
        }
    }
}

impl Verdict {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Uncorrected => "not clear after correction",
            Self::Unclear => "not clear",
        }
    }
}

fn cell(comparison: &Comparison<'_>, arm: usize, metric: &dyn Metric) -> String {
    let estimate = comparison.estimate(arm, metric);
    estimate.map_or_else(String::new, |estimate| {
        metric.unit().show_estimate(&estimate)
    })
}

fn difference(metric: &dyn Metric, estimate: &crate::stats::Estimate, size: f64) -> String {
    let unit = metric.unit();
    let change = unit.show_change(estimate.mean, size);
    match estimate.interval() {
        None => change,
        Some((low, high)) => {
            format!("{change} [{}]", unit.show_change_ends(low, high, size))
        }
    }
}

/// Columns where there is room for many.
pub(crate) const WIDE: &[&str] = &[
    "call_goodput_ratio",
    "call_success_ratio",
    "call_latency_p50_ms",
    "call_latency_p99_ms",
    "requests_per_call",
    "attempts_per_call",
    "hung_up_ratio",
    "unheard_answers_per_call",
    "goodput_ratio",
    "of_hindsight_ratio",
    "success_ratio",
    "latency_p50_ms",
    "latency_p99_ms",
    "latency_p99_9_ms",
    "first_token_p50_ms",
    "first_token_p99_ms",
    "attempts_per_request",
    "rate_limited_per_request",
    "timeouts_per_request",
    "server_errors_per_request",
    "other_errors_per_request",
    "fallbacks_per_request",
    "no_deployment_ratio",
    "wasted_wait_s_per_request",
    "cooled_share",
    "share_imbalance",
    "cost_usd_per_1000_requests",
];

/// Columns of a terminal where a client library stands in front of the router.
pub(crate) const NARROW_OF_CALLS: &[&str] = &[
    "call_goodput_ratio",
    "call_success_ratio",
    "call_latency_p99_ms",
    "attempts_per_call",
];

/// Columns of a terminal.
pub(crate) const NARROW: &[&str] = &[
    "goodput_ratio",
    "of_hindsight_ratio",
    "success_ratio",
    "latency_p99_ms",
    "attempts_per_request",
];
