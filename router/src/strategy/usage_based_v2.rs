//! `usage-based-routing-v2`: the fewest tokens answered in this UTC minute. (semantics 3.5)
//!
//! It is picked from the router's own counts, which the reservation before the call fills: see
//! `rate_limits`. Requests that are reserved count at once and tokens only when they are answered.
//! A limit of N requests a minute lets N-1 pass one after another, and one where N is 1. `corrected`
//! chooses by what it admits: see `admission`.

use super::{Candidates, PickContext, RoutingStrategy};
use crate::{request::DeploymentId, rng::KeyedRng};

/// `usage-based-routing-v2`.
#[derive(Debug, Default)]
pub(super) struct UsageBasedV2 {
    /// Scratch: the candidates with the fewest tokens.
    lowest: Vec<DeploymentId>,
}

impl UsageBasedV2 {
    /// Keeps a candidate if none has fewer tokens.
    fn compare(&mut self, tokens: u64, least: &mut u64, deployment: DeploymentId) {
        if tokens < *least {
            self.lowest.clear();
            *least = tokens;
        }
        if tokens == *least {
            self.lowest.push(deployment);
        }
    }
}

impl RoutingStrategy for UsageBasedV2 {
    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        self.lowest.clear();
        let mut least = u64::MAX;
        for &deployment in candidates.members {
            let config = cx.config(deployment);
            if let Some(admission) = &cx.limits.admission {
                if admission.fits(cx.now, deployment, config, cx.request) {
                    self.compare(admission.tokens(cx.now, deployment), &mut least, deployment);
                }
                continue;
            }
            let counted = cx.limits.this_minute(cx.now, deployment);
            let tokens = counted.tokens.unwrap_or(0);
            let with_prompt = tokens + u64::from(cx.request.prompt_tokens);
            let over_tpm = config.tpm_limit().is_some_and(|limit| with_prompt > limit);
            let over_rpm = match (counted.requests, config.rpm_limit()) {
                (Some(requests), Some(limit)) => requests + 1 >= limit,
                (None, _) | (_, None) => false,
            };
            if !over_tpm && !over_rpm {
                self.compare(tokens, &mut least, deployment);
            }
        }
        match self.lowest.len() {
            0 => None,
            n => Some(self.lowest[rng.below(n)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        StrategySpec, Usage,
        profile::Profile,
        strategy::{
            UsageArgs,
            tests::{Fixture, deployments},
        },
    };

    const A: DeploymentId = DeploymentId(0);
    const B: DeploymentId = DeploymentId(1);

    fn fixture(n: usize, rpm: Option<u64>, tpm: Option<u64>) -> Fixture {
        let mut configs = deployments(n);
        for config in &mut configs {
            (config.rpm, config.tpm) = (rpm, tpm);
        }
        let spec = StrategySpec::UsageBasedV2(UsageArgs::default());
        Fixture::new(spec, configs, Profile::default())
    }

    #[test]
    fn the_one_with_the_fewest_tokens_is_picked() {
        let mut fixture = fixture(2, None, None);
        fixture.answered(A, Usage::new(10, 5));
        assert!((0..50).all(|r| fixture.pick(r, &[0, 1], true) == Some(B)));

        fixture.answered(B, Usage::new(10, 6));
        assert!((0..50).all(|r| fixture.pick(r, &[0, 1], true) == Some(A)));
    }

    #[test]
    fn equals_are_drawn_among() {
        let mut fixture = fixture(2, None, None);
        let picks = (0..1_000).filter(|&r| fixture.pick(r, &[0, 1], true) == Some(A));

        assert!((430..570).contains(&picks.count()));
    }

    #[test]
    fn a_limit_of_n_requests_a_minute_lets_one_less_be_picked_but_at_least_one() {
        for (limit, expected) in [(1, 1), (2, 1), (3, 2), (4, 3)] {
            let mut fixture = fixture(1, Some(limit), None);
            let mut picked = 0;
            while fixture.pick(0, &[0], true).is_some() {
                assert!(fixture.reserved(A));
                picked += 1;
                fixture.at(f64::from(picked));
            }
            assert_eq!(picked, expected, "limit {limit}");
        }
    }

    #[test]
    fn tokens_answered_and_asked_must_fit_into_the_tpm() {
        let mut fixture = fixture(1, None, Some(25));
        assert_eq!(fixture.pick(0, &[0], true), Some(A));
        fixture.answered(A, Usage::new(10, 5));
        assert_eq!(fixture.pick(0, &[0], true), Some(A));
        fixture.answered(A, Usage::new(1, 0));
        assert_eq!(fixture.pick(0, &[0], true), None);

        fixture.at(60.0);
        assert_eq!(fixture.pick(0, &[0], true), Some(A));
    }
}
