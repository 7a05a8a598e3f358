//! The provider's own quota: which attempts it turns away with 429, and what it tells them.
//!
//! A quota is a reservation with settlement. An attempt is let in when its request and its tokens
//! all fit, and is charged at arrival. What the tokens of an answer will be is known to the model
//! from the start, so a charge by true usage is booked at arrival too; only a reservation by
//! `max_tokens` can be wrong, and `settles` says whether it is corrected at the end of the answer
//! (Bedrock) or stays charged for the window (Azure). An attempt that fails is charged its prompt
//! and what it delivered.
//!
//! A hint says when the quota really frees: a lone caller who obeys it is let in. Only a limit that
//! is counted has one; whoever grows too fast is told nothing (field notes D1).

mod charge;
mod limits;
mod lowered;
pub(crate) mod meter;
mod slope;
mod spec;
mod window;

use std::time::Duration;

use router::{Epoch, Failure, Instant, RetryAfter};

use self::{
    charge::Charges,
    lowered::Lowering,
    meter::{Gauge, Meter},
    slope::Slope,
};
pub use self::{
    lowered::Lowered,
    slope::SlopeSpec,
    spec::{HintForm, OutputCharge, QuotaSpec, TokenCharge, WindowKind},
};
use crate::{
    error::SpecError, latency::span, place::Place, reply::ProviderCall, schedule::Origin,
    wire::Cause,
};

/// A running quota.
#[derive(Clone, Debug)]
pub(crate) struct Quota {
    requests: Option<Meter>,
    tokens: Option<Meter>,
    output: Option<Meter>,
    day: Option<Meter>,
    slope: Option<Slope>,
    lowering: Option<Lowering>,
    charges: Charges,
    count_rejected: bool,
    retry_after: HintForm,
    rejection: Duration,
}

/// What is left of each limit that there is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) requests: Option<Gauge>,
    pub(crate) tokens: Option<Gauge>,
    pub(crate) output: Option<Gauge>,
    pub(crate) day: Option<Gauge>,
}

impl Quota {
    pub(crate) fn new(
        spec: &QuotaSpec,
        origin: Origin,
        epoch: Epoch,
        place: &Place,
    ) -> Result<Self, SpecError> {
        if !spec.limits_anything() {
            return Err(place.bad_keys("no limit", NEEDS_LIMIT));
        }
        spec.check_keys(place)?;
        let rejection_ms = spec.rejection_ms.unwrap_or_default();
        let slope = spec
            .slope
            .map(|slope| Slope::new(slope, &place.key("slope")));
        let lowering = spec
            .lowered
            .map(|lowered| Lowering::new(&lowered, origin, &place.key("lowered")));
        Ok(Self {
            requests: limits::requests(spec, epoch, place)?,
            tokens: limits::tokens(spec, epoch, place)?,
            output: limits::output(spec, epoch, place)?,
            day: limits::requests_of_a_day(spec, epoch, place)?,
            slope: slope.transpose()?,
            lowering: lowering.transpose()?,
            charges: Charges::new(spec, place)?,
            count_rejected: spec.count_rejected.unwrap_or_default(),
            retry_after: spec.retry_after.unwrap_or_default(),
            rejection: span(place.not_negative("rejection_ms", rejection_ms)?),
        })
    }

    /// Whether the attempt is turned away, and for what; if not, it must be
    /// [charged](Self::charge).
    pub(crate) fn refusal(&mut self, at: Instant, call: &ProviderCall) -> Option<(Failure, Cause)> {
        self.advance(at);
        let (tokens, output) = (self.charges.needs(call), self.charges.needs_output(call));
        let fits = |meter: &Option<Meter>, amount| match meter {
            Some(meter) => meter.fits(amount),
            None => true,
        };
        let counted = fits(&self.requests, 1)
            && fits(&self.tokens, tokens)
            && fits(&self.output, output)
            && fits(&self.day, 1);
        let grows = self.slope.as_ref().is_some_and(|slope| !slope.fits());
        if counted && !grows {
            return None;
        }
        if self.count_rejected {
            self.requests.iter_mut().for_each(|meter| meter.take(1));
        }
        if counted {
            return Some((Failure::with_status(429), Cause::Slope));
        }
        let (cause, free) = self.tightest(at, tokens, output);
        let hint = free.and_then(|free| hint(self.retry_after, at, free));
        let failure = Failure {
            retry_after: hint,
            ..Failure::with_status(429)
        };
        Some((failure, cause))
    }

    /// How long turning an attempt away takes.
    pub(crate) const fn rejection(&self) -> Duration {
        self.rejection
    }

