//! What rates look like in numbers.
//!
//! Quantiles are linear between order statistics. "Nonzero" leaves out windows without arrivals,
//! which in ServeGen are holes of the collection.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ClientTable, Pattern, RateTable};
use crate::workload::trace_stats::quantile;

/// Statistics of the rates of a whole service.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RateStats {
    pub windows: usize,
    pub window_s: f64,
    pub span_s: f64,
    pub mean_rps: f64,
    pub max_rps: f64,
    /// Beginning of the first window of the highest rate.
    pub max_at_t_s: f64,
    pub min_rps: f64,
    pub zero_windows: usize,
    pub first_nonzero_t_s: Option<f64>,
    pub last_nonzero_t_s: Option<f64>,
    pub mean_rps_nonzero: f64,
    pub peak_over_mean: f64,
    pub peak_over_mean_nonzero: f64,
    /// Rates × window, rounded.
    pub expected_requests: f64,
    pub max_active_clients: Option<u64>,
    /// The same for each day from the first window on.
    pub est_daily: Vec<f64>,
}

impl RateStats {
    pub(super) fn of(table: &RateTable) -> Self {
        let rates: Vec<f64> = table.windows.iter().map(|(_, rate)| *rate).collect();
        let sum: f64 = rates.iter().sum();
        let nonzero = |(_, rate): &&(f64, f64)| *rate > 0.0;
        let busy = table.windows.iter().filter(nonzero).count();
        let max_rps = rates.iter().copied().fold(0.0, f64::max);
        let mean_rps = sum / count(rates.len());
        let mean_rps_nonzero = sum / count(busy);
        let first = table.windows[0].0;
        let mut days: Vec<f64> = Vec::new();
        for (begin, rate) in &table.windows {
            let day = whole((begin - first) / 86_400.0);
            days.resize(days.len().max(day + 1), 0.0);
            days[day] += rate * table.window_s;
        }
        let at_max = table.windows.iter().find(|(_, rate)| *rate >= max_rps);
        Self {
            windows: rates.len(),
            window_s: table.window_s,
            span_s: table.end_s() - first,
            mean_rps,
            max_rps,
            max_at_t_s: at_max.map_or(first, |(begin, _)| *begin),
            min_rps: rates.iter().copied().fold(f64::INFINITY, f64::min),
            zero_windows: rates.len() - busy,
            first_nonzero_t_s: table.windows.iter().find(nonzero).map(|(begin, _)| *begin),
            last_nonzero_t_s: table.windows.iter().rfind(nonzero).map(|(begin, _)| *begin),
            mean_rps_nonzero,
            peak_over_mean: max_rps / mean_rps,
            peak_over_mean_nonzero: max_rps / mean_rps_nonzero,
            expected_requests: (sum * table.window_s).round(),
            max_active_clients: table.most_clients,
            est_daily: days.into_iter().map(f64::round).collect(),
        }
    }
}

/// Statistics of a folder of callers.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ClientsStats {
    pub trace_files: usize,
    pub rows: u64,
    pub malformed: u64,
    /// Windows by distribution of their gaps; the empty name stands for windows without arrivals.
    pub patterns: BTreeMap<&'static str, u64>,
    /// Of the windows that have a distribution.
    pub cv_mean: f64,
    pub cv_p50: f64,
    pub cv_p95: f64,
    pub cv_max: f64,
    pub dataset_files: usize,
    pub dataset_windows: usize,
    /// Windows that have a distribution of this quantity, even an empty one.
    pub fields: BTreeMap<String, u64>,
    /// Distributions without any value.
    pub empty_pdfs: u64,
    /// Least and largest sum of the weights of a distribution that has values.
    pub pdf_sum_min: f64,
    pub pdf_sum_max: f64,
}

impl ClientsStats {
    /// The statistics of callers, of which there is at least one.
    #[must_use]
    pub fn of(clients: &[ClientTable]) -> Self {
        let mut patterns = BTreeMap::new();
        let mut variations = Vec::new();
        for row in clients.iter().flat_map(|client| &client.windows) {
            let name = match row.pattern {
                None => "",
                Some(Pattern::Gamma(_)) => "Gamma",
                Some(Pattern::Weibull(_)) => "Weibull",
            };
            *patterns.entry(name).or_insert(0) += 1;
            if row.pattern.is_some() {
                variations.push(row.cv);
            }
        }
        variations.sort_by(f64::total_cmp);
        let mut fields = BTreeMap::new();
        let (mut empty_pdfs, mut pdf_sum_min, mut pdf_sum_max) = (0, f64::INFINITY, 0.0_f64);
        let windows = clients.iter().flat_map(|client| &client.lengths);
        for (name, pdf) in windows.clone().flat_map(|(_, fields)| fields) {
            *fields.entry(name.clone()).or_insert(0) += 1;
            if pdf.is_empty() {
                empty_pdfs += 1;
                continue;
            }
            let sum: f64 = pdf.iter().map(|(_, weight)| weight).sum();
            pdf_sum_min = pdf_sum_min.min(sum);
            pdf_sum_max = pdf_sum_max.max(sum);
        }
        Self {
            trace_files: clients.len(),
            rows: clients.iter().map(|client| client.books.read).sum(),
            malformed: clients
                .iter()
                .map(|client| client.books.dropped_rows())
                .sum(),
            patterns,
            cv_mean: variations.iter().sum::<f64>() / count(variations.len()),
            cv_p50: quantile(&variations, 0.5),
            cv_p95: quantile(&variations, 0.95),
            cv_max: variations.last().copied().unwrap_or(0.0),
            dataset_files: clients
                .iter()
                .filter(|client| !client.lengths.is_empty())
                .count(),
            dataset_windows: windows.count(),
            fields,
            empty_pdfs,
            pdf_sum_min,
            pdf_sum_max,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^53 windows fit no memory")]
const fn count(n: usize) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of days"
)]
const fn whole(days: f64) -> usize {
    days as usize
}
