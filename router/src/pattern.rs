//! Model names that hold a `*`, which stands for any text. (semantics 1.7)
//!
//! A pattern is sought at the beginning of a name and need not reach its end: `a*b` also matches
//! `axbyyy`. A star takes as much as it can, the first one first. What the stars took fills the
//! stars of the deployment's own `model`.

use std::cmp::Reverse;

/// A model name with at least one star.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pattern {
    /// The text before, between and after the stars.
    literals: Vec<String>,
    specificity: Specificity,
}

/// LiteLLM asks patterns in order of the length of their regular expression, then of how many
/// characters in it mean something there, the greatest first; equal ones as they are listed.
pub(crate) type Specificity = (Reverse<usize>, Reverse<usize>);

impl Pattern {
    /// `None` if the name holds no star.
    pub(crate) fn new(name: &str) -> Option<Self> {
        if !is_pattern(name) {
            return None;
        }
        let stars = name.matches('*').count();
        let literal = || name.chars().filter(|&c| c != '*');
        let escapes = literal().filter(|&c| ESCAPED.contains(c)).count();
        let length = literal().count() + escapes + STAR.len() * stars;
        let meaningful = literal().filter(|&c| MEANINGFUL.contains(c)).count();
        let meaningful = meaningful + escapes + STAR_MEANINGFUL * stars;
        Some(Self {
            literals: name.split('*').map(str::to_owned).collect(),
            specificity: (Reverse(length), Reverse(meaningful)),
        })
    }

    /// Sorts the most specific first.
    pub(crate) const fn specificity(&self) -> Specificity {
        self.specificity
    }

    /// What each star takes of a name that matches.
    pub(crate) fn captures<'n>(&self, name: &'n str) -> Option<Vec<&'n str>> {
        let (first, later) = self.literals.split_first()?;
        let rest = name.strip_prefix(first.as_str())?;
        // The last text as far to the right as it occurs, the one before it as far to the right as
        // is left of that, and so on: then the first star takes the most, and the others of what
        // is left.
        let mut end = rest.len();
        let mut places = Vec::with_capacity(later.len());
        for literal in later.iter().rev() {
            let at = rest[..end].rfind(literal.as_str())?;
            places.push((at, at + literal.len()));
            end = at;
        }
        let mut from = 0;
        let taken = places.iter().rev().map(|&(at, after)| {
            let taken = &rest[from..at];
            from = after;
            taken
        });
        Some(taken.collect())
    }
}

/// Whether a model name stands for many.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// A deployment's `model` for a request of `name`: its stars filled from left to right. Where the
/// pattern has more stars than the model, the name itself is asked for.
pub(crate) fn upstream_model(model: &str, captures: &[&str], name: &str) -> String {
    let stars = model.matches('*').count();
    if stars > 0 && captures.len() > stars {
        return name.to_owned();
    }
    captures.iter().fold(model.to_owned(), |filled, capture| {
        filled.replacen('*', capture, 1)
    })
}

/// What a star becomes in the regular expression.
const STAR: &str = "(.*)";
/// How many characters of it are meaningful: all but the dot, which LiteLLM does not count (observed).
const STAR_MEANINGFUL: usize = 3;
/// Characters that are written with a backslash in a regular expression.
const ESCAPED: &str = "()[]{}?*+-|^$\\.&~# \t\n\r\u{b}\u{c}";
/// Characters that LiteLLM counts besides the backslashes (observed).
const MEANINGFUL: &str = "+?\\^$|()";

#[cfg(test)]
mod tests {
    use super::*;

    fn captures<'n>(pattern: &str, name: &'n str) -> Option<Vec<&'n str>> {
        Pattern::new(pattern).unwrap().captures(name)
    }

    #[test]
    fn a_name_without_a_star_is_no_pattern() {
        assert_eq!(Pattern::new("openai/gpt-4o"), None);
    }

    #[test]
    fn a_pattern_is_sought_at_the_beginning_and_need_not_reach_the_end() {
        assert_eq!(captures("a*b", "axbyyy"), Some(vec!["x"]));
        assert_eq!(captures("a*b", "xab"), None);
        assert_eq!(captures("a*b*c", "a1b2cdd"), Some(vec!["1", "2"]));
        assert_eq!(captures("openai/*", "openai/"), Some(vec![""]));
        assert_eq!(captures("openai/*", "azure/gpt-4o"), None);
        assert_eq!(captures("p.q*", "pzq1"), None);
    }

    #[test]
    fn the_first_star_takes_as_much_as_it_can() {
        assert_eq!(captures("a*b", "aXXbYYb"), Some(vec!["XXbYY"]));
        assert_eq!(captures("g*-h*", "gA-B-hC-hD"), Some(vec!["A-B-hC", "D"]));
        assert_eq!(captures("**", "abc"), Some(vec!["abc", ""]));
    }

    #[test]
    fn what_the_stars_took_fills_the_stars_of_the_model() {
        assert_eq!(
            upstream_model("openai/*-end", &["1"], "ft-1"),
            "openai/1-end"
        );
        assert_eq!(
            upstream_model("openai/*/*", &["A", "B"], "gA-hB"),
            "openai/A/B"
        );
        assert_eq!(
            upstream_model("openai/fixed", &["q"], "x-q"),
            "openai/fixed"
        );
        assert_eq!(upstream_model("openai/*-*", &["1"], "a1"), "openai/1-*");
        assert_eq!(upstream_model("openai/*", &["1", "2"], "k1l2"), "k1l2");
    }

    #[test]
    fn the_longer_expression_is_more_specific_then_the_one_with_more_meaningful_characters() {
        let more_specific = |a: &str, b: &str| {
            let rank = |name: &str| Pattern::new(name).unwrap().specificity();
            rank(a) < rank(b)
        };

        assert!(more_specific("openai/gpt-4*", "openai/*"));
        assert!(more_specific("openai/*", "*"));
        // As observed: a dash is written with a backslash, a slash is not.
        assert!(more_specific("*-", "ab*"));
        assert!(more_specific("ab*", "*/"));
        assert!(more_specific("*+", "*."));
        assert!(!more_specific("*.", "*-") && !more_specific("*-", "*."));
        assert!(!more_specific("a*c", "ab*") && !more_specific("ab*", "a*c"));
    }
}
