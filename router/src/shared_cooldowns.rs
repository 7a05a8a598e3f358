//! Cooldowns of other instances, by way of the shared store. (semantics 12, FACTS R1, BR-057, BR-059)
//!
//! Whoever benches a deployment writes a record that lives as long as the cooldown, and knows of it at
//! once. Others look for a record of each deployment that they do not have benched, before a pick and
//! after a failure, but of the same deployment only once in
//! [`SharingRules::cooldowns_reread_after`](crate::SharingRules): so long they may go on sending there.
//! What they find they keep to its end; 1.92 keeps it 600 s from then on.
//!
//! Where deployments come back by a trial (settings of ours), the record itself is gone by at every
//! pick, so that there is one trial for all instances.

use std::time::Duration;

use crate::{
    config::RouterConfig,
    deployment::{CooldownShown, DeploymentState},
    probe::Probe,
    request::DeploymentId,
    router::Router,
    rules::SharingRules,
    shared_state::SharedState,
    time::Instant,
};

/// A cooldown as it stands in the store.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct SharedCooldown {
    /// When the record is gone.
    pub(crate) until: Instant,
    pub(crate) since: Instant,
    pub(crate) shown: CooldownShown,
    pub(crate) probe: Probe,
}

/// When an instance looks at the records next.
#[derive(Debug)]
pub(crate) struct CooldownLooks {
    /// By deployment: not before.
    due: Vec<Instant>,
    /// The earliest of all.
    next: Instant,
    /// Whether the records are gone by at every pick: deployments may be tried while they are out.
    by_record: bool,
}

impl CooldownLooks {
    pub(crate) fn new(config: &RouterConfig) -> Self {
        let probes = config
            .deployments
            .iter()
            .any(|d| d.cooldown_probe_after.is_some());
        Self {
            due: vec![Instant::ZERO; config.deployments.len()],
            next: Instant::ZERO,
            by_record: config.settings.cooldown_recovery.one_trial
                || (probes && config.profile.corrections.probes_long_cooldowns),
        }
    }

    /// Looks at each deployment again as soon as its time has come.
    pub(crate) fn wake(&mut self) {
        self.next = Instant::ZERO;
    }

    /// Reads what is due; gives the end of the last cooldown that was found.
    fn look(
        &mut self,
        now: Instant,
        states: &mut [DeploymentState],
        shared: &SharedState,
        rules: &SharingRules,
    ) -> Option<Instant> {
        if now < self.next {
            return None;
        }
        self.next = Instant::NEVER;
        let mut last = None;
        for ((state, due), record) in states.iter_mut().zip(&mut self.due).zip(&shared.cooldowns) {
            let out = state.cooled_at(now).unwrap_or(now);
            if now >= *due && out == now {
                *due = now + rules.cooldowns_reread_after;
                if let Some(record) = record.filter(|record| now < record.until) {
                    let kept = |span: Duration| now + span;
                    let until = rules.cooldowns_kept_for.map_or(record.until, kept);
                    state.follow(SharedCooldown { until, ..record });
                    last = last.max(Some(until));
                }
            }
            let out = state.cooled_at(now).unwrap_or(now);
            self.next = self.next.min(out.max(*due));
        }
        last
    }
}

impl Router {
    /// Learns of the cooldowns that other instances have set.
    #[inline]
    pub(crate) fn learn_cooldowns(&mut self, now: Instant) {
        if self.shared.is_some() {
            self.look_at_store(now);
        }
    }

    #[inline(never)]
    fn look_at_store(&mut self, now: Instant) {
        let (Some(shared), Some(looks)) = (&self.shared, &mut self.looks) else {
            return;
        };
        let looks = &mut looks.cooldowns;
        if looks.by_record {
            self.go_by_records(now);
            return;
        }
        let rules = &self.config.profile.sharing;
        if let Some(until) = looks.look(now, &mut self.states, shared, rules) {
            self.all_warm_at = self.all_warm_at.max(until);
        }
    }

    fn go_by_records(&mut self, now: Instant) {
        let Some(shared) = &self.shared else { return };
        let mut last = Instant::ZERO;
        for (state, record) in self.states.iter_mut().zip(&shared.cooldowns) {
            match record.filter(|record| now < record.until) {
                Some(record) => {
                    state.follow(record);
                    last = last.max(record.until);
                }
                None => {
                    state.end_cooldown(now);
                }
            }
        }
        self.all_warm_at = last;
    }

