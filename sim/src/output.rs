//! Where results go: standard output, and the report's directory, which never holds half a report.
//!
//! A report is written to a directory beside its own and moved over file by file, the page last, so
//! that an interrupted or failed run leaves the earlier report whole. Files that are not of a report
//! stay as they are.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use reports::{ReportError, SweepRecord};

use crate::complaint::Complaint;

/// Writes results to standard output. That its reader has left is told apart from failure.
pub(crate) fn print(text: &str) -> Result<(), Complaint> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|source| {
            if source.kind() == io::ErrorKind::BrokenPipe {
                Complaint::ReaderLeft
            } else {
                Complaint::Write {
                    what: "standard output".to_owned(),
                    source,
                }
            }
        })
}

/// A picture of characters if it fits: on a terminal, or where `COLUMNS` says how wide the output is, each of its
/// lines must. A pipe takes any.
pub(crate) fn fitting(picture: String) -> String {
    let given = std::env::var("COLUMNS").ok();
    let columns = given
        .and_then(|text| text.parse::<usize>().ok())
        .or_else(|| {
            let of_terminal = terminal_size::terminal_size_of(io::stdout());
            of_terminal.map(|(width, _)| usize::from(width.0))
        });
    let widest = picture.lines().map(|line| line.chars().count()).max();
    match columns.is_none_or(|columns| widest.unwrap_or(0) <= columns) {
        true => picture,
        false => String::new(),
    }
}

/// Tells before long runs, not after them, that `directory` cannot hold a report.
pub(crate) fn check_directory(directory: &Path) -> Result<(), Complaint> {
    if directory.exists() && !directory.is_dir() {
        return Err(cannot_write(directory)(io::ErrorKind::NotADirectory.into()));
    }
    let staging = staging_directory(directory);
    fs::create_dir_all(&staging)
        .and_then(|()| fs::remove_dir_all(&staging))
        .map_err(cannot_write(directory))
}

/// Writes the report into `directory`, making it if need be, and gives the page's path.
pub(crate) fn write_report(sweep: &SweepRecord, directory: &Path) -> Result<PathBuf, Complaint> {
    let staging = staging_directory(directory);
    fs::create_dir_all(&staging)
        .and_then(|()| fs::create_dir_all(directory))
        .map_err(cannot_write(directory))?;

    let written = write_and_move(sweep, &staging, directory);
    let cleared = fs::remove_dir_all(&staging);
    written?;
    cleared.map_err(cannot_write(&staging))?;
    Ok(directory.join(PAGE))
}

fn cannot_write(path: &Path) -> impl FnOnce(io::Error) -> Complaint {
    let what = path.display().to_string();
    move |source| Complaint::Write { what, source }
}

/// Writes files into `directory`, making it if need be: all of them beside it first, then each to its
/// place, the last one last.
pub(crate) fn write_files(files: &[(&str, String)], directory: &Path) -> Result<(), Complaint> {
    let staging = staging_directory(directory);
    let write = || {
        fs::create_dir_all(&staging)?;
        fs::create_dir_all(directory)?;
        for (name, text) in files {
            fs::write(staging.join(name), text)?;
        }
        for (name, _) in files {
            fs::rename(staging.join(name), directory.join(name))?;
        }
        Ok(())
    };
    let written = write();
    let cleared = fs::remove_dir_all(&staging);
    written.map_err(cannot_write(directory))?;
    cleared.map_err(cannot_write(&staging))
}

fn write_and_move(sweep: &SweepRecord, staging: &Path, directory: &Path) -> Result<(), Complaint> {
    let mut files: Vec<PathBuf> = reports::write_report(sweep, staging)?
        .into_iter()
        .map(|path| {
            path.strip_prefix(staging)
                .map(Path::to_path_buf)
                .unwrap_or(path)
        })
        .collect();
    files.sort_by_key(|file| file == Path::new(PAGE));
    remove_old_plots(&directory.join(PLOTS)).map_err(|source| ReportError::Write {
        path: directory.join(PLOTS),
        source,
    })?;
    for file in files {
        let target = directory.join(&file);
        let moved = target
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::rename(staging.join(&file), &target));
        moved.map_err(|source| ReportError::Write {
            path: target,
            source,
        })?;
    }
    Ok(())
}

/// An earlier report may have had plots that this one has not.
fn remove_old_plots(plots: &Path) -> io::Result<()> {
    if !plots.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(plots)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "svg") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Beside the report's own directory, so that moving is a rename within one file system.
fn staging_directory(directory: &Path) -> PathBuf {
    let mut name = directory
        .file_name()
        .unwrap_or_else(|| "report".as_ref())
        .to_owned();
    name.push(format!(".part-{}", std::process::id()));
    directory.with_file_name(name)
}

/// The page of a report, by which a reader knows that the report is there.
const PAGE: &str = "index.html";
/// The directory of a report's plots.
const PLOTS: &str = "plots";
