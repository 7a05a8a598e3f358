//! Which names a failed group falls back to, by the kind of its error. (semantics 6.2 and 6.4)
//!
//! This file only knows the lists. When one is walked, and what a walk that fails surfaces, is the
//! ladder's business.

use crate::{
    config::{Fallbacks, RouterSettings},
    observe::FallbackReason,
    outcome::ErrorClass,
    pattern::Pattern,
    profile::Profile,
    provider,
    providers::is_provider,
    request::ModelId,
};

/// The lists as given, by name.
#[derive(Debug, Default)]
pub(crate) struct FallbackTable {
    pub(crate) generic: Option<Fallbacks>,
    pub(crate) context_window: Option<Fallbacks>,
    pub(crate) content_policy: Option<Fallbacks>,
}

/// The lists that apply to one name; `N` is how a target is named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Routes<N = ModelId> {
    /// `fallbacks`; `None` if nothing matches.
    pub(crate) generic: Option<Vec<N>>,
    /// Whether `generic` is the list for every name (`*`, `default_fallbacks`).
    pub(crate) generic_is_wildcard: bool,
    /// `context_window_fallbacks`.
    pub(crate) context_window: Option<Vec<N>>,
    /// `content_policy_fallbacks`.
    pub(crate) content_policy: Option<Vec<N>>,
}

impl<N> Default for Routes<N> {
    fn default() -> Self {
        Self {
            generic: None,
            generic_is_wildcard: false,
            context_window: None,
            content_policy: None,
        }
    }
}

impl<N> Routes<N> {
    pub(crate) fn map<M>(self, mut to: impl FnMut(Vec<N>) -> Vec<M>) -> Routes<M> {
        Routes {
            generic: self.generic.map(&mut to),
            generic_is_wildcard: self.generic_is_wildcard,
            context_window: self.context_window.map(&mut to),
            content_policy: self.content_policy.map(&mut to),
        }
    }
}

impl FallbackTable {
    pub(crate) fn new(settings: &RouterSettings) -> Self {
        let given = |list: &Option<Fallbacks>| list.clone().filter(|l| !l.is_empty());
        let mut generic = given(&settings.fallbacks);
        if !settings.default_fallbacks.is_empty() {
            let wildcard = ("*".to_owned(), settings.default_fallbacks.clone());
            generic.get_or_insert_default().push(wildcard);
        }
        Self {
            generic,
            context_window: given(&settings.context_window_fallbacks),
            content_policy: given(&settings.content_policy_fallbacks),
        }
    }

    /// Whether there is any generic list.
    pub(crate) fn names_somebody(&self) -> bool {
        self.generic.as_ref().is_some_and(|lists| !lists.is_empty())
    }

    /// The lists for `name`. Generic: its own entry, else the entry of the name without its
    /// provider prefix (the last such), else `*`. The special lists: its own entry only.
    pub(crate) fn lists_for(&self, name: &str, profile: &Profile) -> Routes<String> {
        let exact = |table: &Option<Fallbacks>| {
            let table = table.as_ref()?;
            let own = table.iter().find(|(key, _)| key == name);
            let by_pattern = || {
                profile
                    .fallback_keys_match_patterns
                    .then(|| matching(table, name))
            };
            let entry = own.or_else(|| by_pattern().flatten())?;
            Some(entry.1.clone())
        };
        let stripped = || {
            let bare = name.split_once('/').filter(|(p, _)| is_provider(p));
            let inferred =
                provider::inferred(name).filter(|_| profile.fallback_keys_infer_provider);
            let names_it = |key: &str| match (bare, inferred) {
                (Some((_, bare)), _) => key == bare,
                (None, Some(provider)) => key.split_once('/') == Some((provider, name)),
                (None, None) => false,
            };
            let mut entries = self.generic.as_ref()?.iter();
            Some(entries.rfind(|(key, _)| names_it(key))?.1.clone())
        };
        let wildcard = || {
            let entry = self.generic.as_ref()?.iter().rfind(|(key, _)| key == "*")?;
            Some(entry.1.clone())
        };
        let specific = exact(&self.generic).or_else(stripped);
        Routes {
            generic_is_wildcard: specific.is_none(),
            generic: specific.or_else(wildcard),
            context_window: exact(&self.context_window),
            content_policy: exact(&self.content_policy),
        }
    }
}

/// The entry of the most specific pattern that matches; the one for every name is none of them.
fn matching<'t>(table: &'t Fallbacks, name: &str) -> Option<&'t (String, Vec<String>)> {
    let matches = |entry: &&(String, Vec<String>)| {
        let pattern = Pattern::new(&entry.0).filter(|p| p.captures(name).is_some())?;
        Some(pattern.specificity())
    };
    let patterns = table.iter().filter(|(key, _)| key != "*");
    patterns
        .filter(|entry| matches(entry).is_some())
        .min_by_key(matches)
}

/// Which lists exist at all: their mere presence changes what is retried and where errors go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ListsGiven {
    pub(crate) generic: bool,
    pub(crate) context_window: bool,
    pub(crate) content_policy: bool,
}

