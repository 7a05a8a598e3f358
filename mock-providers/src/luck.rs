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

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: Purpose = Purpose::named("test.luck");

    fn luck(request: u64, attempt: u16, deployment: u32) -> Luck {
        Luck::new(
            Seed(1),
            RequestId(request),
            attempt,
            DeploymentId(deployment),
        )
    }

    fn first(luck: Luck) -> u64 {
        luck.draws(TEST).unit().to_bits()
    }

    #[test]
    fn each_request_attempt_and_deployment_has_its_own_luck() {
        let base = first(luck(5, 0, 0));

        assert_eq!(base, first(luck(5, 0, 0)));
        for other in [luck(6, 0, 0), luck(5, 1, 0), luck(5, 0, 1)] {
            assert_ne!(base, first(other));
        }
    }

    #[test]
    fn what_belongs_to_the_request_is_the_same_for_every_attempt_anywhere() {
        let of_request = |luck: Luck| luck.draws_of_request(TEST).unit().to_bits();

        assert_eq!(of_request(luck(5, 0, 0)), of_request(luck(5, 3, 7)));
        assert_ne!(of_request(luck(5, 0, 0)), of_request(luck(6, 0, 0)));
    }

    #[test]
    fn two_faults_of_a_kind_do_not_strike_the_same_requests() {
        let both = (0..10_000_u64).filter(|&request| {
            let struck = |ordinal| luck(request, 0, 0).with_fault(ordinal).draws(TEST).unit() < 0.5;
            struck(0) && struck(1)
        });

        // A quarter of 10,000, within four standard errors of 43.
        assert!(both.count().abs_diff(2_500) < 173);
    }
}
