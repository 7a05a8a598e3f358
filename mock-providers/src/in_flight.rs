//! Attempts that a provider is answering, each until its end or until its client gives up. Kept only
//! where a load curve asks for it.

use std::collections::{BTreeMap, BTreeSet};

use router::{DeploymentId, Instant, RequestId};

use crate::reply::ProviderCall;

type Key = (RequestId, u16, DeploymentId);

/// The attempts under way, by their end and by their key.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight {
    ends: BTreeSet<(Instant, Key)>,
    by_key: BTreeMap<Key, Instant>,
}

impl InFlight {
    /// How many are under way at `at`, which never runs back.
    #[inline(never)]
    pub(crate) fn count(&mut self, at: Instant) -> usize {
        while let Some(&(end, key)) = self.ends.first()
            && end <= at
        {
            self.ends.pop_first();
            self.by_key.remove(&key);
        }
        self.ends.len()
    }

    /// One more, until `end`.
    #[inline(never)]
    pub(crate) fn add(&mut self, call: &ProviderCall, end: Instant) {
        let key = key(call);
        if let Some(before) = self.by_key.insert(key, end) {
            self.ends.remove(&(before, key));
        }
        self.ends.insert((end, key));
    }

    /// Its client gave up.
    pub(crate) fn abandon(&mut self, call: &ProviderCall) {
        let key = key(call);
        if let Some(end) = self.by_key.remove(&key) {
            self.ends.remove(&(end, key));
        }
    }
}

const fn key(call: &ProviderCall) -> Key {
    (call.request, call.attempt, call.deployment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_under_way_until_they_end_or_are_given_up() {
        let call = |request| ProviderCall {
            request: RequestId(request),
            attempt: 0,
            deployment: DeploymentId(0),
            prompt_tokens: 1,
            output_tokens: 1,
            max_tokens: None,
            stream: false,
            beginning: crate::prompt_cache::Beginning::default(),
            batch: false,
        };
        let at = Instant::from_secs_f64;
        let mut under_way = InFlight::default();
        for request in 0..3 {
            under_way.add(&call(request), at(10.0));
        }
        under_way.add(&call(3), Instant::NEVER);

        assert_eq!(under_way.count(at(9.9)), 4);
        under_way.abandon(&call(1));
        assert_eq!(under_way.count(at(9.9)), 3);
        assert_eq!(under_way.count(at(10.0)), 1);
        under_way.abandon(&call(3));
        under_way.abandon(&call(3));
        assert_eq!(under_way.count(at(10.0)), 0);
    }
}
