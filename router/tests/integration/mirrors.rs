//! Silent models: who gets a copy of what, and that nothing else changes.

use std::{sync::Arc, time::Duration};

use router::{
    Answer, Api, DeploymentId, Origin, Overrides, Request, RequestFallbacks, RequestId,
    RouterConfig, SessionId,
};

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent};

/// `a` of `m` is mirrored to `silent`, which `s` and `t` serve.
fn mirrored(profile: router::Profile) -> RouterConfig {
    let mut config = group(["a", "s", "t"], profile);
    config.deployments[0].silent_model = Some("silent".to_owned());
    config.deployments[1].model_name = "silent".to_owned();
    config.deployments[2].model_name = "silent".to_owned();
    config
}

#[test]
fn every_attempt_is_mirrored_and_each_mirror_is_a_request_of_its_own() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&mirrored(profile));
        let mut turn = hand.arrive("m");
        let mut mirrors = Vec::new();
        for _ in 0..3 {
            let attempt = sent(turn);
            let (mirror, copied) = hand.mirror();
            assert_ne!(sent(copied).deployment(), A);
            assert_eq!(mirror.origin.mirror_of, Some(RequestId(0)));
            mirrors.push(mirror.id);
            assert!(hand.router.take_mirror().is_none());
            let waits = hand.fail(attempt, 500);
            turn = match waits.step {
                router::Step::Wait(wait) => hand.wait(wait),
                other => panic!("a lone deployment waits, not {other:?}"),
            };
        }

        assert!(matches!(answered(turn), Answer::Failed { .. }));
        mirrors.dedup();
        assert_eq!(mirrors.len(), 3);
        assert!(mirrors.iter().all(|id| id.is_mirror()));
    }
}

#[test]
fn a_mirror_streams_with_its_request_in_1_110_only() {
    for (profile, streams) in [(OLD, false), (NEW, true)] {
        let mut hand = Hand::new(&mirrored(profile));
        let _attempt = sent(hand.arrive_with("m", true, None));

        assert_eq!(hand.mirror().0.stream, streams);
    }
}

#[test]
fn a_mirror_is_not_mirrored_again() {
    let mut config = mirrored(NEW);
    config.deployments[1].silent_model = Some("m".to_owned());
    config.deployments[2].silent_model = Some("m".to_owned());
    let mut hand = Hand::new(&config);

    let _attempt = sent(hand.arrive("m"));
    let (_, turn) = hand.mirror();

    let _copy = sent(turn);
    assert!(hand.router.take_mirror().is_none());
    assert_eq!(hand.heard("Mirrored"), 1);
}

#[test]
fn a_mirror_keeps_timeouts_tags_and_session_but_neither_retries_nor_fallbacks() {
    let mut hand = Hand::new(&mirrored(NEW));
    let own = Overrides {
        num_retries: Some(0),
        disable_fallbacks: true,
        fallbacks: Some(RequestFallbacks::Names(vec!["m".to_owned()])),
        timeout: Some(Duration::from_secs(3)),
        tags: vec!["free".to_owned()],
        ..Overrides::default()
    };
    let origin = Origin {
        session: std::num::NonZeroU64::new(4).map(SessionId),
        priority: Some(1),
        ..Origin::default()
    };
    let _attempt = sent(hand.arrive_from(origin, "m", false, Some(own)));

    let (mirror, copied) = hand.mirror();
    let copy = sent(copied);
    let overrides = mirror.overrides.as_deref().cloned().unwrap();
    assert_eq!(overrides.num_retries, None);
    assert!(!overrides.disable_fallbacks && overrides.fallbacks.is_none());
    assert_eq!(overrides.timeout, Some(Duration::from_secs(3)));
    assert_eq!(overrides.tags, ["free"]);
    assert_eq!(
        (mirror.origin.session, mirror.origin.priority),
        (origin.session, None)
    );
    // The router's own retries are in force for it.
    let _again = sent(hand.fail(copy, 500));
}

#[test]
fn failures_of_mirrors_bench_the_silent_group_and_leave_the_primary_alone() {
    let mut hand = Hand::new(&mirrored(NEW));
    let attempt = sent(hand.arrive("m"));
    let (_, turn) = hand.mirror();
    let answer = hand.fail_until_done(turn, 429);

    assert!(matches!(answer, Answer::Failed { .. }));
    assert!(
        hand.router
            .cooled_until(hand.now, DeploymentId(1))
            .is_some()
    );
    assert!(
        hand.router
            .cooled_until(hand.now, DeploymentId(2))
            .is_some()
    );
    assert_eq!(hand.router.cooled_until(hand.now, A), None);
    let answer = answered(hand.succeed(attempt));
    assert!(matches!(answer, Answer::Completed { deployment: A, .. }));
    hand.assert_idle();
}

#[test]
fn a_mirror_is_begun_even_where_the_attempt_then_finds_no_slot() {
    let mut config = mirrored(NEW);
    config.deployments[0].max_parallel_requests = Some(1);
    config.settings.num_retries = Some(0);
    let mut hand = Hand::new(&config);

    let _holds = sent(hand.arrive("m"));
    let _ = answered(hand.arrive("m"));

    assert_eq!(hand.heard("Mirrored"), 2);
}

#[test]
fn embeddings_are_not_mirrored() {
    let mut hand = Hand::new(&mirrored(NEW));
    let embedding = Overrides {
        api: Api::Embedding,
        ..Overrides::default()
    };

    let _attempt = sent(hand.arrive_with("m", false, Some(embedding)));

    assert!(hand.router.take_mirror().is_none());
}

#[test]
fn a_primary_meets_the_same_luck_with_and_without_mirrors() {
    let picks = |silent: bool| {
        let mut config = group(["a", "b", "s"], NEW);
        config.deployments[2].model_name = "silent".to_owned();
        if silent {
            config.deployments[0].silent_model = Some("silent".to_owned());
            config.deployments[1].silent_model = Some("silent".to_owned());
        }
        let mut hand = Hand::new(&config);
        let mut picks = Vec::new();
        for _ in 0..40 {
            let mut turn = hand.arrive("m");
            for _ in 0..2 {
                let attempt = sent(turn);
                if silent {
                    let (_, mirror) = hand.mirror();
                    let copy = sent(mirror);
                    let _ = answered(hand.succeed(copy));
                }
                picks.push(attempt.deployment());
                turn = hand.fail(attempt, 400 + 3);
            }
            let last = sent(turn);
            if silent {
                hand.router.take_mirror().unwrap();
            }
            let _ = answered(hand.succeed(last));
        }
        picks
    };

    let alone = picks(false);
    assert!(alone.contains(&A) && alone.contains(&B));
    assert_eq!(picks(true), alone);
}

#[test]
fn settings_that_a_stream_of_requests_shares_are_reduced_once() {
    let mut hand = Hand::new(&mirrored(NEW));
    let shared = Arc::new(Overrides {
        num_retries: Some(0),
        timeout: Some(Duration::from_secs(1)),
        ..Overrides::default()
    });
    let model = hand.model("m");
    let mut ask = |id| {
        let request = Request {
            id: RequestId(id),
            model,
            prompt_tokens: 1,
            max_tokens: None,
            stream: false,
            origin: Origin::default(),
            overrides: Some(Arc::clone(&shared)),
        };
        let _attempt = sent(hand.router.arrive(hand.now, request, &mut ()));
        let mirror = hand.router.take_mirror().unwrap();
        mirror.overrides.unwrap()
    };

    assert!(Arc::ptr_eq(&ask(10), &ask(11)));
}
