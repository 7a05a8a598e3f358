//! Tag routing: 400 recorded picks, and what follows a pick.

use std::collections::BTreeSet;

use router::{
    Answer, ConfigError, Overrides, Profile, ProfileName, RouteError, Router, RouterConfig, Seed,
    Step, Turn,
};
use serde_json::Value;

use crate::harness::{A, B, Hand, NEW, OLD, answered, group, sent};

/// What both versions did with random tags, asked without a call: who was picked in 25 tries, or
/// which error came.
const RECORDED: &str = include_str!("../conformance/record/tag_filtering.json");

fn texts(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten();
    texts.map(|v| v.as_str().unwrap().to_owned()).collect()
}

/// The requests' tags and user agent.
fn tagged(tags: &[&str], agent: Option<&str>) -> Option<Overrides> {
    Some(Overrides {
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        user_agent: agent.map(str::to_owned),
        ..Overrides::default()
    })
}

fn filtered<const N: usize>(tags: [&[&str]; N], profile: Profile) -> RouterConfig {
    let ids = ["a", "b", "c", "d", "e"];
    let mut config = group(ids, profile);
    config.deployments.truncate(N);
    for (deployment, tags) in config.deployments.iter_mut().zip(tags) {
        deployment.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    }
    config.settings.enable_tag_filtering = true;
    config.settings.num_retries = Some(0);
    config
}

/// Moves the deployments from this one on to the group `g`, which `m` falls back to.
fn fall_back(config: &mut RouterConfig, from: usize) {
    for deployment in &mut config.deployments[from..] {
        deployment.model_name = "g".to_owned();
    }
    config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["g".to_owned()])]);
}

fn is_refused(turn: Turn) -> bool {
    let Step::Done(Answer::Failed { error, .. }) = turn.step else {
        return false;
    };
    if error == RouteError::NoMatchingTags {
        assert_eq!((error.exception(), error.status()), ("ValueError", None));
        return true;
    }
    false
}

#[test]
fn picks_by_tags_are_those_that_both_versions_made() {
    let cases: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    assert_eq!(cases.len(), 400);
    for case in &cases {
        for (version, name) in [
            ("1.92.0", ProfileName::Litellm192),
            ("1.110.2", ProfileName::Litellm1110),
        ] {
            let served = &case["served"][version];
            if !served.is_null() {
                assert_eq!(&picks(case, name), served, "{version}: {case}");
            }
        }
    }
}

fn picks(case: &Value, profile: ProfileName) -> Value {
    let mut config = RouterConfig::of_deployments(["a", "b", "c", "d"]);
    config.profile = profile.profile();
    let deployments = case["deployments"].as_array().unwrap();
    config.deployments.truncate(deployments.len());
    for (deployment, given) in config.deployments.iter_mut().zip(deployments) {
        deployment.tags = texts(&given["tags"]);
        deployment.tag_regex = texts(&given["tag_regex"]);
        deployment.blocked = given["blocked"] == true;
    }
    config.settings.num_retries = Some(0);
    config.settings.enable_tag_filtering = true;
    config.settings.tag_filtering_match_any = Some(case["match_any"] != false);
    config.settings.tag_routing_prefix = case["prefix"].as_str().map(str::to_owned);
    let tags = texts(&case["tags"]);
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    let overrides = tagged(&tags, case["user_agent"].as_str());
    let mut hand = Hand::new(&config);
    let mut picked = BTreeSet::new();
    for _ in 0..60 {
        match hand.arrive_with("m", false, overrides.clone()).step {
            Step::Send(attempt) => {
                picked.insert(attempt.deployment().0);
                let _ = hand.succeed(attempt);
            }
            Step::Done(Answer::Failed { error, .. }) => {
                return Value::from(match error {
                    RouteError::NoMatchingTags => "no matching tags",
                    RouteError::NoDeployments { .. } => "no deployments",
                    other => panic!("{other:?}"),
                });
            }
            other => panic!("{other:?}"),
        }
    }
    picked.into_iter().collect()
}

#[test]
fn in_1_92_retries_and_fallbacks_see_the_tags_of_who_was_picked_before() {
    // The request asks for `free`; whoever has that has `paid` too.
    let mut config = filtered([&["free", "paid"], &["paid"], &["default"]], OLD);
    fall_back(&mut config, 1);
    let mut hand = Hand::new(&config);
    let attempt = sent(hand.arrive_with("m", false, tagged(&["free"], None)));
    let fallback = sent(hand.fail(attempt, 500));
    assert_eq!(fallback.deployment(), B);

    // In 1.110 nobody of the fallback has the tag, so that its default serves.
    config.profile = NEW;
    let mut hand = Hand::new(&config);
    let attempt = sent(hand.arrive_with("m", false, tagged(&["free"], None)));
    let fallback = sent(hand.fail(attempt, 500));
    assert_eq!(fallback.deployment().0, 2);
}

