//! How a provider fails. A [`FailureMode`] is what is written; a `Fault` is that at work, and
//! gives each attempt a `Verdict`.
//!
//! To add a failure mode: a file here with its spec, its `build` and its fault; a variant and an arm
//! in this file. Its key in scenario files and its JSON schema follow from the variant.

mod broken;
mod brownout;
mod bursty;
mod content;
mod denied;
mod error_rate;
mod flapping;
mod hang;
mod incidents;
pub(crate) mod keys;
mod mid_stream;
mod outage;
mod rate_limit_storm;
mod scripted;
mod shared_capacity;
mod slow_drip;
mod stall;
mod wrong_hint;

use std::{fmt, time::Duration};

use router::{Cause, ErrorClass, Failure, Instant, Purpose, RetryAfter};
use serde::{Deserialize, Serialize};

pub use self::{
    broken::{Broken, BrokenHow},
    brownout::Brownout,
    bursty::Bursty,
    content::Content,
    denied::{BadKey, ModelGone},
    error_rate::ErrorRate,
    flapping::Flapping,
    hang::Hang,
    incidents::{Incidental, Incidents, KnownIncidents, known_incidents},
    mid_stream::{MidStream, MidStreamHow},
    outage::Outage,
    rate_limit_storm::{Hint, RateLimitStorm},
    scripted::Scripted,
    shared_capacity::SharedCapacity,
    slow_drip::SlowDrip,
    stall::Stall,
    wrong_hint::WrongHint,
};
use crate::{
    error::SpecError,
    latency::span,
    luck::Luck,
    place::Place,
    reply::{ProviderCall, Reply},
    schedule::{Keys, Origin, Span},
    wire::{Break, Manner},
};

/// A way to fail, as written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FailureMode {
    /// The key is no longer accepted.
    BadKey(BadKey),
    /// Some exchanges break: no connection, or a 200 that is no answer.
    Broken(Broken),
    /// It is slow, and may fail some attempts.
    Brownout(Brownout),
    /// Errors come in bursts.
    Bursty(Bursty),
    /// It refuses some contents, and prompts that are too long.
    Content(Content),
    /// Some attempts fail, independently of each other.
    ErrorRate(ErrorRate),
    /// It goes down and up with a fixed period.
    Flapping(Flapping),
    /// Some attempts are never answered.
    Hang(Hang),
    /// Incidents as a status page reports them.
    Incidents(Incidents),
    /// Some answers break off.
    MidStream(MidStream),
    /// The model is no longer there.
    ModelGone(ModelGone),
    /// Everything fails.
    Outage(Outage),
    /// It answers 429 whatever the quota says.
    RateLimitStorm(RateLimitStorm),
    /// Faults one by one.
    Scripted(Scripted),
    /// Capacity that it shares among all customers runs short.
    SharedCapacity(SharedCapacity),
    /// Some answers come drop by drop.
    SlowDrip(SlowDrip),
    /// Some streams fall silent.
    Stall(Stall),
    /// Errors say something wrong about when to come back.
    WrongHint(WrongHint),
}

impl FailureMode {
    /// The key of this way to fail in a spec.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::BadKey(_) => "bad_key",
            Self::Broken(_) => "broken",
            Self::Brownout(_) => "brownout",
            Self::Bursty(_) => "bursty",
            Self::Content(_) => "content",
            Self::ErrorRate(_) => "error_rate",
            Self::Flapping(_) => "flapping",
            Self::Hang(_) => "hang",
            Self::Incidents(_) => "incidents",
            Self::MidStream(_) => "mid_stream",
            Self::ModelGone(_) => "model_gone",
            Self::Outage(_) => "outage",
            Self::RateLimitStorm(_) => "rate_limit_storm",
            Self::Scripted(_) => "scripted",
            Self::SharedCapacity(_) => "shared_capacity",
            Self::SlowDrip(_) => "slow_drip",
            Self::Stall(_) => "stall",
            Self::WrongHint(_) => "wrong_hint",
        }
    }

    pub(crate) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        match self {
            Self::BadKey(spec) => spec.build(site),
            Self::Broken(spec) => spec.build(site),
            Self::Brownout(spec) => spec.build(site),
            Self::Bursty(spec) => spec.build(site),
            Self::Content(spec) => spec.build(site),
            Self::ErrorRate(spec) => spec.build(site),
            Self::Flapping(spec) => spec.build(site),
            Self::Hang(spec) => spec.build(site),
            Self::Incidents(spec) => spec.build(site),
            Self::MidStream(spec) => spec.build(site),
            Self::ModelGone(spec) => spec.build(site),
            Self::Outage(spec) => spec.build(site),
            Self::RateLimitStorm(spec) => spec.build(site),
            Self::Scripted(spec) => spec.build(site),
            Self::SharedCapacity(spec) => spec.build(site),
            Self::SlowDrip(spec) => spec.build(site),
            Self::Stall(spec) => spec.build(site),
            Self::WrongHint(spec) => spec.build(site),
        }
    }
}

/// A failure mode at work.
pub(crate) trait Fault: fmt::Debug + Send {
    /// Its key in the spec.
    fn kind(&self) -> &'static str;
    /// What it does to this attempt. Calls come in the order of `at`.
    fn on_call(&mut self, at: Instant, call: &ProviderCall, luck: &Luck) -> Verdict;
    /// When it is on, before `until`.
    fn spans(&self, until: Instant) -> Vec<Span>;
}

