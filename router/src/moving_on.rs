//! Leaving a deployment that is of no use to anybody: its key is dead, its account empty, or it does
//! not know the model. LiteLLM spends a retry on that, and gives up while good deployments are
//! unused; `corrected` moves on for free. (BR-005, BR-010, BR-025)

use crate::{
    observe::{Event, Observer},
    outcome::Failure,
    request::DeploymentId,
    router::Router,
    step::Ticket,
    time::Instant,
};

/// What follows the failure of a dead deployment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moving {
    /// Another attempt, without a wait.
    On,
    /// Nobody is left in the group.
    Nowhere,
    /// The usual rules say.
    No,
}

impl Router {
    /// Whether the request moves on to a deployment that it has not tried.
    pub(crate) fn moving_on(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        failure: &Failure,
        obs: &mut impl Observer,
    ) -> Moving {
        let moves = self
            .config
            .profile
            .corrections
            .moves_on_from_dead_deployments;
        if !moves || !failure.is_of_a_dead_deployment() {
            return Moving::No;
        }
        let state = self.requests.get(ticket);
        let group = state.hop.group;
        if !state
            .hop
            .allowance
            .is_some_and(|a| a.retries > 0 && !a.by_policy)
        {
            return Moving::No;
        }
        // The second time here it was a filter that left nobody else.
        match state.refused.iter().filter(|d| **d == deployment).count() {
            0 => state.refused.push(deployment),
            1 => {}
            _ => return Moving::No,
        }
        let untried = |d: &DeploymentId| {
            !state.refused.contains(d)
                && !state.excluded.contains(d)
                && !self.config.deployments[d.index()].blocked
                && self.states[d.index()].cooled_at(now).is_none()
        };
        if !self.registry.target(group).members.iter().any(untried) {
            return Moving::Nowhere;
        }
        state.hop.moved_on = true;
        let request = state.request.id;
        obs.observe(
            now,
            &Event::MovedOn {
                request,
                deployment,
            },
        );
        Moving::On
    }
}
