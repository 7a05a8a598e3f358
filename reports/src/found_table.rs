//! The table of a study that is no comparison of arms, on the page.

use crate::html::escaped;

/// A heading, what the reader should know, and a table whose first row is its head.
pub(crate) fn found_table(heading: &str, basis: &str, rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, row: &[String]| -> String {
        let cell = |cell: &String| format!("<{tag}>{}</{}>", escaped(cell), &tag[..2]);
        row.iter().map(cell).collect()
    };
    let (head, body) = rows.split_first().expect("a table has a head");
    let body: String = body
        .iter()
        .map(|row| format!("<tr>{}</tr>\n", cells("td class=\"name\"", row)))
        .collect();
    format!(
        "<h2>{heading}</h2>\n<p class=\"basis above\">{basis}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{heading}\"><table><caption class=\"unseen\">{heading}</caption><thead><tr>{}</tr></thead><tbody>\n\
         {body}</tbody></table></div>\n",
        cells("th scope=\"col\" class=\"name\"", head)
    )
}
