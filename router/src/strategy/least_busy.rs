//! `least-busy`: the fewest attempts in flight. (semantics 3.2)
//!
//! What LiteLLM counts is not quite what is in flight. A success is taken off by a background
//! worker, after whatever happens in the same instant, so a caller that sends one request after
//! another alternates between two idle deployments. 1.92 also adds an attempt only once it is on
//! its way, so requests of the same instant all see the same counts, and it forgets a group's
//! counts every ten minutes. `corrected` goes by what the router has in flight, and counts nothing
//! by itself (BR-044).

use std::{collections::VecDeque, time::Duration};

use super::{Candidates, PickContext, RoutingStrategy, Sent};
use crate::{
    dictionary::Dictionary, outcome::Outcome, request::DeploymentId, rng::KeyedRng,
    rules::LeastBusyRules, time::Instant,
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
    /// By group.
    groups: Vec<Counts>,
    /// Changes that are seen only after this instant.
    late: VecDeque<Change>,
}

/// The counts of one group.
#[derive(Debug, Default)]
struct Counts {
    counts: Dictionary<i32>,
    /// When the dictionary is forgotten.
    expires: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    at: Instant,
    group: usize,
    deployment: DeploymentId,
    by: i32,
}

impl LeastBusy {
    fn new(one_dictionary: bool) -> Self {
        Self {
            one_dictionary,
            groups: Vec::new(),
            late: VecDeque::new(),
        }
    }

    fn ttl(&self) -> Duration {
        match self.one_dictionary {
            false => Duration::from_secs(3_600),
            true => Duration::from_secs(600),
        }
    }

    fn group(&mut self, group: usize) -> &mut Counts {
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, Counts::default);
        }
        &mut self.groups[group]
    }

    fn settle(&mut self, now: Instant) {
        while let Some(&change) = self.late.front()
            && change.at < now
        {
            self.late.pop_front();
            self.apply(change);
        }
    }

    fn apply(&mut self, change: Change) {
        let ttl = self.ttl();
        let floor = match self.one_dictionary {
            false => 0,
            true => i32::MIN,
        };
        let counts = self.group(change.group);
        counts.forget_if_expired(change.at, ttl);
        let count = counts.counts.entry(change.deployment);
        *count = count.saturating_add(change.by).max(floor);
    }
}

impl Counts {
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
        let counts = self.group(cx.group.index());
        let exists = cx.now < counts.expires;
        match one_dictionary {
            false => {
                let count = |d: &DeploymentId| if exists { counts.count(*d) } else { 0 };
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
        let change = Change {
            at: now,
            group: sent.group.index(),
            deployment: sent.deployment,
            by: 1,
        };
        match self.one_dictionary {
            false => self.apply(change),
            true => self.late.push_back(change),
        }
    }

    fn on_finished(&mut self, now: Instant, sent: &Sent<'_>, _took: Duration, outcome: &Outcome) {
        self.settle(now);
        let change = Change {
            at: now,
            group: sent.group.index(),
            deployment: sent.deployment,
            by: -1,
        };
        match outcome {
            Outcome::Success { .. } => self.late.push_back(change),
            Outcome::Failure(_) => {
                // Whatever this instant added comes first, or the count would go below zero.
                while let Some(earlier) = self.late.pop_front() {
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
            let change = Change {
                at: now,
                group: sent.group.index(),
                deployment: sent.deployment,
                by: -1,
            };
            self.apply(change);
        }
    }
}

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
