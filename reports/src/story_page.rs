//! The story of one request as a page: how it ended, where its time went, and every decision with the
//! setting behind it. Like the page of a sweep it asks nothing of the network and needs no script, and
//! everything that came from a file is written as text.

use crate::{
    fit_page::{FitTable, head, list, table},
    html::escaped,
    plots::Drawing,
};

/// What stands on the page.
#[derive(Clone, PartialEq, Debug)]
pub struct StoryPage {
    /// Its heading.
    pub title: String,
    /// How it ended, who is to blame and what took most of the time; the first leads.
    pub findings: Vec<String>,
    /// Where its time went; none for a request that took no time.
    pub drawing: Option<Drawing>,
    /// What happened: seconds since the arrival, what, details, and the setting behind it.
    pub lines: Vec<[String; 4]>,
    /// What it was asked of: scenario, versions, seed.
    pub basis: String,
    /// How to make it again.
    pub command: String,
}

/// The page.
#[must_use]
pub fn story_page(of: &StoryPage) -> String {
    let mut page = head(&of.title, &of.findings);
    if let Some(drawing) = &of.drawing {
        page += &format!(
            "<h2>{}</h2>\n<div class=\"plots\"><figure><div class=\"box\">{}</div><figcaption>{}</figcaption></figure></div>\n",
            escaped(&drawing.title),
            drawing.svg,
            escaped(&drawing.caption)
        );
    }
    page += &table(&FitTable {
        heading: "What happened, and the setting behind it",
        header: vec!["since arrival", "what", "details", "by"],
        rows: of.lines.iter().map(|line| line.to_vec()).collect(),
    });
    page += &format!(
        "<h2>Make it again</h2>\n<pre>{}</pre>\n{}</main></body></html>\n",
        escaped(&of.command),
        list(std::slice::from_ref(&of.basis))
    );
    page
}
