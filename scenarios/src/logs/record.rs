//! From a file to records: the few cells of each row that are read, as text.

use std::borrow::Cow;

use super::{
    LogOptions,
    columns::Columns,
    fields::{Field, reason},
    json,
    rows::Rows,
};
use crate::{
    error::ScenarioError,
    workload::trace::{header, records},
};

/// The cells of one row that are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record<'a> {
    /// Where it stands in its file, from 1: a line, or a row.
    pub(crate) line: u64,
    cells: [Option<Cow<'a, str>>; Field::COUNT],
}

impl<'a> Record<'a> {
    pub(crate) fn at(line: u64) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    /// Keeps a cell, unless it says nothing.
    pub(crate) fn set(&mut self, field: Field, text: impl Into<Cow<'a, str>>) {
        let text = text.into();
        let says = text.trim();
        if !says.is_empty() && !matches!(says, "null" | "NULL" | "None" | "\\N") {
            self.cells[field as usize] = Some(text);
        }
    }

    /// What the row says.
    pub(crate) fn get(&self, field: Field) -> Option<&str> {
        self.cells[field as usize].as_deref().map(str::trim)
    }
}

/// Reads a file of text.
pub(crate) fn read_text(
    file: &str,
    text: &str,
    options: &LogOptions,
    rows: &mut Rows,
) -> Result<(), ScenarioError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(ScenarioError::new("the log is empty").in_file(file));
    }
    match text.trim_start().starts_with(['{', '[']) {
        true => json::read(file, text, options, rows),
        false => read_csv(file, text, options, rows),
    }
}

fn read_csv(
    file: &str,
    text: &str,
    options: &LogOptions,
    rows: &mut Rows,
) -> Result<(), ScenarioError> {
    let header = header(text);
    let columns = Columns::of(&header, options, file)?;
    rows.begin(file, columns.format("CSV"), columns.source(options));
    ignore(rows, &header, &columns);
    for (line, record) in records(text) {
        let Some(cells) = record else {
            rows.drop_unreadable(line);
            continue;
        };
        if cells.len() != header.len() {
            rows.drop_misshapen(line, cells.len(), header.len());
            continue;
        }
        let mut record = Record::at(line);
        for (field, at) in columns.iter() {
            if let Some(cell) = cells.get(at) {
                record.set(field, cell.to_owned());
            }
        }
        rows.take(&record);
    }
    Ok(())
}

/// Tells which columns are not read.
pub(crate) fn ignore(rows: &mut Rows, header: &[String], columns: &Columns) {
    for (at, name) in header.iter().enumerate() {
        if columns.iter().all(|(_, read)| read != at) {
            rows.ignore(name, reason(name));
        }
    }
}
