//! `enable_pre_call_checks`: windows, regions and, in 1.92, picks a minute.

use std::sync::Arc;

use router::{
    Answer, Api, Attempt, ErrorClass, Overrides, Profile, ProfileName, RouteError, RouterConfig,
    Turn,
};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent};

const CORRECTED: Profile = ProfileName::Corrected.profile();

fn checked<const N: usize>(ids: [&str; N], profile: Profile) -> RouterConfig {
    let mut config = group(ids, profile);
    config.settings.enable_pre_call_checks = true;
    config.settings.num_retries = Some(0);
    config
}

fn long(hand: &mut Hand, prompt_tokens: u32) -> Turn {
    hand.arrive_as("m", |request| request.prompt_tokens = prompt_tokens)
}

fn from(hand: &mut Hand, region: &str) -> Turn {
    let overrides = Overrides {
        allowed_model_region: Some(region.to_owned()),
        ..Overrides::default()
    };
    hand.arrive_with("m", false, Some(overrides))
}

fn error(answer: Answer) -> RouteError {
    match answer {
        Answer::Failed { error, .. } => error,
        Answer::Completed { .. } => panic!("{answer:?}"),
    }
}

fn serve(hand: &mut Hand, attempt: Attempt) {
    let _ = answered(hand.succeed(attempt));
}

#[test]
fn a_prompt_as_long_as_the_window_fits_and_one_token_more_does_not() {
    for profile in [OLD, NEW, CORRECTED] {
        let mut config = checked(["a", "b"], profile);
        config.deployments[0].model_info_max_input_tokens = Some(100);
        config.deployments[1].model_info_max_input_tokens = Some(200);
        let mut hand = Hand::new(&config);

        for _ in 0..10 {
            let attempt = sent(long(&mut hand, 101));
            assert_eq!(attempt.deployment(), B);
            serve(&mut hand, attempt);
        }
        let of_a = (0..20).filter(|_| {
            let attempt = sent(long(&mut hand, 100));
            let picked = attempt.deployment();
            serve(&mut hand, attempt);
            picked == A
        });
        assert!(of_a.count() > 0);

        let error = error(answered(long(&mut hand, 201)));
        assert_eq!(error, RouteError::PromptTooLong);
        assert_eq!(error.class(), Some(ErrorClass::ContextWindowExceeded));
        assert_eq!(error.status(), Some(400));
    }
}

#[test]
fn a_prompt_that_fits_nobody_goes_to_the_context_window_fallbacks() {
    for profile in [OLD, NEW] {
        let mut config = checked(["a", "f"], profile);
        config.deployments[0].max_input_tokens = Some(100);
        config.deployments[1].model_name = "long".to_owned();
        config.settings.num_retries = Some(3);
        let list = vec![("m".to_owned(), vec!["long".to_owned()])];
        config.settings.context_window_fallbacks = Some(list);
        let mut hand = Hand::new(&config);

        let attempt = sent(long(&mut hand, 101));

        assert_eq!(attempt.deployment(), B);
    }
}

#[test]
fn only_the_deployments_of_exactly_the_region_asked_for_are_candidates() {
    let mut config = checked(["a", "b", "c"], NEW);
    config.deployments[0].region_name = Some("us".to_owned());
    config.deployments[1].region_name = Some("eu".to_owned());
    let mut hand = Hand::new(&config);

    for _ in 0..10 {
        let attempt = sent(from(&mut hand, "eu"));
        assert_eq!(attempt.deployment(), B);
        serve(&mut hand, attempt);
    }
    let error = error(answered(from(&mut hand, "EU")));

    assert!(matches!(
        error,
        RouteError::NoDeployments {
            all_cooling: false,
            ..
        }
    ));
}

#[test]
fn rpm_is_a_bound_on_picks_in_a_tumbling_minute_in_1_92_only() {
    let mut config = checked(["a"], OLD);
    config.deployments[0].rpm = Some(2);
    // Its slots, which rpm gives too, are enough here.
    let mut hand = Hand::new(&config);
    for _ in 0..2 {
        let attempt = sent(hand.arrive("m"));
        serve(&mut hand, attempt);
        hand.pass(25.0);
    }

    let error = error(answered(hand.arrive("m")));
    assert_eq!(error, RouteError::OverRpm);
    assert_eq!(
        (error.exception(), error.status()),
        ("RouterRateLimitErrorBasic", None)
    );
    hand.pass(10.0);
    let attempt = sent(hand.arrive("m"));
    serve(&mut hand, attempt);

    config.profile = NEW;
    let mut hand = Hand::new(&config);
    for _ in 0..10 {
        let attempt = sent(hand.arrive("m"));
        serve(&mut hand, attempt);
    }
}

