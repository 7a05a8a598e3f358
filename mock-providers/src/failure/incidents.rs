//! Incidents as status pages report them: clustered, of log-normal length, most of them partial, and
//! felt by all deployments of a provider at once.
//!
//! Gaps are log-normal with a variation of about 2, which makes clusters, and lengths are log-normal;
//! an exponential distribution is rejected for either (field notes D5). Of each incident its severity
//! is drawn: degraded (a few errors, slower), partial (each deployment is down or not), or full.

mod known;

use router::{Instant, KeyedRng, Purpose};
use serde::{Deserialize, Serialize};

pub use self::known::{KnownIncidents, known_incidents};
use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    sampler::Sampler,
    schedule::{Keys, Rhythm, Row, Span},
};

/// Whose incidents, by their status page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Incidental {
    /// Anthropic's API.
    Anthropic,
    /// OpenAI's API.
    OpenAi,
}

fault_spec! {
    /// Incidents as a status page reports them. With `like` every other key has a value, and without
    /// it each must be given. Deployments of one `fleet` have the same incidents.
    pub struct Incidents: bounded failing {
        /// Whose incidents; keys that are given win.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub like: Option<Incidental>,
        /// Mean time from the end of one to the beginning of the next, in seconds, 0.001 or more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub gap_mean_s: Option<f64>,
        /// Coefficient of variation of those times, from 0 to 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub gap_cv: Option<f64>,
        /// Median length in seconds, above 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub duration_median_s: Option<f64>,
        /// Sigma of the logarithm of lengths, from 0 to 5.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub duration_sigma: Option<f64>,
        /// The share of incidents that degrade, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub degraded_share: Option<f64>,
        /// The share of incidents that are partial, from 0 to 1. The others are full outages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub partial_share: Option<f64>,
        /// While degraded, the share of attempts that fail, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub degraded_error_share: Option<f64>,
        /// While degraded, how many times as long an answer takes, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub degraded_slowdown: Option<f64>,
        /// The share of deployments that a partial incident takes down, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub partial_touches: Option<f64>,
    }
}

impl Incidents {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        let known = self.like.map(known::of);
        let value = |name, own: Option<f64>, of: fn(&KnownIncidents) -> f64| {
            let missing = || place.bad_keys(format_args!("no `{name}`"), "it, or `like`");
            own.or_else(|| known.map(of)).ok_or_else(missing)
        };
        let gap_mean_s = value("gap_mean_s", self.gap_mean_s, |k| k.gap_mean_s)?;
        let gap_cv = value("gap_cv", self.gap_cv, |k| k.gap_cv)?;
        let median_s = value("duration_median_s", self.duration_median_s, |k| {
            k.duration_median_s
        })?;
        let sigma = value("duration_sigma", self.duration_sigma, |k| k.duration_sigma)?;
        let degraded = value("degraded_share", self.degraded_share, |k| k.degraded_share)?;
        let partial = value("partial_share", self.partial_share, |k| k.partial_share)?;
        let error_share = value("degraded_error_share", self.degraded_error_share, |k| {
            k.degraded_error_share
        })?;
        let slowdown = value("degraded_slowdown", self.degraded_slowdown, |k| {
            k.degraded_slowdown
        })?;
        let touches = value("partial_touches", self.partial_touches, |k| {
            k.partial_touches
        })?;
        place.share("degraded_share", degraded)?;
        let fits = partial >= 0.0 && degraded + partial <= 1.0 + 1e-9;
        place.number(
            "partial_share",
            partial,
            fits,
            "what degraded_share leaves at most",
        )?;
        let fits = slowdown.is_finite() && slowdown >= 1.0;
        place.number(
            "degraded_slowdown",
            slowdown,
            fits,
            "a finite number of 1 or more",
        )?;
        let own = site.keys(SPANS);
        let keys = own.of_fleet().unwrap_or(own);
        let rhythm = Rhythm::Random {
            gap_s: Sampler::log_normal(
                place.period("gap_mean_s", gap_mean_s)?,
                place.variation("gap_cv", gap_cv)?,
            ),
            on_s: Sampler::LogNormal {
                mu: libm::log(place.positive("duration_median_s", median_s)?),
                sigma: place.sigma("duration_sigma", sigma)?,
            },
            keys,
            keep: 1.0,
        };
        Ok(Box::new(Troubled {
            row: Row::new(self.timing().bounds(place)?, rhythm),
            severity: Severity {
                degraded,
                partial,
                touches: place.share("partial_touches", touches)?,
                keys,
                deployment: site.origin.provider,
            },
            error_share: place.share("degraded_error_share", error_share)?,
            slowdown,
            denial: self.error().denial(place, 503)?,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Troubled {
    row: Row,
    severity: Severity,
    error_share: f64,
    slowdown: f64,
    denial: Denial,
    ordinal: u32,
}

/// What an incident does to one deployment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    Degrades,
    Nothing,
    TakesDown,
}

#[derive(Clone, Copy, Debug)]
struct Severity {
    degraded: f64,
    partial: f64,
    touches: f64,
    keys: Keys,
    deployment: u64,
}

impl Severity {
    /// What incident `number` does.
    fn effect(&self, number: u64) -> Effect {
        let kind = KeyedRng::new(self.keys.seed, KIND, number, self.keys.number).unit();
        if kind < self.degraded {
            return Effect::Degrades;
        }
        let place = self.keys.number ^ (self.deployment + 1).rotate_left(40);
        let luck = || KeyedRng::new(self.keys.seed, TOUCH, number, place).unit();
        if kind < self.degraded + self.partial && luck() >= self.touches {
            return Effect::Nothing;
        }
        Effect::TakesDown
    }
}

impl Fault for Troubled {
    fn kind(&self) -> &'static str {
        "incidents"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        if !self.row.is_on(at) {
            return Verdict::Pass;
        }
        match self.severity.effect(self.row.number()) {
            Effect::Nothing => Verdict::Pass,
            Effect::TakesDown => Verdict::Refuse(self.denial),
            Effect::Degrades => {
                let struck = luck.with_fault(self.ordinal).draws(ERROR).unit() < self.error_share;
                if struck {
                    Verdict::Fail(self.denial)
                } else {
                    Verdict::Slow(self.slowdown)
                }
            }
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        let strikes = |number| self.severity.effect(number) != Effect::Nothing;
        let spans = self.row.numbered_spans(until).into_iter();
        spans
            .filter_map(|(number, span)| strikes(number).then_some(span))
            .collect()
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.incidents.spans");
const KIND: Purpose = Purpose::named("mock-providers.incidents.kind");
const TOUCH: Purpose = Purpose::named("mock-providers.incidents.touch");
const ERROR: Purpose = Purpose::named("mock-providers.incidents.error");
