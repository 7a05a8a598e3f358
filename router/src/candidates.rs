//! Who is picked, and who could be: the candidates of a hop, which the filters leave, and the
//! strategy's choice of one. (semantics 2.3)

use std::time::Duration;

use crate::{
    directory::TargetKind,
    observe::{Event, Observer},
    request::{DeploymentId, ModelId},
    retry::GroupHealth,
    rng::{KeyedRng, Purpose},
    route_error::RouteError,
    router::Router,
    step::Ticket,
    strategy::{Candidates, PickContext, StrategySpec, simple_shuffle},
    time::{Instant, whole_seconds_up},
};

const PICK: Purpose = Purpose::named("router.pick");

impl Router {
    /// Picks a deployment for the hop that the request is in.
    #[inline(always)]
    pub(crate) fn pick(
        &mut self,
        now: Instant,
        ticket: Ticket,
        obs: &mut impl Observer,
    ) -> Result<DeploymentId, RouteError> {
        self.learn_cooldowns(now);
        let hop = self.requests.get(ticket).hop;
        let target = self.registry.target(hop.group);
        match target.kind {
            TargetKind::Unknown => return Err(RouteError::UnknownModel { model: hop.group }),
            TargetKind::Deployment => return self.pick_by_id(now, ticket, obs),
            TargetKind::Group => {}
        }
        let whole = self.is_unfiltered(now, ticket, target);
        let draw = self.requests.get(ticket).next_draw();
        if !whole && let Err(error) = self.filter(now, ticket, obs) {
            self.nothing_to_pick(now, ticket, obs);
            return Err(error);
        }
        let target = self.registry.target(hop.group);
        let members: &[DeploymentId] = if whole {
            &target.members
        } else {
            &self.candidates
        };
        let metric = self.config.profile.shuffle_metric;
        if self.text_weights
            && self.strategies.of(hop.group).shuffles()
            && simple_shuffle::meets_text(metric, &self.config.deployments, members)
        {
            return Err(RouteError::TextWeight);
        }
        let blocking = self.picks_as_blocking(ticket);
        let request = &self.requests.peek(ticket).request;
        let id = request.id;
        let reads_target = blocking && self.config.profile.blocking_reads_alias_target;
        let picked = if members.is_empty() {
            None
        } else {
            let group = match target.alias_of {
                Some(target) if reads_target => target,
                Some(_) | None => hop.group,
            };
            let (strategy, spec) = self.strategies.asked(hop.group);
            if matches!(spec, StrategySpec::UsageBasedV2(_)) {
                self.rate_limits.learn(now, members);
            }
            let cx = PickContext {
                now,
                group,
                request,
                spec,
                blocking,
                deployments: &self.config.deployments,
                limits: &self.rate_limits,
                states: &self.states,
                shared: self.shared.as_deref(),
            };
            let mut rng = KeyedRng::new(self.seed, PICK, id.0, draw);
            strategy.pick(&cx, &Candidates { members, whole }, &mut rng)
        };
        let candidates = u32::try_from(members.len()).unwrap_or(u32::MAX);
        let Some(deployment) = picked else {
            self.nothing_to_pick(now, ticket, obs);
            return Err(match candidates {
                0 => self.no_deployments(now, hop.group),
                _ => self.nobody_fits(now, ticket, blocking, obs),
            });
        };
        debug_assert!(
            self.states[deployment.index()].out_until(now).is_none()
                && !self.config.deployments[deployment.index()].blocked,
            "invariant 7: a deployment that is out was picked"
        );
        let attempt = self.requests.peek(ticket).attempts;
        obs.observe(
            now,
            &Event::Picked {
                request: id,
                deployment,
                attempt,
                candidates,
            },
        );
        self.begin_probe(now, ticket, deployment);
        Ok(deployment)
    }

    /// Picks the deployment whose id the hop names.
    #[inline(never)]
    fn pick_by_id(
        &mut self,
        now: Instant,
        ticket: Ticket,
        obs: &mut impl Observer,
    ) -> Result<DeploymentId, RouteError> {
        // A call by id skips every filter and the strategy, but a paused one refuses.
        let group = self.requests.peek(ticket).hop.group;
        let deployment = self.registry.target(group).members[0];
        if self.config.deployments[deployment.index()].blocked {
            return Err(RouteError::Blocked { deployment });
        }
        let excluded = &self.requests.peek(ticket).rare.excluded;
        if self.config.profile.exclusion_holds_for_ids && excluded.contains(&deployment) {
            return Err(self.no_deployments(now, group));
        }
        self.check_tags_of_id(now, ticket, deployment, obs)?;
        Ok(deployment)
    }

