//! The provider is overloaded: answers take longer, and some attempts fail.

use router::{Instant, Purpose};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// Answers are slower while it is on, and a share of attempts fails. Default status 503.
    pub struct Brownout: scheduled failing {
        /// How many times as long an answer takes, from 1.
        pub slowdown: f64,
        /// The share of attempts that fail, from 0 to 1. Default 0.
        #[serde(default)]
        pub error_share: f64,
    }
}

impl Brownout {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let fits = self.slowdown.is_finite() && self.slowdown >= 1.0;
        let accepted = "a finite number of 1 or more";
        site.place
            .number("slowdown", self.slowdown, fits, accepted)?;
        Ok(Box::new(Overloaded {
            schedule: self.timing().schedule(&site.place, site.keys(SPANS))?,
            slowdown: self.slowdown,
            error_share: site.place.share("error_share", self.error_share)?,
            denial: self.error().denial(&site.place, 503)?,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Overloaded {
    schedule: Schedule,
    slowdown: f64,
    error_share: f64,
    denial: Denial,
    ordinal: u32,
}

impl Fault for Overloaded {
    fn kind(&self) -> &'static str {
        "brownout"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        if !self.schedule.is_on(at) {
            Verdict::Pass
        } else if luck.with_fault(self.ordinal).draws(ERROR).unit() < self.error_share {
            Verdict::Fail(self.denial)
        } else {
            Verdict::Slow(self.slowdown)
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.brownout.spans");
const ERROR: Purpose = Purpose::named("mock-providers.brownout.error");
