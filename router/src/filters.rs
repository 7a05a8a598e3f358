//! The filters before the strategy, in LiteLLM's order. (semantics 2.3, steps 5 to 11)
//!
//! Each filter is a file of its own and takes candidates out of a [`Sieve`]. An empty set stays
//! empty; some filters name the error that an empty set becomes.

use crate::{
    admission::Admission,
    affinity::Affinity,
    budgets::Budgets,
    config::{RouterConfig, RouterSettings},
    directory::Target,
    error::ConfigError,
    observe::{Event, Observer, PassedOver},
    outcome::Usage,
    pre_call_checks::PreCallChecks,
    request::{DeploymentId, RequestId},
    rng::{KeyedRng, Purpose, Seed},
    route_error::RouteError,
    router::Router,
    rules::PinsYield,
    step::Ticket,
    strategy::{Candidates, PickContext, RoutingStrategy},
    tags::Tags,
    time::Instant,
};

/// The filters that only some configurations have.
#[derive(Debug)]
pub(crate) struct OptionalFilters {
    pub(crate) affinity: Option<Affinity>,
    pub(crate) budgets: Option<Budgets>,
    pub(crate) pre_call_checks: Option<PreCallChecks>,
    pub(crate) tags: Option<Tags>,
}

impl OptionalFilters {
    /// `None` where no setting asks for one.
    ///
    /// # Errors
    /// If a pattern of a deployment's tags cannot be read.
    pub(crate) fn new(config: &RouterConfig) -> Result<Option<Box<Self>>, ConfigError> {
        let filters = Self {
            affinity: Affinity::new(config),
            budgets: Budgets::new(config),
            pre_call_checks: PreCallChecks::new(config),
            tags: Tags::new(config)?,
        };
        let any = filters.affinity.is_some()
            || filters.budgets.is_some()
            || filters.pre_call_checks.is_some()
            || filters.tags.is_some();
        Ok(any.then(|| Box::new(filters)))
    }

    /// Whether what they are made from changed: they then begin without history.
    pub(crate) fn depend_on(before: &RouterSettings, now: &RouterSettings) -> bool {
        before.enable_pre_call_checks != now.enable_pre_call_checks
            || before.provider_budget_config != now.provider_budget_config
            || before.enable_tag_filtering != now.enable_tag_filtering
            || before.tag_filtering_match_any != now.tag_filtering_match_any
            || before.tag_routing_prefix != now.tag_routing_prefix
            || before.optional_pre_call_checks != now.optional_pre_call_checks
            || before.model_group_affinity_config != now.model_group_affinity_config
            || before.deployment_affinity_ttl != now.deployment_affinity_ttl
            || before.session_affinity_repin_on_failover != now.session_affinity_repin_on_failover
    }
}

/// Who is left of a group, in one pick.
#[derive(Debug)]
pub(crate) struct Sieve<'a, O> {
    pub(crate) now: Instant,
    pub(crate) request: RequestId,
    /// In the group's order.
    pub(crate) left: &'a mut Vec<DeploymentId>,
    obs: &'a mut O,
}

impl<O: Observer> Sieve<'_, O> {
    /// Takes out everybody for whom there is a reason.
    pub(crate) fn pass_over(&mut self, mut why: impl FnMut(DeploymentId) -> Option<PassedOver>) {
        let (now, request) = (self.now, self.request);
        let obs = &mut *self.obs;
        self.left.retain(|&deployment| match why(deployment) {
            None => true,
            Some(why) => {
                let event = Event::PassedOver {
                    request,
                    deployment,
                    why,
                };
                obs.observe(now, &event);
                false
            }
        });
    }

    /// Keeps those only for whom this holds; the others are passed over for one reason.
    pub(crate) fn keep(&mut self, why: PassedOver, stays: impl Fn(DeploymentId) -> bool) {
        self.pass_over(|d| (!stays(d)).then_some(why));
    }

    /// Takes out whoever refused the request, unless nobody would be left.
    fn drop_refused(&mut self, refused: &[DeploymentId]) {
        if self.left.iter().any(|d| !refused.contains(d)) {
            self.keep(PassedOver::Refused, |d| !refused.contains(&d));
        }
    }
}

