//! Numbers of a config: whole ones, amounts and lengths of time, each within what means something,
//! and as text where LiteLLM's types convert it.

use std::{ops::RangeInclusive, time::Duration};

use super::setting::{Result, Setting};
use crate::yaml::{Node, Value};

impl Setting<'_> {
    /// A whole number within `range`.
    pub(super) fn whole(&mut self, range: RangeInclusive<i64>) -> Result<Option<i64>> {
        let Some(node) = self.given() else {
            return Ok(None);
        };
        self.within(node.whole().or_else(|| underscored(node)), range)
            .map(Some)
    }

    /// As [`Setting::whole`], and text that holds such a number, where LiteLLM converts it.
    pub(super) fn whole_or_text(&mut self, range: RangeInclusive<i64>) -> Result<Option<i64>> {
        let Some(node) = self.given() else {
            return Ok(None);
        };
        let text = || decimal(node)?.parse().ok();
        self.within(
            node.whole().or_else(|| underscored(node)).or_else(text),
            range,
        )
        .map(Some)
    }

    fn within(&self, whole: Option<i128>, range: RangeInclusive<i64>) -> Result<i64> {
        whole
            .and_then(|whole| i64::try_from(whole).ok())
            .filter(|w| range.contains(w))
            .ok_or_else(|| {
                let [least, most] = [*range.start(), *range.end()].map(grouped);
                self.unaccepted(format_args!("a whole number from {least} to {most}"))
            })
    }

    /// A whole number of things, from 0.
    pub(super) fn count(&mut self) -> Result<Option<u64>> {
        Ok(self
            .whole(0..=MOST)?
            .and_then(|count| count.try_into().ok()))
    }

    /// As [`Setting::count`], and text that holds such a number.
    pub(super) fn count_or_text(&mut self) -> Result<Option<u64>> {
        Ok(self
            .whole_or_text(0..=MOST)?
            .and_then(|count| count.try_into().ok()))
    }

    /// A number of failures that are let pass, from 0: large ones are how people turn a rule off.
    pub(super) fn fails(&mut self) -> Result<Option<u32>> {
        Ok(self
            .whole(0..=MOST_FAILS)?
            .and_then(|count| count.try_into().ok()))
    }

    /// As [`Setting::fails`], and text that holds such a number.
    pub(super) fn fails_or_text(&mut self) -> Result<Option<u32>> {
        Ok(self
            .whole_or_text(0..=MOST_FAILS)?
            .and_then(|count| count.try_into().ok()))
    }

    /// A number of tries, from 0.
    pub(super) fn few(&mut self) -> Result<Option<u32>> {
        Ok(self
            .whole(0..=MOST_TRIES)?
            .and_then(|count| count.try_into().ok()))
    }

    /// As [`Setting::few`], and text that holds such a number.
    pub(super) fn few_or_text(&mut self) -> Result<Option<u32>> {
        Ok(self
            .whole_or_text(0..=MOST_TRIES)?
            .and_then(|count| count.try_into().ok()))
    }

    /// A finite number of at least 0.
    pub(super) fn amount(&mut self) -> Result<Option<f64>> {
        let Some(node) = self.given() else {
            return Ok(None);
        };
        self.at_least_zero(number(node), "a number of at least 0")
            .map(Some)
    }

    /// A finite number, below zero too.
    pub(super) fn finite(&mut self) -> Result<Option<f64>> {
        let Some(node) = self.given() else {
            return Ok(None);
        };
        let found = number(node).filter(|number| number.is_finite());
        found
            .map(Some)
            .ok_or_else(|| self.unaccepted("a finite number"))
    }

    /// Whether it is a text that LiteLLM's reader of YAML takes for no number.
    pub(super) fn is_text(&mut self) -> bool {
        let text = |node: &&Node| node.as_str().is_some() && number(node).is_none();
        self.given().as_ref().is_some_and(text)
    }

    /// As [`Setting::amount`], and text that holds such a number.
    pub(super) fn amount_or_text(&mut self) -> Result<Option<f64>> {
        let Some(node) = self.given() else {
            return Ok(None);
        };
        self.at_least_zero(number_or_text(node), "a number of at least 0")
            .map(Some)
    }

    /// A length of time.
    pub(super) fn seconds(&mut self) -> Result<Option<Duration>> {
        let Some(node) = self.given() else {
            return Ok(None);
        };
        self.duration(number(node)).map(Some)
    }

    /// A limit of time, of which LiteLLM takes 0 as none. Text that holds a number is converted.
    pub(super) fn timeout(&mut self) -> Result<Option<Duration>> {
        let Some(node) = self.given() else {
            return Ok(None);
        };
        let limit = self.duration(number_or_text(node))?;
        Ok(Some(limit).filter(|limit| !limit.is_zero()))
    }

    fn duration(&self, seconds: Option<f64>) -> Result<Duration> {
        let accepted = "a number of seconds from 0 to 1,000,000,000";
        let seconds = self.at_least_zero(seconds, accepted)?;
        if seconds > MOST_SECONDS {
            return Err(self.unaccepted(accepted));
        }
        Duration::try_from_secs_f64(seconds).map_err(|_| self.unaccepted(accepted))
    }

    fn at_least_zero(&self, number: Option<f64>, accepted: &str) -> Result<f64> {
        number
            .filter(|number| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.unaccepted(accepted))
    }
}

/// Most of anything that is counted: exact in every number format.
const MOST: i64 = 1_000_000_000_000_000;
/// Most failures that a rule lets pass; the router counts them in 32 bits.
const MOST_FAILS: i64 = 4_000_000_000;
/// Most retries and fallbacks; attempts of a request are numbered in 16 bits.
const MOST_TRIES: i64 = 10_000;
/// Longest time: about 31 years, well within the range of virtual time.
const MOST_SECONDS: f64 = 1e9;

fn number(node: &Node) -> Option<f64> {
    match node.value {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a setting needs no more than 53 bits"
        )]
        Value::Int(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        #[expect(
            clippy::cast_precision_loss,
            reason = "a setting needs no more than 53 bits"
        )]
        Value::Str(_) => underscored(node).map(|value| value as f64),
        Value::Null | Value::Bool(_) | Value::Seq(_) | Value::Map(_) => None,
    }
}

/// `20_000`, which YAML 1.2 takes for text and LiteLLM's reader for a number.
pub(super) fn underscored(node: &Node) -> Option<i128> {
    let text = node
        .as_str()
        .filter(|text| text.contains('_') && !text.starts_with(['0', '_']))?;
    let digits = text.replace('_', "");
    digits
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| digits.parse().ok())?
}

/// The text of a number, unless it begins with an idle zero: `010` is 8 to LiteLLM's reader where
/// it stands without quotes.
fn decimal(node: &Node) -> Option<&str> {
    let text = node.as_str()?.trim();
    let idle = text
        .strip_prefix('0')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!idle).then_some(text)
}

/// A number with commas between thousands.
fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 {
        "-".to_owned()
    } else {
        String::new()
    };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn number_or_text(node: &Node) -> Option<f64> {
    number(node).or_else(|| decimal(node)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_in_groups_and_read_with_underscores() {
        let read = |text: &str| underscored(&Node::unplaced(Value::Str(text.to_owned())));

        assert_eq!(
            [0, 999, 10_000, -1_000_000].map(grouped),
            ["0", "999", "10,000", "-1,000,000"]
        );
        assert_eq!(read("20_000"), Some(20_000));
        assert_eq!(
            [read("20000"), read("_1"), read("0_10"), read("a_b")],
            [None; 4]
        );
    }
}
