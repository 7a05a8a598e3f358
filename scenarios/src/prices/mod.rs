//! LiteLLM's price registry: what models cost and how long their prompts may be, by name
//! (semantics 11.3).
//!
//! The registry is a file of LiteLLM's (`model_prices_and_context_window.json`) that the user gives;
//! none is built in, since prices change from week to week. Without one, only the prices that stand in
//! the config itself are known. What is unknown stays unknown.

mod names;
mod resolve;

use std::{collections::BTreeMap, fmt, path::Path};

use router::Prices;
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess},
};

pub(crate) use self::resolve::resolve;
use crate::{error::ScenarioError, litellm::price_keys::price_slot, source::read_text};

/// LiteLLM's price registry.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PriceRegistry {
    entries: BTreeMap<String, PriceEntry>,
}

/// What the registry says of one model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PriceEntry {
    /// Its prices.
    pub prices: Prices,
    /// `max_input_tokens`, if it is a whole number.
    pub max_input_tokens: Option<u32>,
    /// `litellm_provider`.
    pub provider: String,
}

impl PriceRegistry {
    /// Reads the text of a registry. `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// What is no JSON, or no object of objects, with its place.
    ///
    /// ```
    /// let text = r#"{"gpt-4o": {"input_cost_per_token": 2.5e-06, "litellm_provider": "openai"}}"#;
    /// let registry = scenarios::prices::PriceRegistry::read(text, "prices.json")?;
    /// assert_eq!(registry.entry("gpt-4o").unwrap().prices.input, Some(2.5e-6));
    /// # Ok::<(), scenarios::ScenarioError>(())
    /// ```
    pub fn read(text: &str, file: &str) -> Result<Self, ScenarioError> {
        let entries: BTreeMap<String, PriceEntry> =
            serde_json::from_str(text).map_err(|error| {
                let told = error.to_string();
                let message = told.split(" at line ").next().unwrap_or_default();
                let place = |number: usize| u32::try_from(number).unwrap_or(0);
                ScenarioError::new(format!("no price registry: {message}"))
                    .help("accepted is LiteLLM's model_prices_and_context_window.json")
                    .at(place(error.line()), place(error.column()).max(1))
                    .in_file(file)
            })?;
        Ok(Self { entries })
    }

    /// Reads a registry from a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, and what [`PriceRegistry::read`] refuses.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|error| error.in_file(&name))?;
        Self::read(&text, &name)
    }

    /// The entry of exactly this name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&PriceEntry> {
        self.entries.get(name)
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Keys are taken by name. A price that is no number is refused, for it would count as unknown in
/// silence; a context window that is none counts as not given, as in the registry's own `sample_spec`.
impl<'de> Deserialize<'de> for PriceEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> de::Visitor<'de> for EntryVisitor {
    type Value = PriceEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what is known of a model")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PriceEntry, A::Error> {
        let mut entry = PriceEntry::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "litellm_provider" => {
                    entry.provider = map
                        .next_value::<serde_json::Value>()?
                        .as_str()
                        .unwrap_or_default()
                        .to_owned();
                }
                "max_input_tokens" => {
                    let tokens = map.next_value::<serde_json::Value>()?.as_u64();
                    entry.max_input_tokens = tokens.and_then(|tokens| tokens.try_into().ok());
                }
                key if price_slot(&mut Prices::default(), key).is_some() => {
                    let usd = map.next_value::<Option<serde_json::Value>>()?;
                    if let (Some(slot), Some(found)) = (price_slot(&mut entry.prices, key), usd) {
                        *slot = Some(found.as_f64().filter(|usd| *usd >= 0.0).ok_or_else(|| {
                            de::Error::custom(format_args!(
                                "{key} is {found}; accepted is a number of US dollars of at least 0"
                            ))
                        })?);
                    }
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(entry)
    }
}
