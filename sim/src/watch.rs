//! How a caller looks over the engine's shoulder: how far it is, and whether it shall stop.

use std::time::Duration;

use router::Instant;

use crate::SimError;

/// Hears how far runs are, from any thread, and may call them off. `()` does neither.
pub trait Watch: Sync {
    /// Work was done: `share` of one run, from 0 to 1. The shares of a run add up to 1.
    fn advanced(&self, _share: f64) {}

    /// Whether runs shall stop. Asked before each run, and within one every few thousand requests.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Watch for () {}

/// How much of a run has been told to whoever watches.
pub(crate) struct Progress {
    duration: Duration,
    told: f64,
}

impl Progress {
    pub(crate) const fn new(duration: Duration) -> Self {
        Self {
            duration,
            told: 0.0,
        }
    }

    pub(crate) fn look(&mut self, now: Instant, watch: &impl Watch) -> Result<(), SimError> {
        if watch.is_cancelled() {
            return Err(SimError::Cancelled);
        }
        let passed = now.since(Instant::ZERO).div_duration_f64(self.duration);
        if passed > self.told && passed < 1.0 {
            watch.advanced(passed - self.told);
            self.told = passed;
        }
        Ok(())
    }

    pub(crate) fn complete(&self, watch: &impl Watch) {
        watch.advanced(1.0 - self.told);
    }
}
