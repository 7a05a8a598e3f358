//! Traces of single requests.

use scenarios::workload::{
    trace::{self, TraceFormat, TraceOptions},
    trace_stats::TraceStats,
};

use super::{assert_same, trace as stored};

/// Of the whole trace, and of input, output and total tokens each.
const ALL: usize = 26 + 3 * 13;

/// Reads a trace and compares all of its statistics.
fn check(name: &str, format: TraceFormat, statistics: usize) {
    let Some((expected, text)) = stored(name) else {
        return;
    };

    let trace = trace::read(&text, name, &TraceOptions::default()).unwrap();

    assert_eq!(trace.format, format);
    let rows = expected["rows"].as_u64().unwrap();
    assert_eq!(trace.books.read, rows);
    assert_eq!(trace.books.dropped_rows(), 0);
    let found = serde_json::to_value(TraceStats::of(&trace)).unwrap();
    let compared = assert_same(name, &found, &expected);
    assert_eq!(compared, statistics, "every statistic has its counterpart");
}

#[test]
fn azure_2023_conversation() {
    check("azure_llm_2023_conv", TraceFormat::Azure, ALL);
}

#[test]
fn mooncake_conversation() {
    check("mooncake_conversation", TraceFormat::Mooncake, ALL);
}

#[test]
fn mooncake_synthetic() {
    check("mooncake_synthetic", TraceFormat::Mooncake, ALL);
}

#[test]
fn sharegpt_with_arrivals() {
    // Nobody computed its total tokens and their correlation.
    check(
        "sharegpt_llama31_300_poisson10",
        TraceFormat::Sharegpt,
        ALL - 13 - 1,
    );
}

#[test]
fn the_granularity_of_times_is_that_of_the_file() {
    for (name, nanos) in [
        ("azure_llm_2023_conv", 1_000),
        ("mooncake_conversation", 1_000_000),
        ("sharegpt_llama31_300_poisson10", 1),
    ] {
        let Some((expected, text)) = stored(name) else {
            return;
        };
        let trace = trace::read(&text, name, &TraceOptions::default()).unwrap();

        assert_eq!(TraceStats::of(&trace).granularity_ns, nanos, "{name}");
        let printed = expected["timestamp_granularity"].as_str().unwrap();
        let seconds: f64 = printed.split(' ').next().unwrap().parse().unwrap();
        assert!(
            (seconds * 1e9 - nanos as f64).abs() < 1e-6,
            "{name}: {printed}"
        );
    }
}

#[test]
fn the_account_of_a_clean_trace_is_one_line() {
    let Some((_, text)) = stored("azure_llm_2023_conv") else {
        return;
    };
    let trace = trace::read(&text, "azure", &TraceOptions::default()).unwrap();

    assert_eq!(
        trace.books.account(),
        "read 19,366 = kept 19,366 + dropped 0"
    );
}
