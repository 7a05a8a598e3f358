//! A sweep as Markdown, for pull requests and chats.

use crate::{
    advice::{Findings, findings},
    blames_table::BlamesTable,
    console::basis,
    overview::{Overview, WIDE},
    record::SweepRecord,
    senders_table::SendersTable,
};

/// The report as Markdown: finding, table of all arms, effects, doubts, and how to make it again.
#[must_use]
pub fn markdown(sweep: &SweepRecord) -> String {
    let Findings {
        headline,
        axes,
        warnings,
    } = findings(sweep);
    let mut text = format!("# {}\n\n", escaped(&sweep.title));
    if sweep.partial {
        text.push_str(
            "**PARTIAL: the sweep was interrupted; what follows is what was finished.**\n\n",
        );
    }
    if !sweep.purpose.is_empty() {
        text.push_str(&format!("{}\n\n", escaped(&sweep.purpose)));
    }
    text.push_str(&format!(
        "{}\n\n",
        headline
            .iter()
            .map(|s| escaped(s))
            .collect::<Vec<_>>()
            .join(" ")
    ));
    text.push_str(&format!("{}\n\n", escaped(&basis(sweep))));
    text.push_str(&table(sweep));
    if let Some(SendersTable { titles, rows }) = SendersTable::new(sweep) {
        text.push_str(&titled("By sender", &titles, &rows));
    }
    if let Some(blames) = BlamesTable::new(sweep) {
        let heading = "Who is to blame for requests without an answer";
        text.push_str(&titled(heading, &blames.titles(), &blames.rows()));
    }
    text.push_str(&list("What each setting does", &axes));
    text.push_str(&list("Before you rely on this", &warnings));
    text.push_str(&list("Notes", &sweep.notes));
    text.push_str(&list("Ignored configuration keys", &sweep.ignored));
    text.push_str(&format!(
        "\n## Make it again\n\n{}\n\nroutelab {}, seed {}.\n",
        fenced(&sweep.command),
        escaped(&sweep.version),
        sweep.seed
    ));
    text
}

fn table(sweep: &SweepRecord) -> String {
    let overview = Overview::new(sweep, WIDE);
    let titles = overview.titles();
    let mut text = row(["#".to_owned()]
        .into_iter()
        .chain(titles.iter().map(|title| escaped(title))));
    text.push_str(&row((0..=titles.len()).map(|_| "---".to_owned())));
    for arm in &overview.rows {
        let mut cells = vec![arm.place.to_string()];
        let settings = arm.values.iter().map(|value| escaped(value));
        let metrics = arm.cells.iter().cloned();
        cells.extend(overview.in_order(settings, metrics, arm.difference_text()));
        let is_marked = arm.is_reference || arm.place == 1;
        let mark = |cell: String| match is_marked && !cell.is_empty() {
            true => format!("**{cell}**"),
            false => cell,
        };
        text.push_str(&row(cells.into_iter().map(mark)));
    }
    text
}

/// A table under a heading of its own.
fn titled(heading: &str, titles: &[String], rows: &[Vec<String>]) -> String {
    let mut text = format!("\n## {heading}\n\n");
    text.push_str(&row(titles.iter().map(|title| escaped(title))));
    text.push_str(&row(titles.iter().map(|_| "---".to_owned())));
    for cells in rows {
        text.push_str(&row(cells.iter().map(|cell| escaped(cell))));
    }
    text
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn list(heading: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n## {heading}\n\n");
    for line in lines {
        text.push_str(&format!("- {}\n", escaped(line)));
    }
    text
}

/// A code block whose fence is longer than any run of backticks in it.
fn fenced(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{code}\n{fence}")
}

/// Text of a file as text: no markup, no table cell ended, no HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '`' | '[' | ']' | '\\' | '#' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_cell_or_become_markup() {
        assert_eq!(
            escaped("a|b <script> *x*\n#"),
            "a\\|b &lt;script&gt; \\*x\\* \\#"
        );
    }

    #[test]
    fn a_fence_is_longer_than_the_backticks_inside() {
        assert!(fenced("echo ```").starts_with("````sh\n"));
        assert!(fenced("ls").starts_with("```sh\n"));
    }
}
