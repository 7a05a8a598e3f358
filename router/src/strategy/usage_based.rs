//! `usage-based-routing`: the fewest tokens answered in this minute. (semantics 3.4)
//!
//! It knows only what was answered: nothing limits a burst, and a deployment that always fails
//! keeps its zero and is picked for ever. A limit of N requests a minute lets N-1 pass, and one
//! where N is 1.
//!
//! Where instances share a store, each reads the store's minute of a group once, when it has none of its
//! own, and replaces it with its own at each answer: what others answer meanwhile it does not see, and
//! takes away. (semantics 12, FACTS R2)

use std::time::Duration;

use super::{Candidates, PickContext, RoutingStrategy, Sent, StrategySpec, UsageArgs};
use crate::{
    dictionary::Dictionary,
    outcome::Outcome,
    request::DeploymentId,
    rng::KeyedRng,
    shared_state::{SharedStore, hand_over},
    time::{Epoch, Instant},
};

/// `usage-based-routing`.
#[derive(Debug)]
pub(super) struct UsageBased {
    ttl: Duration,
    epoch: Epoch,
    /// By group.
    groups: Vec<Minute>,
    /// The store's, while it is lent.
    shared: Option<Box<Minutes>>,
}

/// What the store holds, by group.
#[derive(Debug, Default)]
pub(crate) struct Minutes {
    groups: Vec<Minute>,
}

/// What a group answered in one minute.
#[derive(Clone, Debug, Default)]
struct Minute {
    number: u64,
    /// When it is forgotten: a ttl after its first write.
    expires: Instant,
    counts: Dictionary<Answered>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Answered {
    tokens: u64,
    /// `None`: there only because a pick looked at it.
    requests: Option<u64>,
}

impl UsageBased {
    pub(super) fn new(args: UsageArgs, epoch: Epoch) -> Self {
        Self {
            ttl: args.ttl,
            epoch,
            groups: Vec::new(),
            shared: None,
        }
    }

    /// The minute of a group, read from the store where there is none here.
    fn group(&mut self, now: Instant, number: u64, group: usize) -> &mut Minute {
        let own = entry(&mut self.groups, group);
        if let Some(shared) = &mut self.shared
            && !own.is(now, number)
        {
            let there = entry(&mut shared.groups, group);
            if there.is(now, number) {
                own.clone_from(there);
                own.expires = now + KEPT;
            }
        }
        own
    }
}

fn entry(groups: &mut Vec<Minute>, group: usize) -> &mut Minute {
    if group >= groups.len() {
        groups.resize_with(group + 1, Minute::default);
    }
    &mut groups[group]
}

impl Minute {
    /// Whether it is this minute's and lives.
    fn is(&self, now: Instant, number: u64) -> bool {
        self.number == number && now < self.expires
    }
}

/// How long a minute that was read is kept. (semantics 0.1)
const KEPT: Duration = Duration::from_secs(600);

impl Answered {
    fn has_room(self, cx: &PickContext<'_>, deployment: DeploymentId) -> bool {
        let config = cx.config(deployment);
        let tokens = self.tokens + u64::from(cx.request.prompt_tokens);
        let within_tpm = config.tpm_limit().is_none_or(|limit| tokens <= limit);
        let within_rpm = match (self.requests, config.rpm_limit()) {
            (Some(requests), Some(limit)) => requests + 1 < limit,
            (None, _) | (_, None) => true,
        };
        within_tpm && within_rpm
    }
}

impl RoutingStrategy for UsageBased {
    fn configure(&mut self, spec: &StrategySpec) {
        if let StrategySpec::UsageBased(args) = spec {
            self.ttl = args.ttl;
        }
    }

    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        _rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        let number = self.epoch.local_minute(cx.now);
        let minute = self.group(cx.now, number, cx.group.index());
        if !minute.is(cx.now, number) {
            let unused = Answered::default();
            let mut members = candidates.members.iter().copied();
            return members.find(|&d| unused.has_room(cx, d));
        }
        for &deployment in candidates.members {
            minute.counts.entry(deployment);
        }
        let mut best: Option<(u64, DeploymentId)> = None;
        for (deployment, answered) in minute.counts.iter() {
            if best.is_some_and(|(least, _)| answered.tokens >= least)
                || !answered.has_room(cx, deployment)
                || !(candidates.whole || candidates.members.contains(&deployment))
            {
                continue;
            }
            best = Some((answered.tokens, deployment));
        }
        best.map(|(_, deployment)| deployment)
    }

