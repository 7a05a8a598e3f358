//! Settings that need senders, in scenarios that have them and in none.

use router::Profile;

use crate::{around, found_for, workload};

const CONFIG: &str = "model_list: [{model_name: m, litellm_params: {model: openai/m}}]\n";

/// Where the finding stands, for a setting and senders.
fn places(setting: &str, senders: &str) -> Vec<String> {
    let text = format!("{CONFIG}router_settings: {{{setting}}}\n");
    let workload = workload(senders);
    let found = found_for(&text, Profile::default(), Some(around(&workload)));
    let found = found
        .into_iter()
        .filter(|finding| finding.id == "needs-senders");
    found.map(|finding| finding.path).collect()
}

#[test]
fn a_setting_that_some_sender_exercises_is_no_finding() {
    for (setting, senders, others) in [
        (
            "optional_pre_call_checks: [session_affinity]",
            "chat: {share: 0.1, sessions: {live: 10, turns: 5}}",
            "chat: {callers: 3}",
        ),
        (
            "optional_pre_call_checks: [deployment_affinity]",
            "chat: {callers: 3}",
            "chat: {sessions: {live: 10, turns: 5}}",
        ),
        (
            "optional_pre_call_checks: [prompt_caching]",
            "chat: {shared_prefix: {tokens: 2000}}",
            "chat: {shared_prefix: {tokens: 2000}, cache_control: false}",
        ),
        (
            "model_group_affinity_config: {m: [session_affinity]}",
            "chat: {sessions: {live: 10, turns: 5}}",
            "chat: {callers: 3}",
        ),
        (
            "cache_responses: true",
            "chat: {repeats: {share: 0.5, pool: 10}}",
            "chat: {callers: 3}",
        ),
        (
            "enable_tag_filtering: true",
            "chat: {tags: [free]}",
            "chat: {callers: 3}",
        ),
        (
            "enable_tag_filtering: true",
            "chat: {user_agent: curl/8}",
            "",
        ),
    ] {
        let key = setting.split(':').next().unwrap();
        assert_eq!(
            places(setting, senders),
            [""; 0],
            "{setting} with {senders}"
        );
        let found = places(setting, others);
        assert_eq!(
            found,
            [format!("router_settings.{key}")],
            "{setting} with {others}"
        );
    }
}

#[test]
fn nobody_hears_an_alert_whoever_sends() {
    let setting = "alerting_config: {webhook_url: 'https://example.org/hook'}";

    let found = places(setting, "chat: {callers: 3, tags: [free]}");

    assert_eq!(found, ["router_settings.alerting_config"]);
}

#[test]
fn a_config_alone_has_users_and_needs_no_senders() {
    let text = format!("{CONFIG}router_settings: {{cache_responses: true}}\n");

    let found = found_for(&text, Profile::default(), None);

    assert!(
        found.iter().all(|finding| finding.id != "needs-senders"),
        "{found:#?}"
    );
}
