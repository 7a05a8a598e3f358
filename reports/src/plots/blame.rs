//! Who is to blame for requests without an answer: a bar for each blame, with its interval.

use super::{
    HALF, Plot,
    axes::{Panel, SMALL, Scale, legend, tick_label},
    canvas::{Anchor, Canvas},
    ink::Ink,
    named_arms,
};
use crate::{
    blame::{Blame, BlameShare, blame_shares},
    comparison::Comparison,
    metrics::Unit,
    record::SweepRecord,
};

/// Blame shares of the best arm and of the reference.
#[derive(Debug)]
pub(crate) struct Blames;

impl Plot for Blames {
    fn name(&self) -> &'static str {
        "blame"
    }

    fn title(&self, _sweep: &SweepRecord) -> String {
        "Who is to blame for failed requests".into()
    }

    fn caption(&self, sweep: &SweepRecord) -> String {
        let arms = arms(sweep);
        let largest = arms.first().and_then(|(_, _, shares)| shares.first());
        let read = largest.map_or_else(String::new, |share| {
            format!(" {}: {}", share.blame.title(), share.blame.about())
        });
        format!(
            "Share of all requests that got no answer for this reason, with its 95 % interval over \
             replications. Each such request has one blame.{read}"
        )
    }

    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)> {
        let arms = arms(sweep);
        let rows = u32::try_from(blames(&arms).len()).ok()?;
        let bars = u32::try_from(arms.len()).ok()?;
        (rows > 0).then_some((HALF, TOP_PX + rows * (ROW_PX + bars * BAR_PX) + 50))
    }

    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>) {
        let arms = arms(sweep);
        let rows = blames(&arms);
        let height = f64::from(ROW_PX) + crate::stats::size(arms.len()) * f64::from(BAR_PX);
        let high = (arms.iter().flat_map(|(_, _, shares)| shares))
            .map(|share| share.of_all.mean + share.of_all.half_width.unwrap_or(0.0))
            .fold(0.0, f64::max);
        let top = f64::from(TOP_PX);
        let panel = Panel {
            left: 140.0,
            top,
            right: f64::from(HALF) - 24.0,
            bottom: top + crate::stats::size(rows.len()) * height,
            x: Scale::linear(0.0, high, 4, |value| tick_label(Unit::Ratio, value)),
            y: Scale::linear(0.0, 1.0, 1, |_| String::new()),
        };
        let entries: Vec<_> = (arms.iter())
            .map(|(ink, label, _)| (*ink, label.clone()))
            .collect();
        legend(canvas, (16.0, 14.0), f64::from(HALF) - 8.0, &entries);
        panel.draw_x(canvas, true);
        panel.name_x(canvas, "of all requests");
        for (row, blame) in (0_u32..).zip(rows) {
            let from = top + f64::from(row) * height + f64::from(ROW_PX) / 2.0;
            let middle = from + (height - f64::from(ROW_PX)) / 2.0;
            let at = (panel.left - 10.0, middle);
            canvas.text(at, Anchor::Right, SMALL, Ink::Text, blame.title());
            for (bar, (ink, _, shares)) in (0_u32..).zip(&arms) {
                let Some(share) = shares.iter().find(|share| share.blame == blame) else {
                    continue;
                };
                let y = from + f64::from(bar * BAR_PX);
                let end = panel.x_of(share.of_all.mean);
                canvas.rect(
                    (panel.left, y + 1.0),
                    (end, y + f64::from(BAR_PX) - 1.0),
                    *ink,
                    0.85,
                );
                if let Some((low, high)) = share.of_all.interval() {
                    let y = y + f64::from(BAR_PX) / 2.0;
                    let ends = [(panel.x_of(low), y), (panel.x_of(high), y)];
                    canvas.line(&ends, Ink::Text, 1.25);
                }
            }
        }
    }
}

/// Ink, label and shares of the arms that have any.
fn arms(sweep: &SweepRecord) -> Vec<(Ink, String, Vec<BlameShare>)> {
    let comparison = Comparison::new(sweep);
    let named = named_arms(&comparison).into_iter();
    let named = named.filter(|(_, ink, _)| *ink != Ink::Worst);
    let arms = named.map(|(arm, ink, label)| (ink, label, blame_shares(comparison.runs(arm))));
    arms.filter(|(_, _, shares)| !shares.is_empty()).collect()
}

/// Every blame that one of them has, in the order of the first arm, then of the others.
fn blames(arms: &[(Ink, String, Vec<BlameShare>)]) -> Vec<Blame> {
    let mut blames = Vec::new();
    for share in arms.iter().flat_map(|(_, _, shares)| shares) {
        if !blames.contains(&share.blame) {
            blames.push(share.blame);
        }
    }
    blames
}

const TOP_PX: u32 = 60;
/// Room between the bars of two blames.
const ROW_PX: u32 = 14;
const BAR_PX: u32 = 13;
