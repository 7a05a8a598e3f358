//! The deciding metric over the two axes that matter most; further axes become panels side by side.

use super::{
    HALF, Plot, WIDE,
    axes::SMALL,
    canvas::{Anchor, Canvas, shortened, text_width},
    ink::Ink,
};
use crate::{
    advice::lower_first,
    comparison::Comparison,
    effects::effects,
    labels::short_axis,
    metrics::{Better, Metric, Unit},
    record::{AxisRecord, SweepRecord},
};

/// A cell for each combination of two axes.
#[derive(Debug)]
pub(crate) struct Heatmap;

/// What lies where.
struct Layout<'a> {
    /// Downwards and across.
    rows: &'a AxisRecord,
    columns: &'a AxisRecord,
    /// One for each combination of the other axes, or only the best arm's if there are too many.
    panels: Vec<Vec<(&'a str, &'a str)>>,
    /// Whether only the best arm's combination of the other axes is shown.
    is_slice: bool,
}

impl Plot for Heatmap {
    fn name(&self) -> &'static str {
        "heatmap"
    }

    fn title(&self, sweep: &SweepRecord) -> String {
        let metric = Comparison::new(sweep).deciding().title();
        match layout(sweep) {
            Some(layout) => format!(
                "{metric} by {} and {}",
                short_axis(&layout.rows.name),
                short_axis(&layout.columns.name)
            ),
            None => metric.to_owned(),
        }
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let comparison = Comparison::new(sweep);
        let metric = comparison.deciding();
        let slice = match layout(sweep) {
            Some(Layout {
                is_slice: true,
                panels,
                ..
            }) => {
                format!(
                    " The other settings are those of the best arm: {}.",
                    panel_name(&panels[0])
                )
            }
            Some(_) | None => String::new(),
        };
        format!(
            "Mean {} over replications in each cell; the darker the green, the better (in dark mode, \
             the brighter). The best arm is framed in ink, the reference in blue.{slice}",
            lower_first(metric.title())
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        let layout = layout(sweep)?;
        let rows = u32::try_from(layout.rows.values.len()).ok()?;
        let width = if layout.panels.len() > 1 { WIDE } else { HALF };
        Some((width, height_px(&layout, rows)))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let Some(layout) = layout(sweep) else { return };
        let comparison = Comparison::new(sweep);
        let metric = comparison.deciding();
        let cells = Cells::new(&comparison, metric);
        let width = f64::from(if layout.panels.len() > 1 { WIDE } else { HALF });
        let across = across(&layout);
        let labels = label_width(layout.rows);
        let panel_width = (width - 16.0 - labels) / crate::stats::size(across);
        for (index, panel) in layout.panels.iter().enumerate() {
            let column = crate::stats::size(index % across);
            let line = crate::stats::size(index / across);
            let left = 8.0 + labels + column * panel_width;
            let top = 8.0 + line * panel_height(layout.rows.values.len());
            let frame = Frame {
                left,
                top,
                width: panel_width - 12.0,
                labels,
                is_first: index % across == 0,
            };
            draw_panel(canvas, &layout, panel, &frame, &cells);
        }
    }
}

/// Where a panel lies; its row labels stand to the left of it if it is the first of its line.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    labels: f64,
    is_first: bool,
}

/// Values of all arms, and where each lies between the worst and the best.
struct Cells<'a> {
    sweep: &'a SweepRecord,
    metric: &'static dyn Metric,
    best: Option<usize>,
    means: Vec<Option<f64>>,
    low: f64,
    high: f64,
}

impl<'a> Cells<'a> {
    fn new(comparison: &Comparison<'a>, metric: &'static dyn Metric) -> Self {
        let sweep = comparison.sweep;
        let means: Vec<Option<f64>> = (0..sweep.arms.len())
            .map(|arm| comparison.mean(arm, metric))
            .collect();
        let known = || means.iter().copied().flatten();
        let (low, high) = (
            known().fold(f64::INFINITY, f64::min),
            known().fold(f64::NEG_INFINITY, f64::max),
        );
        Self {
            sweep,
            metric,
            best: comparison.ranking().first().copied(),
            means,
            low,
            high,
        }
    }

    fn ink(&self, mean: f64) -> Ink {
        let spread = self.high - self.low;
        let share = if spread > 0.0 {
            (mean - self.low) / spread
        } else {
            0.5
        };
        Ink::heat(match self.metric.better() {
            Better::Lower => 1.0 - share,
            Better::Higher | Better::Neither => share,
        })
    }

