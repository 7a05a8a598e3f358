//! Samples of logs as LiteLLM and OpenTelemetry write them, from `../shared/data`: refused in words for being few,
//! and calibrated once there are more of the same.

use std::{fs, path::PathBuf};

use scenarios::logs::{Log, LogInput, LogOptions, read_logs};
use sim::calibrate::Calibration;

use crate::calibration::calibrated;

fn schemas() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/schemas");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "CI=true, but there is no {}",
        folder.display()
    );
    None
}

/// The rows forty times, one time after the other.
fn going_on(log: &Log) -> Log {
    let ends = |row: &scenarios::logs::LogRow| row.end_ns.unwrap_or(row.start_ns);
    let first_ns = log.rows[0].start_ns;
    let last_ns = log.rows.iter().map(ends).max().unwrap();
    let period_ns = last_ns - first_ns + 1_234_567_891;
    let turn = |turn: i64| {
        log.rows.iter().map(move |row| {
            let later = |ns: i64| ns + turn * period_ns;
            let mut row = *row;
            row.start_ns = later(row.start_ns);
            row.end_ns = row.end_ns.map(later);
            row.first_token_ns = row.first_token_ns.map(later);
            row
        })
    };
    Log {
        rows: (0..40).flat_map(turn).collect(),
        ..log.clone()
    }
}

#[test]
fn samples_of_every_schema_are_too_few_and_more_of_the_same_become_a_scenario() {
    let Some(folder) = schemas() else { return };
    for name in [
        "litellm/spend_logs_sample.jsonl",
        "litellm/standard_logging_payload_sample.jsonl",
        "otel/inference-perf_customer_support_escalation.json",
        "otel/inference-perf_fan_in_dependencies.json",
        "otel/inference-perf_parallel_requests.json",
        "otel/inference-perf_simple_chain.json",
    ] {
        let bytes = fs::read(folder.join(name)).unwrap();
        let file = LogInput::of(name, bytes).unwrap();
        let log = read_logs(&[file], &LogOptions::default()).unwrap();

        let refused = Calibration::of(&log).unwrap_err().to_string();
        assert!(
            refused.contains("accepted are 30 or more"),
            "{name}: {refused}"
        );
        let found = calibrated(&going_on(&log));
        assert!(
            found.traffic.arrivals.n >= 30,
            "{name}: {:?}",
            found.traffic.arrivals
        );
        assert_eq!(
            found
                .rows
                .dropped
                .iter()
                .filter(|d| d.0.contains("twice"))
                .count(),
            0
        );
        assert!(!found.deployments.is_empty(), "{name}");
    }
}
