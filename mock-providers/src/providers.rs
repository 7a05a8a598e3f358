//! The providers of a plan: one for each deployment, with the quotas that some of them share.

use std::collections::{BTreeMap, btree_map::Entry};

use router::{Epoch, Instant, Seed};

use crate::{
    error::SpecError,
    provider::{FaultSpan, Provider},
    quota::{Quota, QuotaSpec},
    reply::{ProviderCall, Reply},
    spec::ProviderSpec,
    wire::{Dialect, WireReply},
    wish::Wish,
};

/// The providers behind the deployments of a plan, in their order.
///
/// ```
/// use mock_providers::{ProviderSpec, Providers};
/// use router::{Epoch, Seed};
///
/// let spec: ProviderSpec = serde_json::from_str(
///     r#"{"preset": "azure-payg", "quota": {"requests_per_minute": 600, "pool": "account"}}"#,
/// )?;
/// // Two deployments that may send 600 requests a minute together.
/// let providers = Providers::new([&spec, &spec], Seed(1), Epoch::default()).unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Providers {
    each: Vec<Provider>,
    pools: Vec<Quota>,
    /// The pools by name: the place of each and what it was written with.
    named: BTreeMap<String, (usize, QuotaSpec)>,
    seed: Seed,
    epoch: Epoch,
}

impl Providers {
    /// Builds a provider for each spec. Quotas of one pool become one.
    ///
    /// # Errors
    ///
    /// The number of the spec that cannot be built, and why.
    pub fn new<'a>(
        specs: impl IntoIterator<Item = &'a ProviderSpec>,
        seed: Seed,
        epoch: Epoch,
    ) -> Result<Self, (usize, SpecError)> {
        let mut providers = Self {
            each: Vec::new(),
            pools: Vec::new(),
            named: BTreeMap::new(),
            seed,
            epoch,
        };
        for (number, spec) in specs.into_iter().enumerate() {
            let provider = providers.built(number, spec);
            providers
                .each
                .push(provider.map_err(|error| (number, error))?);
        }
        Ok(providers)
    }

    /// Puts a provider with this spec in the place of one, with no attempt under way and its own
    /// counts at zero. The counts of a pool stay.
    ///
    /// # Errors
    ///
    /// If the spec cannot be built; then all stays as it is.
    pub fn replace(&mut self, number: usize, spec: &ProviderSpec) -> Result<(), SpecError> {
        self.each[number] = self.built(number, spec)?;
        Ok(())
    }

    fn built(&mut self, number: usize, spec: &ProviderSpec) -> Result<Provider, SpecError> {
        let mut provider = Provider::new(spec, self.seed, number as u64, self.epoch)?;
        let quota = spec.resolve()?.quota.unwrap_or_default();
        let Some(pool) = quota.pool.clone() else {
            return Ok(provider);
        };
        let joined = match self.named.entry(pool) {
            Entry::Vacant(vacant) => vacant.insert((self.pools.len(), quota)).0,
            Entry::Occupied(known) if known.get().1 == quota => known.get().0,
            Entry::Occupied(known) => {
                let pool = known.key().clone();
                return Err(SpecError::PoolOfTwo { pool });
            }
        };
        let own = provider.join_pool(joined);
        if joined == self.pools.len() {
            self.pools.extend(own);
        }
        Ok(provider)
    }

    /// What this attempt gets from its deployment's provider. Calls come in the order of `at`.
    #[inline]
    pub fn respond(&mut self, at: Instant, call: &ProviderCall) -> Reply {
        self.each[call.deployment.index()].respond_in(at, call, &mut self.pools)
    }

    /// What `reply` looks like on the wire: asked right after [`respond`](Self::respond) gave it.
    #[must_use]
    pub fn on_wire(&mut self, at: Instant, call: &ProviderCall, reply: &Reply) -> WireReply {
        self.on_wire_as(at, call, reply, None)
    }

    /// [`on_wire`](Self::on_wire), in another dialect than the provider's own where one is given.
    #[must_use]
    pub fn on_wire_as(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        reply: &Reply,
        dialect: Option<Dialect>,
    ) -> WireReply {
        let provider = &mut self.each[call.deployment.index()];
        provider.on_wire_in(at, call, reply, &mut self.pools, dialect)
    }

    /// What this attempt gets that wishes something for itself.
    ///
    /// # Errors
    ///
    /// If what it wishes makes no sense.
    pub fn respond_to_wish(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        wish: &Wish,
    ) -> Result<Reply, SpecError> {
        let provider = &mut self.each[call.deployment.index()];
        provider.respond_to_wish_in(at, call, wish, &mut self.pools)
    }

    /// Whether a provider has a prompt cache, and asks what prompts begin with.
    #[cfg(any(feature = "http", feature = "wiremock"))]
    pub(crate) fn remember(&self, number: u32) -> bool {
        self.each[number as usize].remembers()
    }

    /// Hears that the client of an attempt gave up before its end.
    pub fn abandon(&mut self, at: Instant, call: &ProviderCall) {
        self.each[call.deployment.index()].abandon(at, call);
    }

    /// When each provider's faults are on before `until`, in the order of deployments.
    #[must_use]
    pub fn fault_spans(&self, until: Instant) -> Vec<Vec<FaultSpan>> {
        let each = self.each.iter();
        each.map(|provider| provider.fault_spans(until)).collect()
    }
}
