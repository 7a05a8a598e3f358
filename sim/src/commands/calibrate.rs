//! `routelab calibrate`: logs in, a scenario out, with the findings in sentences, a page that shows how well
//! the fit holds on the part of the log that was held out, and every number as JSON.

mod page;

use std::{fmt::Write as _, fs, path::Path};

use scenarios::{
    LoadOptions, Scenario, Source,
    logs::{ColumnMap, LogInput, LogOptions, read_logs},
    workload::trace::TimeUnit,
};
use sim::calibrate::Calibration;

use super::{Ended, quoted};
use crate::{
    cli::{CalibrateArgs, CalibrateFormat, CountedTime},
    complaint::Complaint,
    output,
    progress::note,
};

pub(super) fn calibrate(args: &CalibrateArgs) -> Result<Ended, Complaint> {
    let columns = args.columns.as_deref().map(ColumnMap::parse).transpose()?;
    let options = LogOptions {
        columns: columns.unwrap_or_default(),
        time_unit: args.time_unit.map(unit),
    };
    output::check_directory(&args.out)?;
    let files: Result<Vec<LogInput>, Complaint> =
        args.logs.iter().map(|file| input(file)).collect();
    let names: Vec<String> = args
        .logs
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let source = names.join(", ");
    let found = Calibration::of(&read_logs(&files?, &options)?).map_err(|error| {
        Complaint::Calibration {
            log: source.clone(),
            error,
        }
    })?;
    let scenario = found.scenario(&source);
    // What is written must run: a scenario that does not load is a mistake of ours.
    let name = args.out.join(SCENARIO).display().to_string();
    let text = scenario.clone();
    Scenario::load(&Source::Text { name, text }, &LoadOptions::default())?;
    let json = found.json(&source);
    let page = page::page(&found, &source, &typed(args), &scenario)?;
    let files = [(SCENARIO, scenario), (NUMBERS, json.clone()), (PAGE, page)];
    output::write_files(&files, &args.out)?;
    let written = args.out.join(SCENARIO);
    note(&format!("scenario: {}", written.display()));
    note(&format!("page: {}", args.out.join(PAGE).display()));
    match args.format {
        CalibrateFormat::Console => output::print(&told(&found, &written))?,
        CalibrateFormat::Json => output::print(&json)?,
    }
    Ok(Ended::Done)
}

fn typed(args: &CalibrateArgs) -> String {
    let mut words: Vec<String> = args
        .logs
        .iter()
        .map(|log| log.display().to_string())
        .collect();
    if let Some(columns) = &args.columns {
        words.extend(["--columns".to_owned(), columns.clone()]);
    }
    if let Some(unit) = args.time_unit {
        words.extend(["--time-unit".to_owned(), format!("{unit:?}").to_lowercase()]);
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("routelab calibrate {}", words.join(" "))
}

fn input(file: &Path) -> Result<LogInput, Complaint> {
    let name = file.display().to_string();
    let bytes = fs::read(file).map_err(|error| Complaint::Usage {
        message: format!("cannot read {name}: {error}"),
        help: "accepted are logs as CSV, JSON, JSON lines or Parquet".to_owned(),
    })?;
    Ok(LogInput::of(&name, bytes)?)
}

/// Findings, what is not known, what became of the rows, and what to do next.
fn told(found: &Calibration, scenario: &Path) -> String {
    let mut text = String::new();
    for finding in found.findings() {
        let _ = writeln!(text, "{finding}");
    }
    text.push('\n');
    for line in page::rows(found) {
        let _ = writeln!(text, "{line}");
    }
    if !found.unknown.is_empty() {
        text += "\nNot known\n";
        for unknown in &found.unknown {
            let _ = writeln!(text, "  {unknown}");
        }
    }
    let scenario = quoted(&scenario.display().to_string());
    let _ = writeln!(text, "\nNext: routelab run {scenario} --config config.yaml");
    text
}

const fn unit(given: CountedTime) -> TimeUnit {
    match given {
        CountedTime::S => TimeUnit::Seconds,
        CountedTime::Ms => TimeUnit::Milliseconds,
        CountedTime::Us => TimeUnit::Microseconds,
        CountedTime::Ns => TimeUnit::Nanoseconds,
    }
}

const SCENARIO: &str = "scenario.yaml";
const PAGE: &str = "index.html";
const NUMBERS: &str = "calibration.json";
