//! `router/INVARIANTS.md` says where each invariant is checked, and the checkers say which they check.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Numbers of invariants by the file that checks them: a checker by its own name, another by its path.
fn checked() -> BTreeMap<u32, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = BTreeMap::new();
    for folder in ["router/src", "mock-providers/src", "sim/src"] {
        walk(&root.join(folder), folder, &mut all);
    }
    all
}

fn walk(folder: &Path, name: &str, all: &mut BTreeMap<u32, BTreeSet<String>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let own = format!("{name}/{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            walk(&path, &own, all);
        } else {
            let own = own.strip_prefix("sim/src/invariants/").unwrap_or(&own);
            numbers(&fs::read_to_string(&path).unwrap(), own, all);
        }
    }
}

/// Numbers that violations and assertions name. Tests at the foot of a file name others.
fn numbers(text: &str, own: &str, all: &mut BTreeMap<u32, BTreeSet<String>>) {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let words: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    for call in ["found.add(", "violation(", "difference(", "\"invariant"] {
        for (at, _) in words.match_indices(call) {
            let rest = &words[at + call.len()..];
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if let Ok(number) = digits.parse() {
                all.entry(number).or_default().insert(own.to_owned());
            }
        }
    }
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

    assert!(told.len() >= 20, "{} invariants", told.len());
    // What a router sees is what its journal holds: the replay checks both.
    let sight = told.get_mut(&21).unwrap();
    assert!(sight.remove("check.rs"));
    assert_eq!(told, checked);
}