/// Whether the strategy would take this deployment if there were no other, and the limits of
/// requests would let it through.
fn would_be_sent(
    strategy: &mut dyn RoutingStrategy,
    cx: &PickContext<'_>,
    deployment: DeploymentId,
) -> bool {
    let fits = |admission: &Admission| {
        let config = &cx.deployments[deployment.index()];
        admission.fits(cx.now, deployment, config, cx.request)
    };
    let alone = Candidates {
        members: &[deployment],
        whole: false,
    };
    // One alone is not drawn among.
    let mut no_draw = KeyedRng::new(Seed(0), Purpose::named("router.pin"), cx.request.id.0, 0);
    cx.limits.admission.as_deref().is_none_or(fits)
        && strategy.pick(cx, &alone, &mut no_draw).is_some()
}

impl Router {
    /// Tells the filters who was picked.
    #[inline(never)]
    pub(crate) fn filters_learn_pick(
        &mut self,
        now: Instant,
        ticket: Ticket,
        picked: DeploymentId,
    ) {
        let Some(filters) = &mut self.filters else {
            return;
        };
        let state = self.requests.get(ticket);
        if let Some(checks) = &mut filters.pre_call_checks
            && !state.request.is_blocking()
        {
            checks.count_pick(now, &state.request, picked);
        }
        if let Some(tags) = &filters.tags
            && tags.joins(picked)
            && !state.rare.tagged_by.contains(&picked)
        {
            state.rare.tagged_by.push(picked);
        }
    }

    /// Tells the filters what an answer cost, and who gave it.
    #[inline(never)]
    pub(crate) fn filters_learn_answer(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        usage: Usage,
    ) {
        self.spend(now, ticket, deployment, usage);
        self.pin_prefix(now, ticket, deployment);
    }

    /// Whether every member of the group may be picked, so that no filter needs to look at them.
    #[inline]
    pub(crate) fn is_unfiltered(&self, now: Instant, ticket: Ticket, target: &Target) -> bool {
        let rare = self.requests.peek(ticket).rare.peek();
        target.plain
            && now >= self.all_warm_at
            && rare.is_none_or(|rare| rare.excluded.is_empty() && rare.refused.is_empty())
            && (self.filters.as_ref())
                .is_none_or(|filters| self.all_pass(filters, now, ticket, target))
    }

    #[inline(never)]
    fn all_pass(
        &self,
        filters: &OptionalFilters,
        now: Instant,
        ticket: Ticket,
        target: &Target,
    ) -> bool {
        let state = self.requests.peek(ticket);
        let tagged_by = &state.rare.tagged_by;
        let matter = |tags: &Tags| tags.matter(&state.request, tagged_by, &target.members);
        let pinned = |affinity: &Affinity| affinity.has_pin(now, &state.request, &target.members);
        filters.pre_call_checks.is_none()
            && !filters.affinity.as_ref().is_some_and(pinned)
            && filters.budgets.as_ref().is_none_or(|b| b.all_left(now))
            && !filters.tags.as_ref().is_some_and(matter)
    }

