//! What providers report and what is billed: cached prompt tokens and batches.

use reports::{RunRecord, SenderRecord};
use sim::record_run;

use crate::{load, plan, text};

const PROMPT: f64 = 2e-6;
const CACHED: f64 = 1e-6;
const ANSWER: f64 = 8e-6;

/// One deployment, so that nothing is computed twice.
fn record(provider: &str, senders: &str) -> RunRecord {
    let providers =
        format!("default: {{latency: {{first_token: {{constant: {{ms: 200}}}}}}{provider}}}");
    let senders = format!("models: spare, senders: {{chat: {{{senders}}}}}");
    record_run(&plan("", &providers, &senders), &()).unwrap()
}

fn cost(record: &RunRecord) -> f64 {
    record.cost_usd().unwrap()
}

/// What its tokens cost at the prices of the config.
fn expected(record: &RunRecord) -> f64 {
    let spare = &record.deployments[3];
    #[expect(clippy::cast_precision_loss, reason = "a few million tokens")]
    let [prompt, cached, answer] = [
        spare.prompt_tokens,
        spare.cached_tokens,
        spare.completion_tokens,
    ]
    .map(|tokens| tokens as f64);
    (prompt - cached) * PROMPT + cached * CACHED + answer * ANSWER
}

fn close(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-9, "{a} for {b}");
}

#[test]
fn a_shared_prefix_is_billed_as_cached_once_a_provider_has_seen_it() {
    let prefix = "shared_prefix: {tokens: 2000, pool: 3}";
    let with = record(", prompt_cache: {step_tokens: 128}", prefix);
    let without = record("", prefix);

    let spare = &with.deployments[3];
    let most = with.requests * 1_920;
    assert!(spare.cached_tokens <= most && spare.cached_tokens > most * 95 / 100);
    assert_eq!(spare.cached_tokens % 1_920, 0, "whole steps of 128");
    assert_eq!(spare.prompt_tokens, with.requests * 2_100);
    close(cost(&with), expected(&with));
    assert_eq!(without.deployments[3].cached_tokens, 0);
    close(cost(&without), expected(&without));
    assert!(cost(&with) < cost(&without) * 0.7);
}

#[test]
fn providers_that_need_marks_cache_nothing_without_them() {
    let marked = |more: &str| {
        let prefix = format!("shared_prefix: {{tokens: 2000}}{more}");
        record(", prompt_cache: {marked_only: true}", &prefix).deployments[3].cached_tokens
    };

    assert!(marked("") > 1_000_000);
    assert_eq!(marked(", cache_control: false"), 0);
}

#[test]
fn the_history_of_a_session_is_billed_as_cached() {
    let with = record(
        ", prompt_cache: {}",
        "sessions: {live: 10, turns: 8, history_tokens: 800}",
    );

    let spare = &with.deployments[3];
    // Turns four to eight of eight are at 2,400 to 5,600 tokens of history, most of it seen before.
    assert!(
        spare.cached_tokens * 10 > spare.prompt_tokens * 6,
        "{spare:?}"
    );
    assert!(
        spare.cached_tokens * 10 < spare.prompt_tokens * 9,
        "{spare:?}"
    );
    close(cost(&with), expected(&with));
}

#[test]
fn presets_cache_by_their_providers_rule() {
    let cached = |preset: &str, senders: &str| {
        let plan = plan(
            "",
            &format!("default: {{preset: {preset}}}"),
            &format!("models: spare, senders: {{chat: {{{senders}}}}}"),
        );
        record_run(&plan, &()).unwrap().deployments[3].cached_tokens
    };

    let long = "shared_prefix: {tokens: 2000}";
    let unmarked = "shared_prefix: {tokens: 2000}, cache_control: false";
    let short = "shared_prefix: {tokens: 1000}";
    assert!(cached("openai", long) > 1_000_000);
    assert!(cached("openai", unmarked) > 1_000_000);
    assert_eq!(cached("openai", short), 0);
    assert!(cached("anthropic", long) > 1_000_000);
    assert_eq!(cached("anthropic", unmarked), 0);
    assert!(cached("vllm", short) > 900_000);
}

#[test]
fn a_batch_costs_half_where_no_batch_price_is_listed() {
    let plain = record("", "batch: false");
    let batch = record("", "batch: true");

    assert_eq!(plain.latency, batch.latency);
    close(cost(&batch) * 2.0, cost(&plain));
}

#[test]
fn what_senders_did_adds_up_to_what_the_run_did() {
    let senders = "senders: {again: {share: 0.5, repeats: {share: 0.8, pool: 20}, shared_prefix: {tokens: 2000}}, \
                   dear: {share: 0.2, num_retries: 5}}";
    let providers = "default: {latency: {first_token: {constant: {ms: 900}}}, prompt_cache: {}, \
                     faults: [{error_rate: {share: 0.2, status: 500}}]}";
    let text = text("cache_responses: true", providers, senders) + "slo: {latency_s: 1}\n";
    let run = record_run(&load(&text).plan(0, 0), &()).unwrap();

    let names: Vec<&str> = run
        .senders
        .iter()
        .map(|sender| sender.name.as_str())
        .collect();
    assert_eq!(names, ["again", "dear", "(others)"]);
    let sum = |of: fn(&SenderRecord) -> u64| run.senders.iter().map(of).sum::<u64>();
    assert_eq!(sum(|s| s.requests), run.requests);
    assert_eq!(sum(|s| s.completed), run.completed);
    assert_eq!(sum(|s| s.failed), run.failed);
    assert_eq!(Some(sum(|s| s.good.unwrap())), run.good);
    assert_eq!(sum(|s| s.attempts), run.attempts);
    assert_eq!(sum(|s| s.cache_hits), run.cache_hits);
    let cached: u64 = run.deployments.iter().map(|d| d.cached_tokens).sum();
    assert_eq!(sum(|s| s.cached_tokens), cached);
    let usd: f64 = run
        .senders
        .iter()
        .filter_map(|sender| sender.cost_usd)
        .sum();
    close(usd, cost(&run));
    let [again, dear, others] = run.senders.as_slice() else {
        panic!("three senders")
    };
    assert!(again.cache_hits > 0 && again.cached_tokens > 0 && dear.cached_tokens == 0);
    // A few retries more, a few failures less.
    assert!(dear.failed * others.requests < others.failed * dear.requests);
    assert!(again.latency_p50_s < dear.latency_p50_s);
}

#[test]
fn an_embedding_has_no_answer_tokens() {
    let record = record("", "api: embedding");

    assert_eq!(record.deployments[3].completion_tokens, 0);
    assert_eq!(record.completed, record.requests);
}
