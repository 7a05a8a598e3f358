//! Several instances of one router, and the store between them if they share one. Whoever drives them
//! gives each input to one instance; with a single instance and no store nothing is in between.

use crate::{
    config::RouterConfig,
    error::ConfigError,
    request::{ModelId, RequestId},
    rng::Seed,
    router::Router,
    shared_state::SharedStore,
};

/// All instances of a configuration, each numbered by its place.
#[derive(Debug)]
pub struct Fleet {
    routers: Vec<Router>,
    store: Option<SharedStore>,
}

impl Fleet {
    /// `instances` routers, at least one, all of one seed. One alone shares nothing.
    ///
    /// # Errors
    /// As [`Router::new`].
    pub fn new(
        config: &RouterConfig,
        seed: Seed,
        instances: u32,
        shares: bool,
    ) -> Result<Self, ConfigError> {
        let one = |instance| {
            let mut router = Router::new(config, seed)?;
            router.instance = instance;
            Ok(router)
        };
        let routers: Result<Vec<_>, ConfigError> = (0..instances.max(1)).map(one).collect();
        Ok(Self {
            routers: routers?,
            store: (shares && instances > 1).then(|| SharedStore::new(config)),
        })
    }

    /// The id of a name, which is the same in each.
    pub fn model(&mut self, name: &str) -> ModelId {
        let [first, others @ ..] = &mut self.routers[..] else {
            unreachable!("there is at least one");
        };
        for router in others {
            router.model(name);
        }
        first.model(name)
    }

    /// Where a request goes: round the instances by the call's number, and to the next with each
    /// retry of its caller.
    #[inline]
    #[must_use]
    pub fn of_request(&self, request: RequestId) -> usize {
        match self.routers.len() {
            1 => 0,
            count => {
                let number = request.call() + u64::from(request.retry());
                usize::try_from(number % count as u64).unwrap_or_default()
            }
        }
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.routers.len()
    }

    /// An instance, to look at.
    #[inline]
    #[must_use]
    pub fn at(&self, instance: usize) -> &Router {
        &self.routers[instance]
    }

    /// Each instance, to look at.
    pub fn all(&self) -> impl Iterator<Item = &Router> {
        self.routers.iter()
    }

    /// Gives an instance an input.
    pub fn give<T>(&mut self, instance: usize, input: impl FnOnce(&mut Router) -> T) -> T {
        let given = input(self.lend(instance));
        self.take_back(instance);
        given
    }

    /// [`give`](Self::give) in two halves, for a driver that keeps what it is given where it stands: an
    /// instance, to be given one input. [`take_back`](Self::take_back) must follow.
    #[inline(always)]
    pub fn lend(&mut self, instance: usize) -> &mut Router {
        let router = &mut self.routers[instance];
        if let Some(store) = &mut self.store {
            store.hand_over(router);
        }
        router
    }

    /// After the input to the instance that was lent.
    #[inline(always)]
    pub fn take_back(&mut self, instance: usize) {
        if let Some(store) = &mut self.store {
            store.take_back(&mut self.routers[instance]);
        }
    }
}
