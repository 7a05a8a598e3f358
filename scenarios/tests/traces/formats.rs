//! First and last rows of large public traces, to pin their formats; and what is made of odd rows.

use std::fs;

use scenarios::workload::trace::{
    self, DropReason, TraceColumns, TraceFormat, TraceOptions, Unsorted,
};

use super::data;

fn sample(file: &str) -> Option<trace::Trace> {
    let path = data()?.join("traces/format_samples").join(file);
    let text = fs::read_to_string(path).unwrap();
    Some(trace::read(&text, file, &TraceOptions::default()).unwrap())
}

#[test]
fn azure_2024_has_times_with_a_zone_and_its_first_and_last_week_days_are_a_week_apart() {
    for file in [
        "azure_llm_2024_code_head_tail.csv",
        "azure_llm_2024_conv_head_tail.csv",
    ] {
        let Some(trace) = sample(file) else { return };

        assert_eq!(trace.format, TraceFormat::Azure, "{file}");
        assert_eq!(trace.books.dropped_rows(), 0, "{file}");
        let days = trace.rows.last().unwrap().at_ns as f64 / 86_400e9;
        assert!((6.9..7.0).contains(&days), "{file}: {days} days");
    }
}

#[test]
fn the_multimodal_trace_is_one_with_a_further_column() {
    let Some(trace) = sample("azure_lmm_2024_multimodal_head_tail.csv") else {
        return;
    };

    assert_eq!(trace.format, TraceFormat::Azure);
    assert_eq!(
        (trace.rows[0].prompt_tokens, trace.rows[0].output_tokens),
        (770, 491)
    );
    assert_eq!(trace.rows[1].at_ns, 5_550_000_000);
}

#[test]
fn burstgpt_counts_seconds() {
    let Some(trace) = sample("burstgpt_1_first3rows.csv") else {
        return;
    };

    assert_eq!(trace.format, TraceFormat::Burstgpt);
    let times: Vec<u64> = trace
        .rows
        .iter()
        .map(|row| row.at_ns / 1_000_000_000)
        .collect();
    assert_eq!(times, [0, 40, 113]);
    assert_eq!(trace.rows[2].output_tokens, 276);
}

#[test]
fn any_csv_is_read_by_the_names_of_its_columns() {
    let columns = TraceColumns {
        time: "When".into(),
        time_unit: trace::TimeUnit::Milliseconds,
        prompt_tokens: "In".into(),
        output_tokens: "out".into(),
    };
    let options = TraceOptions {
        columns: Some(columns),
        ..TraceOptions::default()
    };
    let trace = trace::read("id,Out,In,When\na,7,5,1000.5\nb,9,8,3000\n", "f", &options).unwrap();

    assert_eq!(trace.format, TraceFormat::Columns);
    assert_eq!(trace.rows[1].at_ns, 1_999_500_000);
    assert_eq!(
        (trace.rows[0].prompt_tokens, trace.rows[0].output_tokens),
        (5, 7)
    );
}

const UNSORTED: &str = "arrival_time_ns,input_toks,output_toks\n5,1,1\n9,2,2\n7,3,3\n9,4,4\n";

#[test]
fn times_that_run_back_are_sorted_or_dropped_if_so_told() {
    let read = |unsorted| {
        let options = TraceOptions {
            unsorted,
            ..TraceOptions::default()
        };
        trace::read(
            UNSORTED,
            "f",
            &TraceOptions {
                max_dropped_share: 0.5,
                ..options
            },
        )
        .unwrap()
    };

    let sorted = read(Unsorted::Sort);
    let prompts: Vec<u32> = sorted.rows.iter().map(|row| row.prompt_tokens).collect();
    assert_eq!(prompts, [1, 3, 2, 4], "equal times keep the file's order");
    assert_eq!(sorted.books.unsorted_steps, 1);

    let dropped = read(Unsorted::Drop);
    assert_eq!(dropped.rows.len(), 3);
    assert_eq!(dropped.books.dropped[&DropReason::OutOfOrder], (1, 4));
    assert_eq!(
        dropped.books.account(),
        "read 4 = kept 3 + dropped 1 (1 out of order, first in line 4)"
    );
}

#[test]
fn failed_requests_of_a_recording_are_left_out_and_counted() {
    let rows: String = (0..20)
        .map(|n| format!("{n},ChatGPT,100,{},1,log\n", n % 13))
        .collect();
    let text =
        format!("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n{rows}");
    let trace = trace::read(&text, "f", &TraceOptions::default()).unwrap();

    assert_eq!(trace.rows.len(), 18);
    assert_eq!(
        trace.books.account(),
        "read 20 = kept 18 + dropped 2 (2 without answer tokens, first in line 2)"
    );
}
