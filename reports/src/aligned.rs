//! Tables for a terminal.

/// Lines of cells with their columns below each other. All lines have as many cells as the first.
#[must_use]
pub fn aligned(lines: &[Vec<String>]) -> Vec<String> {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| chars(&line[column]))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |line: &Vec<String>| {
        let padded = line
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| pad(cell, width));
        let text = padded.collect::<Vec<_>>().join("  ");
        text.trim_end().to_owned()
    };
    lines.iter().map(line).collect()
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(chars(text))))
}

/// How wide a text is, in characters.
pub(crate) fn chars(text: &str) -> usize {
    text.chars().count()
}
