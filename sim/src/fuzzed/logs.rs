//! What was recorded: logs and traces.

use scenarios::{
    LoadOptions, Scenario, Source,
    logs::{LogInput, LogOptions, read_logs},
    workload::trace::{self, TraceOptions, Unsorted},
};

use super::told_well;
use crate::calibrate::Calibration;

/// A log is refused, or its books balance, its rows are in order and name what is there; and what can be
/// calibrated gives a scenario that loads.
pub fn log(name: &str, data: &[u8]) {
    let read = LogInput::of(name, data.to_vec())
        .and_then(|input| read_logs(&[input], &LogOptions::default()));
    let log = match read {
        Ok(log) => log,
        // A file that is none of the formats has no line or key.
        Err(error) => return told_well(&error, true),
    };
    let books = &log.books;
    let kept = u64::try_from(log.rows.len()).expect("rows are in memory");
    assert_eq!(
        books.read,
        kept + books.dropped_rows(),
        "read = kept + dropped"
    );
    assert!(
        log.rows.is_sorted_by_key(|row| row.start_ns),
        "rows are in order"
    );
    for row in &log.rows {
        assert!(row.model < log.models.len());
        assert!(
            row.deployment
                .is_none_or(|place| place < log.deployments.len())
        );
        assert!(row.sender.is_none_or(|sender| sender < log.senders));
        assert!(row.end_ns.is_none_or(|end| end >= row.start_ns), "{row:?}");
    }
    let Ok(found) = Calibration::of(&log) else {
        return;
    };
    assert!(found.findings().iter().all(|line| !line.contains("NaN")));
    let text = found.scenario(name);
    let source = Source::Text {
        name: "scenario".to_owned(),
        text: text.clone(),
    };
    if let Err(error) = Scenario::load(&source, &LoadOptions::default()) {
        panic!("what is calibrated loads: {error}\n{text}");
    }
}

/// A trace is refused, or its books balance and its rows are in order, in whichever way times that run
/// back are treated.
pub fn trace(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for unsorted in [Unsorted::Refuse, Unsorted::Sort, Unsorted::Drop] {
        let options = TraceOptions {
            unsorted,
            ..TraceOptions::default()
        };
        let trace = match trace::read(text, "trace.csv", &options) {
            Ok(trace) => trace,
            Err(error) => {
                told_well(&error, true);
                continue;
            }
        };
        let kept = u64::try_from(trace.rows.len()).expect("rows are in memory");
        assert_eq!(trace.books.read, kept + trace.books.dropped_rows());
        assert!(
            trace.rows.is_sorted_by_key(|row| row.at_ns),
            "rows are in order"
        );
        assert_eq!(trace.rows[0].at_ns, 0, "time begins with the first row");
        assert!(
            trace
                .rows
                .iter()
                .all(|row| row.prompt_tokens > 0 && row.output_tokens > 0)
        );
    }
}
