//! Serde's way into a tree: any derived reader can read a [`Node`], and its errors come out with
//! the place and the path of the key that they are about.

use serde::{
    de::{self, IntoDeserializer as _, Visitor, value::BorrowedStrDeserializer},
    forward_to_deserialize_any,
};

use super::{Entry, Key, Node, Value, path::quoted};
use crate::error::{ScenarioError, one_of};

type Result<T> = std::result::Result<T, ScenarioError>;

impl<'de> de::Deserializer<'de> for &'de Node {
    type Error = ScenarioError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let read = match &self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visit_int(*value, visitor),
            Value::Float(value) if !value.is_finite() => Err(self.unaccepted("a finite number")),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Str(text) => visitor.visit_borrowed_str(text),
            Value::Seq(items) => visitor.visit_seq(Items {
                items: items.iter(),
                next: 0,
            }),
            Value::Map(map) => visitor.visit_map(Entries {
                left: map.entries.iter(),
                value: None,
            }),
        };
        read.map_err(|error| error.at(self.line, self.column))
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_whole(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_whole(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_whole(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_whole(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_whole(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    /// Derived readers of structs would take a list of their fields' values, too.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if matches!(self.value, Value::Seq(_)) {
            return Err(self.unaccepted("a mapping").at(self.line, self.column));
        }
        de::Deserializer::deserialize_any(self, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let read = match &self.value {
            Value::Str(text) => {
                let bare = BorrowedStrDeserializer::new(text);
                de::Deserializer::deserialize_enum(bare, name, variants, visitor)
            }
            Value::Map(map) => match map.entries.as_slice() {
                [entry] => visitor.visit_enum(Variant { entry }),
                entries => Err(ScenarioError::unaccepted(
                    format_args!("a mapping of {} keys", entries.len()),
                    format_args!("one key: {}", one_of(variants)),
                )),
            },
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Seq(_) => {
                Err(self.unaccepted(one_of(variants)))
            }
        };
        read.map_err(|error| error.at(self.line, self.column))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

impl Node {
    /// A whole number may be written with an exponent or a point: `1e3`, `60.0`.
    fn deserialize_whole<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value> {
        match self.whole() {
            Some(whole) => visit_int(whole, visitor).map_err(|e| e.at(self.line, self.column)),
            None => de::Deserializer::deserialize_any(self, visitor),
        }
    }

    /// The whole number, if it is one, written in whatever way. Floats count up to 2^53, beyond
    /// which they are no longer exact.
    #[must_use]
    pub fn whole(&self) -> Option<i128> {
        match self.value {
            Value::Int(value) => Some(value),
            #[expect(clippy::cast_possible_truncation, reason = "bounded by 2^53 and whole")]
            Value::Float(value) if value.abs() <= 9_007_199_254_740_992.0 => {
                let whole = value as i64;
                #[expect(clippy::cast_precision_loss, reason = "bounded by 2^53")]
                #[expect(clippy::float_cmp, reason = "asks whether there is a fraction")]
                let exact = whole as f64 == value;
                exact.then_some(whole.into())
            }
            Value::Null
            | Value::Bool(_)
            | Value::Float(_)
            | Value::Str(_)
            | Value::Seq(_)
            | Value::Map(_) => None,
        }
    }
}

fn visit_int<'de, V: Visitor<'de>>(value: i128, visitor: V) -> Result<V::Value> {
    match (u64::try_from(value), i64::try_from(value)) {
        (Ok(value), _) => visitor.visit_u64(value),
        (_, Ok(value)) => visitor.visit_i64(value),
        _ => visitor.visit_i128(value),
    }
}

struct Items<'de> {
    items: std::slice::Iter<'de, Node>,
    next: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = ScenarioError;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        let Some(node) = self.items.next() else {
            return Ok(None);
        };
        let index = self.next;
        self.next += 1;
        let read = seed.deserialize(node);
        read.map(Some).map_err(|error| {
            error
                .under(&format!("[{index}]"))
                .at(node.line, node.column)
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries<'de> {
    left: std::slice::Iter<'de, Entry>,
    value: Option<&'de Entry>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = ScenarioError;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some(entry) = self.left.next() else {
            return Ok(None);
        };
        self.value = Some(entry);
        let Key { name, line, column } = &entry.key;
        seed.deserialize(KeyDeserializer(name))
            .map(Some)
            .map_err(|error| error.under(&quoted(name)).at(*line, *column))
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let Entry { key, value } = self.value.take().expect("serde asks for a key first");
        seed.deserialize(value)
            .map_err(|error| error.under(&quoted(&key.name)).at(value.line, value.column))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// A variant with content: `poisson: {per_second: 15}`.
struct Variant<'de> {
    entry: &'de Entry,
}

impl<'de> Variant<'de> {
    fn inside(&self, error: ScenarioError) -> ScenarioError {
        let Entry { key, value } = self.entry;
        error.under(&quoted(&key.name)).at(value.line, value.column)
    }
}

impl<'de> de::EnumAccess<'de> for Variant<'de> {
    type Error = ScenarioError;
    type Variant = Self;

    fn variant_seed<V: de::DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let key = &self.entry.key;
        let variant = seed
            .deserialize(KeyDeserializer(&key.name))
            .map_err(|error| error.at(key.line, key.column))?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'de> {
    type Error = ScenarioError;

    fn unit_variant(self) -> Result<()> {
        if self.entry.value.is_null() {
            return Ok(());
        }
        Err(self.inside(
            self.entry
                .value
                .unaccepted("the bare name, without a value"),
        ))
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(&self.entry.value)
            .map_err(|error| self.inside(error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_any(&self.entry.value, visitor)
            .map_err(|error| self.inside(error))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        de::Deserializer::deserialize_struct(&self.entry.value, "", fields, visitor)
            .map_err(|error| self.inside(error))
    }
}

/// A key: text, and a number where the reader asks for one.
struct KeyDeserializer<'de>(&'de str);

macro_rules! keys_that_are_numbers {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.0.parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

impl<'de> de::Deserializer<'de> for KeyDeserializer<'de> {
    type Error = ScenarioError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self.0)
    }

    keys_that_are_numbers! {
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32
        deserialize_u64 visit_u64 deserialize_i64 visit_i64
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let text: de::value::StrDeserializer<'_, ScenarioError> = self.0.into_deserializer();
        de::Deserializer::deserialize_enum(text, name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::super::parse;

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Plan {
        name: Option<String>,
        seeds: u32,
        #[serde(default)]
        arrivals: Option<Arrivals>,
        #[serde(default)]
        axes: BTreeMap<u32, Vec<f64>>,
    }

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(rename_all = "snake_case")]
    enum Arrivals {
        Replay,
        Poisson { per_second: f64 },
        Every(f64),
    }

    fn fails(text: &str) -> String {
        parse(text, "p.yaml")
            .unwrap()
            .read::<Plan>("p.yaml")
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_derived_reader_reads_a_tree() {
        let tree = parse(
            "name: x\nseeds: 1e3\narrivals: {poisson: {per_second: 15}}\naxes: {1: [0.5, 2]}",
            "p.yaml",
        )
        .unwrap();

        let plan: Plan = tree.read("p.yaml").unwrap();

        let expected = Plan {
            name: Some("x".to_owned()),
            seeds: 1000,
            arrivals: Some(Arrivals::Poisson { per_second: 15.0 }),
            axes: BTreeMap::from([(1, vec![0.5, 2.0])]),
        };
        assert_eq!(plan, expected);
    }

    #[test]
    fn bare_and_newtype_variants_are_read() {
        let read = |text| parse(text, "f").unwrap().read::<Arrivals>("f").unwrap();

        assert_eq!(read("replay"), Arrivals::Replay);
        assert_eq!(read("every: 2"), Arrivals::Every(2.0));
    }

    #[test]
    fn errors_name_place_and_path() {
        insta::assert_snapshot!(
            fails("seeds: many"),
            @r#"p.yaml:1:8: seeds: found the text "many"; accepted is a whole number of at least 0"#
        );
        insta::assert_snapshot!(
            fails("seeds: 1\nseedz: 2"),
            @"p.yaml:2:1: seedz: unknown key; did you mean `seeds`?"
        );
        insta::assert_snapshot!(
            fails("seeds: -1"),
            @"p.yaml:1:8: seeds: found the number -1; accepted is a whole number of at least 0"
        );
        insta::assert_snapshot!(
            fails("seeds: 1\narrivals: {poisson: {per_second: .nan}}"),
            @"p.yaml:2:34: arrivals.poisson.per_second: found the number NaN; accepted is a finite number"
        );
        insta::assert_snapshot!(
            fails("seeds: 1\narrivals: {poison: {per_second: 1}}"),
            @"p.yaml:2:12: arrivals: unknown value `poison`; did you mean `poisson`?"
        );
        insta::assert_snapshot!(
            fails("seeds: 1\naxes: {1: [0.5, x]}"),
            @r#"p.yaml:2:17: axes.1[1]: found the text "x"; accepted is a number"#
        );
        insta::assert_snapshot!(fails("name: x"), @"p.yaml:1:1: key `seeds` is missing");
        insta::assert_snapshot!(
            fails("seeds: 1\narrivals: [1]"),
            @"p.yaml:2:11: arrivals: found a list; accepted is replay, poisson or every"
        );
    }
}
