//! How a section of a config is read: a table says of every known key how it is used, or why it is
//! not. A key that has a reader in the table is thereby used; there is no other list of keys.

use std::{fmt, ops::RangeInclusive, time::Duration};

use super::{
    ledger::{IgnoredKey, Ledger},
    tables,
};
use crate::{
    error::{ScenarioError, did_you_mean},
    yaml::{Entry, Map, Node, Value, join},
};

pub(super) type Result<T> = std::result::Result<T, ScenarioError>;

/// What is known of a section's keys. `T` is what they are read into.
pub(super) struct Section<T: 'static> {
    /// Every key by name. Keys are read in this order, not in that of the file.
    pub(super) keys: &'static [Key<T>],
    /// Families of keys by a name with a `*` at its ends, asked after `keys`.
    pub(super) families: &'static [(&'static str, &'static str)],
    /// Why a key that is in none of the two is ignored.
    pub(super) otherwise: &'static str,
}

/// A key that LiteLLM knows.
pub(super) struct Key<T: 'static> {
    pub(super) name: &'static str,
    pub(super) fate: Fate<T>,
}

/// What becomes of a key.
pub(super) enum Fate<T: 'static> {
    /// It is read by this function.
    Used(fn(&mut T, &mut Setting<'_>) -> Result<()>),
    /// It is not acted on, for this reason.
    Ignored(&'static str),
    /// As `Ignored`, but `false`, `null` and empty lists are what the router does anyway.
    OffOnly(&'static str),
}

pub(super) const fn used<T>(
    name: &'static str,
    read: fn(&mut T, &mut Setting<'_>) -> Result<()>,
) -> Key<T> {
    Key { name, fate: Fate::Used(read) }
}

pub(super) const fn ignored<T>(name: &'static str, reason: &'static str) -> Key<T> {
    Key { name, fate: Fate::Ignored(reason) }
}

pub(super) const fn off_only<T>(name: &'static str, reason: &'static str) -> Key<T> {
    Key { name, fate: Fate::OffOnly(reason) }
}

impl<T> Section<T> {
    /// Reads a mapping into `target` and enters each of its keys in the ledger.
    pub(super) fn read(
        &self,
        target: &mut T,
        map: &Map,
        path: &str,
        ledger: &mut Ledger,
    ) -> Result<()> {
        for key in self.keys {
            let Some(entry) = map.entry(key.name) else { continue };
            let mut setting = Setting::new(entry, path, ledger);
            match key.fate {
                Fate::Used(read) => read(target, &mut setting)?,
                Fate::OffOnly(_) if is_off(&entry.value) => {}
                Fate::Ignored(reason) | Fate::OffOnly(reason) => setting.ignore(reason),
            }
            setting.close();
        }
        for entry in &map.entries {
            if self.keys.iter().all(|key| key.name != entry.key.name) {
                let mut setting = Setting::new(entry, path, ledger);
                setting.answer = self.answer_to_unknown(&entry.key.name);
                setting.close();
            }
        }
        Ok(())
    }

    /// Names of the keys that matter to routing.
    pub(super) fn routing_names(&self) -> impl Iterator<Item = &'static str> {
        self.keys
            .iter()
            .filter(|key| !matches!(key.fate, Fate::Ignored(_)))
            .map(|key| key.name)
    }

    fn answer_to_unknown(&self, name: &str) -> Answer {
        if let Some(near) = did_you_mean(name, self.routing_names()) {
            let reason = format!("{}; did you mean `{near}`?", tables::UNKNOWN);
            return Answer::Ignored { reason, suspicious: true };
        }
        if let Some((_, reason)) = self.families.iter().find(|(family, _)| is_of(family, name)) {
            return Answer::Ignored { reason: (*reason).to_owned(), suspicious: false };
        }
        if let Some(home) = tables::home_of(name) {
            let reason = format!("LiteLLM reads `{name}` under {home}, not here");
            return Answer::Ignored { reason, suspicious: true };
        }
        let near = did_you_mean(name, self.keys.iter().map(|key| key.name));
        let reason = near.map_or_else(
            || self.otherwise.to_owned(),
            |near| format!("{}; did you mean `{near}`?", self.otherwise),
        );
        Answer::Ignored { reason, suspicious: near.is_some() }
    }
}

/// One value on its way into the config.
#[derive(Debug)]
pub(super) struct Setting<'s> {
    pub(super) node: &'s Node,
    pub(super) path: String,
    line: u32,
    ledger: &'s mut Ledger,
    answer: Answer,
}

/// What the ledger is told about a value.
#[derive(Debug)]
enum Answer {
    Used,
    Ignored {
        reason: String,
        suspicious: bool,
    },
    /// Its parts have been entered one by one.
    InParts,
}

impl<'s> Setting<'s> {
    fn new(entry: &'s Entry, parent: &str, ledger: &'s mut Ledger) -> Self {
        let path = join(parent, &entry.key.name);
        Self { node: &entry.value, path, line: entry.key.line, ledger, answer: Answer::Used }
    }

    fn close(self) {
        let Self { path, line, ledger, answer, .. } = self;
        match answer {
            Answer::Used => ledger.used(path),
            Answer::Ignored { reason, suspicious } => {
                ledger.ignored(IgnoredKey { path, line, reason, suspicious });
            }
            Answer::InParts => {}
        }
    }

    /// The value is not acted on after all.
    pub(super) fn ignore(&mut self, reason: impl Into<String>) {
        self.answer = Answer::Ignored { reason: reason.into(), suspicious: false };
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
        match &self.node.value {
            Value::Null => None,
            Value::Str(text) if is_from_environment(text) => {
                self.ignore(tables::FROM_ENVIRONMENT);
                None
            }
            _ => Some(self.node),
        }
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
        if self.given().is_none() { Ok(None) } else { self.text() }
    }

    /// A whole number within `range`.
    pub(super) fn whole(&mut self, range: RangeInclusive<i64>) -> Result<Option<i64>> {
        let Some(node) = self.given() else { return Ok(None) };
        self.within(node.whole(), range).map(Some)
    }

    /// As [`Setting::whole`], and text that holds such a number, where LiteLLM converts it.
    pub(super) fn whole_or_text(&mut self, range: RangeInclusive<i64>) -> Result<Option<i64>> {
        let Some(node) = self.given() else { return Ok(None) };
        let whole = node.whole().or_else(|| node.as_str()?.trim().parse().ok());
        self.within(whole, range).map(Some)
    }

    fn within(&self, whole: Option<i128>, range: RangeInclusive<i64>) -> Result<i64> {
        whole.and_then(|whole| i64::try_from(whole).ok()).filter(|w| range.contains(w)).ok_or_else(
            || self.unaccepted(format_args!("a whole number from {} to {}", range.start(), range.end())),
        )
    }

    /// A whole number of things, from 0.
    pub(super) fn count(&mut self) -> Result<Option<u64>> {
        Ok(self.whole(0..=MOST)?.and_then(|count| count.try_into().ok()))
    }

    /// As [`Setting::count`], and text that holds such a number.
    pub(super) fn count_or_text(&mut self) -> Result<Option<u64>> {
        Ok(self.whole_or_text(0..=MOST)?.and_then(|count| count.try_into().ok()))
    }

    /// A number of tries or failures, from 0.
    pub(super) fn few(&mut self) -> Result<Option<u32>> {
        Ok(self.whole(0..=MOST_TRIES)?.and_then(|count| count.try_into().ok()))
    }

    /// As [`Setting::few`], and text that holds such a number.
    pub(super) fn few_or_text(&mut self) -> Result<Option<u32>> {
        Ok(self.whole_or_text(0..=MOST_TRIES)?.and_then(|count| count.try_into().ok()))
    }

    /// A finite number of at least 0.
    pub(super) fn amount(&mut self) -> Result<Option<f64>> {
        let Some(node) = self.given() else { return Ok(None) };
        self.at_least_zero(number(node), "a number of at least 0").map(Some)
    }

    /// As [`Setting::amount`], and text that holds such a number.
    pub(super) fn amount_or_text(&mut self) -> Result<Option<f64>> {
        let Some(node) = self.given() else { return Ok(None) };
        self.at_least_zero(number_or_text(node), "a number of at least 0").map(Some)
    }

    /// A length of time.
    pub(super) fn seconds(&mut self) -> Result<Option<Duration>> {
        let Some(node) = self.given() else { return Ok(None) };
        self.duration(number(node)).map(Some)
    }

    /// A limit of time, of which LiteLLM takes 0 as none. Text that holds a number is converted.
    pub(super) fn timeout(&mut self) -> Result<Option<Duration>> {
        let Some(node) = self.given() else { return Ok(None) };
        let limit = self.duration(number_or_text(node))?;
        Ok(Some(limit).filter(|limit| !limit.is_zero()))
    }

    fn duration(&self, seconds: Option<f64>) -> Result<Duration> {
        let accepted = format!("a number of seconds from 0 to {MOST_SECONDS}");
        let seconds = self.at_least_zero(seconds, &accepted)?;
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
        let Some(node) = self.given() else { return Ok(None) };
        let flag = match &node.value {
            Value::Bool(flag) => Some(*flag),
            Value::Str(word) => match word.to_lowercase().as_str() {
                "yes" | "on" | "true" => Some(true),
                "no" | "off" | "false" => Some(false),
                _ => None,
            },
            Value::Null | Value::Int(_) | Value::Float(_) | Value::Seq(_) | Value::Map(_) => None,
        };
        flag.map(Some).ok_or_else(|| self.unaccepted("true or false"))
    }

    /// Reads a mapping by its own table. Null is an empty one.
    pub(super) fn section<T>(&mut self, section: &Section<T>, target: &mut T) -> Result<()> {
        let Some(node) = self.given() else { return Ok(()) };
        let map = node.as_map().ok_or_else(|| self.unaccepted("a mapping"))?;
        self.in_parts(map.entries.is_empty());
        section.read(target, map, &self.path, self.ledger)
    }

    /// Reads each entry of a mapping whose keys are names. Null is an empty one.
    pub(super) fn entries(
        &mut self,
        mut read: impl FnMut(&str, &mut Setting<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(node) = self.given() else { return Ok(()) };
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
        let Some(node) = self.given() else { return Ok(()) };
        let items = node.as_seq().ok_or_else(|| self.unaccepted("a list"))?;
        self.in_parts(items.is_empty());
        for (index, node) in items.iter().enumerate() {
            let path = format!("{}[{index}]", self.path);
            let answer = Answer::Used;
            let mut inner = Setting { node, path, line: node.line, ledger: self.ledger, answer };
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
/// Most retries, fallbacks and allowed failures; attempts of a request are numbered in 16 bits.
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
        #[expect(clippy::cast_precision_loss, reason = "a setting needs no more than 53 bits")]
        Value::Int(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        Value::Null | Value::Bool(_) | Value::Str(_) | Value::Seq(_) | Value::Map(_) => None,
    }
}

fn number_or_text(node: &Node) -> Option<f64> {
    number(node).or_else(|| node.as_str()?.trim().parse().ok())
}

/// Whether a value is to be looked up in the environment: LiteLLM's `os.environ/NAME`, or a
/// variable that a shell or a deployment tool fills in.
fn is_from_environment(text: &str) -> bool {
    let variable = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    text.starts_with("os.environ/")
        || text.split_once("${").is_some_and(|(_, rest)| rest.contains('}'))
        || text.strip_prefix('$').is_some_and(variable)
}

fn is_off(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Bool(false) => true,
        Value::Seq(items) => items.is_empty(),
        Value::Map(map) => map.entries.is_empty(),
        Value::Bool(true) | Value::Int(_) | Value::Float(_) | Value::Str(_) => false,
    }
}

/// Whether `name` is of a family: `redis_*`, `*_callback`, `*_cost_*`.
fn is_of(family: &str, name: &str) -> bool {
    match (family.strip_prefix('*'), family.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(family.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == family,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_by_their_ends() {
        assert!(is_of("redis_*", "redis_host"));
        assert!(is_of("*_callback", "success_callback"));
        assert!(is_of("*_cost_*", "input_cost_per_pixel"));
        assert!(!is_of("redis_*", "my_redis_host"));
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
