//! What errors say about when to come back, whether it is true or not. It stands in the place of what
//! they would have said, on the quota's own 429s and on every other error with a status.

use router::{Instant, Purpose};

use super::{Fault, Site, Verdict, keys::fault_spec, rate_limit_storm::Hint};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// Errors say this about when to come back. It makes no error itself, and holds for those of the
    /// quota and of the faults that stand after it.
    pub struct WrongHint: scheduled {
        /// What they say; `none` takes a hint away. Default `none`.
        #[serde(default)]
        pub hint: Hint,
        /// The share of attempts whose error says it, from 0 to 1. Default 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
    }
}

impl WrongHint {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        self.hint.check(&place.key("hint"))?;
        Ok(Box::new(Misleads {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            share: place.share("share", self.share.unwrap_or(1.0))?,
            hint: self.hint,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Misleads {
    schedule: Schedule,
    share: f64,
    hint: Hint,
    ordinal: u32,
}

impl Fault for Misleads {
    fn kind(&self) -> &'static str {
        "wrong_hint"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        let struck = luck.with_fault(self.ordinal).draws(LIE).unit() < self.share;
        if struck && self.schedule.is_on(at) {
            Verdict::Hint(self.hint.at(at))
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.wrong_hint.spans");
const LIE: Purpose = Purpose::named("mock-providers.wrong_hint.lie");
