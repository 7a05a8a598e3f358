//! Requests and tokens of a minute, counted over all instances, as `usage-based-routing-v2` and
//! `enforce_model_rate_limits` of LiteLLM go by them. (semantics 3.5, 8.4, 12; FACTS R2 to R4, R7)
//!
//! Both write to the store, but a choice of usage-v2 goes by what its own instance remembers:
//!
//! - of a deployment that it has no count of in this minute it reads the store's, at most once in ten
//!   seconds, and from then on adds only its own;
//! - its reservations go to the store ten times a second, and bring the store's count of requests back.
//!
//! So in a burst each instance lets the whole limit through, and otherwise somewhat more than the limit
//! passes. Enforcement counts its requests at the store, at once, and in 1.110 its tokens too.
//! `corrected` does not use this: all instances reserve in the store itself (`admission`).

use std::time::Duration;

use crate::{
    rate_limits::{Counts, RateLimits},
    request::DeploymentId,
    time::Instant,
    window::MinuteCount,
};

/// The store's counts, by deployment.
#[derive(Debug)]
pub(crate) struct SharedCounts {
    /// The instance that it is lent to.
    pub(crate) lent_to: usize,
    by: Vec<Shared>,
}

/// The store's counts of one deployment.
#[derive(Clone, Debug, Default)]
struct Shared {
    requests: MinuteCount,
    tokens: MinuteCount,
    /// In which tenth of a second, and which minute, the reservations under way were made.
    tick: u64,
    minute: u64,
    under_way: u64,
    /// By instance.
    batches: Vec<Batch>,
}

/// The reservations of one instance.
#[derive(Clone, Debug, Default)]
struct Batch {
    /// On their way to the store, which counts them for this long.
    reserved: u64,
    ttl: Duration,
    /// What the last batch brought back, until its instance takes note of it.
    brought: Option<u64>,
}

/// When an instance may read a deployment's counts again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountLooks {
    minute: u64,
    requests_due: Instant,
    tokens_due: Instant,
}

impl SharedCounts {
    pub(crate) fn new(deployments: usize) -> Self {
        Self {
            lent_to: 0,
            by: vec![Shared::default(); deployments],
        }
    }

    /// The requests of all instances, with one more of this one.
    pub(crate) fn add_request(
        &mut self,
        now: Instant,
        minute: u64,
        deployment: DeploymentId,
        ttl: Duration,
    ) -> u64 {
        let requests = &mut self.by[deployment.index()].requests;
        requests.add(now, minute, ttl, 1)
    }

    /// Takes back the request that was added last.
    pub(crate) fn take_request_back(&mut self, deployment: DeploymentId) {
        self.by[deployment.index()].requests.take_back();
    }

    /// The tokens of all instances. `None`: none were counted.
    pub(crate) fn tokens(
        &self,
        now: Instant,
        minute: u64,
        deployment: DeploymentId,
    ) -> Option<u64> {
        self.by[deployment.index()].tokens.at(now, minute)
    }

    pub(crate) fn add_tokens(
        &mut self,
        now: Instant,
        minute: u64,
        deployment: DeploymentId,
        ttl: Duration,
        tokens: u64,
    ) {
        let counted = &mut self.by[deployment.index()].tokens;
        counted.add(now, minute, ttl, tokens);
    }

    /// A reservation of this instance, which goes to the store with the next batch.
    pub(crate) fn reserve(&mut self, deployment: DeploymentId, ttl: Duration) {
        let shared = &mut self.by[deployment.index()];
        let batch = shared.batch(self.lent_to);
        batch.reserved += 1;
        batch.ttl = ttl;
        shared.under_way += 1;
    }

    /// Takes note of what the last batch of this instance brought back. Must be called before a
    /// reservation of the same moment.
    pub(crate) fn bring_back(
        &mut self,
        now: Instant,
        minute: u64,
        deployment: DeploymentId,
        own: &mut MinuteCount,
    ) {
        let shared = &mut self.by[deployment.index()];
        shared.arrive(now, minute);
        let batch = shared.batch(self.lent_to);
        if let Some(all) = batch.brought.take() {
            own.raise(now, minute, all + batch.reserved);
        }
    }
}

impl Shared {
    fn batch(&mut self, instance: usize) -> &mut Batch {
        if instance >= self.batches.len() {
            self.batches.resize_with(instance + 1, Batch::default);
        }
        &mut self.batches[instance]
    }

    /// Lets the batches arrive that were due by now. What was reserved in another minute counts there.
    fn arrive(&mut self, now: Instant, minute: u64) {
        let tick = now.as_nanos() / BATCH_NS;
        if tick == self.tick && minute == self.minute {
            return;
        }
        let same_minute = minute == self.minute;
        (self.tick, self.minute) = (tick, minute);
        if !same_minute {
            self.batches.fill(Batch::default());
            self.under_way = 0;
            return;
        }
        if std::mem::take(&mut self.under_way) == 0 {
            return;
        }
        let came = self.batches.iter().filter(|batch| batch.reserved > 0);
        for batch in came {
            self.requests.add(now, minute, batch.ttl, batch.reserved);
        }
        let all = self.requests.at(now, minute);
        for batch in &mut self.batches {
            if std::mem::take(&mut batch.reserved) > 0 {
                batch.brought = all;
            }
        }
    }
}

impl CountLooks {
    fn in_minute(&mut self, minute: u64) -> &mut Self {
        if self.minute != minute {
            *self = Self {
                minute,
                ..Self::default()
            };
        }
        self
    }
}

