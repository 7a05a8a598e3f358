//! How a deployment comes back from a cooldown. LiteLLM's way is by the timer alone: everybody may
//! use it again in the instant that the timer ends. Two settings of our own make that gentler, in
//! every profile (BR-059):
//!
//! - one trial: when the timer has ended, one request is let through; the others go elsewhere or are
//!   refused until it has ended. Success brings the deployment back; failure keeps it out for the
//!   same length again. Each router instance has its own trial.
//! - a spread: the length is drawn evenly from this fraction around the one asked for, so that
//!   deployments and instances do not return together.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    deployment::DeploymentState,
    request::{DeploymentId, RequestId},
    rng::{KeyedRng, Purpose},
    router::Router,
    time::Instant,
};

/// How deployments come back. The default is LiteLLM's.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CooldownRecovery {
    /// `cooldown_one_trial`: one request tries a deployment whose timer has ended.
    pub one_trial: bool,
    /// `cooldown_spread`: a fraction of the length, up or down; 0 to 1.
    pub spread: f64,
}

const SPREAD: Purpose = Purpose::named("router.cooldown_spread");

impl Router {
    /// The length of a cooldown within its spread.
    pub(crate) fn spread_out(
        &self,
        length: Duration,
        request: RequestId,
        deployment: DeploymentId,
    ) -> Duration {
        let spread = self.config.settings.cooldown_recovery.spread;
        if spread <= 0.0 {
            return length;
        }
        let draw = u64::from(deployment.0);
        let unit = KeyedRng::new(self.seed, SPREAD, request.0, draw).unit();
        length.mul_f64(1.0 + spread.min(1.0) * (2.0 * unit - 1.0))
    }
}

impl DeploymentState {
    /// Lets the timer of an open cooldown run again, so that another failure is judged against it.
    pub(crate) fn run_timer(&mut self) {
        if self.waits_for_trial() {
            self.end_at(self.probe.due());
        }
    }

    /// Keeps it out beyond its timer until a trial succeeds.
    pub(crate) fn hold_for_trial(&mut self, now: Instant, timer: Instant) {
        self.probe = self.probe.at(timer.max(now));
        self.end_at(Instant::NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::RouterConfig, rng::Seed};

    #[test]
    fn lengths_lie_evenly_within_the_spread() {
        let mut config = RouterConfig::of_deployments(["a"]);
        config.settings.cooldown_recovery.spread = 0.15;
        let router = Router::new(&config, Seed(1)).unwrap();
        let length = |n| {
            let length = Duration::from_secs(30);
            router.spread_out(length, RequestId(n), DeploymentId(0))
        };
        let lengths: Vec<f64> = (0..1_000).map(|n| length(n).as_secs_f64()).collect();

        let (low, high) = (25.5, 34.5);
        assert!(lengths.iter().all(|l| (low..=high).contains(l)));
        let mean = lengths.iter().sum::<f64>() / 1_000.0;
        assert!((mean - 30.0).abs() < 0.3, "{mean}");
    }
}
