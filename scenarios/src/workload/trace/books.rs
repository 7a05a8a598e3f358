//! What becomes of the rows of a file: read = kept + dropped, by reason, with the line of the first.

use std::collections::BTreeMap;

/// Why a row was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DropReason {
    /// Cells are missing, or the line is no row of this format.
    Malformed,
    /// A token count below zero.
    NegativeTokens,
    /// The time lies before that of the row above (`unsorted: drop`).
    OutOfOrder,
    /// The time is none.
    Time,
    /// A token count that is no number, or no whole one.
    TokensNoNumber,
    /// More tokens than any model takes.
    TooManyTokens,
    /// No answer tokens: a request that failed when it was recorded.
    ZeroOutput,
    /// No prompt tokens.
    ZeroPrompt,
}

impl DropReason {
    /// In words that end a sentence `dropped n …`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::NegativeTokens => "with negative tokens",
            Self::OutOfOrder => "out of order",
            Self::Time => "whose time cannot be read",
            Self::TokensNoNumber => "whose tokens are no whole number",
            Self::TooManyTokens => "with more than 100 million tokens",
            Self::ZeroOutput => "without answer tokens",
            Self::ZeroPrompt => "without prompt tokens",
        }
    }
}

/// What became of the rows of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Books {
    /// Rows found.
    pub read: u64,
    /// Rows dropped: how many, and the line of the first.
    pub dropped: BTreeMap<DropReason, (u64, u64)>,
    /// Steps at which time runs back in the file.
    pub unsorted_steps: u64,
    /// Line of the first such step.
    pub first_unsorted: Option<u64>,
}

impl Books {
    /// Rows dropped for whatever reason.
    #[must_use]
    pub fn dropped_rows(&self) -> u64 {
        self.dropped.values().map(|(rows, _)| rows).sum()
    }

    pub(crate) fn drop_row(&mut self, reason: DropReason, line: u64) {
        self.dropped.entry(reason).or_insert((0, line)).0 += 1;
    }

    /// `read 19,366 = kept 19,366 + dropped 0`, with the reasons where there are any.
    #[must_use]
    pub fn account(&self) -> String {
        let dropped = self.dropped_rows();
        let mut text = format!(
            "read {} = kept {} + dropped {}",
            grouped(self.read),
            grouped(self.read - dropped),
            grouped(dropped)
        );
        if dropped > 0 {
            text.push_str(&format!(" ({})", self.reasons()));
        }
        text
    }

    /// The reasons with their numbers and first lines.
    pub(super) fn reasons(&self) -> String {
        let reason = |(reason, (rows, line)): (&DropReason, &(u64, u64))| {
            format!(
                "{} {}, first in line {line}",
                grouped(*rows),
                reason.as_str()
            )
        };
        self.dropped
            .iter()
            .map(reason)
            .collect::<Vec<_>>()
            .join("; ")
    }
}

/// A count with commas between thousands.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_adds_up_and_names_each_reason_once() {
        let mut books = Books {
            read: 12_345,
            ..Books::default()
        };
        books.drop_row(DropReason::ZeroOutput, 17);
        books.drop_row(DropReason::ZeroOutput, 19);
        books.drop_row(DropReason::Malformed, 3);

        assert_eq!(
            books.account(),
            "read 12,345 = kept 12,342 + dropped 3 (1 malformed, first in line 3; 2 without answer \
             tokens, first in line 17)"
        );
    }
}
