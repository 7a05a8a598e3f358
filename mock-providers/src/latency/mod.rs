//! How long an answer takes: time to the first token, then a time for each further token, and a
//! slowness that one request has in both.
//!
//! `first token = F·m` and `whole answer = F·m + (n − 1)·T·m`, with `F` and `T` drawn once for each
//! attempt, `n` the tokens of the answer, and `m` a log-normal factor of median 1. The shared `m`
//! stands for the replica that the request landed on. It is off in every preset: the correlation of
//! up to 0.99 that llmperf's raw runs show (field notes D3) comes from its inter-token latency, which
//! holds the first token's time. Computed from the same runs, (end − first token) ÷ (tokens − 1)
//! against the first token has a correlation between −0.25 and 0.22 in all sixteen sets.
//!
//! Both are then slowed by the load at arrival (`load.rs`) and by the hour of the day (`daily.rs`).

mod daily;
mod load;

use std::time::Duration;

use router::{Epoch, Instant, Purpose, nanos_from_secs};
use serde::{Deserialize, Serialize};

pub(crate) use self::load::Load;
use self::{daily::Daily, load::Curves};
pub use self::{
    daily::{DailySpec, HourPoint},
    load::{LoadCurve, LoadMeasure, LoadPoint, Slows},
};
use crate::{
    dist::Distribution, error::SpecError, luck::Luck, normal::normal, place::Place,
    sampler::Sampler,
};

/// How long answers take.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencySpec {
    /// From the request's arrival at the provider to the first token of the answer. Needed, unless
    /// a preset brings it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token: Option<Distribution>,
    /// For each token after the first. Default: none, so that an answer arrives whole with its
    /// first token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_output_token: Option<Distribution>,
    /// Sigma of the log-normal factor of median 1 that multiplies both for the same request, from
    /// 0 to 5. Default 0: no such factor. With log-normal times the sigmas add as squares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowness_sigma: Option<f64>,
    /// How much slower load makes it; several curves multiply. Default: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Vec<LoadCurve>>,
    /// How slow it is by the hour of the wall clock, see `starts_at` of the scenario. Default: always
    /// alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily: Option<DailySpec>,
}

impl LatencySpec {
    /// These settings where they are given, `base` elsewhere.
    pub(crate) fn over(&self, base: &Self) -> Self {
        Self {
            first_token: self
                .first_token
                .clone()
                .or_else(|| base.first_token.clone()),
            per_output_token: self
                .per_output_token
                .clone()
                .or_else(|| base.per_output_token.clone()),
            slowness_sigma: self.slowness_sigma.or(base.slowness_sigma),
            load: self.load.clone().or_else(|| base.load.clone()),
            daily: self.daily.clone().or_else(|| base.daily.clone()),
        }
    }
}

/// The times of one answer, before any fault.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Pace {
    first_token_ms: f64,
    per_token_ms: f64,
}

impl Pace {
    /// The same answer, `factor` times slower.
    pub(crate) fn slowed(self, factor: f64) -> Self {
        self.slowed_each(factor, factor)
    }

    fn slowed_each(self, first_token: f64, per_token: f64) -> Self {
        Self {
            first_token_ms: self.first_token_ms * first_token,
            per_token_ms: self.per_token_ms * per_token,
        }
    }

    /// The same answer with these times where they are given, in milliseconds.
    pub(crate) fn replaced(self, first_token_ms: Option<f64>, per_token_ms: Option<f64>) -> Self {
        Self {
            first_token_ms: first_token_ms.unwrap_or(self.first_token_ms),
            per_token_ms: per_token_ms.unwrap_or(self.per_token_ms),
        }
    }

    /// The same answer, but each token so many milliseconds after the one before at least.
    pub(crate) fn dripping(self, least_ms: f64) -> Self {
        Self {
            per_token_ms: self.per_token_ms.max(least_ms),
            ..self
        }
    }

    /// From the start to the first token.
    pub(crate) fn first_token(self) -> Duration {
        span(self.first_token_ms)
    }

    /// From the start to token number `tokens` (from 1); for 0, to where the first would have come.
    pub(crate) fn until_token(self, tokens: u32) -> Duration {
        span(self.first_token_ms + f64::from(tokens.saturating_sub(1)) * self.per_token_ms)
    }
}

/// Draws the times of answers.
#[derive(Clone, Debug)]
pub(crate) struct Latency {
    first_token: Sampler,
    per_output_token: Option<Sampler>,
    slowness_sigma: f64,
    load: Option<Curves>,
    daily: Option<Daily>,
}

