//! Everything fails while the outage is on, at the door: the quota hears nothing of it.

use router::{Instant, Purpose};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// Every attempt fails while it is on. Default status 503.
    pub struct Outage: scheduled failing {}
}

impl Outage {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        Ok(Box::new(Down {
            schedule: self.timing().schedule(&site.place, site.keys(SPANS))?,
            denial: self.error().denial(&site.place, 503)?,
        }))
    }
}

#[derive(Debug)]
struct Down {
    schedule: Schedule,
    denial: Denial,
}

impl Fault for Down {
    fn kind(&self) -> &'static str {
        "outage"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, _luck: &Luck) -> Verdict {
        if self.schedule.is_on(at) {
            Verdict::Refuse(self.denial)
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.outage.spans");
