//! Leaving a deployment that is of no use: its key is dead, its account empty, it does not know the
//! model, or the router itself says that it is over its limits. LiteLLM spends a retry on that, or
//! gives up, while good deployments are unused; `corrected` moves on for free. (BR-005, BR-010,
//! BR-011, BR-025)

use crate::{
    observe::{Event, Observer},
    request::DeploymentId,
    retry,
    route_error::RouteError,
    router::Router,
    step::Ticket,
    time::Instant,
};

/// What follows the failure of a deployment that is of no use.
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
        error: &RouteError,
        obs: &mut impl Observer,
    ) -> Moving {
        let corrections = &self.config.profile.corrections;
        let state = self.requests.get(ticket);
        // What the ladder takes for a refusal of the request it has written down already.
        let written_down = self.config.profile.refusals_move_on
            && matches!(error, RouteError::Attempt { failure, .. } if retry::is_refusal(failure));
        let (deployment, otherwise) = if let RouteError::Attempt {
            deployment,
            failure,
        } = error
        {
            let allowed = state.hop.allowance;
            let allowed = allowed.is_some_and(|a| a.retries > 0 && !a.by_policy);
            let moves = corrections.moves_on_from_dead_deployments;
            if !moves || !allowed || !failure.is_of_a_dead_deployment() {
                return Moving::No;
            }
            (*deployment, Moving::Nowhere)
        } else if let RouteError::RateLimited {
            deployment: Some(deployment),
            ..
        } = error
            && corrections.own_refusals_are_no_failures
        {
            (*deployment, Moving::No)
        } else {
            return Moving::No;
        };
        let refused = &mut state.rare.refused;
        let times = refused.iter().filter(|d| **d == deployment).count();
        // The second time here it was a filter that left nobody else.
        if times > usize::from(written_down) {
            return Moving::No;
        }
        if !written_down {
            refused.push(deployment);
        }
        let untried = |d: &DeploymentId| {
            !state.rare.refused.contains(d)
                && !state.rare.excluded.contains(d)
                && !self.config.deployments[d.index()].blocked
                && self.states[d.index()].out_until(now).is_none()
        };
        let group = state.hop.group;
        if !self.registry.target(group).members.iter().any(untried) {
            return otherwise;
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
