//! Runs and arms as data frames, and the frames as CSV, JSON and Parquet.
//!
//! `runs` is wide: a row for each run, a column for each axis and metric. `arms` is long: a row for each
//! arm and metric, with the mean, its interval and the paired difference to the reference.
//! Unknown values are nulls in a frame and empty in CSV, never zero.

use polars::prelude::{AnyValue, Column, DataFrame, ParquetCompression, ParquetWriter};

use crate::{
    blame::{BlameShare, blame_shares},
    comparison::{Comparison, Verdict, Versus},
    error::ReportError,
    labels::short_axis,
    metrics::{Metric, metric, metrics},
    record::SweepRecord,
    stats::Estimate,
};

/// A row for each run: arm, axes, replication, then every metric.
///
/// # Errors
///
/// If the frame library refuses the columns.
pub fn runs_frame(sweep: &SweepRecord) -> Result<DataFrame, ReportError> {
    let rows: Vec<(usize, &crate::record::RunRecord)> = (sweep.arms.iter().enumerate())
        .flat_map(|(arm, record)| record.runs.iter().map(move |run| (arm, run)))
        .collect();
    let arms: Vec<usize> = rows.iter().map(|&(arm, _)| arm).collect();
    let mut columns = vec![Column::new("arm".into(), numbers(&arms))];
    columns.extend(axis_columns(sweep, &arms));
    let replications: Vec<u32> = rows.iter().map(|(_, run)| run.replication).collect();
    columns.push(Column::new("replication".into(), replications));
    for metric in metrics() {
        let values: Vec<Option<f64>> = rows.iter().map(|(_, run)| metric.value(run)).collect();
        columns.push(Column::new(metric.name().into(), values));
    }
    DataFrame::new(rows.len(), columns).map_err(|reason| refused("runs", &reason))
}

/// A row for each arm and metric.
///
/// # Errors
///
/// If the frame library refuses the columns.
pub fn arms_frame(sweep: &SweepRecord) -> Result<DataFrame, ReportError> {
    let rows = arm_rows(sweep);
    let arms: Vec<usize> = rows.iter().map(|row| row.arm).collect();
    let places: Vec<usize> = rows.iter().map(|row| row.place).collect();
    let mut columns = vec![
        Column::new("arm".into(), numbers(&arms)),
        Column::new("place".into(), numbers(&places)),
    ];
    columns.extend(axis_columns(sweep, &arms));
    let is_reference: Vec<bool> = arms.iter().map(|&arm| arm == sweep.reference).collect();
    columns.push(Column::new("is_reference".into(), is_reference));
    let words = |of: fn(&ArmRow) -> &'static str| rows.iter().map(of).collect::<Vec<_>>();
    columns.push(Column::new("metric".into(), words(|row| row.metric.name())));
    columns.push(Column::new(
        "unit".into(),
        words(|row| row.metric.unit().symbol()),
    ));
    columns.push(Column::new(
        "better".into(),
        words(|row| row.metric.better().word()),
    ));
    let counts: Vec<usize> = rows.iter().map(|row| row.estimate.n).collect();
    columns.push(Column::new("n".into(), numbers(&counts)));
    let values = |of: fn(&ArmRow) -> Option<f64>| rows.iter().map(of).collect::<Vec<_>>();
    let difference = |row: &ArmRow| row.versus.map(|versus| versus.paired.difference);
    columns.push(Column::new(
        "mean".into(),
        values(|row| Some(row.estimate.mean)),
    ));
    columns.push(Column::new(
        "half_width".into(),
        values(|row| row.estimate.half_width),
    ));
    let differences: Vec<_> = rows.iter().map(difference).collect();
    let of_difference = |of: fn(Estimate) -> Option<f64>| -> Vec<Option<f64>> {
        differences
            .iter()
            .map(|difference| difference.and_then(of))
            .collect()
    };
    columns.push(Column::new(
        "difference".into(),
        of_difference(|d| Some(d.mean)),
    ));
    columns.push(Column::new(
        "difference_half_width".into(),
        of_difference(|d| d.half_width),
    ));
    let p_values = values(|row| row.versus.and_then(|versus| versus.paired.p_value));
    columns.push(Column::new("p_value".into(), p_values));
    let reductions = values(|row| {
        row.versus
            .and_then(|versus| versus.paired.variance_reduction)
    });
    columns.push(Column::new("variance_reduction".into(), reductions));
    columns.push(Column::new("verdict".into(), words(ArmRow::verdict)));
    DataFrame::new(rows.len(), columns).map_err(|reason| refused("arms", &reason))
}

