//! How a caller looks over the engine's shoulder: how far it is, and whether it shall stop.

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