impl ListsGiven {
    pub(crate) fn new(settings: &RouterSettings) -> Self {
        let table = FallbackTable::new(settings);
        Self {
            generic: table.generic.is_some(),
            context_window: table.context_window.is_some(),
            content_policy: table.content_policy.is_some(),
        }
    }
}

/// Of which kind the list for an error of this class is; `has` says whether the failed group has
/// names of a kind. `None`: nothing to fall back to.
pub(crate) fn kind_for(
    class: Option<ErrorClass>,
    given: ListsGiven,
    has: impl Fn(FallbackReason) -> bool,
    profile: &Profile,
) -> Option<FallbackReason> {
    let special = match class {
        Some(ErrorClass::ContextWindowExceeded) if given.context_window => {
            Some(FallbackReason::ContextWindow)
        }
        Some(ErrorClass::ContentPolicyViolation) if given.content_policy => {
            Some(FallbackReason::ContentPolicy)
        }
        _ => None,
    };
    let goes_on = match special {
        None => true,
        Some(why) if has(why) => return special,
        Some(why) => why == FallbackReason::ContextWindow && profile.context_window_reaches_generic,
    };
    (goes_on && has(FallbackReason::Generic)).then_some(FallbackReason::Generic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&n| n.to_owned()).collect()
    }

    fn table() -> FallbackTable {
        FallbackTable::new(&RouterSettings {
            fallbacks: Some(vec![("m".to_owned(), names(&["f"]))]),
            default_fallbacks: names(&["d"]),
            context_window_fallbacks: Some(vec![("m".to_owned(), names(&["long"]))]),
            ..RouterSettings::default()
        })
    }

    #[test]
    fn an_exact_entry_beats_a_stripped_one_and_that_beats_the_wildcard() {
        let table = table();

        assert_eq!(
            table.lists_for("m", &Profile::litellm_1_110()).generic,
            Some(names(&["f"]))
        );
        assert_eq!(
            table
                .lists_for("openai/m", &Profile::litellm_1_110())
                .generic,
            Some(names(&["f"]))
        );
        assert_eq!(
            table.lists_for("acme/m", &Profile::litellm_1_110()).generic,
            Some(names(&["d"]))
        );
        assert!(
            table
                .lists_for("other", &Profile::litellm_1_110())
                .generic_is_wildcard
        );
    }

    #[test]
    fn special_lists_match_the_exact_name_only() {
        let table = table();

        assert_eq!(
            table
                .lists_for("m", &Profile::litellm_1_110())
                .context_window,
            Some(names(&["long"]))
        );
        assert_eq!(
            table
                .lists_for("openai/m", &Profile::litellm_1_110())
                .context_window,
            None
        );
    }

    #[test]
    fn a_key_with_its_provider_serves_the_bare_name_in_1_110_only() {
        let table = FallbackTable::new(&RouterSettings {
            fallbacks: Some(vec![("openai/gpt-4o".to_owned(), names(&["f"]))]),
            ..RouterSettings::default()
        });
        let of = |name, profile| table.lists_for(name, &profile).generic;

        assert_eq!(of("gpt-4o", Profile::litellm_1_110()), Some(names(&["f"])));
        assert_eq!(of("gpt-4o", Profile::litellm_1_92()), None);
        assert_eq!(of("claude-sonnet-4-5", Profile::litellm_1_110()), None);
    }

    #[test]
    fn a_key_with_stars_serves_the_names_that_it_matches_when_corrected() {
        let entry = |key: &str, target| (key.to_owned(), names(&[target]));
        let table = FallbackTable::new(&RouterSettings {
            fallbacks: Some(vec![entry("p/*", "f"), entry("p/m*", "g")]),
            default_fallbacks: names(&["d"]),
            ..RouterSettings::default()
        });
        let of = |name, profile| table.lists_for(name, &profile).generic;

        assert_eq!(of("p/m1", Profile::litellm_1_110()), Some(names(&["d"])));
        assert_eq!(of("p/m1", Profile::corrected()), Some(names(&["g"])));
        assert_eq!(of("p/x", Profile::corrected()), Some(names(&["f"])));
        assert_eq!(of("q", Profile::corrected()), Some(names(&["d"])));
    }

    #[test]
    fn an_empty_list_counts_as_none() {
        let settings = RouterSettings {
            fallbacks: Some(Vec::new()),
            ..RouterSettings::default()
        };

        assert!(!ListsGiven::new(&settings).generic);
    }

    #[test]
    fn only_a_context_window_error_without_its_own_entry_goes_on_to_the_generic_list_in_1_110() {
        let given = ListsGiven {
            generic: true,
            context_window: true,
            content_policy: true,
        };
        let has = |why| why == FallbackReason::Generic;
        let found = |class, profile| kind_for(Some(class), given, has, &profile).is_some();

        let (long, policy) = (
            ErrorClass::ContextWindowExceeded,
            ErrorClass::ContentPolicyViolation,
        );
        assert!(found(long, Profile::litellm_1_110()));
        assert!(!found(long, Profile::litellm_1_92()));
        assert!(!found(policy, Profile::litellm_1_110()));
        assert!(!found(policy, Profile::litellm_1_92()));
    }
}
