//! Single callers: `chunk-N-trace.csv` (beginning of the window in seconds, rate, coefficient of
//! variation, `Gamma` or `Weibull`, its shape and scale) and, for some, the token lengths beside it
//! (`chunk-N-dataset.json`, Python dicts as text).

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use super::{Slice, steps};
use crate::{
    error::ScenarioError,
    workload::{
        Client, ClientWindow,
        dist::Gap,
        lengths::{Length, LengthShape, Lengths},
        rate::Rate,
        trace::{Books, DropReason, problem},
    },
};

/// One caller as its two files tell.
#[derive(Clone, PartialEq, Debug)]
pub struct ClientTable {
    /// `chunk-N`.
    pub name: String,
    /// One row for each window.
    pub windows: Vec<ClientRow>,
    /// Lengths by the beginning of their window in seconds; empty where there is no such file.
    pub lengths: Vec<(f64, LengthFields)>,
    /// What became of the rows.
    pub books: Books,
}

/// Distributions of one window by the name of their quantity: values with their weights.
pub type LengthFields = BTreeMap<String, Vec<(f64, f64)>>;

/// A caller's behaviour in one window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClientRow {
    /// Beginning in seconds.
    pub from_s: f64,
    /// Arrivals a second.
    pub per_second: f64,
    /// Coefficient of variation of the gaps as recorded.
    pub cv: f64,
    /// How gaps are distributed; `None` in windows without arrivals.
    pub pattern: Option<Pattern>,
}

/// A distribution of gaps by its shape; its scale follows from the rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pattern {
    /// Gamma of this shape.
    Gamma(f64),
    /// Weibull of this shape.
    Weibull(f64),
}

/// Every `chunk-N-trace.csv` of a folder with its data set, by number.
///
/// # Errors
/// If the folder cannot be read or holds none.
pub fn read_folder(folder: &Path, name: &str) -> Result<Vec<ClientTable>, ScenarioError> {
    let unreadable = |error: std::io::Error| {
        ScenarioError::new(format!("`{name}` cannot be read: {}", error.kind())).key("trace.file")
    };
    let mut chunks: Vec<(u32, String)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.file_name();
        let chunk = file
            .to_str()
            .and_then(|file| file.strip_suffix("-trace.csv"));
        let number = chunk
            .and_then(|c| c.strip_prefix("chunk-"))
            .and_then(|n| n.parse().ok());
        if let (Some(chunk), Some(number)) = (chunk, number) {
            chunks.push((number, chunk.to_owned()));
        }
    }
    if chunks.is_empty() {
        return Err(
            ScenarioError::new(format!("`{name}` holds no chunk-*-trace.csv"))
                .key("trace.file")
                .help("a folder is a trace if it holds ServeGen's files of single callers"),
        );
    }
    chunks.sort_unstable();
    chunks
        .into_iter()
        .map(|(_, chunk)| {
            let trace = format!("{chunk}-trace.csv");
            let text = fs::read_to_string(folder.join(&trace)).map_err(unreadable)?;
            let dataset = folder.join(format!("{chunk}-dataset.json"));
            let dataset = if dataset.exists() {
                Some(fs::read_to_string(dataset).map_err(unreadable)?)
            } else {
                None
            };
            ClientTable::read(
                &chunk,
                &text,
                dataset.as_deref(),
                &format!("{name}/{trace}"),
            )
        })
        .collect()
}

