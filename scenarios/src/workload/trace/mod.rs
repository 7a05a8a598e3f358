//! Recorded traffic: which format a file has, which of its rows count, and what became of the rest.
//!
//! Every reader keeps the same books: read = kept + dropped, by reason. Rows without prompt or
//! answer tokens, with times or numbers that are none, are dropped; equal times stay in file order;
//! times that run back are refused unless the file says what to do about them. A trace of which too
//! much is dropped is refused as a whole.

mod books;
mod columns;
mod mooncake;
pub mod servegen;
pub(crate) mod timestamp;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use self::books::grouped;
pub(crate) use self::columns::{header, place, records};
pub use self::{
    books::{Books, DropReason},
    columns::TraceColumns,
    timestamp::TimeUnit,
};
use super::lengths::TOKENS_AT_MOST;
use crate::error::ScenarioError;

/// One request of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceRow {
    /// Nanoseconds since the first row that was kept.
    pub at_ns: u64,
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens of the answer.
    pub output_tokens: u32,
}

/// The formats that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// Azure LLM inference traces of 2023 and 2024: `TIMESTAMP,ContextTokens,GeneratedTokens`.
    Azure,
    /// BurstGPT: `Timestamp,Model,Request tokens,Response tokens,…`, times in seconds.
    Burstgpt,
    /// Any CSV with a header, by `columns`.
    Columns,
    /// Mooncake JSON lines: `timestamp` in ms, `input_length`, `output_length`.
    Mooncake,
    /// ServeGen aggregate: `t_s,rate_rps`, a curve of rates without lengths.
    ServegenAggregate,
    /// A folder of ServeGen clients: `chunk-*-trace.csv` with `chunk-*-dataset.json`.
    ServegenClients,
    /// ShareGPT with arrivals: `arrival_time_ns,input_toks,output_toks`.
    Sharegpt,
}

/// What to do about rows whose time lies before that of the row above.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unsorted {
    /// Drop them.
    Drop,
    /// Refuse the trace.
    #[default]
    Refuse,
    /// Sort all rows by time; equal times keep the file's order.
    Sort,
}

/// A trace of single requests.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// The format that was read.
    pub format: TraceFormat,
    /// Rows kept, in order of time.
    pub rows: Vec<TraceRow>,
    /// What became of the others.
    pub books: Books,
}

/// How to read a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceOptions {
    /// The format; by the header where not given.
    pub format: Option<TraceFormat>,
    /// The columns of [`TraceFormat::Columns`].
    pub columns: Option<TraceColumns>,
    /// What to do about times that run back.
    pub unsorted: Unsorted,
    /// The trace is refused if more than this share of its rows is dropped.
    pub max_dropped_share: f64,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            format: None,
            columns: None,
            unsorted: Unsorted::Refuse,
            max_dropped_share: MAX_DROPPED_SHARE,
        }
    }
}

/// What a text holds, by its header.
///
/// # Errors
/// If it is none of the formats, with the header that was found.
pub fn detect(text: &str, file: &str) -> Result<TraceFormat, ScenarioError> {
    if mooncake::fits(text) {
        return Ok(TraceFormat::Mooncake);
    }
    let header = header(text);
    if let Some((format, _)) = columns::KNOWN
        .iter()
        .find(|(_, columns)| columns.fit(&header))
    {
        return Ok(*format);
    }
    let has = |name: &str| place(&header, name).is_some();
    if has("t_s") && has("rate_rps") {
        return Ok(TraceFormat::ServegenAggregate);
    }
    if text.trim().is_empty() {
        return Err(problem(file, None, "the trace is empty"));
    }
    let shown: String = header.join(",").chars().take(120).collect();
    let error = problem(
        file,
        Some(1),
        &format!("a trace of no known format begins `{shown}`"),
    );
    Err(if has("num_prefill_tokens") {
        error.help(
            "this is a list of lengths without times: give it as `workload.lengths.file` and say \
             `workload.arrivals`",
        )
    } else {
        error.help(
            "known are azure, burstgpt, mooncake, sharegpt, servegen-aggregate (all by their \
             header) and servegen-clients (a folder); name the columns of any other CSV in \
             `workload.trace.columns`",
        )
    })
}

/// Reads a trace of single requests.
///
/// # Errors
/// If the format is not known or not one of single requests, if times run back (unless told what to
/// do), if nothing is kept or too much dropped.
pub fn read(text: &str, file: &str, options: &TraceOptions) -> Result<Trace, ScenarioError> {
    let format = match (options.format, &options.columns) {
        (Some(format), _) => format,
        (None, Some(_)) => TraceFormat::Columns,
        (None, None) => detect(text, file)?,
    };
    let header = header(text);
    let known = |columns: &TraceColumns| {
        let Some(missing) = columns.missing_in(&header) else {
            return Ok(());
        };
        let found = header.join(", ");
        let message = format!("the trace has no column `{missing}`; its columns are {found}");
        Err(problem(file, Some(1), &message))
    };
    let mut kept = Kept::new(options.unsorted);
    match format {
        TraceFormat::Mooncake => kept.take(mooncake::rows(text)),
        TraceFormat::Columns => {
            let columns = options.columns.as_ref().ok_or_else(|| {
                problem(file, None, "`format: columns` needs `columns`").help(
                    "give `columns: {time: …, time_unit: s, prompt_tokens: …, output_tokens: …}`",
                )
            })?;
            known(columns)?;
            kept.take(columns.rows(&header, text));
        }
        TraceFormat::Azure | TraceFormat::Burstgpt | TraceFormat::Sharegpt => {
            let (_, columns) = columns::KNOWN
                .iter()
                .find(|(known, _)| *known == format)
                .expect("every format of fixed columns is in the table");
            known(columns)?;
            kept.take(columns.rows(&header, text));
        }
        TraceFormat::ServegenAggregate | TraceFormat::ServegenClients => {
            let message = "a servegen trace holds rates and no single requests";
            return Err(problem(file, None, message));
        }
    }
    kept.finish(format, file, options)
}

