//! What holds for every configuration and every luck: proptest looks for a counterexample among
//! random routers (strategies, policies, circles of fallbacks, order tiers, slots) and outcomes.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic, its numbers are small, and it looks at the events that it needs"
)]

mod books;
mod filters;
mod orders;
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
    config::{Fallbacks, OptionalPreCallChecks, RetryPolicy, RoutingGroup},
    strategy::{LowestLatencyArgs, UsageArgs},
};

use crate::{
    filters::{brought, excluded, looked_at},
    world::{Asked, Case, End, deployment, most_attempts_in_a_hop, play},
};

const GROUPS: [&str; 3] = ["g", "h", "i"];
/// Serves every name that begins so.
const PATTERN: &str = "w/*";

fn a_deployment() -> impl Strategy<Value = DeploymentConfig> {
    let numbers = (
        prop_oneof![9 => select(&GROUPS[..]), 1 => Just(PATTERN)],
        option::of(1..3_i64),
        option::of(1..3_u64),
        option::of(0..4_u64),
        option::of(0..3_u32),
        option::of(select(&[0.0, 1.0, 5.0][..])),
        proptest::bool::weighted(0.1),
        option::weighted(0.3, 0..4_u64),
        option::weighted(0.2, 0..60_u64),
    );
    (numbers, looked_at()).prop_map(
        |((group, order, slots, cooldown, retries, weight, blocked, rpm, tpm), looked_at)| {
            let named = deployment("", group);
            DeploymentConfig {
                model_name: named.model_name,
                model: named.model,
                order,
                max_parallel_requests: slots,
                cooldown_time: cooldown.map(Duration::from_secs),
                num_retries: retries,
                weight,
                blocked,
                rpm,
                tpm,
                ..looked_at
            }
        },
    )
}

fn fallbacks() -> impl Strategy<Value = Option<Fallbacks>> {
    let name = || prop_oneof![3 => select(&GROUPS[..]), 1 => Just("nobody"), 1 => Just("d0"), 1 => Just("w/2")];
    let key = prop_oneof![4 => select(&GROUPS[..]), 1 => Just("*")];
    let entry = (key, vec(name(), 1..4)).prop_map(|(key, list)| {
        (
            key.to_owned(),
            list.into_iter().map(str::to_owned).collect(),
        )
    });
    option::of(vec(entry, 0..4))
}

fn strategy() -> impl Strategy<Value = StrategySpec> {
    prop_oneof![
        Just(StrategySpec::SimpleShuffle),
        Just(StrategySpec::LeastBusy),
        Just(StrategySpec::LowestLatency(LowestLatencyArgs::default())),
        Just(StrategySpec::LowestCost),
        Just(StrategySpec::ProviderBudget),
        Just(StrategySpec::UsageBased(UsageArgs::default())),
        Just(StrategySpec::UsageBasedV2(UsageArgs::default())),
    ]
}

/// Routing groups over some of the names, one by priority among them where the profile knows it.
fn routing_groups() -> impl Strategy<Value = Vec<RoutingGroup>> {
    let one = |models: &[&str], strategy, priorities: &[(&str, u32)]| RoutingGroup {
        group_name: "r".to_owned(),
        models: models.iter().map(|&m| m.to_owned()).collect(),
        routing_strategy: strategy,
        model_priorities: priorities.iter().map(|&(m, p)| (m.to_owned(), p)).collect(),
    };
    prop_oneof![
        2 => Just(Vec::new()),
        2 => strategy().prop_map(move |spec| vec![one(&["h", "g"], spec, &[])]),
        1 => Just(vec![one(&["g", "i"], StrategySpec::Priority, &[("g", 2), ("i", 1)])]),
    ]
}

fn settings() -> impl Strategy<Value = RouterSettings> {
    let parts = (
        (strategy(), routing_groups(), any::<bool>()),
        option::of(0..4_u32),
        fallbacks(),
        fallbacks(),
        option::of(0..5_u32),
        option::of(0..3_u32),
        option::of(0..6_u64),
        option::of(0..3_u32),
        any::<bool>(),
        filters::settings(),
    );
    parts.prop_map(
        |(
            (strategy, groups, enforces),
            retries,
            generic,
            policy,
            depth,
            allowed,
            cooldown,
            by_class,
            failover,
            of_filters,
        )| {
            RouterSettings {
                routing_strategy: strategy,
                routing_groups: groups,
                optional_pre_call_checks: OptionalPreCallChecks {
                    enforce_model_rate_limits: enforces,
                    ..of_filters.optional_pre_call_checks
                },
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
                ..of_filters
            }
        },
    )
}

fn asked() -> impl Strategy<Value = Asked> {
    let model = prop_oneof![
        6 => select(&GROUPS[..]),
        1 => Just("nobody"),
        1 => Just("d0"),
        1 => Just("r"),
        1 => Just("w/1"),
    ];
    (
        0..400_u64,
        model,
        any::<bool>(),
        option::weighted(0.3, 0..3_u32),
        brought(),
    )
        .prop_map(|(gap_ms, model, stream, num_retries, brought)| Asked {
            gap_ms,
            model: model.to_owned(),
            stream,
            num_retries,
            brought,
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
            let mut settings = settings;
            if !profile.profile().knows_priority_strategy {
                let by_priority = |g: &RoutingGroup| g.routing_strategy == StrategySpec::Priority;
                settings.routing_groups.retain(|g| !by_priority(g));
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
    fn whoever_is_limited_gets_no_more_than_its_rpm_in_a_minute(mut case in case()) {
        case.config.settings.optional_pre_call_checks.enforce_model_rate_limits = true;
        for deployment in &mut case.config.deployments {
            // Else 1.92 has the client library call again by itself.
            deployment.num_retries = None;
        }
        for asked in &mut case.requests {
            // Blocking calls by a deployment's id know no limits.
            asked.brought.blocking = false;
        }
        let (_, book) = play(&case);

        for ((deployment, minute), sent) in book.sent {
            let rpm = case.config.deployments[deployment.index()].rpm;
            prop_assert!(
                rpm.is_none_or(|rpm| sent <= rpm),
                "{deployment:?} was sent {sent} in minute {minute}, its rpm is {rpm:?}"
            );
        }
    }

    #[test]
    fn nobody_is_picked_whom_a_check_a_tag_or_a_budget_excludes(case in case()) {
        let (_, book) = play(&case);

        for picked in &book.picked {
            let why = excluded(&case, picked);
            prop_assert!(why.is_none(), "{picked:?}: {why:?}");
        }
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
