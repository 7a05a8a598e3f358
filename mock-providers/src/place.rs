//! Where in a spec a value stands, and the checks that refuse a value with its place.

use std::fmt::Display;

use crate::error::SpecError;

/// A path of keys, e.g. `faults[1].outage`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place(String);

impl Place {
    /// The place of `name` below this one.
    pub(crate) fn key(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self(name.to_owned())
        } else {
            Self(format!("{}.{name}", self.0))
        }
    }

    /// The place of an item of the list at this place.
    pub(crate) fn item(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// A finite number of zero or more.
    pub(crate) fn not_negative(&self, name: &str, found: f64) -> Result<f64, SpecError> {
        self.number(
            name,
            found,
            found.is_finite() && found >= 0.0,
            "a finite number of 0 or more",
        )
    }

    /// A finite number above zero.
    pub(crate) fn positive(&self, name: &str, found: f64) -> Result<f64, SpecError> {
        self.number(
            name,
            found,
            found.is_finite() && found > 0.0,
            "a finite number above 0",
        )
    }

    /// A probability or a share.
    pub(crate) fn share(&self, name: &str, found: f64) -> Result<f64, SpecError> {
        self.number(
            name,
            found,
            (0.0..=1.0).contains(&found),
            "a share from 0 to 1",
        )
    }

    /// A length of time in seconds that something may repeat in: a run must not drown in it.
    pub(crate) fn period(&self, name: &str, found: f64) -> Result<f64, SpecError> {
        let fits = found.is_finite() && found >= SHORTEST_PERIOD_S;
        self.number(name, found, fits, "a finite number of 0.001 or more")
    }

    /// The shape of a log-normal distribution: the standard deviation of the logarithm.
    pub(crate) fn sigma(&self, name: &str, found: f64) -> Result<f64, SpecError> {
        self.number(
            name,
            found,
            (0.0..=MOST_SIGMA).contains(&found),
            "a number from 0 to 5",
        )
    }

    /// A coefficient of variation: standard deviation by mean.
    pub(crate) fn variation(&self, name: &str, found: f64) -> Result<f64, SpecError> {
        self.number(
            name,
            found,
            (0.0..=MOST_CV).contains(&found),
            "a number from 0 to 100",
        )
    }

    /// A count from 1 to 10^12.
    #[expect(clippy::cast_precision_loss, reason = "the number is only shown")]
    pub(crate) fn count(&self, name: &str, found: u64) -> Result<u64, SpecError> {
        let fits = (1..=MOST_COUNT).contains(&found);
        self.number(
            name,
            found as f64,
            fits,
            "a whole number from 1 to 1000000000000",
        )?;
        Ok(found)
    }

    /// `found`, if `fits`.
    pub(crate) fn number(
        &self,
        name: &str,
        found: f64,
        fits: bool,
        accepted: &'static str,
    ) -> Result<f64, SpecError> {
        if fits {
            Ok(found)
        } else {
            Err(SpecError::BadNumber {
                key: self.key(name).0,
                found,
                accepted,
            })
        }
    }

    /// The error that the keys at this place do not go together.
    pub(crate) fn bad_keys(&self, found: impl Display, accepted: &'static str) -> SpecError {
        SpecError::BadKeys {
            key: self.0.clone(),
            found: found.to_string(),
            accepted,
        }
    }
}

/// Below this, a fault's schedule would list thousands of spans for each second of a run.
const SHORTEST_PERIOD_S: f64 = 0.001;
/// A log-normal of sigma 5 has a mean of 268,000 times its median: beyond any latency.
const MOST_SIGMA: f64 = 5.0;
/// Far beyond the 13.2 of the most bursty public trace.
const MOST_CV: f64 = 100.0;
/// Keeps sums of counts far from the end of 64 bits.
const MOST_COUNT: u64 = 1_000_000_000_000;
