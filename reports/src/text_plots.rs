//! Pictures for a terminal, of one line each: bars in block characters.

/// A bar of at most `width` characters for a share from 0 to 1, to an eighth of a character.
#[must_use]
pub fn bar(share: f64, width: usize) -> String {
    let eighths = crate::stats::size(width) * 8.0 * share.clamp(0.0, 1.0);
    let eighths = whole(eighths).max(usize::from(share > 0.0));
    let mut text = "█".repeat(eighths / 8);
    text.extend(PARTS.get((eighths % 8).wrapping_sub(1)));
    text
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small positive number of characters; the cast saturates"
)]
fn whole(value: f64) -> usize {
    value.round() as usize
}

const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share_and_never_nothing_for_something() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.6, 4), "██▍");
        assert_eq!(bar(1e-9, 4), "▏");
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(7.0, 2), "██");
    }
}
