//! Which strategy governs which name, and who keeps count of what. (semantics 1.8, 3, Q13)
//!
//! LiteLLM has a selector for the router and one for each routing group, but selectors of a kind
//! share what they have counted, each attempt is counted once for a kind, and a kind that is in use
//! anywhere counts every name's attempts. So there is one [`RoutingStrategy`] of a kind here. What it
//! counted outlives its use: a strategy that is chosen again goes on where it stopped; what happened
//! in between is counted in 1.92 only (observed).

use std::{mem::discriminant, time::Duration};

use crate::{
    config::{RouterSettings, RoutingGroup},
    outcome::Outcome,
    profile::Profile,
    request::ModelId,
    routing_groups,
    shared_state::SharedStore,
    strategy::{RoutingStrategy, Sent, StrategySpec, UsageArgs},
    time::{Epoch, Instant},
};

/// The strategies of a router.
#[derive(Debug)]
pub(crate) struct Strategies {
    profile: Profile,
    epoch: Epoch,
    /// The router's own, then one for each routing group, in their order.
    selectors: Vec<Selector>,
    kinds: Vec<Kind>,
    /// Whether any of them counts.
    any_counts: bool,
    /// By model: its selector; empty where there are no routing groups.
    governs: Vec<u16>,
}

#[derive(Debug)]
struct Selector {
    spec: StrategySpec,
    /// Where its kind is.
    kind: usize,
}

/// All selectors of one strategy.
#[derive(Debug)]
struct Kind {
    /// The first of its selectors, which says how it counts.
    spec: StrategySpec,
    /// Whether a selector of this kind is there.
    in_use: bool,
    /// Whether it counts, as all do but `simple-shuffle`. 1.92 tells a strategy that was replaced of the attempts after it too, if
    /// it was told of any while it was in use.
    counts: bool,
    /// Whether it was told of an attempt while it was in use.
    was_told: bool,
    strategy: Box<dyn RoutingStrategy>,
}

impl Strategies {
    pub(crate) fn new(settings: &RouterSettings, profile: Profile, epoch: Epoch) -> Self {
        let mut strategies = Self {
            profile,
            epoch,
            selectors: Vec::new(),
            kinds: Vec::new(),
            any_counts: false,
            governs: Vec::new(),
        };
        strategies.select(settings);
        strategies
    }

    /// Takes the strategies of these settings; [`Strategies::learn`] must follow for every name.
    pub(crate) fn select(&mut self, settings: &RouterSettings) {
        self.selectors.clear();
        self.governs.clear();
        for kind in &mut self.kinds {
            kind.in_use = false;
        }
        self.add_selector(&settings.routing_strategy);
        for group in &settings.routing_groups {
            self.add_selector(&group.routing_strategy);
        }
        let outlives = self.profile.replaced_strategies_keep_counting;
        for kind in &mut self.kinds {
            kind.counts = kind.strategy.counts() && (kind.in_use || (outlives && kind.was_told));
        }
        self.any_counts = self.kinds.iter().any(|kind| kind.counts);
        let shared = self.shared_key();
        for kind in &mut self.kinds {
            kind.strategy.share_key(shared);
            kind.strategy.on_groups_changed();
        }
    }

    fn add_selector(&mut self, spec: &StrategySpec) {
        let is_kind = |kind: &Kind| discriminant(&kind.spec) == discriminant(spec);
        let at = self.kinds.iter().position(is_kind).unwrap_or_else(|| {
            self.kinds.push(Kind {
                spec: spec.clone(),
                in_use: false,
                counts: true,
                was_told: false,
                strategy: spec.build(&self.profile, self.epoch),
            });
            self.kinds.len() - 1
        });
        let kind = &mut self.kinds[at];
        if !kind.in_use {
            kind.in_use = true;
            kind.spec = spec.clone();
            kind.strategy.configure(spec);
        }
        let spec = spec.clone();
        self.selectors.push(Selector { spec, kind: at });
    }

    /// How long the key lives that latency- and cost-based routing share, where both count: the
    /// first of them makes it.
    fn shared_key(&self) -> Option<Duration> {
        let counting = self.kinds.iter().filter(|kind| kind.counts);
        let mut ttls = counting.filter_map(|kind| kind.spec.map_ttl());
        let first = ttls.next()?;
        (ttls.next().is_some() && self.profile.cost_shares_latency_map).then_some(first)
    }

