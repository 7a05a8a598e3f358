//! What holds for every configuration and every luck: proptest looks for a counterexample among
//! random routers (strategies, policies, circles of fallbacks, order tiers, slots) and outcomes.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic, its numbers are small, and it looks at the events that it needs"
)]

mod world;

use std::time::Duration;

use proptest::{
    collection::vec,
    option,
    prelude::{Just, ProptestConfig, Strategy, any, prop_oneof},
    prop_assert, prop_assert_eq, proptest,
    sample::select,
};
use router::{
    DeploymentConfig, DeploymentId, ErrorClass, ProfileName, RouterConfig, RouterSettings,
    StrategySpec,
    config::{Fallbacks, RetryPolicy},
    strategy::{LowestLatencyArgs, UsageArgs},
};

use crate::world::{Asked, Case, End, deployment, most_attempts_in_a_hop, play};

const GROUPS: [&str; 3] = ["g", "h", "i"];

fn a_deployment() -> impl Strategy<Value = DeploymentConfig> {
    let numbers = (
        select(&GROUPS[..]),
        option::of(1..3_i64),
        option::of(1..3_u64),
        option::of(0..4_u64),
        option::of(0..3_u32),
        option::of(select(&[0.0, 1.0, 5.0][..])),
        proptest::bool::weighted(0.1),
    );
    numbers.prop_map(
        |(group, order, slots, cooldown, retries, weight, blocked)| DeploymentConfig {
            order,
            max_parallel_requests: slots,
            cooldown_time: cooldown.map(Duration::from_secs),
            num_retries: retries,
            weight,
            blocked,
            ..deployment("", group)
        },
    )
}

fn fallbacks() -> impl Strategy<Value = Option<Fallbacks>> {
    let name = || prop_oneof![select(&GROUPS[..]), Just("nobody"), Just("d0")];
    let key = prop_oneof![4 => select(&GROUPS[..]), 1 => Just("*")];
    let entry = (key, vec(name(), 1..4)).prop_map(|(key, list)| {
        (
            key.to_owned(),
            list.into_iter().map(str::to_owned).collect(),
        )
    });
    option::of(vec(entry, 0..4))
}

fn settings() -> impl Strategy<Value = RouterSettings> {
    let strategy = prop_oneof![
        Just(StrategySpec::SimpleShuffle),
        Just(StrategySpec::LeastBusy),
        Just(StrategySpec::LowestLatency(LowestLatencyArgs::default())),
        Just(StrategySpec::LowestCost),
        Just(StrategySpec::UsageBased(UsageArgs::default())),
        Just(StrategySpec::UsageBasedV2(UsageArgs::default())),
    ];
    let parts = (
        strategy,
        option::of(0..4_u32),
        fallbacks(),
        fallbacks(),
        option::of(0..5_u32),
        option::of(0..3_u32),
        option::of(0..6_u64),
        option::of(0..3_u32),
        any::<bool>(),
    );
    parts.prop_map(
        |(strategy, retries, generic, policy, depth, allowed, cooldown, by_class, failover)| {
            RouterSettings {
                routing_strategy: strategy,
                num_retries: retries,
                fallbacks: generic,
                content_policy_fallbacks: policy,
                max_fallbacks: depth,
                allowed_fails: allowed,
                cooldown_time: cooldown.map(Duration::from_secs),
                retry_policy: by_class.map(|n| RetryPolicy {
                    rate_limit: Some(n),
                    ..RetryPolicy::default()
                }),
                enable_weighted_failover: failover,
                ..RouterSettings::default()
            }
        },
    )
}

fn asked() -> impl Strategy<Value = Asked> {
    let model = prop_oneof![6 => select(&GROUPS[..]), 1 => Just("nobody"), 1 => Just("d0")];
    (
        0..400_u64,
        model,
        any::<bool>(),
        option::weighted(0.3, 0..3_u32),
    )
        .prop_map(|(gap_ms, model, stream, num_retries)| Asked {
            gap_ms,
            model: model.to_owned(),
            stream,
            num_retries,
        })
}

fn end() -> impl Strategy<Value = End> {
    let status = select(&[400, 401, 403, 404, 408, 429, 429, 500, 503][..]);
    let hint = option::weighted(0.3, select(&[-1, 0, 1, 3, 60, 61][..]));
    let class = select(
        &[
            ErrorClass::ApiConnection,
            ErrorClass::RateLimit,
            ErrorClass::Timeout,
        ][..],
    );
    prop_oneof![
        3 => Just(End::Success),
        6 => (status, hint).prop_map(|(status, hint)| End::Status(status, hint)),
        1 => class.prop_map(End::Broken),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let profile = select(&ProfileName::ALL[..]);
    let parts = (
        profile,
        vec(a_deployment(), 1..6),
        settings(),
        vec(asked(), 1..12),
        vec(end(), 1..24),
        any::<u64>(),
    );
    parts.prop_map(
        |(profile, mut deployments, settings, requests, ends, seed)| {
            for (number, deployment) in deployments.iter_mut().enumerate() {
                deployment.id = format!("d{number}");
            }
            let config = RouterConfig {
                profile: profile.profile(),
                deployments,
                settings,
                ..RouterConfig::default()
            };
            Case {
                config,
                requests,
                ends,
                seed,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_request_is_answered_once_and_leaves_nothing_behind(case in case()) {
        let (router, book) = play(&case);

        prop_assert_eq!(book.answers.len(), case.requests.len());
        prop_assert!(book.answers.values().all(|&n| n == 1), "{:?}", book.answers);
        prop_assert_eq!(router.unfinished(), 0);
        for number in (0..).take(case.config.deployments.len()) {
            prop_assert_eq!(router.in_flight(DeploymentId(number)), 0);
            prop_assert_eq!(router.slots_taken(DeploymentId(number)), 0);
        }
    }

    #[test]
    fn cooldowns_waits_and_slots_are_kept(case in case()) {
        let (_, book) = play(&case);

        prop_assert!(book.broken_rules.is_empty(), "{:?}", book.broken_rules);
    }

    #[test]
    fn a_hop_has_one_attempt_and_its_retries_at_most(case in case()) {
        let (_, book) = play(&case);

        prop_assert!(
            book.most_in_a_hop <= most_attempts_in_a_hop(&case),
            "{} attempts in a hop, at most {}",
            book.most_in_a_hop,
            most_attempts_in_a_hop(&case)
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_events(case in case()) {
        let (_, first) = play(&case);
        let (_, second) = play(&case);

        prop_assert_eq!(first.log, second.log);
    }

    #[test]
    fn a_circle_of_fallbacks_ends(mut case in case()) {
        let all: Vec<String> = GROUPS.iter().map(|&g| g.to_owned()).collect();
        let circle = GROUPS.iter().map(|&g| (g.to_owned(), all.clone()));
        case.config.settings.fallbacks = Some(circle.collect());
        case.ends = vec![End::Status(500, None)];

        // `play` gives up on a run that does not end.
        let (_, book) = play(&case);

        prop_assert_eq!(book.answers.len(), case.requests.len());
    }
}