impl ClientTable {
    /// Reads one caller's files.
    ///
    /// # Errors
    /// If times do not increase, or the lengths are no JSON of Python dicts.
    pub fn read(
        name: &str,
        trace: &str,
        dataset: Option<&str>,
        file: &str,
    ) -> Result<Self, ScenarioError> {
        let mut windows: Vec<ClientRow> = Vec::new();
        let mut books = Books::default();
        for (line, text) in (1..)
            .zip(trace.lines())
            .filter(|(_, text)| !text.trim().is_empty())
        {
            books.read += 1;
            let Some(row) = client_row(text) else {
                books.drop_row(DropReason::Malformed, line);
                continue;
            };
            if windows
                .last()
                .is_some_and(|before| row.from_s <= before.from_s)
            {
                let message = "a window begins no later than the one before it";
                return Err(problem(file, Some(line), message));
            }
            windows.push(row);
        }
        if windows.len() < 2 {
            return Err(problem(file, None, "a caller needs at least two windows"));
        }
        let lengths = match dataset {
            Some(text) => read_lengths(text, file)?,
            None => Vec::new(),
        };
        Ok(Self {
            name: name.to_owned(),
            windows,
            lengths,
            books,
        })
    }

    /// The second at which its last window ends.
    #[must_use]
    pub fn end_s(&self) -> f64 {
        let last = self.windows.len() - 1;
        let (before, last) = (self.windows[last - 1].from_s, self.windows[last].from_s);
        last + (last - before)
    }

    /// The caller over a slice. `other` gives the lengths where it has none of its own.
    pub(crate) fn client(
        &self,
        slice: Slice,
        to_s: f64,
        other: Option<&Lengths>,
    ) -> Option<Client> {
        let end = self.end_s();
        let rates: Vec<_> = self
            .windows
            .iter()
            .map(|row| (row.from_s, row.per_second))
            .collect();
        let steps = steps(&rates, slice, to_s, end);
        if steps.iter().all(|step| step.per_second <= 0.0) {
            return None;
        }
        // Steps are the windows that reach into the slice, so the gaps are those of the same ones.
        let first = self
            .windows
            .partition_point(|row| row.from_s <= slice.from_s)
            .max(1)
            - 1;
        let gap = |row: &ClientRow| match row.pattern {
            Some(Pattern::Gamma(shape)) => Gap::Gamma(shape),
            Some(Pattern::Weibull(shape)) => Gap::weibull(shape),
            None => Gap::Exponential,
        };
        let gaps = self.windows[first..]
            .iter()
            .take(steps.len())
            .map(gap)
            .collect();
        let lengths = self.length_windows(slice.from_s, other)?;
        Some(Client {
            rate: Rate::Steps(steps.into()),
            gaps,
            lengths,
        })
    }

    /// Whether it has lengths of its own.
    #[must_use]
    pub fn has_lengths(&self) -> bool {
        self.lengths
            .iter()
            .any(|(_, fields)| pair(fields).is_some())
    }

    /// Lengths over the slice, each window's from its beginning on. A window without any takes
    /// those of the window before it, the first ones those of the first that has any.
    fn length_windows(&self, from_s: f64, other: Option<&Lengths>) -> Option<Arc<[ClientWindow]>> {
        let own: Vec<ClientWindow> = self
            .lengths
            .iter()
            .filter_map(|(begin, fields)| Some((*begin, pair(fields)?)))
            .map(|(begin, lengths)| ClientWindow {
                from_s: begin - from_s,
                lengths: Arc::new(lengths),
            })
            .collect();
        if own.is_empty() {
            let lengths = Arc::new(other?.clone());
            return Some(
                [ClientWindow {
                    from_s: 0.0,
                    lengths,
                }]
                .into(),
            );
        }
        Some(own.into())
    }
}

/// Prompt and answer lengths of a window; text tokens where a prompt has several kinds.
fn pair(fields: &LengthFields) -> Option<Lengths> {
    let filled = |name: &str| fields.get(name).filter(|pdf| !pdf.is_empty());
    let prompt = filled("input_tokens").or_else(|| filled("text_tokens"))?;
    let output = filled("output_tokens")?;
    Some(Lengths::apart(weighted(prompt), weighted(output)))
}

fn weighted(pdf: &[(f64, f64)]) -> Length {
    let total: f64 = pdf.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    let cumulative = pdf.iter().map(|&(value, weight)| {
        sum += weight;
        (rounded(value), sum / total)
    });
    Length::of(LengthShape::Weighted(cumulative.collect()))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast saturates, and draws are bounded"
)]
#[expect(clippy::cast_sign_loss, reason = "no value of a dict is negative")]
fn rounded(tokens: f64) -> u32 {
    tokens.round() as u32
}

