//! The page of a calibration: what was found as sentences, pictures and tables.

use reports::{
    FitPage, FitTable, ReportError, fit_page,
    fits::{Distance, Fitted, TokenLengths},
    plots::{Across, Drawing, Overlay, QuantilePair, Quantiles, Up, overlay, quantiles},
};
use sim::calibrate::{Calibration, HeldOutDeployment};

pub(super) fn page(
    found: &Calibration,
    source: &str,
    command: &str,
    scenario: &str,
) -> Result<String, ReportError> {
    Ok(fit_page(&FitPage {
        title: format!("Calibrated from {source}"),
        findings: found.findings(),
        unknown: found.unknown.clone(),
        drawings: drawings(found)?,
        tables: vec![tested(found), latency(found)],
        rows: rows(found),
        command: command.to_owned(),
        scenario: scenario.to_owned(),
    }))
}

/// What became of the rows of the log.
pub(super) fn rows(found: &Calibration) -> Vec<String> {
    let rows = &found.rows;
    let all = format!(
        "rows: {} read, {} kept ({})",
        rows.read,
        rows.kept,
        rows.formats.join(", ")
    );
    let dropped = rows.dropped.iter();
    let dropped = dropped.map(|(why, n, first)| format!("dropped {n}: {why} ({first})"));
    let ignored = rows.ignored.iter();
    let ignored = ignored.map(|(column, why)| format!("ignored {column}: {why}"));
    std::iter::once(all).chain(dropped).chain(ignored).collect()
}

fn drawings(found: &Calibration) -> Result<Vec<Drawing>, ReportError> {
    let arrivals = &found.traffic.arrivals;
    let span_s = found.window.span_s;
    let fitted = match &arrivals.curve {
        None => vec![
            (0.0, arrivals.per_second.value),
            (span_s, arrivals.per_second.value),
        ],
        Some(curve) => {
            let ends = (0_u16..).map(|n| f64::from(n) * curve.step_s);
            let steps = ends.zip(&curve.per_second);
            steps
                .flat_map(|(from, rate)| {
                    [(from, *rate), ((from + curve.step_s).min(span_s), *rate)]
                })
                .collect()
        }
    };
    let mut all = vec![overlay(&Overlay {
        title: "Requests".to_owned(),
        caption: "Requests a second over the time of the log, and the rate that the scenario has."
            .to_owned(),
        across: Across::Seconds,
        up: Up::PerSecond,
        seen: found.traffic.seen.clone(),
        fitted,
    })?];
    for (title, fit) in [
        ("Prompts", &found.traffic.prompt),
        ("Answers", &found.traffic.output),
    ] {
        if let Some(fit) = fit {
            all.push(overlay(&lengths(title, fit))?);
        }
    }
    for tested in found.held_out.deployments.iter().take(MOST_PICTURES) {
        all.push(overlay(&times(tested))?);
        let title = format!("{}: quantiles of times, held-out quarter", tested.id);
        let what = "Times as if every answer had as many tokens as the median one.";
        all.push(against(
            title,
            what,
            Across::Millis,
            &tested.pairs,
            tested.latency,
        )?);
    }
    let held = &found.held_out;
    for (title, what, of, pairs, distance) in [
        (
            "Gaps between requests: quantiles, held-out quarter",
            "Gaps by the rate of the quarter itself, since a rate is no forecast.",
            Across::Gaps,
            &held.gap_pairs,
            held.gaps,
        ),
        (
            "Prompts: quantiles of tokens, held-out quarter",
            "Tokens of prompts.",
            Across::Tokens,
            &held.prompt_pairs,
            held.prompt,
        ),
        (
            "Answers: quantiles of tokens, held-out quarter",
            "Tokens of answers.",
            Across::Tokens,
            &held.output_pairs,
            held.output,
        ),
    ] {
        all.push(against(title.to_owned(), what, of, pairs, distance)?);
    }
    Ok(all.into_iter().flatten().collect())
}

/// Quantiles of the held-out quarter against those of the fit.
fn against(
    title: String,
    what: &str,
    of: Across,
    pairs: &[sim::calibrate::QuantilePair],
    distance: Option<Distance>,
) -> Result<Option<Drawing>, ReportError> {
    let distance = distance.map_or_else(String::new, |distance| {
        format!(
            " Largest distance {} over {} values; chance alone makes it up to {:.3}.",
            interval(&distance.largest, 1.0),
            distance.n,
            distance.by_chance
        )
    });
    let pair = |pair: &sim::calibrate::QuantilePair| QuantilePair {
        fitted: pair.fitted,
        seen: pair.seen,
        by_chance: pair.by_chance,
    };
    quantiles(&Quantiles {
        title,
        caption: format!(
            "{what} On the line where the fit holds; within the band by chance alone.{distance}"
        ),
        of,
        pairs: pairs
            .iter()
            .map(pair)
            .filter(|pair| pair.fitted.min(pair.seen) >= LEAST_SHOWN)
            .collect(),
    })
}

