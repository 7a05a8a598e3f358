//! Journals.

use crate::journal::{JournalError, replay};

/// A journal is refused with the line, or replays; and if all of it does, so does all of it up to any line.
pub fn journal(data: &[u8]) {
    let lines = data.split(|byte| *byte == b'\n').count();
    let whole = match replay(data) {
        Ok(whole) => whole,
        Err(error) => return told_well(&error, lines),
    };
    if let Some(difference) = &whole.difference {
        assert!(
            is_line_of(difference.line, lines),
            "line {} of {lines}",
            difference.line
        );
        assert_ne!(difference.journal, difference.replay);
        return;
    }
    assert!(whole.unfinished <= whole.requests, "{whole:?}");
    let again = replay(data).expect("it did before");
    assert_eq!(whole, again);
    let ends = data.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    for (end, _) in ends.take(MOST_CUTS) {
        match replay(&data[..=end]) {
            Ok(part) => {
                assert_eq!(
                    part.difference, None,
                    "a part differs and the whole does not"
                );
                assert!(part.inputs <= whole.inputs && part.runs <= whole.runs);
            }
            // Nothing but empty lines.
            Err(JournalError::Empty) => {}
            Err(error) => panic!("the whole replays, and not its first lines: {error}"),
        }
    }
}

fn told_well(error: &JournalError, lines: usize) {
    let told = error.to_string();
    assert!(!told.contains(char::is_control), "not one line: {told:?}");
    match error {
        JournalError::Line { line, .. } => assert!(is_line_of(*line, lines), "{told}"),
        JournalError::Empty => {}
        JournalError::Read(error) => panic!("memory can be read: {error}"),
    }
}

fn is_line_of(line: u64, lines: usize) -> bool {
    usize::try_from(line).is_ok_and(|line| (1..=lines).contains(&line))
}

/// So many beginnings are tried.
const MOST_CUTS: usize = 8;
