//! What an operator sees of the cooldowns, and ending them by hand.
//!
//! LiteLLM has no such call; ending a cooldown does here what deleting its key in LiteLLM's cache
//! does: the deployment is eligible at once, and what was counted of it stays, so that one more
//! failure may bench it again (semantics 4.2).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    observe::{CooldownReason, Event, Observer},
    request::DeploymentId,
    router::Router,
    time::Instant,
};

/// A deployment that is out, why, and until when.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cooldown {
    /// Which.
    pub deployment: DeploymentId,
    /// When it began.
    pub since: Instant,
    /// When it ends.
    pub until: Instant,
    /// By which rule, of the last failure that asked for it.
    pub why: CooldownReason,
    /// The status of that failure, if it has one.
    pub status: Option<u16>,
    /// The length that failure asked for, which hints like "try again in" report: a cooldown that
    /// is running keeps its end (semantics 4.3).
    pub length: Duration,
}

impl Router {
    /// Every cooldown that is running, in the order of the `model_list`.
    pub fn cooldowns(&self, now: Instant) -> impl Iterator<Item = Cooldown> + '_ {
        (0..)
            .map(DeploymentId)
            .zip(&self.states)
            .filter_map(move |(deployment, state)| state.cooldown(now, deployment))
    }

    pub(crate) fn take_clear(
        &mut self,
        now: Instant,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> bool {
        let ended = self.end_cooldown(now, deployment, obs);
        let ends = self.states.iter().filter_map(|s| s.cooled_at(now));
        self.all_warm_at = ends.max().unwrap_or(now);
        ended
    }

    pub(crate) fn take_clear_of_all(&mut self, now: Instant, obs: &mut impl Observer) -> usize {
        let ended = (0..)
            .take(self.states.len())
            .filter(|&number| self.end_cooldown(now, DeploymentId(number), obs))
            .count();
        self.all_warm_at = now;
        ended
    }

    fn end_cooldown(
        &mut self,
        now: Instant,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> bool {
        let ended = self.states[deployment.index()].end_cooldown(now);
        self.share_end(deployment);
        if ended {
            obs.observe(now, &Event::CooldownCleared { deployment });
        }
        ended
    }
}
