//! Times in which a provider lets less through than its limits say, as Azure does when demand nears
//! what the shared pool can carry: the effective limit goes down for minutes or hours, and only the
//! limit header shows it (learn.microsoft.com, Azure OpenAI quota, 2026, field notes D1).

use router::{Instant, Purpose};

use crate::{
    error::SpecError,
    failure::keys::fault_spec,
    place::Place,
    schedule::{Origin, Schedule},
};

fault_spec! {
    /// While it is on, every limit by the minute is this share of what it says.
    pub struct Lowered: scheduled {
        /// The share that is left, above 0 up to 1.
        pub to_share: f64,
    }
}

/// Lowered limits at work.
#[derive(Clone, Debug)]
pub(super) struct Lowering {
    schedule: Schedule,
    to_share: f64,
    on: bool,
}

impl Lowering {
    pub(super) fn new(spec: &Lowered, origin: Origin, place: &Place) -> Result<Self, SpecError> {
        let fits = spec.to_share > 0.0 && spec.to_share <= 1.0;
        place.number("to_share", spec.to_share, fits, "a share above 0 up to 1")?;
        Ok(Self {
            schedule: spec.timing().schedule(place, origin.keys(SPANS, 0))?,
            to_share: spec.to_share,
            on: false,
        })
    }

    /// The share of the limits that holds from `at` on, if that is a change.
    pub(super) fn change(&mut self, at: Instant) -> Option<f64> {
        let on = self.schedule.is_on(at);
        let changed = on != self.on;
        self.on = on;
        changed.then_some(if on { self.to_share } else { 1.0 })
    }

    /// Whether the limits are lowered now.
    pub(super) const fn is_on(&self) -> bool {
        self.on
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.lowered.spans");
