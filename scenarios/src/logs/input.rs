//! A file with a log: text or Parquet, by its first bytes.

use super::{LogOptions, record::read_text, rows::Rows};
use crate::error::ScenarioError;

/// A file with a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogInput {
    /// CSV, JSON or JSON lines.
    Text {
        /// The file's name, for messages.
        file: String,
        /// What is in it.
        text: String,
    },
    /// Parquet, which only builds with the feature `parquet` read.
    Parquet {
        /// The file's name, for messages.
        file: String,
        /// What is in it.
        bytes: Vec<u8>,
    },
}

impl LogInput {
    /// A file by what is in it, and one without a known beginning by the end of its name.
    ///
    /// # Errors
    ///
    /// If it is compressed, or neither Parquet nor text in UTF-8.
    pub fn of(file: &str, bytes: Vec<u8>) -> Result<Self, ScenarioError> {
        let packed = PACKED.iter().find(|(begins, ..)| bytes.starts_with(begins));
        if let Some((_, kind, tool)) = packed {
            return Err(
                ScenarioError::new(format!("the log is compressed ({kind})"))
                    .in_file(file)
                    .help(format!("unpack it first: {tool}")),
            );
        }
        let has_name = file.to_ascii_lowercase().ends_with(".parquet");
        if bytes.starts_with(b"PAR1") || has_name {
            let file = file.to_owned();
            return Ok(Self::Parquet { file, bytes });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            ScenarioError::new(format!("the log is no text: byte {at} is not UTF-8"))
                .in_file(file)
                .help("accepted are CSV, JSON or JSON lines in UTF-8, and Parquet")
        })?;
        let file = file.to_owned();
        Ok(Self::Text { file, text })
    }

    pub(crate) fn read(&self, options: &LogOptions, rows: &mut Rows) -> Result<(), ScenarioError> {
        match self {
            Self::Text { file, text } => read_text(file, text, options, rows),
            Self::Parquet { file, bytes } => read_parquet(file, bytes, options, rows),
        }
    }
}

#[cfg(feature = "parquet")]
use super::parquet::read as read_parquet;

/// Refuses it.
#[cfg(not(feature = "parquet"))]
fn read_parquet(file: &str, _: &[u8], _: &LogOptions, _: &mut Rows) -> Result<(), ScenarioError> {
    Err(
        ScenarioError::new("this build of routelab cannot read Parquet")
            .in_file(file)
            .help("accepted are CSV, JSON and JSON lines; builds with the feature `parquet` of the package `scenarios` read Parquet"),
    )
}

/// First bytes, what they begin, and what unpacks it.
const PACKED: [(&[u8], &str, &str); 3] = [
    (&[0x1f, 0x8b], "gzip", "gunzip FILE"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", "unzstd FILE"),
    (b"PK\x03\x04", "zip", "unzip FILE"),
];
