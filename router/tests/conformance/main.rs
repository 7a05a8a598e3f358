//! Recorded behaviour of two versions of LiteLLM's Router, played against this one.
//!
//! Every vector of `vectors/` and `own-vectors/` (or of the folder that `ROUTELAB_VECTORS` names)
//! runs against both profiles in virtual time, with several seeds. `cargo test -p router --test
//! conformance -- --nocapture` prints a line for each vector and profile.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and the table is its report"
)]

mod asked;
mod compare;
mod features;
mod filters;
mod known_models;
mod luck;
mod odd;
mod pace;
mod play;
mod rules;
mod setup;
mod shares;
mod statistics;
mod strategies;
mod trace;
mod upstream;
mod vector;

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use router::{ProfileName, Router, Seed};

use crate::{luck::Luck, setup::Setup, vector::Vector};

const LITELLM_MD: &str = include_str!("../../LITELLM.md");

/// Runs of each vector, each with its own seed.
const SEEDS: u64 = 5;
/// Further runs where chance decides between deployments.
const LUCKY_SEEDS: u64 = 60;

/// A profile, and the version that it is recorded as.
const PROFILES: [(ProfileName, &str); 2] = [
    (ProfileName::Litellm192, "1.92.0"),
    (ProfileName::Litellm1110, "1.110.2"),
];

#[derive(Debug)]
enum Verdict {
    Passed,
    Failed(Vec<String>),
    NotModelled(BTreeSet<String>),
}

/// What the vectors of a folder came to, by category and profile: passed, failed, skipped.
type Counts = BTreeMap<(String, &'static str), [u32; 3]>;

#[test]
fn every_vector_behaves_as_recorded() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let given = std::env::var_os("ROUTELAB_VECTORS").map(PathBuf::from);
    let by_default = given.is_none();
    let folders = match given {
        Some(folder) => vec![folder],
        None => vec![here.join("vectors"), here.join("own-vectors")],
    };
    let mut missing = BTreeSet::new();
    let mut failed = 0;
    let mut outcomes = Vec::new();

    for folder in &folders {
        println!("{}", folder.display());
        let counts = run_folder(folder, &mut missing);
        failed += counts.values().map(|row| row[1]).sum::<u32>();
        print_counts(&counts);
        let outcome = outcome(folder, &counts);
        println!("{outcome}\n");
        outcomes.push(outcome);
    }

    assert_eq!(failed, 0, "vectors that behave otherwise than recorded");
    if by_default {
        assert!(missing.is_empty(), "vectors were skipped: {missing:?}");
        for outcome in outcomes {
            assert!(
                LITELLM_MD.contains(&outcome),
                "LITELLM.md does not say: {outcome}"
            );
        }
    }
}

/// What LITELLM.md says of a folder.
fn outcome(folder: &Path, counts: &Counts) -> String {
    let sum = |column: usize| counts.values().map(|row| row[column]).sum::<u32>();
    let [passed, failed, skipped] = [0, 1, 2].map(sum);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let all = passed + failed + skipped;
    format!("`{name}`: {all} runs, {passed} pass, {failed} fail, {skipped} are skipped")
}

/// Runs every vector of a folder and prints a line for each; notes features that are missing.
fn run_folder(folder: &Path, missing: &mut BTreeSet<String>) -> Counts {
    let vectors = vector::read_folder(folder);
    assert!(!vectors.is_empty(), "the folder holds no vectors");
    let mut counts = Counts::new();
    for vector in &vectors {
        for (profile, version) in PROFILES {
            let (category, name, verdict) = match vector {
                Ok(v) => (
                    v.category.as_str(),
                    v.name.as_str(),
                    judge_alone(v, profile, version),
                ),
                Err((path, why)) => ("", path.as_str(), Verdict::Failed(vec![why.clone()])),
            };
            let column = match &verdict {
                Verdict::Passed => {
                    println!("pass  {version:7} {name}");
                    0
                }
                Verdict::Failed(why) => {
                    println!("FAIL  {version:7} {name}: {}", why.join("; "));
                    1
                }
                Verdict::NotModelled(features) => {
                    let list: Vec<_> = features.iter().map(String::as_str).collect();
                    let list = list.join(", ");
                    println!("skip  {version:7} {name}: not modelled yet: {list}");
                    missing.extend(features.iter().cloned());
                    2
                }
            };
            let key = (category.to_owned(), profile.as_str());
            counts.entry(key).or_default()[column] += 1;
        }
    }
    counts
}

fn print_counts(counts: &Counts) {
    let line = |category: &str, profile: &str, row: [u32; 3]| {
        println!(
            "{category:24} {profile:14} {:6} {:6} {:6}",
            row[0], row[1], row[2]
        );
    };
    println!(
        "\n{:24} {:14} {:>6} {:>6} {:>6}",
        "category", "profile", "pass", "fail", "skip"
    );
    let mut sums: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    for ((category, profile), row) in counts {
        line(category, profile, *row);
        let sum = sums.entry(profile).or_default();
        (0..3).for_each(|i| sum[i] += row[i]);
    }
    for (profile, row) in sums {
        line("all", profile, row);
    }
    println!();
}

/// Judges a vector so that one that is written in a way that nobody knows here is one failure.
fn judge_alone(vector: &Vector, profile: ProfileName, version: &str) -> Verdict {
    let judged = catch_unwind(AssertUnwindSafe(|| judge(vector, profile, version)));
    judged.unwrap_or_else(|_| Verdict::Failed(vec!["cannot be played, see above".to_owned()]))
}

fn judge(vector: &Vector, profile: ProfileName, version: &str) -> Verdict {
    let features = features::not_modelled(vector);
    if !features.is_empty() {
        return Verdict::NotModelled(features);
    }
    let facts = &vector.recorded[version];
    let built = match setup::setup(&vector.config, profile) {
        Setup::Ready(config) => Router::new(&config, Seed(0))
            .map(|_| config)
            .map_err(|e| e.to_string()),
        Setup::Refused(why) => Err(why),
    };
    let config = match (built, facts.build.ok) {
        (Err(_), false) => return Verdict::Passed,
        (Err(why), true) => return Verdict::Failed(vec![format!("refused: {why}")]),
        (Ok(_), false) => {
            return Verdict::Failed(vec!["accepted, but recorded as refused".to_owned()]);
        }
        (Ok(config), true) => config,
    };
    let play = |seed| {
        let trace = play::play(vector, facts, &config, seed);
        trace.renamed(&vector.symmetric)
    };
    let traces: Vec<_> = (0..SEEDS).map(play).collect();
    let mut found = compare::differences(vector, facts, &traces, None);
    if !found.is_empty() && Luck::decides(facts) {
        let runs = (SEEDS..SEEDS + LUCKY_SEEDS).map(play).collect();
        found = compare::differences(vector, facts, &traces, Some(&Luck { runs }));
    }
    match found.is_empty() {
        true => Verdict::Passed,
        false => Verdict::Failed(found),
    }
}
