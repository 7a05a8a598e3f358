//! When requests come, as a file says it: a rate that may change, and how regular arrivals are.
//!
//! Every pattern is a renewal process under a rate curve. `cv` is the coefficient of variation of
//! the gaps: 0 a clockwork, 1 a Poisson process, above 1 clusters.

use router::Epoch;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    dist::Gap,
    rate::{Rate, Step},
};
use crate::{
    error::{ScenarioError, suggestion},
    schema::NameOr,
};

/// `workload.arrivals`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalSpec {
    /// On and off by turns, each for an exponential time, beginning off.
    Bursts(BurstsSpec),
    /// Evenly spaced.
    Constant(SteadySpec),
    /// A rate in steps of equal length, as `routelab calibrate` reads one off a log.
    Curve(CurveSpec),
    /// A rate that follows the hours of the day, by the wall clock of `starts_at`.
    Daily(DailySpec),
    /// Gamma gaps of a chosen coefficient of variation.
    Gamma(GammaSpec),
    /// Independent arrivals.
    Poisson(SteadySpec),
    /// A rate that is multiplied for a while.
    Pulse(PulseSpec),
}

/// One rate.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SteadySpec {
    /// Requests a second.
    pub per_second: f64,
}

/// `gamma`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GammaSpec {
    /// Requests a second.
    pub per_second: f64,
    /// Deviation ÷ mean of the gaps.
    pub cv: f64,
}

/// `bursts`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsSpec {
    /// Requests a second while on.
    pub on_per_second: f64,
    /// Requests a second while off.
    pub off_per_second: f64,
    /// Mean length of being on, in seconds.
    pub on_mean_s: f64,
    /// Mean length of being off, in seconds.
    pub off_mean_s: f64,
    /// Deviation ÷ mean of the gaps under either rate. Default: 1.
    #[serde(default)]
    pub cv: Option<f64>,
}

/// `pulse`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PulseSpec {
    /// Requests a second before and after.
    pub per_second: f64,
    /// What the rate is multiplied by.
    pub factor: f64,
    /// Beginning of the pulse, in seconds.
    pub from_s: f64,
    /// Its end, in seconds.
    pub to_s: f64,
    /// Deviation ÷ mean of the gaps. Default: 1.
    #[serde(default)]
    pub cv: Option<f64>,
}

/// `curve`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurveSpec {
    /// Length of a step, in seconds.
    pub step_s: f64,
    /// Requests a second in each step, from the run's beginning; none come after the last.
    pub per_second: Vec<f64>,
    /// Deviation ÷ mean of the gaps. Default: 1.
    #[serde(default)]
    pub cv: Option<f64>,
}

/// `daily`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DailySpec {
    /// Requests a second, on average over the day.
    pub per_second: f64,
    /// A factor for each of the 24 hours, or the name of a measured day. Only ratios count.
    pub hours: NameOr<Vec<f64>>,
    /// Deviation ÷ mean of the gaps. Default: 1.
    #[serde(default)]
    pub cv: Option<f64>,
}

impl ArrivalSpec {
    /// The process. Errors name their key from `arrivals` on.
    pub(crate) fn process(&self, epoch: Epoch) -> Result<(Rate, Gap), ScenarioError> {
        match self {
            Self::Constant(spec) => Ok((
                Rate::Constant(rate("constant.per_second", spec.per_second)?),
                Gap::Even,
            )),
            Self::Poisson(spec) => Ok((
                Rate::Constant(rate("poisson.per_second", spec.per_second)?),
                Gap::Exponential,
            )),
            Self::Gamma(spec) => Ok((
                Rate::Constant(rate("gamma.per_second", spec.per_second)?),
                gap("gamma.cv", Some(spec.cv))?,
            )),
            Self::Bursts(spec) => spec.process(),
            Self::Curve(spec) => spec.process(),
            Self::Pulse(spec) => spec.process(),
            Self::Daily(spec) => spec.process(epoch),
        }
    }
}

