//! The key is revoked at a moment: from then on every attempt fails with 401, at the door.

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

impl BadKey {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        Ok(Box::new(Revoked {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            denial: self.error().denial(place, 401)?,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Revoked {
    schedule: Schedule,
    share: f64,
    denial: Denial,
    ordinal: u32,
}

impl Fault for Revoked {
    fn kind(&self) -> &'static str {
        "bad_key"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(REFUSAL).unit() < self.share;
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

const SPANS: Purpose = Purpose::named("mock-providers.bad_key.spans");
const REFUSAL: Purpose = Purpose::named("mock-providers.bad_key.refusal");
