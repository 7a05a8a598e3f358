//! Small pictures below a console's table: the deciding metric by two settings, and answers by time.
//!
//! Both are characters without colour, so a pipe gets what a terminal gets.

use crate::{
    aligned::aligned,
    along::Along,
    comparison::Comparison,
    effects::effects,
    labels::short_axis,
    metrics::{Better, Metric},
    record::{AxisRecord, RunRecord, SweepRecord},
    stats::size,
    text_plots::{block, sparkline},
};

/// The pictures of a sweep, each under its heading; nothing where there is nothing to see.
pub(crate) fn pictures(sweep: &SweepRecord) -> String {
    let comparison = Comparison::new(sweep);
    by_settings(&comparison).unwrap_or_default() + &by_time(&comparison).unwrap_or_default()
}

/// Means of two settings as blocks, the higher the better, with their values.
fn by_settings(comparison: &Comparison<'_>) -> Option<String> {
    let metric = comparison.deciding();
    let grid = Grid::new(comparison, metric)?;
    let means: Vec<f64> = grid
        .cells()
        .filter_map(|arm| comparison.mean(arm, metric))
        .collect();
    let low = means.iter().copied().fold(f64::INFINITY, f64::min);
    let high = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if means.len() < 2 || high <= low {
        return None;
    }
    let share = |mean: f64| match metric.better() {
        Better::Lower => (high - mean) / (high - low),
        Better::Higher | Better::Neither => (mean - low) / (high - low),
    };
    let mut lines = vec![vec![String::new()]];
    lines[0].extend(grid.columns.values.iter().cloned());
    for (name, arms) in grid.names.iter().zip(&grid.arms) {
        let cell = |arm: &Option<usize>| {
            let mean = arm.and_then(|arm| comparison.mean(arm, metric));
            mean.map_or_else(
                || "no run".to_owned(),
                |mean| format!("{} {}", block(share(mean)), metric.unit().show(mean)),
            )
        };
        let cells = arms.iter().map(cell);
        lines.push([name.clone()].into_iter().chain(cells).collect());
    }
    let mut text = format!(
        "\n{} by {}{}{}\n",
        metric.title(),
        grid.rows.map_or_else(String::new, |rows| format!(
            "{} (down) and ",
            short_axis(rows)
        )),
        short_axis(&grid.columns.name),
        grid.others,
    );
    for line in aligned(&lines) {
        text.push_str(&format!("  {line}\n"));
    }
    Some(text)
}

/// Arms by two axes.
struct Grid<'a> {
    rows: Option<&'a str>,
    columns: &'a AxisRecord,
    /// Of the rows.
    names: Vec<String>,
    arms: Vec<Vec<Option<usize>>>,
    /// What all arms have in common besides.
    others: String,
}

impl<'a> Grid<'a> {
    /// The two axes with the largest effects, the one with more values across; further axes stay as the best arm
    /// has them. `None` if there is nothing to lay out or it would be too wide.
    fn new(comparison: &Comparison<'a>, metric: &dyn Metric) -> Option<Self> {
        let sweep = comparison.sweep;
        let (rows, columns) = match Along::new(comparison) {
            Some(along) => {
                let of = along.lines.first().and_then(|line| line.of);
                let rows = sweep
                    .axes
                    .iter()
                    .find(|axis| of.is_some_and(|(name, _)| name == axis.name));
                (rows, along.axis)
            }
            None => {
                let mut largest = effects(comparison, metric)
                    .into_iter()
                    .map(|effect| effect.axis);
                let (one, other) = (largest.next()?, largest.next()?);
                match one.values.len() < other.values.len() {
                    true => (Some(one), other),
                    false => (Some(other), one),
                }
            }
        };
        if columns.values.len() > MOST_COLUMNS
            || rows.is_some_and(|rows| rows.values.len() > MOST_ROWS)
        {
            return None;
        }
        let best = *comparison.ranking().first()?;
        let free = |name: &str| name == columns.name || rows.is_some_and(|rows| rows.name == name);
        let fixed: Vec<(&str, &str)> = (sweep.axes.iter())
            .filter(|axis| axis.values.len() > 1 && !free(&axis.name))
            .filter_map(|axis| Some((axis.name.as_str(), sweep.arms[best].value_on(&axis.name)?)))
            .collect();
        let arm = |row: Option<(&str, &str)>, column: &str| {
            let wanted = fixed
                .iter()
                .copied()
                .chain(row)
                .chain([(columns.name.as_str(), column)]);
            let mut arms = sweep.arms_with_runs();
            let wanted: Vec<(&str, &str)> = wanted.collect();
            arms.find(|&arm| {
                let has =
                    |(axis, value): &(&str, &str)| sweep.arms[arm].value_on(axis) == Some(*value);
                wanted.iter().all(has)
            })
        };
        let lines: Vec<Option<(&str, &str)>> = match rows {
            None => vec![None],
            Some(rows) => (rows.values.iter())
                .map(|value| Some((rows.name.as_str(), value.as_str())))
                .collect(),
        };
        let of_line =
            |line: &Option<(&str, &str)>| columns.values.iter().map(|v| arm(*line, v)).collect();
        let others = match fixed.is_empty() {
            true => String::new(),
            false => {
                let fixed = fixed
                    .iter()
                    .map(|(axis, value)| format!("{} {value}", short_axis(axis)));
                format!(
                    ", at the best arm's {}",
                    fixed.collect::<Vec<_>>().join(" and ")
                )
            }
        };
        Some(Self {
            rows: rows.map(|rows| rows.name.as_str()),
            columns,
            names: lines
                .iter()
                .map(|line| line.map_or("", |line| line.1).to_owned())
                .collect(),
            arms: lines.iter().map(of_line).collect(),
            others,
        })
    }

