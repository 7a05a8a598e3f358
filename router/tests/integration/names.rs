//! Names that are no groups, deployments that are paused or taken out, and settings that change.

use std::time::Duration;

use router::{Answer, RouteError, RouterConfig};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent};

#[test]
fn an_unknown_model_is_a_bad_request_without_an_attempt_or_a_wait() {
    let mut hand = Hand::new(&group(["a"], NEW));
    let nobody = hand.model("nobody");

    let answer = answered(hand.arrive("nobody"));

    let Answer::Failed { error, trail } = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(error, RouteError::UnknownModel { model: nobody });
    assert_eq!(
        (error.exception(), error.status()),
        ("BadRequestError", Some(400))
    );
    assert_eq!((trail.attempts, trail.waited), (0, Duration::ZERO));
    hand.assert_idle();
}

#[test]
fn a_router_without_deployments_knows_no_model() {
    let mut hand = Hand::new(&RouterConfig::default());

    let answer = answered(hand.arrive("m"));

    assert!(matches!(
        answer,
        Answer::Failed {
            error: RouteError::UnknownModel { .. },
            ..
        }
    ));
}

#[test]
fn an_unknown_model_goes_to_the_fallbacks_for_every_name() {
    let mut config = group(["a", "b"], NEW);
    config.deployments[1].model_name = "f".to_owned();
    config.settings.fallbacks = Some(vec![("*".to_owned(), vec!["f".to_owned()])]);
    let mut hand = Hand::new(&config);

    let attempt = sent(hand.arrive("nobody"));

    assert_eq!(attempt.deployment(), B);
}

#[test]
fn a_paused_deployment_is_nobodys_candidate_and_refuses_a_call_by_its_id() {
    let mut config = group(["a", "b"], NEW);
    config.deployments[0].blocked = true;
    let mut hand = Hand::new(&config);

    for _ in 0..10 {
        let attempt = sent(hand.arrive("m"));
        assert_eq!(attempt.deployment(), B);
        let _ = hand.succeed(attempt);
    }
    let answer = answered(hand.arrive("a"));

    let Answer::Failed { error, .. } = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(error, RouteError::Blocked { deployment: A });
    assert_eq!(
        (error.exception(), error.status()),
        ("ServiceUnavailableError", Some(503))
    );
}

#[test]
fn a_call_by_id_reaches_a_benched_deployment_and_is_not_retried() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&group(["a", "b"], profile));
        let attempt = sent(hand.arrive("a"));
        let _ = answered(hand.fail(attempt, 429));
        assert!(hand.router.cooled_until(hand.now, A).is_some());

        let again = sent(hand.arrive("a"));

        assert_eq!(again.deployment(), A);
        let answer = answered(hand.fail(again, 500));
        assert_eq!(answer.trail().attempts, 1);
    }
}

#[test]
fn a_deployment_that_is_taken_out_is_picked_no_more_and_its_attempt_ends_as_usual() {
    let mut hand = Hand::new(&group(["a", "b"], NEW));
    let under_way = sent(hand.arrive("a"));

    hand.router.delete_deployment(A);

    for _ in 0..20 {
        let attempt = sent(hand.arrive("m"));
        assert_eq!(attempt.deployment(), B);
        let _ = hand.succeed(attempt);
    }
    let _ = answered(hand.succeed(under_way));
    let gone = answered(hand.arrive("a"));
    assert!(matches!(
        gone,
        Answer::Failed {
            error: RouteError::UnknownModel { .. },
            ..
        }
    ));
    hand.assert_idle();
}

#[test]
fn who_is_left_alone_in_a_group_is_spared_as_a_lone_deployment_is() {
    let mut hand = Hand::new(&group(["a", "b"], NEW));
    hand.router.delete_deployment(B);

    let attempt = sent(hand.arrive("m"));
    let _ = hand.fail(attempt, 429);

    assert_eq!(hand.router.cooled_until(hand.now, A), None);
}

#[test]
fn changed_settings_count_from_the_next_failure_on_and_cooldowns_survive_them() {
    let mut hand = Hand::new(&group(["a", "b"], NEW));
    let attempt = sent(hand.arrive("a"));
    let _ = hand.fail(attempt, 429);
    let until = hand.router.cooled_until(hand.now, A);
    let mut settings = hand.router.config().settings.clone();
    settings.cooldown_time = Some(Duration::from_secs(60));
    settings.fallbacks = Some(vec![("m".to_owned(), vec!["a".to_owned()])]);

    hand.router.update_settings(settings).unwrap();

    assert_eq!(hand.router.cooled_until(hand.now, A), until);
    let attempt = sent(hand.arrive("m"));
    assert_eq!(attempt.deployment(), B);
    let fallback = sent(hand.fail(attempt, 429));
    assert_eq!(fallback.deployment(), A);
    assert_eq!(
        hand.router.cooldown_length(hand.now, B),
        Some(Duration::from_secs(60))
    );
}