fn client_row(text: &str) -> Option<ClientRow> {
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    let [from_s, per_second, cv, pattern, shape, _scale] = cells[..] else {
        return None;
    };
    let number = |cell: &str| {
        cell.parse::<f64>()
            .ok()
            .filter(|value| value.is_finite() && *value >= 0.0)
    };
    let shape = || number(shape).filter(|shape| *shape > 0.0);
    let per_second = number(per_second)?;
    let pattern = match pattern {
        "Gamma" => Some(Pattern::Gamma(shape()?)),
        "Weibull" => Some(Pattern::Weibull(shape()?)),
        "" if per_second <= 0.0 => None,
        _ => return None,
    };
    Some(ClientRow {
        from_s: number(from_s)?,
        per_second,
        cv: number(cv)?,
        pattern,
    })
}

fn read_lengths(text: &str, file: &str) -> Result<Vec<(f64, LengthFields)>, ScenarioError> {
    let windows: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(text).map_err(|error| {
            let line = u64::try_from(error.line()).ok();
            problem(file, line, &format!("the lengths cannot be read: {error}"))
        })?;
    let mut table = Vec::with_capacity(windows.len());
    for (begin, fields) in windows {
        let begin_s: f64 = begin.parse().map_err(|_| {
            problem(
                file,
                None,
                &format!("`{begin}` is no beginning of a window in seconds"),
            )
        })?;
        let mut parsed = BTreeMap::new();
        for (name, dict) in fields {
            let Some(pdf) = python_dict(&dict) else {
                let message = format!("`{name}` of window {begin} is no dict of numbers");
                return Err(problem(file, None, &message));
            };
            parsed.insert(name, pdf);
        }
        table.push((begin_s, parsed));
    }
    table.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    Ok(table)
}

/// `{136: 0.25, 372: 0.75}` as pairs of value and weight.
fn python_dict(text: &str) -> Option<Vec<(f64, f64)>> {
    let inside = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite() && *n >= 0.0)
    };
    let entry = |entry: &str| {
        let (value, weight) = entry.split_once(':')?;
        Some((number(value)?, number(weight)?))
    };
    inside.split(',').map(entry).collect()
}

#[cfg(test)]
mod tests {
    use router::Seed;

    use super::*;

    #[test]
    fn a_python_dict_of_numbers_is_read_and_anything_else_refused() {
        let pairs = vec![(136.0, 0.25), (0.5, 0.75)];
        assert_eq!(python_dict("{136: 0.25, 0.5: 7.5e-1}"), Some(pairs));
        assert_eq!(python_dict("{}"), Some(Vec::new()));
        for text in ["", "{1}", "{1: nan}", "{-1: 0.5}", "[1, 2]", "{1: 0.5, }"] {
            assert_eq!(python_dict(text), None, "{text}");
        }
    }

    #[test]
    fn a_caller_keeps_the_pattern_of_each_window_of_its_slice() {
        let trace = "0,1,1,Gamma,4,1\n600,0,0,,0,0\n1200,2,1,Weibull,2,1\n1800,2,1,Gamma,9,1\n";
        let dataset = r#"{"0": {"input_tokens": "{10: 1.0}", "output_tokens": "{20: 1.0}"}}"#;
        let table = ClientTable::read("chunk-0", trace, Some(dataset), "f").unwrap();
        let slice = Slice {
            from_s: 700.0,
            to_s: None,
            rate_multiplier: 1.0,
        };

        let client = table.client(slice, 2_400.0, None).unwrap();

        assert_eq!(
            client.gaps[..],
            [Gap::Exponential, Gap::weibull(2.0), Gap::Gamma(9.0)]
        );
        assert_eq!(client.lengths[0].lengths.draw(Seed(0), 1), (10, 20));
    }
}
