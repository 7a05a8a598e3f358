//! Answers that come drop by drop: each token long after the one before, but never so long that a
//! limit on silence ends them.

use router::{Instant, Purpose};

use super::{Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// A share of answers drips.
    pub struct SlowDrip: scheduled {
        /// The least time from one token to the next, in milliseconds, above 0.
        pub per_token_ms: f64,
        /// The share of attempts, from 0 to 1. Default 1: all of them while it is on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
    }
}

impl SlowDrip {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        Ok(Box::new(Drips {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            per_token_ms: place.positive("per_token_ms", self.per_token_ms)?,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Drips {
    schedule: Schedule,
    share: f64,
    per_token_ms: f64,
    ordinal: u32,
}

impl Fault for Drips {
    fn kind(&self) -> &'static str {
        "slow_drip"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(DRIP).unit() < self.share;
        if struck && self.schedule.is_on(at) {
            Verdict::Drip(self.per_token_ms)
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.slow_drip.spans");
const DRIP: Purpose = Purpose::named("mock-providers.slow_drip.drip");
