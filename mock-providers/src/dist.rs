//! Distributions of milliseconds, as written in a spec, and their checks. `sampler.rs` draws from
//! them.

use serde::{Deserialize, Serialize};

use crate::{error::SpecError, fit::body_and_tail, place::Place, sampler::Sampler};

/// A distribution of a length of time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Distribution {
    /// A log-normal body with a heavy tail, by three quantiles.
    BodyAndTail(BodyAndTail),
    /// Always the same.
    Constant(Constant),
    /// Measured values or quantiles, with straight lines between them.
    Empirical(Empirical),
    /// Gamma, by mean and coefficient of variation. With a variation of 1 it is exponential.
    Gamma(Gamma),
    /// Log-normal, by median and sigma or by two quantiles.
    LogNormal(LogNormal),
    /// One of several, by weight: a body and a heavy tail, for example.
    Mixture(Vec<Component>),
}

/// A log-normal body with a heavy tail, through three quantiles as status pages and benchmarks publish
/// them. 2 % of the draws come from the tail.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BodyAndTail {
    /// The median in milliseconds, above 0.
    pub p50_ms: f64,
    /// The 95th percentile in milliseconds, above `p50_ms`.
    pub p95_ms: f64,
    /// The 99th percentile in milliseconds: far enough above `p95_ms` that a log-normal distribution
    /// through the other two does not reach it.
    pub p99_ms: f64,
}

/// Always the same length of time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Constant {
    /// Milliseconds, 0 or more.
    pub ms: f64,
}

/// Measured values or quantiles. Exactly one of the two is given.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Empirical {
    /// Measured values in milliseconds, in any order; between two neighbours all are equally likely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values_ms: Option<Vec<f64>>,
    /// Quantiles in rising order. Below the first and above the last, the nearest one's value is
    /// drawn: nothing is made up beyond what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<Vec<Quantile>>,
}

/// One quantile of a distribution.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantile {
    /// The share of values at or below `ms`, from 0 to 1.
    pub share: f64,
    /// Milliseconds.
    pub ms: f64,
}

/// A gamma distribution.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gamma {
    /// Mean in milliseconds, above 0.
    pub mean_ms: f64,
    /// Coefficient of variation: standard deviation by mean. From 0 to 100.
    pub cv: f64,
}

/// A log-normal distribution: `median_ms` with `sigma`, or `p50_ms` with `p95_ms`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogNormal {
    /// Median in milliseconds, above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<f64>,
    /// Standard deviation of the natural logarithm, from 0 to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// The median in milliseconds, above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// The 95th percentile in milliseconds, `p50_ms` or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<f64>,
}

/// A part of a mixture.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Component {
    /// How often it is drawn, against the other weights. 0 or more; not all may be 0.
    pub weight: f64,
    /// What is drawn.
    pub of: Distribution,
}

impl Distribution {
    pub(crate) fn sampler(&self, place: &Place) -> Result<Sampler, SpecError> {
        match self {
            Self::BodyAndTail(three) => three.sampler(&place.key("body_and_tail")),
            Self::Constant(constant) => {
                let place = place.key("constant");
                Ok(Sampler::Constant(place.not_negative("ms", constant.ms)?))
            }
            Self::Empirical(empirical) => empirical.sampler(&place.key("empirical")),
            Self::Gamma(gamma) => {
                let place = place.key("gamma");
                place.positive("mean_ms", gamma.mean_ms)?;
                Ok(Sampler::gamma(
                    gamma.mean_ms,
                    place.variation("cv", gamma.cv)?,
                ))
            }
            Self::LogNormal(log_normal) => log_normal.sampler(&place.key("log_normal")),
            Self::Mixture(parts) => mixture(parts, &place.key("mixture")),
        }
    }
}

impl BodyAndTail {
    fn sampler(self, place: &Place) -> Result<Sampler, SpecError> {
        place.positive("p50_ms", self.p50_ms)?;
        let fits = self.p95_ms.is_finite() && self.p95_ms > self.p50_ms;
        place.number("p95_ms", self.p95_ms, fits, "a finite number above p50_ms")?;
        let fits = self.p99_ms.is_finite() && self.p99_ms > self.p95_ms;
        place.number("p99_ms", self.p99_ms, fits, "a finite number above p95_ms")?;
        match body_and_tail(self.p50_ms, self.p95_ms, self.p99_ms) {
            Some(mixture) => mixture.sampler(place),
            None => Err(place.bad_keys(
                "a 99th percentile that its body alone reaches",
                "a larger p99_ms, or log_normal with p50_ms and p95_ms",
            )),
        }
    }
}

impl LogNormal {
    fn sampler(&self, place: &Place) -> Result<Sampler, SpecError> {
        match (self.median_ms, self.sigma, self.p50_ms, self.p95_ms) {
            (Some(median), Some(sigma), None, None) => {
                place.positive("median_ms", median)?;
                place.sigma("sigma", sigma)?;
                Ok(Sampler::LogNormal {
                    mu: libm::log(median),
                    sigma,
                })
            }
            (None, None, Some(p50), Some(p95)) => {
                place.positive("p50_ms", p50)?;
                let fits = p95.is_finite() && p95 >= p50;
                place.number("p95_ms", p95, fits, "a finite number of p50_ms or more")?;
                let sigma = (libm::log(p95) - libm::log(p50)) / Z_95;
                place.number("p95_ms", p95, sigma <= 5.0, "at most 3700 times p50_ms")?;
                Ok(Sampler::LogNormal {
                    mu: libm::log(p50),
                    sigma,
                })
            }
            _ => Err(place.bad_keys(
                "another set of keys",
                "median_ms with sigma, or p50_ms with p95_ms, and no other",
            )),
        }
    }
}

