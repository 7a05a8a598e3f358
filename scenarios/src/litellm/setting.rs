//! One value of a config on its way into the settings: asked as what it is meant to be, refused
//! with its place and what would be accepted, and entered in the ledger in the end.
//!
//! Conversions are LiteLLM's: a number as text counts where its types convert, null counts as not
//! given, and so does, here, what stands in the environment.

use std::{fmt, ops::RangeInclusive, time::Duration};

use super::{
    ledger::{IgnoredKey, Ledger},
    section::Section,
    tables,
};
use crate::{
    error::ScenarioError,
    yaml::{Entry, Node, Value, join},
};

pub(super) type Result<T> = std::result::Result<T, ScenarioError>;

/// One value on its way into the config.
#[derive(Debug)]
pub(super) struct Setting<'s> {
    pub(super) node: &'s Node,
    pub(super) path: String,
    line: u32,
    ledger: &'s mut Ledger,
    pub(super) answer: Answer,
}

/// What the ledger is told about a value.
#[derive(Debug)]
pub(super) enum Answer {
    Used,
    Ignored {
        reason: String,
        suspicious: bool,
    },
    /// Its parts have been entered one by one.
    InParts,
}

impl<'s> Setting<'s> {
    pub(super) fn new(entry: &'s Entry, parent: &str, ledger: &'s mut Ledger) -> Self {
        let path = join(parent, &entry.key.name);
        Self {
            node: &entry.value,
            path,
            line: entry.key.line,
            ledger,
            answer: Answer::Used,
        }
    }

    pub(super) fn close(self) {
        let Self {
            path,
            line,
            ledger,
            answer,
            ..
        } = self;
        match answer {
            Answer::Used => ledger.used(path),
            Answer::Ignored { reason, suspicious } => {
                ledger.ignored(IgnoredKey {
                    path,
                    line,
                    reason,
                    suspicious,
                });
            }
            Answer::InParts => {}
        }
    }

    /// The value, with all below it, is not acted on after all.
    pub(super) fn ignore(&mut self, reason: impl Into<String>) {
        if matches!(self.answer, Answer::InParts) {
            self.ledger.forget_below(&self.path);
        }
        let (reason, suspicious) = (reason.into(), false);
        self.answer = Answer::Ignored { reason, suspicious };
    }

    /// An error about this value.
    pub(super) fn error(&self, message: impl Into<String>) -> ScenarioError {
        self.node.error(message).key(&self.path)
    }

    /// An error that says what was found here and what is accepted.
    pub(super) fn unaccepted(&self, accepted: impl fmt::Display) -> ScenarioError {
        self.node.unaccepted(accepted).key(&self.path)
    }

    /// The value, unless it is null or stands in the environment, which is never asked.
    pub(super) fn given(&mut self) -> Option<&'s Node> {
        if self.is_from_environment() {
            self.ignore(tables::FROM_ENVIRONMENT);
            return None;
        }
        Some(self.node).filter(|node| !node.is_null())
    }

    /// Whether the value stands in the environment.
    pub(super) fn is_from_environment(&self) -> bool {
        self.node.as_str().is_some_and(is_from_environment)
    }

    /// Text as it stands, `os.environ/…` included.
    pub(super) fn text(&self) -> Result<Option<String>> {
        match &self.node.value {
            Value::Null => Ok(None),
            Value::Str(text) => Ok(Some(text.clone())),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                Err(self.unaccepted("text, so put it in quotes"))
            }
            Value::Seq(_) | Value::Map(_) => Err(self.unaccepted("text")),
        }
    }

    /// The name of a model group: text that is known here.
    pub(super) fn group(&mut self) -> Result<Option<String>> {
        if self.given().is_none() {
            Ok(None)
        } else {
            self.text()
        }
    }

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

    /// `true` or `false`, and the words that LiteLLM's YAML reader takes for them.
    pub(super) fn flag(&mut self) -> Result<Option<bool>> {
        let Some(node) = self.given() else {
            return Ok(None);
        };
        let flag = match &node.value {
            Value::Bool(flag) => Some(*flag),
            Value::Str(word) => match word.to_lowercase().as_str() {
                "yes" | "on" | "true" => Some(true),
                "no" | "off" | "false" => Some(false),
                _ => None,
            },
            Value::Null | Value::Int(_) | Value::Float(_) | Value::Seq(_) | Value::Map(_) => None,
        };
        flag.map(Some)
            .ok_or_else(|| self.unaccepted("true or false"))
    }

    /// Reads a mapping by its own table. Null is an empty one.
    pub(super) fn section<T>(&mut self, section: &Section<T>, target: &mut T) -> Result<()> {
        let Some(node) = self.given() else {
            return Ok(());
        };
        let map = node.as_map().ok_or_else(|| self.unaccepted("a mapping"))?;
        self.in_parts(map.entries.is_empty());
        section.read(target, map, &self.path, self.ledger)
    }

    /// Reads each entry of a mapping whose keys are names. Null is an empty one.
    pub(super) fn entries(
        &mut self,
        mut read: impl FnMut(&str, &mut Setting<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(node) = self.given() else {
            return Ok(());
        };
        let map = node.as_map().ok_or_else(|| self.unaccepted("a mapping"))?;
        self.in_parts(map.entries.is_empty());
        for entry in &map.entries {
            let mut inner = Setting::new(entry, &self.path, self.ledger);
            read(&entry.key.name, &mut inner)?;
            inner.close();
        }
        Ok(())
    }

    /// Reads each item of a list. Null is an empty one.
    pub(super) fn items(
        &mut self,
        mut read: impl FnMut(&mut Setting<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(node) = self.given() else {
            return Ok(());
        };
        let items = node.as_seq().ok_or_else(|| self.unaccepted("a list"))?;
        self.in_parts(items.is_empty());
        for (index, node) in items.iter().enumerate() {
            let path = format!("{}[{index}]", self.path);
            let answer = Answer::Used;
            let mut inner = Setting {
                node,
                path,
                line: node.line,
                ledger: self.ledger,
                answer,
            };
            read(&mut inner)?;
            inner.close();
        }
        Ok(())
    }

    fn in_parts(&mut self, empty: bool) {
        self.answer = if empty { Answer::Used } else { Answer::InParts };
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

/// Puts `value` where nothing is yet; where there is something, the new value is not acted on.
pub(super) fn fill<T>(slot: &mut Option<T>, value: Option<T>, s: &mut Setting<'_>, taken: &str) {
    if value.is_none() {
    } else if slot.is_none() {
        *slot = value;
    } else {
        s.ignore(format!("{taken} is used in its place"));
    }
}

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

/// Whether a value is to be looked up in the environment: LiteLLM's `os.environ/NAME`, or a
/// variable that a shell or a deployment tool fills in.
fn is_from_environment(text: &str) -> bool {
    let variable = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    text.starts_with("os.environ/")
        || text
            .split_once("${")
            .is_some_and(|(_, rest)| rest.contains('}'))
        || text.strip_prefix('$').is_some_and(variable)
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

    #[test]
    fn values_from_the_environment_are_recognised() {
        assert!(is_from_environment("os.environ/RPM"));
        assert!(is_from_environment("${RPM}"));
        assert!(is_from_environment("$RPM"));
        assert!(!is_from_environment("$5 a day"));
        assert!(!is_from_environment("gpt-4"));
    }
}
