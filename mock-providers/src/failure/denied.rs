//! From a moment on every attempt is denied at the door: the key is revoked (401), or the model is
//! removed (404).

use router::{Instant, Purpose};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// Every attempt fails from `from_s` on, until the key is renewed at `to_s`. Default status 401.
    pub struct BadKey: scheduled failing {
        /// The share of attempts that meet it, from 0 to 1. Default 1: all of them while it is on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
    }
}

fault_spec! {
    /// Every attempt fails from `from_s` on, until the model is back at `to_s`. Default status 404.
    pub struct ModelGone: scheduled failing {
        /// The share of attempts that meet it, from 0 to 1. Default 1: all of them while it is on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
    }
}

impl BadKey {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        Ok(Box::new(Denied {
            kind: "bad_key",
            schedule: self.timing().schedule(place, site.keys(KEY_SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            denial: self.error().denial(place, 401)?,
            draw: KEY_REFUSAL,
            ordinal: site.ordinal,
        }))
    }
}

impl ModelGone {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        Ok(Box::new(Denied {
            kind: "model_gone",
            schedule: self.timing().schedule(place, site.keys(MODEL_SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            denial: self.error().denial(place, 404)?,
            draw: MODEL_REFUSAL,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Denied {
    kind: &'static str,
    schedule: Schedule,
    share: f64,
    denial: Denial,
    /// What the draw of an attempt is for.
    draw: Purpose,
    ordinal: u32,
}

impl Fault for Denied {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(self.draw).unit() < self.share;
        if struck && self.schedule.is_on(at) {
            Verdict::Refuse(self.denial)
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const KEY_SPANS: Purpose = Purpose::named("mock-providers.bad_key.spans");
const KEY_REFUSAL: Purpose = Purpose::named("mock-providers.bad_key.refusal");
const MODEL_SPANS: Purpose = Purpose::named("mock-providers.model_gone.spans");
const MODEL_REFUSAL: Purpose = Purpose::named("mock-providers.model_gone.refusal");
