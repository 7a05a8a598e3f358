//! A sweep as one page: the finding first, then the picture that shows it, then everything else.
//!
//! The page asks nothing of the network. A small script of its own sorts and filters the tables; without
//! it they stand in the order of the report. Everything that came from a file is written as text. Dark
//! and light follow the reader's preference.

use crate::{
    advice::{Findings, findings},
    blames_table::BlamesTable,
    capacity::capacity_section,
    comparison::Verdict,
    console::basis,
    error::ReportError,
    html::escaped,
    overview::{Overview, Row, WIDE},
    plots::{Drawing, TEXT_RULE, dark_rules, draw_all},
    probe::probe_section,
    record::SweepRecord,
    senders_table::SendersTable,
};

/// The page with its pictures inside.
///
/// # Errors
///
/// If there is nothing to report or a picture cannot be drawn.
pub fn page(sweep: &SweepRecord) -> Result<String, ReportError> {
    Ok(page_with(sweep, &draw_all(sweep)?))
}

pub(crate) fn page_with(sweep: &SweepRecord, drawings: &[Drawing]) -> String {
    let findings = findings(sweep);
    let (timelines, plots): (Vec<&Drawing>, Vec<&Drawing>) = drawings
        .iter()
        .partition(|drawing| drawing.name.starts_with("timeline"));
    let mut parts = vec![head(sweep), finding(sweep, &findings)];
    let (key, further) = match plots.split_first() {
        Some((key, further)) => (Some(*key), further),
        None => (None, [].as_slice()),
    };
    parts.extend(key.map(|key| figures("The picture", &[key])));
    parts.extend(sweep.capacity.as_ref().map(capacity_section));
    parts.extend(sweep.probe.as_ref().map(probe_section));
    parts.push(list("What each setting does", &findings.axes));
    parts.push(arms(sweep));
    parts.push(blames(sweep));
    parts.push(senders(sweep));
    parts.push(figures("More pictures", further));
    parts.push(figures("By time", &timelines));
    parts.push(list("Ignored configuration keys", &sweep.ignored));
    parts.push(list("Notes", &sweep.notes));
    parts.push(assumptions(sweep));
    parts.push("</main>\n<footer>".to_owned());
    parts.push(origin(sweep));
    parts.push(format!(
        "</footer><script>{SCRIPT}</script></body></html>\n"
    ));
    parts.concat()
}

fn head(sweep: &SweepRecord) -> String {
    let title = escaped(&sweep.title);
    let purpose = match sweep.purpose.is_empty() {
        true => String::new(),
        false => format!("<p class=\"purpose\">{}</p>\n", escaped(&sweep.purpose)),
    };
    let banner = match sweep.partial {
        true => {
            "<p class=\"banner\" role=\"alert\">PARTIAL: the sweep was interrupted; this is what was finished.</p>\n"
        }
        false => "",
    };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline';script-src 'unsafe-inline'\">\n\
         <title>{title} · routelab</title>\n<style>{CSS}{TEXT_RULE}\n\
         @media screen and (prefers-color-scheme:dark){{{DARK}{}}}</style></head>\n\
         <body><a class=\"skip\" href=\"#main\">Skip to the findings</a>\n<main id=\"main\" tabindex=\"-1\">\n\
         <h1>{title}</h1>\n{purpose}{banner}",
        dark_rules()
    )
}

fn finding(sweep: &SweepRecord, findings: &Findings) -> String {
    let (lead, rest) = findings
        .headline
        .split_first()
        .expect("a headline is never empty");
    let rest: Vec<String> = rest.iter().map(|sentence| escaped(sentence)).collect();
    let mut text = format!(
        "<section class=\"finding\" aria-label=\"The finding\"><p class=\"lead\">{}</p><p>{}</p></section>\n<p class=\"basis\">{}</p>\n",
        escaped(lead),
        rest.join(" "),
        escaped(&basis(sweep))
    );
    if !findings.warnings.is_empty() {
        let warnings = items(&findings.warnings);
        text.push_str(&format!(
            "<section class=\"warn\" aria-label=\"Before you rely on this\"><strong>Before you rely on this</strong>{warnings}</section>\n"
        ));
    }
    text
}

