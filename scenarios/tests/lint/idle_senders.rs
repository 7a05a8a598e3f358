//! What senders bring along, under configs that act on it and under others.

use router::Profile;

use crate::{around, found_for, workload};

pub(crate) const RULE: &str = "sender-without-effect";

const OLD: Profile = Profile::litellm_1_92();
const NEW: Profile = Profile::litellm_1_110();

/// What is found for senders under a config with these settings, and where.
fn told(profile: Profile, senders: &str, settings: &str, params: &str) -> Vec<String> {
    let text = format!(
        "model_list: [{{model_name: m, litellm_params: {{model: openai/m{params}}}}}]\nrouter_settings: \
         {{num_retries: 1{settings}}}\n"
    );
    let workload = workload(senders);
    let found = found_for(&text, profile, Some(around(&workload)));
    let found = found.into_iter().filter(|finding| finding.id == RULE);
    found
        .map(|finding| {
            assert!(finding.line > 0, "{finding}");
            format!("{} {}: {}", finding.severity, finding.path, finding.what)
        })
        .collect()
}

#[test]
fn what_no_setting_acts_on_is_found_and_what_one_acts_on_is_not() {
    let checks = |name: &str| format!(", optional_pre_call_checks: [{name}]");
    let tags = ", enable_tag_filtering: true".to_owned();
    let cases = [
        ("tags: [free]", "`tags`", tags.clone(), ""),
        (
            "user_agent: curl/8",
            "`user_agent`",
            tags,
            ", tag_regex: [curl]",
        ),
        (
            "sessions: {live: 3, turns: 4}",
            "`sessions`",
            checks("session_affinity"),
            "",
        ),
        ("callers: 3", "`callers`", checks("deployment_affinity"), ""),
        (
            "repeats: {share: 0.5, pool: 3}",
            "`repeats`",
            ", cache_responses: true".to_owned(),
            "",
        ),
        (
            "no_cache: true",
            "`no_cache`",
            ", cache_responses: true".to_owned(),
            "",
        ),
        (
            "allowed_model_region: eu",
            "`allowed_model_region`",
            ", enable_pre_call_checks: true".to_owned(),
            "",
        ),
    ];
    for (sender, name, setting, params) in cases {
        let senders = format!("chat: {{share: 0.5, {sender}}}");
        let idle = told(NEW, &senders, "", params);
        assert_eq!(idle.len(), 1, "{sender}: {idle:#?}");
        assert!(
            idle[0].contains(name) && idle[0].contains("`chat`"),
            "{idle:#?}"
        );
        let acted_on = told(NEW, &senders, &setting, params);
        assert!(
            acted_on.is_empty(),
            "{sender} with {setting}: {acted_on:#?}"
        );
    }
}

#[test]
fn a_setting_of_one_group_acts_on_senders_too() {
    let setting = ", model_group_affinity_config: {m: [session_affinity]}";

    assert!(told(NEW, "a: {sessions: {live: 3, turns: 4}}", setting, "").is_empty());
    // 1.110 tells sessions apart by their caller, 1.92 does not look at keys.
    assert!(told(NEW, "a: {callers: 2}", setting, "").is_empty());
    assert_eq!(told(OLD, "a: {callers: 2}", setting, "").len(), 1);
}

#[test]
fn a_priority_waits_in_1_92_alone_and_not_as_zero_or_of_an_embedding() {
    assert_eq!(told(NEW, "a: {priority: 1}", "", "").len(), 1);
    assert!(told(OLD, "a: {priority: 1}", "", "").is_empty());
    assert_eq!(told(OLD, "a: {priority: 0}", "", "").len(), 1);
    assert_eq!(
        told(OLD, "a: {priority: 1, api: embedding}", "", "").len(),
        1
    );
}

#[test]
fn max_retries_is_passed_on_in_1_92_alone() {
    assert!(told(OLD, "a: {max_retries: 2}", "", "").is_empty());
    assert_eq!(told(NEW, "a: {max_retries: 2}", "", "").len(), 1);
    assert!(told(NEW, "a: {max_retries: 2, api: embedding}", "", "").is_empty());
}

#[test]
fn senders_that_are_alike_are_told_together() {
    let found = told(
        NEW,
        "a: {share: 0.2, tags: [x]}, b: {share: 0.2, tags: [y]}",
        "",
        "",
    );

    insta::assert_snapshot!(found.join("\n"), @"warning router_settings: `tags` of senders `a` and `b`: tag filtering is off, so tags do not route");
}
