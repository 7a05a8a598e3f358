//! Logs as Parquet: row group by row group, the columns that are read and no others, each cell as the text
//! that a CSV would have of it.

use std::{
    fmt::Display,
    io::Cursor,
    panic::{self, AssertUnwindSafe},
    sync::{Mutex, PoisonError},
};

use polars_arrow::{array::Array, datatypes::Field as ArrowField};
use polars_buffer::Buffer;
use polars_parquet::read::{
    BasicDecompressor, ColumnChunkMetadata, PageReader, RowGroupMetadata, column_iter_to_arrays,
    read_metadata, schema::parquet_to_arrow_schema,
};

use super::{
    LogOptions,
    columns::Columns,
    fields::Field,
    parquet_cells::{accepted, text, type_of},
    parquet_footer::is_plausible,
    record::{Record, ignore},
    rows::Rows,
};
use crate::error::ScenarioError;

/// Reads every row of a file. Rows count from 1.
pub(crate) fn read(
    file: &str,
    bytes: &[u8],
    options: &LogOptions,
    rows: &mut Rows,
) -> Result<(), ScenarioError> {
    let file = File {
        name: file,
        bytes: Buffer::from_vec(bytes.to_vec()),
    };
    if !is_plausible(bytes) {
        return Err(file.broken("its footer: it is damaged"));
    }
    let metadata = file.contained("its footer", || read_metadata(&mut Cursor::new(bytes)))?;
    let schema = file.contained("its schema", || {
        Ok::<_, &str>(parquet_to_arrow_schema(metadata.schema_descr.fields()))
    })?;
    let fields: Vec<ArrowField> = schema.iter_values().cloned().collect();
    let header: Vec<String> = fields.iter().map(|field| field.name.to_string()).collect();
    let columns = Columns::of(&header, options, file.name)?;
    for (field, at) in columns.iter() {
        if let Some(accepted) = accepted(field, &fields[at].dtype) {
            let found = type_of(&fields[at].dtype);
            let message = format!("column `{}`: found values of type {found}", header[at]);
            return Err(ScenarioError::new(message)
                .in_file(file.name)
                .help(format!("accepted are {accepted}")));
        }
    }
    rows.begin(
        file.name,
        columns.format("Parquet"),
        columns.source(options),
    );
    ignore(rows, &header, &columns);
    let mut before = 0;
    for group in &metadata.row_groups {
        let wanted = columns.iter().map(|(field, at)| {
            let arrays = file.arrays(group, &fields[at])?;
            Ok((field, arrays))
        });
        let wanted: Vec<(Field, Vec<Box<dyn Array>>)> = wanted.collect::<Result<_, _>>()?;
        let mut cells: Vec<(Field, Cells<'_>)> = wanted
            .iter()
            .map(|(field, arrays)| (*field, Cells::of(arrays)))
            .collect();
        for line in (before + 1..).take(group.num_rows()) {
            let mut record = Record::at(line);
            for (field, cells) in &mut cells {
                if let Some(text) = cells.next_text() {
                    record.set(*field, text);
                }
            }
            rows.take(&record);
            before = line;
        }
    }
    Ok(())
}

/// A file in memory.
struct File<'a> {
    name: &'a str,
    bytes: Buffer<u8>,
}

impl File<'_> {
    /// Does what the library may panic over: it takes some damaged pages for its own mistakes.
    fn contained<T, E: Display>(
        &self,
        what: &str,
        done: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, ScenarioError> {
        // The hook is one for all threads, so only one of them replaces it at a time.
        let alone = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
        let usual = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        let found = panic::catch_unwind(AssertUnwindSafe(done));
        panic::set_hook(usual);
        drop(alone);
        match found {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => Err(self.broken(format!("{what}: {error}"))),
            Err(_) => Err(self.broken(format!("{what}: it is damaged"))),
        }
    }

    fn broken(&self, error: impl Display) -> ScenarioError {
        ScenarioError::new(format!("cannot be read as Parquet: {error}"))
            .in_file(self.name)
            .help("accepted is a whole Parquet file, from its first `PAR1` to its last")
    }

    /// One column of a row group.
    fn arrays(
        &self,
        group: &RowGroupMetadata,
        field: &ArrowField,
    ) -> Result<Vec<Box<dyn Array>>, ScenarioError> {
        let what = format!("column `{}`", field.name);
        let of_column = |error: &dyn Display| self.broken(format!("{what}: {error}"));
        let chunks: Vec<&ColumnChunkMetadata> = group
            .columns_under_root_iter(&field.name)
            .ok_or_else(|| of_column(&"a row group has no such column"))?
            .collect();
        let decoded = || {
            let (mut pages, mut types) = (Vec::new(), Vec::new());
            for chunk in chunks {
                let bytes = self
                    .part(chunk)
                    .ok_or("its pages lie outside of the file")?;
                let reader = PageReader::new(Cursor::new(bytes), chunk, Vec::new(), usize::MAX);
                pages.push(BasicDecompressor::new(reader, Vec::new()));
                types.push(&chunk.descriptor().descriptor.primitive_type);
            }
            column_iter_to_arrays(pages, types, field.clone(), None)
                .map(|(arrays, _)| arrays)
                .map_err(|error| error.to_string())
        };
        let arrays = self.contained(&what, decoded)?;
        let found: usize = arrays.iter().map(|array| array.len()).sum();
        match found == group.num_rows() {
            true => Ok(arrays),
            false => {
                let wanted = group.num_rows();
                Err(of_column(&format!(
                    "it has {found} rows instead of {wanted}"
                )))
            }
        }
    }
}

impl File<'_> {
    /// The bytes of a column in a row group.
    fn part(&self, chunk: &ColumnChunkMetadata) -> Option<Buffer<u8>> {
        let range = chunk.byte_range();
        let place = |at: u64| {
            usize::try_from(at)
                .ok()
                .filter(|at| *at <= self.bytes.len())
        };
        let (from, to) = (place(range.start)?, place(range.end)?);
        (from <= to).then(|| self.bytes.clone().sliced(from..to))
    }
}

/// Held by whoever has replaced the hook of panics.
static HOOK: Mutex<()> = Mutex::new(());

/// The cells of a column one after the other.
struct Cells<'a> {
    arrays: &'a [Box<dyn Array>],
    at: usize,
}

impl<'a> Cells<'a> {
    const fn of(arrays: &'a [Box<dyn Array>]) -> Self {
        Self { arrays, at: 0 }
    }

    fn next_text(&mut self) -> Option<String> {
        while let [first, rest @ ..] = self.arrays {
            if self.at < first.len() {
                self.at += 1;
                return text(first.as_ref(), self.at - 1);
            }
            (self.arrays, self.at) = (rest, 0);
        }
        None
    }
}
