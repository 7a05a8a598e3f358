//! Rows that stand twice: files that overlap, or an export that was taken again.
//!
//! Of a log with ids (`request_id`, `spanId`, or `--columns id=…`) a row stands twice if an earlier one of the same id
//! began at the same time and ended alike; retries may share the id of their request and begin later. Without ids
//! a row stands twice if all that is read of it is the same and its time is finer than a millisecond. Rows that a
//! coarse clock makes alike may well be two calls, so they stay.

use std::collections::BTreeSet;

use super::{LogResult, LogRow};

/// What is not in a row and tells it from others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mark {
    /// Of its id.
    pub(crate) id: Option<u64>,
    /// Its session.
    pub(crate) session: Option<usize>,
}

/// An id in 64 bits (FNV-1a): with the time beside it, that is enough.
pub(crate) fn hashed(id: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    id.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Which rows stand there already. Rows are in order of their beginning; marks are theirs.
pub(crate) fn repeated(rows: &[LogRow], marks: &[Mark]) -> Vec<bool> {
    let mut known = BTreeSet::new();
    let mut before = None;
    let mut is_repeated = |(row, mark): (&LogRow, &Mark)| {
        if before.replace(row.start_ns) != Some(row.start_ns) {
            known.clear();
        }
        match mark.id {
            Some(id) => !known.insert(Key::Id(id, row.result)),
            None if row.start_ns % MILLISECOND_NS != 0 => !known.insert(Key::Cells(
                row.result,
                (row.end_ns, row.first_token_ns),
                (row.model, row.deployment),
                (row.prompt_tokens, row.output_tokens, row.stream),
                (row.sender, mark.session),
            )),
            None => false,
        }
    };
    rows.iter().zip(marks).map(&mut is_repeated).collect()
}

/// What is the same in rows that began at the same time and are one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Id(u64, LogResult),
    Cells(
        LogResult,
        (Option<i64>, Option<i64>),
        (usize, Option<usize>),
        (Option<u32>, Option<u32>, Option<bool>),
        (Option<usize>, Option<usize>),
    ),
}

const MILLISECOND_NS: i64 = 1_000_000;
/// The reason for which a row is dropped.
pub(crate) const TWICE: &str = "a row that stands twice";