    /// Tells whom the group of a request has that is about to fail, if anybody wants to know.
    pub(crate) fn last_look<O: Observer>(&mut self, now: Instant, ticket: Ticket, obs: &mut O) {
        let state = self.requests.peek(ticket);
        if !O::LAST_LOOK || state.caller_left().is_some() {
            return;
        }
        let (request, group) = (state.request.id, state.hop.group);
        let filters = self.registry.target(group).kind == TargetKind::Group;
        if !filters || self.filter(now, ticket, &mut ()).is_err() {
            self.candidates.clear();
        }
        let members = &self.registry.target(group).members;
        let eligible = &self.candidates;
        obs.observe(
            now,
            &Event::GivenUp {
                request,
                members,
                eligible,
            },
        );
    }

    /// Whether the blocking path picks: affinity, budgets and tags do not filter there, and
    /// cost-based routing finds nobody. (semantics 2.3 step 0, 2.7)
    pub(crate) fn picks_as_blocking(&self, ticket: Ticket) -> bool {
        self.strategies.picks_as_blocking() || self.requests.peek(ticket).request.is_blocking()
    }

    #[inline(never)]
    fn nothing_to_pick(&self, now: Instant, ticket: Ticket, obs: &mut impl Observer) {
        let state = self.requests.peek(ticket);
        obs.observe(
            now,
            &Event::NothingToPick {
                request: state.request.id,
                group: state.hop.group,
            },
        );
    }

    /// How many deployments the name has, and how many are neither cooled nor blocked. A
    /// deployment's id is no group and has none that are healthy: calls by id are not retried.
    pub(crate) fn health(&self, now: Instant, group: ModelId) -> GroupHealth {
        let target = self.registry.target(group);
        if target.kind == TargetKind::Deployment {
            return GroupHealth { all: 1, healthy: 0 };
        }
        let healthy = |d: &&DeploymentId| {
            !self.config.deployments[d.index()].blocked
                && self.states[d.index()].out_until(now).is_none()
        };
        if let Some(quotas) = &self.quotas {
            return self.independent(quotas, &target.members, healthy);
        }
        let all = target.members.len();
        let healthy = match target.plain && now >= self.all_warm_at {
            true => all,
            false => target.members.iter().filter(healthy).count(),
        };
        GroupHealth { all, healthy }
    }

    /// LiteLLM's `RouterRateLimitError`. Its hint is the shortest length that a running cooldown of
    /// the group was given, not what is left of it. (semantics 4.7)
    pub(crate) fn no_deployments(&self, now: Instant, group: ModelId) -> RouteError {
        let target = self.registry.target(group);
        let members = &target.members;
        // LiteLLM looks for the lengths under the name, which finds nothing for a provider's model and
        // a called routing group. (observed)
        let name = self.registry.name(group);
        let by_model = |d: &DeploymentId| self.config.deployments[d.index()].model == name;
        let provider_model = !target.goes_on && members.iter().all(by_model);
        let known_by_name = !provider_model && target.routing_group.is_none();
        let cooling = || {
            members.iter().filter_map(|d| {
                let state = &self.states[d.index()];
                state.cooled_at(now).map(|_| state.cooldown_shown())
            })
        };
        let default: Duration = self.config.settings.cooldown_time_or_default();
        let hint = match self.config.profile.corrections.hint_is_time_left {
            true => self
                .first_return(now, group)
                .map(|left| whole_seconds_up(left.since(now))),
            false => cooling().min().filter(|_| known_by_name),
        };
        RouteError::NoDeployments {
            try_again_in: hint.unwrap_or(default),
            all_cooling: !members.is_empty() && cooling().count() == members.len(),
            status: self.config.profile.no_deployments_status,
        }
    }

    /// When the first of the group's cooldowns ends, if one runs.
    pub(crate) fn first_return(&self, now: Instant, group: ModelId) -> Option<Instant> {
        let members = &self.registry.target(group).members;
        let ends = members
            .iter()
            .filter_map(|d| self.states[d.index()].returns_at(now));
        ends.min()
    }
}
