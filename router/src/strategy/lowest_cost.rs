//! `cost-based-routing`: the lowest price of an input and an output token together. (semantics 3.6)
//!
//! A price that is not known counts as 5 dollars a token, so deployments whose names carry the
//! provider's prefix mostly tie, and the first of them gets everything within its limits.

use std::time::Duration;

use super::{Candidates, PickContext, RoutingStrategy, Sent};
use crate::{
    config::DeploymentConfig,
    dictionary::Dictionary,
    outcome::Outcome,
    profile::Profile,
    request::{Api, DeploymentId},
    rng::KeyedRng,
    time::{Epoch, Instant},
};

/// `cost-based-routing`.
#[derive(Debug)]
pub(super) struct LowestCost {
    counts_empty_answers: bool,
    epoch: Epoch,
    ttl: Duration,
    /// How often a request counts: twice if latency-based routing counts it too.
    counts: u64,
    /// By group.
    groups: Vec<Map>,
}

/// What is known of one group.
#[derive(Debug, Default)]
struct Map {
    entries: Dictionary<Entry>,
    /// When all of it is forgotten: set at the first write and never moved.
    expires: Instant,
}

/// What a deployment answered in the last minute it answered in.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    minute: u64,
    tokens: u64,
    requests: u64,
}

impl LowestCost {
    pub(super) fn new(profile: &Profile, epoch: Epoch) -> Self {
        Self {
            counts_empty_answers: profile.cost_counts_empty_answers,
            epoch,
            ttl: MAP_TTL,
            counts: 1,
            groups: Vec::new(),
        }
    }

    fn map(&mut self, group: usize) -> &mut Map {
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, Map::default);
        }
        &mut self.groups[group]
    }
}

impl Entry {
    /// Zero counts as no limit.
    fn has_room(self, cx: &PickContext<'_>, minute: u64, config: &DeploymentConfig) -> bool {
        let limit = |limit: Option<u64>| limit.filter(|&l| l > 0).unwrap_or(u64::MAX);
        let (tokens, requests) = match self.minute == minute {
            true => (self.tokens, self.requests),
            false => (0, 0),
        };
        tokens + u64::from(cx.request.prompt_tokens) <= limit(config.tpm_limit())
            && requests < limit(config.rpm_limit())
    }
}

/// Dollars for an input and an output token: the deployment's own price unless that is zero, else
/// the registry's, else 5 for each.
fn price(config: &DeploymentConfig) -> f64 {
    let own = |own: Option<f64>| own.filter(|&price| price != 0.0);
    let (own_prices, listed) = (&config.own_prices, &config.listed_prices);
    let input = own(own_prices.input).or(listed.input);
    let output = own(own_prices.output).or(listed.output);
    input.unwrap_or(UNKNOWN) + output.unwrap_or(UNKNOWN)
}

impl RoutingStrategy for LowestCost {
    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        _rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        // It has no implementation for the blocking path. (semantics 2.7)
        if cx.blocking {
            return None;
        }
        let minute = self.epoch.local_minute(cx.now);
        let map = self.map(cx.group.index());
        let mut best: Option<(f64, DeploymentId)> = None;
        let mut consider = |deployment: DeploymentId, entry: Entry| {
            let config = cx.config(deployment);
            let price = price(config);
            let cheaper = best.is_none_or(|(lowest, _)| price < lowest);
            if cheaper && entry.has_room(cx, minute, config) {
                best = Some((price, deployment));
            }
        };
        if cx.now >= map.expires {
            for &deployment in candidates.members {
                consider(deployment, Entry::default());
            }
        } else {
            for &deployment in candidates.members {
                map.entries.entry(deployment);
            }
            for (deployment, entry) in map.entries.iter() {
                if candidates.whole || candidates.members.contains(&deployment) {
                    consider(deployment, entry);
                }
            }
        }
        best.map(|(_, deployment)| deployment)
    }

    fn share_key(&mut self, ttl: Option<Duration>) {
        self.counts = if ttl.is_some() { 2 } else { 1 };
        self.ttl = ttl.unwrap_or(MAP_TTL);
    }

    fn on_finished(&mut self, now: Instant, sent: &Sent<'_>, _took: Duration, outcome: &Outcome) {
        let Outcome::Success { usage, .. } = outcome else {
            return;
        };
        // 1.92 divides by the tokens of a chat's answer, and its error is swallowed.
        let chat = sent.request.api() == Api::Chat;
        if chat && usage.completion_tokens == 0 && !self.counts_empty_answers {
            return;
        }
        let minute = self.epoch.local_minute(now);
        let (counts, ttl) = (self.counts, self.ttl);
        let map = self.map(sent.group.index());
        if now >= map.expires {
            map.entries.clear();
            map.expires = now + ttl;
        }
        let entry = map.entries.entry(sent.deployment);
        if entry.minute != minute {
            *entry = Entry {
                minute,
                ..Entry::default()
            };
        }
        entry.tokens += counts * usage.total();
        entry.requests += counts;
    }
}

