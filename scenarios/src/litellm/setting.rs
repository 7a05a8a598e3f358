//! One value of a config on its way into the settings: asked as what it is meant to be, refused
//! with its place and what would be accepted, and entered in the ledger in the end.
//!
//! Conversions are LiteLLM's: a number as text counts where its types convert, null counts as not
//! given, and so does, here, what stands in the environment.

use std::fmt;

use super::{
    ledger::{IgnoredKey, Ledger},
    section::Section,
    tables,
};
use crate::{
    error::ScenarioError,
    yaml::{Entry, Map, Node, Value, join},
};

pub(super) type Result<T> = std::result::Result<T, ScenarioError>;

/// One value on its way into the config.
#[derive(Debug)]
pub(super) struct Setting<'s> {
    pub(super) node: &'s Node,
    pub(super) path: String,
    /// The key; empty for an item of a list.
    pub(super) name: &'s str,
    /// The mapping that the key stands in.
    beside: Option<&'s Map>,
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
    /// The value of an entry of `map`, whose path is `parent`.
    pub(super) fn new(
        entry: &'s Entry,
        map: &'s Map,
        parent: &str,
        ledger: &'s mut Ledger,
    ) -> Self {
        let path = join(parent, &entry.key.name);
        Self {
            node: &entry.value,
            path,
            name: &entry.key.name,
            beside: Some(map),
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

    /// As [`Setting::ignore`], of what looks like a mistake.
    pub(super) fn suspect(&mut self, reason: impl Into<String>) {
        self.ignore(reason);
        if let Answer::Ignored { suspicious, .. } = &mut self.answer {
            *suspicious = true;
        }
    }

    /// The value of another key of the same mapping, unless it is null.
    pub(super) fn beside(&self, key: &str) -> Option<&'s Node> {
        self.beside?.get(key).filter(|node| !node.is_null())
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
            let mut inner = Setting::new(entry, map, &self.path, self.ledger);
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
                name: "",
                beside: None,
                line: node.line,
                ledger: self.ledger,
                answer,
            };
            read(&mut inner)?;
            inner.close();
        }
        Ok(())
    }

    /// Reads a list of text. Null is an empty one.
    pub(super) fn texts(&mut self) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        self.items(|item| {
            let text = item.text()?.ok_or_else(|| item.unaccepted("text"))?;
            texts.push(text);
            Ok(())
        })?;
        Ok(texts)
    }

    fn in_parts(&mut self, empty: bool) {
        self.answer = if empty { Answer::Used } else { Answer::InParts };
    }
}

/// Puts `value` where nothing is yet; where there is something, the new value is not acted on.
pub(super) fn fill<T>(slot: &mut Option<T>, value: Option<T>, s: &mut Setting<'_>, taken: &str) {
    if value.is_none() {
    } else if slot.is_none() {
        *slot = value;
    } else {
        s.ignore(format!("{taken} is used in its place"));
    }
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
    fn values_from_the_environment_are_recognised() {
        assert!(is_from_environment("os.environ/RPM"));
        assert!(is_from_environment("${RPM}"));
        assert!(is_from_environment("$RPM"));
        assert!(!is_from_environment("$5 a day"));
        assert!(!is_from_environment("gpt-4"));
    }
}
