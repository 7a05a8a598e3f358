//! `routelab list`: what is bundled, with a line about each.

use std::fmt::Write as _;

use super::Ended;
use crate::{
    cli::{ListArgs, Listed},
    complaint::Complaint,
    output,
};

pub(super) fn list(args: &ListArgs) -> Result<Ended, Complaint> {
    let text = match args.what {
        Some(Listed::Scenarios) => scenarios_text(),
        Some(Listed::Metrics) => metrics_text(),
        Some(Listed::Presets) => presets_text(),
        None => format!(
            "SCENARIOS (routelab run NAME)\n{}\nMETRICS (expect: in a scenario)\n{}\nPROVIDER PRESETS (preset: of a provider)\n{}",
            scenarios_text(),
            metrics_text(),
            presets_text(),
        ),
    };
    output::print(&text)?;
    Ok(Ended::Done)
}

fn scenarios_text() -> String {
    table(
        scenarios::library()
            .iter()
            .map(|entry| (entry.name.to_owned(), entry.purpose.to_owned())),
    )
}

fn metrics_text() -> String {
    table(
        reports::metrics()
            .iter()
            .map(|metric| (metric.name().to_owned(), metric.about().to_owned())),
    )
}

fn presets_text() -> String {
    table(
        mock_providers::presets()
            .iter()
            .map(|preset| (preset.name.to_owned(), preset.about.to_owned())),
    )
}

/// Two columns, the first as wide as its widest entry.
fn table(rows: impl Iterator<Item = (String, String)>) -> String {
    let rows: Vec<(String, String)> = rows.collect();
    let width = rows
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    rows.iter().fold(String::new(), |mut text, (name, about)| {
        let _ = writeln!(text, "  {name:<width$}  {about}");
        text
    })
}
