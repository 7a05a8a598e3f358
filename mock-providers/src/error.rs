//! What can be wrong with a provider as it was written. Every message names the key, what was
//! found there, and what would be accepted.

/// A provider cannot be built from its spec.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SpecError {
    /// A number that makes no sense where it stands.
    #[error("{key} is {found}; accepted is {accepted}")]
    BadNumber {
        /// Where, e.g. `latency.first_token.log_normal.sigma`.
        key: String,
        /// What was found.
        found: f64,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// Keys that contradict each other, or a needed one that is not there.
    #[error("{key} has {found}; accepted is {accepted}")]
    BadKeys {
        /// Where.
        key: String,
        /// What was found.
        found: String,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// Nothing says how long this provider takes.
    #[error(
        "latency.first_token is missing; accepted is a distribution, or one of the presets {}",
        known.join(", ")
    )]
    NoLatency {
        /// Names of presets.
        known: Vec<&'static str>,
    },
    /// Two deployments of one pool have different quotas.
    #[error(
        "quota.pool `{pool}` has two different quotas; accepted is the same quota wherever it is named"
    )]
    PoolOfTwo {
        /// The pool's name.
        pool: String,
    },
    /// There is no such preset.
    #[error("preset is `{found}`{}; accepted is one of {}", did_you_mean(*suggestion), known.join(", "))]
    UnknownPreset {
        /// What was found.
        found: String,
        /// The nearest name, if one is near.
        suggestion: Option<&'static str>,
        /// Names of presets.
        known: Vec<&'static str>,
    },
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
