//! Load makes slow: a server of one's own by the attempts that it answers at once, a cloud by how
//! much of the quota is used, before it turns anybody away.
//!
//! What counts is the load at the moment at which an attempt arrives, because its end is told then.
//! Under a steady load that is right on the average; a server that fills up within one answer is
//! drawn too fast. (The run that the preset `vllm` is from went from empty to full in a third of an
//! answer: its median answer took 30 s, and 20 s by this model.)

use serde::{Deserialize, Serialize};

use crate::{error::SpecError, place::Place};

/// How much slower a load makes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadCurve {
    /// What the load is.
    pub by: LoadMeasure,
    /// What becomes slower. Default: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slows: Option<Slows>,
    /// Points in rising order with straight lines between; before the first and after the last its
    /// slow-down holds.
    pub points: Vec<LoadPoint>,
}

/// What a load is counted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LoadMeasure {
    /// Attempts that are answered at once, this one included; at most `max_concurrent`.
    InFlight,
    /// The share of the tightest limit of the quota that is used, from 0 to 1.
    QuotaUsed,
}

/// What a load makes slower.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Slows {
    /// The first token and each further one.
    #[default]
    Both,
    /// The first token.
    FirstToken,
    /// Each further token.
    PerOutputToken,
}

/// One point of a curve.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadPoint {
    /// The load, 0 or more.
    pub at: f64,
    /// How many times as long it takes, above 0.
    pub slowdown: f64,
}

/// The load at the moment at which an attempt arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    pub(crate) in_flight: f64,
    pub(crate) quota_used: f64,
}

/// Curves at work.
#[derive(Clone, Debug)]
pub(super) struct Curves(Vec<LoadCurve>);

impl Curves {
    pub(super) fn new(curves: &[LoadCurve], place: &Place) -> Result<Self, SpecError> {
        for (index, curve) in curves.iter().enumerate() {
            curve.check(&place.item(index))?;
        }
        Ok(Self(curves.to_vec()))
    }

    /// Whether any curve is by this measure.
    pub(super) fn read(&self, measure: LoadMeasure) -> bool {
        self.0.iter().any(|curve| curve.by == measure)
    }

    /// How many times as long the first token takes, and each further one.
    #[inline(never)]
    pub(super) fn slowdowns(&self, load: Load) -> (f64, f64) {
        let mut slower = (1.0, 1.0);
        for curve in &self.0 {
            let factor = curve.at(match curve.by {
                LoadMeasure::InFlight => load.in_flight,
                LoadMeasure::QuotaUsed => load.quota_used,
            });
            let slows = curve.slows.unwrap_or_default();
            if slows != Slows::PerOutputToken {
                slower.0 *= factor;
            }
            if slows != Slows::FirstToken {
                slower.1 *= factor;
            }
        }
        slower
    }
}

impl LoadCurve {
    fn check(&self, place: &Place) -> Result<(), SpecError> {
        if self.points.is_empty() {
            return Err(place.bad_keys("no point", "one point or more"));
        }
        let mut before = -1.0;
        for (index, point) in self.points.iter().enumerate() {
            let place = place.key("points").item(index);
            let fits = point.at.is_finite() && point.at >= 0.0 && point.at > before;
            let accepted = "a finite number of 0 or more, and more than the one before";
            place.number("at", point.at, fits, accepted)?;
            place.positive("slowdown", point.slowdown)?;
            before = point.at;
        }
        Ok(())
    }

    fn at(&self, load: f64) -> f64 {
        let next = self.points.partition_point(|point| point.at <= load);
        if next == 0 {
            return self.points[0].slowdown;
        }
        let before = self.points[next - 1];
        self.points.get(next).map_or(before.slowdown, |after| {
            let passed = (load - before.at) / (after.at - before.at);
            before.slowdown + (after.slowdown - before.slowdown) * passed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_joined_by_straight_lines_and_hold_beyond_the_ends() {
        let point = |at, slowdown| LoadPoint { at, slowdown };
        let curve = LoadCurve {
            by: LoadMeasure::InFlight,
            slows: None,
            points: vec![point(2.0, 1.0), point(4.0, 2.0), point(8.0, 10.0)],
        };

        for (load, slowdown) in [
            (0.0, 1.0),
            (2.0, 1.0),
            (3.0, 1.5),
            (6.0, 6.0),
            (8.0, 10.0),
            (99.0, 10.0),
        ] {
            assert!((curve.at(load) - slowdown).abs() < 1e-12, "at {load}");
        }
    }
}
