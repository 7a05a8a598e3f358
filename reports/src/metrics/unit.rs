//! Units of metrics, and how a value is written for people.

use crate::stats::Estimate;

/// What a metric is measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A plain number of things.
    Count,
    /// A multiple of something, 1 being equal.
    Factor,
    /// Milliseconds; shown in seconds from one second on.
    Millis,
    /// Things for each call of a client library.
    PerCall,
    /// Things a minute.
    PerMinute,
    /// Things for each request.
    PerRequest,
    /// Things a second.
    PerSecond,
    /// Part of a whole, from 0 to 1; shown in percent.
    Ratio,
    /// Seconds for each request.
    SecondsPerRequest,
    /// US dollars for a thousand requests.
    UsdPer1000Requests,
}

/// Which way a metric is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: it only describes.
    Neither,
}

impl Better {
    /// `higher`, `lower` or `—`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Neither => "—",
        }
    }

    /// Whether a change of this sign is for the better; `None` for no change or where neither way is.
    #[must_use]
    pub fn improves(self, change: f64) -> Option<bool> {
        match self {
            Self::Higher if change != 0.0 => Some(change > 0.0),
            Self::Lower if change != 0.0 => Some(change < 0.0),
            Self::Higher | Self::Lower | Self::Neither => None,
        }
    }
}

impl Unit {
    /// How the unit of stored values is written.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Factor => "×",
            Self::Millis => "ms",
            Self::PerCall => "per call",
            Self::PerMinute => "1/min",
            Self::PerRequest => "per request",
            Self::PerSecond => "1/s",
            Self::Ratio => "0–1",
            Self::SecondsPerRequest => "s per request",
            Self::UsdPer1000Requests => "$ per 1,000 requests",
        }
    }

    /// A value with its unit: `97.31 %`, `1.84 s`.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        self.scale(value).with_symbol(value)
    }

    /// A mean with half its interval's width in the same decimals: `97.31 ± 0.21 %`.
    #[must_use]
    pub fn show_estimate(self, estimate: &Estimate) -> String {
        let scale = self.scale(estimate.mean);
        match estimate.half_width {
            None => scale.with_symbol(estimate.mean),
            Some(half) => {
                let text = format!("{} ± {}", scale.number(estimate.mean), scale.number(half));
                scale.join(&text)
            }
        }
    }

    /// A change with its sign: `+3.12 points`, `−0.40 s`. `about` is the size of what changes,
    /// which decides between milliseconds and seconds.
    #[must_use]
    pub fn show_change(self, change: f64, about: f64) -> String {
        let scale = self.change_scale(about);
        scale.join(&signed(&scale, change))
    }

    /// The two ends of an interval of a change: `+2.90 to +3.40 points`.
    #[must_use]
    pub fn show_change_interval(self, low: f64, high: f64, about: f64) -> String {
        let ends = self.show_change_ends(low, high, about);
        self.change_scale(about).join(&ends)
    }

    /// The same without the unit, for beside a change that has it: `+2.90 to +3.40`.
    #[must_use]
    pub fn show_change_ends(self, low: f64, high: f64, about: f64) -> String {
        let scale = self.change_scale(about);
        format!("{} to {}", signed(&scale, low), signed(&scale, high))
    }

    fn change_scale(self, about: f64) -> Scale {
        let scale = self.scale(about);
        match self {
            Self::Ratio => Scale {
                symbol: " points",
                ..scale
            },
            Self::PerCall => Scale {
                symbol: " a call",
                ..scale
            },
            Self::PerRequest => Scale {
                symbol: " a request",
                ..scale
            },
            Self::SecondsPerRequest => Scale {
                symbol: " s a request",
                ..scale
            },
            Self::Count
            | Self::Factor
            | Self::Millis
            | Self::PerMinute
            | Self::PerSecond
            | Self::UsdPer1000Requests => scale,
        }
    }

    fn scale(self, value: f64) -> Scale {
        let value = value.abs();
        let of = |factor, decimals, symbol| Scale {
            factor,
            decimals,
            symbol,
            before: "",
        };
        match self {
            Self::Ratio => of(100.0, 2, " %"),
            Self::Millis if value >= 100_000.0 => of(1e-3, 1, " s"),
            Self::Millis if value >= 1_000.0 => of(1e-3, 2, " s"),
            Self::Millis if value >= 100.0 => of(1.0, 0, " ms"),
            Self::Millis => of(1.0, 1, " ms"),
            Self::Count => of(1.0, 0, ""),
            Self::Factor => of(1.0, 2, "×"),
            Self::PerCall | Self::PerRequest => of(1.0, 3, ""),
            Self::PerSecond => of(1.0, 2, "/s"),
            Self::PerMinute => of(1.0, 2, "/min"),
            Self::SecondsPerRequest => of(1.0, 3, " s"),
            Self::UsdPer1000Requests if value >= 100.0 => Scale {
                before: "$",
                ..of(1.0, 0, "")
            },
            Self::UsdPer1000Requests => Scale {
                before: "$",
                ..of(1.0, 2, "")
            },
        }
    }
}