fn arms(sweep: &SweepRecord) -> String {
    let overview = Overview::new(sweep, WIDE);
    let axes = overview.axes.len();
    let heading = |(index, title): (usize, String)| {
        let class = if index < axes { " class=\"name\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", escaped(&title))
    };
    let headings: String = overview
        .titles()
        .into_iter()
        .enumerate()
        .map(heading)
        .collect();
    let rows: String = overview
        .rows
        .iter()
        .map(|row| arm_row(&overview, row))
        .collect();
    let what = match overview.rows.len() {
        1 => "In numbers",
        _ => "All arms, best first",
    };
    let order = overview.order().unwrap_or_default();
    let caption = match overview.has_differences() {
        true => format!(
            "<p class=\"basis above\">Mean ± half of the 95 % interval over replications. The column “vs reference” is the \
             difference in {} to the reference on the same luck, with its 95 % interval; \
             “better” and “worse” stand only where it is clear after Holm’s correction. {}</p>\n",
            escaped(&crate::advice::lower_first(overview.deciding.title())),
            escaped(&order)
        ),
        false => "<p class=\"basis\">Mean ± half of the 95 % interval over replications.</p>\n"
            .to_owned(),
    };
    format!(
        "<h2>{what}</h2>\n{caption}<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{what}\"><table>\
         <caption class=\"unseen\">{what}</caption><thead><tr><th scope=\"col\">#</th>{headings}</tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn arm_row(overview: &Overview<'_>, row: &Row<'_>) -> String {
    let class = match (row.is_reference, row.place) {
        (true, _) => " class=\"reference\"",
        (false, 1) => " class=\"best\"",
        (false, _) => "",
    };
    let name = |value: &&str| format!("<td class=\"name\">{}</td>", escaped(value));
    let settings = row.values.iter().map(name);
    let metrics = row.cells.iter().map(|cell| metric_cell(cell));
    let cells = overview.in_order(settings, metrics, difference_cell(row));
    format!(
        "<tr{class}><th scope=\"row\">{}</th>{}</tr>\n",
        row.place,
        cells.concat()
    )
}

/// A row for each sender of each arm.
fn senders(sweep: &SweepRecord) -> String {
    let table = SendersTable::new(sweep);
    let named = |titles: &[String]| 1 + titles.iter().position(|t| t == "Sender").unwrap_or(0);
    table.map_or_else(String::new, |SendersTable { titles, rows }| {
        titled("By sender", &titles, &rows, named(&titles))
    })
}

/// A row for each blame of the best arm and the reference.
fn blames(sweep: &SweepRecord) -> String {
    let Some(table) = BlamesTable::new(sweep) else {
        return String::new();
    };
    let titles = table.titles();
    let names = titles.len() - 2;
    let heading = "Who is to blame for requests without an answer";
    titled(heading, &titles, &table.rows(), names)
}

/// A table under a heading of its own; its first `names` columns are words.
fn titled(heading: &str, titles: &[String], rows: &[Vec<String>], names: usize) -> String {
    let title = |(index, title): (usize, &String)| {
        let class = if index < names { " class=\"name\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", escaped(title))
    };
    let titles: String = titles.iter().enumerate().map(title).collect();
    let row = |row: &Vec<String>| {
        let (head, cells) = row.split_at(names);
        let head = head
            .iter()
            .map(|name| format!("<td class=\"name\">{}</td>", escaped(name)));
        let cells = cells.iter().map(|cell| metric_cell(cell));
        format!("<tr>{}</tr>\n", head.chain(cells).collect::<String>())
    };
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<h2>{heading}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{heading}\"><table>\
         <caption class=\"unseen\">{heading}</caption><thead><tr>{titles}</tr></thead>\n\
         <tbody>{rows}</tbody></table></div>\n"
    )
}

fn metric_cell(cell: &str) -> String {
    match cell.split_once(" ± ") {
        Some((mean, half)) => {
            format!(
                "<td>{} <small>± {}</small></td>",
                escaped(mean),
                escaped(half)
            )
        }
        None if cell.is_empty() => "<td>—</td>".to_owned(),
        None => format!("<td>{}</td>", escaped(cell)),
    }
}

fn difference_cell(row: &Row<'_>) -> String {
    let Some((difference, verdict)) = &row.difference else {
        let class = if row.is_reference {
            "tag is-reference"
        } else {
            "unclear"
        };
        return format!(
            "<td><span class=\"{class}\">{}</span></td>",
            escaped(&row.difference_text())
        );
    };
    let class = match verdict {
        Verdict::Better => "tag better",
        Verdict::Worse => "tag worse",
        Verdict::Uncorrected | Verdict::Unclear => "unclear",
    };
    let (change, interval) = difference.split_once(" [").unwrap_or((difference, ""));
    let interval = match interval.is_empty() {
        true => String::new(),
        false => format!(" <small>[{}</small>", escaped(interval)),
    };
    format!(
        "<td>{}{interval} <span class=\"{class}\">{}</span></td>",
        escaped(change),
        verdict.word()
    )
}

