//! A capacity plan's table on the page.

use super::{CapacityRecord, told::rows};
use crate::html::escaped;

/// The section with the table.
pub(crate) fn capacity_section(plan: &CapacityRecord) -> String {
    let rows = rows(plan);
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
        "<h2>What is needed</h2>\n<p class=\"basis above\">Means with half of their 95 % intervals over \
         replications, where the bound is tightest. A size with “?” was not shown to do on fresh seeds; “One less” with \
         “?” was not shown to miss.</p>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>{}</tr></thead>\
         <tbody>\n{body}</tbody></table></div>\n",
        cells("th scope=\"col\" class=\"name\"", head)
    )
}
