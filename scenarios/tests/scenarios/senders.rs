//! Who sends: shares, sessions, callers, repeated contents and shared prefixes, as functions of the seed
//! and the request's number.

use std::collections::{BTreeMap, BTreeSet};

use router::{ContentId, RequestFallbacks, SessionId};
use scenarios::{Arrival, Provenance, RunPlan};

use super::{GOOD, load};

/// The good scenario with these senders and a hundred times as many requests.
fn plan(senders: &str) -> RunPlan {
    let text = GOOD.replace("per_second: 10", "per_second: 1000");
    load(&format!("{text}  senders: {senders}\n"))
        .unwrap_or_else(|error| panic!("{error}"))
        .plan(0, 0)
}

fn says(senders: &str) -> String {
    let text = format!("{GOOD}  senders: {senders}\n");
    load(&text).unwrap_err().to_string()
}

fn arrivals(plan: &RunPlan) -> Vec<Arrival> {
    plan.workload.arrivals(plan.seed).collect()
}

fn all(plan: &RunPlan) -> Vec<Provenance<'_>> {
    let numbers = 0..arrivals(plan).len() as u64;
    numbers
        .map(|number| plan.workload.provenance(plan.seed, number).unwrap())
        .collect()
}

/// Part ÷ whole.
fn share<T>(all: &[T], has: impl Fn(&T) -> bool) -> f64 {
    all.iter().filter(|one| has(one)).count() as f64 / all.len() as f64
}

#[test]
fn senders_have_their_shares_and_the_rest_is_of_nobody_in_particular() {
    let plan = plan("{gold: {share: 0.2, priority: 1}, free: {share: 0.5, tags: [free]}}");
    let all = all(&plan);

    assert_eq!(plan.workload.sender_names(), ["free", "gold"]);
    assert!((share(&all, |p| p.sender == Some(0)) - 0.5).abs() < 0.01);
    assert!((share(&all, |p| p.sender == Some(1)) - 0.2).abs() < 0.01);
    for one in &all {
        assert_eq!(one.origin.priority, (one.sender == Some(1)).then_some(1));
        assert_eq!(one.overrides.is_some(), one.sender == Some(0));
        assert!(one.origin.content.is_some(), "each request has a content");
    }
}

#[test]
fn a_sender_without_a_share_takes_what_the_others_leave() {
    let plan = plan("{gold: {share: 0.2}, free: {}}");

    assert!((share(&all(&plan), |p| p.sender == Some(0)) - 0.8).abs() < 0.01);
}

#[test]
fn senders_change_neither_times_nor_lengths_of_requests_that_are_sent_once() {
    let without = load(&GOOD.replace("per_second: 10", "per_second: 1000"));
    let with = plan(
        "{gold: {share: 0.2, callers: 10, sessions: {live: 5, turns: 3}}, free: {batch: true}}",
    );

    assert_eq!(arrivals(&without.unwrap().plan(0, 0)), arrivals(&with));
}

#[test]
fn a_request_is_the_same_whenever_and_in_whatever_order_it_is_asked_for() {
    let plan = plan(
        "{chat: {callers: 10, sessions: {live: 5, turns: 3}, repeats: {share: 0.3, pool: 9}}}",
    );
    let forward = all(&plan);
    let numbers = (0..forward.len() as u64).rev();
    let mut backward: Vec<_> = numbers
        .map(|number| plan.workload.provenance(plan.seed, number).unwrap())
        .collect();
    backward.reverse();

    assert_eq!(forward, backward);
}

