//! Text that must not be seen: it can be used, and neither printed nor logged.

use std::fmt;

/// An API key, or whatever else nobody may read.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it is this text. The time it takes does not tell how much of it is right.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        let (mine, given) = (self.0.as_bytes(), text.as_bytes());
        let differing = mine.iter().enumerate().fold(0_u8, |all, (at, byte)| {
            all | (byte ^ given.get(at).copied().unwrap_or(!byte))
        });
        std::hint::black_box(differing) == 0 && mine.len() == given.len()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let key = Secret::new("sk-abc".to_owned());

        assert_eq!(
            format!("{key:?} {:?}", Some(&key)),
            "(hidden) Some((hidden))"
        );
    }

    #[test]
    fn only_the_very_text_is_equal() {
        let key = Secret::new("sk-abc".to_owned());

        assert!(key.is("sk-abc"));
        for wrong in ["", "sk-ab", "sk-abcd", "sk-abd", "SK-ABC"] {
            assert!(!key.is(wrong), "{wrong}");
        }
    }
}
