//! Exchanges that break before the first token: no connection, or a 200 that is no answer.
//!
//! What the router gets is what LiteLLM's client made of each, asked of both versions over HTTP: a
//! connection that fails is an `InternalServerError` of status 500; an error object with status 200
//! is an `APIError` without a status, and inside a stream a connection error without one; an empty
//! body, or a page in place of JSON, is an `InternalServerError`, and for a stream an empty answer.

use std::time::Duration;

use router::{ErrorClass, Failure, Instant, Purpose, Reached};
use serde::{Deserialize, Serialize};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    latency::span,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
    wire::{Break, Manner},
};

/// How an exchange breaks before its first token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BrokenHow {
    /// Status 200 with an empty body.
    Empty,
    /// Status 200 with an error object in the place of the answer.
    ErrorObject,
    /// Status 200 with JSON that ends in the middle.
    Malformed,
    /// An answer as it should be, but for the end marker of its stream, `[DONE]`.
    NoDone,
    /// Status 200 with a page of a gateway in the place of JSON.
    NotJson,
    /// The connection is refused.
    Refused,
    /// The connection is taken, and reset before there is an answer.
    #[default]
    Reset,
    /// The certificate is not to be trusted.
    Tls,
}

fault_spec! {
    /// A share of exchanges breaks before the first token.
    pub struct Broken: scheduled {
        /// How it breaks.
        pub how: BrokenHow,
        /// The share of attempts, from 0 to 1. Default 1: all of them while it is on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
        /// What the error object says; only with `error_object`. Default: nothing that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(
            feature = "schema",
            schemars(schema_with = "crate::failure::error_class_schema")
        )]
        pub class: Option<ErrorClass>,
        /// How long it takes to break, in milliseconds. Default 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_ms: Option<f64>,
    }
}

impl Broken {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        if self.class.is_some() && self.how != BrokenHow::ErrorObject {
            return Err(place.bad_keys("`class`", "it beside `how: error_object`"));
        }
        Ok(Box::new(Breaks {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            how: self.how,
            class: self.class,
            after: span(place.not_negative("after_ms", self.after_ms.unwrap_or_default())?),
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Breaks {
    schedule: Schedule,
    share: f64,
    how: BrokenHow,
    class: Option<ErrorClass>,
    after: Duration,
    ordinal: u32,
}

impl Breaks {
    fn verdict(&self, stream: bool) -> Verdict {
        let denial = |failure, how| Denial {
            failure,
            after: self.after,
            manner: Manner::Broken(how),
        };
        let server = Failure::of(ErrorClass::InternalServer);
        let failing = |how| Verdict::Fail(denial(server, how));
        match self.how {
            BrokenHow::Refused => Verdict::Refuse(denial(server, Break::Refused)),
            BrokenHow::Tls => Verdict::Refuse(denial(server, Break::Tls)),
            BrokenHow::Reset => failing(Break::Reset),
            BrokenHow::NoDone => Verdict::As(Manner::Broken(Break::NoDone)),
            BrokenHow::Empty if stream => Verdict::SayNothing(self.after, Break::Empty),
            BrokenHow::NotJson if stream => Verdict::SayNothing(self.after, Break::NotJson),
            BrokenHow::Empty => failing(Break::Empty),
            BrokenHow::NotJson => failing(Break::NotJson),
            BrokenHow::Malformed if stream => {
                let failure = unreadable_frame().after(Reached::Headers);
                Verdict::Fail(denial(failure, Break::Malformed))
            }
            BrokenHow::Malformed => failing(Break::Malformed),
            BrokenHow::ErrorObject => {
                let failure = error_object(self.class, stream);
                let failure = if stream {
                    failure.after(Reached::Headers)
                } else {
                    failure
                };
                Verdict::Fail(denial(failure, Break::ErrorObject))
            }
        }
    }
}

/// A frame of a stream that cannot be read.
pub(super) const fn unreadable_frame() -> Failure {
    Failure {
        status: None,
        ..Failure::of(ErrorClass::ApiConnection)
    }
}

/// An error object where an answer should stand, or a frame of a stream. Inside a stream only the
/// words of a rate limit or of a prompt that is too long are known.
pub(super) const fn error_object(class: Option<ErrorClass>, stream: bool) -> Failure {
    match (class, stream) {
        (Some(class), false) => Failure::of(class),
        (None, false) => Failure {
            status: None,
            ..Failure::of(ErrorClass::Api)
        },
        (Some(class @ (ErrorClass::RateLimit | ErrorClass::ContextWindowExceeded)), true) => {
            Failure {
                status: None,
                ..Failure::of(class)
            }
        }
        (Some(_) | None, true) => unreadable_frame(),
    }
}

impl Fault for Breaks {
    fn kind(&self) -> &'static str {
        "broken"
    }

    fn on_call(&mut self, at: Instant, call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(BREAK).unit() < self.share;
        if struck && self.schedule.is_on(at) {
            self.verdict(call.stream)
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.broken.spans");
const BREAK: Purpose = Purpose::named("mock-providers.broken.break");
