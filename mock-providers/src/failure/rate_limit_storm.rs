//! 429 whatever the quota says: the provider's shared capacity is short, or it has lowered the
//! limit without a word. The hint is whatever the scenario wants it to be, right or wrong.

use std::time::Duration;

use router::{Failure, Instant, Purpose, RetryAfter};
use serde::{Deserialize, Serialize};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    latency::span,
    luck::Luck,
    place::Place,
    reply::ProviderCall,
    schedule::{Schedule, Span},
    wire::{Cause, Manner},
};

fault_spec! {
    /// A share of attempts gets 429, at the door.
    pub struct RateLimitStorm: scheduled {
        /// The share of attempts, from 0 to 1. Default 1: all of them while it is on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
        /// What the answer says about when to come back. Default: nothing.
        #[serde(default)]
        pub hint: Hint,
        /// How long a refusal takes, in milliseconds. Default 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_ms: Option<f64>,
    }
}

/// What a 429 says about when to come back, whether it is true or not.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Hint {
    /// `retry-after` as an HTTP date so many seconds from the attempt, rounded up to a full second.
    /// Below 0 it is in the past, but not before the run began.
    DateInS(f64),
    /// `retry-after-ms` alone.
    Millis(u64),
    /// Nothing.
    #[default]
    None,
    /// `retry-after` in whole seconds; 0 and below may be sent too.
    Seconds(i64),
    /// Text that is neither a number nor a date.
    Unreadable,
}

impl Hint {
    pub(super) fn check(self, place: &Place) -> Result<(), SpecError> {
        if let Self::DateInS(seconds) = self {
            place.number("date_in_s", seconds, seconds.is_finite(), "a finite number")?;
        }
        Ok(())
    }

    pub(super) fn at(self, now: Instant) -> Option<RetryAfter> {
        match self {
            Self::DateInS(seconds) => {
                let away = router::nanos_from_secs(seconds.abs());
                let exact_ns = if seconds < 0.0 {
                    now.as_nanos().saturating_sub(away)
                } else {
                    now.as_nanos().saturating_add(away)
                };
                let second = exact_ns.div_ceil(SECOND_NS).saturating_mul(SECOND_NS);
                Some(RetryAfter::Date(Instant::from_nanos(second)))
            }
            Self::Millis(millis) => Some(RetryAfter::Millis(millis)),
            Self::None => None,
            Self::Seconds(seconds) => Some(RetryAfter::Seconds(seconds)),
            Self::Unreadable => Some(RetryAfter::Unreadable),
        }
    }
}

impl RateLimitStorm {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        self.hint.check(&place.key("hint"))?;
        Ok(Box::new(Storm {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            hint: self.hint,
            after: span(place.not_negative("after_ms", self.after_ms.unwrap_or_default())?),
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Storm {
    schedule: Schedule,
    share: f64,
    hint: Hint,
    after: Duration,
    ordinal: u32,
}

impl Fault for Storm {
    fn kind(&self) -> &'static str {
        "rate_limit_storm"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(REFUSAL).unit() < self.share;
        if !(struck && self.schedule.is_on(at)) {
            return Verdict::Pass;
        }
        let failure = Failure {
            retry_after: self.hint.at(at),
            ..Failure::with_status(429)
        };
        Verdict::Refuse(Denial {
            failure,
            after: self.after,
            manner: Manner::Limited(Cause::SharedCapacity),
        })
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SECOND_NS: u64 = 1_000_000_000;
const SPANS: Purpose = Purpose::named("mock-providers.rate_limit_storm.spans");
const REFUSAL: Purpose = Purpose::named("mock-providers.rate_limit_storm.refusal");