    fn cells(&self) -> impl Iterator<Item = usize> {
        self.arms.iter().flatten().copied().flatten()
    }
}

/// The share of requests that were answered, of those that ended in each part of the time; best arm and
/// reference, all replications together.
fn by_time(comparison: &Comparison<'_>) -> Option<String> {
    let sweep = comparison.sweep;
    if sweep.capacity.is_some() || sweep.probe.is_some() {
        return None;
    }
    let best = *comparison.ranking().first()?;
    let end_s = comparison.runs(best).first()?.duration_s;
    let mut named = vec![(best, "best arm")];
    if sweep.reference != best && !comparison.runs(sweep.reference).is_empty() {
        named.push((sweep.reference, "reference"));
    }
    if sweep.arms_with_runs().count() == 1 {
        named[0].1 = "";
    }
    let rows = named
        .iter()
        .map(|(arm, _)| answered_by_time(comparison.runs(*arm), end_s));
    let rows: Vec<Vec<Option<f64>>> = rows.collect();
    let known = || rows.iter().flatten().copied().flatten();
    let low = known().fold(f64::INFINITY, f64::min);
    if known().count() == 0 || low > 0.99 {
        return None;
    }
    let unit = crate::metrics::Unit::Ratio;
    let mut text = format!(
        "\nAnswered by time, from {} (▁) to 100 % (█) of the requests that ended then, over {}\n",
        unit.show(low),
        span(end_s),
    );
    let scaled = |row: &[Option<f64>]| {
        let shares = row
            .iter()
            .map(|share| share.map(|share| (share - low) / (1.0 - low)));
        sparkline(&shares.collect::<Vec<_>>())
    };
    let lines = named.iter().zip(&rows);
    let lines = lines.map(|((_, name), row)| vec![(*name).to_owned(), scaled(row)]);
    for line in aligned(&lines.collect::<Vec<_>>()) {
        text.push_str(&format!("  {}\n", line.trim_start()));
    }
    Some(text)
}

fn answered_by_time(runs: &[RunRecord], end_s: f64) -> Vec<Option<f64>> {
    let mut ended = vec![(0_u64, 0_u64); WIDTH];
    for run in runs {
        for (at, bucket) in run.timeline.buckets.iter().enumerate() {
            let middle_s = (size(at) + 0.5) * run.timeline.bucket_s;
            let place = size(WIDTH) * middle_s / end_s;
            if let Some(sums) = (0..WIDTH)
                .find(|&n| place < size(n + 1))
                .and_then(|n| ended.get_mut(n))
            {
                sums.0 += u64::from(bucket.completed);
                sums.1 += u64::from(bucket.completed) + u64::from(bucket.failed);
            }
        }
    }
    let as_f64 = crate::distribution::as_f64;
    let share = |(good, all): (u64, u64)| (all > 0).then(|| as_f64(good) / as_f64(all));
    ended.into_iter().map(share).collect()
}

/// A length of time in its best unit.
fn span(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 2.0 * 86_400.0 => (s / 86_400.0, "days"),
        s if s >= 2.0 * 3_600.0 => (s / 3_600.0, "h"),
        s if s >= 120.0 => (s / 60.0, "min"),
        s => (s, "s"),
    };
    let text = format!("{value:.1}");
    format!("{} {unit}", text.trim_end_matches(".0"))
}

/// Values that fit beside each other.
const MOST_COLUMNS: usize = 8;
/// Values below each other.
const MOST_ROWS: usize = 12;
/// Characters of a line over time.
const WIDTH: usize = 60;
