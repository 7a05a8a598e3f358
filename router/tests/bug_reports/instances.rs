//! Several routers with one configuration.

use router::{Router, RouterConfig, SharedStore};

use crate::{harness::World, results::Log};

impl World {
    /// Several routers with one configuration, which share a store.
    pub(crate) fn sharing(config: &RouterConfig, routers: usize) -> Self {
        let mut world = Self::instances(config, routers);
        world.store = Some(SharedStore::new(config));
        world
    }

    /// Gives a router an input, and lends it the store if there is one.
    pub(crate) fn input<T>(
        &mut self,
        at: usize,
        give: impl FnOnce(&mut Router, &mut Log) -> T,
    ) -> T {
        let (router, log) = &mut self.routers[at];
        match &mut self.store {
            Some(store) => store.lend(router, |router| give(router, log)),
            None => give(router, log),
        }
    }
}
