//! Pictures for a terminal, of one line each, in block characters: bars, and lines of blocks by height.

/// A bar of at most `width` characters for a share from 0 to 1, to an eighth of a character.
#[must_use]
pub fn bar(share: f64, width: usize) -> String {
    let eighths = crate::stats::size(width) * 8.0 * share.clamp(0.0, 1.0);
    let eighths = whole(eighths).max(usize::from(share > 0.0));
    let mut text = "█".repeat(eighths / 8);
    text.extend(PARTS.get((eighths % 8).wrapping_sub(1)));
    text
}

/// The block of a share from 0 to 1, of eight heights.
pub(crate) fn block(share: f64) -> char {
    let top = HEIGHTS.len() - 1;
    HEIGHTS[whole(share.clamp(0.0, 1.0) * crate::stats::size(top)).min(top)]
}

/// A block for each share from 0 to 1; a gap where there is none.
pub(crate) fn sparkline(shares: &[Option<f64>]) -> String {
    shares
        .iter()
        .map(|share| share.map_or(' ', block))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small positive number of characters; the cast saturates"
)]
fn whole(value: f64) -> usize {
    value.round() as usize
}

const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
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

    #[test]
    fn a_line_of_blocks_is_as_high_as_its_shares_and_has_gaps() {
        let shares = [Some(0.0), Some(0.5), None, Some(1.0), Some(9.0)];

        assert_eq!(sparkline(&shares), "▁▅ ██");
        assert_eq!(block(f64::NAN), '▁');
    }
}