    /// Tells the others of a cooldown that was just set, for this length. The record's life begins anew
    /// with each failure, although the writer's own cooldown keeps its end.
    pub(crate) fn share_cooldown(
        &mut self,
        now: Instant,
        deployment: DeploymentId,
        length: Duration,
    ) {
        let (Some(shared), Some(looks)) = (&mut self.shared, &mut self.looks) else {
            return;
        };
        let own = self.states[deployment.index()].record();
        let record = &mut shared.cooldowns[deployment.index()];
        let longer_wins = self.config.profile.corrections.longer_cooldown_wins;
        let until = match (looks.cooldowns.by_record || longer_wins, *record) {
            (true, Some(other)) if longer_wins => own.until.max(other.until),
            (true, _) => own.until,
            (false, _) => now + length,
        };
        *record = Some(SharedCooldown { until, ..own });
    }

    /// Tells the others how the trial of a deployment stands.
    pub(crate) fn share_trial(&mut self, deployment: DeploymentId) {
        let Some(shared) = &mut self.shared else {
            return;
        };
        if let Some(record) = &mut shared.cooldowns[deployment.index()] {
            record.probe = self.states[deployment.index()].probe;
        }
    }

    /// Tells the others that a deployment's cooldown was ended.
    pub(crate) fn share_end(&mut self, deployment: DeploymentId) {
        if let (Some(shared), Some(looks)) = (&mut self.shared, &mut self.looks) {
            shared.cooldowns[deployment.index()] = None;
            looks.cooldowns.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{observe::CooldownReason, profile::Profile, rng::Seed, shared_state::SharedStore};

    const A: DeploymentId = DeploymentId(0);

    struct Case {
        store: SharedStore,
        routers: [Router; 2],
    }

    impl Case {
        fn new(profile: Profile) -> Self {
            let mut config = RouterConfig::of_deployments(["a", "b"]);
            config.profile = profile;
            Self {
                store: SharedStore::new(&config),
                routers: [1, 2].map(|seed| Router::new(&config, Seed(seed)).unwrap()),
            }
        }

        fn bench(&mut self, router: usize, seconds: f64, length: u64) {
            let length = Duration::from_secs(length);
            let now = Instant::from_secs_f64(seconds);
            self.store.lend(&mut self.routers[router], |router| {
                let asked = CooldownShown {
                    length,
                    why: CooldownReason::RateLimited,
                    status: Some(429),
                };
                let longer_wins = router.config.profile.corrections.longer_cooldown_wins;
                router.states[0].cool(now, asked, longer_wins);
                router.share_cooldown(now, A, length);
            });
        }

        /// Until when A is out, as a router knows it.
        fn out(&mut self, router: usize, seconds: f64) -> Option<f64> {
            let now = Instant::from_secs_f64(seconds);
            self.store.lend(&mut self.routers[router], |router| {
                router.learn_cooldowns(now);
                router.cooled_until(now, A).map(Instant::as_secs_f64)
            })
        }
    }

    #[test]
    fn another_looks_once_in_a_second_or_in_ten() {
        for (profile, due, until) in [
            (Profile::corrected(), 1.0, 30.5),
            (Profile::litellm_1_110(), 1.0, 30.5),
            (Profile::litellm_1_92(), 10.0, 610.0),
        ] {
            let mut case = Case::new(profile);
            assert_eq!(case.out(1, 0.0), None);
            case.bench(0, 0.5, 30);

            assert_eq!(case.out(0, 0.5), Some(30.5), "the writer at once");
            assert_eq!(case.out(1, due - 0.1), None);
            assert_eq!(case.out(1, due), Some(until));
        }
    }

    #[test]
    fn a_failure_during_a_cooldown_begins_the_records_life_anew_but_not_the_cooldown() {
        let mut case = Case::new(Profile::litellm_1_110());
        case.bench(0, 0.0, 10);
        case.bench(0, 6.0, 10);

        assert_eq!(case.out(0, 7.0), Some(10.0));
        assert_eq!(case.out(1, 7.0), Some(16.0));
        // The writer itself finds it when its own is over.
        assert_eq!(case.out(0, 10.0), Some(16.0));
    }

    #[test]
    fn where_the_longer_wins_a_shorter_one_of_another_takes_nothing_away() {
        let mut case = Case::new(Profile::corrected());
        case.bench(0, 0.0, 30);
        case.bench(1, 0.1, 5);

        assert_eq!(case.out(1, 0.2), Some(5.1));
        assert_eq!(case.out(1, 5.1), Some(30.0));
    }

    #[test]
    fn a_cooldown_ended_by_hand_is_found_by_nobody_any_more() {
        let mut case = Case::new(Profile::corrected());
        case.bench(0, 0.0, 30);
        let now = Instant::from_secs_f64(1.0);
        case.store.lend(&mut case.routers[0], |router| {
            router.clear_cooldowns(now, &mut ());
        });

        assert_eq!((case.out(0, 1.5), case.out(1, 1.5)), (None, None));
    }
}
