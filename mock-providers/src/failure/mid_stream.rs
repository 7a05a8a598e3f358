//! Answers that break off, after a number of tokens or a share of the answer. A caller who streams
//! has those tokens by then; one who does not has nothing.

use router::{ErrorClass, Failure, Instant, Purpose};
use serde::{Deserialize, Serialize};

use super::{Fault, Site, Verdict, broken::unreadable_frame, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
    wire::Break,
};

/// How an answer breaks off. What the router gets of each is what LiteLLM's client made of it, asked
/// of both versions over HTTP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MidStreamHow {
    /// The connection ends: in 1.92 a short answer, in 1.110 a connection error.
    Cut,
    /// An error object in the place of the next frame.
    #[default]
    ErrorEvent,
    /// A frame that is no JSON.
    Malformed,
    /// The stream ends without its last frame, the one with the reason: treated as `cut`. It may do so
    /// after its last token.
    NoEnd,
    /// Nothing more: only the client's own limits end it. It may do so after its last token.
    Silence,
}

fault_spec! {
    /// A share of answers breaks off. Exactly one of `after_tokens` and `after_share` is given.
    pub struct MidStream: scheduled {
        /// The share of attempts whose answer breaks off, from 0 to 1. Default 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
        /// How it breaks off. Default `error_event`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub how: Option<MidStreamHow>,
        /// After so many tokens. An answer of no more tokens is left whole, but for `no_end` and
        /// `silence`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_tokens: Option<u32>,
        /// After this share of the answer's tokens, from 0 to below 1, rounded down; 1 with `no_end`
        /// and `silence`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_share: Option<f64>,
        /// Class of the error; only with `error_event`. Default `internal_server`.
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
        let how = self.how.unwrap_or_default();
        if self.class.is_some() && how != MidStreamHow::ErrorEvent {
            return Err(place.bad_keys("`class`", "it beside `how: error_event`"));
        }
        let length = match (self.after_tokens, self.after_share) {
            (Some(tokens), None) => Length::Tokens(tokens),
            (None, Some(share)) => {
                let whole = how.may_come_last() && share >= 1.0;
                let fits = (0.0..1.0).contains(&share) || (whole && share <= 1.0);
                let accepted = "a share from 0 to below 1";
                Length::Share(place.number("after_share", share, fits, accepted)?)
            }
            (None, None) => return Err(place.bad_keys("neither", LENGTH_KEYS)),
            (Some(_), Some(_)) => return Err(place.bad_keys("both", LENGTH_KEYS)),
        };
        Ok(Box::new(BreaksOff {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            length,
            how,
            class: self.class.unwrap_or(ErrorClass::InternalServer),
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct BreaksOff {
    schedule: Schedule,
    share: f64,
    length: Length,
    how: MidStreamHow,
    class: ErrorClass,
    ordinal: u32,
}

impl MidStreamHow {
    /// Whether it may happen when all tokens have come.
    const fn may_come_last(self) -> bool {
        matches!(self, Self::NoEnd | Self::Silence)
    }
}

impl BreaksOff {
    /// What a caller gets; `None`: nothing is amiss for one who does not stream.
    fn failure(&self, stream: bool) -> Option<(Failure, Break)> {
        let server = Failure::of(ErrorClass::InternalServer);
        Some(match (self.how, stream) {
            (MidStreamHow::Cut, true) => (Failure::of(ErrorClass::ApiConnection), Break::Cut),
            (MidStreamHow::Cut, false) => (server, Break::Cut),
            (MidStreamHow::ErrorEvent, _) => (Failure::of(self.class), Break::ErrorObject),
            (MidStreamHow::Malformed, true) => (unreadable_frame(), Break::Malformed),
            (MidStreamHow::Malformed, false) => (server, Break::Malformed),
            (MidStreamHow::NoEnd, true) => (Failure::of(ErrorClass::ApiConnection), Break::NoEnd),
            (MidStreamHow::NoEnd, false) => return None,
            (MidStreamHow::Silence, _) => (Failure::of(ErrorClass::Timeout), Break::Silence),
        })
    }
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
        let after_tokens = self.length.of(answer).min(answer);
        let in_time = after_tokens < answer || self.how.may_come_last();
        match self.failure(call.stream) {
            Some((failure, how)) if struck && in_time && self.schedule.is_on(at) => {
                Verdict::CutShort {
                    failure,
                    after_tokens,
                    how,
                }
            }
            Some(_) | None => Verdict::Pass,
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const LENGTH_KEYS: &str = "either after_tokens or after_share";
const SPANS: Purpose = Purpose::named("mock-providers.mid_stream.spans");
const BREAK: Purpose = Purpose::named("mock-providers.mid_stream.break");
