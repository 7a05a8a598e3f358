//! A limit on how fast traffic may grow, whatever its level: the slope limit of Volcano's Ark
//! (`limit_burst_rate`) and the acceleration limit of Anthropic (field notes D1, 2026). Neither says
//! its rule, so this is the simplest one: in each span of time no more than some times what was let
//! in during the span before.

use router::Instant;
use serde::{Deserialize, Serialize};

use crate::{error::SpecError, place::Place};

/// How fast traffic may grow.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlopeSpec {
    /// The length of the spans that are compared, in seconds, 0.001 or more.
    pub window_s: f64,
    /// How many times as many attempts as in the span before are let in, from 1.
    pub growth: f64,
    /// Attempts that each span lets in whatever came before, from 1.
    pub free_requests: u64,
}

/// A slope limit at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    window_ns: u64,
    growth: f64,
    free: u64,
    /// Which span of the run the latest attempt fell into.
    span: u64,
    before: u64,
    now: u64,
}

impl Slope {
    pub(super) fn new(spec: SlopeSpec, place: &Place) -> Result<Self, SpecError> {
        let window_s = place.period("window_s", spec.window_s)?;
        let fits = spec.growth.is_finite() && spec.growth >= 1.0;
        place.number("growth", spec.growth, fits, "a finite number of 1 or more")?;
        Ok(Self {
            window_ns: router::nanos_from_secs(window_s),
            growth: spec.growth,
            free: place.count("free_requests", spec.free_requests)?,
            span: 0,
            before: 0,
            now: 0,
        })
    }

    /// Brings it to `at`, which never runs back.
    pub(super) const fn advance(&mut self, at: Instant) {
        let span = at.as_nanos() / self.window_ns;
        if span > self.span {
            self.before = if span == self.span + 1 { self.now } else { 0 };
            self.now = 0;
            self.span = span;
        }
    }

    /// Whether one more attempt grows slowly enough.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of attempts are far below 2^53"
    )]
    pub(super) fn fits(&self) -> bool {
        self.now < self.free || ((self.now + 1) as f64) <= self.before as f64 * self.growth
    }

    /// Counts an attempt that was let in.
    pub(super) const fn take(&mut self) {
        self.now += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_may_grow_by_its_factor_and_a_jump_is_cut_to_it() {
        let spec = SlopeSpec {
            window_s: 1.0,
            growth: 1.5,
            free_requests: 10,
        };
        let mut slope = Slope::new(spec, &Place::default()).unwrap();
        let mut through = |second: u32, calls: u32| {
            (0..calls)
                .filter(|_| {
                    slope.advance(Instant::from_secs_f64(f64::from(second)));
                    let fits = slope.fits();
                    if fits {
                        slope.take();
                    }
                    fits
                })
                .count()
        };

        let ramp = [0, 1, 2, 3].map(|second| through(second, 100));

        assert_eq!(ramp, [10, 15, 22, 33]);
        assert_eq!(through(5, 100), 10, "after a pause it starts anew");
    }
}
