//! From records to rows: names become numbers, times become nanoseconds, and books are kept.

use std::collections::BTreeMap;

use super::{
    Log, LogBooks, LogDeployment, LogResult, LogRow,
    fields::Field,
    record::Record,
    requests::mark_arrivals,
    spans,
    spend::{self, Call},
    twice::{Mark, TWICE, hashed, repeated},
};
use crate::{
    error::ScenarioError,
    workload::trace::{TimeUnit, tokens},
};

/// How the cells of a file are to be taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source {
    /// LiteLLM's own log, whose words are known.
    pub(crate) is_spend: bool,
    /// It tells when calls ended; where it never does, an answer without an end is still an answer.
    pub(crate) has_ends: bool,
    /// What times count, if that was said.
    pub(crate) time_unit: Option<TimeUnit>,
}

/// The rows of all files so far.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<LogRow>,
    marks: Vec<Mark>,
    models: Names,
    deployment_ids: Names,
    deployments: Vec<LogDeployment>,
    senders: Names,
    session_names: Names,
    formats: Vec<String>,
    books: LogBooks,
    source: Source,
    file: String,
    dated: Option<bool>,
}

/// Names as numbers, in the order in which they came.
#[derive(Debug, Default)]
struct Names {
    numbers: BTreeMap<String, usize>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> usize {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let number = self.names.len();
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

/// Why a row is dropped, and what of it.
type Dropped = (&'static str, String);

impl Rows {
    /// The rows that follow come from this file.
    pub(crate) fn begin(&mut self, file: &str, format: impl Into<String>, source: Source) {
        file.clone_into(&mut self.file);
        self.source = source;
        let format = format.into();
        if !self.formats.contains(&format) {
            self.formats.push(format);
        }
    }

    /// A column is not read.
    pub(crate) fn ignore(&mut self, column: &str, reason: &'static str) {
        self.books.ignored.insert(column.to_owned(), reason);
    }

    /// A line is no row at all.
    pub(crate) fn drop_unreadable(&mut self, line: u64) {
        self.books.read += 1;
        self.drop_row("no readable row", "no row", line);
    }

    /// A row has too few or too many cells.
    pub(crate) fn drop_misshapen(&mut self, line: u64, found: usize, wanted: usize) {
        self.books.read += 1;
        let found = format!("found {found} cells, accepted are {wanted}");
        self.drop_row("another number of cells than the header", &found, line);
    }

    /// A row is well-formed and about something else.
    pub(crate) fn drop_other(&mut self, line: u64, reason: &'static str, found: &str) {
        self.books.read += 1;
        self.drop_row(reason, &format!("found `{}`", short(found)), line);
    }

    fn drop_row(&mut self, reason: &'static str, found: &str, line: u64) {
        let file = &self.file;
        let first = || (0, format!("{file}:{line}: {found}"));
        self.books.dropped.entry(reason).or_insert_with(first).0 += 1;
    }

    /// Takes a row, or drops it with its reason.
    pub(crate) fn take(&mut self, record: &Record<'_>) {
        self.books.read += 1;
        match self.row(record) {
            Ok((row, mark)) => {
                self.rows.push(row);
                self.marks.push(mark);
            }
            Err((reason, found)) => self.drop_row(reason, &found, record.line),
        }
    }

    fn row(&mut self, record: &Record<'_>) -> Result<(LogRow, Mark), Dropped> {
        let call = match self.source.is_spend {
            true => spend::call(record)?,
            false => Call::plain(record)?,
        };
        let start_ns = self.time(record, Field::Start)?.ok_or_else(|| {
            (
                "no time of its beginning",
                "found nothing, accepted is a time".to_owned(),
            )
        })?;
        let end_ns = self.end(record, start_ns)?;
        let first_token_ns = self.first_token(record, start_ns)?;
        let prompt_tokens = self.count(record, Field::PromptTokens)?;
        let output_tokens = self.count(record, Field::OutputTokens)?;
        let result = match (call.result, end_ns) {
            (LogResult::Success, None) if self.source.has_ends => LogResult::Unfinished,
            (result, _) => result,
        };
        let stream = match (record.get(Field::Stream), first_token_ns, end_ns) {
            (Some(text), ..) => Some(spend::truth(text, "stream")?),
            (None, Some(first), Some(end)) if result == LogResult::Success => Some(first < end),
            (None, ..) => None,
        };
        let model_name = call.group.unwrap_or(UNNAMED);
        let model = self.models.number(model_name);
        let deployment = call.deployment.map(|id| self.deployment(id, model, &call));
        let sender = record
            .get(Field::Sender)
            .map(|name| self.senders.number(name));
        let session = record
            .get(Field::Session)
            .map(|name| self.session_names.number(name));
        let row = LogRow {
            start_ns,
            end_ns,
            first_token_ns: first_token_ns.filter(|_| stream == Some(true)),
            model,
            deployment,
            prompt_tokens,
            output_tokens,
            stream,
            result,
            sender,
            is_arrival: true,
        };
        let id = record.get(Field::Id).map(hashed);
        Ok((row, Mark { id, session }))
    }

    fn deployment(&mut self, id: &str, model: usize, call: &Call<'_>) -> usize {
        let number = self.deployment_ids.number(id);
        if number == self.deployments.len() {
            self.deployments.push(LogDeployment {
                id: id.to_owned(),
                model,
                litellm_model: call.litellm_model(),
            });
        }
        number
    }

    fn end(&mut self, record: &Record<'_>, start_ns: i64) -> Result<Option<i64>, Dropped> {
        let end = match self.time(record, Field::End)? {
            Some(end) => Some(end),
            None => self
                .span_ns(record, Field::LatencyMs, 1e6)?
                .or(self.span_ns(record, Field::LatencyS, 1e9)?)
                .map(|span| start_ns.saturating_add(span)),
        };
        match end {
            Some(end) if end < start_ns => Err((
                "an end before the beginning",
                format!(
                    "found an end {} s before the beginning",
                    start_ns.abs_diff(end) as f64 / 1e9
                ),
            )),
            other => Ok(other),
        }
    }

    fn first_token(&mut self, record: &Record<'_>, start_ns: i64) -> Result<Option<i64>, Dropped> {
        let first = match self.time(record, Field::FirstTokenAt)? {
            Some(at) => Some(at),
            None => self
                .span_ns(record, Field::FirstTokenMs, 1e6)?
                .or(self.span_ns(record, Field::FirstTokenS, 1e9)?)
                .map(|span| start_ns.saturating_add(span)),
        };
        Ok(first.filter(|first| *first >= start_ns))
    }

    /// A number of tokens; `None` where there is none or it is 0.
    fn count(&self, record: &Record<'_>, field: Field) -> Result<Option<u32>, Dropped> {
        let Some(text) = record.get(field) else {
            return Ok(None);
        };
        match tokens(text) {
            Ok(count) => Ok(Some(count).filter(|count| *count > 0)),
            Err(_) => Err((
                "a number of tokens that is none",
                self.found(field, text, "a whole number of tokens"),
            )),
        }
    }

    /// A length of time, in nanoseconds.
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    fn span_ns(
        &self,
        record: &Record<'_>,
        field: Field,
        unit_ns: f64,
    ) -> Result<Option<i64>, Dropped> {
        let Some(text) = record.get(field) else {
            return Ok(None);
        };
        match text.parse::<f64>() {
            Ok(span) if (0.0..=LONGEST_NS).contains(&(span * unit_ns)) => {
                Ok(Some((span * unit_ns).round() as i64))
            }
            _ => Err((
                "a length of time that is none",
                self.found(field, text, "a number from 0 to a year"),
            )),
        }
    }

    fn found(&self, field: Field, text: &str, accepted: &str) -> String {
        let name = field.name(self.source.is_spend);
        format!("found `{}` as {name}, accepted is {accepted}", short(text))
    }

    fn time(&mut self, record: &Record<'_>, field: Field) -> Result<Option<i64>, Dropped> {
        let Some(text) = record.get(field) else {
            return Ok(None);
        };
        let unit = self.source.time_unit.unwrap_or_else(|| unit_of(text));
        let Some(ns) = unit.read(text) else {
            let accepted = match self.source.time_unit {
                Some(unit) => unit.accepted(),
                None => "a number of seconds, or a date with a time, as 2026-11-29T22:40:07.39Z",
            };
            let found = self.found(field, text, accepted);
            return Err(("a time that is none", found));
        };
        if field == Field::Start {
            self.dated.get_or_insert(ns >= DATED_FROM_NS);
        }
        Ok(Some(ns))
    }

    /// All rows in order, as a log.
    pub(crate) fn finish(self) -> Result<Log, ScenarioError> {
        let Self {
            mut rows,
            marks,
            mut books,
            ..
        } = self;
        let told = |(reason, (count, first)): (&&'static str, &(u64, String))| {
            format!("{count} with {reason} (first: {first})")
        };
        let reasons: Vec<String> = books.dropped.iter().map(told).collect();
        let reasons = reasons.join("; ");
        if rows.is_empty() {
            return Err(ScenarioError::new(match books.read {
                0 => "the log has no rows".to_owned(),
                _ => format!("no row of the log can be used: {reasons}"),
            })
            .in_file(self.file));
        }
        let broken = books
            .dropped
            .iter()
            .filter(|(reason, _)| !OTHERS.contains(reason));
        let broken: u64 = broken.map(|(_, (count, _))| count).sum();
        if broken * 10 > books.read {
            let message = format!("{broken} of {} rows cannot be used: {reasons}", books.read);
            return Err(ScenarioError::new(message)
                .in_file(self.file)
                .help("accepted are logs of which at most a tenth of the rows cannot be read"));
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&at| rows[at].start_ns);
        let marks: Vec<Mark> = order.iter().map(|&at| marks[at]).collect();
        rows.sort_by_key(|row| row.start_ns);
        let repeated = repeated(&rows, &marks);
        if let Some(first) = repeated.iter().position(|again| *again) {
            let began_s = rows[first].start_ns as f64 / 1e9;
            let count = repeated.iter().filter(|again| **again).count() as u64;
            let told = format!("the first began at second {began_s:.3} of the log's clock");
            books.dropped.insert(TWICE, (count, told));
        }
        let once = |at: &usize| !repeated[*at];
        let sessions: Vec<Option<usize>> = (0..rows.len())
            .filter(once)
            .map(|at| marks[at].session)
            .collect();
        let mut at = 0;
        rows.retain(|_| {
            at += 1;
            !repeated[at - 1]
        });
        mark_arrivals(&mut rows, &sessions);
        Ok(Log {
            rows,
            models: self.models.names,
            deployments: self.deployments,
            senders: self.senders.names.len(),
            is_dated: self.dated.unwrap_or(false),
            formats: self.formats,
            books,
        })
    }
}

/// What a time counts, by its form, and a number by its size: seconds since 1970 have up to 11 digits,
/// milliseconds up to 14, microseconds up to 17.
fn unit_of(text: &str) -> TimeUnit {
    if text.contains(':') {
        return TimeUnit::DateTime;
    }
    let whole = text.split('.').next().unwrap_or(text);
    match whole.trim_start_matches('-').len() {
        0..=11 => TimeUnit::Seconds,
        12..=14 => TimeUnit::Milliseconds,
        15..=17 => TimeUnit::Microseconds,
        _ => TimeUnit::Nanoseconds,
    }
}

/// The beginning of a cell, as far as a message can show it.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// What a log without model names asks for.
const UNNAMED: &str = "model";
/// Later than this is a date: the year 2001.
const DATED_FROM_NS: i64 = 978_307_200_000_000_000;
/// A year.
const LONGEST_NS: f64 = 3.1536e16;
/// Rows that are well-formed and about something else: they speak against no log.
const OTHERS: [&str; 2] = [spend::OTHER_CALL, spans::NO_MODEL_CALL];
