//! Pins and budgets of instances that share a store.

use std::{num::NonZeroU64, time::Duration};

use router::{
    Answer, DeploymentId, Instant, Origin, Prices, Profile, ProfileName, Request, RequestId,
    RouteError, Router, RouterConfig, Seed, SessionId, SharedStore, Step, config::Budget,
};

use crate::harness::{answered, group, success};

/// Two instances, and what they share.
struct Two {
    store: Option<SharedStore>,
    routers: [Router; 2],
    asked: u64,
}

impl Two {
    fn new(config: &RouterConfig, shared: bool) -> Self {
        Self {
            store: shared.then(|| SharedStore::new(config)),
            routers: [1, 2].map(|seed| Router::new(config, Seed(seed)).unwrap()),
            asked: 0,
        }
    }

    /// Has an instance answer a request of an origin, which succeeds if it is sent.
    fn ask(&mut self, instance: usize, seconds: f64, origin: Origin) -> Answer {
        let now = Instant::from_secs_f64(seconds);
        let router = &mut self.routers[instance];
        let request = Request {
            id: RequestId(self.asked),
            model: router.model("m"),
            prompt_tokens: 10,
            max_tokens: None,
            stream: false,
            origin,
            overrides: None,
        };
        self.asked += 1;
        let play = |router: &mut Router| match router.arrive(now, request, &mut ()).step {
            Step::Send(attempt) => {
                answered(router.attempt_finished(now, attempt, &success(), &mut ()))
            }
            Step::Done(answer) => answer,
            other => panic!("{other:?}"),
        };
        match &mut self.store {
            None => play(router),
            Some(store) => store.lend(router, play),
        }
    }

    fn served(&mut self, instance: usize, seconds: f64, session: u64) -> DeploymentId {
        let origin = Origin {
            session: NonZeroU64::new(session).map(SessionId),
            ..Origin::default()
        };
        match self.ask(instance, seconds, origin) {
            Answer::Completed { deployment, .. } => deployment,
            Answer::Failed { error, .. } => panic!("{error:?}"),
        }
    }
}

fn pinning(profile: Profile) -> RouterConfig {
    let mut config = group(["a", "b", "c", "d"], profile);
    config.settings.optional_pre_call_checks.session_affinity = true;
    config
}

#[test]
fn a_session_that_one_instance_pinned_is_followed_by_the_other_over_a_store_only() {
    for profile in ProfileName::ALL.map(ProfileName::profile) {
        for shared in [true, false] {
            let mut two = Two::new(&pinning(profile), shared);
            let follows = (1..=40).filter(|&session| {
                let at = f64::from(u32::try_from(session).unwrap());
                let first = two.served(0, at, session);
                two.served(1, at + 0.5, session) == first
            });
            let follows = follows.count();
            assert_eq!(follows == 40, shared, "{:?} {follows}", profile.name);
        }
    }
}

#[test]
fn a_pin_that_the_store_has_forgotten_is_nobodys() {
    let mut config = pinning(ProfileName::Litellm1110.profile());
    config.settings.deployment_affinity_ttl = Some(Duration::from_secs(10));
    let mut two = Two::new(&config, true);
    let firsts: Vec<_> = (1..=40)
        .map(|session| two.served(0, 0.0, session))
        .collect();

    let follows = (1..=40).zip(&firsts);
    let follows = follows.filter(|(session, first)| two.served(1, 10.5, *session) == **first);
    assert!(follows.count() < 40);
}

#[test]
fn instances_that_share_a_store_spend_one_budget_and_others_one_each() {
    for profile in ProfileName::ALL.map(ProfileName::profile) {
        for (shared, passed) in [(true, 4), (false, 8)] {
            let mut config = group(["a"], profile);
            config.deployments[0].prices = Prices {
                input: Some(1e-3),
                output: Some(1e-3),
                ..Prices::default()
            };
            // A call costs 0.015.
            config.deployments[0].budget = Some(Budget {
                limit: Some(0.06),
                period: Some(Duration::from_secs(60)),
            });
            config.settings.num_retries = Some(0);
            let mut two = Two::new(&config, shared);
            let asked = (0..12).map(|n| {
                two.ask(
                    n % 2,
                    f64::from(u8::try_from(n).unwrap()) * 2.0,
                    Origin::default(),
                )
            });
            let (ok, spent): (Vec<_>, Vec<_>) =
                asked.partition(|answer| matches!(answer, Answer::Completed { .. }));

            assert_eq!(ok.len(), passed, "{:?}", profile.name);
            let is_spent = |answer: &Answer| {
                matches!(
                    answer,
                    Answer::Failed {
                        error: RouteError::BudgetSpent,
                        ..
                    }
                )
            };
            assert!(spent.iter().all(is_spent));
        }
    }
}

#[test]
fn what_one_instance_cached_the_other_gives_for_a_minute() {
    for profile in ProfileName::ALL.map(ProfileName::profile) {
        for shared in [true, false] {
            let mut config = group(["a"], profile);
            config.settings.cache_responses = true;
            let mut two = Two::new(&config, shared);
            let origin = Origin {
                content: NonZeroU64::new(1).map(router::ContentId),
                ..Origin::default()
            };
            let mut cached = |instance, seconds| {
                let answer = two.ask(instance, seconds, origin);
                matches!(answer, Answer::Completed { cached: true, .. })
            };

            assert!(!cached(0, 0.0));
            assert_eq!(cached(1, 59.0), shared);
            assert_eq!(cached(0, 61.0), !shared, "600 s in a process of its own");
        }
    }
}

#[test]
fn settings_changed_at_work_do_not_end_the_sharing() {
    let mut config = pinning(ProfileName::Litellm1110.profile());
    let mut two = Two::new(&config, true);
    two.served(0, 0.0, 1);
    config.settings.routing_strategy = router::StrategySpec::named("usage-based-routing").unwrap();
    config.settings.deployment_affinity_ttl = Some(Duration::from_secs(100));
    let store = two.store.as_mut().unwrap();
    for router in &mut two.routers {
        store.lend(router, |router| {
            router.update_settings(config.settings.clone()).unwrap();
        });
    }

    for session in 1..=40 {
        let at = f64::from(u32::try_from(session).unwrap());
        let first = two.served(0, at, session);
        assert_eq!(two.served(1, at + 0.5, session), first);
    }
}