    /// Charges an attempt that was let in, delivers `delivered` tokens and ends at `end`.
    pub(crate) fn charge(&mut self, call: &ProviderCall, delivered: u32, end: Instant) {
        debug_assert!(
            [&self.requests, &self.day]
                .into_iter()
                .flatten()
                .all(|meter| meter.fits(1)),
            "invariant 19: a request is let in that does not fit"
        );
        self.requests.iter_mut().for_each(|meter| meter.take(1));
        self.day.iter_mut().for_each(|meter| meter.take(1));
        if let Some(slope) = &mut self.slope {
            slope.take();
        }
        if let Some(meter) = &mut self.tokens {
            self.charges.take(meter, call, delivered, end);
        }
        if let Some(meter) = &mut self.output {
            self.charges.take_output(meter, call, delivered, end);
        }
    }

    /// What is left at `at`, where the quota was asked last.
    pub(crate) fn gauges(&self, at: Instant) -> Gauges {
        let gauge = |meter: &Option<Meter>| meter.as_ref().map(|meter| meter.gauge(at));
        Gauges {
            requests: gauge(&self.requests),
            tokens: gauge(&self.tokens),
            output: gauge(&self.output),
            day: gauge(&self.day),
        }
    }

    /// The share of the tightest limit that is used at `at`, where the quota was asked last.
    pub(crate) fn used(&self, at: Instant) -> f64 {
        let gauges = self.gauges(at);
        let each = [gauges.requests, gauges.tokens, gauges.output].into_iter();
        each.flatten().map(Gauge::used).fold(0.0, f64::max)
    }

    /// In which form a 429 tells when to come back.
    pub(crate) const fn hint_form(&self) -> HintForm {
        self.retry_after
    }

    /// When this attempt fits, seen from `at`, where the quota was asked last; `None`: never.
    pub(crate) fn frees(&self, at: Instant, call: &ProviderCall) -> Option<Instant> {
        let (tokens, output) = (self.charges.needs(call), self.charges.needs_output(call));
        self.tightest(at, tokens, output).1
    }

    fn advance(&mut self, at: Instant) {
        let meters = [&mut self.requests, &mut self.tokens, &mut self.output];
        let change = self
            .lowering
            .as_mut()
            .and_then(|lowering| lowering.change(at));
        for meter in meters.into_iter().flatten() {
            meter.advance(at);
            if let Some(share) = change {
                meter.set_share(share);
            }
        }
        if let Some(meter) = &mut self.day {
            meter.advance(at);
        }
        if let Some(slope) = &mut self.slope {
            slope.advance(at);
        }
    }

    /// The limit that frees last, and when it does; `None`: never.
    fn tightest(&self, at: Instant, tokens: u64, output: u64) -> (Cause, Option<Instant>) {
        let limits = [
            (&self.requests, 1, Cause::Requests),
            (&self.tokens, tokens, Cause::Tokens),
            (&self.output, output, Cause::OutputTokens),
            (&self.day, 1, Cause::RequestsOfDay),
        ];
        let mut tightest = (Cause::Requests, Some(at));
        for (meter, amount, cause) in limits {
            let Some(meter) = meter else { continue };
            let free = meter.frees(at, amount);
            if free.is_none_or(|free| tightest.1.is_some_and(|latest| free > latest)) {
                tightest = (cause, free);
            }
        }
        let lowered = self.lowering.as_ref().is_some_and(Lowering::is_on);
        if lowered && tightest.0 != Cause::RequestsOfDay {
            tightest.0 = Cause::Lowered;
        }
        tightest
    }
}

/// What the 429 says, seen from `at`, if the quota frees at `free`.
fn hint(form: HintForm, at: Instant, free: Instant) -> Option<RetryAfter> {
    let wait_ns = free.as_nanos() - at.as_nanos();
    match form {
        HintForm::Date => {
            // The run began at a full second of the wall clock, so their seconds are the same.
            let second = free.as_nanos().div_ceil(1_000_000_000);
            Some(RetryAfter::Date(Instant::from_nanos(
                second.saturating_mul(1_000_000_000),
            )))
        }
        HintForm::Millis => Some(RetryAfter::Millis(wait_ns.div_ceil(1_000_000))),
        HintForm::Body | HintForm::None => None,
        HintForm::Seconds => {
            let seconds = i64::try_from(wait_ns.div_ceil(1_000_000_000));
            Some(RetryAfter::Seconds(
                seconds.expect("2^64 ns are fewer than 2^63 s"),
            ))
        }
    }
}

const NEEDS_LIMIT: &str = "requests_per_minute, tokens_per_minute or another limit";

#[cfg(test)]
mod tests;