impl BurstsSpec {
    fn process(&self) -> Result<(Rate, Gap), ScenarioError> {
        let on = rate("bursts.on_per_second", self.on_per_second)?;
        let off = self.off_per_second;
        if !(0.0..=PER_SECOND_AT_MOST).contains(&off) {
            let accepted = "a rate from 0 to 10 million requests a second";
            return Err(number("bursts.off_per_second", off, accepted));
        }
        let rate = Rate::OnOff {
            on,
            off,
            on_mean_s: span("bursts.on_mean_s", self.on_mean_s)?,
            off_mean_s: span("bursts.off_mean_s", self.off_mean_s)?,
        };
        Ok((rate, gap("bursts.cv", self.cv)?))
    }
}

impl PulseSpec {
    fn process(&self) -> Result<(Rate, Gap), ScenarioError> {
        let base = rate("pulse.per_second", self.per_second)?;
        if !(self.factor >= 0.0 && base * self.factor <= PER_SECOND_AT_MOST) {
            let accepted = "0 or more, up to 10 million requests a second";
            return Err(number("pulse.factor", self.factor, accepted));
        }
        if self.from_s < 0.0 {
            return Err(number("pulse.from_s", self.from_s, "0 or more"));
        }
        if self.to_s <= self.from_s {
            let accepted = format!("a time after `from_s`, which is {}", self.from_s);
            return Err(number("pulse.to_s", self.to_s, accepted));
        }
        let steps = [
            Step {
                until_s: self.from_s,
                per_second: base,
            },
            Step {
                until_s: self.to_s,
                per_second: base * self.factor,
            },
            Step {
                until_s: f64::INFINITY,
                per_second: base,
            },
        ];
        let steps = steps.into_iter().filter(|step| step.until_s > 0.0);
        Ok((Rate::Steps(steps.collect()), gap("pulse.cv", self.cv)?))
    }
}

impl CurveSpec {
    fn process(&self) -> Result<(Rate, Gap), ScenarioError> {
        let step_s = span("curve.step_s", self.step_s)?;
        let ends = (1_u32..).map(|step| f64::from(step) * step_s);
        for (at, per_second) in self.per_second.iter().enumerate() {
            if !(0.0..=PER_SECOND_AT_MOST).contains(per_second) {
                let accepted = "a rate from 0 to 10 million requests a second";
                return Err(number(
                    &format!("curve.per_second[{at}]"),
                    *per_second,
                    accepted,
                ));
            }
        }
        if self.per_second.iter().all(|rate| *rate == 0.0) {
            return Err(ScenarioError::new("no step has a rate above 0")
                .key("curve.per_second")
                .help("accepted is a list of rates of which at least one is above 0"));
        }
        let steps = self.per_second.iter().zip(ends);
        let steps = steps.map(|(per_second, until_s)| Step {
            until_s,
            per_second: *per_second,
        });
        Ok((Rate::Steps(steps.collect()), gap("curve.cv", self.cv)?))
    }
}

impl DailySpec {
    fn process(&self, epoch: Epoch) -> Result<(Rate, Gap), ScenarioError> {
        let mean = rate("daily.per_second", self.per_second)?;
        let hours: &[f64] = match &self.hours {
            NameOr::Given(hours) => hours,
            NameOr::Name(name) => {
                let Some((_, hours)) = DAYS.iter().find(|(known, _)| known == name) else {
                    let names = DAYS.map(|(known, _)| known);
                    return Err(
                        ScenarioError::new(format!("no measured day is called `{name}`"))
                            .key("daily.hours")
                            .help(suggestion(name, &names)),
                    );
                };
                hours
            }
        };
        if hours.len() != 24 {
            return Err(ScenarioError::new(format!("found {} factors", hours.len()))
                .key("daily.hours")
                .help("accepted is one for each of the 24 hours of a day"));
        }
        if let Some(at) = hours.iter().position(|factor| *factor < 0.0) {
            return Err(number(
                &format!("daily.hours[{at}]"),
                hours[at],
                "0 or more",
            ));
        }
        let sum: f64 = hours.iter().sum();
        if sum <= 0.0 {
            return Err(ScenarioError::new("every hour has the factor 0")
                .key("daily.hours")
                .help("accepted is a day with at least one hour above 0"));
        }
        let scale = mean * 24.0 / sum;
        let ends = (1..=24_u32).map(|hour| f64::from(hour) * 3_600.0);
        let steps = hours.iter().zip(ends);
        let steps = steps
            .map(|(f, until_s)| Step {
                until_s,
                per_second: f * scale,
            })
            .collect();
        let into_day = u32::try_from(epoch.unix_seconds() % 86_400).expect("below 86,400");
        let rate = Rate::Cycle {
            steps,
            offset_s: f64::from(into_day),
        };
        Ok((rate, gap("daily.cv", self.cv)?))
    }
}

