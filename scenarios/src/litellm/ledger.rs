//! Which keys of a config were used and which were ignored, and why. Nothing is dropped: each key
//! is entered here, by itself or by the section that it stands in.

use std::{collections::BTreeMap, fmt};

use crate::error::one_line;

/// A key of a config that the router does not act on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IgnoredKey {
    /// Its path, as `router_settings.redis_host`; everything below it is ignored with it.
    pub path: String,
    /// Its line in the file, from 1; 0 for what was set from outside of a file.
    pub line: u32,
    /// Why, in one sentence.
    pub reason: String,
    /// Whether it looks like a mistake: near to the name of a key that is used, or the name of one
    /// that stands elsewhere.
    pub suspicious: bool,
}

impl fmt::Display for IgnoredKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            reason,
            suspicious,
        } = self;
        let mark = if *suspicious { "check this: " } else { "" };
        let (path, reason) = (one_line(path), one_line(reason));
        match line {
            0 => write!(f, "{mark}{path}: {reason}"),
            line => write!(f, "{mark}{path} (line {line}): {reason}"),
        }
    }
}

/// The book of used and ignored keys while a config is read.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    used: Vec<String>,
    ignored: Vec<IgnoredKey>,
}

impl Ledger {
    pub(super) fn used(&mut self, path: String) {
        self.used.push(path);
    }

    pub(super) fn ignored(&mut self, key: IgnoredKey) {
        self.ignored.push(key);
    }

    /// Forgets what was entered below a key that is now answered as a whole.
    pub(super) fn forget_below(&mut self, path: &str) {
        let below = |entry: &str| {
            entry
                .strip_prefix(path)
                .is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        self.used.retain(|entry| !below(entry));
        self.ignored.retain(|key| !below(&key.path));
    }

    /// A key that was used is not after all, because another one beats it.
    pub(super) fn overrule(&mut self, path: &str, line: u32, reason: &str) {
        self.used.retain(|used| used != path);
        let (path, reason) = (path.to_owned(), reason.to_owned());
        self.ignored.push(IgnoredKey {
            path,
            line,
            reason,
            suspicious: false,
        });
    }

    /// Used keys in the order they were read, ignored ones in the order of the file.
    pub(super) fn close(mut self) -> (Vec<String>, Vec<IgnoredKey>) {
        self.ignored.sort_by_key(|key| key.line);
        (self.used, self.ignored)
    }
}

/// One line for each reason and kind of key: what repeats over the entries of `model_list` is told
/// once, with its number. Suspicious keys come first.
pub(super) fn in_lines(ignored: &[IgnoredKey]) -> Vec<String> {
    let mut kinds: Vec<(IgnoredKey, usize)> = Vec::new();
    let mut index_of: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for key in ignored {
        let path = without_indices(&key.path);
        let next = kinds.len();
        let index = *index_of.entry((path, &key.reason)).or_insert(next);
        if index == next {
            kinds.push((key.clone(), 1));
        } else {
            kinds[index].1 += 1;
        }
    }
    kinds.sort_by_key(|(key, _)| !key.suspicious);
    kinds
        .into_iter()
        .map(|(mut key, times)| {
            if times > 1 {
                key.path = format!("{} ({times} times)", without_indices(&key.path));
                key.line = 0;
            }
            key.to_string()
        })
        .collect()
}

/// `model_list[12].litellm_params` as `model_list[*].litellm_params`.
fn without_indices(path: &str) -> String {
    let mut pieces = path.split('[');
    let mut general = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        general.push('[');
        match piece.split_once(']') {
            Some((index, rest)) if index.bytes().all(|b| b.is_ascii_digit()) => {
                general.push_str("*]");
                general.push_str(rest);
            }
            _ => general.push_str(piece),
        }
    }
    general
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str, line: u32, suspicious: bool) -> IgnoredKey {
        IgnoredKey {
            path: path.to_owned(),
            line,
            reason: "why".to_owned(),
            suspicious,
        }
    }

    #[test]
    fn what_repeats_over_model_list_is_told_once_and_suspicious_keys_first() {
        let ignored = [
            key("model_list[0].litellm_params.api_key", 4, false),
            key("model_list[12].litellm_params.api_key", 9, false),
            key("router_settings.redis_host", 20, false),
            key("router_settings.cooldown_tim", 21, true),
        ];

        let lines = in_lines(&ignored);

        let expected = [
            "check this: router_settings.cooldown_tim (line 21): why",
            "model_list[*].litellm_params.api_key (2 times): why",
            "router_settings.redis_host (line 20): why",
        ];
        assert_eq!(lines, expected);
    }
}