/// What a fault does to an attempt.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Verdict {
    /// Nothing.
    Pass,
    /// Its error says this about when to come back.
    Hint(Option<RetryAfter>),
    /// Each token takes this many milliseconds at least.
    Drip(f64),
    /// The answer takes this many times as long.
    Slow(f64),
    /// It is answered as it should be, in this manner.
    As(Manner),
    /// It is turned away at the door: the quota never hears of it.
    Refuse(Denial),
    /// It fails inside: the quota counts it.
    Fail(Denial),
    /// It is never answered.
    Hang,
    /// It gets an answer without a word after this time.
    SayNothing(Duration, Break),
    /// Its answer breaks off.
    CutShort {
        /// With which error.
        failure: Failure,
        /// After how many tokens of the answer.
        after_tokens: u32,
        /// In which way; with [`Break::Silence`] it never ends.
        how: Break,
    },
    /// Its stream falls silent, and ends after that.
    Stall {
        /// After how many tokens of the answer.
        after_tokens: u32,
        /// How long it stays silent.
        lasts: Duration,
        /// How often a keep-alive frame comes meanwhile, if any does.
        keep_alive: Option<Duration>,
    },
}

impl Verdict {
    /// How many tokens of the answer such an attempt gets, where nothing turned it away.
    pub(crate) fn delivered(&self, call: &ProviderCall) -> u32 {
        match *self {
            Self::Fail(_) | Self::Hang | Self::Refuse(_) | Self::SayNothing(..) => 0,
            Self::CutShort { after_tokens, .. } | Self::Stall { after_tokens, .. } => after_tokens,
            Self::As(_) | Self::Drip(_) | Self::Hint(_) | Self::Pass | Self::Slow(_) => {
                call.answer_tokens()
            }
        }
    }
}

/// An error and the time it takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Denial {
    pub(crate) failure: Failure,
    pub(crate) after: Duration,
    pub(crate) manner: Manner,
}

impl Denial {
    /// An error with a status.
    pub(crate) const fn error(failure: Failure, after: Duration) -> Self {
        Self {
            failure,
            after,
            manner: Manner::Error,
        }
    }

    pub(crate) const fn reply(self) -> Reply {
        Reply::failure(self.failure, self.after).in_manner(self.manner)
    }
}

/// The error keys of a fault, as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorKeys {
    pub(crate) status: Option<u16>,
    pub(crate) class: Option<ErrorClass>,
    pub(crate) cause: Option<Cause>,
    pub(crate) after_ms: Option<f64>,
}

impl ErrorKeys {
    /// The error, by default that of `status`.
    pub(crate) fn denial(self, place: &Place, status: u16) -> Result<Denial, SpecError> {
        let failure = match (self.status, self.class) {
            (Some(_), Some(_)) => {
                return Err(place.bad_keys("both `status` and `class`", "one of the two at most"));
            }
            (None, Some(class)) => Failure::of(class),
            (given, None) => {
                let status = given.unwrap_or(status);
                let fits = (400..=599).contains(&status);
                place.number(
                    "status",
                    f64::from(status),
                    fits,
                    "a status from 400 to 599",
                )?;
                Failure::with_status(status)
            }
        };
        let after = span(place.not_negative("after_ms", self.after_ms.unwrap_or_default())?);
        let failure = failure.because(self.cause.unwrap_or_default());
        Ok(Denial::error(failure, after))
    }
}

/// Where a fault stands: in which spec, at which provider, and which of its kind it is.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Its place in the spec, for errors.
    pub(crate) place: Place,
    /// How many faults of its kind come before it.
    pub(crate) ordinal: u32,
    pub(crate) origin: Origin,
}

impl Site {
    /// The faults of a list with the site of each.
    pub(crate) fn each<'a>(
        modes: &'a [FailureMode],
        origin: Origin,
        place: &'a Place,
    ) -> impl Iterator<Item = (&'a FailureMode, Self)> {
        modes.iter().enumerate().map(move |(index, mode)| {
            let before = modes[..index]
                .iter()
                .filter(|other| other.kind() == mode.kind());
            let ordinal = before.map(|_| 1).sum();
            let place = place.item(index).key(mode.kind());
            (
                mode,
                Self {
                    place,
                    ordinal,
                    origin,
                },
            )
        })
    }

    /// What the random spans of its schedule are keyed by.
    pub(crate) const fn keys(&self, purpose: Purpose) -> Keys {
        self.origin.keys(purpose, self.ordinal)
    }
}

/// The names of error classes, for the JSON schema of a spec.
#[cfg(feature = "schema")]
pub(crate) fn error_class_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["string", "null"],
        "enum": [
            "api_connection", "api", "authentication", "bad_gateway", "bad_request",
            "content_policy_violation", "context_window_exceeded", "internal_server", "not_found",
            "rate_limit", "service_unavailable", "timeout", null
        ],
    })
}

/// The names of causes, for the JSON schema of a spec.
#[cfg(feature = "schema")]
pub(crate) fn cause_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["string", "null"],
        "enum": [
            "unsaid", "backpressure", "callers_limit", "credit_exhausted", "object_not_found",
            "request", null
        ],
    })
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_every_error_class_and_no_other() {
        let mut generator = schemars::SchemaGenerator::default();
        let schema = error_class_schema(&mut generator).to_value();

        let mut known: Vec<_> = ErrorClass::ALL
            .iter()
            .map(|class| serde_json::to_value(class).unwrap())
            .collect();
        known.push(serde_json::Value::Null);
        assert_eq!(schema["enum"], serde_json::Value::Array(known));
    }

    #[test]
    fn the_schema_knows_every_cause_and_no_other() {
        let mut generator = schemars::SchemaGenerator::default();
        let schema = cause_schema(&mut generator).to_value();

        let known = Cause::ALL
            .iter()
            .map(|cause| serde_json::to_value(cause).unwrap());
        let known = known.chain([serde_json::Value::Null]).collect();
        assert_eq!(schema["enum"], serde_json::Value::Array(known));
    }
}