/// One arm and one metric.
struct ArmRow {
    arm: usize,
    place: usize,
    metric: &'static dyn Metric,
    estimate: Estimate,
    versus: Option<Versus>,
}

impl ArmRow {
    fn verdict(&self) -> &'static str {
        self.versus.map_or("", |versus| versus.verdict.word())
    }
}

fn arm_rows(sweep: &SweepRecord) -> Vec<ArmRow> {
    let comparison = Comparison::new(sweep);
    let ranking = comparison.ranking();
    let mut rows = Vec::new();
    for &metric in metrics() {
        let versus = comparison.all_versus(sweep.reference, metric);
        for (index, &arm) in ranking.iter().enumerate() {
            let Some(estimate) = comparison.estimate(arm, metric) else {
                continue;
            };
            let versus = versus.iter().find(|versus| versus.arm == arm).copied();
            rows.push(ArmRow {
                arm,
                place: index + 1,
                metric,
                estimate,
                versus,
            });
        }
    }
    rows.sort_by_key(|row| row.place);
    rows
}

/// The value of each row's arm on each axis, as text.
fn axis_columns(sweep: &SweepRecord, arms: &[usize]) -> Vec<Column> {
    let column = |axis: &crate::record::AxisRecord| {
        let values: Vec<Option<&str>> = arms
            .iter()
            .map(|&arm| sweep.arms[arm].value_on(&axis.name))
            .collect();
        Column::new(axis_column_name(sweep, &axis.name).into(), values)
    };
    sweep.axes.iter().map(column).collect()
}

/// The axis' short name, or its whole name where the short one is taken.
fn axis_column_name(sweep: &SweepRecord, axis: &str) -> String {
    let short = short_axis(axis);
    let namesakes = sweep
        .axes
        .iter()
        .filter(|other| short_axis(&other.name) == short)
        .count();
    let is_taken = |name: &str| FIXED_COLUMNS.contains(&name) || metric(name).is_some();
    match (namesakes, is_taken(short), is_taken(axis)) {
        (1, false, _) => short.to_owned(),
        (_, _, false) => axis.to_owned(),
        (_, _, true) => format!("axis.{axis}"),
    }
}

/// A frame as CSV with a heading line.
pub(crate) fn csv(frame: &DataFrame) -> Result<Vec<u8>, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let trouble = |reason: csv::Error| refused("csv", &reason);
    let names: Vec<&str> = frame
        .columns()
        .iter()
        .map(|column| column.name().as_str())
        .collect();
    writer.write_record(&names).map_err(trouble)?;
    for row in 0..frame.height() {
        let cells: Vec<String> = frame
            .columns()
            .iter()
            .map(|column| cell(column, row))
            .collect();
        writer.write_record(&cells).map_err(trouble)?;
    }
    writer
        .into_inner()
        .map_err(|reason| refused("csv", &reason))
}

fn cell(column: &Column, row: usize) -> String {
    match column.get(row) {
        Ok(AnyValue::String(text)) => text.to_owned(),
        Ok(AnyValue::Float64(value)) => value.to_string(),
        Ok(AnyValue::Null) | Err(_) => String::new(),
        Ok(other) => other.to_string(),
    }
}