#[test]
fn sessions_have_their_turns_and_so_many_are_under_way() {
    let plan = plan(
        "{chat: {share: 0.5, callers: 7, sessions: {live: 100, turns: 6, history_tokens: 50}}}",
    );
    let mut sessions: BTreeMap<SessionId, Vec<u64>> = BTreeMap::new();
    let mut callers = BTreeMap::new();
    let mut tokens: BTreeMap<SessionId, u32> = BTreeMap::new();
    for (number, one) in (0..).zip(all(&plan)) {
        let Some(session) = one.origin.session else {
            assert_eq!(one.sender, None);
            continue;
        };
        sessions.entry(session).or_default().push(number);
        let caller = *callers.entry(session).or_insert(one.origin.caller);
        assert_eq!(one.origin.caller, caller, "a session has one caller");
        let (_, history) = one.beginning.history.unwrap();
        let before = tokens.insert(session, history).unwrap_or(0);
        assert!(history >= before && history % 50 == 0, "history only grows");
        assert!(history <= 5 * 50);
    }
    let whole = sessions
        .values()
        .filter(|turns| turns[0] > 3_000 && turns[0] < 57_000);
    let turns: Vec<f64> = whole.map(|turns| turns.len() as f64).collect();
    let mean = turns.iter().sum::<f64>() / turns.len() as f64;
    // A session without any request is not seen: 6 ÷ (1 − e^−6).
    assert!((mean - 6.0).abs() < 0.15, "{mean}");
    let under_way = |at: u64| {
        let spans = sessions
            .values()
            .map(|turns| (turns[0], turns[turns.len() - 1]));
        spans
            .filter(|(from, to)| (*from..=*to).contains(&at))
            .count()
    };
    // Between its first and its last request a session of six is five sevenths of its time.
    assert!(
        (60..=85).contains(&under_way(30_000)),
        "{}",
        under_way(30_000)
    );
    assert_eq!(callers.values().collect::<BTreeSet<_>>().len(), 7);
}

#[test]
fn repeated_contents_are_the_same_request_again() {
    let plan = plan(
        "{chat: {stream_share: 0.5, shared_prefix: {tokens: 500, pool: 4}, \
         repeats: {share: 0.4, pool: 50, skew: 1}}}",
    );
    let (arrivals, all) = (arrivals(&plan), all(&plan));
    let mut seen: BTreeMap<ContentId, (u32, u32, bool, Option<ContentId>)> = BTreeMap::new();
    let mut times: BTreeMap<ContentId, u32> = BTreeMap::new();
    for (arrival, one) in arrivals.iter().zip(&all) {
        let content = one.origin.content.unwrap();
        *times.entry(content).or_default() += 1;
        let is = (
            arrival.prompt_tokens,
            arrival.output_tokens,
            arrival.stream,
            one.origin.prefix,
        );
        assert_eq!(*seen.entry(content).or_insert(is), is);
    }
    let repeated: Vec<u32> = times.into_values().filter(|times| *times > 1).collect();
    assert_eq!(repeated.len(), 50);
    let requests = f64::from(repeated.iter().sum::<u32>()) / all.len() as f64;
    assert!((requests - 0.4).abs() < 0.01, "{requests}");
    // The first of 50 by Zipf's law: 1 ÷ H(50) = 0.222 of them.
    let most = f64::from(*repeated.iter().max().unwrap()) / all.len() as f64;
    assert!((most - 0.4 * 0.2223).abs() < 0.006, "{most}");
}

