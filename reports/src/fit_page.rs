//! A calibration as one page: the findings first, then what was seen beside what was fitted, then the
//! numbers. Like the page of a sweep it asks nothing of the network and needs no script, and everything
//! that came from a file is written as text.

use crate::{
    html::escaped,
    page::{CSS, DARK},
    plots::{Drawing, TEXT_RULE, dark_rules},
};

/// What stands on the page.
#[derive(Clone, PartialEq, Debug)]
pub struct FitPage {
    /// Its heading.
    pub title: String,
    /// The findings; the first leads.
    pub findings: Vec<String>,
    /// What a reader should know before relying on it.
    pub unknown: Vec<String>,
    /// What was seen beside what was fitted.
    pub drawings: Vec<Drawing>,
    /// Tables: heading, header, rows.
    pub tables: Vec<FitTable>,
    /// What became of the rows of the log.
    pub rows: Vec<String>,
    /// How to make it again.
    pub command: String,
    /// The scenario that was written.
    pub scenario: String,
}

/// A table of a [`FitPage`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FitTable {
    /// Its heading.
    pub heading: &'static str,
    /// Names of the columns, with their units.
    pub header: Vec<&'static str>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
}

/// The page.
#[must_use]
pub fn fit_page(of: &FitPage) -> String {
    let mut page = head(&of.title, &of.findings);
    if !of.unknown.is_empty() {
        page += &format!(
            "<div class=\"warn\"><strong>Before you rely on this</strong>{}</div>\n",
            list(&of.unknown)
        );
    }
    if !of.drawings.is_empty() {
        page += "<h2>Seen and fitted</h2>\n<div class=\"plots\">\n";
        for drawing in &of.drawings {
            page += &format!(
                "<figure class=\"half\"><h3>{}</h3><div class=\"box\">{}</div><figcaption>{}</figcaption></figure>\n",
                escaped(&drawing.title),
                drawing.svg,
                escaped(&drawing.caption)
            );
        }
        page += "</div>\n";
    }
    page.extend(of.tables.iter().map(table));
    page += &format!("<h2>The log</h2>\n{}", list(&of.rows));
    page += &format!(
        "<h2>Make it again</h2>\n<pre>{}</pre>\n<details><summary>The scenario</summary><pre>{}</pre></details>\n\
         </main></body></html>\n",
        escaped(&of.command),
        escaped(&of.scenario)
    );
    page
}

/// From the first byte to the findings.
pub(crate) fn head(title: &str, findings: &[String]) -> String {
    let title = escaped(title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline'\">\n\
         <title>{title} · routelab</title>\n<style>{CSS}{TEXT_RULE}\n\
         @media(prefers-color-scheme:dark){{{DARK}{}}}</style></head>\n<body><main>\n<h1>{title}</h1>\n",
        dark_rules()
    );
    if let Some((lead, rest)) = findings.split_first() {
        page += &format!(
            "<section class=\"finding\"><p class=\"lead\">{}</p>{}</section>\n",
            escaped(lead),
            list(rest)
        );
    }
    page
}

pub(crate) fn list(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines
        .iter()
        .map(|line| format!("<li>{}</li>", escaped(line)))
        .collect();
    format!("<ul>{items}</ul>\n")
}

pub(crate) fn table(of: &FitTable) -> String {
    if of.rows.is_empty() {
        return String::new();
    }
    let head: String = of
        .header
        .iter()
        .map(|name| format!("<th scope=\"col\">{}</th>", escaped(name)))
        .collect();
    let cells = |row: &Vec<String>| {
        let cells: String = row
            .iter()
            .map(|cell| format!("<td>{}</td>", escaped(cell)))
            .collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = of.rows.iter().map(cells).collect();
    format!(
        "<h2>{}</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>\n",
        escaped(of.heading)
    )
}
