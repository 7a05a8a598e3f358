//! Answers that break off, after a number of tokens or a share of the answer. A caller who streams
//! has those tokens by then; one who does not has nothing.

use router::{ErrorClass, Failure, Instant, Purpose};

use super::{Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// A share of answers breaks off. Exactly one of `after_tokens` and `after_share` is given.
    pub struct MidStream: scheduled {
        /// The share of attempts whose answer breaks off, from 0 to 1. Default 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
        /// After so many tokens. An answer of no more tokens is left whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_tokens: Option<u32>,
        /// After this share of the answer's tokens, from 0 to below 1, rounded down.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_share: Option<f64>,
        /// Class of the error. Default `internal_server`, as for a connection that is reset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(
            feature = "schema",
            schemars(schema_with = "crate::failure::error_class_schema")
        )]
        pub class: Option<ErrorClass>,
    }
}

impl MidStream {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        let length = match (self.after_tokens, self.after_share) {
            (Some(tokens), None) => Length::Tokens(tokens),
            (None, Some(share)) => {
                let fits = (0.0..1.0).contains(&share);
                Length::Share(place.number(
                    "after_share",
                    share,
                    fits,
                    "a share from 0 to below 1",
                )?)
            }
            (None, None) => return Err(place.bad_keys("neither", LENGTH_KEYS)),
            (Some(_), Some(_)) => return Err(place.bad_keys("both", LENGTH_KEYS)),
        };
        Ok(Box::new(BreaksOff {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            length,
            failure: Failure::of(self.class.unwrap_or(ErrorClass::InternalServer)),
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct BreaksOff {
    schedule: Schedule,
    share: f64,
    length: Length,
    failure: Failure,
    ordinal: u32,
}

#[derive(Debug)]
enum Length {
    Tokens(u32),
    Share(f64),
}

impl Length {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share below 1 of a u32 is a u32, and rounding down is what is documented"
    )]
    fn of(&self, answer: u32) -> u32 {
        match self {
            Self::Tokens(tokens) => *tokens,
            Self::Share(share) => (f64::from(answer) * share) as u32,
        }
    }
}

impl Fault for BreaksOff {
    fn kind(&self) -> &'static str {
        "mid_stream"
    }

    fn on_call(&mut self, at: Instant, call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(BREAK).unit() < self.share;
        let answer = call.answer_tokens();
        let after_tokens = self.length.of(answer);
        if struck && after_tokens < answer && self.schedule.is_on(at) {
            Verdict::CutShort {
                failure: self.failure,
                after_tokens,
            }
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const LENGTH_KEYS: &str = "either after_tokens or after_share";
const SPANS: Purpose = Purpose::named("mock-providers.mid_stream.spans");
const BREAK: Purpose = Purpose::named("mock-providers.mid_stream.break");
