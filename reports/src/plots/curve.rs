//! The deciding metric along a setting that is a number, with intervals.

use super::{
    HALF, Plot,
    axes::{Panel, Scale, legend, short_number, tick_label},
    canvas::{Canvas, Place},
    ink::Ink,
};
use crate::{
    advice::lower_first,
    along::{Along, MOST_LINES},
    comparison::Comparison,
    labels::short_axis,
    record::SweepRecord,
};

/// A line for each value of the other axis.
#[derive(Debug)]
pub(crate) struct Curve;

impl Plot for Curve {
    fn name(&self) -> &'static str {
        "curve"
    }

    fn title(&self, sweep: &SweepRecord) -> String {
        let comparison = Comparison::new(sweep);
        let metric = comparison.deciding().title();
        match Along::new(&comparison) {
            Some(along) => format!("{metric} along {}", short_axis(&along.axis.name)),
            None => metric.to_owned(),
        }
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let comparison = Comparison::new(sweep);
        let metric = comparison.deciding();
        let cliffs = Along::new(&comparison)
            .map_or_else(Vec::new, |along| along.cliffs(&comparison, metric));
        let cliffs: String = cliffs.iter().map(|cliff| format!(" {cliff}")).collect();
        format!(
            "Mean {} over replications with its 95 % interval.{cliffs}",
            lower_first(metric.title())
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        Along::new(&Comparison::new(sweep)).map(|_| (HALF, 360))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let comparison = Comparison::new(sweep);
        let metric = comparison.deciding();
        let Some(along) = Along::new(&comparison) else {
            return;
        };
        let points = || along.lines.iter().flat_map(|line| &line.points);
        let ends = points().filter_map(|(_, arm)| {
            let estimate = comparison.estimate(*arm, metric)?;
            Some(
                estimate
                    .interval()
                    .unwrap_or((estimate.mean, estimate.mean)),
            )
        });
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| {
            (low.min(end.0), high.max(end.1))
        });
        let panel = Panel {
            left: 64.0,
            top: 58.0,
            right: f64::from(HALF) - 20.0,
            bottom: 310.0,
            x: across(points().map(|(x, _)| *x)),
            y: Scale::linear(low, high, 5, |value| tick_label(metric.unit(), value)),
        };
        let entries: Vec<(Ink, String)> = (along.lines.iter().zip(INKS))
            .filter_map(|(line, ink)| Some((ink, line.named()?)))
            .collect();
        legend(canvas, (panel.left, 14.0), panel.right, &entries);
        panel.draw(canvas);
        panel.name_x(canvas, short_axis(&along.axis.name));
        panel.name_y(canvas, metric.title());
        for (line, ink) in along.lines.iter().zip(INKS) {
            let means = line.points.iter();
            let means = means.filter_map(|(x, arm)| Some((*x, comparison.estimate(*arm, metric)?)));
            let means: Vec<_> = means.collect();
            let places: Vec<Place> = means.iter().map(|(x, e)| panel.place(*x, e.mean)).collect();
            canvas.line(&places, ink, 2.0);
            for ((x, estimate), place) in means.into_iter().zip(places) {
                if let Some((from, to)) = estimate.interval() {
                    canvas.line(&[panel.place(x, from), panel.place(x, to)], ink, 2.0);
                }
                canvas.dot(place, 3.5, ink);
            }
        }
    }
}

/// By powers where the values spread over more than one power of ten.
fn across(values: impl Iterator<Item = f64> + Clone) -> Scale {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    match low > 0.0 && high / low > 10.0 {
        true => Scale::log(low, high, &[1.0, 2.0, 3.0, 5.0], short_number),
        false => Scale::linear(low, high, 6, short_number),
    }
}

/// Inks of lines, in their order.
const INKS: [Ink; MOST_LINES] = [Ink::Best, Ink::Worst, Ink::Reference, Ink::Cooled];
