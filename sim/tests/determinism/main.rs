//! Same plan, same bytes: twice in one process, on one thread or eight, in a debug or a release
//! build.

#![allow(
    clippy::float_cmp,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail, and looks at few events"
)]

mod lints;

use std::num::NonZeroUsize;

use reports::SweepRecord;
use scenarios::{LoadOptions, Scenario, Source};
use sim::{labels_text, run_plans, sweep_record};

/// A little of everything: three strategies, an outage, a quota, broken streams, a fallback.
const SCENARIO: &str = "
purpose: Everything that may differ from run to run.
kind: terminating
seed: 11
replications: 2
litellm:
  model_list:
    - {model_name: chat, litellm_params: {model: azure/a, rpm: 600}, model_info: {id: east}}
    - {model_name: chat, litellm_params: {model: azure/b, rpm: 300}, model_info: {id: west}}
    - {model_name: chat, litellm_params: {model: openai/c, rpm: 300}, model_info: {id: north}}
    - {model_name: spare, litellm_params: {model: openai/d}, model_info: {id: spare}}
  router_settings: {num_retries: 2, fallbacks: [{chat: [spare]}]}
providers:
  default:
    latency:
      first_token: {log_normal: {median_ms: 500, sigma: 0.5}}
      per_output_token: {gamma: {mean_ms: 12, cv: 0.4}}
      slowness_sigma: 0.2
    faults: [{error_rate: {share: 0.03, status: 503}}, {mid_stream: {share: 0.02, after_share: 0.5}}]
  west:
    latency: {first_token: {constant: {ms: 400}}}
    quota: {requests_per_minute: 240}
  north:
    latency: {first_token: {constant: {ms: 300}}}
    faults: [{outage: {from_s: 30, to_s: 70}}]
workload:
  arrivals: {gamma: {per_second: 12, cv: 2}}
  lengths: {prompt: {log_normal: {p50: 700, p95: 4000}}, output: {log_normal: {p50: 150, p95: 600}}}
  duration_s: 120
  stream_share: 0.5
slo: {latency_s: 10, first_token_s: 2}
sweep:
  routing_strategy: [simple-shuffle, least-busy, latency-based-routing]
  cooldown_time: [1, 30]
";

fn run(jobs: usize) -> SweepRecord {
    let source = Source::Text {
        name: "everything".to_owned(),
        text: SCENARIO.to_owned(),
    };
    let scenario =
        Scenario::load(&source, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let jobs = NonZeroUsize::new(jobs).unwrap();
    let runs = run_plans(&scenario.plans(), jobs, &()).unwrap();
    sweep_record(&scenario, runs, "test".to_owned())
}

fn bytes(sweep: &SweepRecord) -> String {
    serde_json::to_string(&sweep.arms).unwrap()
}

/// FNV-1a, 64 bits.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn one_two_and_eight_threads_give_the_same_bytes() {
    let one = bytes(&run(1));

    assert_eq!(one, bytes(&run(1)), "twice on one thread");
    assert_eq!(one, bytes(&run(2)), "on two threads");
    assert_eq!(one, bytes(&run(8)), "on eight threads");
}

#[test]
fn something_happens_in_every_arm() {
    for arm in run(2).arms {
        assert_eq!(arm.runs.len(), 2, "{:?}", arm.labels);
        for run in arm.runs {
            assert!(
                run.requests > 1_000,
                "{:?}: {} requests",
                arm.labels,
                run.requests
            );
            assert!(run.retries > 0 && run.completed > 0, "{:?}", arm.labels);
            assert_eq!(run.completed + run.failed, run.requests, "{:?}", arm.labels);
            assert_eq!(run.unfinished, 0, "{:?}", arm.labels);
        }
    }
}

/// A digest changes whenever a result does: look at what changed, then accept it with
/// `INSTA_UPDATE=always cargo test -p sim --no-default-features --test determinism`, and run the
/// same with `--release` and without the variable: it must pass in every build, on every machine.
#[test]
fn the_digests_of_all_results_are_the_accepted_ones() {
    let digests: Vec<String> = run(2)
        .arms
        .iter()
        .map(|arm| {
            let json = serde_json::to_string(arm).unwrap();
            format!("{:016x}  {}", digest(&json), labels_text(&arm.labels))
        })
        .collect();

    insta::assert_snapshot!("digests", digests.join("\n"));
}
