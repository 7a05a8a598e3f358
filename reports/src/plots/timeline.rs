//! One run by time: what callers saw above, what each deployment saw below, with faults and
//! cooldowns drawn in.

use super::{
    Plot, WIDE,
    axes::{Panel, SMALL, Scale, legend, short_number},
    canvas::{Anchor, Canvas, Place, shortened},
    ink::Ink,
};
use crate::{
    comparison::Comparison,
    distribution::as_f64,
    record::{DeploymentRecord, RunRecord, SweepRecord},
    stats::size,
};

/// The first replication of one arm.
#[derive(Debug)]
pub(crate) struct Timeline {
    name: &'static str,
    of_reference: bool,
}

impl Timeline {
    /// Of the best arm.
    pub(crate) const BEST: Self = Self {
        name: "timeline-best",
        of_reference: false,
    };
    /// Of the reference, unless that is the best.
    pub(crate) const REFERENCE: Self = Self {
        name: "timeline-reference",
        of_reference: true,
    };

    fn arm(&self, comparison: &Comparison<'_>) -> Option<usize> {
        let best = comparison.ranking().first().copied()?;
        let reference = comparison.sweep.reference;
        match self.of_reference {
            false => Some(best),
            true => Some(reference)
                .filter(|&arm| arm != best && !comparison.sweep.arms[arm].runs.is_empty()),
        }
    }

    fn run<'a>(&self, sweep: &'a SweepRecord) -> Option<&'a RunRecord> {
        let arm = self.arm(&Comparison::new(sweep))?;
        sweep.arms[arm].runs.first()
    }
}

impl Plot for Timeline {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self, sweep: &SweepRecord) -> String {
        let comparison = Comparison::new(sweep);
        let label = self
            .arm(&comparison)
            .map(|arm| sweep.arms[arm].label())
            .unwrap_or_default();
        match (sweep.arms.len(), self.of_reference) {
            (1, _) => "One run by time".into(),
            (_, false) => format!("One run by time, best arm: {label}"),
            (_, true) => format!("The same luck under the reference: {label}"),
        }
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let Some(run) = self.run(sweep) else {
            return String::new();
        };
        let faults = match run.fault_spans.is_empty() {
            true => "",
            false => " Shaded: the provider is at fault.",
        };
        let most = run
            .deployments
            .iter()
            .max_by(|a, b| a.cooled_s.total_cmp(&b.cooled_s));
        let cooled = most
            .filter(|deployment| deployment.cooled_s > 0.0)
            .map(|deployment| {
                format!(
                    " {} was cooled longest, for {} s in {} spans.",
                    deployment.id,
                    short_number(deployment.cooled_s.round()),
                    as_f64(
                        u64::try_from(deployment.cooldown_spans.len()).unwrap_or(0)
                            + deployment.cooldown_spans_dropped
                    )
                )
            });
        format!(
            "Replication {}. Above, requests a second; below, attempts at each deployment, failed ones \
             in orange, with cooldowns as blue bars under them.{faults}{}",
            run.replication + 1,
            cooled.unwrap_or_default()
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        let run = self.run(sweep).filter(|run| run.requests > 0)?;
        let lanes = u32::try_from(lanes(run).len()).ok()?;
        Some((WIDE, LANES_TOP_PX + lanes * LANE_PX + 26))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let Some(run) = self.run(sweep) else { return };
        let bins = Bins::new(run);
        let lanes = lanes(run);
        let bottom = f64::from(LANES_TOP_PX) + size(lanes.len()) * f64::from(LANE_PX);
        let highest = bins
            .arrived
            .iter()
            .chain(&bins.completed)
            .chain(&bins.failed);
        let panel = Panel {
            left: 130.0,
            top: 62.0,
            right: f64::from(WIDE) - 120.0,
            bottom: 210.0,
            x: Scale::time(run.end_s),
            y: Scale::linear(0.0, highest.copied().fold(0.0, f64::max), 4, short_number),
        };
        let entries = [
            (Ink::Sent, "arrivals, attempts".to_owned()),
            (Ink::Best, "completed".into()),
            (Ink::Worst, "failed, at fault".into()),
            (Ink::Cooled, "in cooldown".into()),
        ];
        legend(canvas, (panel.left, 14.0), panel.right, &entries);
        canvas.text(
            (panel.left, panel.top - 16.0),
            Anchor::Left,
            SMALL,
            Ink::Text,
            "requests a second",
        );
        shade_faults(canvas, run, &panel, (panel.top, panel.bottom), None);
        panel.draw_y(canvas);
        Panel {
            bottom,
            ..panel.clone()
        }
        .draw_x(canvas, true);
        canvas.line(&bins.line(&panel, &bins.arrived), Ink::Sent, 1.25);
        if bins.failed.iter().any(|&rate| rate > 0.0) {
            canvas.area(&bins.area(&panel, &bins.failed), Ink::Worst, 0.35);
            canvas.line(&bins.line(&panel, &bins.failed), Ink::Worst, 1.75);
        }
        canvas.line(&bins.line(&panel, &bins.completed), Ink::Best, 2.0);
        let busiest = (lanes.iter())
            .flat_map(|&index| bins.attempts(run, index).0)
            .fold(1e-9_f64, f64::max);
        for (line, &index) in (0_u32..).zip(&lanes) {
            let top = f64::from(LANES_TOP_PX + line * LANE_PX);
            draw_lane(
                canvas,
                run,
                &bins,
                index,
                &Panel {
                    top,
                    ..panel.clone()
                },
                busiest,
            );
        }
    }
}

