//! Deployments that stand for one upstream account: what refuses one of them refuses all. (BR-021)
//!
//! The setting is ours, not LiteLLM's: `model_info.quota_group`, equal for all who share a quota.
//! Members of a quota count as one: a group that has only them is alone, so that a 429 is waited
//! out; in a group that has others, a 429 takes all of them out at once.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    config::RouterConfig,
    directory::TargetKind,
    outcome::ErrorClass,
    request::{DeploymentId, ModelId},
    retry::GroupHealth,
    route_error::RouteError,
    router::Router,
    step::Ticket,
    time::Instant,
};

/// Who shares a quota with whom.
#[derive(Debug)]
pub(crate) struct Quotas {
    /// By deployment: its quota.
    of: Vec<Option<u32>>,
}

impl Quotas {
    /// `None` if no deployment names a quota, or the profile knows none.
    pub(crate) fn new(config: &RouterConfig) -> Option<Box<Self>> {
        let names = config.deployments.iter().map(|d| d.quota_group.as_deref());
        if !config.profile.corrections.shared_quotas || names.clone().all(|n| n.is_none()) {
            return None;
        }
        let mut known = BTreeMap::new();
        let mut number = |name| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry(name).or_insert(next)
        };
        let of = names.map(|name| name.map(&mut number)).collect();
        Some(Box::new(Self { of }))
    }

    fn quota(&self, deployment: DeploymentId) -> Option<u32> {
        self.of[deployment.index()]
    }

    /// How many of these are independent of each other.
    fn units(&self, members: impl Iterator<Item = DeploymentId> + Clone) -> usize {
        let counts = |(place, d): &(usize, DeploymentId)| {
            let quota = self.quota(*d);
            quota.is_none()
                || members
                    .clone()
                    .take(*place)
                    .all(|other| self.quota(other) != quota)
        };
        members.clone().enumerate().filter(counts).count()
    }
}

impl Router {
    /// Whether a failure of the deployment has nowhere to go in its group: it is alone, or all
    /// others share its quota.
    pub(crate) fn is_lone(&self, deployment: DeploymentId, group: ModelId) -> bool {
        if self.fixed[deployment.index()].lone {
            return true;
        }
        let target = self.registry.target(group);
        self.quotas.as_ref().is_some_and(|quotas| {
            target.kind == TargetKind::Group
                && quotas.quota(deployment).is_some()
                && quotas.units(target.members.iter().copied()) == 1
        })
    }

    /// The health of a group, where members of one quota count as one.
    pub(crate) fn independent(
        &self,
        quotas: &Quotas,
        members: &[DeploymentId],
        healthy: impl Fn(&&DeploymentId) -> bool + Clone,
    ) -> GroupHealth {
        GroupHealth {
            all: quotas.units(members.iter().copied()),
            healthy: quotas.units(members.iter().filter(healthy).copied()),
        }
    }

    /// Who else is out when this deployment is told that its quota is used up.
    pub(crate) fn sharers(
        &self,
        deployment: DeploymentId,
    ) -> impl Iterator<Item = DeploymentId> + use<> {
        let of = self.quotas.as_deref().map_or(&[][..], |quotas| &quotas.of);
        let own = of.get(deployment.index()).copied().flatten();
        let shares = |(other, quota): &(u32, &Option<u32>)| {
            own.is_some() && **quota == own && *other != deployment.0
        };
        let others: Vec<_> = (0..)
            .zip(of)
            .filter(shares)
            .map(|(d, _)| DeploymentId(d))
            .collect();
        others.into_iter()
    }

    /// How long until somebody of the group is back, where quotas are used up and waiting is what
    /// is left to do.
    pub(crate) fn wait_for_quota(
        &self,
        now: Instant,
        ticket: Ticket,
        error: &RouteError,
        health: GroupHealth,
    ) -> Option<Duration> {
        let quotas = self.quotas.as_deref()?;
        let group = self.requests.peek(ticket).hop.group;
        let members = &self.registry.target(group).members;
        let shared = members.iter().any(|d| quotas.quota(*d).is_some());
        let limited = error.class() == Some(ErrorClass::RateLimit);
        let elsewhere = self.lists_in_force(ticket).generic;
        if !shared || !limited || elsewhere || health.healthy > 0 {
            return None;
        }
        self.first_return(now, group).map(|back| back.since(now))
    }
}