    fn on_finished(&mut self, now: Instant, sent: &Sent<'_>, _took: Duration, outcome: &Outcome) {
        let Outcome::Success { usage, .. } = outcome else {
            return;
        };
        let (number, ttl) = (self.epoch.local_minute(now), self.ttl);
        let minute = self.group(now, number, sent.group.index());
        if !minute.is(now, number) {
            minute.counts.clear();
            minute.number = number;
            minute.expires = now + ttl;
        }
        let answered = minute.counts.entry(sent.deployment);
        answered.tokens += usage.total();
        *answered.requests.get_or_insert(0) += 1;
        if let Some(shared) = &mut self.shared {
            let there = entry(&mut shared.groups, sent.group.index());
            there.clone_from(&self.groups[sent.group.index()]);
            there.expires = now + ttl;
        }
    }

    fn change_places(&mut self, store: &mut SharedStore) {
        hand_over(
            store.lent_to().is_some(),
            &mut store.usage,
            &mut self.shared,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        outcome::ErrorClass,
        profile::Profile,
        strategy::tests::{Fixture, deployments},
    };

    const A: DeploymentId = DeploymentId(0);
    const B: DeploymentId = DeploymentId(1);

    fn fixture(n: usize, rpm: Option<u64>, tpm: Option<u64>) -> Fixture {
        let mut configs = deployments(n);
        for config in &mut configs {
            (config.rpm, config.tpm) = (rpm, tpm);
        }
        let spec = StrategySpec::UsageBased(UsageArgs::default());
        Fixture::new(spec, configs, Profile::default())
    }

    /// How many of ten requests, each answered at once, find a deployment.
    fn pass(fixture: &mut Fixture) -> usize {
        let members: Vec<u32> = (0..2).take(fixture.len()).collect();
        let mut passed = 0;
        for request in 0..10 {
            if let Some(picked) = fixture.pick(request, &members, true) {
                fixture.succeeded(picked, 0.1);
                passed += 1;
            }
        }
        passed
    }

    #[test]
    fn the_one_with_the_fewest_tokens_is_picked_and_the_first_of_equals() {
        let mut fixture = fixture(2, None, None);

        for expected in [A, B, A, B] {
            assert_eq!(fixture.pick(0, &[0, 1], true), Some(expected));
            fixture.succeeded(expected, 0.1);
        }
    }

    #[test]
    fn of_equals_the_one_that_answered_first_this_minute_comes_first() {
        let mut fixture = fixture(2, None, None);
        fixture.succeeded(B, 0.1);
        assert_eq!(fixture.pick(0, &[0, 1], true), Some(A));
        fixture.succeeded(A, 0.1);

        assert_eq!(fixture.pick(0, &[0, 1], true), Some(B));
    }

    #[test]
    fn a_limit_of_n_requests_a_minute_lets_one_less_pass_but_at_least_one() {
        for (limit, passed) in [(1, 1), (2, 1), (3, 2), (4, 3)] {
            assert_eq!(pass(&mut fixture(1, Some(limit), None)), passed, "{limit}");
        }
        assert_eq!(pass(&mut fixture(2, Some(2), None)), 2);
    }

    #[test]
    fn tokens_answered_and_asked_must_fit_into_the_tpm() {
        // Each request asks for 10 tokens and is answered with 11 in all.
        assert_eq!(pass(&mut fixture(1, None, Some(31))), 2);
        assert_eq!(pass(&mut fixture(1, None, Some(32))), 3);
        assert_eq!(pass(&mut fixture(1, None, Some(0))), 0);
    }

    #[test]
    fn a_burst_is_not_limited() {
        let mut fixture = fixture(1, Some(3), None);

        assert!((0..8).all(|r| fixture.pick(r, &[0], true) == Some(A)));
    }

    #[test]
    fn a_failure_leaves_no_trace() {
        let mut fixture = fixture(2, None, None);
        fixture.failed(A, ErrorClass::InternalServer);

        assert_eq!(fixture.pick(0, &[0, 1], true), Some(A));
    }

    #[test]
    fn counts_are_of_the_wall_clock_minute() {
        let mut fixture = fixture(1, Some(1), None);
        fixture.at(59.0);
        assert_eq!(pass(&mut fixture), 1);
        fixture.at(60.0);
        assert_eq!(pass(&mut fixture), 1);
    }

    #[test]
    fn whoever_is_no_candidate_is_not_picked_however_little_it_answered() {
        let mut fixture = fixture(2, None, None);
        fixture.succeeded(B, 0.1);
        let _ = fixture.pick(0, &[0, 1], true);

        assert_eq!(fixture.pick(0, &[1], false), Some(B));
    }
}