    fn arm(&self, wanted: &[(&str, &str)]) -> Option<usize> {
        (self.sweep.arms.iter()).position(|arm| {
            wanted
                .iter()
                .all(|&(axis, value)| arm.value_on(axis) == Some(value))
        })
    }
}

fn draw_panel(
    canvas: &mut Canvas<'_>,
    layout: &Layout<'_>,
    panel: &[(&str, &str)],
    frame: &Frame,
    cells: &Cells<'_>,
) {
    let (left, top) = (frame.left, frame.top + HEAD);
    let cell_width = frame.width / crate::stats::size(layout.columns.values.len());
    canvas.bold(
        (left, frame.top + 10.0),
        Anchor::Left,
        SMALL,
        Ink::Text,
        &panel_name(panel),
    );
    let heading = short_axis(&layout.columns.name);
    canvas.text(
        (left, frame.top + 32.0),
        Anchor::Left,
        SMALL,
        Ink::Muted,
        heading,
    );
    if frame.is_first {
        let at = (left - 10.0, top - 14.0);
        canvas.text(
            at,
            Anchor::Right,
            SMALL,
            Ink::Muted,
            short_axis(&layout.rows.name),
        );
    }
    let mut marked = Vec::new();
    for (line, row) in layout.rows.values.iter().enumerate() {
        let y = top + crate::stats::size(line) * CELL;
        if frame.is_first {
            let at = (left - 10.0, y + CELL / 2.0);
            let most = shortened(row, most_chars(frame.labels));
            canvas.text(at, Anchor::Right, SMALL, Ink::Text, &most);
        }
        for (place, column) in layout.columns.values.iter().enumerate() {
            let x = left + crate::stats::size(place) * cell_width;
            let (from, to) = ((x, y), (x + cell_width - 2.0, y + CELL - 2.0));
            if line == 0 {
                let at = (x + cell_width / 2.0, top - 14.0);
                canvas.text(at, Anchor::Middle, SMALL, Ink::Text, &shortened(column, 14));
            }
            let mut wanted = panel.to_vec();
            wanted.extend([
                (layout.rows.name.as_str(), row.as_str()),
                (&layout.columns.name, column),
            ]);
            let Some(arm) = cells.arm(&wanted) else {
                continue;
            };
            draw_cell(canvas, cells, arm, from, to);
            if Some(arm) == cells.best || arm == cells.sweep.reference {
                let ink = if Some(arm) == cells.best {
                    Ink::Text
                } else {
                    Ink::Reference
                };
                marked.push((from, to, ink));
            }
        }
    }
    for (from, to, ink) in marked {
        canvas.frame(
            (from.0 + 1.0, from.1 + 1.0),
            (to.0 - 1.0, to.1 - 1.0),
            ink,
            2.5,
        );
    }
}

fn draw_cell(
    canvas: &mut Canvas<'_>,
    cells: &Cells<'_>,
    arm: usize,
    from: (f64, f64),
    to: (f64, f64),
) {
    let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
    let Some(mean) = cells.means[arm] else {
        canvas.frame(from, to, Ink::Grid, 1.0);
        return canvas.text(middle, Anchor::Middle, SMALL, Ink::Muted, "no run");
    };
    let ink = cells.ink(mean);
    canvas.rect(from, to, ink, 1.0);
    canvas.text(
        middle,
        Anchor::Middle,
        SMALL,
        ink.words(),
        &short_value(cells.metric.unit(), mean),
    );
}

/// A value that fits into a cell: without the unit where the title has it.
fn short_value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ratio => format!("{:.2}", value * 100.0),
        Unit::Count
        | Unit::Factor
        | Unit::Millis
        | Unit::PerMinute
        | Unit::PerCall
        | Unit::PerRequest
        | Unit::PerSecond
        | Unit::SecondsPerRequest
        | Unit::UsdPer1000Requests => unit.show(value),
    }
}

/// The two axes with the largest effect; the one with more values goes across, so that rows are few.
fn layout(sweep: &SweepRecord) -> Option<Layout<'_>> {
    let comparison = Comparison::new(sweep);
    let mut by_effect: Vec<&AxisRecord> = effects(&comparison, comparison.deciding())
        .into_iter()
        .map(|effect| effect.axis)
        .collect();
    // An axis without an effect of its own still spans the grid.
    for axis in sweep.axes.iter().filter(|axis| axis.values.len() > 1) {
        if !by_effect.iter().any(|known| known.name == axis.name) {
            by_effect.push(axis);
        }
    }
    let [first, second, others @ ..] = by_effect.as_slice() else {
        return None;
    };
    let (rows, columns) = orient(first, second);
    let (mut panels, mut is_slice) = (combinations(others), false);
    if panels.len() > MOST_PANELS {
        let best = &sweep.arms[*comparison.ranking().first()?];
        panels = vec![
            (others.iter())
                .filter_map(|axis| Some((axis.name.as_str(), best.value_on(&axis.name)?)))
                .collect(),
        ];
        is_slice = true;
    }
    let fits = columns.values.len() <= MOST_COLUMNS && rows.values.len() <= MOST_ROWS;
    fits.then_some(Layout {
        rows,
        columns,
        panels,
        is_slice,
    })
}