/// A rate of at least one request a year.
pub(crate) fn rate(key: &str, found: f64) -> Result<f64, ScenarioError> {
    if found > 0.0 && found <= PER_SECOND_AT_MOST {
        return Ok(found);
    }
    Err(number(
        key,
        found,
        "a rate above 0 and up to 10 million requests a second",
    ))
}

/// A length of time in seconds.
pub(crate) fn span(key: &str, found: f64) -> Result<f64, ScenarioError> {
    if found > 0.0 && found <= SECONDS_AT_MOST {
        return Ok(found);
    }
    Err(number(
        key,
        found,
        "a number of seconds above 0 and up to a hundred years",
    ))
}

/// `found` stands where a number of another size is needed.
pub(crate) fn number(key: &str, found: f64, accepted: impl std::fmt::Display) -> ScenarioError {
    let found = if found.abs() < 1e15 {
        found.to_string()
    } else {
        format!("{found:e}")
    };
    ScenarioError::unaccepted(format_args!("the number {found}"), accepted).key(key)
}

fn gap(key: &str, cv: Option<f64>) -> Result<Gap, ScenarioError> {
    let cv = cv.unwrap_or(1.0);
    if (0.0..=CV_AT_MOST).contains(&cv) && (cv == 0.0 || cv >= CV_AT_LEAST) {
        return Ok(Gap::of_variation(cv));
    }
    Err(number(
        key,
        cv,
        format!("0, or from {CV_AT_LEAST} to {CV_AT_MOST}"),
    ))
}

/// Measured days: mean rate of each hour ÷ mean of the day, hour 0 the first of the recording.
/// Computed from ServeGen's 600 s aggregates (Apache-2.0): 14 days of m-large, one of deepseek-r1.
pub(crate) const DAYS: [(&str, [f64; 24]); 2] = [
    (
        "servegen-deepseek-r1",
        [
            1.21, 1.39, 2.03, 1.79, 1.06, 0.91, 0.75, 0.58, 0.60, 0.66, 0.81, 0.83, 0.45, 0.54,
            0.68, 0.70, 0.88, 0.55, 0.75, 0.59, 1.24, 1.62, 2.19, 1.18,
        ],
    ),
    (
        "servegen-m-large",
        [
            0.99, 1.00, 0.99, 0.94, 0.91, 0.88, 0.85, 0.82, 0.79, 0.87, 1.05, 1.11, 0.97, 0.98,
            1.05, 1.05, 1.11, 1.08, 1.04, 1.14, 1.13, 1.07, 1.10, 1.09,
        ],
    ),
];

/// More than any router sees; keeps neighbouring arrivals apart in nanoseconds.
pub(crate) const PER_SECOND_AT_MOST: f64 = 10_000_000.0;
/// A hundred years.
pub(crate) const SECONDS_AT_MOST: f64 = 3_153_600_000.0;
/// Below, gamma gaps are a clockwork in all but name.
const CV_AT_LEAST: f64 = 0.01;
/// The largest of 24,479 ServeGen windows but the 0.1 % most extreme is 20.
const CV_AT_MOST: f64 = 100.0;
