//! What one attempt wishes for itself, in place of what its provider would do.

use crate::{
    error::SpecError,
    failure::{FailureMode, Fault, Site},
    latency::Pace,
    place::Place,
    schedule::Origin,
};

/// What one attempt wishes for itself.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Wish {
    /// A fault that is asked before all of the provider's own; its schedule counts as theirs.
    pub fault: Option<FailureMode>,
    /// From arrival to the first token, in milliseconds, in place of what is drawn under the load.
    pub first_token_ms: Option<f64>,
    /// For each further token, in milliseconds.
    pub per_token_ms: Option<f64>,
}

/// A wish with its fault at work.
#[derive(Debug)]
pub(crate) struct Granted {
    fault: Option<Box<dyn Fault>>,
    first_token_ms: Option<f64>,
    per_token_ms: Option<f64>,
}

impl Wish {
    /// Builds the fault and checks the numbers.
    pub(crate) fn grant(&self, origin: Origin) -> Result<Granted, SpecError> {
        let place = Place::default();
        let time = |name, given: Option<f64>| match given {
            Some(ms) => place.not_negative(name, ms).map(Some),
            None => Ok(None),
        };
        let fault = match &self.fault {
            Some(mode) => Some(mode.build(&Site {
                place: place.key(mode.kind()),
                ordinal: WISHED,
                origin,
            })?),
            None => None,
        };
        Ok(Granted {
            fault,
            first_token_ms: time("first_token_ms", self.first_token_ms)?,
            per_token_ms: time("per_token_ms", self.per_token_ms)?,
        })
    }
}

impl Granted {
    pub(crate) const fn fault(&mut self) -> Option<&mut Box<dyn Fault>> {
        self.fault.as_mut()
    }

    /// The times as wished for.
    pub(crate) fn pace(&self, drawn: Pace) -> Pace {
        drawn.replaced(self.first_token_ms, self.per_token_ms)
    }
}

/// A fault that is wished for draws other luck than those of the provider.
const WISHED: u32 = 1 << 24;
