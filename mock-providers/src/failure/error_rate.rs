//! A share of attempts fails, each by its own luck. For several kinds of errors, list several.

use router::{Instant, Purpose};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// A share of attempts fails, independently of each other. Default status 500.
    pub struct ErrorRate: scheduled failing {
        /// The share of attempts that fail, from 0 to 1.
        pub share: f64,
    }
}

impl ErrorRate {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        Ok(Box::new(Coin {
            schedule: self.timing().schedule(&site.place, site.keys(SPANS))?,
            share: site.place.share("share", self.share)?,
            denial: self.error().denial(&site.place, 500)?,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Coin {
    schedule: Schedule,
    share: f64,
    denial: Denial,
    ordinal: u32,
}

impl Fault for Coin {
    fn kind(&self) -> &'static str {
        "error_rate"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(ERROR).unit() < self.share;
        if struck && self.schedule.is_on(at) {
            Verdict::Fail(self.denial)
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.error_rate.spans");
const ERROR: Purpose = Purpose::named("mock-providers.error_rate.error");
