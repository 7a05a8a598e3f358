//! Up and down with a fixed period, as behind a health check that keeps changing its mind. Down is
//! like an outage: attempts fail at the door.

use router::{Instant, nanos_from_secs};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Rhythm, Schedule, Span},
};

fault_spec! {
    /// Each period is up first and down for its rest. Default status 503.
    pub struct Flapping: bounded failing {
        /// Seconds from one coming up to the next, 0.001 or more, counted from `from_s`.
        pub period_s: f64,
        /// The share of each period that it is up, from 0 to below 1.
        pub up_share: f64,
    }
}

impl Flapping {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        let period_ns = nanos_from_secs(place.period("period_s", self.period_s)?);
        let fits = (0.0..1.0).contains(&self.up_share);
        place.number("up_share", self.up_share, fits, "a share from 0 to below 1")?;
        let up_ns = nanos_from_secs(self.period_s * self.up_share);
        let rhythm = Rhythm::every(period_ns, period_ns.saturating_sub(up_ns), up_ns);
        Ok(Box::new(UpAndDown {
            down: Schedule::new(self.timing().bounds(place)?, rhythm),
            denial: self.error().denial(place, 503)?,
        }))
    }
}

#[derive(Debug)]
struct UpAndDown {
    down: Schedule,
    denial: Denial,
}

impl Fault for UpAndDown {
    fn kind(&self) -> &'static str {
        "flapping"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, _luck: &Luck) -> Verdict {
        if self.down.is_on(at) {
            Verdict::Refuse(self.denial)
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.down.spans(until)
    }
}