/// A frame as Parquet.
pub(crate) fn parquet(frame: &DataFrame) -> Result<Vec<u8>, ReportError> {
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes)
        .with_compression(ParquetCompression::Snappy)
        .set_parallel(false)
        .finish(&mut frame.clone())
        .map_err(|reason| refused("parquet", &reason))?;
    Ok(bytes)
}

/// The findings, the arms with every estimate, and what made them, as JSON.
pub(crate) fn json(sweep: &SweepRecord) -> Result<Vec<u8>, ReportError> {
    let findings = crate::advice::findings(sweep);
    let comparison = Comparison::new(sweep);
    let rows = arm_rows(sweep);
    let arms: Vec<serde_json::Value> = comparison
        .ranking()
        .into_iter()
        .map(|arm| {
            let of_arm = rows.iter().filter(|row| row.arm == arm);
            let labels: serde_json::Map<String, serde_json::Value> = (sweep.arms[arm].labels.iter())
                .map(|(axis, value)| (axis.clone(), value.clone().into()))
                .collect();
            serde_json::json!({
                "arm": arm,
                "label": sweep.arms[arm].label(),
                "settings": labels,
                "is_reference": arm == sweep.reference,
                "replications": sweep.arms[arm].runs.iter().map(|run| run.replication).collect::<Vec<_>>(),
                "blames": blame_shares(&sweep.arms[arm].runs).iter().map(blame_json).collect::<serde_json::Map<_, _>>(),
                "metrics": of_arm.map(|row| (row.metric.name().to_owned(), estimate_json(row, &comparison)))
                    .collect::<serde_json::Map<_, _>>(),
            })
        })
        .collect();
    let document = serde_json::json!({
        "title": sweep.title,
        "purpose": sweep.purpose,
        "command": sweep.command,
        "version": sweep.version,
        "profile": sweep.profile,
        "seed": sweep.seed,
        "replications": sweep.replications,
        "partial": sweep.partial,
        "headline": findings.headline,
        "axes": findings.axes,
        "warnings": findings.warnings,
        "arms": arms,
        "notes": sweep.notes,
        "ignored": sweep.ignored,
    });
    serde_json::to_vec_pretty(&document).map_err(|reason| refused("json", &reason))
}

fn blame_json(share: &BlameShare) -> (String, serde_json::Value) {
    let value = serde_json::json!({
        "title": share.blame.title(),
        "of_unanswered": share.of_unanswered.mean,
        "of_unanswered_half_width": share.of_unanswered.half_width,
        "of_all": share.of_all.mean,
        "of_all_half_width": share.of_all.half_width,
    });
    (share.blame.name().to_owned(), value)
}

fn estimate_json(row: &ArmRow, comparison: &Comparison<'_>) -> serde_json::Value {
    let versus = row.versus.map(|versus| {
        serde_json::json!({
            "difference": versus.paired.difference.mean,
            "half_width": versus.paired.difference.half_width,
            "p_value": versus.paired.p_value,
            "clear": matches!(versus.verdict, Verdict::Better | Verdict::Worse),
        })
    });
    serde_json::json!({
        "mean": row.estimate.mean,
        "half_width": row.estimate.half_width,
        "values": comparison.runs(row.arm).iter().map(|run| row.metric.value(run)).collect::<Vec<_>>(),
        "versus_reference": versus,
    })
}

fn numbers(values: &[usize]) -> Vec<u32> {
    values
        .iter()
        .map(|&value| u32::try_from(value).unwrap_or(u32::MAX))
        .collect()
}

fn refused(table: &'static str, reason: &impl ToString) -> ReportError {
    ReportError::Table {
        table,
        reason: reason.to_string(),
    }
}

const FIXED_COLUMNS: [&str; 15] = [
    "arm",
    "better",
    "difference",
    "difference_half_width",
    "half_width",
    "is_reference",
    "mean",
    "metric",
    "n",
    "p_value",
    "place",
    "replication",
    "unit",
    "variance_reduction",
    "verdict",
];
