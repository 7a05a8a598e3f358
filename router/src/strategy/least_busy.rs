//! `least-busy`: the fewest attempts in flight. (semantics 3.2)
//!
//! What LiteLLM counts is not quite what is in flight. A success is taken off by a background
//! worker, after whatever happens in the same instant, so a caller that sends one request after
//! another alternates between two idle deployments. 1.92 also adds an attempt only once it is on
//! its way, so requests of the same instant all see the same counts, and it forgets a group's
//! counts every ten minutes. `corrected` goes by what the router has in flight, and counts nothing
//! by itself (BR-044).
//!
//! Where instances share a store, 1.110 adds to the store's counts and goes by the greater of these and
//! its own. 1.92 reads the store's dictionary where it has none of its own, and replaces it with its
//! own at each change. `corrected` goes by what all instances have in flight. (semantics 12, FACTS R5)

use std::{collections::VecDeque, mem, time::Duration};

use super::{Candidates, PickContext, RoutingStrategy, Sent};
use crate::{
    dictionary::Dictionary,
    outcome::{Outcome, Reached},
    request::DeploymentId,
    rng::KeyedRng,
    rules::LeastBusyRules,
    shared_state::SharedStore,
    time::Instant,
};

/// The strategy for these rules.
pub(super) fn build(rules: LeastBusyRules) -> Box<dyn RoutingStrategy> {
    match rules {
        LeastBusyRules::InFlight => Box::new(LeastInFlight),
        LeastBusyRules::PerCandidate => Box::new(LeastBusy::new(false)),
        LeastBusyRules::SharedDictionary => Box::new(LeastBusy::new(true)),
    }
}

/// `least-busy` of `corrected`: by what is in flight, equals by chance.
#[derive(Debug)]
struct LeastInFlight;

impl RoutingStrategy for LeastInFlight {
    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        let members = candidates.members;
        let least = members.iter().map(|&d| cx.in_flight(d)).min()?;
        let equals = || members.iter().filter(|&&d| cx.in_flight(d) == least);
        equals().nth(rng.below(equals().count())).copied()
    }
}

/// `least-busy` of LiteLLM.
#[derive(Debug)]
struct LeastBusy {
    /// 1.92's rules: one dictionary for a group.
    one_dictionary: bool,
    /// Which instance's counts are its own.
    me: usize,
    /// Whether the books are the store's.
    lent: bool,
    books: Box<Books>,
}

/// What is counted, by one instance or by all that share a store.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// By instance and group.
    own: Vec<Vec<Counts>>,
    /// The store's, by group, if there is a store.
    store: Option<Vec<Counts>>,
    /// Changes that are seen only after this instant.
    late: VecDeque<Change>,
}

/// The counts of one group.
#[derive(Clone, Debug, Default)]
struct Counts {
    counts: Dictionary<i32>,
    /// When the dictionary is forgotten.
    expires: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    at: Instant,
    instance: usize,
    group: usize,
    deployment: DeploymentId,
    by: i32,
}

impl LeastBusy {
    fn new(one_dictionary: bool) -> Self {
        Self {
            one_dictionary,
            me: 0,
            lent: false,
            books: Box::default(),
        }
    }

    fn ttl(&self) -> Duration {
        match self.one_dictionary {
            false => Duration::from_secs(3_600),
            true => Duration::from_secs(600),
        }
    }

    /// A change that this instance makes.
    fn change(&self, at: Instant, sent: &Sent<'_>, by: i32) -> Change {
        Change {
            at,
            instance: self.me,
            group: sent.group.index(),
            deployment: sent.deployment,
            by,
        }
    }

    fn settle(&mut self, now: Instant) {
        while let Some(&change) = self.books.late.front()
            && change.at < now
        {
            self.books.late.pop_front();
            self.apply(change);
        }
    }