fn lengths(title: &str, fit: &TokenLengths) -> Overlay {
    let points: Vec<(f64, f64)> = fit.points.iter().copied().filter(|p| p.0 >= 1.0).collect();
    Overlay {
        title: format!("{title}: tokens"),
        caption: format!(
            "Share of {} counts at or below; {}.",
            fit.n,
            match fit.is_log_normal() {
                true => format!(
                    "the log-normal fit is nowhere off by more than {:.3}",
                    fit.off
                ),
                false =>
                    "no log-normal fits, so the scenario draws from these quantiles".to_owned(),
            }
        ),
        across: Across::Tokens,
        up: Up::Share,
        fitted: points
            .iter()
            .map(|(tokens, _)| (*tokens, fit.cdf(*tokens)))
            .collect(),
        seen: points,
    }
}

fn times(tested: &HeldOutDeployment) -> Overlay {
    let caption = tested.latency.map_or_else(String::new, |distance| {
        format!(
            " Largest distance {} over {} answers; chance alone makes it up to {:.3}.",
            interval(&distance.largest, 1.0),
            distance.n,
            distance.by_chance
        )
    });
    Overlay {
        title: format!("{}: times of answers, held-out quarter", tested.id),
        caption: format!("Share of answers that had come by then.{caption}"),
        across: Across::Millis,
        up: Up::Share,
        seen: tested
            .curve
            .iter()
            .map(|(ms, seen, _)| (*ms, *seen))
            .collect(),
        fitted: tested
            .curve
            .iter()
            .map(|(ms, _, fitted)| (*ms, *fitted))
            .collect(),
    }
}

fn tested(found: &Calibration) -> FitTable {
    let row = |of: &HeldOutDeployment| {
        let quantile = |share: f64| {
            let known = of.quantiles.iter().find(|q| (q.share - share).abs() < 1e-9);
            known.map_or_else(
                || "too few".to_owned(),
                |q| format!("{:.0} / {:.0}", q.seen_ms, q.fitted_ms),
            )
        };
        vec![
            of.id.clone(),
            quantile(0.5),
            quantile(0.9),
            quantile(0.99),
            of.latency
                .map_or_else(String::new, |d| interval(&d.largest, 1.0)),
            of.latency
                .map_or_else(String::new, |d| format!("{:.3}", d.by_chance)),
            interval(&of.failed.0, 100.0),
            interval(&of.failed.1, 100.0),
        ]
    };
    FitTable {
        heading: "How well it holds on the held-out quarter",
        header: vec![
            "deployment",
            "p50 seen / fitted (ms)",
            "p90 seen / fitted (ms)",
            "p99 seen / fitted (ms)",
            "distance",
            "by chance",
            "failed before (%)",
            "failed in it (%)",
        ],
        rows: found.held_out.deployments.iter().map(row).collect(),
    }
}

fn latency(found: &Calibration) -> FitTable {
    let rows = found.deployments.iter().map(|of| {
        let fit = of.latency.as_ref();
        let quantile = |at: usize| {
            let found = fit.map(|fit| fit.first_quantiles[at]);
            let few = |of: &Fitted| {
                if of.low.is_none() {
                    " (too few for an interval)"
                } else {
                    ""
                }
            };
            found.map_or_else(String::new, |of| interval(&of, 1.0) + few(&of))
        };
        let token = fit.and_then(|fit| fit.per_token_median);
        vec![
            of.id.clone(),
            of.attempts.to_string(),
            of.answers.to_string(),
            quantile(0),
            quantile(1),
            quantile(2),
            token.map_or_else(|| "none".to_owned(), |token| interval(&token, 1.0)),
        ]
    });
    FitTable {
        heading: "What the scenario says of each deployment",
        header: vec![
            "deployment",
            "attempts",
            "answers",
            "first token p50 (ms)",
            "first token p95 (ms)",
            "first token p99 (ms)",
            "each further token, median (ms)",
        ],
        rows: rows.collect(),
    }
}

/// The value with its 95 % interval, times `scale`.
fn interval(of: &Fitted, scale: f64) -> String {
    let shown = |value: f64| {
        let value = scale * value;
        match value.abs() {
            v if v >= 100.0 => format!("{value:.0}"),
            v if v >= 1.0 => format!("{value:.2}"),
            _ => format!("{value:.4}"),
        }
    };
    match (of.low, of.high) {
        (Some(low), Some(high)) => format!("{} [{}, {}]", shown(of.value), shown(low), shown(high)),
        _ => shown(of.value),
    }
}

/// Quantiles below are of no account: a thousandth of a mean gap, of a token, of a millisecond.
const LEAST_SHOWN: f64 = 1e-3;
/// Deployments that get a picture; the table has all of them.
const MOST_PICTURES: usize = 6;
