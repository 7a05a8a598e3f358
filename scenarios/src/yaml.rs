//! A YAML document as a tree that remembers where each key and value stands.
//!
//! Both readers of this crate work on this tree: [`parse`] makes it (anchors, aliases and merge
//! keys resolved, duplicate keys refused), [`Node::set_path`] changes it as `--set path=value` and
//! sweep axes ask, [`Node::read`] turns it, or a part of it, into any type that serde can read,
//! with errors that name line, column and the path of the key. [`Node::get`], [`Node::get_mut`],
//! [`Node::at_path`] and the `as_` questions serve readers that walk the tree by hand.
//!
//! Scalars are typed by the core schema of YAML 1.2: `1e3` is a number, `yes`, `1_000` and `010`
//! are text. YAML 1.1, which LiteLLM's own reader follows, takes the first as text, the others as a
//! boolean, 1000 and 8; `litellm` allows for that where the meaning is plain.

mod deserializer;
mod path;
mod syntax;

use std::fmt;

use serde::{Deserialize, de};
use serde_saphyr::{
    Spanned,
    options::{DuplicateKeyPolicy, NonFiniteFloatPolicy},
};

pub(crate) use self::path::canonical;
pub use self::path::{join, quoted};
use crate::error::ScenarioError;

/// A value and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// What stands there.
    pub value: Value,
    /// The line, from 1; 0 for what did not come from a file, such as an override.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// A YAML value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that fits 64 bits, signed or unsigned.
    Int(i128),
    /// Any other number; `.nan` and `.inf` as well, which [`Node::read`] refuses.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    Seq(Vec<Node>),
    /// A mapping.
    Map(Map),
}

/// A mapping, in the order of the file. What a merge key (`<<`) brings in stands last.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Map {
    /// The entries; no two share a name.
    pub entries: Vec<Entry>,
}

/// One entry of a mapping.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Its key.
    pub key: Key,
    /// Its value.
    pub value: Node,
}

/// The key of an entry and its place. Keys that YAML reads as numbers or booleans are kept as they
/// were written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The key's text.
    pub name: String,
    /// The line, from 1; 0 for what did not come from a file.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// Reads one YAML document. Nothing but comments is [`Value::Null`].
///
/// # Errors
///
/// What is no YAML, duplicate keys, keys that are no scalars, more than one document, templates
/// (`{{ … }}`) that were not rendered, and documents whose aliases expand beyond reason.
pub fn parse(text: &str, file: &str) -> Result<Node, ScenarioError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MOST_LEVELS,
            max_nodes: MOST_NODES,
            max_recorded_anchor_events: MOST_ALIASED_NODES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MOST_ALIASED_NODES,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        emit_comments: false,
        leading_zero_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Spanned<Value>>(text, options)
        .map(Node::from)
        .map_err(|error| {
            syntax::in_our_words(&error, text)
                .in_file(file)
                .with_text(text)
        })
}

/// How many nodes aliases may add to a document. A thousand deployments that share ten lines each
/// need 20,000; an alias bomb is refused after some hundredths of a second.
const MOST_ALIASED_NODES: usize = 50_000;
/// How many nodes a document may have. Ten thousand deployments of ten lines need 230,000.
const MOST_NODES: usize = 250_000;
/// How deep a document may be nested, for the sake of the stack.
const MOST_LEVELS: usize = 64;

impl Node {
    /// A value that did not come from a file.
    #[must_use]
    pub const fn unplaced(value: Value) -> Self {
        Self {
            value,
            line: 0,
            column: 0,
        }
    }

    /// The value of `key`, if this is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.get(key)
    }

    /// The value of `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        if let Value::Map(map) = &mut self.value {
            map.get_mut(key)
        } else {
            None
        }
    }

    /// The mapping, if it is one.
    #[must_use]
    pub const fn as_map(&self) -> Option<&Map> {
        if let Value::Map(map) = &self.value {
            Some(map)
        } else {
            None
        }
    }

    /// The items, if it is a list.
    #[must_use]
    pub fn as_seq(&self) -> Option<&[Self]> {
        if let Value::Seq(items) = &self.value {
            Some(items)
        } else {
            None
        }
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Str(text) = &self.value {
            Some(text)
        } else {
            None
        }
    }

    /// Whether it is `null` or nothing at all.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Reads a value of `T` by serde. Whole numbers are taken from floats without a fraction;
    /// numbers that are not finite are refused.
    ///
    /// # Errors
    ///
    /// The first thing that `T` does not accept, with file, place and key, the key as a path from
    /// this node.
    pub fn read<'n, T: Deserialize<'n>>(&'n self, file: &str) -> Result<T, ScenarioError> {
        T::deserialize(self).map_err(|error| error.at(self.line, self.column).in_file(file))
    }

    /// An error about this node.
    #[must_use]
    pub fn error(&self, message: impl Into<String>) -> ScenarioError {
        ScenarioError::new(message).at(self.line, self.column)
    }

    /// An error that says what was found here and what is accepted.
    #[must_use]
    pub fn unaccepted(&self, accepted: impl fmt::Display) -> ScenarioError {
        ScenarioError::unaccepted(&self.value, accepted).at(self.line, self.column)
    }
}

