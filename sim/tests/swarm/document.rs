//! `router/INVARIANTS.md` says where each invariant is checked, and the checkers say which they check.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Numbers of invariants by the checker that adds violations of them.
fn checked() -> BTreeMap<u32, BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/invariants");
    let mut all = BTreeMap::<u32, BTreeSet<String>>::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let words: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        for call in ["found.add(", "violation("] {
            for (at, _) in words.match_indices(call) {
                let rest = &words[at + call.len()..];
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                if let Ok(number) = digits.parse() {
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    all.entry(number).or_default().insert(name);
                }
            }
        }
    }
    all
}

/// The same as the document says it: the third column of its first table.
fn told() -> BTreeMap<u32, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../router/INVARIANTS.md");
    let text = fs::read_to_string(path).unwrap();
    let mut all = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, number, _, places, ..] = cells[..] else {
            continue;
        };
        if let Ok(number) = number.parse::<u32>() {
            let files = places.split('`').skip(1).step_by(2).map(str::to_owned);
            assert!(
                all.insert(number, files.collect()).is_none(),
                "{number} twice"
            );
        }
    }
    all
}

#[test]
fn the_document_and_the_checkers_name_the_same_invariants_and_places() {
    let (mut told, checked) = (told(), checked());

    assert!(told.len() >= 17, "{} invariants", told.len());
    // What a router sees is what its journal holds: the replay checks both.
    let sight = told.remove(&21).unwrap();
    assert_eq!(sight, told[&23]);
    assert_eq!(told, checked);
}
