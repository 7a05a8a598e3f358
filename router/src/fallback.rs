//! Which names a failed group falls back to, by the kind of its error. (semantics 6.2 and 6.4)
//!
//! This file only knows the lists. When one is walked, and what a walk that fails surfaces, is the
//! ladder's business.

use crate::{
    config::{Fallbacks, RouterSettings},
    observe::FallbackReason,
    outcome::ErrorClass,
    profile::Profile,
    request::ModelId,
};

/// The configured lists, by name.
#[derive(Debug)]
pub(crate) struct FallbackTable {
    generic: Option<Fallbacks>,
    context_window: Option<Fallbacks>,
    content_policy: Option<Fallbacks>,
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

    /// The lists for `name`. Generic: its own entry, else the entry of the name without its
    /// provider prefix (the last such), else `*`. The special lists: its own entry only.
    pub(crate) fn lists_for(&self, name: &str) -> Routes<String> {
        let exact = |table: &Option<Fallbacks>| {
            let entry = table.as_ref()?.iter().find(|(key, _)| key == name)?;
            Some(entry.1.clone())
        };
        let stripped = || {
            let (prefix, bare) = name.split_once('/')?;
            if !PROVIDERS.contains(&prefix) {
                return None;
            }
            let entry = self
                .generic
                .as_ref()?
                .iter()
                .rfind(|(key, _)| key == bare)?;
            Some(entry.1.clone())
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

/// Which lists exist at all: their mere presence changes what is retried and where errors go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// The list for an error of this class, and why it is that one. `None`: nothing to fall back to.
pub(crate) fn list_for<'a>(
    class: Option<ErrorClass>,
    routes: &'a Routes,
    given: ListsGiven,
    profile: &Profile,
) -> Option<(&'a [ModelId], FallbackReason)> {
    let special = match class {
        Some(ErrorClass::ContextWindowExceeded) if given.context_window => {
            Some((&routes.context_window, FallbackReason::ContextWindow))
        }
        Some(ErrorClass::ContentPolicyViolation) if given.content_policy => {
            Some((&routes.content_policy, FallbackReason::ContentPolicy))
        }
        _ => None,
    };
    match special {
        Some((Some(list), why)) => Some((list, why)),
        Some((None, _)) if !profile.special_errors_reach_generic => None,
        _ => Some((routes.generic.as_deref()?, FallbackReason::Generic)),
    }
}

/// Provider prefixes that are stripped from a name when its fallbacks are looked up: those of
/// LiteLLM's provider list that take chat requests and are in common use.
const PROVIDERS: [&str; 24] = [
    "anthropic",
    "azure",
    "azure_ai",
    "bedrock",
    "cerebras",
    "cohere",
    "databricks",
    "deepseek",
    "fireworks_ai",
    "gemini",
    "github",
    "groq",
    "hosted_vllm",
    "huggingface",
    "mistral",
    "ollama",
    "openai",
    "openrouter",
    "perplexity",
    "replicate",
    "sagemaker",
    "together_ai",
    "vertex_ai",
    "xai",
];

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

        assert_eq!(table.lists_for("m").generic, Some(names(&["f"])));
        assert_eq!(table.lists_for("openai/m").generic, Some(names(&["f"])));
        assert_eq!(table.lists_for("acme/m").generic, Some(names(&["d"])));
        assert!(table.lists_for("other").generic_is_wildcard);
    }

    #[test]
    fn special_lists_match_the_exact_name_only() {
        let table = table();

        assert_eq!(table.lists_for("m").context_window, Some(names(&["long"])));
        assert_eq!(table.lists_for("openai/m").context_window, None);
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
    fn a_special_error_without_its_own_entry_goes_on_to_the_generic_list_in_1_110_only() {
        let routes = Routes {
            generic: Some(vec![ModelId(7)]),
            ..Routes::default()
        };
        let given = ListsGiven {
            generic: true,
            context_window: true,
            content_policy: false,
        };
        let class = Some(ErrorClass::ContextWindowExceeded);

        assert!(list_for(class, &routes, given, &Profile::litellm_1_110()).is_some());
        assert!(list_for(class, &routes, given, &Profile::litellm_1_92()).is_none());
    }
}