fn figures(heading: &str, drawings: &[&Drawing]) -> String {
    if drawings.is_empty() {
        return String::new();
    }
    let figure = |drawing: &&Drawing| {
        let class = if drawing.width > 600 { "wide" } else { "half" };
        format!(
            "<figure class=\"{class}\"><h3>{}</h3><div class=\"box\">{}</div><figcaption>{}</figcaption></figure>\n",
            escaped(&drawing.title),
            drawing.svg,
            escaped(&drawing.caption)
        )
    };
    let figures: String = drawings.iter().map(figure).collect();
    format!("<h2>{heading}</h2>\n<div class=\"plots\">\n{figures}</div>\n")
}

fn list(heading: &str, lines: &[String]) -> String {
    match (lines.len(), lines.len() > LINES_OPEN) {
        (0, _) => String::new(),
        (_, false) => format!("<h2>{heading}</h2>\n{}", items(lines)),
        (n, true) => format!(
            "<h2>{heading}</h2>\n<details><summary>{n} lines</summary>{}</details>\n",
            items(lines)
        ),
    }
}

fn items(lines: &[String]) -> String {
    let items: String = lines
        .iter()
        .map(|line| format!("<li>{}</li>", escaped(line)))
        .collect();
    format!("<ul>{items}</ul>\n")
}

/// What the numbers rest on.
fn assumptions(sweep: &SweepRecord) -> String {
    let runs: Vec<_> = sweep.arms.iter().flat_map(|arm| &arm.runs).collect();
    let requests: u64 = runs.iter().map(|run| run.requests).sum();
    let unfinished: u64 = runs.iter().map(|run| run.unfinished).sum();
    let drained = match unfinished {
        0 => "yes: every run went on until its last request had ended".to_owned(),
        n => format!("no: {n} requests had no answer when their run was cut off"),
    };
    let bound = |bound: Option<f64>| bound.map_or_else(|| "none".to_owned(), |s| format!("{s} s"));
    let slo = runs.first().map_or_else(
        || "none".to_owned(),
        |run| {
            format!(
                "latency {}, first token {}",
                bound(run.slo_latency_s),
                bound(run.slo_first_token_s)
            )
        },
    );
    let rows = [
        ("Version", format!("routelab {}", sweep.version)),
        ("Router profile", sweep.profile.clone()),
        ("Seed", format!("{}; all arms of a replication share its randomness", sweep.seed)),
        ("Runs", format!("{} of {} arms × {} replications", runs.len(), sweep.arms.len(), sweep.replications)),
        ("Requests", format!("{requests} in all runs together")),
        ("Drained", drained),
        ("Service level", slo),
        (
            "Quantiles",
            "from HDR histograms with three significant figures: at most 0.1 % above the order statistic"
                .to_owned(),
        ),
        (
            "Intervals",
            "Student’s t over replications, 95 %; differences paired by replication; “clear” means \
             p below 5 % after Holm’s correction over all arms compared with the reference"
                .to_owned(),
        ),
        ("Time", "virtual: modelled providers, no network, no real clock".to_owned()),
    ];
    let rows: String = (rows.iter())
        .map(|(name, text)| format!("<dt>{name}</dt><dd>{}</dd>", escaped(text)))
        .collect();
    format!("<h2>Assumptions</h2>\n<dl>{rows}</dl>\n")
}

fn origin(sweep: &SweepRecord) -> String {
    let scenario = match sweep.scenario_text.is_empty() {
        true => String::new(),
        false => format!(
            "<details><summary>The scenario as it was written</summary><pre>{}</pre></details>\n",
            escaped(&sweep.scenario_text)
        ),
    };
    format!(
        "<h2>Make it again</h2>\n<pre>{}</pre>\n{scenario}",
        escaped(&sweep.command)
    )
}

pub(crate) const CSS: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The page's own colours in the dark.
pub(crate) const DARK: &str = ":root{--paper:#14181b;--ink:#e6e9ec;--muted:#a0abb4;--line:#2e353b;\
     --soft:#1b2024;--best:#3fc9a2;--best-soft:#17302a;--ref:#8fabf5;--ref-soft:#1c2438;--worst:#ff8a5c;\
     --worst-soft:#33211a}";
/// Longer lists are folded.
const LINES_OPEN: usize = 12;