#[test]
fn in_1_92_an_untagged_request_keeps_to_the_tags_of_its_first_deployment() {
    let mut config = filtered([&["free"], &["paid"]], OLD);
    config.settings.num_retries = Some(3);
    config.settings.disable_cooldowns = true;
    let mut hand = Hand::new(&config);
    for _ in 0..10 {
        let mut attempt = sent(hand.arrive("m"));
        let first = attempt.deployment();
        for _ in 0..3 {
            attempt = sent(hand.fail(attempt, 500));
            assert_eq!(attempt.deployment(), first);
        }
        let _ = hand.succeed(attempt);
    }
}

#[test]
fn in_1_92_a_call_by_id_joins_the_tags_of_its_deployment() {
    let mut config = filtered([&["free"], &["free"], &["default"]], OLD);
    fall_back(&mut config, 1);
    config.settings.fallbacks = Some(vec![("a".to_owned(), vec!["g".to_owned()])]);
    let mut hand = Hand::new(&config);
    let attempt = sent(hand.arrive("a"));

    let fallback = sent(hand.fail(attempt, 500));

    assert_eq!(fallback.deployment(), B);
}

#[test]
fn tags_whose_deployment_is_benched_lead_to_the_default_in_1_92_and_nowhere_in_1_110() {
    for profile in [OLD, NEW] {
        let mut config = filtered([&["free"], &["default"]], profile);
        config.settings.num_retries = Some(2);
        let mut hand = Hand::new(&config);
        let attempt = sent(hand.arrive_with("m", false, tagged(&["free"], None)));
        assert_eq!(attempt.deployment(), A);

        let retry = hand.fail(attempt, 429);

        if profile == NEW {
            assert!(is_refused(retry), "the error takes the place of the 429");
        } else {
            assert_eq!(sent(retry).deployment(), B);
        }
    }
}

#[test]
fn a_tagged_request_to_a_group_without_tags_is_refused() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&filtered([&[], &[]], profile));

        assert!(is_refused(hand.arrive_with(
            "m",
            false,
            tagged(&["free"], None)
        )));
        let _ = sent(hand.arrive("m"));
    }
}

#[test]
fn blocking_calls_and_routers_without_tag_filtering_know_no_tags() {
    let mut config = filtered([&["free"], &["paid"]], NEW);
    let mut overrides = tagged(&["gold"], None).unwrap();
    overrides.blocking = true;
    let mut hand = Hand::new(&config);
    let _ = sent(hand.arrive_with("m", false, Some(overrides)));

    config.settings.enable_tag_filtering = false;
    let mut hand = Hand::new(&config);
    let _ = sent(hand.arrive_with("m", false, tagged(&["gold"], None)));
}

#[test]
fn tags_come_before_order_tiers() {
    let mut config = filtered([&["free"], &["paid"]], NEW);
    config.deployments[0].order = Some(1);
    config.deployments[1].order = Some(2);
    let mut hand = Hand::new(&config);

    let attempt = sent(hand.arrive_with("m", false, tagged(&["paid"], None)));

    assert_eq!(attempt.deployment(), B);
}

#[test]
fn a_pattern_that_cannot_be_read_is_refused_even_if_tags_are_off() {
    let mut config = group(["a"], NEW);
    config.deployments[0].tag_regex = vec!["(".to_owned()];

    let error = Router::new(&config, Seed(0)).unwrap_err();

    assert!(matches!(error, ConfigError::BadTagRegex { .. }));
    let text = error.to_string();
    assert!(
        text.starts_with("tag_regex of deployment `a` holds `(`"),
        "{text}"
    );
}

#[test]
fn the_passed_over_are_told_why() {
    let mut hand = Hand::new(&filtered([&["free"], &["paid"]], NEW));

    let _ = sent(hand.arrive_with("m", false, tagged(&["paid"], None)));

    let told = hand.said.0.iter().filter(|said| said.contains("OtherTags"));
    assert_eq!(told.count(), 1);
    let answer = answered(hand.arrive_with("m", false, tagged(&["gold"], None)));
    assert!(matches!(answer, Answer::Failed { .. }));
    assert!(
        hand.said
            .0
            .iter()
            .any(|said| said.contains("NothingToPick"))
    );
}

#[test]
fn in_1_110_a_call_by_id_is_refused_where_the_tags_do_not_lead_there() {
    for profile in [OLD, NEW] {
        let mut hand = Hand::new(&filtered([&["free"], &["default"]], profile));
        let blocking = tagged(&["paid"], None).map(|overrides| Overrides {
            blocking: true,
            ..overrides
        });

        let _ = sent(hand.arrive_with("a", false, tagged(&["free"], None)));
        let _ = sent(hand.arrive_with("a", false, None));
        let _ = sent(hand.arrive_with("a", false, blocking));
        // The default serves by its id, although another of its group has the tag.
        let _ = sent(hand.arrive_with("b", false, tagged(&["free"], None)));
        for stream in [false, true] {
            let turn = hand.arrive_with("a", stream, tagged(&["paid"], None));
            assert_eq!(is_refused(turn), profile == NEW);
            let turn = hand.arrive_with("a", stream, tagged(&["!free"], None));
            assert_eq!(is_refused(turn), profile == NEW);
        }
    }
}
