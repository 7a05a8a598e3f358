//! Errors in bursts: a good and a bad state, each with its own share of errors.
//!
//! It is the model of Gilbert (1960) and Elliott (1963), in continuous time: how long a state lasts
//! is exponential and depends on the seed alone. In the textbook form the state moves with each
//! call; then a router that calls more often would meet another provider, and two routers could not
//! be compared.

use router::{Instant, Purpose};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    luck::Luck,
    reply::ProviderCall,
    sampler::Sampler,
    schedule::{Rhythm, Schedule, Span},
};

fault_spec! {
    /// Good and bad times follow each other at random, starting with a good one. Default status 500.
    pub struct Bursty: bounded failing {
        /// Mean length of a good time in seconds, 0.001 or more.
        pub good_mean_s: f64,
        /// Mean length of a bad time in seconds, 0.001 or more.
        pub bad_mean_s: f64,
        /// The share of attempts that fail in good times, from 0 to 1. Default 0.
        #[serde(default)]
        pub good_error_share: f64,
        /// The share of attempts that fail in bad times, from 0 to 1.
        pub bad_error_share: f64,
    }
}

impl Bursty {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        let rhythm = Rhythm::Random {
            gap_s: Sampler::gamma(
                place.period("good_mean_s", self.good_mean_s)?,
                EXPONENTIAL_CV,
            ),
            on_s: Sampler::gamma(place.period("bad_mean_s", self.bad_mean_s)?, EXPONENTIAL_CV),
            keys: site.keys(SPANS),
            keep: 1.0,
        };
        Ok(Box::new(TwoStates {
            bad: Schedule::new(self.timing().bounds(place)?, rhythm),
            good_error_share: place.share("good_error_share", self.good_error_share)?,
            bad_error_share: place.share("bad_error_share", self.bad_error_share)?,
            denial: self.error().denial(place, 500)?,
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct TwoStates {
    bad: Schedule,
    good_error_share: f64,
    bad_error_share: f64,
    denial: Denial,
    ordinal: u32,
}

impl Fault for TwoStates {
    fn kind(&self) -> &'static str {
        "bursty"
    }

    fn on_call(&mut self, at: Instant, _call: &ProviderCall, luck: &Luck) -> Verdict {
        if !self.bad.is_within(at) {
            return Verdict::Pass;
        }
        let share = if self.bad.is_on(at) {
            self.bad_error_share
        } else {
            self.good_error_share
        };
        if luck.with_fault(self.ordinal).draws(ERROR).unit() < share {
            Verdict::Fail(self.denial)
        } else {
            Verdict::Pass
        }
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.bad.spans(until)
    }
}

/// A gamma distribution of this variation is the exponential one.
const EXPONENTIAL_CV: f64 = 1.0;
const SPANS: Purpose = Purpose::named("mock-providers.bursty.spans");
const ERROR: Purpose = Purpose::named("mock-providers.bursty.error");
