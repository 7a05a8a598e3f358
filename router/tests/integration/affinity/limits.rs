//! A pin and the router's own limits: in `corrected` nobody is held to a deployment that would refuse.

use router::{
    Answer, DeploymentId, Profile, RouteError, StrategySpec,
    config::OptionalPreCallChecks,
    strategy::{LowestLatencyArgs, UsageArgs},
};

use super::{CORRECTED, SESSIONS, served, session, two};
use crate::harness::{Hand, NEW, answered};

/// Each way in which a router goes by limits of its own.
fn strategies() -> [(StrategySpec, bool); 5] {
    [
        (StrategySpec::SimpleShuffle, true),
        (
            StrategySpec::LowestLatency(LowestLatencyArgs::default()),
            false,
        ),
        (StrategySpec::LowestCost, false),
        (StrategySpec::UsageBased(UsageArgs::default()), false),
        (StrategySpec::UsageBasedV2(UsageArgs::default()), false),
    ]
}

/// Two deployments of two requests a minute each; `enforced`: by `enforce_model_rate_limits`.
fn limited(profile: Profile, strategy: StrategySpec, enforced: bool) -> Hand {
    let checks = OptionalPreCallChecks {
        enforce_model_rate_limits: enforced,
        ..SESSIONS
    };
    let mut config = two(checks, profile);
    config.settings.routing_strategy = strategy;
    for deployment in &mut config.deployments {
        deployment.rpm = Some(2);
    }
    Hand::new(&config)
}

#[test]
fn a_pin_yields_to_limits_while_others_are_free_and_is_returned_to() {
    for (strategy, enforced) in strategies() {
        let name = strategy.name();
        let mut hand = limited(CORRECTED, strategy, enforced);
        let pin = served(&mut hand, "m", session(1));
        let other = DeploymentId(1 - pin.0);

        let minute: Vec<_> = (0..3).map(|_| served(&mut hand, "m", session(1))).collect();
        assert_eq!(minute, [pin, other, other], "{name}");

        hand.pass(60.0);
        assert_eq!(served(&mut hand, "m", session(1)), pin, "{name}");
        hand.assert_idle();
    }
}

#[test]
fn a_pin_that_has_no_room_is_the_answer_where_nobody_has() {
    for (strategy, enforced) in strategies() {
        let name = strategy.name();
        let mut hand = limited(CORRECTED, strategy, enforced);
        for _ in 0..4 {
            let _ = served(&mut hand, "m", session(1));
        }

        let answer = answered(hand.arrive_from(session(1), "m", false, None));

        let Answer::Failed { error, .. } = answer else {
            panic!("{name}: {answer:?}");
        };
        let told = matches!(
            error,
            RouteError::RateLimited { .. } | RouteError::NoDeployments { .. }
        );
        assert!(told, "{name}: {error:?}");
    }
}

#[test]
fn litellm_asks_its_strategies_limits_after_the_pin() {
    let mut hand = limited(NEW, StrategySpec::LowestCost, false);
    let pin = served(&mut hand, "m", session(1));
    assert_eq!(served(&mut hand, "m", session(1)), pin);

    let answer = answered(hand.arrive_from(session(1), "m", false, None));

    assert!(matches!(answer, Answer::Failed { .. }), "{answer:?}");
}
