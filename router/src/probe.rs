//! One trial of a deployment that is out for long. A provider may ask to be left alone for days and
//! recover within minutes; where a ceiling is set, one request is let through each time it has
//! passed, success ends the cooldown, and failure waits for another ceiling. (BR-015)
//!
//! The ceiling is ours, not LiteLLM's: [`DeploymentConfig::cooldown_probe_after`].
//!
//! [`DeploymentConfig::cooldown_probe_after`]: crate::DeploymentConfig::cooldown_probe_after

use std::time::Duration;

use crate::{
    observe::Observer, request::DeploymentId, router::Router, step::Ticket, time::Instant,
};

/// When a deployment that is out may be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Probe {
    due: Instant,
    under_way: bool,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            due: Instant::NEVER,
            under_way: false,
        }
    }
}

impl Probe {
    /// The next of a cooldown that ends at `until`: due after the ceiling, if that comes first. A trial
    /// that is under way stays the only one, whoever else fails meanwhile.
    pub(crate) fn in_cooldown(
        self,
        now: Instant,
        until: Instant,
        ceiling: Option<Duration>,
    ) -> Self {
        let due = ceiling.map(|ceiling| now + ceiling);
        self.at(due.filter(|due| *due < until).unwrap_or(Instant::NEVER))
    }

    /// The next is due at a moment; so is one that is under way.
    pub(crate) const fn at(self, due: Instant) -> Self {
        Self { due, ..self }
    }

    pub(crate) const fn due(self) -> Instant {
        self.due
    }

    pub(crate) fn may_begin(self, now: Instant) -> bool {
        now >= self.due && !self.under_way
    }
}

impl Router {
    /// The ceiling of a deployment's cooldowns.
    pub(crate) fn probe_after(&self, deployment: DeploymentId) -> Option<Duration> {
        let after = self.config.deployments[deployment.index()].cooldown_probe_after;
        after.filter(|_| self.config.profile.corrections.probes_long_cooldowns)
    }

    /// The request was given a deployment. If that is out, it is the one that tries it.
    #[inline]
    pub(crate) fn begin_probe(&mut self, now: Instant, ticket: Ticket, deployment: DeploymentId) {
        if self.states[deployment.index()].cooled_at(now).is_some() {
            self.try_out(ticket, deployment);
        }
    }

    #[inline(never)]
    fn try_out(&mut self, ticket: Ticket, deployment: DeploymentId) {
        self.states[deployment.index()].probe.under_way = true;
        self.requests.get(ticket).rare.probing = Some(deployment);
        self.share_trial(deployment);
    }

    /// The trial succeeded: whoever it was is back.
    #[inline(never)]
    pub(crate) fn probe_succeeded(
        &mut self,
        now: Instant,
        ticket: Ticket,
        obs: &mut impl Observer,
    ) {
        if let Some(deployment) = self.requests.get(ticket).no_more_probing() {
            self.states[deployment.index()].probe = Probe::default();
            // Not by the operator's door: that would be an input of its own.
            self.take_clear(now, deployment, obs);
        }
    }

    /// The trial failed: the next is due after another ceiling, unless the failure itself has
    /// benched it anew.
    pub(crate) fn probe_failed(&mut self, now: Instant, ticket: Ticket) {
        if let Some(deployment) = self.requests.get(ticket).no_more_probing() {
            let state = &self.states[deployment.index()];
            // Where a trial is all that brings it back, another follows.
            let again = state.waits_for_trial().then(|| state.cooldown_shown());
            let ceiling = again.or_else(|| self.probe_after(deployment));
            let probe = &mut self.states[deployment.index()].probe;
            probe.under_way = false;
            if probe.due <= now {
                probe.due = ceiling.map_or(Instant::NEVER, |ceiling| now + ceiling);
            }
            self.share_trial(deployment);
        }
    }

    /// The trial did not take place: somebody else may begin one.
    #[inline]
    pub(crate) fn drop_probe(&mut self, ticket: Ticket) {
        if let Some(deployment) = self.requests.get(ticket).no_more_probing() {
            self.states[deployment.index()].probe.under_way = false;
            self.share_trial(deployment);
        }
    }
}
