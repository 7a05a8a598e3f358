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

const SCENARIO: &str = include_str!("everything.yaml");

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
/// same with `--release` and without the variable: it must pass in every build, on every machine. That an
/// optimised build has the same results of this scenario is held by `sim/tests/cli/same_bytes.rs`.
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
