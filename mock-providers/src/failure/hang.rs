//! Attempts that are taken and never answered: only the client's own time limit ends them.

use router::{Instant, Purpose};

use super::{Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// A share of attempts is never answered.
    pub struct Hang: scheduled {
        /// The share of attempts, from 0 to 1. Default 1: all of them while it is on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
    }
}

impl Hang {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        Ok(Box::new(Silent {
            schedule: self.timing().schedule(&site.place, site.keys(SPANS))?,
            share: site.place.share("share", self.share.unwrap_or(1.0))?,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Silent {
    schedule: Schedule,
    share: f64,
    ordinal: u32,
}

impl Fault for Silent {
    fn kind(&self) -> &'static str {
        "hang"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(SILENCE).unit() < self.share;
        if struck && self.schedule.is_on(at) {
            Verdict::Hang
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.hang.spans");
const SILENCE: Purpose = Purpose::named("mock-providers.hang.silence");
