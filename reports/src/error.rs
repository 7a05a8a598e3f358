//! What can go wrong while a report is written: the disk, mostly.

use std::path::PathBuf;

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The sweep has no arm, or no arm has a run.
    #[error("nothing to report: the sweep has no finished run")]
    NothingToReport,
    /// The reference is not one of the arms.
    #[error("the reference is arm {reference}, but there are only {arms}")]
    NoSuchReference {
        /// Index that was given.
        reference: usize,
        /// Number of arms.
        arms: usize,
    },
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A plot could not be drawn.
    #[error("cannot draw the plot {plot}: {reason}")]
    Draw {
        /// Its name.
        plot: &'static str,
        /// What the plotting library said.
        reason: String,
    },
    /// A table could not be built or encoded.
    #[error("cannot make the table {table}: {reason}")]
    Table {
        /// Its name.
        table: &'static str,
        /// What the table library said.
        reason: String,
    },
}