#[test]
fn a_shared_prefix_makes_prompts_longer_and_stays_the_same_in_a_session() {
    let plain = plan("{chat: {sessions: {live: 50, turns: 10}}}");
    let with =
        plan("{chat: {sessions: {live: 50, turns: 10}, shared_prefix: {tokens: 1500, pool: 3}}}");
    let mut prefixes = BTreeMap::new();
    for ((a, b), one) in arrivals(&plain).iter().zip(arrivals(&with)).zip(all(&with)) {
        assert_eq!(a.prompt_tokens + 1_500, b.prompt_tokens);
        let prefix = one.origin.prefix.unwrap();
        assert_eq!(one.beginning.shared, Some((prefix, 1_500)));
        let known = prefixes.entry(one.origin.session).or_insert(prefix);
        assert_eq!(*known, prefix);
    }
    assert_eq!(prefixes.values().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn without_marks_the_router_sees_no_prefix_and_the_provider_is_told() {
    let plan = plan("{chat: {shared_prefix: {tokens: 1500}, cache_control: false}}");

    for one in all(&plan) {
        assert_eq!(one.origin.prefix, None);
        assert!(one.beginning.shared.is_some() && !one.beginning.marked);
    }
}

#[test]
fn a_sender_has_models_limits_and_streams_of_its_own() {
    let text = GOOD.replace(
        "model_name: chat, litellm_params: {model: openai",
        "model_name: code, litellm_params: {model: openai",
    );
    let text = format!(
        "{text}  max_tokens: 700\n  senders: {{dev: {{share: 0.3, models: code, max_tokens: 50, stream_share: 1}}, \
         search: {{share: 0.3, api: embedding, stream_share: 1}}}}\n"
    )
    .replace("per_second: 10", "per_second: 100");
    let plan = load(&text)
        .unwrap_or_else(|error| panic!("{error}"))
        .plan(0, 0);

    assert_eq!(plan.workload.models(), ["chat", "code"]);
    for (arrival, one) in arrivals(&plan).into_iter().zip(all(&plan)) {
        let is = (
            arrival.model,
            arrival.max_tokens,
            arrival.stream,
            arrival.output_tokens > 0,
        );
        match one.sender {
            Some(0) => assert_eq!(is, (1, Some(50), true, true)),
            Some(_) => assert_eq!(is, (0, Some(700), false, false)),
            None => assert_eq!(is, (0, Some(700), false, true)),
        }
    }
}

#[test]
fn settings_of_a_sender_are_shared_by_all_of_its_requests() {
    let plan = plan(
        "{dev: {num_retries: 1, max_retries: 3, timeout: 20, stream_timeout: 5, disable_fallbacks: true, \
         fallbacks: [{model: chat}], context_window_fallbacks: [{chat: [chat]}], tags: [free, '!slow'], \
         user_agent: curl/8, allowed_model_region: eu, no_cache: true, blocking: true, batch: true}}",
    );
    let all = all(&plan);

    let own = all[0].overrides.unwrap();
    assert!(
        all.iter()
            .all(|one| std::sync::Arc::ptr_eq(one.overrides.unwrap(), own) && one.batch)
    );
    assert_eq!((own.num_retries, own.max_retries), (Some(1), Some(3)));
    assert_eq!(own.timeout.unwrap().as_secs(), 20);
    assert_eq!(own.stream_timeout.unwrap().as_secs(), 5);
    assert!(own.disable_fallbacks && own.no_cache && own.blocking);
    let maps = RequestFallbacks::Maps(vec!["chat".to_owned()]);
    assert_eq!(own.fallbacks.as_ref(), Some(&maps));
    let window = own.context_window_fallbacks.as_ref().unwrap();
    assert_eq!(window[0], ("chat".to_owned(), vec!["chat".to_owned()]));
    assert_eq!(own.tags, ["free", "!slow"]);
    assert_eq!(own.user_agent.as_deref(), Some("curl/8"));
    assert_eq!(own.allowed_model_region.as_deref(), Some("eu"));
}

#[test]
fn fallbacks_of_a_request_are_names_maps_or_lists_by_group() {
    let fallbacks = |list: &str| {
        let plan = plan(&format!("{{dev: {{fallbacks: {list}}}}}"));
        let own = plan
            .workload
            .provenance(plan.seed, 0)
            .unwrap()
            .overrides
            .cloned();
        own.unwrap().fallbacks.clone().unwrap()
    };
    let chat = || vec!["chat".to_owned()];

    assert_eq!(fallbacks("[]"), RequestFallbacks::Names(Vec::new()));
    assert_eq!(fallbacks("[chat]"), RequestFallbacks::Names(chat()));
    assert_eq!(fallbacks("[{model: chat}]"), RequestFallbacks::Maps(chat()));
    let by_group = RequestFallbacks::ByGroup(vec![("chat".to_owned(), chat())]);
    assert_eq!(fallbacks("[{chat: [chat]}]"), by_group);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    insta::assert_snapshot!(says("{a: {shares: 1}}"), @"s.yaml:14:17: workload.senders.a.shares: unknown key; did you mean `share`?");
    insta::assert_snapshot!(says("{a: {share: 0}}"), @"s.yaml:14:24: workload.senders.a.share: found the number 0; accepted is a share above 0 and up to 1");
    insta::assert_snapshot!(says("{a: {share: 0.7}, b: {share: 0.5}}"), @"s.yaml:14:12: workload.senders: the shares add up to 1.200; accepted is up to 1, and less if one sender takes what is left");
    insta::assert_snapshot!(says("{a: {}, b: {}}"), @"s.yaml:14:23: workload.senders.b.share: two senders have no share; accepted is one that takes what the others leave");
    insta::assert_snapshot!(says("{a: {share: 1}, b: {}}"), @"s.yaml:14:31: workload.senders.b.share: the shares add up to 1.000; accepted is up to 1, and less if one sender takes what is left");
    insta::assert_snapshot!(says("{a: {models: cat}}"), @"s.yaml:14:25: workload.senders.a.models.cat: no model group is called `cat`; did you mean `chat`?");
    insta::assert_snapshot!(says("{a: {models: {chat: -1}}}"), @"s.yaml:14:32: workload.senders.a.models.chat: found the number -1; accepted is a share above 0; only ratios count");
    insta::assert_snapshot!(says("{a: {sessions: {live: 0, turns: 3}}}"), @"s.yaml:14:34: workload.senders.a.sessions.live: found the number 0; accepted is a whole number from 1 to 1000000");
    insta::assert_snapshot!(says("{a: {sessions: {live: 5, turns: 0.5}}}"), @"s.yaml:14:44: workload.senders.a.sessions.turns: found the number 0.5; accepted is from 1 to 10000 requests");
    insta::assert_snapshot!(says("{a: {sessions: {live: 5}}}"), @"s.yaml:14:27: workload.senders.a.sessions: key `turns` is missing");
    insta::assert_snapshot!(says("{a: {callers: -3}}"), @"s.yaml:14:26: workload.senders.a.callers: found the number -3; accepted is a whole number from 1 to 1000000");
    insta::assert_snapshot!(says("{a: {callers: 0}}"), @"s.yaml:14:26: workload.senders.a.callers: found the number 0; accepted is a whole number from 1 to 1000000");
    insta::assert_snapshot!(says("{a: {repeats: {share: 2, pool: 3}}}"), @"s.yaml:14:34: workload.senders.a.repeats.share: found the number 2; accepted is a share above 0 and up to 1");
    insta::assert_snapshot!(says("{a: {repeats: {share: 0.5, pool: 3, skew: -1}}}"), @"s.yaml:14:54: workload.senders.a.repeats.skew: found the number -1; accepted is from 0 to 5");
    insta::assert_snapshot!(says("{a: {shared_prefix: {tokens: 0}}}"), @"s.yaml:14:41: workload.senders.a.shared_prefix.tokens: found the number 0; accepted is a whole number from 1 to 10000000");
    insta::assert_snapshot!(says("{a: {cache_control: true}}"), @"s.yaml:14:32: workload.senders.a.cache_control: there is nothing for the marks to stand behind; give `shared_prefix` or `sessions.history_tokens`, or leave it out");
    insta::assert_snapshot!(says("{a: {timeout: 0}}"), @"s.yaml:14:26: workload.senders.a.timeout: found the number 0; accepted is a number of seconds above 0 and up to a hundred years");
    insta::assert_snapshot!(says("{a: {num_retries: 20000}}"), @"s.yaml:14:30: workload.senders.a.num_retries: found the number 20000; accepted is a whole number from 0 to 10000");
    insta::assert_snapshot!(says("{a: {num_retries: many}}"), @r#"s.yaml:14:30: workload.senders.a.num_retries: found the text "many"; accepted is a whole number of at least 0"#);
    insta::assert_snapshot!(says("{a: {fallbacks: [chatt]}}"), @"s.yaml:14:29: workload.senders.a.fallbacks[0]: no model group is called `chatt`; did you mean `chat`?");
    insta::assert_snapshot!(says("{a: {fallbacks: [chat, {model: chat}]}}"), @"s.yaml:14:28: workload.senders.a.fallbacks: found entries of different kinds; accepted are names only, or only {model: name}, or only {group: [names]}");
    insta::assert_snapshot!(says("{a: {fallbacks: [{chat: chat}]}}"), @"s.yaml:14:29: workload.senders.a.fallbacks[0]: found one name for a group; accepted is a name, {model: name} or {group: [names]}");
    insta::assert_snapshot!(says("{a: {tags: ['!']}}"), @"s.yaml:14:24: workload.senders.a.tags[0]: found a tag without letters; accepted is a name, or `!` and a name");
    insta::assert_snapshot!(says("{a: {api: chats}}"), @"s.yaml:14:22: workload.senders.a.api: unknown value `chats`; did you mean `chat`?");
    insta::assert_snapshot!(says("[{share: 1}]"), @"s.yaml:14:12: workload.senders: found a list; accepted is a map");
}
