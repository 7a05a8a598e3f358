//! The size that is needed, by load: a line for each kind of outage.

use super::{
    HALF, Plot,
    axes::{Panel, Scale, legend, short_number},
    canvas::Canvas,
    ink::Ink,
};
use crate::{
    capacity::{CapacityRecord, Outage, SizeFound, SizeUnit},
    record::SweepRecord,
    stats::size,
};

/// Sizes of all groups together against load.
#[derive(Debug)]
pub(crate) struct Capacity;

impl Plot for Capacity {
    fn name(&self) -> &'static str {
        "capacity"
    }

    fn title(&self, sweep: &SweepRecord) -> String {
        match sweep.capacity.as_ref().map(|plan| plan.unit) {
            Some(SizeUnit::QuotaTenths) => "Quota that is needed, by load".to_owned(),
            Some(SizeUnit::Deployments) | None => "Deployments that are needed, by load".to_owned(),
        }
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let Some(plan) = &sweep.capacity else {
            return String::new();
        };
        let several = match plan.groups.len() {
            1 => "",
            _ => " Sizes of all groups are added up.",
        };
        let missing = match plan.is_decided() {
            true => "",
            false => " A load without a dot has no size that is shown to do.",
        };
        format!(
            "The smallest size that is shown to meet {}, for each load and for what is out. The grey line \
             is the present size.{several}{missing}",
            plan.slo
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        let plan = sweep.capacity.as_ref()?;
        let is_shown = plan.lines.iter().any(|line| line.found == SizeFound::Shown);
        is_shown.then_some((HALF, 360))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let Some(plan) = &sweep.capacity else { return };
        let present = total(plan, plan.groups.iter().map(|group| group.present));
        let lines: Vec<(Outage, Vec<(f64, f64)>)> = OUTAGES
            .into_iter()
            .map(|(out, _)| (out, points(plan, out)))
            .filter(|(_, points)| !points.is_empty())
            .collect();
        let all = || lines.iter().flat_map(|(_, points)| points);
        let loads = || plan.lines.iter().map(|line| line.load);
        let most = all().map(|point| point.1).fold(present, f64::max);
        let panel = Panel {
            left: 64.0,
            top: 58.0,
            right: f64::from(HALF) - 20.0,
            bottom: 310.0,
            x: Scale::linear(0.0, loads().fold(1.0, f64::max), 6, |load| {
                format!("{}×", short_number(load))
            }),
            y: Scale::linear(0.0, most, 6, short_number),
        };
        let entries: Vec<(Ink, String)> = lines
            .iter()
            .map(|(out, _)| (ink(*out), out.words().to_owned()))
            .chain([(Ink::Other, "present size".to_owned())])
            .collect();
        legend(canvas, (panel.left, 14.0), panel.right, &entries);
        panel.draw(canvas);
        panel.name_x(canvas, "load, in today's");
        panel.name_y(
            canvas,
            match plan.unit {
                SizeUnit::Deployments => "deployments",
                SizeUnit::QuotaTenths => "times the present quota",
            },
        );
        let level = panel.y_of(present);
        canvas.line(
            &[(panel.left, level), (panel.right, level)],
            Ink::Other,
            1.5,
        );
        for (out, points) in &lines {
            let places: Vec<_> = points.iter().map(|(x, y)| panel.place(*x, *y)).collect();
            canvas.line(&places, ink(*out), 2.0);
            for place in places {
                canvas.dot(place, 4.0, ink(*out));
            }
        }
    }
}

/// Load and size of the lines that are shown, in the order of load.
fn points(plan: &CapacityRecord, out: Outage) -> Vec<(f64, f64)> {
    let lines = plan.lines.iter();
    let lines = lines.filter(|line| line.out == out && line.found == SizeFound::Shown);
    let mut points: Vec<(f64, f64)> = lines
        .map(|line| (line.load, total(plan, line.sizes.iter().copied())))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn total(plan: &CapacityRecord, sizes: impl Iterator<Item = u32>) -> f64 {
    let sum = sizes.map(|one| size(one as usize)).sum::<f64>();
    match plan.unit {
        SizeUnit::Deployments => sum,
        SizeUnit::QuotaTenths => sum / 10.0,
    }
}

fn ink(out: Outage) -> Ink {
    let known = OUTAGES.into_iter().find(|(known, _)| *known == out);
    known.map_or(Ink::Text, |(_, ink)| ink)
}

const OUTAGES: [(Outage, Ink); 3] = [
    (Outage::None, Ink::Best),
    (Outage::Deployment, Ink::Reference),
    (Outage::Provider, Ink::Worst),
];
