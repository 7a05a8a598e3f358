//! Every arm as a dot with its interval, best first: which of them can be told apart.

use super::{
    HALF, Plot,
    axes::{Panel, SMALL, Scale, legend, tick_label},
    canvas::{Anchor, Canvas, shortened, text_width},
    ink::Ink,
};
use crate::{
    advice::lower_first,
    comparison::Comparison,
    labels::short_axis,
    record::{AxisRecord, SweepRecord},
};

/// The arms in order, by the metric that tells them apart.
#[derive(Debug)]
pub(crate) struct Arms;

impl Plot for Arms {
    fn name(&self) -> &'static str {
        "arms"
    }

    fn title(&self, sweep: &SweepRecord) -> String {
        format!("{} of each arm", Comparison::new(sweep).deciding().title())
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let comparison = Comparison::new(sweep);
        let left_out = comparison.ranking().len() - shown(&comparison).len();
        let rest = match left_out {
            0 => String::new(),
            n => format!(" {n} arms between them are left out."),
        };
        format!(
            "Mean {} over replications with its 95 % interval, best on top; the number is the arm's \
             place in the table. All arms met the same luck, so their differences are surer than \
             overlapping intervals suggest.{rest}",
            lower_first(comparison.deciding().title())
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        let rows = u32::try_from(shown(&Comparison::new(sweep)).len()).ok()?;
        (rows > 1).then_some((HALF, TOP_PX + rows * ROW_PX + 48))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let comparison = Comparison::new(sweep);
        let metric = comparison.deciding();
        let rows = shown(&comparison);
        let ends: Vec<(f64, f64)> = (rows.iter())
            .filter_map(|&(_, arm)| comparison.estimate(arm, metric))
            .map(|estimate| {
                estimate
                    .interval()
                    .unwrap_or((estimate.mean, estimate.mean))
            })
            .collect();
        let low = ends.iter().map(|end| end.0).fold(f64::INFINITY, f64::min);
        let high = ends
            .iter()
            .map(|end| end.1)
            .fold(f64::NEG_INFINITY, f64::max);
        let top = f64::from(TOP_PX);
        let columns = columns(sweep);
        let left = columns.last().map_or(60.0, |column| column.right + 18.0);
        let panel = Panel {
            left,
            top,
            right: f64::from(HALF) - 24.0,
            bottom: top + crate::stats::size(rows.len()) * f64::from(ROW_PX),
            x: Scale::linear(low, high, 4, |value| tick_label(metric.unit(), value)),
            y: Scale::linear(0.0, 1.0, 1, |_| String::new()),
        };
        let entries = [
            (Ink::Best, "best".into()),
            (Ink::Reference, "reference".into()),
        ];
        legend(canvas, (left, 14.0), panel.right, &entries);
        panel.draw_x(canvas, true);
        panel.name_x(canvas, metric.title());
        for column in &columns {
            let at = (column.left, top - 16.0);
            canvas.text(at, Anchor::Left, LABEL, Ink::Muted, &column.name);
        }
        for (line, &(place, arm)) in (0_u32..).zip(&rows) {
            let y = top + (f64::from(line) + 0.5) * f64::from(ROW_PX);
            let ink = match arm {
                arm if arm == sweep.reference => Ink::Reference,
                _ if place == 1 => Ink::Best,
                _ => Ink::Other,
            };
            let words = if ink == Ink::Other { Ink::Text } else { ink };
            canvas.text((24.0, y), Anchor::Right, LABEL, words, &place.to_string());
            for column in &columns {
                let value = sweep.arms[arm].value_on(column.axis).unwrap_or("—");
                let value = shortened(value, column.most_chars);
                canvas.text((column.left, y), Anchor::Left, LABEL, words, &value);
            }
            let Some(estimate) = comparison.estimate(arm, metric) else {
                continue;
            };
            if let Some((from, to)) = estimate.interval() {
                canvas.line(&[(panel.x_of(from), y), (panel.x_of(to), y)], ink, 2.0);
            }
            canvas.dot((panel.x_of(estimate.mean), y), 4.0, ink);
        }
    }
}

/// A column of settings to the left of the dots.
struct Column<'a> {
    axis: &'a str,
    name: String,
    left: f64,
    right: f64,
    most_chars: usize,
}

/// The settings side by side, cut so that the dots keep their room.
fn columns(sweep: &SweepRecord) -> Vec<Column<'_>> {
    let most_chars = MOST_CHARS / sweep.axes.len().max(1);
    let mut left = 34.0;
    let mut columns = Vec::with_capacity(sweep.axes.len());
    for AxisRecord { name: axis, values } in &sweep.axes {
        let name = shortened(short_axis(axis), most_chars);
        let longest = values.iter().map(|value| value.chars().count()).max();
        let longest = longest.unwrap_or(0).min(most_chars.max(22));
        let most_chars = longest.max(name.chars().count());
        let right = left + text_width(&"x".repeat(most_chars), LABEL);
        columns.push(Column {
            axis,
            name,
            left,
            right,
            most_chars,
        });
        left = right + 10.0;
    }
    columns
}

/// Place and index of the arms to show: all, or the best, the reference and the last few.
fn shown(comparison: &Comparison<'_>) -> Vec<(usize, usize)> {
    let ranking = comparison.ranking();
    let arms = ranking.len();
    let is_shown = |place: usize, arm: usize| {
        arms <= MOST_ROWS
            || place <= MOST_ROWS - 4
            || place + 3 > arms
            || arm == comparison.sweep.reference
    };
    let places = ranking.into_iter().enumerate();
    let places = places.map(|(index, arm)| (index + 1, arm));
    places
        .filter(|&(place, arm)| is_shown(place, arm))
        .collect()
}

const LABEL: f64 = SMALL - 1.0;
/// Characters of all settings together.
const MOST_CHARS: usize = 48;
const TOP_PX: u32 = 46;
const ROW_PX: u32 = 19;
const MOST_ROWS: usize = 28;
