//! The model is removed at a moment: from then on every attempt fails with 404, at the door.

use router::{Instant, Purpose};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// Every attempt fails from `from_s` on, until the model is back at `to_s`. Default status 404.
    pub struct ModelGone: scheduled failing {
        /// The share of attempts that meet it, from 0 to 1. Default 1: all of them while it is on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
    }
}

impl ModelGone {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        Ok(Box::new(Gone {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            denial: self.error().denial(place, 404)?,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Gone {
    schedule: Schedule,
    share: f64,
    denial: Denial,
    ordinal: u32,
}

impl Fault for Gone {
    fn kind(&self) -> &'static str {
        "model_gone"
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

const SPANS: Purpose = Purpose::named("mock-providers.model_gone.spans");
const REFUSAL: Purpose = Purpose::named("mock-providers.model_gone.refusal");
