//! A probe as pictures of characters: requests answered well around the push, and on the way up and down.

use super::{ProbeArm, ProbeRecord};
use crate::{
    aligned::aligned,
    metrics::Unit,
    stats::{mean, size},
    text_plots::{block, sparkline},
};

/// Both pictures, each under its heading; nothing where there is nothing to see.
#[must_use]
pub fn probe_picture(probe: &ProbeRecord) -> String {
    recovery(probe).unwrap_or_default() + &ramp(probe).unwrap_or_default()
}

/// Where the scale begins; `None` if hardly anything was lost.
fn lowest<'a>(shares: impl Iterator<Item = &'a Option<f64>>) -> Option<f64> {
    let low = shares.copied().flatten().fold(f64::INFINITY, f64::min);
    (low <= 0.99).then_some(low)
}

fn heading(what: &str, low: f64, more: &str) -> String {
    let (from, to) = (Unit::Ratio.show(low), Unit::Ratio.show(1.0));
    format!("\n{what}, from {from} (▁) to {to} (█){more}\n")
}

fn recovery(probe: &ProbeRecord) -> Option<String> {
    let rows: Vec<Vec<Option<f64>>> = (probe.arms.iter())
        .map(|arm| columns(&arm.by_time, COLUMNS))
        .collect();
    let low = lowest(rows.iter().flatten())?;
    let all_s = probe.end_s + probe.watched_s;
    let is_pushed = |at: usize| {
        let (from, to) = (size(at), size(at + 1));
        let scale = size(COLUMNS) / all_s;
        from < probe.end_s * scale && to > probe.begin_s * scale
    };
    let push: String = (0..COLUMNS)
        .map(|at| if is_pushed(at) { '░' } else { ' ' })
        .collect();
    let more = format!(", by time of arrival over {all_s:.0} s; ░ is the push");
    let mut lines = vec![vec![String::new(), push]];
    for (arm, row) in probe.arms.iter().zip(&rows) {
        lines.push(vec![named(arm), sparkline(&scaled(row, low))]);
    }
    Some(heading("Answered well", low, &more) + &listed(&lines))
}

fn ramp(probe: &ProbeRecord) -> Option<String> {
    let low = lowest(probe.arms.iter().flat_map(|arm| &arm.by_step))?;
    let top = probe.top();
    let mut loads = probe.loads.clone();
    loads.sort_by(f64::total_cmp);
    loads.dedup_by(|a, b| a.total_cmp(b).is_eq());
    if loads.len() > MOST_LOADS {
        return None;
    }
    let mut lines = vec![vec![String::new()]];
    lines[0].extend(loads.iter().map(|load| format!("{load}×")));
    for arm in &probe.arms {
        for (way, steps) in [("up", 0..top + 1), ("down", top + 1..probe.loads.len())] {
            let cell = |load: &f64| {
                let step = steps
                    .clone()
                    .find(|at| probe.loads[*at].total_cmp(load).is_eq());
                let share = step.and_then(|at| *arm.by_step.get(at)?);
                share.map_or_else(String::new, |share| {
                    let height = (share - low) / (1.0 - low);
                    format!("{} {}", block(height), Unit::Ratio.show(share))
                })
            };
            let name = format!("{} {way}", named(arm));
            let cells = loads.iter().map(cell);
            lines.push([name.trim().to_owned()].into_iter().chain(cells).collect());
        }
    }
    Some(
        heading(
            "Answered well at each load, on the way up and down again",
            low,
            "",
        ) + &listed(&lines),
    )
}

fn named(arm: &ProbeArm) -> String {
    arm.label.clone()
}

fn scaled(row: &[Option<f64>], low: f64) -> Vec<Option<f64>> {
    let scale = |share: &Option<f64>| share.map(|share| (share - low) / (1.0 - low));
    row.iter().map(scale).collect()
}

/// Means of neighbours, so that there are so many.
fn columns(row: &[Option<f64>], wanted: usize) -> Vec<Option<f64>> {
    let of = |at: usize| {
        let (from, to) = (at * row.len() / wanted, (at + 1) * row.len() / wanted);
        let within = row.get(from..to.max(from + 1)).unwrap_or_default();
        let known: Vec<f64> = within.iter().copied().flatten().collect();
        (!known.is_empty()).then(|| mean(&known))
    };
    (0..wanted).map(of).collect()
}

fn listed(lines: &[Vec<String>]) -> String {
    let lines = aligned(lines).into_iter();
    lines.map(|line| format!("  {line}\n")).collect()
}

/// Characters of a line over time.
const COLUMNS: usize = 60;
/// Loads that fit beside each other.
const MOST_LOADS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(low: f64) -> ProbeRecord {
        let by_time = |back: bool| {
            let share = |at: usize| match at {
                0..10 => 1.0,
                10..14 => low,
                _ if back => 1.0,
                _ => low + 0.1 * (1.0 - low),
            };
            (0..48).map(|at| (at != 20).then(|| share(at))).collect()
        };
        let arm = |label: &str, back: bool| ProbeArm {
            label: label.to_owned(),
            by_time: by_time(back),
            by_step: [1.0, 0.999, low, if back { 0.999 } else { low }, 1.0]
                .map(Some)
                .to_vec(),
            ..ProbeArm::default()
        };
        ProbeRecord {
            begin_s: 100.0,
            end_s: 140.0,
            watched_s: 340.0,
            loads: vec![1.0, 1.5, 2.0, 1.5, 1.0],
            arms: vec![arm("num_retries 0", true), arm("num_retries 3", false)],
            ..ProbeRecord::default()
        }
    }

    #[test]
    fn the_push_stands_above_what_it_did_and_the_ways_of_the_ramp_below_each_other() {
        insta::assert_snapshot!(probe_picture(&probe(0.2)));
    }

    #[test]
    fn where_nothing_was_lost_there_is_nothing_to_see() {
        assert_eq!(probe_picture(&probe(0.995)), "");
    }
}
