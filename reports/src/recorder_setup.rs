//! What a recorder must know of a run before it begins.

use std::time::Duration;

use router::{Instant, Prices};

/// What a [`Recorder`](crate::Recorder) must know before the first event.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecorderSetup {
    /// Every deployment, in the order of the `model_list`.
    pub deployments: Vec<DeploymentLabel>,
    /// Longest latency of a good answer, if it is bounded.
    pub slo_latency: Option<Duration>,
    /// Longest time to the first token of a good answer, if it is bounded.
    pub slo_first_token: Option<Duration>,
    /// How long requests keep arriving.
    pub duration: Duration,
    /// When each deployment's provider is at fault by its schedule, from and until before; shorter
    /// than `deployments` where nothing is known.
    pub faults: Vec<Vec<(Instant, Instant)>>,
}

impl RecorderSetup {
    /// Whether the service level bounds anything.
    pub(crate) const fn has_slo(&self) -> bool {
        self.slo_latency.is_some() || self.slo_first_token.is_some()
    }

    /// Whether a completed request is within every bound.
    pub(crate) fn is_good(&self, latency: Duration, first_token: Option<Duration>) -> bool {
        let in_time = self.slo_latency.is_none_or(|bound| latency <= bound);
        let begun = |bound| first_token.is_some_and(|span| span <= bound);
        in_time && self.slo_first_token.is_none_or(begun)
    }
}

/// Names and prices of a deployment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeploymentLabel {
    /// `model_info.id`.
    pub id: String,
    /// Its `model_name`.
    pub group: String,
    /// The provider behind it.
    pub provider: String,
    /// What its answers are billed by.
    pub prices: Prices,
}
