//! Everything that can be read off a run, one name each.
//!
//! A metric is a name, a unit, which way is better, a formula in words and a function of a
//! [`RunRecord`]. Tables, exports, the page, `expect:` lines and METRICS.md all read [`metrics()`],
//! so a new metric is a file here and a line in `ALL`. `None` means "not known" (no such
//! request, no service level, no price); it is never shown as zero.

mod around;
mod attempts;
mod calls;
mod cooldown;
mod cost;
mod errors;
mod first_token;
mod hindsight;
mod latency;
mod share;
mod success;
mod unit;
mod wait;

pub use unit::{Better, Unit};

use crate::{distribution::as_f64, record::RunRecord};

/// A number that can be read off a run.
pub trait Metric: Sync + std::fmt::Debug {
    /// Its name in tables, exports and `expect:` lines; the unit comes last where it has one.
    fn name(&self) -> &'static str;
    /// The name that a person reads.
    fn title(&self) -> &'static str;
    /// What it is measured in.
    fn unit(&self) -> Unit;
    /// What it tells, in a sentence.
    fn about(&self) -> &'static str;
    /// How it is computed, in the names of [`RunRecord`].
    fn formula(&self) -> &'static str;
    /// Which way is better.
    fn better(&self) -> Better;
    /// The value for one run; `None` if the run does not tell.
    fn value(&self, run: &RunRecord) -> Option<f64>;
}

/// Every metric, in the order of the tables.
#[must_use]
pub const fn metrics() -> &'static [&'static dyn Metric] {
    ALL
}

/// The metric of that name.
#[must_use]
pub fn metric(name: &str) -> Option<&'static dyn Metric> {
    ALL.iter().copied().find(|metric| metric.name() == name)
}

/// The table of METRICS.md: a row for each metric.
#[must_use]
pub fn metrics_table() -> String {
    let mut text =
        String::from("| name | unit | better | formula | what it tells |\n|---|---|---|---|---|\n");
    for metric in ALL {
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            metric.name(),
            metric.unit().symbol(),
            metric.better().word(),
            metric.formula(),
            metric.about()
        ));
    }
    text
}

const ALL: &[&dyn Metric] = &[
    &success::SUCCESS_RATIO,
    &success::GOODPUT_RATIO,
    &success::GOODPUT_PER_S,
    &hindsight::OF_HINDSIGHT_RATIO,
    &success::COMPLETED_PER_S,
    &latency::LATENCY_P50_MS,
    &latency::LATENCY_P90_MS,
    &latency::LATENCY_P95_MS,
    &latency::LATENCY_P99_MS,
    &latency::LATENCY_P99_9_MS,
    &latency::LATENCY_MEAN_MS,
    &latency::ANSWERED_P99_MS,
    &first_token::FIRST_TOKEN_P50_MS,
    &first_token::FIRST_TOKEN_P95_MS,
    &first_token::FIRST_TOKEN_P99_MS,
    &attempts::ATTEMPTS_PER_REQUEST,
    &attempts::RETRIES_PER_REQUEST,
    &attempts::FALLBACKS_PER_REQUEST,
    &errors::RATE_LIMITED_PER_REQUEST,
    &errors::TIMEOUTS_PER_REQUEST,
    &errors::SERVER_ERRORS_PER_REQUEST,
    &errors::OTHER_ERRORS_PER_REQUEST,
    &errors::NO_DEPLOYMENT_RATIO,
    &wait::BACKOFF_S_PER_REQUEST,
    &wait::FAILED_ATTEMPT_S_PER_REQUEST,
    &wait::WASTED_WAIT_S_PER_REQUEST,
    &cooldown::COOLED_SHARE,
    &cooldown::COOLDOWNS_PER_MINUTE,
    &share::SHARE_IMBALANCE,
    &share::IN_FLIGHT_MAX,
    &cost::COST_USD_PER_1000_REQUESTS,
    &around::CACHE_HIT_RATIO,
    &around::LIMITS_REFUSED_PER_REQUEST,
    &around::MIRRORS_PER_REQUEST,
    &calls::CALL_GOODPUT_RATIO,
    &calls::CALL_SUCCESS_RATIO,
    &calls::CALL_LATENCY_P50_MS,
    &calls::CALL_LATENCY_P99_MS,
    &calls::REQUESTS_PER_CALL,
    &calls::ATTEMPTS_PER_CALL,
    &calls::HUNG_UP_RATIO,
    &calls::UNHEARD_ANSWERS_PER_CALL,
];

/// A metric as a row of data.
#[derive(Debug)]
struct Reading {
    name: &'static str,
    title: &'static str,
    unit: Unit,
    better: Better,
    formula: &'static str,
    about: &'static str,
    read: fn(&RunRecord) -> Option<f64>,
}

impl Metric for Reading {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn unit(&self) -> Unit {
        self.unit
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn formula(&self) -> &'static str {
        self.formula
    }

    fn better(&self) -> Better {
        self.better
    }

    fn value(&self, run: &RunRecord) -> Option<f64> {
        (self.read)(run).filter(|value| value.is_finite())
    }
}

/// `part / whole`; unknown where there is no whole.
fn share_of(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| as_f64(part) / as_f64(whole))
}

/// Requests that ran their course: those whose caller went away say nothing about the router.
const fn answered(run: &RunRecord) -> u64 {
    run.completed + run.failed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_has_a_name_of_its_own_and_is_found_by_it() {
        let names: BTreeSet<_> = metrics().iter().map(|metric| metric.name()).collect();

        assert_eq!(names.len(), metrics().len());
        for name in names {
            assert_eq!(metric(name).unwrap().name(), name);
        }
        assert!(metric("latency").is_none());
    }

    #[test]
    fn a_name_ends_in_the_unit_that_its_values_have() {
        for metric in metrics() {
            let name = metric.name();
            let fits = match metric.unit() {
                Unit::Ratio => name.ends_with("_ratio") || name.ends_with("_share"),
                Unit::Millis => name.ends_with("_ms"),
                Unit::PerSecond => name.ends_with("_per_s"),
                Unit::PerMinute => name.ends_with("_per_minute"),
                Unit::PerCall => name.ends_with("_per_call"),
                Unit::PerRequest => name.ends_with("_per_request"),
                Unit::SecondsPerRequest => name.ends_with("_s_per_request"),
                Unit::UsdPer1000Requests => name.ends_with("_usd_per_1000_requests"),
                Unit::Count | Unit::Factor => true,
            };
            assert!(fits, "{name} in {:?}", metric.unit());
        }
    }

    #[test]
    fn an_empty_run_knows_nothing_rather_than_zero() {
        let empty = RunRecord::default();

        for metric in metrics() {
            assert_eq!(metric.value(&empty), None, "{}", metric.name());
        }
    }

    #[test]
    fn every_file_of_readings_is_in_the_table() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/metrics");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let readings = text
                .lines()
                .filter(|line| line.starts_with("pub(super) const"));
            for line in readings {
                let name = line.split([' ', ':']).nth(2).unwrap().to_lowercase();
                assert!(
                    metric(&name).is_some(),
                    "{name} of {} is not listed",
                    path.display()
                );
            }
        }
    }

    #[test]
    fn metrics_md_holds_the_table_as_it_is() {
        let text = include_str!("../../METRICS.md");

        let table = metrics_table();
        assert!(
            text.contains(&table),
            "METRICS.md is stale; its table should be:\n{table}"
        );
    }
}