/// A row before it is known where time begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawRow {
    pub at_ns: i64,
    pub prompt_tokens: u32,
    pub output_tokens: u32,
}

struct Kept {
    unsorted: Unsorted,
    rows: Vec<RawRow>,
    books: Books,
}

impl Kept {
    fn new(unsorted: Unsorted) -> Self {
        Self {
            unsorted,
            rows: Vec::new(),
            books: Books::default(),
        }
    }

    fn take(&mut self, rows: impl Iterator<Item = (u64, Result<RawRow, DropReason>)>) {
        for (line, row) in rows {
            self.books.read += 1;
            let row = row.and_then(|row| match (row.prompt_tokens, row.output_tokens) {
                (0, _) => Err(DropReason::ZeroPrompt),
                (_, 0) => Err(DropReason::ZeroOutput),
                _ => Ok(row),
            });
            let row = match row {
                Ok(row) => row,
                Err(reason) => {
                    self.books.drop_row(reason, line);
                    continue;
                }
            };
            if self
                .rows
                .last()
                .is_some_and(|before| row.at_ns < before.at_ns)
            {
                self.books.unsorted_steps += 1;
                self.books.first_unsorted.get_or_insert(line);
                if self.unsorted == Unsorted::Drop {
                    self.books.drop_row(DropReason::OutOfOrder, line);
                    continue;
                }
            }
            self.rows.push(row);
        }
    }

    fn finish(
        mut self,
        format: TraceFormat,
        file: &str,
        options: &TraceOptions,
    ) -> Result<Trace, ScenarioError> {
        if self.rows.is_empty() {
            let message = match self.books.read {
                0 => "the trace has no rows".to_owned(),
                _ => format!("no row of the trace can be used: {}", self.books.reasons()),
            };
            return Err(problem(file, None, &message));
        }
        self.refuse_if_too_much_is_dropped(file, options)?;
        if let (Some(line), Unsorted::Refuse) = (self.books.first_unsorted, self.unsorted) {
            let message = "the trace's times run back here";
            return Err(problem(file, Some(line), message).help(
                "say `unsorted: sort` to sort the rows by time, or `unsorted: drop` to leave out \
                 those that come late",
            ));
        }
        if self.unsorted == Unsorted::Sort {
            self.rows.sort_by_key(|row| row.at_ns);
        }
        let first = self.rows[0].at_ns;
        let row = |row: &RawRow| TraceRow {
            at_ns: row.at_ns.abs_diff(first),
            prompt_tokens: row.prompt_tokens,
            output_tokens: row.output_tokens,
        };
        Ok(Trace {
            format,
            rows: self.rows.iter().map(row).collect(),
            books: self.books,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "a share of rows needs no 2^53")]
    fn refuse_if_too_much_is_dropped(
        &self,
        file: &str,
        options: &TraceOptions,
    ) -> Result<(), ScenarioError> {
        let share = self.books.dropped_rows() as f64 / self.books.read as f64;
        if share <= options.max_dropped_share {
            return Ok(());
        }
        let message = format!(
            "{:.1} % of the trace's rows cannot be used, more than the {:.1} % allowed: {}",
            share * 100.0,
            options.max_dropped_share * 100.0,
            self.books.reasons()
        );
        Err(problem(file, None, &message)
            .help("raise `max_dropped_share` if that is as it should be"))
    }
}

/// A whole number of tokens.
pub(crate) fn tokens(text: &str) -> Result<u32, DropReason> {
    if let Ok(tokens) = text.parse::<u32>() {
        return if tokens > TOKENS_AT_MOST {
            Err(DropReason::TooManyTokens)
        } else {
            Ok(tokens)
        };
    }
    let number: f64 = text.parse().map_err(|_| DropReason::TokensNoNumber)?;
    if number < 0.0 {
        Err(DropReason::NegativeTokens)
    } else if number > f64::from(TOKENS_AT_MOST) {
        Err(DropReason::TooManyTokens)
    } else if number.fract() == 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole and within a token count"
        )]
        #[expect(clippy::cast_sign_loss, reason = "not negative")]
        Ok(number as u32)
    } else {
        Err(DropReason::TokensNoNumber)
    }
}

/// An error in a trace file.
pub(crate) fn problem(file: &str, line: Option<u64>, message: &str) -> ScenarioError {
    let error = ScenarioError::new(message).key("workload.trace");
    let error = match line.and_then(|line| u32::try_from(line).ok()) {
        Some(line) => error.at(line, 1),
        None => error.at(0, 0),
    };
    error.in_file(file)
}

/// BurstGPT, the trace with most failed rows, has up to 7.3 % of them.
const MAX_DROPPED_SHARE: f64 = 0.10;
