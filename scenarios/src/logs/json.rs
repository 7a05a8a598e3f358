//! Logs as JSON: a list of rows, a row a line, what LiteLLM's `/spend/logs` answers, or OpenTelemetry spans.
//! One file may hold several documents, one after the other, as collectors write them.

use serde_json::{Map, Value};

use super::{
    LogOptions,
    columns::{ENDS, no_spend_log},
    fields::{Field, SPEND, reason},
    record::Record,
    rows::{Rows, Source},
    spans,
};
use crate::error::ScenarioError;

/// Reads every document of a file. What stands in a list is counted in the list, else in lines.
pub(crate) fn read(
    file: &str,
    text: &str,
    options: &LogOptions,
    rows: &mut Rows,
) -> Result<(), ScenarioError> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (mut line, mut counted) = (1, 0);
    let mut reader = Reader {
        file,
        options,
        rows,
    };
    loop {
        let begin = text.len() - text[counted..].trim_start().len();
        line += newlines(&text[counted..begin]);
        let Some(document) = documents.next() else {
            return Ok(());
        };
        let document = document.map_err(|error| {
            let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let (at, column) = (place(error.line()), place(error.column()));
            ScenarioError::new(format!("found no JSON: {error}"))
                .at(at, column)
                .in_file(file)
                .help("accepted are a list of objects, an object a line, or OTLP's resourceSpans")
        })?;
        reader.document(&document, line)?;
        counted = documents.byte_offset();
        line += newlines(&text[begin..counted]);
    }
}

fn newlines(text: &str) -> u64 {
    text.bytes().map(|byte| u64::from(byte == b'\n')).sum()
}

struct Reader<'a> {
    file: &'a str,
    options: &'a LogOptions,
    rows: &'a mut Rows,
}

impl Reader<'_> {
    fn document(&mut self, document: &Value, line: u64) -> Result<(), ScenarioError> {
        match document {
            Value::Array(items) => (1..)
                .zip(items)
                .try_for_each(|(at, item)| self.item(item, at)),
            Value::Object(map) => {
                let list = |name: &str| map.get(name).and_then(Value::as_array);
                if let Some(resources) = list("resourceSpans").or_else(|| list("resource_spans")) {
                    self.begin_spans();
                    let mut at = 0;
                    for span in resources.iter().flat_map(spans::of_resource) {
                        at += 1;
                        spans::take(span, at, self.rows);
                    }
                    return Ok(());
                }
                match list("spans").or_else(|| list("data")) {
                    Some(items) => (1..)
                        .zip(items)
                        .try_for_each(|(at, item)| self.item(item, at)),
                    None => self.item(document, line),
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Err(self.refused(document, line))
            }
        }
    }

    /// A row or a span.
    fn item(&mut self, item: &Value, line: u64) -> Result<(), ScenarioError> {
        let Some(map) = item.as_object() else {
            return Err(self.refused(item, line));
        };
        if spans::is_span(map) {
            self.begin_spans();
            spans::take(map, line, self.rows);
            return Ok(());
        }
        if map.contains_key("resourceSpans") || map.contains_key("resource_spans") {
            return self.document(item, line);
        }
        self.row(map, line)
    }

    fn row(&mut self, map: &Map<String, Value>, line: u64) -> Result<(), ScenarioError> {
        let own = !self.options.columns.is_empty();
        let known: Vec<(&str, Field)> = match own {
            true => self
                .options
                .columns
                .iter()
                .map(|(field, name)| (name, field))
                .collect(),
            false => SPEND.to_vec(),
        };
        let has = |wanted: Field| {
            known
                .iter()
                .any(|(name, field)| *field == wanted && map.contains_key(*name))
        };
        if !has(Field::Start) || !(own || has(Field::End)) {
            let keys: Vec<&str> = map.keys().map(String::as_str).collect();
            let spend = SPEND.iter().filter(|(name, _)| map.contains_key(*name));
            return Err(no_spend_log(&keys, spend.count())
                .at(u32::try_from(line).unwrap_or(u32::MAX), 1)
                .in_file(self.file));
        }
        let (format, is_spend) = match own {
            true => ("JSON by --columns", false),
            false => ("LiteLLM spend logs (JSON)", true),
        };
        let time_unit = self.options.time_unit;
        let has_ends = known.iter().any(|(_, field)| ENDS.contains(field));
        self.rows.begin(
            self.file,
            format,
            Source {
                is_spend,
                has_ends,
                time_unit,
            },
        );
        let mut record = Record::at(line);
        for (name, value) in map {
            match known.iter().find(|(known, _)| known == name) {
                Some((_, field)) => record.set(*field, text_of(value)),
                None => self.rows.ignore(name, reason(name)),
            }
        }
        self.rows.take(&record);
        Ok(())
    }

    fn begin_spans(&mut self) {
        let source = Source {
            is_spend: false,
            has_ends: true,
            time_unit: None,
        };
        self.rows
            .begin(self.file, "OpenTelemetry GenAI spans", source);
    }

    fn refused(&self, found: &Value, line: u64) -> ScenarioError {
        let shown: String = found.to_string().chars().take(40).collect();
        ScenarioError::new(format!("found `{shown}`"))
            .at(u32::try_from(line).unwrap_or(u32::MAX), 1)
            .in_file(self.file)
            .help("accepted are objects: rows of a log or spans")
    }
}

/// A value as the text of a cell.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
