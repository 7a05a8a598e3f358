//! How much worse a metric may be.

use crate::metrics::{Better, Metric, Unit, metric, metrics};

/// A metric and the loss that it may have.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    /// Which.
    pub metric: &'static dyn Metric,
    /// How much worse it may be.
    pub loss: Loss,
}

/// A loss that is allowed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// In the metric's own unit.
    Absolute(f64),
    /// A fraction of the old side's mean.
    Relative(f64),
}

impl Loss {
    /// In the metric's unit, where the old side's mean is known.
    #[must_use]
    pub fn of(self, old: f64) -> f64 {
        match self {
            Self::Absolute(loss) => loss,
            Self::Relative(fraction) => fraction * old.abs(),
        }
    }
}

/// Why a margin cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MarginError {
    /// There is no such metric.
    #[error("there is no metric `{0}`; `routelab list metrics` names them")]
    UnknownMetric(String),
    /// It only describes.
    #[error("`{0}` is neither better high nor low: it cannot become worse")]
    NeitherWay(String),
    /// The number makes no sense.
    #[error(
        "`{found}` is no margin of `{metric}`; accepted is a number of zero or more in its unit, a \
         share of the old value as `5%`, or for ratios points as `0.5pp`"
    )]
    BadNumber {
        /// Of which metric.
        metric: String,
        /// As written.
        found: String,
    },
}

impl Margin {
    /// Reads `metric` and a loss such as `5%`, `0.5pp` or `120`.
    ///
    /// # Errors
    ///
    /// If the metric is unknown or cannot become worse, or the number makes no sense.
    pub fn read(name: &str, loss: &str) -> Result<Self, MarginError> {
        let metric = metric(name).ok_or_else(|| MarginError::UnknownMetric(name.to_owned()))?;
        if metric.better() == Better::Neither {
            return Err(MarginError::NeitherWay(name.to_owned()));
        }
        let number = |text: &str| {
            let number: Option<f64> = text.trim().parse().ok();
            number.filter(|n| n.is_finite() && *n >= 0.0)
        };
        let text = loss.trim();
        let read = if let Some(points) = text.strip_suffix("pp") {
            number(points)
                .filter(|_| metric.unit() == Unit::Ratio)
                .map(|points| Loss::Absolute(points / 100.0))
        } else if let Some(percent) = text.strip_suffix('%') {
            number(percent).map(|percent| Loss::Relative(percent / 100.0))
        } else {
            number(text).map(Loss::Absolute)
        };
        let loss = read.ok_or_else(|| MarginError::BadNumber {
            metric: name.to_owned(),
            found: text.to_owned(),
        })?;
        Ok(Self { metric, loss })
    }

    /// What a gate asks where nothing is said: half a point of success and goodput, 5 % of median
    /// and 10 % of p99 latency, 5 % of attempts, 2 % of cost. Ours: small enough to matter to a
    /// user, large enough that a gate of some dozens of replications can tell.
    #[must_use]
    pub fn defaults() -> Vec<Self> {
        let margin = |name: &str, loss| {
            let metric = metrics().iter().copied().find(|m| m.name() == name);
            metric.map(|metric| Self { metric, loss })
        };
        [
            margin("success_ratio", Loss::Absolute(0.005)),
            margin("goodput_ratio", Loss::Absolute(0.005)),
            margin("latency_p50_ms", Loss::Relative(0.05)),
            margin("latency_p99_ms", Loss::Relative(0.10)),
            margin("attempts_per_request", Loss::Relative(0.05)),
            margin("cost_usd_per_1000_requests", Loss::Relative(0.02)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_number_a_percentage_or_points_of_a_ratio() {
        let of = |name, text| Margin::read(name, text).map(|margin| margin.loss);

        assert_eq!(of("latency_p99_ms", "120"), Ok(Loss::Absolute(120.0)));
        assert_eq!(of("latency_p99_ms", "10%"), Ok(Loss::Relative(0.1)));
        assert_eq!(of("success_ratio", "0.5pp"), Ok(Loss::Absolute(0.005)));
        for (name, text) in [
            ("latency_p99_ms", "2pp"),
            ("success_ratio", "-1"),
            ("success_ratio", "NaN"),
            ("success_ratio", "much"),
        ] {
            assert!(matches!(of(name, text), Err(MarginError::BadNumber { .. })));
        }
        assert!(matches!(
            of("beauty", "1"),
            Err(MarginError::UnknownMetric(_))
        ));
    }

    #[test]
    fn every_default_names_a_metric() {
        assert_eq!(Margin::defaults().len(), 6);
    }
}
