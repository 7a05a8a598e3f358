//! Every rule, by topic.

use super::{
    Severity, cooldowns, deployments, fallbacks, filters, idle_senders, instances, limits, names,
    order, prices, retries, senders, subject::Rule, weights, zeros,
};

/// The rules of every file.
pub(super) const RULES: [&[Rule]; 14] = [
    names::RULES,
    fallbacks::RULES,
    deployments::RULES,
    weights::RULES,
    order::RULES,
    cooldowns::RULES,
    retries::RULES,
    zeros::RULES,
    limits::RULES,
    instances::RULES,
    filters::RULES,
    prices::RULES,
    senders::RULES,
    idle_senders::RULES,
];

/// A rule, for lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CatalogueEntry {
    /// Its name.
    pub id: &'static str,
    /// How bad what it finds is, as a rule.
    pub severity: Severity,
    /// What it finds, as the rest of a sentence.
    pub about: &'static str,
}

/// Everything that can be found.
#[must_use]
pub fn catalogue() -> Vec<CatalogueEntry> {
    let rules = RULES.iter().flat_map(|rules| rules.iter());
    rules
        .map(|rule| CatalogueEntry {
            id: rule.id,
            severity: rule.severity,
            about: rule.about,
        })
        .collect()
}
