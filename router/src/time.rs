//! Virtual time: an instant is a count of nanoseconds since the run began.
//!
//! The router never reads a clock. Every input brings its `now`, so that a driver in virtual time
//! and a driver in real time run the very same code. What the wall clock said when the run began
//! is data too ([`Epoch`]), because usage windows and provider quotas live in wall-clock minutes.

use std::{
    fmt,
    ops::{Add, AddAssign},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// A moment of a run, in nanoseconds since the run's beginning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(u64);

impl Instant {
    /// The beginning of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every moment of a run: about 584 years after its beginning.
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment `nanos` nanoseconds after the beginning.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The moment `seconds` after the beginning. Negative and NaN give [`Instant::ZERO`],
    /// what is too large gives [`Instant::NEVER`].
    #[must_use]
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(nanos_from_secs(seconds))
    }

    /// Nanoseconds since the beginning.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the beginning.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "2^53 ns is 104 days; a report needs no more"
    )]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Time passed since `earlier`; zero if `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Instant {
    /// [`Instant::since`] in nanoseconds, for those who count in them.
    #[must_use]
    #[inline]
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// Saturates at [`Instant::NEVER`].
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}s", self.as_secs_f64())
    }
}

/// Nanoseconds of a span; what is longer than 584 years counts as 584 years.
#[must_use]
pub const fn nanos(span: Duration) -> u64 {
    match span.as_secs().checked_mul(1_000_000_000) {
        Some(whole) => whole.saturating_add(span.subsec_nanos() as u64),
        None => u64::MAX,
    }
}

/// Nanoseconds in `seconds`: negative and NaN give 0, what is too large gives `u64::MAX`.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float-to-integer cast saturates, which is what is documented"
)]
pub fn nanos_from_secs(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// A span in whole seconds, rounded up.
pub(crate) const fn whole_seconds_up(span: Duration) -> Duration {
    Duration::from_secs(span.as_secs() + (span.subsec_nanos() > 0) as u64)
}

/// What the wall clock said at [`Instant::ZERO`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch {
    unix_seconds: u64,
}

impl Epoch {
    /// The run began `seconds` after 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn from_unix_seconds(seconds: u64) -> Self {
        Self {
            unix_seconds: seconds,
        }
    }

    /// Seconds from 1970-01-01T00:00:00Z to the run's beginning.
    #[must_use]
    pub const fn unix_seconds(self) -> u64 {
        self.unix_seconds
    }

    /// The number of the wall-clock minute (since 1970) that `now` lies in.
    #[must_use]
    pub const fn minute(self, now: Instant) -> u64 {
        (self.unix_seconds + now.0 / 1_000_000_000) / 60
    }

    /// The number of the minute on the clock of the machine that LiteLLM runs on, for what it keeps
    /// by local time (semantics 15.5). A run has no time zone: its machine's clock says UTC.
    #[must_use]
    pub const fn local_minute(self, now: Instant) -> u64 {
        self.minute(now)
    }

    /// The number of the span of this length (since 1970) that `now` lies in.
    #[must_use]
    pub(crate) const fn part(self, now: Instant, length_ns: u64) -> u64 {
        (self.unix_seconds * 1_000_000_000 + now.0) / length_ns
    }

    /// When the span of this number and length begins; the run's beginning, if that was before it.
    #[must_use]
    pub(crate) const fn part_begins(self, part: u64, length_ns: u64) -> Instant {
        Instant((part * length_ns).saturating_sub(self.unix_seconds * 1_000_000_000))
    }

    /// The moment at which the wall-clock minute after `now`'s begins.
    #[must_use]
    pub const fn next_minute(self, now: Instant) -> Instant {
        let into_minute = self.unix_seconds % 60 * 1_000_000_000;
        Instant((now.0 + into_minute) / MINUTE_NS * MINUTE_NS + MINUTE_NS - into_minute)
    }
}

/// A Monday midnight (2024-01-01T00:00:00Z), so that a run starts at the edge of a minute unless told otherwise.
impl Default for Epoch {
    fn default() -> Self {
        Self {
            unix_seconds: 1_704_067_200,
        }
    }
}

const MINUTE_NS: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_a_span_saturates_at_never() {
        assert_eq!(Instant::NEVER + Duration::from_secs(1), Instant::NEVER);
        assert_eq!(Instant::ZERO + Duration::MAX, Instant::NEVER);
    }

    #[test]
    fn seconds_that_make_no_sense_become_the_nearest_moment_that_does() {
        assert_eq!(Instant::from_secs_f64(-1.0), Instant::ZERO);
        assert_eq!(Instant::from_secs_f64(f64::NAN), Instant::ZERO);
        assert_eq!(Instant::from_secs_f64(f64::INFINITY), Instant::NEVER);
        assert_eq!(Instant::from_secs_f64(1.5).as_nanos(), 1_500_000_000);
    }

    #[test]
    fn minutes_follow_the_wall_clock_and_not_the_run() {
        let epoch = Epoch::from_unix_seconds(60 * 1_000 + 50);
        let at = |s: u64| Instant::from_nanos(s * 1_000_000_000);

        assert_eq!(epoch.minute(at(9)), 1_000);
        assert_eq!(epoch.minute(at(10)), 1_001);
        assert_eq!(epoch.next_minute(at(0)), at(10));
        assert_eq!(epoch.next_minute(at(10)), at(70));
    }
}