impl Map {
    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of `key`.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.name == key)
    }

    /// The value of `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries
            .iter_mut()
            .find(|entry| entry.key.name == key)
            .map(|entry| &mut entry.value)
    }
}

/// What was found, in the words of an error.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("nothing"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "the number {value}"),
            Self::Float(value) => write!(f, "the number {value}"),
            Self::Str(text) => write!(f, "the text \"{text}\""),
            Self::Seq(_) => f.write_str("a list"),
            Self::Map(_) => f.write_str("a mapping"),
        }
    }
}

impl From<Spanned<Value>> for Node {
    /// The place is where the value is written, for an alias that of its anchor: it is what a user
    /// has to change.
    fn from(spanned: Spanned<Value>) -> Self {
        let (line, column) = place(spanned.defined);
        Self {
            value: spanned.value,
            line,
            column,
        }
    }
}

fn place(location: serde_saphyr::Location) -> (u32, u32) {
    let clamp = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    (clamp(location.line()), clamp(location.column()))
}

/// Reads a value of any kind, as the document types it.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> de::Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Str(value.to_owned()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut seq = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Value>>()? {
            seq.push(Node::from(item));
        }
        Ok(Value::Seq(seq))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::default();
        while let Some((key, value)) = entries.next_entry::<Spanned<String>, Spanned<Value>>()? {
            let (line, column) = place(key.defined);
            let key = Key {
                name: key.value,
                line,
                column,
            };
            map.entries.push(Entry {
                key,
                value: Node::from(value),
            });
        }
        Ok(Value::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        parse(text, "t.yaml").unwrap().value
    }

    #[test]
    fn scalars_are_typed_by_yaml_1_2() {
        let text = "[~, true, yes, 12, -3, 0x1F, 0o17, 1e3, .5, 1_000, 010, '7', 2026-01-01]";

        let Value::Seq(items) = value(text) else {
            unreachable!()
        };

        let shown: Vec<String> = items
            .iter()
            .map(|item| format!("{:?}", item.value))
            .collect();
        insta::assert_snapshot!(shown.join(" "), @r#"Null Bool(true) Str("yes") Int(12) Int(-3) Int(31) Int(15) Float(1000.0) Float(0.5) Str("1_000") Str("010") Str("7") Str("2026-01-01")"#);
    }

    #[test]
    fn numbers_beyond_64_bits_and_not_finite_ones_are_floats() {
        let Value::Seq(items) = value("[99999999999999999999, .inf, 1e999, .nan]") else {
            unreachable!()
        };

        assert_eq!(items[0].value, Value::Float(1e20));
        assert_eq!(items[1].value, Value::Float(f64::INFINITY));
        assert_eq!(items[2].value, Value::Float(f64::INFINITY));
        assert!(matches!(items[3].value, Value::Float(number) if number.is_nan()));
    }

    #[test]
    fn aliases_and_merge_keys_are_resolved_and_keep_the_place_of_the_text() {
        let tree = parse("base: &b {rpm: 5, tpm: 7}\nc:\n  <<: *b\n  tpm: 9\n", "t").unwrap();

        let rpm = tree.at_path("c.rpm").unwrap();
        assert_eq!((&rpm.value, rpm.line, rpm.column), (&Value::Int(5), 1, 16));
        assert_eq!(tree.at_path("c.tpm").unwrap().value, Value::Int(9));
    }

    #[test]
    fn comments_alone_are_null() {
        assert_eq!(value("# nothing here\n# at all\n"), Value::Null);
        assert_eq!(value(""), Value::Null);
    }
}
