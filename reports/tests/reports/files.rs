//! The folder that a report is written to.

use std::{fs, fs::File, path::Path};

use polars::prelude::{AnyValue, ParquetReader, SerReader};
use reports::{ReportError, SweepRecord, arms_frame, metric, metrics, runs_frame, write_report};

use crate::sweeps::sweep;

#[test]
fn a_sweep_without_runs_or_reference_is_an_error_and_not_an_empty_page() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing");
    let nothing = write_report(&SweepRecord::default(), &folder);
    assert!(matches!(nothing, Err(ReportError::NothingToReport)));
    assert!(!folder.exists());

    let mut sweep = sweep(1, 100);
    sweep.reference = 99;
    let message = write_report(&sweep, &folder).unwrap_err().to_string();
    assert_eq!(message, "the reference is arm 99, but there are only 24");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a-file");
    fs::write(&file, "in the way").unwrap();

    let message = write_report(&sweep(1, 100), &file).unwrap_err().to_string();

    assert!(
        message.starts_with("cannot write ") && message.contains("a-file"),
        "{message}"
    );
}

#[test]
fn a_report_is_a_folder_of_files_with_the_page_first() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");

    let files = write_report(&sweep(10, 1_500), &folder).unwrap();

    let names: Vec<String> = (files.iter())
        .map(|file| {
            file.strip_prefix(&folder)
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/")
        })
        .collect();
    assert_eq!(
        names[..7],
        [
            "index.html",
            "report.md",
            "results.csv",
            "results.json",
            "results.parquet",
            "runs.csv",
            "runs.parquet"
        ]
    );
    assert_eq!(
        names
            .iter()
            .filter(|name| name.starts_with("plots/"))
            .count(),
        9
    );
    for file in &files {
        assert!(
            fs::metadata(file).unwrap().len() > 100,
            "{}",
            file.display()
        );
    }
}

#[test]
fn pictures_of_an_earlier_report_do_not_stay_behind() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("twice");
    write_report(&sweep(2, 100), &folder).unwrap();
    assert!(folder.join("plots/heatmap.svg").exists());

    let mut lone = sweep(1, 100);
    lone.arms.truncate(1);
    (lone.axes, lone.reference) = (Vec::new(), 0);
    write_report(&lone, &folder).unwrap();

    assert!(!folder.join("plots/heatmap.svg").exists());
}

#[test]
fn parquet_read_back_is_what_was_measured() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parquet");
    let mut sweep = sweep(3, 200);
    // A price that is not known makes a null, not a zero.
    sweep.arms[0].runs[1].deployments[0].cost_usd = None;
    write_report(&sweep, &folder).unwrap();

    let read = |name: &str| {
        ParquetReader::new(File::open(folder.join(name)).unwrap())
            .finish()
            .unwrap()
    };
    let (runs, arms) = (read("runs.parquet"), read("results.parquet"));

    assert!(runs.equals_missing(&runs_frame(&sweep).unwrap()));
    assert!(arms.equals_missing(&arms_frame(&sweep).unwrap()));
    assert_eq!(runs.height(), 24 * 3);
    let cost = runs.column("cost_usd_per_1000_requests").unwrap();
    assert_eq!(cost.null_count(), 1);
    assert_eq!(cost.get(1).unwrap(), AnyValue::Null);
    let success = runs.column("success_ratio").unwrap().get(4).unwrap();
    let measured = metric("success_ratio")
        .unwrap()
        .value(&sweep.arms[1].runs[1])
        .unwrap();
    assert_eq!(success, AnyValue::Float64(measured));
}

#[test]
fn csv_has_a_line_for_each_run_and_a_column_for_each_metric() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("csv");
    let mut sweep = sweep(2, 100);
    sweep.arms[0].labels[0].1 = "a, \"quoted\"\nname".into();
    write_report(&sweep, &folder).unwrap();

    let mut reader = csv::Reader::from_path(folder.join("runs.csv")).unwrap();

    let headers = reader.headers().unwrap().clone();
    assert_eq!(headers.len(), 2 + 3 + metrics().len());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 48);
    assert_eq!(&rows[0][1], "a, \"quoted\"\nname");
}

#[test]
fn an_axis_by_the_name_of_a_column_does_not_collide_with_it() {
    let mut sweep = sweep(1, 100);
    for (axis, name) in
        sweep
            .axes
            .iter_mut()
            .zip(["mean", "router.success_ratio", "b.cooldown_time"])
    {
        for arm in &mut sweep.arms {
            let label = arm
                .labels
                .iter_mut()
                .find(|(label, _)| *label == axis.name)
                .unwrap();
            label.0 = name.into();
        }
        axis.name = name.into();
    }

    let names: Vec<String> = (runs_frame(&sweep).unwrap().columns().iter())
        .map(|column| column.name().to_string())
        .collect();

    assert_eq!(
        names[1..4],
        ["axis.mean", "router.success_ratio", "cooldown_time"]
    );
}