impl Latency {
    pub(crate) fn new(
        spec: &LatencySpec,
        epoch: Epoch,
        place: &Place,
    ) -> Result<Option<Self>, SpecError> {
        let Some(first_token) = &spec.first_token else {
            return Ok(None);
        };
        let per_output_token = match &spec.per_output_token {
            Some(distribution) => Some(distribution.sampler(&place.key("per_output_token"))?),
            None => None,
        };
        let load = spec.load.as_deref();
        let load = load.map(|curves| Curves::new(curves, &place.key("load")));
        let daily = spec.daily.as_ref();
        let daily = daily.map(|daily| Daily::new(daily, epoch, &place.key("daily")));
        Ok(Some(Self {
            first_token: first_token.sampler(&place.key("first_token"))?,
            per_output_token,
            slowness_sigma: place.sigma("slowness_sigma", spec.slowness_sigma.unwrap_or(0.0))?,
            load: load.transpose()?,
            daily: daily.transpose()?,
        }))
    }

    /// Whether the load must be known by this measure.
    pub(crate) fn reads(&self, measure: LoadMeasure) -> bool {
        self.load.as_ref().is_some_and(|load| load.read(measure))
    }

    /// The times that this attempt draws, if it arrives at `at` under `load`.
    pub(crate) fn pace(&self, luck: &Luck, at: Instant, load: Load) -> Pace {
        let mut pace = self.drawn(luck);
        if let Some(curves) = &self.load {
            let (first_token, per_token) = curves.slowdowns(load);
            pace = pace.slowed_each(first_token, per_token);
        }
        if let Some(daily) = &self.daily {
            pace = pace.slowed(daily.slowdown(at));
        }
        pace
    }

    fn drawn(&self, luck: &Luck) -> Pace {
        let pace = Pace {
            first_token_ms: self.first_token.draw(&mut luck.draws(FIRST_TOKEN)),
            per_token_ms: match &self.per_output_token {
                Some(sampler) => sampler.draw(&mut luck.draws(PER_OUTPUT_TOKEN)),
                None => 0.0,
            },
        };
        if self.slowness_sigma > 0.0 {
            pace.slowed(libm::exp(
                self.slowness_sigma * normal(&mut luck.draws(SLOWNESS)),
            ))
        } else {
            pace
        }
    }
}

/// A span of `ms` milliseconds.
pub(crate) fn span(ms: f64) -> Duration {
    Duration::from_nanos(nanos_from_secs(ms / 1_000.0))
}

const FIRST_TOKEN: Purpose = Purpose::named("mock-providers.first_token");
const PER_OUTPUT_TOKEN: Purpose = Purpose::named("mock-providers.per_output_token");
const SLOWNESS: Purpose = Purpose::named("mock-providers.slowness");

#[cfg(test)]
mod tests {
    use router::{DeploymentId, RequestId, Seed};

    use super::*;
    use crate::dist::{Constant, LogNormal};

    fn luck(request: u64) -> Luck {
        Luck::new(Seed(1), RequestId(request), 0, DeploymentId(0))
    }

    fn latency(slowness_sigma: f64) -> Latency {
        let spec = LatencySpec {
            first_token: Some(Distribution::Constant(Constant { ms: 100.0 })),
            per_output_token: Some(Distribution::Constant(Constant { ms: 10.0 })),
            slowness_sigma: Some(slowness_sigma),
            ..LatencySpec::default()
        };
        Latency::new(&spec, Epoch::default(), &Place::default())
            .unwrap()
            .unwrap()
    }

    #[test]
    fn an_answer_takes_its_first_token_and_a_time_for_each_further_one() {
        let pace = latency(0.0).drawn(&luck(0));

        assert_eq!(pace.first_token(), Duration::from_millis(100));
        assert_eq!(pace.until_token(1), Duration::from_millis(100));
        assert_eq!(pace.until_token(11), Duration::from_millis(200));
        assert_eq!(pace.until_token(0), Duration::from_millis(100));
    }

    #[test]
    fn a_slow_request_is_slow_in_both_times() {
        let latency = latency(0.5);

        for request in 0..100 {
            let pace = latency.drawn(&luck(request));
            let ratio = pace.first_token_ms / pace.per_token_ms;
            assert!((ratio - 10.0).abs() < 1e-9, "ratio {ratio}");
        }
    }

    #[test]
    fn a_time_beyond_all_clocks_saturates() {
        let log_normal = LogNormal {
            median_ms: Some(1e300),
            sigma: Some(5.0),
            ..LogNormal::default()
        };
        let spec = LatencySpec {
            first_token: Some(Distribution::LogNormal(log_normal)),
            ..LatencySpec::default()
        };
        let latency = Latency::new(&spec, Epoch::default(), &Place::default())
            .unwrap()
            .unwrap();

        assert_eq!(
            latency.drawn(&luck(0)).first_token(),
            Duration::from_nanos(u64::MAX)
        );
    }
}
