//! What a push did to a service: the answer of a probe as data, and how it is told.

mod picture;
#[cfg(feature = "render")]
mod section;
mod told;

use serde::{Deserialize, Serialize};

pub use picture::probe_picture;
#[cfg(feature = "render")]
pub(crate) use section::probe_section;
pub use told::{probe_finding, probe_markdown, probe_table};

/// The answer of a probe.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// What the push is, in words: `3× the load for 60 s`.
    pub push: String,
    /// When it begins.
    pub begin_s: f64,
    /// When it ends.
    pub end_s: f64,
    /// How long is watched after that.
    pub watched_s: f64,
    /// Length of a window.
    pub width_s: f64,
    /// The loads of the ramp, up and then down.
    pub loads: Vec<f64>,
    /// How long each of them lasts.
    pub step_s: f64,
    /// Arm by arm.
    pub arms: Vec<ProbeArm>,
}

/// What became of one arm.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ProbeArm {
    /// Its settings; empty for the only one.
    pub label: String,
    /// Mean share of requests answered well before the push.
    pub before: f64,
    /// Seconds from the end of the push until it served as before, replication by replication; `None`
    /// where it did not while it was watched.
    pub after_s: Vec<Option<f64>>,
    /// Mean share of requests answered well by the window of their arrival.
    pub by_time: Vec<Option<f64>>,
    /// The same at each step of the ramp.
    pub by_step: Vec<Option<f64>>,
    /// The load at which the ramp broke it, replication by replication.
    pub breaks: Vec<Option<f64>>,
    /// The load at which it recovered on the way down, where it broke.
    pub recovers: Vec<Option<f64>>,
}

impl ProbeArm {
    /// Replications that did not recover while they were watched.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.after_s.iter().filter(|after| after.is_none()).count()
    }
}

impl ProbeRecord {
    /// Place of the largest load in the ramp.
    #[must_use]
    pub fn top(&self) -> usize {
        let larger = |top: usize, at: usize| {
            if self.loads[at] > self.loads[top] {
                at
            } else {
                top
            }
        };
        (0..self.loads.len()).fold(0, larger)
    }
}
