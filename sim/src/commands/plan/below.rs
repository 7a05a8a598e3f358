//! The size just below: what it gives, and which limit binds there.

use reports::{Below, Bottleneck, Measure, Outage, stats};
use sim::capacity::{Lift, Verdict, worst};

use super::{
    field::{Care, Field, Point},
    lines::steps,
    measured::{failures, tightest, value_place},
};
use crate::complaint::Complaint;

/// What one less gives: the group that grew most, for it is the one that costs. `None` where there is
/// no smaller size; the outer `None` if interrupted.
#[expect(clippy::option_option, reason = "interrupted, or nothing smaller")]
pub(super) fn below(
    field: &mut Field,
    load: f64,
    out: Outage,
    sizes: &[u32],
) -> Result<Option<Option<Below>>, Complaint> {
    let growth = |group: usize| sizes[group] * 1_000 / field.present[group].max(1);
    let Some(group) = (0..sizes.len())
        .filter(|&group| sizes[group] > 1)
        .max_by_key(|&group| growth(group))
    else {
        return Ok(Some(None));
    };
    let mut less = sizes.to_vec();
    less[group] -= 1;
    // What is below the floor was told by an earlier line, and is run here for its numbers. Where the
    // search was content with it and the proof was not, the proof tells.
    let mut verdict = Verdict::Meets;
    let mut point = Point::new(load, out, &less, false);
    for (is_proof, care) in [
        (false, Care::Search(steps(field.most))),
        (true, Care::Proof),
    ] {
        if verdict == Verdict::Meets {
            point = Point::new(load, out, &less, is_proof);
            let Some(verdicts) = field.verdicts(&point, care)? else {
                return Ok(None);
            };
            verdict = worst(verdicts);
        }
    }
    if verdict == Verdict::Meets {
        return Ok(Some(None));
    }
    let Some((case, measure)) = tightest(field, &point, None) else {
        return Ok(Some(None));
    };
    let Some(bottleneck) = bottleneck(field, &point, case, &measure)? else {
        return Ok(None);
    };
    let failures = failures(&field.tried(&point).cases[case], measure.group);
    let is_backlogged = is_backlogged(field, &point);
    Ok(Some(Some(Below {
        group,
        size: less[group],
        measure,
        is_missed: verdict == Verdict::Misses,
        is_backlogged,
        bottleneck,
        failures,
    })))
}

/// Whether the backlog of any group grows in any case of a point.
fn is_backlogged(field: &mut Field, point: &Point) -> bool {
    let cases = field.tried(point).cases.len();
    let groups = field.groups.len();
    let mut pairs = (0..cases).flat_map(|case| (0..groups).map(move |group| (case, group)));
    pairs.any(|(case, group)| field.is_backlogged(point, case, group, usize::MAX))
}

/// The limit that gains most at this point when it is lifted alone, if any gains beyond chance.
#[expect(clippy::option_option, reason = "interrupted, or nothing that binds")]
fn bottleneck(
    field: &mut Field,
    point: &Point,
    case: usize,
    measure: &Measure,
) -> Result<Option<Option<Bottleneck>>, Complaint> {
    let at = value_place(field, measure);
    let mut best: Option<(f64, Bottleneck)> = None;
    for lift in Lift::ALL {
        let tried = &field.tried(point).cases[case];
        let Some(lifted) = lift.of(&tried.plan) else {
            continue;
        };
        let as_is: Vec<Option<f64>> = tried
            .runs
            .iter()
            .take(LIFTED)
            .map(|run| run.values[at])
            .collect();
        let Some(seen) = field.see((point, case), &lifted, 0..as_is.len())? else {
            return Ok(None);
        };
        let pairs = as_is
            .iter()
            .zip(&seen)
            .filter_map(|(old, new)| Some((new.values[at]?, (*old)?)));
        let (new, old): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let Some(paired) = stats::paired_difference(&new, &old) else {
            continue;
        };
        let gain = match measure.at_least {
            true => paired.difference.mean,
            false => -paired.difference.mean,
        };
        let is_clear = paired.difference.excludes_zero();
        if gain > 0.0 && is_clear && best.as_ref().is_none_or(|(most, _)| gain > *most) {
            let found = Bottleneck {
                limit: lift.name().to_owned(),
                without: stats::mean(&new),
            };
            best = Some((gain, found));
        }
    }
    Ok(Some(best.map(|(_, found)| found)))
}

/// Replications with a limit lifted.
const LIFTED: usize = 10;
