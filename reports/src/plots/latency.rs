//! How many requests took longer than a given time: the tail, where averages hide nothing.

use super::{
    HALF, Plot,
    axes::{Panel, Scale, legend, short_number},
    canvas::{Canvas, Place},
    ink::Ink,
    named_arms,
};
use crate::{
    comparison::{Comparison, p99},
    distribution::{Bin, Distribution, as_f64},
    record::SweepRecord,
};

/// The complementary distribution of latency, both axes logarithmic.
#[derive(Debug)]
pub(crate) struct Latency;

impl Plot for Latency {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn title(&self, _sweep: &SweepRecord) -> String {
        "How long answers take".into()
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let comparison = Comparison::new(sweep);
        let best = comparison
            .ranking()
            .first()
            .and_then(|&arm| comparison.mean(arm, p99()));
        let read = best.map_or_else(String::new, |ms| {
            format!(
                " With the best arm, 1 % took longer than {}.",
                p99().unit().show(ms)
            )
        });
        format!(
            "Share of completed requests that took longer than the time below, all replications \
             together; lower and further left is better.{read} Failed requests are not in it."
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        let completed = |run: &crate::record::RunRecord| run.completed > 0;
        sweep
            .arms
            .iter()
            .flat_map(|arm| &arm.runs)
            .any(completed)
            .then_some((HALF, 400))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let comparison = Comparison::new(sweep);
        let curves: Vec<(Ink, String, Vec<Bin>)> = (named_arms(&comparison).into_iter())
            .map(|(arm, ink, label)| {
                let runs = comparison.runs(arm).iter().map(|run| &run.latency);
                (ink, label, Distribution::pooled(runs))
            })
            .filter(|(_, _, bins)| !bins.is_empty())
            .collect();
        let entries: Vec<_> = curves
            .iter()
            .map(|(ink, label, _)| (*ink, label.clone()))
            .collect();
        let top = legend(canvas, (16.0, 14.0), f64::from(HALF) - 8.0, &entries) + 26.0;
        let (low, high, rarest) = extent(&curves);
        let panel = Panel {
            left: 64.0,
            top,
            right: f64::from(HALF) - 20.0,
            bottom: 350.0,
            x: Scale::log(low, high, &[1.0, 2.0, 5.0], seconds_label),
            y: Scale::log(rarest, 1.0, &[1.0], |share| {
                format!("{} %", short_number(share * 100.0))
            }),
        };
        panel.draw(canvas);
        panel.name_y(canvas, "took longer");
        panel.name_x(canvas, "latency, from arrival to answer");
        // Best last, so that it lies on top.
        for (ink, _, bins) in curves.iter().rev() {
            canvas.line(&curve(bins, rarest, &panel), *ink, 2.25);
        }
    }
}

fn curve(bins: &[Bin], rarest: f64, panel: &Panel) -> Vec<Place> {
    let total: u64 = bins.iter().map(|bin| bin.count).sum();
    let mut beyond = total;
    let mut points = Vec::with_capacity(bins.len());
    for bin in bins {
        beyond -= bin.count;
        let share = as_f64(beyond) / as_f64(total);
        if share < rarest {
            break;
        }
        points.push(panel.place(bin.up_to_s, share));
    }
    points
}

/// Shortest and longest time to show, and the smallest share.
fn extent(curves: &[(Ink, String, Vec<Bin>)]) -> (f64, f64, f64) {
    let most = curves
        .iter()
        .map(|(_, _, bins)| bins.iter().map(|bin| bin.count).sum::<u64>())
        .max();
    // A share below ten requests is noise.
    let rarest = (10.0 / as_f64(most.unwrap_or(1))).clamp(1e-5, 0.1);
    let rarest = libm::pow(10.0, libm::log10(rarest).ceil());
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for (_, _, bins) in curves {
        let total: u64 = bins.iter().map(|bin| bin.count).sum();
        let mut below = 0;
        for bin in bins {
            let (share, beyond) = (
                as_f64(below) / as_f64(total),
                as_f64(total - below) / as_f64(total),
            );
            if share >= 0.005 {
                low = low.min(bin.up_to_s);
            }
            if beyond >= rarest {
                high = high.max(bin.up_to_s);
            }
            below += bin.count;
        }
    }
    (low.min(high).max(1e-6), high.max(1e-6) * 1.05, rarest)
}

fn seconds_label(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{} s", short_number(s)),
        s => format!("{} ms", short_number(s * 1e3)),
    }
}
