//! The instances of the router. Requests go round them; each decides by itself, and learns of the others
//! what their store tells it.

use router::{ModelId, Observer, RequestId, Router, SharedStore};
use scenarios::{Action, Instances, RunPlan};

use crate::{SimError, operator};

/// All instances, and their store if they share one.
pub(crate) struct Fleet {
    instances: Instances,
    routers: Vec<Router>,
    store: Option<SharedStore>,
    /// Whether a deployment has a silent model, so that requests may have mirrors.
    pub(crate) may_mirror: bool,
}

impl Fleet {
    pub(crate) fn new(plan: &RunPlan) -> Result<Self, SimError> {
        let instances = plan.instances;
        let one = || Router::new(&plan.router, plan.seed);
        let routers: Result<Vec<_>, _> = (0..instances.count).map(|_| one()).collect();
        let shares = instances.shared_state && instances.count > 1;
        Ok(Self {
            instances,
            routers: routers?,
            may_mirror: (plan.router.deployments.iter()).any(|one| one.silent_model.is_some()),
            store: shares.then(|| SharedStore::new(&plan.router)),
        })
    }

    /// The id of a name, which is the same in each.
    pub(crate) fn model(&mut self, name: &str) -> ModelId {
        let ids = self.routers.iter_mut().map(|router| router.model(name));
        ids.last().expect("there is at least one")
    }

    /// Where a request goes.
    #[inline]
    pub(crate) fn of_request(&self, request: RequestId) -> usize {
        match self.routers.len() {
            1 => 0,
            _ => self.instances.of_request(request),
        }
    }

    /// An instance, to look at.
    #[inline]
    pub(crate) fn at(&self, instance: usize) -> &Router {
        &self.routers[instance]
    }

    /// Gives an instance an input.
    #[inline(always)]
    pub(crate) fn give<T>(&mut self, instance: usize, input: impl FnOnce(&mut Router) -> T) -> T {
        let router = &mut self.routers[instance];
        // One place for both, so that the input is compiled, and inlined, once.
        if let Some(store) = &mut self.store {
            store.hand_over(router);
        }
        let given = input(router);
        if let Some(store) = &mut self.store {
            store.take_back(router);
        }
        given
    }

    /// Does what the operator does, to each.
    pub(crate) fn act(&mut self, action: &Action, observer: &mut impl Observer) {
        for instance in 0..self.routers.len() {
            self.give(instance, |router| operator::act(router, action, observer));
        }
    }
}
