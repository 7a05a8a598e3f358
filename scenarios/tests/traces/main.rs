//! Real traces, read in their own formats, must have the statistics that others computed of them.
//!
//! The data lies beside the project (`../shared/data`), not in it. Without it these tests say so and
//! pass, but not where `CI=true`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![allow(clippy::cast_precision_loss, reason = "counts of tests are small")]

mod distributions;
mod formats;
mod logs;
mod playing;
mod rates;
mod requests;

use std::{fs, path::PathBuf};

use serde_json::Value;

/// The folder of real data; `None` where there is none and it need not be there.
fn data() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "CI=true, but there is no {}",
        folder.display()
    );
    #[expect(
        clippy::print_stderr,
        reason = "a test that checks nothing must say so"
    )]
    {
        eprintln!("skipped: there is no {}", folder.display());
    }
    None
}

/// The statistics of one trace, and the text of its file.
fn trace(name: &str) -> Option<(Value, String)> {
    let folder = data()?;
    let stats = stats(name)?;
    let file = stats["file"].as_str().unwrap();
    Some((
        stats.clone(),
        fs::read_to_string(folder.join(file)).unwrap(),
    ))
}

/// The statistics of one trace.
fn stats(name: &str) -> Option<Value> {
    let all: Value =
        serde_json::from_str(&fs::read_to_string(data()?.join("STATS.json")).unwrap()).unwrap();
    assert!(all[name].is_object(), "no statistics of {name}");
    Some(all[name].clone())
}

/// Compares every statistic of `found` that `expected` has, to the digits it is printed with.
/// Returns how many there were.
fn assert_same(what: &str, found: &Value, expected: &Value) -> usize {
    let mut compared = 0;
    for (key, found) in found.as_object().unwrap() {
        let Some(expected) = expected.get(key) else {
            continue;
        };
        let what = format!("{what}.{key}");
        match (found, expected) {
            (Value::Object(_), Value::Object(_)) => {
                compared += assert_same(&what, found, expected);
                continue;
            }
            (Value::Number(found), Value::Number(printed)) => {
                assert_to_printed_digits(&what, found.as_f64().unwrap(), &printed.to_string());
            }
            (Value::Array(found), Value::Array(expected)) => {
                let numbers = |list: &[Value]| list.iter().map(Value::as_f64).collect::<Vec<_>>();
                assert_eq!(numbers(found), numbers(expected), "{what}");
            }
            _ => assert_eq!(found, expected, "{what}"),
        }
        compared += 1;
    }
    compared
}

/// `found` rounds to `printed`.
fn assert_to_printed_digits(what: &str, found: f64, printed: &str) {
    let expected: f64 = printed.parse().unwrap();
    let decimals = printed
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    // Half a unit of the last printed digit, and what sums in another order may differ by.
    let slack = 0.5 * libm::exp10(-f64::from(u32::try_from(decimals.min(15)).unwrap())) * 1.000_001;
    let slack = slack + expected.abs() * 1e-12;
    assert!(
        (found - expected).abs() <= slack,
        "{what}: {found}, not {printed}"
    );
}
