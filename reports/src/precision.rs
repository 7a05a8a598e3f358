//! How well a sweep knows its numbers, and how many replications it would take to know them well enough.

use crate::{
    advice::lower_first,
    comparison::{Comparison, named},
    metrics::{Metric, Unit},
    record::SweepRecord,
    stats::size,
};

/// What a sweep knows.
#[derive(Clone, PartialEq, Debug)]
pub struct Precision {
    /// Replications with which every arm is expected to be known well enough; not above what there are
    /// if it is already.
    pub wanted: u32,
    /// What was reached, in words: `goodput to ± 0.42 points and latency p99 to ± 3.1 %`.
    pub reached: String,
    /// What is asked, in words.
    pub asked: String,
}

/// Judges the metric that arms are ordered by and p99 latency in every arm. A share must be known to
/// ± `POINTS`; any other metric to a relative precision of `RELATIVE`, which takes an interval of γ / (1 + γ) of
/// the mean (Law, *Simulation Modeling and Analysis*, 9.4.1). `None` if nothing was run.
#[must_use]
pub fn precision(sweep: &SweepRecord) -> Option<Precision> {
    let comparison = Comparison::new(sweep);
    let runs = comparison.fewest_runs();
    let calls = comparison.primary.name().starts_with("call_");
    let p99 = named(match calls {
        true => "call_latency_p99_ms",
        false => "latency_p99_ms",
    });
    let mut wanted = 0.0_f64;
    let mut reached = Vec::new();
    for metric in [comparison.primary, p99] {
        // Of the worst arm: half the interval's width, over what it may be.
        let mut widest: Option<(f64, f64)> = None;
        for arm in sweep.arms_with_runs() {
            let Some(estimate) = comparison.estimate(arm, metric) else {
                continue;
            };
            let half = estimate.half_width?;
            let allowed = allowed(metric, estimate.mean);
            let excess = half / allowed.max(f64::MIN_POSITIVE);
            wanted = wanted.max(size(estimate.n) * excess * excess);
            let told = match metric.unit() == Unit::Ratio {
                true => half,
                false => half / estimate.mean.abs().max(f64::MIN_POSITIVE),
            };
            if widest.is_none_or(|(most, _)| excess > most) {
                widest = Some((excess, told));
            }
        }
        let name = lower_first(metric.title());
        reached.extend(widest.map(|(_, told)| match metric.unit() == Unit::Ratio {
            true => format!("{name} to ± {:.2} points", 100.0 * told),
            false => format!("{name} to ± {:.1} %", 100.0 * told),
        }));
    }
    (runs > 0 && !reached.is_empty()).then(|| Precision {
        wanted: replications(wanted),
        reached: reached.join(" and "),
        asked: format!(
            "± {} points of a share, {:.0} % of anything else",
            100.0 * POINTS,
            100.0 * RELATIVE
        ),
    })
}

/// Half the width that an interval may have.
fn allowed(metric: &dyn Metric, mean: f64) -> f64 {
    match metric.unit() == Unit::Ratio {
        true => POINTS,
        false => RELATIVE / (1.0 + RELATIVE) * mean.abs(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what a replication's number can be"
)]
fn replications(wanted: f64) -> u32 {
    wanted.ceil().clamp(0.0, 1e6) as u32
}

/// Precision of a share, absolute: near 0 and 1 a relative one means nothing.
const POINTS: f64 = 0.005;
/// Relative precision of what is no share.
const RELATIVE: f64 = 0.05;
