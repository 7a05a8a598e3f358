//! Whole numbers of a scenario between bounds, which every error names: a number outside of them, one
//! below zero, one with a fraction and what is no number at all.

use std::fmt;

use serde::{
    Deserializer,
    de::{self, Unexpected, Visitor},
};

/// Reads one, where `null` is as good as nothing.
pub(crate) fn between<'de, D, const LEAST: u32, const MOST: u32>(
    deserializer: D,
) -> Result<Option<u32>, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_option(Whole::<LEAST, MOST>)
}

struct Whole<const LEAST: u32, const MOST: u32>;

impl<'de, const LEAST: u32, const MOST: u32> Visitor<'de> for Whole<LEAST, MOST> {
    type Value = Option<u32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {LEAST} to {MOST}")
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_u64<E: de::Error>(self, found: u64) -> Result<Self::Value, E> {
        let whole = u32::try_from(found).ok();
        match whole.filter(|whole| (LEAST..=MOST).contains(whole)) {
            Some(whole) => Ok(Some(whole)),
            None => Err(E::invalid_value(Unexpected::Unsigned(found), &self)),
        }
    }

    fn visit_i64<E: de::Error>(self, found: i64) -> Result<Self::Value, E> {
        match u64::try_from(found) {
            Ok(found) => self.visit_u64(found),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(found), &self)),
        }
    }
}
