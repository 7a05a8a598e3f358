//! Logs of calls that were really made, read for calibration: who was asked what, when, and how it went.
//!
//! Every format becomes the same [`LogRow`]s: one for each attempt at a deployment, or for a request that
//! never got to one. What a log says of people stays behind: contents of calls and addresses are never
//! looked at, and users and keys become numbers as they are read. Every reader keeps books: rows read =
//! kept + dropped, by reason, with the first of each; columns that are not read are listed with the reason.

mod columns;
mod fields;
mod input;
mod json;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_cells;
#[cfg(feature = "parquet")]
mod parquet_footer;
mod record;
mod requests;
mod rows;
mod spans;
mod spend;
mod twice;

use std::collections::BTreeMap;

pub use self::{fields::ColumnMap, input::LogInput};
use crate::{error::ScenarioError, workload::trace::TimeUnit};

/// One attempt at a deployment, or a request that never got to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogRow {
    /// When it began, in nanoseconds since 1970, or since the log's own zero.
    pub start_ns: i64,
    /// When it ended; `None` where the log does not say, or it had not ended.
    pub end_ns: Option<i64>,
    /// When the first token of a stream came.
    pub first_token_ns: Option<i64>,
    /// The model asked for: a place in [`Log::models`].
    pub model: usize,
    /// Who was asked: a place in [`Log::deployments`]; `None` where nobody was.
    pub deployment: Option<usize>,
    /// Tokens of the prompt; `None` where the log has none or says 0.
    pub prompt_tokens: Option<u32>,
    /// Tokens of the answer; `None` where the log has none or says 0.
    pub output_tokens: Option<u32>,
    /// Whether it was streamed; `None` where that cannot be told.
    pub stream: Option<bool>,
    /// How it ended.
    pub result: LogResult,
    /// Who sent it, as a number; `None` where the log does not say.
    pub sender: Option<usize>,
    /// Whether it begins a request: false for retries and fallbacks, which are attempts only.
    pub is_arrival: bool,
}

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LogResult {
    /// With an answer.
    Success,
    /// With the answer of a cache: no deployment was asked.
    Cached,
    /// With an error of this HTTP status.
    Failure(u16),
    /// It had not ended when the log was written.
    Unfinished,
}

/// A deployment that a log names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogDeployment {
    /// Its id.
    pub id: String,
    /// The model group that it answered for first: a place in [`Log::models`].
    pub model: usize,
    /// The model behind it, as `litellm_params.model` has it.
    pub litellm_model: String,
}

/// Everything that a log says and calibration may know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Log {
    /// In order of their beginning; equal times in the order of the files.
    pub rows: Vec<LogRow>,
    /// The models asked for.
    pub models: Vec<String>,
    /// Who was asked.
    pub deployments: Vec<LogDeployment>,
    /// How many senders are told apart.
    pub senders: usize,
    /// Whether times are those of a calendar, and not since the log's own zero.
    pub is_dated: bool,
    /// The formats that were found, as told to people.
    pub formats: Vec<String>,
    /// What became of the rows.
    pub books: LogBooks,
}

/// Rows read = kept + dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogBooks {
    /// Rows in the files.
    pub read: u64,
    /// Reason → how many, and the first, with file, line and what was found.
    pub dropped: BTreeMap<&'static str, (u64, String)>,
    /// Column → why it is not read.
    pub ignored: BTreeMap<String, &'static str>,
}

impl LogBooks {
    /// Rows that were not kept.
    #[must_use]
    pub fn dropped_rows(&self) -> u64 {
        self.dropped.values().map(|(count, _)| count).sum()
    }
}

/// How to read logs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogOptions {
    /// Which column means what, where the header does not say.
    pub columns: ColumnMap,
    /// What times count; by their form and size where not given.
    pub time_unit: Option<TimeUnit>,
}

/// Reads the files of one log.
///
/// # Errors
///
/// If a file is of no known format, a column that is needed or named is not there, or more than a tenth
/// of the rows cannot be used; with file, line, column and what would be accepted.
pub fn read_logs(files: &[LogInput], options: &LogOptions) -> Result<Log, ScenarioError> {
    let mut rows = rows::Rows::default();
    for file in files {
        file.read(options, &mut rows)?;
    }
    rows.finish()
}