/// How numbers of one size are written.
#[derive(Clone, Copy)]
struct Scale {
    factor: f64,
    decimals: usize,
    before: &'static str,
    symbol: &'static str,
}

impl Scale {
    fn number(&self, value: f64) -> String {
        let text = format!("{:.*}", self.decimals, value * self.factor);
        let text = match text.strip_prefix('-') {
            // What rounds to nothing has no sign.
            Some(digits) if digits.bytes().all(|b| b == b'0' || b == b'.') => digits.to_owned(),
            Some(digits) => format!("−{digits}"),
            None => text,
        };
        format!("{}{}", self.before, grouped(&text))
    }

    fn join(&self, numbers: &str) -> String {
        format!("{numbers}{}", self.symbol)
    }

    fn with_symbol(&self, value: f64) -> String {
        self.join(&self.number(value))
    }
}

fn signed(scale: &Scale, change: f64) -> String {
    let text = scale.number(change.abs());
    let is_zero = text.bytes().all(|b| !b.is_ascii_digit() || b == b'0');
    match (is_zero, change < 0.0) {
        (true, _) => text,
        (false, true) => format!("−{text}"),
        (false, false) => format!("+{text}"),
    }
}

/// Puts commas between groups of three digits from five digits on.
fn grouped(number: &str) -> String {
    let whole = number.find('.').unwrap_or(number.len());
    let first = number.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    if whole - first < 5 {
        return number.to_owned();
    }
    let mut text = String::with_capacity(number.len() + 4);
    for (index, c) in number.char_indices() {
        if index > first && index < whole && (whole - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_the_size_that_people_say() {
        assert_eq!(Unit::Ratio.show(0.973_14), "97.31 %");
        assert_eq!(Unit::Millis.show(84.26), "84.3 ms");
        assert_eq!(Unit::Millis.show(842.6), "843 ms");
        assert_eq!(Unit::Millis.show(1_842.6), "1.84 s");
        assert_eq!(Unit::Millis.show(61_842.6), "61.84 s");
        assert_eq!(Unit::Millis.show(161_842.6), "161.8 s");
        assert_eq!(Unit::PerRequest.show(1.0456), "1.046");
        assert_eq!(Unit::UsdPer1000Requests.show(12.345), "$12.35");
        assert_eq!(Unit::Count.show(1_234_567.0), "1,234,567");
        assert_eq!(Unit::Count.show(1_234.0), "1234");
        assert_eq!(Unit::PerSecond.show(123_456.789), "123,456.79/s");
    }

    #[test]
    fn an_estimate_has_one_scale_for_the_mean_and_its_interval() {
        let estimate = Estimate {
            mean: 12_345.0,
            half_width: Some(87.0),
            n: 10,
        };

        assert_eq!(Unit::Millis.show_estimate(&estimate), "12.35 ± 0.09 s");
        let lone = Estimate {
            half_width: None,
            ..estimate
        };
        assert_eq!(Unit::Millis.show_estimate(&lone), "12.35 s");
    }

    #[test]
    fn changes_carry_their_sign_and_ratios_change_by_points() {
        assert_eq!(Unit::Ratio.show_change(0.0312, 0.97), "+3.12 points");
        assert_eq!(Unit::Ratio.show_change(-0.000_001, 0.97), "0.00 points");
        assert_eq!(Unit::Millis.show_change(-400.0, 1_500.0), "−0.40 s");
        assert_eq!(
            Unit::Millis.show_change_interval(-600.0, 200.0, 1_500.0),
            "−0.60 to +0.20 s"
        );
        assert_eq!(Unit::UsdPer1000Requests.show_change(-1.5, 10.0), "−$1.50");
    }

    #[test]
    fn a_change_for_the_better_depends_on_the_metric() {
        assert_eq!(Better::Higher.improves(0.1), Some(true));
        assert_eq!(Better::Lower.improves(0.1), Some(false));
        assert_eq!(Better::Lower.improves(0.0), None);
        assert_eq!(Better::Neither.improves(1.0), None);
    }
}