/// Attempts, failures, faults and cooldowns of one deployment.
fn draw_lane(
    canvas: &mut Canvas<'_>,
    run: &RunRecord,
    bins: &Bins,
    index: usize,
    panel: &Panel,
    busiest: f64,
) {
    let deployment = &run.deployments[index];
    let (top, floor) = (panel.top + 8.0, panel.top + f64::from(LANE_PX) - 14.0);
    let lane = Panel {
        top,
        bottom: floor,
        y: Scale::linear(0.0, busiest, 1, |_| String::new()),
        ..panel.clone()
    };
    shade_faults(canvas, run, &lane, (top, floor + 8.0), Some(index));
    let (sent, failed) = bins.attempts(run, index);
    canvas.area(&bins.area(&lane, &sent), Ink::Sent, 0.55);
    canvas.area(&bins.area(&lane, &failed), Ink::Worst, 0.9);
    canvas.line(&[(panel.left, floor), (panel.right, floor)], Ink::Grid, 1.0);
    for span in &deployment.cooldown_spans {
        let (from, to) = (panel.x_of(span.from_s), panel.x_of(span.to_s));
        canvas.rect(
            (from, floor + 2.0),
            (to.max(from + 0.75), floor + 8.0),
            Ink::Cooled,
            1.0,
        );
    }
    let middle = f64::midpoint(top, floor);
    let name = shortened(&deployment.id, 17);
    canvas.text(
        (panel.left - 10.0, middle),
        Anchor::Right,
        SMALL,
        Ink::Text,
        &name,
    );
    for (line, text) in remarks(run, deployment).iter().enumerate() {
        let at = (panel.right + 10.0, middle - 7.0 + 14.0 * size(line));
        canvas.text(at, Anchor::Left, SMALL - 1.0, Ink::Muted, text);
    }
}

/// What stands at a lane's end.
fn remarks(run: &RunRecord, deployment: &DeploymentRecord) -> [String; 2] {
    let cooled = 100.0 * deployment.cooled_s / run.end_s.max(1e-9);
    let failed = 100.0 * as_f64(deployment.failures()) / as_f64(deployment.sent.max(1));
    [
        format!("cooled {cooled:.1} %"),
        format!("failed {failed:.1} %"),
    ]
}

