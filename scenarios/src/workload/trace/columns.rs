//! CSV traces: Azure 2023 and 2024, BurstGPT, ShareGPT with arrivals, and any other by naming its
//! columns. One reader; a format is the names of three columns and the unit of the first.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{DropReason, RawRow, TraceFormat, timestamp::TimeUnit};

/// Where a CSV trace keeps what is needed. Names are compared without regard to case.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceColumns {
    /// Column of the arrival time.
    pub time: Cow<'static, str>,
    /// What the time counts.
    pub time_unit: TimeUnit,
    /// Column of the prompt's tokens.
    pub prompt_tokens: Cow<'static, str>,
    /// Column of the answer's tokens.
    pub output_tokens: Cow<'static, str>,
}

/// The CSV formats that are known by their header.
pub(crate) const KNOWN: [(TraceFormat, TraceColumns); 3] = [
    // github.com/Azure/AzurePublicDataset, 2023 and 2024, with or without NumImages.
    (
        TraceFormat::Azure,
        TraceColumns {
            time: Cow::Borrowed("TIMESTAMP"),
            time_unit: TimeUnit::DateTime,
            prompt_tokens: Cow::Borrowed("ContextTokens"),
            output_tokens: Cow::Borrowed("GeneratedTokens"),
        },
    ),
    // github.com/HPMLL/BurstGPT.
    (
        TraceFormat::Burstgpt,
        TraceColumns {
            time: Cow::Borrowed("Timestamp"),
            time_unit: TimeUnit::Seconds,
            prompt_tokens: Cow::Borrowed("Request tokens"),
            output_tokens: Cow::Borrowed("Response tokens"),
        },
    ),
    // github.com/casys-kaist/LLMServingSim.
    (
        TraceFormat::Sharegpt,
        TraceColumns {
            time: Cow::Borrowed("arrival_time_ns"),
            time_unit: TimeUnit::Nanoseconds,
            prompt_tokens: Cow::Borrowed("input_toks"),
            output_tokens: Cow::Borrowed("output_toks"),
        },
    ),
];

impl TraceColumns {
    /// Whether a header has all three columns.
    pub(crate) fn fit(&self, header: &[String]) -> bool {
        self.missing_in(header).is_none()
    }

    /// The first of the three columns that a header lacks.
    pub(crate) fn missing_in(&self, header: &[String]) -> Option<&str> {
        [&self.time, &self.prompt_tokens, &self.output_tokens]
            .into_iter()
            .find(|name| place(header, name).is_none())
            .map(AsRef::as_ref)
    }

    /// Reads every row after the header, with its line. The header must [`fit`](Self::fit).
    pub(crate) fn rows<'a>(
        &'a self,
        header: &[String],
        text: &'a str,
    ) -> impl Iterator<Item = (u64, Result<RawRow, DropReason>)> + 'a {
        let expect = "the header was checked";
        let time = place(header, &self.time).expect(expect);
        let prompt = place(header, &self.prompt_tokens).expect(expect);
        let output = place(header, &self.output_tokens).expect(expect);
        records(text).map(move |(line, record)| {
            let Some(record) = record else {
                return (line, Err(DropReason::Malformed));
            };
            let cell = |at: usize| record.get(at).map(str::trim).ok_or(DropReason::Malformed);
            let row = || {
                let at = cell(time)?;
                Ok(RawRow {
                    at_ns: self.time_unit.read(at).ok_or(DropReason::Time)?,
                    prompt_tokens: super::tokens(cell(prompt)?)?,
                    output_tokens: super::tokens(cell(output)?)?,
                })
            };
            (line, row())
        })
    }
}

/// The column of this name.
pub(crate) fn place(header: &[String], name: &str) -> Option<usize> {
    header
        .iter()
        .position(|column| column.eq_ignore_ascii_case(name))
}

/// The rows of a CSV text after its header, each with its line; `None` for what is no row, as one
/// that says something beyond the last column: then its cells may have moved.
pub(crate) fn records(text: &str) -> impl Iterator<Item = (u64, Option<csv::StringRecord>)> + '_ {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let columns = reader.headers().map_or(0, csv::StringRecord::len);
    // The reader's own count is one short after a CRLF, so line ends are counted here.
    let (mut line, mut counted) = (1, 0);
    reader.into_records().map(move |record| {
        let record = record.ok();
        let within = |row: &csv::StringRecord| row.iter().skip(columns).all(str::is_empty);
        let begin = record
            .as_ref()
            .and_then(|r| r.position())
            .map_or(0, csv::Position::byte);
        let mut begin = usize::try_from(begin).expect("a place in a text in memory");
        while text
            .as_bytes()
            .get(begin)
            .is_some_and(|byte| matches!(byte, b'\r' | b'\n'))
        {
            begin += 1;
        }
        if let Some(passed) = text.as_bytes().get(counted..begin) {
            line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
            counted = begin;
        }
        (line, record.filter(within))
    })
}

/// The names in the first line of a CSV text.
pub(crate) fn header(text: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let first = reader.records().next();
    let names = |record: csv::StringRecord| {
        record
            .iter()
            .map(|name| name.trim().trim_start_matches('\u{feff}').to_owned())
            .collect()
    };
    first.and_then(Result::ok).map(names).unwrap_or_default()
}
