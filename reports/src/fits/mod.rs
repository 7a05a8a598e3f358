//! Models fitted to what a log shows: how long answers take, how requests come, how errors come, which
//! quota there seems to be. Pure functions of numbers, without a clock and with `libm` only, so that the
//! same log gives the same fit everywhere. Formulas and their sources are in `METRICS.md`.
//!
//! What too few data do not show is not made up: a fit is then `None`, and the caller says so.

mod arrivals;
mod bursts;
mod distance;
mod gamma;
mod information;
mod lasting;
mod latency;
mod latency_em;
mod latency_rows;
mod latency_score;
mod latency_start;
mod log_normal;
mod order;
mod outages;
mod quota;
mod simplex;
mod token_lengths;

use serde::Serialize;

pub use self::{
    arrivals::{ArrivalFit, Curve, Silence, silences},
    bursts::BurstFit,
    distance::{Distance, Lived, distance, survivors},
    lasting::Lasting,
    latency::{LatencyFit, Seen, TwoParts},
    log_normal::{LogNormalPart, Mixture},
    outages::{OutageFit, Tried, outages},
    quota::{MinuteCount, QuotaFit, QuotaKind, per_minute},
    token_lengths::TokenLengths,
};

/// A fitted number with its 95 % interval, where there is one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Fitted {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Fitted {
    /// A number without an interval.
    #[must_use]
    pub const fn bare(value: f64) -> Self {
        Self {
            value,
            low: None,
            high: None,
        }
    }

    /// A number with its interval.
    #[must_use]
    pub const fn within(value: f64, (low, high): (f64, f64)) -> Self {
        Self {
            value,
            low: Some(low),
            high: Some(high),
        }
    }

    /// Whether the interval holds `truth`; false without an interval.
    #[must_use]
    pub fn holds(&self, truth: f64) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low <= truth && truth <= high)
    }
}
