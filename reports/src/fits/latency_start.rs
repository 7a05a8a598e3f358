//! Where EM begins: rough values that one look at the answers gives.

use super::{
    LogNormalPart,
    latency::{NARROWEST, STREAMS_ENOUGH, Seen, part},
};
use crate::stats::size;

/// Mean and deviation of ln F, and T; `None` without an answer.
pub(crate) fn start(rows: &[Seen]) -> Option<((f64, f64), Option<LogNormalPart>)> {
    let mut firsts = Vec::new();
    let mut tokens = Vec::new();
    let mut wholes = Vec::new();
    for row in rows {
        match *row {
            Seen::Parts {
                first_ms,
                per_token_ms,
            } => {
                firsts.push(libm::log(first_ms));
                tokens.extend(per_token_ms.map(libm::log));
            }
            Seen::Whole { total_ms, further } => wholes.push((further, total_ms)),
            Seen::Late { .. } => {}
        }
    }
    if firsts.len() >= STREAMS_ENOUGH {
        let token = (tokens.len() >= STREAMS_ENOUGH).then(|| part(spread(&mut tokens)));
        return Some((spread(&mut firsts), token));
    }
    match line(&mut wholes) {
        Some((first_ms, token_ms)) => {
            let token = part((libm::log(token_ms), 0.3));
            Some(((libm::log(first_ms), 0.5), Some(token)))
        }
        None => {
            firsts.extend(wholes.iter().map(|(_, total)| libm::log(*total)));
            (!firsts.is_empty()).then(|| (spread(&mut firsts), None))
        }
    }
}

/// Mean and deviation of ln t over the answers that came in one piece.
pub(crate) fn whole_start(rows: &[Seen]) -> (f64, f64) {
    let mut totals: Vec<f64> = rows
        .iter()
        .filter_map(|row| match *row {
            Seen::Whole { total_ms, .. } => Some(libm::log(total_ms)),
            Seen::Parts { .. } | Seen::Late { .. } => None,
        })
        .collect();
    spread(&mut totals)
}

/// Median, and deviation by the quartiles.
fn spread(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[index(share, values.len())];
    (at(0.5), ((at(0.75) - at(0.25)) / 1.349).max(NARROWEST))
}

/// The straight line through the medians of ten groups of like length: time at no further token, and for
/// each. `None` where lengths hardly differ or more tokens take no more time.
fn line(wholes: &mut [(f64, f64)]) -> Option<(f64, f64)> {
    wholes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let groups = wholes.chunks(wholes.len().div_ceil(10).max(5));
    let medians: Vec<(f64, f64)> = groups
        .map(|group| {
            let mut times: Vec<f64> = group.iter().map(|row| row.1).collect();
            times.sort_by(f64::total_cmp);
            let further = group.iter().map(|row| row.0).sum::<f64>() / size(group.len());
            (further, times[times.len() / 2])
        })
        .collect();
    let (least, most) = (medians.first()?.0, medians.last()?.0);
    if most < 2.0 * (least + 1.0) {
        return None;
    }
    let n = size(medians.len());
    let mean = |of: fn(&(f64, f64)) -> f64| medians.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|m| m.0), mean(|m| m.1));
    let both: f64 = medians.iter().map(|m| (m.0 - x) * (m.1 - y)).sum();
    let square: f64 = medians.iter().map(|m| (m.0 - x) * (m.0 - x)).sum();
    let slope = both / square;
    (slope > 0.0).then(|| ((y - slope * x).max(0.1 * medians[0].1), slope))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length is a place in it"
)]
fn index(share: f64, of: usize) -> usize {
    ((share * size(of)) as usize).min(of - 1)
}
