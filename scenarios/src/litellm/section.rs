//! How a section of a config is read: a table says of every known key how it is used, or why it is
//! not. A key that has a reader in the table is thereby used; there is no other list of keys.

use super::{
    ledger::Ledger,
    setting::{Answer, Result, Setting},
    tables,
};
use crate::{
    error::did_you_mean,
    providers::glob,
    yaml::{Map, Node, Value},
};

/// What is known of a section's keys. `T` is what they are read into.
pub(super) struct Section<T: 'static> {
    /// Every key by name. Keys are read in this order, not in that of the file.
    pub(super) keys: &'static [Key<T>],
    /// Families of keys by a name with `*` for any text, asked after `keys`.
    pub(super) families: &'static [Key<T>],
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
    Key {
        name,
        fate: Fate::Used(read),
    }
}

pub(super) const fn ignored<T>(name: &'static str, reason: &'static str) -> Key<T> {
    Key {
        name,
        fate: Fate::Ignored(reason),
    }
}

pub(super) const fn off_only<T>(name: &'static str, reason: &'static str) -> Key<T> {
    Key {
        name,
        fate: Fate::OffOnly(reason),
    }
}

impl<T> Fate<T> {
    fn decide(&self, target: &mut T, setting: &mut Setting<'_>) -> Result<()> {
        match self {
            Self::Used(read) => read(target, setting)?,
            Self::OffOnly(_) if is_off(setting.node) => {}
            Self::Ignored(reason) | Self::OffOnly(reason) => setting.ignore(*reason),
        }
        Ok(())
    }
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
            let Some(entry) = map.entry(key.name) else {
                continue;
            };
            let mut setting = Setting::new(entry, map, path, ledger);
            key.fate.decide(target, &mut setting)?;
            setting.close();
        }
        for entry in &map.entries {
            if self.keys.iter().all(|key| key.name != entry.key.name) {
                let mut setting = Setting::new(entry, map, path, ledger);
                match self.family_of(&entry.key.name) {
                    Some(family) => family.fate.decide(target, &mut setting)?,
                    None => setting.answer = self.answer_to_unknown(&entry.key.name),
                }
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

    /// The family of a name that is in no table, unless it looks like a slip of one that is used.
    fn family_of(&self, name: &str) -> Option<&Key<T>> {
        let family = self.families.iter().find(|key| glob(key.name, name))?;
        let is_used = matches!(family.fate, Fate::Used(_));
        (is_used || did_you_mean(name, self.routing_names()).is_none()).then_some(family)
    }

    fn answer_to_unknown(&self, name: &str) -> Answer {
        if let Some(near) = did_you_mean(name, self.routing_names()) {
            let reason = format!("{}; did you mean `{near}`?", tables::UNKNOWN);
            return Answer::Ignored {
                reason,
                suspicious: true,
            };
        }
        if let Some(home) = tables::home_of(name) {
            let reason = format!("LiteLLM reads `{name}` under {home}, not here");
            return Answer::Ignored {
                reason,
                suspicious: true,
            };
        }
        let near = did_you_mean(name, self.keys.iter().map(|key| key.name));
        let reason = near.map_or_else(
            || self.otherwise.to_owned(),
            |near| format!("{}; did you mean `{near}`?", self.otherwise),
        );
        Answer::Ignored {
            reason,
            suspicious: near.is_some(),
        }
    }
}

fn is_off(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Bool(false) => true,
        Value::Seq(items) => items.is_empty(),
        Value::Map(map) => map.entries.is_empty(),
        Value::Bool(true) | Value::Int(_) | Value::Float(_) | Value::Str(_) => false,
    }
}
