//! The luck of one attempt: every draw that is made for it, keyed by what it is for.
//!
//! Two calls for the same request, attempt and deployment have the same luck whatever other
//! traffic there was, so that compared configurations meet the same provider.

use router::{DeploymentId, KeyedRng, Purpose, RequestId, Seed};

/// The source of draws for one attempt at one deployment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Luck {
    seed: Seed,
    request: RequestId,
    number: u64,
}

impl Luck {
    /// The luck of `attempt` of `request` at `deployment`.
    #[must_use]
    pub(crate) const fn new(
        seed: Seed,
        request: RequestId,
        attempt: u16,
        deployment: DeploymentId,
    ) -> Self {
        Self {
            seed,
            request,
            number: (attempt as u64) << 32 | deployment.0 as u64,
        }
    }

    /// The draws for one purpose.
    #[must_use]
    pub(crate) const fn draws(&self, purpose: Purpose) -> KeyedRng {
        KeyedRng::new(self.seed, purpose, self.request.0, self.number)
    }

    /// The draws that every attempt of the request shares, wherever it goes.
    #[must_use]
    pub(crate) const fn draws_of_request(&self, purpose: Purpose) -> KeyedRng {
        KeyedRng::new(self.seed, purpose, self.request.0, u64::MAX)
    }

    /// The same attempt's luck with the `ordinal`-th fault of one kind, so that two faults of a
    /// kind do not strike the same requests.
    #[must_use]
    pub(crate) const fn with_fault(mut self, ordinal: u32) -> Self {
        if ordinal > 0 {
            self.seed = self.seed.replication(ordinal);
        }
        self
    }
}
