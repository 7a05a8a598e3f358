//! Faults one by one: the first attempt meets the first step, the second the second, and so on. For
//! tests that need exactly this failure on exactly that attempt, in the simulator and over HTTP alike.

use router::Instant;
use serde::{Deserialize, Serialize};

use super::{FailureMode, Fault, Site, Verdict};
use crate::{error::SpecError, luck::Luck, reply::ProviderCall, schedule::Span};

/// Each attempt meets the next step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scripted {
    /// One step for each attempt that no fault before this one decided: a fault, which strikes it if
    /// its own schedule and share let it; or null, which lets it pass.
    pub steps: Vec<Option<FailureMode>>,
    /// Whether the steps begin anew after the last. Default false: all that follow pass.
    #[serde(default)]
    pub repeat: bool,
}

impl Scripted {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        if self.steps.is_empty() {
            return Err(site.place.bad_keys("no step", "one step or more"));
        }
        let place = site.place.key("steps");
        let step = |(index, step): (u32, &Option<FailureMode>)| {
            let Some(mode) = step else { return Ok(None) };
            let site = Site {
                place: place.item(index as usize).key(mode.kind()),
                ordinal: site.ordinal + SCRIPTED + index,
                origin: site.origin,
            };
            mode.build(&site).map(Some)
        };
        Ok(Box::new(Script {
            steps: (0..).zip(&self.steps).map(step).collect::<Result<_, _>>()?,
            repeat: self.repeat,
            next: 0,
        }))
    }
}

#[derive(Debug)]
struct Script {
    steps: Vec<Option<Box<dyn Fault>>>,
    repeat: bool,
    next: usize,
}

impl Fault for Script {
    fn kind(&self) -> &'static str {
        "scripted"
    }

    fn on_call(&mut self, at: Instant, call: &ProviderCall, luck: &Luck) -> Verdict {
        let number = if self.repeat {
            self.next % self.steps.len()
        } else {
            self.next
        };
        self.next += 1;
        match self.steps.get_mut(number) {
            Some(Some(fault)) => fault.on_call(at, call, luck),
            Some(None) | None => Verdict::Pass,
        }
    }

    fn spans(&self, _until: Instant) -> Vec<Span> {
        Vec::new()
    }
}

/// Faults of a script draw other luck than those of the list that it stands in.
const SCRIPTED: u32 = 1 << 16;
