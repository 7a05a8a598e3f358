//! A sweep as a folder of files: the page, the tables in four forms, and the pictures.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    error::ReportError,
    markdown::markdown,
    page::page_with,
    plots::draw_all,
    record::SweepRecord,
    table::{arms_frame, csv, json, parquet, runs_frame},
};

/// Writes the report into `folder`, which is made if it is missing, and gives the files written,
/// the page first. Files of an earlier report by the same names are replaced; pictures of an
/// earlier report are removed, so that none is taken for this one's.
///
/// # Errors
///
/// If there is nothing to report, a table or a picture cannot be made, or the disk refuses.
pub fn write_report(sweep: &SweepRecord, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let drawings = draw_all(sweep)?;
    let (arms, runs) = (arms_frame(sweep)?, runs_frame(sweep)?);
    let mut files: Vec<(PathBuf, Vec<u8>)> = vec![
        (
            "index.html".into(),
            page_with(sweep, &drawings).into_bytes(),
        ),
        ("report.md".into(), markdown(sweep).into_bytes()),
        ("results.csv".into(), csv(&arms)?),
        ("results.json".into(), json(sweep)?),
        ("results.parquet".into(), parquet(&arms)?),
        ("runs.csv".into(), csv(&runs)?),
        ("runs.parquet".into(), parquet(&runs)?),
    ];
    for drawing in &drawings {
        let path = Path::new("plots").join(format!("{}.svg", drawing.name));
        files.push((path, drawing.standalone().into_bytes()));
    }
    let plots = folder.join("plots");
    fs::create_dir_all(&plots).map_err(|source| refused(&plots, source))?;
    for plot in crate::plots::plots() {
        let old = plots.join(format!("{}.svg", plot.name()));
        if old.exists() {
            fs::remove_file(&old).map_err(|source| refused(&old, source))?;
        }
    }
    let write = |(path, bytes): (PathBuf, Vec<u8>)| {
        let path = folder.join(path);
        fs::write(&path, bytes).map_err(|source| refused(&path, source))?;
        Ok(path)
    };
    files.into_iter().map(write).collect()
}

/// The table of arms as CSV: what `results.csv` holds.
///
/// # Errors
///
/// If there is nothing to report.
pub fn csv_text(sweep: &SweepRecord) -> Result<String, ReportError> {
    csv(&arms_frame(sweep)?).map(text)
}

/// The whole record as JSON: what `results.json` holds.
///
/// # Errors
///
/// If a number of it cannot be written.
pub fn json_text(sweep: &SweepRecord) -> Result<String, ReportError> {
    json(sweep).map(text)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("tables and JSON are written as UTF-8")
}

fn refused(path: &Path, source: std::io::Error) -> ReportError {
    ReportError::Write {
        path: path.to_owned(),
        source,
    }
}
