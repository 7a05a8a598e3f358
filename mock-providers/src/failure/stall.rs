//! Streams that fall silent after some tokens and end, much later, as if all were well.
//!
//! The connection may be kept alive all the while: a limit on its silence then never fires, and one
//! on the content does.

use router::{Instant, Purpose};

use super::{Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    latency::span,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// A share of streamed answers falls silent.
    pub struct Stall: scheduled {
        /// The share of streamed attempts, from 0 to 1. Default 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
        /// After so many tokens. Default 0: nothing comes but the headers. An
        /// answer of no more tokens is left whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_tokens: Option<u32>,
        /// For so many seconds, at least 0; then the answer ends without its other tokens.
        pub for_s: f64,
        /// A keep-alive frame comes every so many seconds, above 0. Default: none comes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub keep_alive_s: Option<f64>,
    }
}

impl Stall {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        Ok(Box::new(FallsSilent {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            ordinal: site.ordinal,
            verdict: Verdict::Stall {
                after_tokens: self.after_tokens.unwrap_or_default(),
                lasts: span(place.not_negative("for_s", self.for_s)? * 1e3),
                keep_alive: match self.keep_alive_s {
                    Some(every) => Some(span(place.positive("keep_alive_s", every)? * 1e3)),
                    None => None,
                },
            },
        }))
    }
}

#[derive(Debug)]
struct FallsSilent {
    schedule: Schedule,
    share: f64,
    ordinal: u32,
    verdict: Verdict,
}

impl Fault for FallsSilent {
    fn kind(&self) -> &'static str {
        "stall"
    }

    fn on_call(&mut self, at: Instant, call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(SILENCE).unit() < self.share;
        let breaks_in = |verdict| matches!(verdict, Verdict::Stall { after_tokens, .. } if after_tokens < call.answer_tokens());
        if struck && call.stream && breaks_in(self.verdict) && self.schedule.is_on(at) {
            self.verdict
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.stall.spans");
const SILENCE: Purpose = Purpose::named("mock-providers.stall.silence");