/// What LiteLLM takes for a price that nobody knows, in dollars a token. (semantics 3.6)
const UNKNOWN: f64 = 5.0;
/// What the router's cache takes where no TTL is given. (semantics 0.1)
pub(super) const MAP_TTL: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        StrategySpec, Usage,
        price::Prices,
        strategy::tests::{Fixture, deployments},
    };

    const A: DeploymentId = DeploymentId(0);
    const B: DeploymentId = DeploymentId(1);

    fn prices(input: Option<f64>, output: Option<f64>) -> Prices {
        Prices {
            input,
            output,
            ..Prices::default()
        }
    }

    fn fixture(change: impl FnOnce(&mut [DeploymentConfig])) -> Fixture {
        let mut configs = deployments(2);
        change(&mut configs);
        Fixture::new(StrategySpec::LowestCost, configs, Profile::default())
    }

    #[test]
    fn the_lowest_sum_of_both_prices_wins_and_an_unknown_price_is_five_dollars() {
        let pick = |a, b| {
            let mut fixture = fixture(|d| (d[0].own_prices, d[1].own_prices) = (a, b));
            fixture.pick(0, &[0, 1], true)
        };
        let one = |price| prices(Some(price), Some(price));

        assert_eq!(pick(one(2.0), one(1.0)), Some(B));
        assert_eq!(pick(prices(Some(0.1), None), one(1.0)), Some(B));
        assert_eq!(pick(Prices::default(), one(6.0)), Some(A));
    }

    #[test]
    fn the_registry_is_asked_where_the_own_price_is_missing_or_zero() {
        let listed = prices(Some(3.0), Some(3.0));
        let pick = |own| {
            let mut fixture = fixture(|d| {
                (d[0].own_prices, d[0].listed_prices) = (own, listed.clone());
                d[1].own_prices = prices(Some(1.0), Some(1.0));
            });
            fixture.pick(0, &[0, 1], true)
        };

        assert_eq!(pick(Prices::default()), Some(B));
        assert_eq!(pick(prices(Some(0.0), Some(0.0))), Some(B));
        assert_eq!(pick(prices(Some(0.5), Some(0.5))), Some(A));
    }

    #[test]
    fn of_equals_the_one_that_answered_first_comes_first() {
        let mut fixture = fixture(|_| ());
        assert_eq!(fixture.pick(0, &[0, 1], true), Some(A));
        fixture.succeeded(B, 0.1);

        assert_eq!(fixture.pick(1, &[0, 1], true), Some(B));
    }

    #[test]
    fn a_limit_of_n_requests_a_minute_lets_n_pass_and_the_next_cheapest_follows() {
        let mut fixture = fixture(|d| {
            (d[0].own_prices, d[0].rpm) = (prices(Some(1.0), Some(1.0)), Some(2));
        });

        for expected in [A, A, B] {
            assert_eq!(fixture.pick(0, &[0, 1], true), Some(expected));
            fixture.succeeded(expected, 0.1);
        }
        fixture.at(60.0);
        assert_eq!(fixture.pick(0, &[0, 1], true), Some(A));
    }

    #[test]
    fn an_answer_without_tokens_counts_in_1_110_only() {
        for (profile, expected) in [
            (Profile::litellm_1_92(), Some(A)),
            (Profile::litellm_1_110(), None),
        ] {
            let mut configs = deployments(1);
            configs[0].rpm = Some(1);
            let mut fixture = Fixture::new(StrategySpec::LowestCost, configs, profile);
            fixture.finished(
                A,
                0.1,
                &Outcome::Success {
                    usage: Usage::new(10, 0),
                    first_token_after: None,
                },
            );

            assert_eq!(fixture.pick(0, &[0], true), expected);
        }
    }

    #[test]
    fn the_blocking_path_finds_nobody() {
        let mut fixture = fixture(|_| ());
        fixture.blocking = true;

        assert_eq!(fixture.pick(0, &[0, 1], true), None);
    }

    #[test]
    fn everything_is_forgotten_ten_minutes_after_the_first_write() {
        let mut fixture = fixture(|_| ());
        fixture.succeeded(B, 0.1);
        assert_eq!(fixture.pick(0, &[0, 1], true), Some(B));

        fixture.at(600.0);
        assert_eq!(fixture.pick(0, &[0, 1], true), Some(A));
    }
}