#[test]
fn calls_by_id_count_as_picks_and_blocking_calls_and_embeddings_do_not() {
    let mut config = checked(["a"], OLD);
    config.deployments[0].rpm = Some(2);
    let blocking = Overrides {
        blocking: true,
        ..Overrides::default()
    };
    let embedding = Overrides {
        api: Api::Embedding,
        ..Overrides::default()
    };
    let mut hand = Hand::new(&config);
    for overrides in [&blocking, &embedding, &blocking, &embedding] {
        let attempt = sent(hand.arrive_with("m", false, Some(overrides.clone())));
        serve(&mut hand, attempt);
    }
    for name in ["a", "m"] {
        let attempt = sent(hand.arrive(name));
        serve(&mut hand, attempt);
    }

    // A blocking call is checked all the same; an embedding is not.
    let refused = answered(hand.arrive_with("m", false, Some(blocking)));
    assert_eq!(error(refused), RouteError::OverRpm);
    let _ = sent(hand.arrive_with("m", false, Some(embedding)));
}

#[test]
fn rpm_is_named_as_the_reason_before_the_window_and_that_before_the_region() {
    let mut config = checked(["a", "b"], OLD);
    config.deployments[0].rpm = Some(0);
    config.deployments[0].max_parallel_requests = Some(9);
    config.deployments[1].max_input_tokens = Some(100);
    config.deployments[1].region_name = Some("eu".to_owned());
    let mut hand = Hand::new(&config);

    assert_eq!(error(answered(long(&mut hand, 101))), RouteError::OverRpm);

    config.profile = NEW;
    config.deployments[0].region_name = Some("us".to_owned());
    let mut hand = Hand::new(&config);
    let overrides = Overrides {
        allowed_model_region: Some("us".to_owned()),
        ..Overrides::default()
    };
    config.deployments[0].max_input_tokens = Some(100);
    let attempt = sent(hand.arrive_as("m", |request| {
        request.prompt_tokens = 101;
        request.overrides = Some(Arc::new(overrides.clone()));
    }));
    assert_eq!(attempt.deployment(), A);
    let mut hand = Hand::new(&config);
    let nobody = answered(hand.arrive_as("m", |request| {
        request.prompt_tokens = 101;
        request.overrides = Some(Arc::new(overrides));
    }));
    assert_eq!(error(nobody), RouteError::PromptTooLong);
}

#[test]
fn an_order_tier_that_fits_nobody_gives_way_to_the_next() {
    let mut config = checked(["a", "b"], NEW);
    config.deployments[0].order = Some(1);
    config.deployments[0].max_input_tokens = Some(100);
    config.deployments[1].order = Some(2);
    let mut hand = Hand::new(&config);

    let attempt = sent(long(&mut hand, 101));

    assert_eq!(attempt.deployment(), B);
}

#[test]
fn whoever_is_left_while_the_fitting_one_is_benched_is_too_small_all_the_same() {
    let mut config = checked(["a", "b"], NEW);
    config.deployments[0].max_input_tokens = Some(100);
    let mut hand = Hand::new(&config);
    let attempt = sent(hand.arrive("b"));
    let _ = hand.fail(attempt, 429);

    let error = error(answered(long(&mut hand, 101)));

    assert_eq!(error, RouteError::PromptTooLong);
}

#[test]
fn without_enable_pre_call_checks_nothing_is_checked() {
    let mut config = checked(["a"], OLD);
    config.settings.enable_pre_call_checks = false;
    config.deployments[0].max_input_tokens = Some(5);
    config.deployments[0].rpm = Some(1);
    let mut hand = Hand::new(&config);

    for _ in 0..3 {
        let attempt = sent(from(&mut hand, "eu"));
        serve(&mut hand, attempt);
    }
}
