//! A run equals the replay of its journal, whatever the plan; and a journal that was changed does not.

use proptest::prelude::*;
use scenarios::{LoadOptions, RunPlan, Scenario, Source};
use sim::{
    journal::{Head, Journal, JournalError, Replayed, replay},
    simulate,
};

use super::{plan, scenario};

fn journal(plan: &RunPlan) -> String {
    let mut journal = Journal::begin(Vec::new(), &Head::of_plan(plan)).unwrap();
    simulate(plan, &mut journal).unwrap();
    String::from_utf8(journal.finish().unwrap()).unwrap()
}

fn replayed(journal: &str) -> Replayed {
    replay(journal.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// Replays the run of a plan, which must come out the same to its end.
fn same(plan: &RunPlan, of: &str) -> Replayed {
    let mut nobody = ();
    let end = simulate(plan, &mut nobody).unwrap();
    let replayed = replayed(&journal(plan));
    assert_eq!(replayed.difference, None, "{of}");
    assert_eq!((replayed.unfinished, replayed.runs), (0, 1), "{of}");
    assert!(replayed.requests >= end.requests, "{of}");
    assert_eq!(replayed.attempts, end.attempts, "{of}");
    replayed
}

#[test]
fn every_run_of_the_library_equals_the_replay_of_its_journal() {
    for entry in scenarios::library() {
        let options = LoadOptions {
            sets: vec![("workload.duration_s".to_owned(), "40".to_owned())],
            replications: Some(1),
            ..LoadOptions::default()
        };
        let source = Source::Library(entry.name.to_owned());
        // One needs a trace that is not in the repository; some have a schedule that 40 s cannot hold.
        if entry.name == "azure-2023-outage" {
            continue;
        }
        let whole = LoadOptions {
            sets: Vec::new(),
            ..options.clone()
        };
        let scenario = Scenario::load(&source, &options);
        let scenario = scenario
            .or_else(|_| Scenario::load(&source, &whole))
            .unwrap();
        for plan in scenario.plans().iter().take(3) {
            same(plan, entry.name);
        }
    }
}

/// Everything that a driver may have to do: waits, slots, queues, mirrors, streams that break, callers
/// that leave, an operator, instances that share a store.
const EVERYTHING: &str = "
purpose: A test of journals.
kind: terminating
replications: 1
profile: PROFILE
litellm:
  model_list:
    - {model_name: m, litellm_params: {model: openai/a, max_parallel_requests: SLOTS, weight: 2, silent_model: spare}, model_info: {id: a}}
    - {model_name: m, litellm_params: {model: openai/b, rpm: 40}, model_info: {id: b}}
    - {model_name: spare, litellm_params: {model: openai/c}, model_info: {id: c}}
  router_settings: {routing_strategy: STRATEGY, num_retries: RETRIES, fallbacks: [{m: [spare]}], cooldown_time: 2, timeout: 3, stream_timeout: 1, enable_pre_call_checks: CHECKS}
providers:
  default:
    latency: {first_token: {log_normal: {p50_ms: 300, p95_ms: 900}}, per_output_token: {constant: {ms: 2}}}
    faults:
      - error_rate: {share: 0.05, status: 500}
      - rate_limit_storm: {share: 0.05, hint: {seconds: 1}}
      - mid_stream: {how: cut, after_tokens: 3, share: 0.05}
      - hang: {share: 0.02}
workload:
  stream_share: 0.5
  arrivals: {poisson: {per_second: 12}}
  duration_s: 20
  lengths: {prompt: {constant: 30}, output: {constant: 40}}
  senders:
    vip: {share: 0.5, sessions: {live: 5, turns: 3, history_tokens: 20}, num_retries: 1, fallbacks: [spare]}
instances: {count: INSTANCES, shared_state: SHARED}
client: CLIENT
actions: [{at_s: 8, do: clear_cooldowns}]
";

fn everything(values: [&str; 8]) -> RunPlan {
    let names = [
        "PROFILE",
        "STRATEGY",
        "SLOTS",
        "RETRIES",
        "CHECKS",
        "INSTANCES",
        "SHARED",
        "CLIENT",
    ];
    let text = names.iter().zip(values);
    let text = text.fold(EVERYTHING.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    });
    plan(&text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_equals_the_replay_of_its_journal(
        profile in prop::sample::select(vec!["litellm-1.110", "litellm-1.92", "corrected"]),
        strategy in prop::sample::select(vec![
            "simple-shuffle", "least-busy", "latency-based-routing", "usage-based-routing",
            "usage-based-routing-v2",
        ]),
        slots in prop::sample::select(vec!["1", "3", "100"]),
        retries in prop::sample::select(vec!["0", "2"]),
        checks in prop::sample::select(vec!["true", "false"]),
        instances in prop::sample::select(vec!["1", "3"]),
        shared in prop::sample::select(vec!["true", "false"]),
        client in prop::sample::select(vec![
            "{}", "{sdk: openai, timeout_s: 1}", "{sdk: openai, patience: {constant_s: 0.8}}",
        ]),
        seed in any::<u32>(),
    ) {
        let values = [profile, strategy, slots, retries, checks, instances, shared, client];
        let mut plan = everything(values);
        plan.seed = router::Seed(seed.into());

        let replayed = same(&plan, &format!("{values:?}, seed {seed}"));

        prop_assert!(replayed.inputs > 200);
    }

    #[test]
    fn a_decision_that_was_changed_is_found_in_its_line(place in any::<prop::sample::Index>()) {
        let text = journal(&everything([
            "litellm-1.110", "simple-shuffle", "2", "1", "false", "2", "true", "{}",
        ]));
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let sends: Vec<usize> = (0..lines.len())
            .filter(|&at| lines[at].contains("\"then\":{\"send\":{\"deployment\":"))
            .collect();
        let at = sends[place.index(sends.len())];
        lines[at] = lines[at].replace("\"send\":{\"deployment\":", "\"send\":{\"deployment\":4");

        let difference = replayed(&lines.join("\n")).difference.unwrap();

        prop_assert_eq!(difference.line, at as u64 + 1);
        prop_assert!(difference.journal.contains("\"deployment\":4"));
        prop_assert!(!difference.replay.contains("\"deployment\":4"));
    }

    #[test]
    fn no_change_of_a_byte_makes_a_replay_panic(
        place in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"0159-\"{}[]:,eE.ntx \n".to_vec()),
    ) {
        let mut text = journal(&plan(&scenario("num_retries: 1", QUICK, SHORT))).into_bytes();
        let at = place.index(text.len());
        text[at] = byte;

        // Another result than before is right, and so is a complaint.
        drop(replay(&text[..]));
    }
}

const QUICK: &str = "default: {latency: {first_token: {constant: {ms: 50}}}, faults: [{error_rate: {share: 0.3, status: 500}}]}";
const SHORT: &str = "arrivals: {constant: {per_second: 10}}, duration_s: 2";

fn small() -> String {
    journal(&plan(&scenario("num_retries: 1", QUICK, SHORT)))
}

#[test]
fn an_outcome_that_was_changed_leads_to_another_decision() {
    let text = small();
    let at = text
        .lines()
        .position(|line| line.contains("\"Success\""))
        .unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (head, tail) = lines[at].split_once("\"outcome\":").unwrap();
    let (_, then) = tail.split_once("},\"then\"").unwrap();
    let failure = r#"{"Failure":{"class":"internal_server","status":500,"retry_after":null,"tokens_delivered":0,"first_token_after":null}}"#;
    lines[at] = format!("{head}\"outcome\":{failure}}},\"then\"{then}");

    let difference = replayed(&lines.join("\n")).difference.unwrap();

    assert_eq!(difference.line, at as u64 + 1);
    assert!(difference.journal.contains("completed"), "{difference:?}");
    assert!(!difference.replay.contains("completed"), "{difference:?}");
}

#[test]
fn a_line_that_a_crash_cut_off_is_told_and_the_rest_is_replayed() {
    let text = small();
    let lines = text.lines().count() as u64;
    let cut = &text[..text.len() - 20];

    let left = replayed(cut);
    assert_eq!(
        (left.cut.as_slice(), &left.difference),
        (&[lines][..], &None)
    );
    assert_eq!(left.unfinished, 1);

    // A server that starts again goes on behind it.
    let both = replayed(&format!("{cut}\n{text}"));
    assert_eq!((both.cut.as_slice(), both.runs), (&[lines][..], 2));
    assert_eq!(both.inputs, left.inputs + replayed(&text).inputs);
    assert_eq!(both.difference, None);
}

#[test]
fn a_journal_of_which_nothing_is_cut_may_stop_anywhere() {
    let text = small();
    for end in 1..text.lines().count() {
        let begun: String = text.split_inclusive('\n').take(end).collect();
        assert_eq!(replayed(&begun).difference, None);
    }
}

#[test]
fn spaces_in_a_decision_change_nothing() {
    let text = small().replace("\"then\":{", "\"then\": { ");

    assert_eq!(replayed(&text).difference, None);
}

#[test]
fn a_file_that_is_no_journal_is_told_with_its_line_and_what_was_expected() {
    let text = small();
    let line = |number: usize| text.lines().nth(number).unwrap();
    let arrival = line(2);
    assert!(arrival.contains("arrive"), "{arrival}");
    let told = |text: &str| match replay(text.as_bytes()) {
        Err(JournalError::Line { line, what }) => format!("{line}: {what}"),
        other => panic!("{other:?}"),
    };
    let with = |third: &str| format!("{}\n{}\n{third}\n{}\n", line(0), line(1), line(3));

    assert!(matches!(replay(&b""[..]), Err(JournalError::Empty)));
    for (text, says) in [
        (
            "model_list: []\n".to_owned(),
            "1: found `model_list: []`: expected a head",
        ),
        (
            "{\"journal\":7}\n".to_owned(),
            "1: this is no head of a journal: missing field",
        ),
        (
            text.replace("\"journal\":1", "\"journal\":7"),
            "1: a journal of form 7: this version reads form 1",
        ),
        (
            text.replace("\"instances\":1", "\"instances\":4294967295"),
            "1: `instances` is 4294967295: expected 1 to 1000",
        ),
        (
            text.replace("\"instances\":1", "\"instances\":0"),
            "1: `instances` is 0: expected 1 to 1000",
        ),
        (with("nonsense"), "3: this is no line of a journal"),
        (with(&arrival[..40]), "3: the line breaks off"),
        (
            with(&arrival.replace("\"at\":", "\"at\":1e9,\"x\":")),
            "3: this is no line of a journal",
        ),
        (
            with(&arrival.replace("\"arrive\"", "\"arive\"")),
            "unknown field `arive`",
        ),
        (
            with("{\"at\":5,\"then\":{}}"),
            "expected exactly one of arrive",
        ),
        (
            with("{\"at\":5,\"resume\":0,\"cancel\":0,\"then\":{}}"),
            "expected exactly one of arrive",
        ),
        (with("{\"at\":5,\"resume\":0}"), "3: there is no `then`"),
        (with("{\"resume\":0,\"then\":{}}"), "3: there is no `at`"),
        (
            with("{\"at\":5,\"resume\":99,\"then\":{}}"),
            "3: resume of request #99, which is not under way",
        ),
        (
            with("{\"at\":5,\"router\":1,\"resume\":0,\"then\":{}}"),
            "3: `router` is 1: expected 0 to 0",
        ),
        (
            with("{\"at\":5,\"clear\":{\"deployment\":2},\"then\":{}}"),
            "3: deployment 2: there are 2, from 0 to 1",
        ),
        (
            format!("{}\n{}\n{arrival}\n{arrival}\n", line(0), line(1)),
            "arrives, and is under way already",
        ),
        (
            format!(
                "{}\n{}\n{arrival}\n{{\"at\":99999999999,\"resume\":0,\"then\":{{}}}}\n",
                line(0),
                line(1)
            ),
            "4: request #0 has an attempt under way: expected a wait",
        ),
        (
            format!("{}\n{}\n{}\n", line(0), line(3), arrival),
            "not under way",
        ),
    ] {
        let told = told(&text);
        assert!(told.contains(says), "{told}\n does not say\n{says}");
    }
}

#[test]
fn an_error_stays_on_its_line_whatever_it_quotes() {
    let error = replay(&b"\x1b[2J\tx\n"[..]).unwrap_err().to_string();
    assert!(error.contains(r"found `\u{1b}[2J\tx`"), "{error}");

    let line = small().replacen("\"arrive\"", "\"ar\\nrive\"", 1);
    let error = replay(line.as_bytes()).unwrap_err().to_string();
    assert!(error.contains(r"unknown field `ar\nrive`"), "{error}");
}

#[test]
fn a_journal_holds_no_address_of_a_webhook() {
    let plan = plan(&scenario("num_retries: 1", QUICK, SHORT));
    let mut router = router::RouterConfig::clone(&plan.router);
    router.settings.alerting = Some(router::config::Alerting {
        threshold: std::time::Duration::from_secs(1),
        webhook_url: Some("https://hooks.example.com/secret".to_owned()),
    });

    let journal = Journal::begin(Vec::new(), &Head::new(plan.seed, &router)).unwrap();

    let text = String::from_utf8(journal.finish().unwrap()).unwrap();
    assert!(text.contains("alerting") && !text.contains("secret"));
}
