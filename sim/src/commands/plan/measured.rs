//! What was measured at a point: each bound where it is tightest, and why requests failed.

use reports::{Measure, stats};
use sim::tune::Relation;

use super::field::{Field, Point, TriedCase, limit};

/// Each bound of each group where it is tightest.
pub(super) fn measures(field: &mut Field, point: &Point) -> Vec<Measure> {
    let rows = (0..field.groups.len())
        .flat_map(|group| (0..field.bounds.len()).map(move |bound| (group, bound)));
    let rows: Vec<_> = rows.collect();
    rows.into_iter()
        .filter_map(|row| tightest(field, point, Some(row)).map(|(_, measure)| measure))
        .collect()
}

/// The case and the bound with the least room, over all bounds or for one (group, bound).
pub(super) fn tightest(
    field: &mut Field,
    point: &Point,
    row: Option<(usize, usize)>,
) -> Option<(usize, Measure)> {
    let cases = field.tried(point).cases.len();
    let mut found: Option<(f64, usize, Measure)> = None;
    for group in 0..field.groups.len() {
        for at in 0..field.bounds.len() {
            if row.is_some_and(|row| row != (group, at)) {
                continue;
            }
            for case in 0..cases {
                let Some((room, measure)) = measured(field, point, case, (group, at)) else {
                    continue;
                };
                if found.as_ref().is_none_or(|(least, ..)| room < *least) {
                    found = Some((room, case, measure));
                }
            }
        }
    }
    found.map(|(_, case, measure)| (case, measure))
}

/// A bound in a case, with the room that it has: the fraction of the limit by which it is kept.
fn measured(
    field: &mut Field,
    point: &Point,
    case: usize,
    (group, at): (usize, usize),
) -> Option<(f64, Measure)> {
    let bound = field.bounds[at];
    let place = group * field.bounds.len() + at;
    let tried = &field.tried(point).cases[case];
    if tried.runs.is_empty() {
        return None;
    }
    let values: Option<Vec<f64>> = tried.runs.iter().map(|run| run.values[place]).collect();
    let estimate = values.and_then(|values| stats::mean_interval(&values));
    let (limit, at_least) = (limit(&bound), bound.relation == Relation::AtLeast);
    let room = estimate.map_or(f64::NEG_INFINITY, |estimate| {
        let room = if at_least {
            estimate.mean - limit
        } else {
            limit - estimate.mean
        };
        room / limit.abs().max(1e-9)
    });
    Some((
        room,
        Measure {
            metric: bound.metric.name().to_owned(),
            group,
            out: tried.name.clone(),
            mean: estimate.map(|estimate| estimate.mean),
            half_width: estimate.and_then(|estimate| estimate.half_width),
            limit,
            at_least,
        },
    ))
}

/// Where a measure's values stand.
pub(super) fn value_place(field: &Field, measure: &Measure) -> usize {
    let is_it = |bound: &sim::tune::Bound| {
        let at_least = bound.relation == Relation::AtLeast;
        bound.metric.name() == measure.metric && at_least == measure.at_least
    };
    let at = field.bounds.iter().position(is_it).unwrap_or(0);
    measure.group * field.bounds.len() + at
}

/// Why requests of a group failed, as shares.
pub(super) fn failures(case: &TriedCase, group: usize) -> Vec<(String, f64)> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    let errors = case
        .runs
        .iter()
        .filter_map(|run| run.errors.get(group))
        .flatten();
    for error in errors {
        let who = match error.origin {
            reports::ErrorOrigin::Provider => "from the provider",
            reports::ErrorOrigin::Router => "from the router",
        };
        let name = format!("{} {who}", error.exception);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += error.count,
            None => counts.push((name, error.count)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let share = |count: u64| stats::size(usize::try_from(count).unwrap_or(usize::MAX));
    let all: f64 = counts.iter().map(|(_, count)| share(*count)).sum();
    counts
        .into_iter()
        .map(|(name, count)| (name, share(count) / all))
        .collect()
}
