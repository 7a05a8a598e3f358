//! The meters of a quota, one for each limit that is given.

use std::time::Duration;

use router::{Epoch, nanos};

use super::{
    meter::Meter,
    spec::{QuotaSpec, WindowKind},
    window::{Bucket, Fixed, Sliding, Window},
};
use crate::{error::SpecError, latency::span, place::Place};

/// Requests a minute.
pub(super) fn requests(
    spec: &QuotaSpec,
    epoch: Epoch,
    place: &Place,
) -> Result<Option<Meter>, SpecError> {
    let Some(per_minute) = spec.requests_per_minute else {
        return Ok(None);
    };
    place.count("requests_per_minute", per_minute)?;
    let burst = place.count("burst_requests", spec.burst_requests.unwrap_or(per_minute))?;
    let slice_s = spec.request_slice_s.unwrap_or(60.0);
    let fits = (0.1..=60.0).contains(&slice_s);
    place.number("request_slice_s", slice_s, fits, "a number from 0.1 to 60")?;
    let slice_ns = nanos(span(slice_s * 1_000.0));
    let in_slice = u64::try_from(u128::from(per_minute) * u128::from(slice_ns) / MINUTE_NS)
        .expect("a slice is a minute at most");
    let whole = "long enough for one request at requests_per_minute";
    place.number("request_slice_s", slice_s, in_slice > 0, whole)?;
    let limit = Limit {
        in_window: in_slice,
        length_ns: slice_ns,
        per_minute,
        burst,
        may_owe: false,
    };
    Ok(Some(limit.meter(spec, epoch)))
}

/// Tokens a minute, as `token_charge` counts them.
pub(super) fn tokens(
    spec: &QuotaSpec,
    epoch: Epoch,
    place: &Place,
) -> Result<Option<Meter>, SpecError> {
    let Some(per_minute) = spec.tokens_per_minute else {
        return Ok(None);
    };
    place.count("tokens_per_minute", per_minute)?;
    let burst = place.count("burst_tokens", spec.burst_tokens.unwrap_or(per_minute))?;
    let limit = Limit {
        burst,
        may_owe: spec.overdraft.unwrap_or_default(),
        ..Limit::of_a_minute(per_minute)
    };
    let meter = limit.meter(spec, epoch);
    // A reservation is given back, or falls short of what the answer weighs.
    let corrected = spec.settles.unwrap_or_default() || spec.output_weight.is_some();
    Ok(Some(if corrected { meter.holding() } else { meter }))
}

/// Tokens of answers a minute.
pub(super) fn output(
    spec: &QuotaSpec,
    epoch: Epoch,
    place: &Place,
) -> Result<Option<Meter>, SpecError> {
    let Some(per_minute) = spec.output_tokens_per_minute else {
        return Ok(None);
    };
    place.count("output_tokens_per_minute", per_minute)?;
    Ok(Some(
        Limit::of_a_minute(per_minute).meter(spec, epoch).holding(),
    ))
}

/// Requests a day of the wall clock.
pub(super) fn requests_of_a_day(
    spec: &QuotaSpec,
    epoch: Epoch,
    place: &Place,
) -> Result<Option<Meter>, SpecError> {
    let Some(per_day) = spec.requests_per_day else {
        return Ok(None);
    };
    place.count("requests_per_day", per_day)?;
    let starts_h = spec.day_starts_utc_h.unwrap_or_default();
    let fits = (0.0..24.0).contains(&starts_h);
    place.number(
        "day_starts_utc_h",
        starts_h,
        fits,
        "a number from 0 to below 24",
    )?;
    // A day that begins later is one whose wall clock is behind.
    let behind = span(starts_h * 3_600_000.0).as_secs();
    let shifted = Epoch::from_unix_seconds(epoch.unix_seconds() + (DAY_S - behind));
    let window = Window::Fixed(Fixed::new(per_day, DAY_S * 1_000_000_000, shifted));
    Ok(Some(Meter::new(window, per_day)))
}

/// One limit in the terms of every kind of window.
struct Limit {
    in_window: u64,
    length_ns: u64,
    per_minute: u64,
    burst: u64,
    may_owe: bool,
}

impl Limit {
    const fn of_a_minute(per_minute: u64) -> Self {
        Self {
            in_window: per_minute,
            length_ns: nanos(Duration::from_secs(60)),
            per_minute,
            burst: per_minute,
            may_owe: false,
        }
    }

    fn meter(self, spec: &QuotaSpec, epoch: Epoch) -> Meter {
        let window = match spec.window.unwrap_or_default() {
            WindowKind::FixedMinute => {
                Window::Fixed(Fixed::new(self.in_window, self.length_ns, epoch))
            }
            WindowKind::Sliding => Window::Sliding(Sliding::new(self.in_window, self.length_ns)),
            WindowKind::TokenBucket => {
                let bucket = Bucket::new(self.per_minute, self.burst);
                Window::Bucket(if self.may_owe { bucket.owing() } else { bucket })
            }
        };
        Meter::new(window, self.per_minute)
    }
}

const MINUTE_NS: u128 = 60_000_000_000;
const DAY_S: u64 = 86_400;
