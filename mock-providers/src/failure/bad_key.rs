//! The key is revoked at a moment: from then on every attempt fails with 401, at the door.

use router::Instant;

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Rhythm, Schedule, Span},
};

fault_spec! {
    /// Every attempt fails from `from_s` on, until the key is renewed at `to_s`. Default status 401.
    pub struct BadKey: bounded failing {}
}

impl BadKey {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let bounds = self.timing().bounds(&site.place)?;
        Ok(Box::new(Revoked {
            schedule: Schedule::new(bounds, Rhythm::Steady),
            denial: self.error().denial(&site.place, 401)?,
        }))
    }
}

#[derive(Debug)]
struct Revoked {
    schedule: Schedule,
    denial: Denial,
}

impl Fault for Revoked {
    fn kind(&self) -> &'static str {
        "bad_key"
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