/// Shades the time at fault of one deployment, or of all.
fn shade_faults(
    canvas: &mut Canvas<'_>,
    run: &RunRecord,
    panel: &Panel,
    (top, bottom): (f64, f64),
    only: Option<usize>,
) {
    let meant = run
        .fault_spans
        .iter()
        .filter(|span| only.is_none_or(|one| one == span.deployment));
    let mut named_until = f64::NEG_INFINITY;
    for span in meant.take(MOST_FAULTS) {
        let (from, to) = (panel.x_of(span.from_s), panel.x_of(span.to_s));
        canvas.rect((from, top), (to.max(from + 1.0), bottom), Ink::Worst, 0.13);
        if only.is_some() && to - from > 60.0 && from > named_until {
            let at = (from + 5.0, top + 7.0);
            canvas.text(
                at,
                Anchor::Left,
                SMALL - 2.0,
                Ink::Worst,
                &shortened(&span.kind, 18),
            );
            named_until = from + 110.0;
        }
    }
}

/// Rates a second over slices of the run, each of a whole number of buckets.
struct Bins {
    /// Buckets in a slice.
    width: usize,
    slice_s: f64,
    end_s: f64,
    arrived: Vec<f64>,
    completed: Vec<f64>,
    failed: Vec<f64>,
}

impl Bins {
    fn new(run: &RunRecord) -> Self {
        let buckets = &run.timeline.buckets;
        let width = buckets.len().div_ceil(SLICES).max(1);
        let slice_s = run.timeline.bucket_s * size(width);
        let rate = |of: fn(&crate::record::TimeBucket) -> u32| {
            let slices = buckets.chunks(width);
            slices
                .map(|slice| slice.iter().map(|b| f64::from(of(b))).sum::<f64>() / slice_s)
                .collect()
        };
        Self {
            width,
            slice_s,
            end_s: run.end_s,
            arrived: rate(|bucket| bucket.arrived),
            completed: rate(|bucket| bucket.completed),
            failed: rate(|bucket| bucket.failed),
        }
    }

    /// Attempts sent to a deployment and failed there.
    fn attempts(&self, run: &RunRecord, index: usize) -> (Vec<f64>, Vec<f64>) {
        let Some(line) = run.timeline.deployments.get(index) else {
            return Default::default();
        };
        let rate = |counts: &[u32]| {
            let slices = counts.chunks(self.width);
            slices
                .map(|slice| slice.iter().map(|&n| f64::from(n)).sum::<f64>() / self.slice_s)
                .collect()
        };
        (rate(&line.sent), rate(&line.failed))
    }

    /// Through the middles of the slices.
    fn line(&self, panel: &Panel, rates: &[f64]) -> Vec<Place> {
        let middle = |slice: usize| ((size(slice) + 0.5) * self.slice_s).min(self.end_s);
        rates
            .iter()
            .enumerate()
            .map(|(slice, &rate)| panel.place(middle(slice), rate))
            .collect()
    }

    /// Between the floor and a staircase of the slices.
    fn area(&self, panel: &Panel, rates: &[f64]) -> Vec<Place> {
        let mut points = vec![panel.place(0.0, 0.0)];
        for (slice, &rate) in rates.iter().enumerate() {
            let from = size(slice) * self.slice_s;
            points.push(panel.place(from, rate));
            points.push(panel.place((from + self.slice_s).min(self.end_s), rate));
        }
        points.push(panel.place(self.end_s, 0.0));
        points
    }
}

/// The deployments to show, in their own order: all, or those that had most trouble.
fn lanes(run: &RunRecord) -> Vec<usize> {
    let mut lanes: Vec<usize> = (0..run.timeline.deployments.len()).collect();
    if lanes.len() > MOST_LANES {
        let trouble = |&index: &usize| {
            let deployment = &run.deployments[index];
            deployment.cooled_s / run.end_s.max(1e-9)
                + as_f64(deployment.failures()) / as_f64(deployment.sent.max(1))
        };
        lanes.sort_by(|a, b| trouble(b).total_cmp(&trouble(a)).then(a.cmp(b)));
        lanes.truncate(MOST_LANES);
        lanes.sort_unstable();
    }
    lanes
}

const LANES_TOP_PX: u32 = 218;
const LANE_PX: u32 = 56;
const MOST_LANES: usize = 10;
const MOST_FAULTS: usize = 400;
/// Slices of time across the picture: enough to see an outage begin, few enough to see through the noise.
const SLICES: usize = 100;
