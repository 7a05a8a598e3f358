//! Tags, regions, priorities and settings that requests bring along.

use router::{DeploymentId, ProfileName};

use crate::{A, B, C, D, DOWN, FAST, Heard, Seen, by, load, plan, text};

/// Where a sender's requests were answered.
fn places(requests: &[&Seen]) -> Vec<DeploymentId> {
    by(requests, |_| Some(())).remove(&()).unwrap_or_default()
}

#[test]
fn tags_lead_to_the_deployments_that_have_them() {
    let senders = "senders: {free: {share: 0.3, tags: [free]}, paid: {share: 0.3}}";
    let plan = plan("enable_tag_filtering: true", FAST, senders);
    let heard = Heard::of(&plan);

    assert_eq!(places(&heard.of_sender(&plan, "free")), [C]);
    assert_eq!(places(&heard.of_sender(&plan, "paid")), [A, B]);
}

#[test]
fn a_ban_keeps_away_from_the_deployments_that_have_its_tag() {
    let senders = "senders: {careful: {tags: ['!default']}}";
    let plan = plan("enable_tag_filtering: true", FAST, senders);
    let heard = Heard::of(&plan);

    assert!(heard.all().iter().all(|seen| seen.answered_by != Some(A)));
    assert!(heard.all().iter().all(|seen| seen.answered_by != Some(B)));
}

#[test]
fn a_user_agent_is_what_a_tag_regex_looks_at() {
    let senders = "senders: {tool: {share: 0.5, user_agent: claude-cli/2.1}}";
    let text = text("enable_tag_filtering: true", FAST, senders)
        .replace("tags: [free]", "tag_regex: ['claude-cli']");
    let plan = load(&text).plan(0, 0);
    let heard = Heard::of(&plan);

    assert_eq!(places(&heard.of_sender(&plan, "tool")), [C]);
}

#[test]
fn a_region_is_the_only_one_that_serves() {
    let senders = "senders: {eu: {share: 0.4, allowed_model_region: eu}, others: {}}";
    let with = plan("enable_pre_call_checks: true", FAST, senders);
    let heard = Heard::of(&with);
    assert_eq!(places(&heard.of_sender(&with, "eu")), [C]);
    assert_eq!(places(&heard.of_sender(&with, "others")), [A, B, C]);

    let without = plan("", FAST, senders);
    let heard = Heard::of(&without);
    assert_eq!(places(&heard.of_sender(&without, "eu")), [A, B, C]);
}

/// All deployments are cooled from time to time, and somebody asks with a priority.
fn queue(profile: ProfileName) -> (usize, usize, usize) {
    let settings = "num_retries: 0, allowed_fails: 0, cooldown_time: 20";
    let providers = "default: {latency: {first_token: {constant: {ms: 200}}}, faults: [{outage: {from_s: 30, to_s: 40, status: 429}}]}";
    let senders =
        "senders: {urgent: {share: 0.2, priority: 1}, patient: {share: 0.4, priority: 9}}";
    let text = text(settings, providers, senders) + &format!("profile: {}\n", profile.as_str());
    let plan = load(&text).plan(0, 0);
    let heard = Heard::of(&plan);
    let waited = |name: &str| {
        let own = heard.of_sender(&plan, name);
        own.iter().filter(|seen| seen.queued > 0).count()
    };
    let names = ["urgent", "patient"];
    let of_senders: usize = names.iter().map(|name| waited(name)).sum();
    let all = heard.all();
    let everybody = all.iter().filter(|seen| seen.queued > 0).count();
    (waited("urgent"), waited("patient"), everybody - of_senders)
}

#[test]
fn a_priority_waits_in_the_queue_of_1_92_while_all_are_cooled_and_in_none_of_1_110() {
    let (urgent, patient, others) = queue(ProfileName::Litellm192);
    assert!(urgent > 5 && patient > 20, "{urgent} and {patient} waited");
    assert_eq!(others, 0, "who names no priority does not queue");

    assert_eq!(queue(ProfileName::Litellm1110), (0, 0, 0));
}

#[test]
fn a_sender_has_retries_of_its_own() {
    let senders =
        "senders: {stubborn: {share: 0.3, num_retries: 4}, hasty: {share: 0.3, num_retries: 0}}";
    let settings = "num_retries: 2, disable_cooldowns: true";
    let plan = plan(settings, DOWN, senders);
    let heard = Heard::of(&plan);

    let attempts = |requests: Vec<&Seen>| {
        let attempts: Vec<usize> = requests.iter().map(|seen| seen.sent.len()).collect();
        assert!(
            attempts.windows(2).all(|pair| pair[0] == pair[1]),
            "{attempts:?}"
        );
        attempts[0]
    };
    assert_eq!(attempts(heard.of_sender(&plan, "stubborn")), 5);
    assert_eq!(attempts(heard.of_sender(&plan, "hasty")), 1);
    assert!(heard.all().iter().any(|seen| seen.sent.len() == 3));
}

#[test]
fn a_sender_gives_up_when_its_own_time_is_over() {
    let senders = "senders: {hasty: {share: 0.4, timeout: 0.5, num_retries: 0}, \
                   listener: {share: 0.3, stream_share: 1, stream_timeout: 1, num_retries: 0}}";
    let slow = "default: {latency: {first_token: {constant: {ms: 2000}}}}";
    let plan = plan("disable_cooldowns: true", slow, senders);
    let heard = Heard::of(&plan);

    for (name, seconds) in [("hasty", 0.5), ("listener", 1.0)] {
        for seen in heard.of_sender(&plan, name) {
            assert_eq!(
                (seen.error, seen.took_s),
                (Some("Timeout"), seconds),
                "{name}"
            );
        }
    }
    assert!(heard.all().iter().any(|seen| seen.took_s == 2.0));
}

#[test]
fn a_sender_falls_back_where_it_says_and_not_at_all_where_it_says_so() {
    let down = "\"m\": {latency: {first_token: {constant: {ms: 200}}}, faults: [{outage: {status: 500}}]}, \
                spare: {latency: {first_token: {constant: {ms: 200}}}}";
    let senders = "senders: {own: {share: 0.3, fallbacks: [spare]}, none: {share: 0.3, disable_fallbacks: true}}";
    let settings = "num_retries: 0, disable_cooldowns: true";
    let heard_with = |fallbacks: &str| {
        let plan = plan(&format!("{settings}{fallbacks}"), down, senders);
        let heard = Heard::of(&plan);
        let places_of = |name| places(&heard.of_sender(&plan, name));
        (places_of("own"), places_of("none"), places(&heard.all()))
    };

    assert_eq!(heard_with(""), (vec![D], vec![], vec![D]));
    let (_, none, all) = heard_with(", fallbacks: [{m: [spare]}]");
    assert_eq!((none, all), (vec![], vec![D]));
}

#[test]
fn mirrors_carry_the_tags_of_their_sender() {
    let text = text(
        "enable_tag_filtering: true",
        FAST,
        "senders: {free: {tags: [free]}}",
    )
    .replace(
        "tags: [free], input",
        "tags: [free], silent_model: spare, input",
    )
    .replace("model: openai/d", "model: openai/d, tags: [free]");
    let plan = load(&text).plan(0, 0);
    let heard = Heard::of(&plan);

    let mirrors = heard.requests.iter().filter(|(id, _)| id.is_mirror());
    let answered = mirrors.map(|(_, seen)| seen.answered_by);
    let answered: Vec<_> = answered.collect();
    assert!(answered.len() > 500);
    assert!(answered.into_iter().all(|by| by == Some(D)));
}
