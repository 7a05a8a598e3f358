//! Several router instances that share a store (Redis, in LiteLLM). (semantics 12, FACTS R1 to R12)
//!
//! A [`SharedStore`] stands for the store. Whoever drives several routers lends it to the one that is
//! given an input; a router that is lent none knows itself only, and its limits hold for it alone.
//!
//! | what | who learns of it, and when | file |
//! | --- | --- | --- |
//! | cooldowns | by rereading: [`SharingRules`](crate::SharingRules); the writer at once | `shared_cooldowns` |
//! | trials of deployments that are out (ours) | at once: one trial for all instances | `shared_cooldowns` |
//! | failures counted by `allowed_fails` | at once, in 1.110 and `corrected` | here |
//! | counts of usage-v2 and `enforce_model_rate_limits` | in LiteLLM seldom or late, in `corrected` at once | `shared_counts`, `admission` |
//! | counts of usage-v1 and of least-busy in 1.92 | once, by whoever has none of its own | their strategies |
//! | counts of least-busy in 1.110 and `corrected` | at once | their strategies |
//! | pins | by whoever has none of its own | `affinity` |
//! | cached answers | at once | `response_cache` |
//! | what budgets have spent | at once; LiteLLM's up to a second late | `budgets` |
//!
//! Everything else is each instance's own: failure rates, slots of `max_parallel_requests`, samples of
//! latency and cost, the priority queue.

use std::mem;

use crate::{
    admission::Admission,
    affinity::Pins,
    budgets::Budgets,
    config::RouterConfig,
    deployment::{ALLOWED_FAILS_COUNTERS, DeploymentState},
    request::DeploymentId,
    response_cache::ResponseCache,
    router::Router,
    shared_cooldowns::{CooldownLooks, SharedCooldown},
    shared_counts::SharedCounts,
    strategy::{SharedBusy, SharedUsage},
    window::TumblingCount,
};

/// What the instances of one configuration share, as their store holds it. Reaching it takes no time
/// and never fails.
///
/// ```
/// use router::{Instant, Router, RouterConfig, Seed, SharedStore};
///
/// let config = RouterConfig::of_deployments(["a", "b"]);
/// let mut store = SharedStore::new(&config);
/// let mut instances = [1, 2].map(|seed| Router::new(&config, Seed(seed)).unwrap());
/// let ended = store.lend(&mut instances[1], |router| router.clear_cooldowns(Instant::ZERO, &mut ()));
/// assert_eq!(ended, 0);
/// ```
#[derive(Debug)]
pub struct SharedStore {
    instances: usize,
    /// The instance that is given an input.
    lent_to: Option<usize>,
    /// Lent out while an instance works.
    state: Option<Box<SharedState>>,
    counts: Option<Box<SharedCounts>>,
    pub(crate) usage: Option<Box<SharedUsage>>,
    pub(crate) busy: Box<SharedBusy>,
    /// Where the profile reserves.
    admission: Option<Box<Admission>>,
    pins: Option<Box<Pins>>,
    /// Where answers are cached.
    answers: Option<Box<ResponseCache>>,
    /// Where anybody has a budget.
    budgets: Option<Budgets>,
}

/// What is shared of each deployment, whatever the strategy.
#[derive(Debug)]
pub(crate) struct SharedState {
    /// By deployment; `None` or one that is over: no record.
    pub(crate) cooldowns: Vec<Option<SharedCooldown>>,
    /// By deployment: the counters of `allowed_fails`.
    allowed_fails: Vec<[TumblingCount; ALLOWED_FAILS_COUNTERS]>,
    /// By deployment: attempts in flight, of all instances.
    pub(crate) in_flight: Vec<u32>,
}

/// What an instance remembers of the store.
#[derive(Debug)]
pub(crate) struct Looks {
    /// Its number, in the order of their first inputs.
    instance: usize,
    pub(crate) cooldowns: CooldownLooks,
}