/// Words go down, numbers across; among equals the longer axis goes across.
fn orient<'a>(first: &'a AxisRecord, second: &'a AxisRecord) -> (&'a AxisRecord, &'a AxisRecord) {
    let is_numbers =
        |axis: &AxisRecord| axis.values.iter().all(|value| value.parse::<f64>().is_ok());
    match (is_numbers(first), is_numbers(second)) {
        (false, true) => (first, second),
        (true, false) => (second, first),
        _ if first.values.len() > second.values.len() => (second, first),
        _ => (first, second),
    }
}

fn combinations<'a>(axes: &[&'a AxisRecord]) -> Vec<Vec<(&'a str, &'a str)>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        let longer = |start: &Vec<(&'a str, &'a str)>| -> Vec<Vec<(&'a str, &'a str)>> {
            (axis.values.iter())
                .map(|value| {
                    let mut next = start.clone();
                    next.push((axis.name.as_str(), value.as_str()));
                    next
                })
                .collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn panel_name(panel: &[(&str, &str)]) -> String {
    let parts: Vec<String> = panel
        .iter()
        .map(|(axis, value)| format!("{} {value}", short_axis(axis)))
        .collect();
    parts.join(" · ")
}

/// Panels side by side: up to three while their cells stay wide enough to be read.
fn across(layout: &Layout<'_>) -> usize {
    let panels = layout.panels.len();
    match layout.columns.values.len() {
        0..=5 if panels == 3 || panels > 4 => 3,
        _ => panels.min(2),
    }
}

fn height_px(layout: &Layout<'_>, rows: u32) -> u32 {
    let lines = u32::try_from(layout.panels.len().div_ceil(across(layout))).unwrap_or(1);
    lines * (HEAD_PX + rows * CELL_PX + GAP_PX) + 8
}

fn panel_height(rows: usize) -> f64 {
    HEAD + crate::stats::size(rows) * CELL + f64::from(GAP_PX)
}

fn label_width(axis: &AxisRecord) -> f64 {
    let longest = axis
        .values
        .iter()
        .map(|value| text_width(value, SMALL))
        .fold(0.0, f64::max);
    let name = text_width(short_axis(&axis.name), SMALL);
    (longest.max(name) + 18.0).clamp(60.0, 190.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of characters"
)]
fn most_chars(width: f64) -> usize {
    (width / (SMALL * 0.55)) as usize
}

const HEAD_PX: u32 = 74;
const HEAD: f64 = HEAD_PX as f64;
const CELL_PX: u32 = 38;
const CELL: f64 = CELL_PX as f64;
const GAP_PX: u32 = 18;
const MOST_PANELS: usize = 6;
const MOST_COLUMNS: usize = 12;
const MOST_ROWS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, values: &[&str]) -> AxisRecord {
        AxisRecord {
            name: name.into(),
            values: values.iter().map(|&v| v.into()).collect(),
        }
    }

    #[test]
    fn words_go_down_and_numbers_across() {
        let (strategy, time) = (
            axis("strategy", &["a", "b"]),
            axis("time", &["1", "5", "30"]),
        );

        assert_eq!(orient(&time, &strategy).1.name, "time");
        assert_eq!(orient(&strategy, &time).1.name, "time");
    }

    #[test]
    fn further_axes_make_a_panel_for_each_combination() {
        let (a, b) = (axis("a", &["1", "2"]), axis("b", &["x", "y", "z"]));

        assert_eq!(combinations(&[&a, &b]).len(), 6);
        assert_eq!(combinations(&[]), [Vec::new()]);
        assert_eq!(panel_name(&combinations(&[&a, &b])[5]), "a 2 · b z");
    }

    #[test]
    fn a_value_in_a_cell_is_short() {
        assert_eq!(short_value(Unit::Ratio, 0.987_2), "98.72");
        assert_eq!(short_value(Unit::Millis, 12_300.0), "12.30 s");
    }
}
