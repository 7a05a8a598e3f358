//! The scenarios that come with the program.
//!
//! Each is a file of `library/`; a test fails when a file is not in the table.

use crate::error::{ScenarioError, did_you_mean};

/// A scenario of the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LibraryEntry {
    /// Its file's name without extension.
    pub name: &'static str,
    /// The question it answers: its `purpose` line.
    pub purpose: &'static str,
    /// The YAML.
    pub text: &'static str,
}

/// Every scenario of the library, by name.
#[must_use]
pub const fn library() -> &'static [LibraryEntry] {
    LIBRARY
}

/// The scenario of this name.
pub(crate) fn entry(name: &str) -> Result<&'static LibraryEntry, ScenarioError> {
    LIBRARY
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| {
            let error =
                ScenarioError::new(format!("no scenario of the library is called `{name}`"));
            match did_you_mean(name, LIBRARY.iter().map(|entry| entry.name)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("`routelab list` shows them all"),
            }
        })
}

/// The rest of the line that begins `purpose: `.
const fn purpose_of(text: &'static str) -> &'static str {
    let bytes = text.as_bytes();
    let (_, from) = bytes.split_at(PURPOSE.len());
    let mut at = 0;
    while at < PURPOSE.len() {
        assert!(
            bytes[at] == PURPOSE.as_bytes()[at],
            "a library file begins with its purpose"
        );
        at += 1;
    }
    let mut end = 0;
    while from[end] != b'\n' {
        end += 1;
    }
    text.split_at(PURPOSE.len() + end)
        .0
        .split_at(PURPOSE.len())
        .1
}

const PURPOSE: &str = "purpose: ";

macro_rules! library {
    ($($name:literal)*) => {
        &[$({
            const TEXT: &str = include_str!(concat!("../library/", $name, ".yaml"));
            LibraryEntry { name: $name, purpose: purpose_of(TEXT), text: TEXT }
        }),*]
    };
}

const LIBRARY: &[LibraryEntry] = library! {
    "azure-2023-outage"
    "bad-key"
    "baseline"
    "brownout"
    "cooldown-cliff"
    "fallback-cascade"
    "flapping"
    "lone-deployment"
    "main"
    "metastable-retries"
    "minute-edge"
    "openai-outages"
    "order-tiers"
    "pasted-cooldown"
    "priority-queue"
    "rate-limit-pressure"
    "region-outage"
    "response-cache"
    "retry-layers"
    "retry-storm"
    "several-instances"
    "slow-deployment"
    "traffic-mirroring"
};