impl Empirical {
    fn sampler(&self, place: &Place) -> Result<Sampler, SpecError> {
        match (&self.values_ms, &self.quantiles) {
            (Some(values), None) => of_values(values, &place.key("values_ms")),
            (None, Some(points)) => of_quantiles(points, &place.key("quantiles")),
            (None, None) => Err(place.bad_keys("neither", EMPIRICAL_KEYS)),
            (Some(_), Some(_)) => Err(place.bad_keys("both", EMPIRICAL_KEYS)),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no list of values holds 2^53 of them"
)]
fn of_values(values: &[f64], place: &Place) -> Result<Sampler, SpecError> {
    for (index, &value) in values.iter().enumerate() {
        place.item(index).not_negative("ms", value)?;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = match sorted.len() {
        0 => return Err(place.bad_keys("no value", "one value or more")),
        1 => return Ok(Sampler::Constant(sorted[0])),
        count => (count - 1) as f64,
    };
    let points = sorted.iter().enumerate();
    Ok(Sampler::Empirical(
        points
            .map(|(index, &ms)| (index as f64 / last, ms))
            .collect(),
    ))
}

fn of_quantiles(points: &[Quantile], place: &Place) -> Result<Sampler, SpecError> {
    if points.len() < 2 {
        return Err(place.bad_keys("fewer than two points", "two points or more"));
    }
    let mut before = (-1.0, 0.0);
    for (index, point) in points.iter().enumerate() {
        let place = place.item(index);
        place.share("share", point.share)?;
        place.not_negative("ms", point.ms)?;
        place.number(
            "share",
            point.share,
            point.share > before.0,
            "more than the share before",
        )?;
        place.number(
            "ms",
            point.ms,
            point.ms >= before.1,
            "no less than the value before",
        )?;
        before = (point.share, point.ms);
    }
    Ok(Sampler::Empirical(
        points.iter().map(|point| (point.share, point.ms)).collect(),
    ))
}

fn mixture(parts: &[Component], place: &Place) -> Result<Sampler, SpecError> {
    let mut total = 0.0;
    for (index, part) in parts.iter().enumerate() {
        total += place.item(index).not_negative("weight", part.weight)?;
    }
    if !(total.is_finite() && total > 0.0) {
        return Err(place.bad_keys(
            format_args!("weights that sum to {total}"),
            "one component or more, with weights that sum to a finite number above 0",
        ));
    }
    let mut leaves = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let share = part.weight / total;
        match part.of.sampler(&place.item(index).key("of"))? {
            Sampler::Mixture(inner) => {
                leaves.extend(
                    inner
                        .into_iter()
                        .map(|(weight, leaf)| (weight * share, leaf)),
                );
            }
            leaf @ (Sampler::Constant(_)
            | Sampler::Empirical(_)
            | Sampler::Gamma { .. }
            | Sampler::LogNormal { .. }) => leaves.push((share, leaf)),
        }
    }
    leaves.retain(|(share, _)| *share > 0.0);
    Ok(Sampler::Mixture(leaves))
}

/// The 95 % point of the standard normal distribution.
const Z_95: f64 = 1.644_853_626_951_472_2;
const EMPIRICAL_KEYS: &str = "either values_ms or quantiles";

#[cfg(test)]
mod tests {
    use router::{KeyedRng, Purpose, Seed};

    use super::*;

    const TEST: Purpose = Purpose::named("test.dist");

    #[test]
    fn a_mixture_of_mixtures_is_flattened() {
        let inner = Distribution::Mixture(vec![
            Component {
                weight: 1.0,
                of: Distribution::Constant(Constant { ms: 1.0 }),
            },
            Component {
                weight: 3.0,
                of: Distribution::Constant(Constant { ms: 2.0 }),
            },
        ]);
        let outer = Distribution::Mixture(vec![
            Component {
                weight: 1.0,
                of: inner,
            },
            Component {
                weight: 1.0,
                of: Distribution::Constant(Constant { ms: 3.0 }),
            },
        ]);

        let Sampler::Mixture(leaves) = outer.sampler(&Place::default()).unwrap() else {
            panic!("not a mixture");
        };

        let shares: Vec<f64> = leaves.iter().map(|leaf| leaf.0).collect();
        assert_eq!(shares, [0.125, 0.375, 0.5]);
        assert!(
            leaves
                .iter()
                .all(|leaf| !matches!(leaf.1, Sampler::Mixture(_)))
        );
    }

    #[test]
    fn a_component_of_weight_zero_is_never_drawn() {
        let mixed = Distribution::Mixture(vec![
            Component {
                weight: 1.0,
                of: Distribution::Constant(Constant { ms: 1.0 }),
            },
            Component {
                weight: 0.0,
                of: Distribution::Constant(Constant { ms: 2.0 }),
            },
        ]);
        let sampler = mixed.sampler(&Place::default()).unwrap();

        for request in 0..10_000 {
            let drawn = sampler.draw(&mut KeyedRng::new(Seed(1), TEST, request, 0));
            assert!((drawn - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn two_quantiles_and_median_with_sigma_say_the_same() {
        let by_quantiles = LogNormal {
            p50_ms: Some(500.0),
            p95_ms: Some(1_500.0),
            ..LogNormal::default()
        };

        let Sampler::LogNormal { mu, sigma } = by_quantiles.sampler(&Place::default()).unwrap()
        else {
            panic!("not a log-normal");
        };

        assert!((libm::exp(mu) - 500.0).abs() < 1e-9);
        assert!((libm::exp(mu + 1.644_853_627 * sigma) - 1_500.0).abs() < 1e-5);
    }
}