    fn apply(&mut self, change: Change) {
        let ttl = self.ttl();
        let floor = match self.one_dictionary {
            false => 0,
            true => i32::MIN,
        };
        let (own, store) = self.books.group(change.instance, change.group);
        if let Some(store) = &store
            && self.one_dictionary
        {
            own.learn(store, change.at);
        }
        own.add(&change, ttl, floor);
        match store {
            Some(store) if self.one_dictionary => {
                store.clone_from(own);
                store.expires = change.at + STORE_TTL;
            }
            Some(store) => store.add(&change, ttl, floor),
            None => {}
        }
    }
}

impl Books {
    /// Of instances that share a store.
    pub(crate) fn shared() -> Self {
        Self {
            store: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// The counts of a group: an instance's own, and the store's.
    fn group(&mut self, instance: usize, group: usize) -> (&mut Counts, Option<&mut Counts>) {
        if instance >= self.own.len() {
            self.own.resize_with(instance + 1, Vec::new);
        }
        let own = entry(&mut self.own[instance], group);
        (own, self.store.as_mut().map(|store| entry(store, group)))
    }
}

fn entry(groups: &mut Vec<Counts>, group: usize) -> &mut Counts {
    if group >= groups.len() {
        groups.resize_with(group + 1, Counts::default);
    }
    &mut groups[group]
}

impl Counts {
    fn add(&mut self, change: &Change, ttl: Duration, floor: i32) {
        self.forget_if_expired(change.at, ttl);
        let count = self.counts.entry(change.deployment);
        *count = count.saturating_add(change.by).max(floor);
    }

    /// Takes the store's, if there are none here.
    fn learn(&mut self, store: &Self, now: Instant) {
        if now >= self.expires && now < store.expires {
            self.counts.clone_from(&store.counts);
            self.expires = now + KEPT;
        }
    }

    fn forget_if_expired(&mut self, now: Instant, ttl: Duration) {
        if now >= self.expires {
            self.counts.clear();
            self.expires = now + ttl;
        }
    }

    fn count(&self, deployment: DeploymentId) -> i32 {
        self.counts.get(deployment).unwrap_or(0)
    }
}

impl RoutingStrategy for LeastBusy {
    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        self.settle(cx.now);
        let one_dictionary = self.one_dictionary;
        let (counts, store) = self.books.group(self.me, cx.group.index());
        if let Some(store) = &store
            && one_dictionary
        {
            counts.learn(store, cx.now);
        }
        let exists = cx.now < counts.expires;
        match one_dictionary {
            false => {
                let shared = store.as_deref().filter(|store| cx.now < store.expires);
                let count = |d: &DeploymentId| {
                    let own = if exists { counts.count(*d) } else { 0 };
                    shared.map_or(own, |store| own.max(store.count(*d)))
                };
                candidates.members.iter().min_by_key(|d| count(d)).copied()
            }
            true if !exists => candidates.members.first().copied(),
            true => {
                for &deployment in candidates.members {
                    counts.counts.entry(deployment);
                }
                let (least, _) = counts.counts.iter().min_by_key(|(_, count)| *count)?;
                if candidates.members.contains(&least) {
                    return Some(least);
                }
                candidates
                    .members
                    .get(rng.below(candidates.members.len()))
                    .copied()
            }
        }
    }

    fn on_sent(&mut self, now: Instant, sent: &Sent<'_>) {
        let change = self.change(now, sent, 1);
        match self.one_dictionary {
            false => self.apply(change),
            true => self.books.late.push_back(change),
        }
    }

    fn on_finished(&mut self, now: Instant, sent: &Sent<'_>, _took: Duration, outcome: &Outcome) {
        self.settle(now);
        let change = self.change(now, sent, -1);
        match outcome {
            Outcome::Success { .. } => self.books.late.push_back(change),
            // The end of a stream that broke is heard of after the next choice.
            Outcome::Failure(failure)
                if self.one_dictionary && failure.reached() != Reached::Nothing =>
            {
                self.books.late.push_back(change);
            }
            Outcome::Failure(_) => {
                // Whatever this instant added comes first, or the count would go below zero.
                while let Some(earlier) = self.books.late.pop_front() {
                    self.apply(earlier);
                }
                self.apply(change);
            }
        }
    }

    /// 1.92 takes off what was never added, so that each hit leaves one less (quirk Q12).
    fn on_cached(&mut self, now: Instant, sent: &Sent<'_>, outcome: &Outcome) {
        if self.one_dictionary {
            self.on_finished(now, sent, Duration::ZERO, outcome);
        }
    }

    fn on_abandoned(&mut self, now: Instant, sent: &Sent<'_>) {
        // 1.92 never hears of an abandoned attempt and keeps counting it.
        if !self.one_dictionary {
            self.apply(self.change(now, sent, -1));
        }
    }

    fn change_places(&mut self, store: &mut SharedStore) {
        let lends = store.lent_to();
        if lends.is_some() != self.lent {
            mem::swap(&mut self.books, &mut store.busy);
            self.lent = lends.is_some();
            self.me = lends.unwrap_or(0);
        }
    }
}

/// How long the store keeps a dictionary of 1.92 after each change. (observed)
const STORE_TTL: Duration = Duration::from_secs(60);
/// How long 1.92 keeps a dictionary that it read. (semantics 0.1)
const KEPT: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        StrategySpec,
        profile::Profile,
        strategy::tests::{Fixture, deployments},
    };

    fn fixture(profile: Profile) -> Fixture {
        Fixture::new(StrategySpec::LeastBusy, deployments(3), profile)
    }

    #[test]
    fn attempts_that_overlap_spread_over_the_group() {
        for profile in [Profile::litellm_1_92(), Profile::litellm_1_110()] {
            let mut fixture = fixture(profile);
            let mut picks = Vec::new();
            for request in 0..6 {
                fixture.at(f64::from(request) * 0.04);
                let picked = fixture
                    .pick(u64::from(request as u32), &[0, 1, 2], true)
                    .unwrap();
                fixture.sent(picked);
                picks.push(picked.0);
            }

            assert_eq!(picks, [0, 1, 2, 0, 1, 2]);
        }
    }

    #[test]
    fn requests_of_one_instant_spread_in_1_110_and_pile_up_in_1_92() {
        let picks = |profile| {
            let mut fixture = fixture(profile);
            let pick = |request| {
                let picked = fixture.pick(request, &[0, 1, 2], true).unwrap();
                fixture.sent(picked);
                picked.0
            };
            (0..3).map(pick).collect::<Vec<_>>()
        };

        assert_eq!(picks(Profile::litellm_1_110()), [0, 1, 2]);
        assert_eq!(picks(Profile::litellm_1_92()), [0, 0, 0]);
    }

    #[test]
    fn a_caller_without_pause_alternates_between_two_idle_deployments() {
        for profile in [Profile::litellm_1_92(), Profile::litellm_1_110()] {
            let mut fixture = fixture(profile);
            let mut picks = Vec::new();
            for request in 0..6_u32 {
                fixture.at(f64::from(request) * 0.003);
                let picked = fixture.pick(u64::from(request), &[0, 1, 2], true).unwrap();
                fixture.sent(picked);
                fixture.at(f64::from(request + 1) * 0.003);
                fixture.succeeded(picked, 0.003);
                picks.push(picked.0);
            }

            assert_eq!(picks, [0, 1, 0, 1, 0, 1]);
        }
    }

    #[test]
    fn with_the_least_busy_one_cooled_1_110_takes_the_next_least() {
        let mut fixture = fixture(Profile::litellm_1_110());
        fixture.sent(DeploymentId(1));
        fixture.at(1.0);

        assert_eq!(fixture.pick(0, &[1, 2], false), Some(DeploymentId(2)));
    }
}