impl SharedStore {
    /// An empty store for routers of this configuration.
    #[must_use]
    pub fn new(config: &RouterConfig) -> Self {
        let deployments = config.deployments.len();
        Self {
            instances: 0,
            lent_to: None,
            state: Some(Box::new(SharedState {
                cooldowns: vec![None; deployments],
                allowed_fails: vec![Default::default(); deployments],
                in_flight: vec![0; deployments],
            })),
            counts: Some(Box::new(SharedCounts::new(deployments))),
            usage: Some(Box::default()),
            busy: Box::new(SharedBusy::shared()),
            admission: None,
            pins: Some(Box::default()),
            answers: None,
            budgets: None,
        }
    }

    /// Gives one input to a router that shares this store. Every input to an instance must come by
    /// here, from the first; and names that their configuration does not hold must be made known to
    /// each in one order ([`Router::model`]).
    pub fn lend<T>(&mut self, router: &mut Router, input: impl FnOnce(&mut Router) -> T) -> T {
        self.hand_over(router);
        let given = input(router);
        self.take_back(router);
        given
    }

    /// [`lend`](Self::lend) in two halves, for a driver with one place for inputs with a store and
    /// without: to be called before an input, and followed by [`take_back`](Self::take_back).
    pub fn hand_over(&mut self, router: &mut Router) {
        if router.looks.is_none() {
            router.looks = Some(Box::new(Looks {
                instance: self.instances,
                cooldowns: CooldownLooks::new(&router.config),
            }));
            self.instances += 1;
        }
        let instance = router.looks.as_ref().map(|looks| looks.instance);
        if let (Some(counts), Some(instance)) = (&mut self.counts, instance) {
            counts.lent_to = instance;
        }
        self.lent_to = instance;
        self.change_places(router);
    }

    /// After an input to the router that the store was handed over to.
    pub fn take_back(&mut self, router: &mut Router) {
        self.lent_to = None;
        self.change_places(router);
        // Settings that were changed meanwhile may have made the pins begin anew.
        self.pins.get_or_insert_default();
    }

    /// The instance that is given an input, if one is.
    pub(crate) const fn lent_to(&self) -> Option<usize> {
        self.lent_to
    }

    fn change_places(&mut self, router: &mut Router) {
        let lent = self.lent_to.is_some();
        hand_over(lent, &mut self.state, &mut router.shared);
        let limits = &mut router.rate_limits;
        hand_over(lent, &mut self.counts, &mut limits.shared);
        if let Some(own) = &mut limits.admission {
            mem::swap(self.admission.get_or_insert_with(|| own.clone()), own);
        }
        if let Some(own) = &mut router.response_cache {
            mem::swap(self.answers.get_or_insert_with(|| own.in_store()), own);
        }
        if let Some(filters) = &mut router.filters {
            if let Some(affinity) = &mut filters.affinity {
                hand_over(lent, &mut self.pins, &mut affinity.shared);
            }
            if let Some(own) = &mut filters.budgets {
                mem::swap(self.budgets.get_or_insert_with(|| own.clone()), own);
            }
        }
        router.strategies.change_places(self);
    }
}

/// Hands a part of the store to the instance that it is lent to, or back.
pub(crate) fn hand_over<T>(lent: bool, store: &mut Option<T>, own: &mut Option<T>) {
    let (from, to) = if lent { (store, own) } else { (own, store) };
    if let Some(part) = from.take() {
        *to = Some(part);
    }
}

impl SharedState {
    /// The failures of all instances take the place of this one's own, or the other way round.
    pub(crate) fn exchange_fails(&mut self, deployment: DeploymentId, own: &mut DeploymentState) {
        let shared = &mut self.allowed_fails[deployment.index()];
        mem::swap(shared, &mut own.allowed_fails);
    }
}

impl Router {
    /// An attempt was sent to a deployment.
    pub(crate) fn one_more_in_flight(&mut self, deployment: DeploymentId) {
        self.states[deployment.index()].in_flight += 1;
        if let Some(shared) = &mut self.shared {
            shared.in_flight[deployment.index()] += 1;
        }
    }

    /// An attempt at a deployment is over.
    pub(crate) fn one_less_in_flight(&mut self, deployment: DeploymentId) {
        debug_assert!(
            self.states[deployment.index()].in_flight > 0,
            "invariant 4: an attempt ends that was never sent"
        );
        self.states[deployment.index()].in_flight -= 1;
        if let Some(shared) = &mut self.shared {
            shared.in_flight[deployment.index()] -= 1;
        }
    }
}
