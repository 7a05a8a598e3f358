//! Lists of fallbacks and the aliases of model groups (semantics 1.6, 1.9, 6.4).

use std::collections::BTreeMap;

use router::config::Fallbacks;

use super::{
    section::{Section, ignored, used},
    setting::{Result, Setting},
    tables::{FROM_ENVIRONMENT, UNKNOWN},
};

/// How strictly LiteLLM checks an entry of a list of fallbacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// Exactly one key (`fallbacks`, `content_policy_fallbacks`).
    OneKey,
    /// No check: keys after the first are never looked at (`context_window_fallbacks`).
    FirstKey,
}

/// Reads a list of one-key mappings. An empty list is as none.
pub(super) fn read_fallbacks(s: &mut Setting<'_>, check: Entries) -> Result<Option<Fallbacks>> {
    let mut fallbacks = Fallbacks::new();
    s.items(|item| {
        let accepted = "a mapping of one name to a list of names, as `- gpt-4: [claude]`";
        let Some(map) = item.node.as_map() else {
            return Err(item.unaccepted(accepted));
        };
        let count = map.entries.len();
        if count == 0 || (count > 1 && check == Entries::OneKey) {
            return Err(item
                .error(format!("found a mapping of {count} keys"))
                .help(format!("accepted is {accepted}")));
        }
        let mut first = true;
        item.entries(|name, targets| {
            if !std::mem::take(&mut first) {
                targets.ignore("LiteLLM looks only at the first key of an entry");
                return Ok(());
            }
            fallbacks.push((name.to_owned(), read_groups(targets)?));
            Ok(())
        })
    })?;
    Ok(Some(fallbacks).filter(|fallbacks| !fallbacks.is_empty()))
}

/// Reads a list of names of model groups. A mapping with `model` stands for its name; what else it
/// changes in the request plays no part in routing.
pub(super) fn read_groups(s: &mut Setting<'_>) -> Result<Vec<String>> {
    let mut groups = Vec::new();
    if let Some(text) = s.node.as_str() {
        // LiteLLM 1.110 refuses to start on a bare name; older ones take it letter by letter.
        return Err(s.unaccepted(format_args!("a list of names, as `[{text}]`")));
    }
    s.items(|item| {
        let group = if item.node.as_map().is_some() {
            let mut group = None;
            item.section(&TARGET, &mut group)?;
            group
        } else if item.is_from_environment() {
            item.ignore(FROM_ENVIRONMENT);
            return Ok(());
        } else {
            item.text()?
        };
        groups.push(group.ok_or_else(|| item.unaccepted("the name of a model group"))?);
        Ok(())
    })?;
    Ok(groups)
}

/// Reads `model_group_alias`: `{alias: group}` or `{alias: {model: group, hidden: true}}`.
pub(super) fn read_aliases(s: &mut Setting<'_>) -> Result<BTreeMap<String, String>> {
    let mut aliases = BTreeMap::new();
    s.entries(|alias, target| {
        let group = if target.node.as_map().is_some() {
            let mut group = None;
            target.section(&ALIAS, &mut group)?;
            group
        } else {
            target.group()?
        };
        aliases.extend(group.map(|group| (alias.to_owned(), group)));
        Ok(())
    })?;
    Ok(aliases)
}

static TARGET: Section<Option<String>> = Section {
    keys: &[used("model", |group, s| s.text().map(|name| *group = name))],
    families: &[ignored("*", "changes the request, not where it goes")],
    otherwise: UNKNOWN,
};

static ALIAS: Section<Option<String>> = Section {
    keys: &[
        used("model", |group, s| s.group().map(|name| *group = name)),
        ignored(
            "hidden",
            "hides the alias from listings; calls are routed all the same",
        ),
    ],
    families: &[],
    otherwise: UNKNOWN,
};
