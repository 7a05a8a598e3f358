//! Capacity that all customers of a provider share: when they ask for more than there is, everybody
//! is turned away in the same proportion, whatever his own quota. So it is with Vertex AI's dynamic
//! shared quota (429), Azure's "high demand" (429) and Anthropic's 529 (field notes D1, 2026).
//!
//! The demand of all, as a share of the capacity, is a log-normal process: normal numbers at the
//! edges of equal slots of time, with straight lines between. While it is above 1, the share of
//! attempts turned away is what does not fit, 1 − 1 ÷ demand. It is keyed by the fleet, so that all
//! deployments of one provider meet it together. One's own traffic is taken to be too small to
//! matter.

use router::{Instant, KeyedRng, Purpose, nanos_from_secs};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec, rate_limit_storm::Hint};
use crate::{
    error::SpecError,
    luck::Luck,
    normal::normal,
    reply::ProviderCall,
    schedule::{Keys, MOST_SPANS, Rhythm, Schedule, Span},
    wire::{Cause, Manner},
};

fault_spec! {
    /// Attempts are turned away at the door while all customers together ask for more than the
    /// provider has. Deployments of one `fleet` meet it together. Default status 429.
    pub struct SharedCapacity: bounded failing {
        /// Median of the demand of all, as a share of the capacity; above 0.
        pub demand_median: f64,
        /// Sigma of the demand's logarithm, from 0 to 5.
        pub demand_sigma: f64,
        /// Seconds in which the demand goes from one value to the next, 0.001 or more.
        pub varies_over_s: f64,
        /// What the answer says about when to come back. Default: nothing.
        #[serde(default)]
        pub hint: Hint,
    }
}

impl SharedCapacity {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        self.hint.check(&place.key("hint"))?;
        let keys = site.keys(DEMAND);
        let mut denial = self.error().denial(place, 429)?;
        denial.manner = Manner::Limited(Cause::SharedCapacity);
        Ok(Box::new(Shared {
            bounds: Schedule::new(self.timing().bounds(place)?, Rhythm::Steady),
            ln_median: libm::log(place.positive("demand_median", self.demand_median)?),
            sigma: place.sigma("demand_sigma", self.demand_sigma)?,
            slot_ns: nanos_from_secs(place.period("varies_over_s", self.varies_over_s)?),
            keys: keys.of_fleet().unwrap_or(keys),
            denial,
            hint: self.hint,
            ordinal: site.ordinal,
            slot: None,
        }))
    }
}

#[derive(Debug)]
struct Shared {
    bounds: Schedule,
    ln_median: f64,
    sigma: f64,
    slot_ns: u64,
    keys: Keys,
    denial: Denial,
    hint: Hint,
    ordinal: u32,
    slot: Option<Slot>,
}

/// The logarithm of the demand at both edges of a slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    number: u64,
    from: f64,
    to: f64,
}

impl Shared {
    fn slot(&self, number: u64) -> Slot {
        let edge = |edge: u64| {
            let mut draws = KeyedRng::new(self.keys.seed, DEMAND, edge, self.keys.number);
            self.ln_median + self.sigma * normal(&mut draws)
        };
        Slot {
            number,
            from: edge(number),
            to: edge(number + 1),
        }
    }

    /// The share of attempts that does not fit at `at`.
    fn excess(&mut self, at: Instant) -> f64 {
        let number = at.as_nanos() / self.slot_ns;
        let slot = match self.slot {
            Some(slot) if slot.number == number => slot,
            Some(_) | None => self.slot(number),
        };
        self.slot = Some(slot);
        let passed = self.share_of_slot(at.as_nanos() % self.slot_ns);
        let ln_demand = slot.from + (slot.to - slot.from) * passed;
        if ln_demand > 0.0 {
            1.0 - libm::exp(-ln_demand)
        } else {
            0.0
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a share needs no more than 53 bits"
    )]
    fn share_of_slot(&self, nanos: u64) -> f64 {
        nanos as f64 / self.slot_ns as f64
    }

    /// The part of a slot in which the demand is above 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a slot is a part of it"
    )]
    fn short_in(&self, slot: Slot) -> Option<(u64, u64)> {
        let crossing = || (self.slot_ns as f64 * (slot.from / (slot.from - slot.to))) as u64;
        match (slot.from > 0.0, slot.to > 0.0) {
            (false, false) => None,
            (true, true) => Some((0, self.slot_ns)),
            (true, false) => Some((0, crossing())),
            (false, true) => Some((crossing(), self.slot_ns)),
        }
    }
}

impl Fault for Shared {
    fn kind(&self) -> &'static str {
        "shared_capacity"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        if !self.bounds.is_on(at) {
            return Verdict::Pass;
        }
        let excess = self.excess(at);
        if excess > 0.0 && luck.with_fault(self.ordinal).draws(REFUSAL).unit() < excess {
            let mut denial = self.denial;
            denial.failure.retry_after = self.hint.at(at);
            return Verdict::Refuse(denial);
        }
        Verdict::Pass
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        let bounds = self.bounds.bounds();
        let end = bounds.to.min(until);
        let first = bounds.from.as_nanos() / self.slot_ns;
        for number in first..first.saturating_add(MOST_SLOTS) {
            let start = number.saturating_mul(self.slot_ns);
            if start >= end.as_nanos() || spans.len() >= MOST_SPANS {
                break;
            }
            let Some((from, to)) = self.short_in(self.slot(number)) else {
                continue;
            };
            let span = Span {
                from: Instant::from_nanos(start.saturating_add(from)).max(bounds.from),
                to: Instant::from_nanos(start.saturating_add(to)).min(end),
            };
            match spans.last_mut() {
                Some(last) if last.to == span.from => last.to = span.to,
                Some(_) | None if span.from < span.to => spans.push(span),
                Some(_) | None => {}
            }
        }
        spans
    }
}

/// Slots that a picture looks through at most.
const MOST_SLOTS: u64 = 1_000_000;
const DEMAND: Purpose = Purpose::named("mock-providers.shared_capacity.demand");
const REFUSAL: Purpose = Purpose::named("mock-providers.shared_capacity.refusal");
