//! Files of token lengths: lists of pairs as CSV, distribution functions as JSON.

use std::sync::Arc;

use serde::Deserialize;

use super::{
    lengths::TOKENS_AT_MOST,
    trace::{Books, header, place, records, tokens},
};
use crate::error::{ScenarioError, suggestion};

/// Prompt and answer tokens, row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct LengthPairs {
    /// Rows kept, in the file's order.
    pub rows: Arc<[(u32, u32)]>,
    /// What became of the others.
    pub books: Books,
}

/// Reads the columns `num_prefill_tokens` and `num_decode_tokens` of a CSV.
///
/// # Errors
/// If a column is missing or no row can be used.
pub fn read_pairs(text: &str, file: &str) -> Result<LengthPairs, ScenarioError> {
    let header = header(text);
    let prompt = column(&header, "num_prefill_tokens", file)?;
    let output = column(&header, "num_decode_tokens", file)?;
    let mut rows = Vec::new();
    let mut books = Books::default();
    for (line, record) in records(text) {
        books.read += 1;
        let cell = |at: usize| {
            record
                .as_ref()
                .and_then(|cells| cells.get(at))
                .map(str::trim)
        };
        match (tokens_of(cell(prompt)), tokens_of(cell(output))) {
            (Ok(prompt), Ok(output)) => rows.push((prompt, output)),
            (Err(reason), _) | (_, Err(reason)) => books.drop_row(reason, line),
        }
    }
    if rows.is_empty() {
        return Err(ScenarioError::new("no row of the list of lengths can be used").in_file(file));
    }
    Ok(LengthPairs {
        rows: rows.into(),
        books,
    })
}

/// Reads one column of a CSV.
///
/// # Errors
/// If the column is missing or no row can be used.
pub(crate) fn read_column(
    text: &str,
    name: &str,
    file: &str,
) -> Result<(Arc<[u32]>, Books), ScenarioError> {
    let place = column(&header(text), name, file)?;
    let mut values = Vec::new();
    let mut books = Books::default();
    for (line, record) in records(text) {
        books.read += 1;
        match tokens_of(
            record
                .as_ref()
                .and_then(|cells| cells.get(place))
                .map(str::trim),
        ) {
            Ok(value) => values.push(value),
            Err(reason) => books.drop_row(reason, line),
        }
    }
    if values.is_empty() {
        return Err(
            ScenarioError::new(format!("no row of column `{name}` can be used")).in_file(file),
        );
    }
    Ok((values.into(), books))
}

/// Reads a distribution function: `[[tokens, share at or below], …]`, alone or as `cdf` of an
/// object.
///
/// # Errors
/// If it is no such JSON, or its points do not rise to 1.
pub fn read_cdf(text: &str, file: &str) -> Result<Arc<[(f64, f64)]>, ScenarioError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum File {
        Bare(Vec<(f64, f64)>),
        Described { cdf: Vec<(f64, f64)> },
    }
    let points = match serde_json::from_str(text) {
        Ok(File::Bare(points) | File::Described { cdf: points }) => points,
        Err(error) => {
            let line = u32::try_from(error.line()).unwrap_or(0);
            return Err(ScenarioError::new("found no distribution function")
                .help("accepted is JSON such as [[64, 0.2], [512, 1.0]]")
                .at(line, 1)
                .in_file(file));
        }
    };
    check_points(&points).map_err(|error| error.in_file(file))?;
    Ok(points.into())
}

/// Points of a distribution function must rise in both directions and end at 1.
pub(crate) fn check_points(points: &[(f64, f64)]) -> Result<(), ScenarioError> {
    let [.., (_, last)] = points else {
        return Err(ScenarioError::new(
            "found a distribution function without points",
        ));
    };
    let mut before = (0.0, 0.0);
    for (at, &(tokens, share)) in points.iter().enumerate() {
        let within =
            (0.0..=f64::from(TOKENS_AT_MOST)).contains(&tokens) && (0.0..=1.0).contains(&share);
        let rises = share >= before.1 && (tokens > before.0 || (at == 0 && tokens >= 0.0));
        if !(within && rises) {
            return Err(
                ScenarioError::new(format!("point {at} is [{tokens}, {share}]")).help(
                    "accepted are tokens that rise, with shares from 0 to 1 that do not fall",
                ),
            );
        }
        before = (tokens, share);
    }
    if (last - 1.0).abs() > 1e-9 {
        return Err(ScenarioError::new(format!("the last share is {last}"))
            .help("accepted is 1: the last point holds every length"));
    }
    Ok(())
}

fn tokens_of(cell: Option<&str>) -> Result<u32, super::trace::DropReason> {
    use super::trace::DropReason;
    match tokens(cell.ok_or(DropReason::Malformed)?)? {
        0 => Err(DropReason::ZeroPrompt),
        tokens => Ok(tokens),
    }
}

fn column(header: &[String], name: &str, file: &str) -> Result<usize, ScenarioError> {
    place(header, name).ok_or_else(|| {
        let names: Vec<&str> = header.iter().map(String::as_str).collect();
        ScenarioError::new(format!("the file has no column `{name}`"))
            .help(suggestion(name, &names))
            .at(1, 1)
            .in_file(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_function_must_rise_to_one() {
        let fails = |text| read_cdf(text, "f.json").unwrap_err().to_string();

        assert!(read_cdf("[[64, 0.0], [128, 0.5], [256, 1.0]]", "f.json").is_ok());
        assert!(read_cdf(r#"{"cdf": [[64, 1.0]], "seed": 42}"#, "f.json").is_ok());
        insta::assert_snapshot!(fails("[[64, 0.5], [32, 1.0]]"), @"f.json: point 1 is [32, 1]; accepted are tokens that rise, with shares from 0 to 1 that do not fall");
        insta::assert_snapshot!(fails("[[64, 0.5], [128, 0.9]]"), @"f.json: the last share is 0.9; accepted is 1: the last point holds every length");
        insta::assert_snapshot!(fails("[[64, 1.5]]"), @"f.json: point 0 is [64, 1.5]; accepted are tokens that rise, with shares from 0 to 1 that do not fall");
        insta::assert_snapshot!(fails("[]"), @"f.json: found a distribution function without points");
        insta::assert_snapshot!(fails("{}"), @"f.json: found no distribution function; accepted is JSON such as [[64, 0.2], [512, 1.0]]");
    }
}
