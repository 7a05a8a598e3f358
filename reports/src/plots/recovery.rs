//! A push and what follows it, and the two ways of a ramp.

use super::{
    HALF, Plot, WIDE,
    axes::{Panel, Scale, legend, short_number, tick_label},
    canvas::{Canvas, Place},
    ink::Ink,
};
use crate::{metrics::Unit, probe::ProbeRecord, record::SweepRecord, stats::size};

/// The share of requests answered well, by the time of their arrival.
#[derive(Debug)]
pub(crate) struct Recovery;

/// The same by load, on the way up and on the way down.
#[derive(Debug)]
pub(crate) struct Ramp;

impl Plot for Recovery {
    fn name(&self) -> &'static str {
        "recovery"
    }

    fn title(&self, _sweep: &SweepRecord) -> String {
        "What a push does".to_owned()
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let push = sweep.probe.as_ref().map_or("", |probe| probe.push.as_str());
        format!(
            "Requests answered well, by when they arrived; means over replications. The band is the push: {push}. A line that \
             stays down after it is a service that does not come back by itself.{}",
            more(sweep)
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        sweep.probe.as_ref().map(|_| (WIDE, 320))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let Some(probe) = &sweep.probe else { return };
        let panel = Panel {
            left: 64.0,
            top: 58.0,
            right: f64::from(WIDE) - 20.0,
            bottom: 280.0,
            x: Scale::time(probe.end_s + probe.watched_s),
            y: shares(),
        };
        names(probe, canvas, &panel);
        let (from, to) = (panel.x_of(probe.begin_s), panel.x_of(probe.end_s));
        canvas.rect((from, panel.top), (to, panel.bottom), Ink::Worst, 0.15);
        panel.draw(canvas);
        panel.name_y(canvas, "answered well");
        for (arm, ink) in probe.arms.iter().zip(INKS) {
            let windows = arm.by_time.iter().enumerate();
            let places: Vec<Place> = windows
                .filter_map(|(at, share)| {
                    let middle = (size(at) + 0.5) * probe.width_s;
                    let inside = middle <= probe.end_s + probe.watched_s;
                    inside.then_some(panel.place(middle, (*share)?))
                })
                .collect();
            canvas.line(&places, ink, 2.0);
        }
    }
}

impl Plot for Ramp {
    fn name(&self) -> &'static str {
        "ramp"
    }

    fn title(&self, _sweep: &SweepRecord) -> String {
        "As the load rises and falls".to_owned()
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let step = sweep.probe.as_ref().map_or(0.0, |probe| probe.step_s);
        format!(
            "Requests answered well in the second half of each step of {} s; means over replications. Thick: the load \
             rises; thin with dots: it falls. Where the thin line lies below the thick one, the service recovers at a lower load than \
             that at which it broke.{}",
            short_number(step),
            more(sweep)
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        sweep.probe.as_ref().map(|_| (HALF, 360))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let Some(probe) = &sweep.probe else { return };
        let loads = probe.loads.iter().copied();
        let (low, high) = (
            loads.clone().fold(f64::INFINITY, f64::min),
            loads.fold(0.0, f64::max),
        );
        let panel = Panel {
            left: 64.0,
            top: 58.0,
            right: f64::from(HALF) - 20.0,
            bottom: 310.0,
            x: Scale::linear(low, high, 6, |load| format!("{}×", short_number(load))),
            y: shares(),
        };
        names(probe, canvas, &panel);
        panel.draw(canvas);
        panel.name_y(canvas, "answered well");
        panel.name_x(canvas, "load, in the scenario's");
        let top = probe.top();
        for (arm, ink) in probe.arms.iter().zip(INKS) {
            let steps = probe.loads.iter().zip(&arm.by_step);
            let places: Vec<Option<Place>> = steps
                .map(|(load, share)| share.map(|share| panel.place(*load, share)))
                .collect();
            let way = |steps: &[Option<Place>]| steps.iter().flatten().copied().collect::<Vec<_>>();
            let (up, down) = (way(&places[..=top]), way(&places[top..]));
            canvas.line(&up, ink, 3.0);
            canvas.line(&down, ink, 1.0);
            for place in down {
                canvas.dot(place, 3.0, ink);
            }
        }
    }
}

fn shares() -> Scale {
    Scale::linear(0.0, 1.0, 5, |share| tick_label(Unit::Ratio, share))
}

fn names(probe: &ProbeRecord, canvas: &mut Canvas<'_>, panel: &Panel) {
    let named = probe.arms.iter().zip(INKS).map(|(arm, ink)| {
        let label = match arm.label.is_empty() {
            true => "as it is".to_owned(),
            false => arm.label.clone(),
        };
        (ink, label)
    });
    let entries: Vec<(Ink, String)> = named.collect();
    legend(canvas, (panel.left, 14.0), panel.right, &entries);
}

fn more(sweep: &SweepRecord) -> &'static str {
    let arms = sweep.probe.as_ref().map_or(0, |probe| probe.arms.len());
    match arms > INKS.len() {
        true => " Only the first four arms are drawn; the table has them all.",
        false => "",
    }
}

/// Inks of arms, in their order.
const INKS: [Ink; 4] = [Ink::Best, Ink::Worst, Ink::Reference, Ink::Cooled];