    /// The arguments of the `usage-based-routing-v2` that reserves, if there is one, and of the one
    /// that hears of answers.
    pub(crate) fn usage_v2(&self) -> (Option<UsageArgs>, Option<UsageArgs>) {
        let reserved = self.profile.corrections.usage_is_reserved;
        let found = |wanted: fn(&Kind) -> bool| {
            self.kinds.iter().find_map(|kind| match kind.spec {
                StrategySpec::UsageBasedV2(args) if wanted(kind) => Some(args),
                StrategySpec::UsageBased(args) if reserved && wanted(kind) => Some(args),
                StrategySpec::SimpleShuffle
                | StrategySpec::LeastBusy
                | StrategySpec::LowestLatency(_)
                | StrategySpec::LowestCost
                | StrategySpec::UsageBased(_)
                | StrategySpec::UsageBasedV2(_)
                | StrategySpec::ProviderBudget
                | StrategySpec::Priority => None,
            })
        };
        (found(|kind| kind.in_use), found(|kind| kind.counts))
    }

    /// The next name's selector: the routing group that it stands for when it is called by its own
    /// name, else the one that governs what is looked up for it, else the router's.
    pub(crate) fn learn(
        &mut self,
        groups: &[RoutingGroup],
        called: Option<usize>,
        looked_up: Option<&str>,
    ) {
        let governing = || routing_groups::governing(groups, looked_up?);
        let selector = called.or_else(governing).map_or(0, |at| at + 1);
        self.governs
            .push(u16::try_from(selector).unwrap_or_default());
    }

    #[inline]
    fn selector(&self, model: ModelId) -> &Selector {
        let at = self.governs.get(model.index()).copied().unwrap_or(0);
        &self.selectors[usize::from(at)]
    }

    /// The strategy of a name.
    pub(crate) fn of(&self, model: ModelId) -> &StrategySpec {
        &self.selector(model).spec
    }

    /// The strategy of a name, to be asked for a pick.
    #[inline]
    pub(crate) fn asked(&mut self, model: ModelId) -> (&mut dyn RoutingStrategy, &StrategySpec) {
        let at = self.governs.get(model.index()).copied().unwrap_or(0);
        let selector = &self.selectors[usize::from(at)];
        (&mut *self.kinds[selector.kind].strategy, &selector.spec)
    }

    /// Whether every pick goes the blocking path. (semantics 2.3 step 0)
    #[inline]
    pub(crate) fn picks_as_blocking(&self) -> bool {
        self.profile.usage_v1_picks_as_blocking
            && matches!(self.selectors[0].spec, StrategySpec::UsageBased(_))
    }

    #[inline]
    fn counting(&mut self) -> impl Iterator<Item = &mut Box<dyn RoutingStrategy>> {
        let counting = self.kinds.iter_mut().filter(|kind| kind.counts);
        counting.map(|kind| &mut kind.strategy)
    }

    /// An attempt went out.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, sent: &Sent<'_>) {
        if !self.any_counts {
            return;
        }
        for kind in self.kinds.iter_mut().filter(|kind| kind.counts) {
            kind.was_told |= kind.in_use;
            kind.strategy.on_sent(now, sent);
        }
    }

    /// An attempt ended that `began` at a moment.
    #[inline]
    pub(crate) fn on_finished(
        &mut self,
        now: Instant,
        sent: &Sent<'_>,
        began: Instant,
        outcome: &Outcome,
    ) {
        if !self.any_counts {
            return;
        }
        self.counting()
            .for_each(|s| s.on_finished(now, sent, now.since(began), outcome));
    }

    /// The response cache answered in place of an attempt.
    pub(crate) fn on_cached(&mut self, now: Instant, sent: &Sent<'_>, outcome: &Outcome) {
        self.counting()
            .for_each(|s| s.on_cached(now, sent, outcome));
    }

    /// The shared store is lent, or given back.
    pub(crate) fn change_places(&mut self, store: &mut SharedStore) {
        for kind in &mut self.kinds {
            kind.strategy.change_places(store);
        }
    }

    /// The caller went away during an attempt.
    pub(crate) fn on_abandoned(&mut self, now: Instant, sent: &Sent<'_>) {
        self.counting().for_each(|s| s.on_abandoned(now, sent));
    }
}