impl RateLimits {
    /// Before a choice among these: takes note of what the store holds of those that this instance
    /// knows nothing of.
    pub(crate) fn learn(&mut self, now: Instant, members: &[DeploymentId]) {
        let Some(shared) = &mut self.shared else {
            return;
        };
        let minute = self.epoch.minute(now);
        self.looks
            .resize_with(self.counts.len(), CountLooks::default);
        for &deployment in members {
            let Some(own) = self.counts.get_mut(deployment.index()) else {
                continue;
            };
            let Counts {
                requests, tokens, ..
            } = own;
            shared.bring_back(now, minute, deployment, requests);
            let looks = self.looks[deployment.index()].in_minute(minute);
            let there = &shared.by[deployment.index()];
            read(
                now,
                minute,
                requests,
                &there.requests,
                &mut looks.requests_due,
            );
            read(now, minute, tokens, &there.tokens, &mut looks.tokens_due);
        }
    }
}

/// Reads a count that the instance has none of itself.
fn read(now: Instant, minute: u64, own: &mut MinuteCount, there: &MinuteCount, due: &mut Instant) {
    if own.at(now, minute).is_some() || now < *due {
        return;
    }
    *due = now + LOOK_EVERY;
    if let Some(count) = there.at(now, minute) {
        own.add(now, minute, KEPT, count);
    }
}

/// How often reservations go to the store. (semantics 0)
const BATCH_NS: u64 = 100_000_000;
/// How long a count that was not found is taken to be missing. (semantics 0)
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// How long a count that was read is kept. (semantics 0.1)
const KEPT: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::RouterConfig, outcome::Usage, rate_limits::ThisMinute, strategy::UsageArgs,
    };

    const A: DeploymentId = DeploymentId(0);

    /// Two instances that reserve by usage-v2, and what they share.
    struct Case {
        config: RouterConfig,
        shared: Option<Box<SharedCounts>>,
        instances: [RateLimits; 2],
        now: Instant,
    }

    impl Case {
        fn new() -> Self {
            let config = RouterConfig::of_deployments(["a"]);
            let limits = || RateLimits::new(&config, Some(UsageArgs::default()));
            Self {
                shared: Some(Box::new(SharedCounts::new(1))),
                instances: [limits(), limits()],
                config: config.clone(),
                now: Instant::ZERO,
            }
        }

        fn at(&mut self, seconds: f64) -> &mut Self {
            self.now = Instant::from_secs_f64(seconds);
            self
        }

        fn lend<T>(&mut self, to: usize, input: impl FnOnce(&mut RateLimits, Instant) -> T) -> T {
            let limits = &mut self.instances[to];
            self.shared.as_mut().unwrap().lent_to = to;
            std::mem::swap(&mut self.shared, &mut limits.shared);
            let given = input(limits, self.now);
            std::mem::swap(&mut self.shared, &mut limits.shared);
            given
        }

        fn call(&mut self, instance: usize) {
            let config = self.config.deployments[0].clone();
            let passed = self.lend(instance, |limits, now| limits.before_call(now, A, &config));
            assert_eq!(passed, Ok(()));
        }

        /// What a choice of the instance goes by: requests, then tokens.
        fn sees(&mut self, instance: usize) -> (Option<u64>, Option<u64>) {
            let ThisMinute { requests, tokens } = self.lend(instance, |limits, now| {
                limits.learn(now, &[A]);
                limits.this_minute(now, A)
            });
            (requests, tokens)
        }
    }

    #[test]
    fn reservations_reach_others_a_tenth_of_a_second_later_and_bring_the_sum_back() {
        let mut case = Case::new();
        case.call(0);
        case.call(0);
        case.at(0.01).call(1);

        assert_eq!(case.at(0.05).sees(0).0, Some(2));
        assert_eq!(case.sees(1).0, Some(1));
        assert_eq!(case.at(0.1).sees(0).0, Some(3));
        assert_eq!(case.sees(1).0, Some(3));
        // A view is renewed by own reservations only.
        case.at(0.2).call(1);
        assert_eq!(case.at(0.5).sees(0).0, Some(3));
        assert_eq!(case.sees(1).0, Some(4));
    }

    #[test]
    fn a_count_that_was_not_found_is_not_looked_for_again_for_ten_seconds() {
        let mut case = Case::new();
        assert_eq!(case.sees(1), (None, None));
        case.at(0.5).call(0);
        case.lend(0, |limits, now| limits.answered(now, A, Usage::new(10, 5)));

        assert_eq!(case.at(9.9).sees(1), (None, None));
        assert_eq!(case.at(10.0).sees(1), (Some(1), Some(15)));
    }

    #[test]
    fn once_read_only_own_tokens_are_added() {
        let mut case = Case::new();
        let answer = |limits: &mut RateLimits, now| limits.answered(now, A, Usage::new(10, 5));
        case.lend(0, answer);
        assert_eq!(case.at(1.0).sees(1).1, Some(15));

        case.at(2.0).lend(0, answer);
        assert_eq!(case.at(30.0).sees(1).1, Some(15));
        case.lend(1, answer);
        assert_eq!(case.sees(1).1, Some(30));
    }

    #[test]
    fn what_was_reserved_in_one_minute_does_not_count_in_the_next() {
        let mut case = Case::new();
        case.at(59.95).call(0);

        assert_eq!(case.at(60.05).sees(0).0, None);
        assert_eq!(case.at(60.2).sees(1).0, None);
        case.call(0);
        assert_eq!(case.at(60.4).sees(0).0, Some(1));
    }
}
