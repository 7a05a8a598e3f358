//! Who is left to be picked, and what is said where nobody is.

use router::{
    Answer, Failure, Outcome, Overrides, RouteError, Usage,
    strategy::{LowestLatencyArgs, StrategySpec, UsageArgs},
};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent};

#[test]
fn usage_based_routing_says_that_nobody_is_there_where_all_are_benched() {
    for profile in [OLD, NEW] {
        let mut config = group(["a", "b"], profile);
        config.settings.routing_strategy = StrategySpec::UsageBasedV2(UsageArgs::default());
        config.settings.num_retries = Some(0);
        let mut hand = Hand::new(&config);
        for _ in 0..2 {
            let attempt = sent(hand.arrive("m"));
            let _ = answered(hand.fail(attempt, 401));
        }

        let Answer::Failed { error, .. } = answered(hand.arrive("m")) else {
            panic!("it cannot be answered")
        };

        let none = matches!(
            error,
            RouteError::NoDeployments {
                all_cooling: true,
                ..
            }
        );
        assert!(none, "{error:?}");
    }
}

/// Whom latency-based routing picks for an alias, after `a` was slow and `b` fast under its target.
fn picked_by_alias(profile: router::Profile, blocking: bool) -> [bool; 2] {
    let mut config = group(["a", "b"], profile);
    config.settings.routing_strategy = StrategySpec::LowestLatency(LowestLatencyArgs::default());
    let aliases = &mut config.settings.model_group_alias;
    aliases.insert("nick".to_owned(), "m".to_owned());
    let mut hand = Hand::new(&config);
    let overrides = || Overrides {
        blocking,
        ..Overrides::default()
    };
    let mut met = [false; 2];
    for _ in 0..20 {
        let attempt = sent(hand.arrive_with("m", false, Some(overrides())));
        let slow = attempt.deployment() == A;
        met[attempt.deployment().index()] = true;
        hand.pass(if slow { 9.0 } else { 0.1 });
        let usage = Usage::new(10, 5);
        let success = Outcome::Success {
            usage,
            first_token_after: None,
        };
        let _ = answered(hand.finish(attempt, &success));
    }
    assert_eq!(met, [true; 2], "both are known");
    let mut picked = [false; 2];
    for _ in 0..40 {
        let attempt = sent(hand.arrive_with("nick", false, Some(overrides())));
        picked[attempt.deployment().index()] = true;
    }
    picked
}

#[test]
fn an_aliass_latencies_are_its_targets_on_the_blocking_path_of_1_92_alone() {
    let only_the_fast = [false, true];

    assert_eq!(picked_by_alias(OLD, true), only_the_fast);
    assert_eq!(picked_by_alias(OLD, false), [true; 2]);
    assert_eq!(picked_by_alias(NEW, true), [true; 2]);
    assert_eq!(picked_by_alias(NEW, false), [true; 2]);
}

#[test]
fn a_failure_of_one_leaves_the_other_to_be_picked() {
    let mut hand = Hand::new(&group(["a", "b"], NEW));
    let attempt = sent(hand.arrive("m"));
    let failed = attempt.deployment();
    let next = sent(hand.finish(attempt, &Outcome::Failure(Failure::with_status(429))));

    assert_eq!(next.deployment(), if failed == A { B } else { A });
}
