//! Names that are no groups, deployments that are paused or taken out, and settings that change.

use std::time::Duration;

use router::{Answer, Profile, ProfileName, RouteError, RouterConfig};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent, waiting};

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

#[test]
fn an_update_takes_whole_seconds_and_only_the_settings_that_can_change_at_work() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&group(["a", "b"], profile));
        let mut settings = hand.router.config().settings.clone();
        settings.cooldown_time = Some(Duration::from_millis(1_900));
        settings.timeout = Some(Duration::from_millis(900));
        settings.retry_after = Duration::from_millis(1_900);
        settings.max_fallbacks = Some(0);
        settings.disable_cooldowns = true;
        settings.content_policy_fallbacks = Some(Vec::new());
        settings.enable_tag_filtering = true;

        hand.router.update_settings(settings).unwrap();

        let now = &hand.router.config().settings;
        assert_eq!(now.cooldown_time, Some(Duration::from_secs(1)));
        assert_eq!(now.timeout, Some(Duration::ZERO), "which is none");
        assert_eq!(now.retry_after, Duration::from_secs(1));
        assert_eq!((now.max_fallbacks, now.disable_cooldowns), (None, false));
        let newer = profile == NEW;
        assert_eq!(now.content_policy_fallbacks.is_some(), newer);
        assert_eq!(now.enable_tag_filtering, newer);
    }
}

/// Two deployments of one name with a star, in this order.
fn wildcards(profile: Profile) -> RouterConfig {
    let mut config = group(["w1", "w2"], profile);
    for deployment in &mut config.deployments {
        deployment.model_name = "z/*".to_owned();
        deployment.model = "openai/*".to_owned();
    }
    config
}

#[test]
fn the_upstream_is_asked_for_what_the_stars_stand_for() {
    let mut hand = Hand::new(&wildcards(NEW));

    let attempt = sent(hand.arrive("z/gpt-4o"));
    assert_eq!(hand.router.plan(&attempt).model, "openai/gpt-4o");
    let _ = hand.succeed(attempt);

    let attempt = sent(hand.arrive("z/*"));
    assert_eq!(hand.router.plan(&attempt).model, "openai/*");
    let _ = hand.succeed(attempt);
    hand.assert_idle();
}

#[test]
fn a_deployment_of_a_name_with_stars_is_never_benched_in_litellm() {
    for (profile, status) in [(OLD, 401), (NEW, 401), (OLD, 429), (NEW, 429)] {
        let mut hand = Hand::new(&wildcards(profile));

        let turn = hand.arrive("z/1");
        let answer = hand.fail_until_done(turn, status);

        assert_eq!(
            answer.trail().attempts,
            3,
            "both are healthy, so it is retried"
        );
        for deployment in [A, B] {
            assert_eq!(hand.router.cooled_until(hand.now, deployment), None);
        }
    }
}

#[test]
fn a_deployment_of_a_name_with_stars_is_benched_for_all_its_names_when_corrected() {
    let mut hand = Hand::new(&wildcards(ProfileName::Corrected.profile()));
    let attempt = sent(hand.arrive("z/1"));
    let benched = attempt.deployment();
    let _ = hand.fail(attempt, 429);

    for _ in 0..10 {
        let attempt = sent(hand.arrive("z/2"));
        assert_ne!(attempt.deployment(), benched);
        let _ = hand.succeed(attempt);
    }
}

#[test]
fn order_tiers_and_fallbacks_know_names_that_a_pattern_matches() {
    for profile in [OLD, NEW] {
        let mut config = wildcards(profile);
        config.deployments[0].order = Some(1);
        config.deployments[1].order = Some(2);
        config.settings.num_retries = Some(0);
        let mut hand = Hand::new(&config);

        let attempt = sent(hand.arrive("z/1"));
        assert_eq!(attempt.deployment(), A);
        let next = sent(hand.fail(attempt, 503));

        assert_eq!(next.deployment(), B);
        assert_eq!(hand.router.plan(&next).model, "openai/1");
    }
}

#[test]
fn a_lone_deployment_of_a_name_with_stars_waits_between_its_retries() {
    let mut config = wildcards(NEW);
    config.deployments.pop();
    let mut hand = Hand::new(&config);

    let attempt = sent(hand.arrive("z/1"));

    let _ = waiting(hand.fail(attempt, 500));
}

#[test]
fn a_name_is_interned_once_however_often_it_is_asked_for() {
    let mut hand = Hand::new(&wildcards(NEW));
    let first = hand.model("z/1");

    assert_eq!(hand.model("z/1"), first);
    assert_ne!(hand.model("z/2"), first);
}
