//! What LITELLM.md names as proof of each rule is there: the vectors, and the files of the core.

use std::{collections::BTreeSet, fs, path::Path};

use crate::LITELLM_MD;

/// The section that goes rule by rule.
fn section() -> &'static str {
    let start = LITELLM_MD.find("## Rule by rule").expect("the section");
    let rest = &LITELLM_MD[start + 3..];
    &rest[..rest.find("\n## ").expect("another section after it")]
}

/// What stands between backticks.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn vectors() -> BTreeSet<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let of = |folder: &str| fs::read_dir(here.join(folder)).unwrap();
    let files = of("vectors").chain(of("own-vectors"));
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect()
}

/// Whether a name is of this pattern, where a star stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|from| rest.get(from..).is_some_and(|rest| fits(after, rest)))
        }),
    }
}

#[test]
fn every_rule_names_vectors_and_files_that_are_there() {
    let vectors = vectors();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = BTreeSet::new();
    let (mut proofs, mut rows) = (0, 0);
    for row in section().lines().filter(|line| line.starts_with("| ")) {
        rows += 1;
        let of_vectors = |name: &&str| {
            let letters =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-*".contains(c);
            name.contains('-') && !name.starts_with("x-") && name.chars().all(letters)
        };
        for name in named(row).filter(of_vectors) {
            proofs += 1;
            if !vectors.iter().any(|vector| fits(name, vector)) {
                missing.insert(name);
            }
        }
        for file in named(row).filter(|name| name.ends_with(".rs")) {
            if !source.join("src").join(file).exists() {
                missing.insert(file);
            }
        }
    }

    assert!(rows > 100 && proofs > 250, "{rows} rows, {proofs} proofs");
    assert!(missing.is_empty(), "{missing:?}");
}
