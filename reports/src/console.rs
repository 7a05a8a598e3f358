//! A sweep as text for a terminal: the finding, then an aligned table, then what else matters.

use crate::{
    advice::{Findings, findings},
    aligned::{aligned, chars},
    blames_table::BlamesTable,
    console_pictures::pictures,
    overview::{NARROW, NARROW_OF_CALLS, Overview, Row},
    record::SweepRecord,
    senders_table::SendersTable,
    text_plots::bar,
};

/// The report as plain text, at most 100 columns of prose wide. Many arms are shown as the best
/// few, the reference and the worst.
#[must_use]
pub fn console(sweep: &SweepRecord) -> String {
    let Findings {
        headline,
        axes,
        warnings,
    } = findings(sweep);
    let mut text = String::new();
    if sweep.partial {
        text.push_str("PARTIAL: the sweep was interrupted; what follows is what was finished.\n\n");
    }
    text.push_str(&wrapped(&one_line(&title(sweep)), ""));
    text.push_str(&wrapped(&basis(sweep), ""));
    text.push('\n');
    text.push_str(&wrapped(&one_line(&headline.join(" ")), ""));
    let mut runs = sweep.arms.iter().flat_map(|arm| &arm.runs);
    let columns = match runs.any(|run| run.calls.is_some()) {
        true => NARROW_OF_CALLS,
        false => NARROW,
    };
    let overview = Overview::new(sweep, columns);
    if !overview.rows.is_empty() {
        text.push('\n');
        text.push_str(&table(&overview));
        let order = overview.order();
        text.push_str(&order.map_or_else(String::new, |order| wrapped(&order, "")));
    }
    text.push_str(&pictures(sweep));
    if let Some(SendersTable { titles, rows }) = SendersTable::new(sweep) {
        text.push_str("\nBy sender\n");
        let lines: Vec<Vec<String>> = [titles].into_iter().chain(rows).collect();
        for line in aligned(&lines) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text.push_str(&blames(sweep));
    text.push_str(&section("What each setting does", &axes));
    text.push_str(&section("Before you rely on this", &warnings));
    text.push_str(&section("Notes", &sweep.notes));
    if !sweep.ignored.is_empty() {
        let keys = if sweep.ignored.len() == 1 {
            "key was"
        } else {
            "keys were"
        };
        let heading = format!("{} configuration {keys} ignored", sweep.ignored.len());
        text.push_str(&section(&heading, &sweep.ignored));
    }
    text
}

/// Who is to blame for the requests that failed, with a bar for each share.
fn blames(sweep: &SweepRecord) -> String {
    let Some(table) = BlamesTable::new(sweep) else {
        return String::new();
    };
    let mut lines = vec![table.titles()];
    lines[0].push(String::new());
    let bars = table.shares().map(|share| bar(share, BAR_WIDTH));
    lines.extend(table.rows().into_iter().zip(bars).map(|(mut row, bar)| {
        row.push(bar);
        row
    }));
    let mut text = "\nWho is to blame for requests without an answer\n".to_owned();
    for line in aligned(&lines) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

fn title(sweep: &SweepRecord) -> String {
    match sweep.purpose.is_empty() {
        true => sweep.title.clone(),
        false => format!("{}: {}", sweep.title, sweep.purpose),
    }
}

/// `24 arms × 10 replications, seed 42, profile litellm-1.110`.
pub(crate) fn basis(sweep: &SweepRecord) -> String {
    let count = |n: usize, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    let replications = usize::try_from(sweep.replications).unwrap_or(usize::MAX);
    let mut text = format!(
        "{} × {}, seed {}, profile {}.",
        count(sweep.arms.len(), "arm"),
        count(replications, "replication"),
        sweep.seed,
        sweep.profile
    );
    if let Some(reference) = sweep
        .arms
        .get(sweep.reference)
        .filter(|_| sweep.arms.len() > 1)
    {
        text.push_str(&format!(" Reference: {}.", reference.label()));
    }
    text
}

fn table(overview: &Overview<'_>) -> String {
    let mut lines: Vec<Vec<String>> = vec![vec![String::new()]];
    lines[0].extend(overview.titles());
    let shown = shown(&overview.rows);
    lines.extend(shown.iter().map(|row| cells(overview, row)));
    let mut text = String::new();
    let mut previous = 0;
    for (line, place) in aligned(&lines)
        .iter()
        .zip([0].into_iter().chain(shown.iter().map(|row| row.place)))
    {
        if place > previous + 1 {
            text.push_str(&format!("  … {} more\n", place - previous - 1));
        }
        previous = place;
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn cells(overview: &Overview<'_>, row: &Row<'_>) -> Vec<String> {
    let settings = row.values.iter().map(|value| one_line(value));
    let metrics = (row.cells.iter()).map(|cell| {
        if cell.is_empty() {
            "—".into()
        } else {
            cell.clone()
        }
    });
    let mut cells = vec![format!("{:>3}", row.place)];
    cells.extend(overview.in_order(settings, metrics, row.difference_text()));
    cells
}

/// All rows of a short table; of a long one the best, the reference and the worst.
fn shown<'a>(rows: &'a [Row<'a>]) -> Vec<&'a Row<'a>> {
    let is_shown = |row: &&Row<'_>| {
        rows.len() <= ROWS_SHOWN
            || row.place < ROWS_SHOWN - 1
            || row.is_reference
            || row.place == rows.len()
    };
    rows.iter().filter(is_shown).collect()
}

fn section(heading: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{heading}\n");
    for line in lines {
        text.push_str(&wrapped(&one_line(line), "  "));
    }
    text
}

/// Breaks at spaces; every line starts with `indent`, all but the first with two spaces more if
/// there is an indent.
fn wrapped(text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut line = indent.to_owned();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_first = line.trim().is_empty();
        if !is_first && chars(&line) + 1 + chars(word) > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = indent.repeat(2);
        } else if !is_first {
            line.push(' ');
        }
        line.push_str(word);
    }
    out + &line + "\n"
}

/// Without line breaks and control characters, which a file may hold and a terminal would obey.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

const ROWS_SHOWN: usize = 12;
/// Characters of a whole.
const BAR_WIDTH: usize = 20;
/// Columns of prose.
const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_at_spaces_and_keeps_its_indent() {
        let text = wrapped(&"word ".repeat(30), "  ");

        assert!(text.lines().all(|line| chars(line) <= WIDTH));
        assert!(text.starts_with("  word") && text.lines().nth(1).unwrap().starts_with("    word"));
        assert_eq!(text.split_whitespace().count(), 30);
    }

    #[test]
    fn control_characters_of_a_file_do_not_reach_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31mb\nc"), "a [31mb c");
    }
}
