//! The providers of a plan: one for each deployment, with the quotas that some of them share.

use std::collections::{BTreeMap, btree_map::Entry};

use router::{Epoch, Instant, Seed};

use crate::{
    error::SpecError,
    provider::{FaultSpan, Provider},
    quota::{Quota, QuotaSpec},
    reply::{ProviderCall, Reply},
    spec::ProviderSpec,
    wire::WireReply,
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
        };
        let mut named = BTreeMap::<String, (usize, QuotaSpec)>::new();
        for (number, spec) in specs.into_iter().enumerate() {
            let place = |error| (number, error);
            let mut provider = Provider::new(spec, seed, number as u64, epoch).map_err(place)?;
            let quota = spec.resolve().map_err(place)?.quota.unwrap_or_default();
            if let Some(pool) = quota.pool.clone() {
                let joined = match named.entry(pool) {
                    Entry::Vacant(vacant) => vacant.insert((providers.pools.len(), quota)).0,
                    Entry::Occupied(known) if known.get().1 == quota => known.get().0,
                    Entry::Occupied(known) => {
                        let pool = known.key().clone();
                        return Err((number, SpecError::PoolOfTwo { pool }));
                    }
                };
                let own = provider.join_pool(joined);
                if joined == providers.pools.len() {
                    providers.pools.extend(own);
                }
            }
            providers.each.push(provider);
        }
        Ok(providers)
    }

    /// What this attempt gets from its deployment's provider. Calls come in the order of `at`.
    #[inline]
    pub fn respond(&mut self, at: Instant, call: &ProviderCall) -> Reply {
        self.each[call.deployment.index()].respond_in(at, call, &mut self.pools)
    }

    /// What `reply` looks like on the wire: asked right after [`respond`](Self::respond) gave it.
    #[must_use]
    pub fn on_wire(&mut self, at: Instant, call: &ProviderCall, reply: &Reply) -> WireReply {
        self.each[call.deployment.index()].on_wire_in(at, call, reply, &mut self.pools)
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