    /// Refuses a call by a deployment's id where the request's tags do not lead to it, in 1.110.
    /// (observed)
    pub(crate) fn check_tags_of_id(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> Result<(), RouteError> {
        if !self.config.profile.tags_hold_for_ids || self.picks_as_blocking(ticket) {
            return Ok(());
        }
        let Some(tags) = self.filters.as_mut().and_then(|f| f.tags.as_mut()) else {
            return Ok(());
        };
        let state = self.requests.peek(ticket);
        self.candidates.clear();
        self.candidates.push(deployment);
        let mut sieve = Sieve {
            now,
            request: state.request.id,
            left: &mut self.candidates,
            obs,
        };
        // Nobody else of its group is asked whether the default may serve.
        tags.filter(
            &mut sieve,
            &state.request,
            &state.rare.tagged_by,
            std::iter::empty(),
        )
    }

    /// Fills `self.candidates` with the members of the hop's group that pass the filters.
    #[inline(never)]
    pub(crate) fn filter(
        &mut self,
        now: Instant,
        ticket: Ticket,
        obs: &mut impl Observer,
    ) -> Result<(), RouteError> {
        let state = self.requests.peek(ticket);
        let hop = state.hop;
        let target = self.registry.target(hop.group);
        let config = &self.config.deployments;
        let states = &self.states;
        // The blocking path knows no filters of callbacks and no tags. (semantics 2.7)
        let blocking = self.picks_as_blocking(ticket);
        self.candidates.clear();
        self.candidates.extend_from_slice(&target.members);
        let mut sieve = Sieve {
            now,
            request: state.request.id,
            left: &mut self.candidates,
            obs,
        };
        sieve.pass_over(|d| match states[d.index()].out_until(now) {
            Some(_) => states[d.index()].returns_at(now).map(PassedOver::Cooled),
            None => config[d.index()].blocked.then_some(PassedOver::Blocked),
        });
        let order = |d: DeploymentId| target.order(d, config);
        let yields = self.config.profile.pins_yield;
        if let Some(filters) = &mut self.filters {
            let affinity = filters.affinity.as_ref().filter(|_| !blocking);
            let mut follow_pins = |sieve: &mut Sieve<'_, _>| {
                let excluded = |d| {
                    state.rare.excluded.contains(&d)
                        || state.rare.refused.contains(&d)
                        || hop.tier.is_some_and(|tier| order(d) != Some(tier))
                };
                let stands = |d| yields == PinsYield::Never || !excluded(d);
                let has_room = |d| {
                    if yields != PinsYield::ToEverything {
                        return true;
                    }
                    let (strategy, spec) = self.strategies.asked(hop.group);
                    let cx = PickContext {
                        now,
                        group: hop.group,
                        request: &state.request,
                        spec,
                        blocking,
                        deployments: config,
                        limits: &self.rate_limits,
                        states,
                        shared: self.shared.as_deref(),
                    };
                    would_be_sent(strategy, &cx, d)
                };
                if let Some(affinity) = affinity {
                    let is_retry = hop.allowance.is_some();
                    affinity.narrow(sieve, &state.request, is_retry, stands, has_room);
                }
            };
            if yields != PinsYield::ToEverything {
                follow_pins(&mut sieve);
            }
            if let Some(budgets) = filters.budgets.as_ref().filter(|_| !blocking) {
                budgets.filter(&mut sieve)?;
            }
            if let Some(checks) = &filters.pre_call_checks {
                checks.filter(&mut sieve, &state.request, config)?;
            }
            if let Some(tags) = filters.tags.as_mut().filter(|_| !blocking) {
                let name = self.registry.name(hop.group);
                let group = target.members.iter().copied();
                let group = group.filter(|d| config[d.index()].model_name == name);
                tags.filter(&mut sieve, &state.request, &state.rare.tagged_by, group)?;
            }
            if yields == PinsYield::ToEverything {
                follow_pins(&mut sieve);
            }
        }
        let refused_first = self.config.profile.corrections.failed_tiers_are_left;
        if refused_first {
            sieve.drop_refused(&state.rare.refused);
        }
        // The tier asked for, if it has a candidate, else the lowest that has one; those without
        // an order count only where no candidate has one.
        let mut tiers = sieve.left.iter().filter_map(|&d| order(d));
        let tier = match hop.tier {
            Some(asked) if self.config.profile.order_pin_is_strict => Some(asked),
            Some(asked) => tiers.any(|tier| tier == asked).then_some(asked),
            None => tiers.min(),
        };
        if let Some(tier) = tier {
            sieve.keep(PassedOver::OtherOrderTier, |d| order(d) == Some(tier));
        }
        sieve.keep(PassedOver::Excluded, |d| !state.rare.excluded.contains(&d));
        if !refused_first {
            sieve.drop_refused(&state.rare.refused);
        }
        Ok(())
    }
}
