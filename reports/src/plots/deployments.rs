//! Which deployment got how much of the traffic, and how much of that failed there.

use super::{
    HALF, Plot,
    axes::{Panel, SMALL, Scale, legend, short_number},
    canvas::{Anchor, Canvas, shortened},
    ink::Ink,
    named_arms,
};
use crate::{
    comparison::Comparison,
    distribution::as_f64,
    record::{DeploymentRecord, RunRecord, SweepRecord},
};

/// A bar for each deployment and each of the best and the reference arm.
#[derive(Debug)]
pub(crate) struct Deployments;

impl Plot for Deployments {
    fn name(&self) -> &'static str {
        "deployments"
    }

    fn title(&self, _sweep: &SweepRecord) -> String {
        "Who gets the attempts".into()
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let comparison = Comparison::new(sweep);
        let total = deployments(sweep);
        let rest = match total.saturating_sub(MOST_DEPLOYMENTS) {
            0 => String::new(),
            n => format!(" The other {n} deployments are left out."),
        };
        let limited = limited(&comparison).map_or_else(
            || " No attempt met a 429.".to_owned(),
            |(whom, counts)| format!(" Most 429s come from {whom}: {counts} a run."),
        );
        let mirrored = match mirrored(&comparison) {
            0 => "",
            _ => " Those for mirrors are among them.",
        };
        format!(
            "Share of all attempts sent to each deployment, over all replications; the end in orange \
             failed.{mirrored}{limited}{rest}"
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        let rows = deployments(sweep).min(MOST_DEPLOYMENTS);
        let bars = shown(&Comparison::new(sweep)).len();
        let height = 100 + u32::try_from(rows * (bars * 16 + 14)).ok()?;
        (rows > 1).then_some((HALF, height))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let comparison = Comparison::new(sweep);
        let shown = shown(&comparison);
        let rows = deployments(sweep).min(MOST_DEPLOYMENTS);
        let mut entries: Vec<_> = shown
            .iter()
            .map(|(_, ink, label)| (*ink, label.clone()))
            .collect();
        entries.push((Ink::Worst, "failed".into()));
        let top = legend(canvas, (16.0, 14.0), f64::from(HALF) - 8.0, &entries) + 4.0;
        let pitch = crate::stats::size(shown.len()) * 16.0 + 14.0;
        let share = |arm: usize, index: usize, of: fn(&DeploymentRecord) -> u64| {
            let runs = comparison.runs(arm);
            let attempts: u64 = (0..deployments(sweep))
                .map(|index| sum(runs, index, DeploymentRecord::load))
                .sum();
            as_f64(sum(runs, index, of)) / as_f64(attempts.max(1))
        };
        let largest = (shown.iter())
            .flat_map(|&(arm, ..)| (0..rows).map(move |index| (arm, index)))
            .map(|(arm, index)| share(arm, index, DeploymentRecord::load))
            .fold(0.0, f64::max);
        let panel = Panel {
            left: 140.0,
            top,
            right: f64::from(HALF) - 60.0,
            bottom: top + crate::stats::size(rows) * pitch,
            x: Scale::linear(0.0, largest, 5, |v| {
                format!("{} %", short_number(v * 100.0))
            }),
            y: Scale::linear(0.0, 1.0, 1, |_| String::new()),
        };
        panel.draw_x(canvas, true);
        for index in 0..rows {
            let y = top + crate::stats::size(index) * pitch + 7.0;
            let first = &comparison.runs(shown[0].0)[0].deployments[index];
            let middle = (panel.left - 10.0, y + (pitch - 14.0) / 2.0);
            canvas.text(
                middle,
                Anchor::Right,
                SMALL,
                Ink::Text,
                &shortened(&first.id, 20),
            );
            for (bar, &(arm, ink, _)) in shown.iter().enumerate() {
                let y = y + crate::stats::size(bar) * 16.0;
                let sent = share(arm, index, DeploymentRecord::load);
                let failed = share(arm, index, |deployment| {
                    deployment.failures() + deployment.mirrored_failed
                });
                let (end, ok) = (panel.x_of(sent), panel.x_of((sent - failed).max(0.0)));
                canvas.rect((panel.left, y + 1.0), (end, y + 14.0), ink, 1.0);
                canvas.rect((ok, y + 1.0), (end, y + 14.0), Ink::Worst, 1.0);
                let label = format!("{:.1} %", sent * 100.0);
                canvas.text(
                    (end + 6.0, y + 8.0),
                    Anchor::Left,
                    SMALL - 1.0,
                    Ink::Muted,
                    &label,
                );
            }
        }
    }
}

/// The deployment that sent most 429s in the arms shown, and how many a run in each of them.
fn limited(comparison: &Comparison<'_>) -> Option<(String, String)> {
    let shown = shown(comparison);
    let of =
        |arm: usize, index: usize| sum(comparison.runs(arm), index, DeploymentRecord::rate_limited);
    let all = |index: usize| -> u64 { shown.iter().map(|&(arm, ..)| of(arm, index)).sum() };
    let busiest = (0..deployments(comparison.sweep))
        .rev()
        .max_by_key(|&index| all(index))?;
    (all(busiest) > 0).then_some(())?;
    let counts: Vec<String> = (shown.iter())
        .map(|&(arm, ink, _)| {
            let runs = comparison.runs(arm);
            let role = if ink == Ink::Reference {
                "reference"
            } else {
                "best"
            };
            let mean = as_f64(of(arm, busiest)) / crate::stats::size(runs.len());
            if shown.len() == 1 {
                format!("{mean:.1}")
            } else {
                format!("{mean:.1} ({role})")
            }
        })
        .collect();
    let first = &comparison.runs(shown[0].0)[0].deployments[busiest];
    let whom = match first.provider.is_empty() || first.provider == first.id {
        true => first.id.clone(),
        false => format!("{} ({})", first.id, first.provider),
    };
    Some((whom, counts.join(", ")))
}

/// Attempts for mirrors in the arms shown.
fn mirrored(comparison: &Comparison<'_>) -> u64 {
    let arms = shown(comparison);
    let runs = arms.iter().flat_map(|&(arm, ..)| comparison.runs(arm));
    let deployments = runs.flat_map(|run| &run.deployments);
    deployments.map(|deployment| deployment.mirrored).sum()
}

/// Best and reference.
fn shown(comparison: &Comparison<'_>) -> Vec<(usize, Ink, String)> {
    let mut arms = named_arms(comparison);
    arms.retain(|(_, ink, _)| *ink != Ink::Worst);
    arms
}

fn sum(runs: &[RunRecord], index: usize, of: fn(&DeploymentRecord) -> u64) -> u64 {
    runs.iter()
        .filter_map(|run| run.deployments.get(index))
        .map(of)
        .sum()
}

/// Deployments of the first run; every arm of a sweep has the same.
fn deployments(sweep: &SweepRecord) -> usize {
    let counts = sweep
        .arms
        .iter()
        .flat_map(|arm| &arm.runs)
        .map(|run| run.deployments.len());
    counts.min().unwrap_or(0)
}

const MOST_DEPLOYMENTS: usize = 12;
