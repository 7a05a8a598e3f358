//! Incidents of two providers, from their own status pages.

use super::Incidental;

/// The incidents of one provider, in numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KnownIncidents {
    /// Whose.
    pub whose: &'static str,
    /// Mean time from the end of one to the beginning of the next, in seconds.
    pub gap_mean_s: f64,
    /// Coefficient of variation of those times.
    pub gap_cv: f64,
    /// Median length in seconds.
    pub duration_median_s: f64,
    /// Sigma of the logarithm of lengths.
    pub duration_sigma: f64,
    /// The share of incidents that degrade.
    pub degraded_share: f64,
    /// The share of incidents that are partial.
    pub partial_share: f64,
    /// The share of attempts that fail while it is degraded.
    pub degraded_error_share: f64,
    /// How many times as long an answer takes while it is degraded.
    pub degraded_slowdown: f64,
    /// The share of deployments that a partial incident takes down.
    pub partial_touches: f64,
    /// Where times and shares are from.
    pub source: &'static str,
    /// Until when the source looked.
    pub dated: &'static str,
    /// What no source has, and on what grounds it was chosen.
    pub assumed: &'static str,
}

/// Every provider whose incidents are known.
#[must_use]
pub const fn known_incidents() -> &'static [KnownIncidents] {
    &[ANTHROPIC, OPEN_AI]
}

pub(super) const fn of(whose: Incidental) -> &'static KnownIncidents {
    match whose {
        Incidental::Anthropic => &ANTHROPIC,
        Incidental::OpenAi => &OPEN_AI,
    }
}

const DAY_S: f64 = 86_400.0;
const SOURCE: &str = "status pages, self-reported: atlarge-research/llm-service-analysis, paper arXiv \
    2501.12469 (field notes D5)";
const ASSUMED: &str = "which share of attempts fails: the source has none, only that availability \
    weighted by severity is 99.821 % (OpenAI) and 99.917 % (Anthropic), which these shares give; the \
    slow-down";

/// 231 incidents: a mean of 5.55 days between beginnings, which leaves 5.44 between; of 231 incidents
/// 105 have an impact of 2 or more, the others degrade. Weighted unavailability 0.179 % of 1.93 % of
/// the time is a mean severity of 9.3 %.
const OPEN_AI: KnownIncidents = KnownIncidents {
    whose: "OpenAI's API",
    gap_mean_s: 5.44 * DAY_S,
    gap_cv: 2.17,
    duration_median_s: 75.5 * 60.0,
    duration_sigma: 1.165,
    degraded_share: 0.545,
    partial_share: 0.425,
    degraded_error_share: 0.005,
    degraded_slowdown: 1.5,
    partial_touches: 0.15,
    source: SOURCE,
    dated: "2024-08",
    assumed: ASSUMED,
};

/// 76 incidents: a mean of 5.22 days between beginnings, which leaves 5.10 between; 30 of the 76 have
/// an impact of 2 or more. Weighted unavailability 0.083 % of 2.24 % of the time is a mean severity of
/// 3.7 %.
const ANTHROPIC: KnownIncidents = KnownIncidents {
    whose: "Anthropic's API",
    gap_mean_s: 5.10 * DAY_S,
    gap_cv: 1.85,
    duration_median_s: 50.3 * 60.0,
    duration_sigma: 1.39,
    degraded_share: 0.605,
    partial_share: 0.385,
    degraded_error_share: 0.005,
    degraded_slowdown: 1.5,
    partial_touches: 0.08,
    source: SOURCE,
    dated: "2024-08",
    assumed: ASSUMED,
};
