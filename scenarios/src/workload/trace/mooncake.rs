//! Mooncake traces: one JSON object a line with `timestamp` in milliseconds, `input_length` and
//! `output_length`. The prefix blocks (`hash_ids`) are not used: no router here looks at prefixes.

use serde::Deserialize;
use serde_json::Number;

use super::{DropReason, RawRow, timestamp::TimeUnit};

#[derive(Deserialize)]
struct Line {
    timestamp: Number,
    input_length: Number,
    output_length: Number,
}

/// Reads every line, with its number. Blank lines are no rows.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = (u64, Result<RawRow, DropReason>)> + '_ {
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let row = || {
                let line: Line = serde_json::from_str(line).map_err(|_| DropReason::Malformed)?;
                Ok(RawRow {
                    at_ns: TimeUnit::Milliseconds
                        .read(&line.timestamp.to_string())
                        .ok_or(DropReason::Time)?,
                    prompt_tokens: super::tokens(&line.input_length.to_string())?,
                    output_tokens: super::tokens(&line.output_length.to_string())?,
                })
            };
            (number, row())
        })
}

/// Whether a text looks like one.
pub(crate) fn fits(text: &str) -> bool {
    text.trim_start().starts_with('{')
}
