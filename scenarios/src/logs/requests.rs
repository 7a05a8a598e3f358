//! Which rows begin a request, and which are further attempts of one.
//!
//! LiteLLM writes a row for each attempt that failed and one for the answer, all under the session of the
//! request; but a session may also be a conversation of many requests. So a row is a further attempt of
//! the row before it in its session if that one failed and this one begins within [`PAUSE_NS`] of its
//! end. A log without sessions is taken at its word: every row is a request.

use std::collections::BTreeMap;

use super::{LogResult, LogRow};

/// Marks further attempts. Rows are in order of their beginning; sessions are theirs.
pub(crate) fn mark_arrivals(rows: &mut [LogRow], sessions: &[Option<usize>]) {
    let mut failed_at: BTreeMap<usize, i64> = BTreeMap::new();
    for (row, session) in rows.iter_mut().zip(sessions) {
        let Some(session) = session else { continue };
        if let Some(ended) = failed_at.remove(session) {
            row.is_arrival = row.start_ns.saturating_sub(ended) > PAUSE_NS;
        }
        if let LogResult::Failure(_) = row.result {
            failed_at.insert(*session, row.end_ns.unwrap_or(row.start_ns));
        }
    }
}

/// A minute: longer than the longest backoff of LiteLLM's retries (8 s) and its usual cooldown (5 s).
const PAUSE_NS: i64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start_s: i64, result: LogResult) -> LogRow {
        LogRow {
            start_ns: start_s * 1_000_000_000,
            end_ns: Some(start_s * 1_000_000_000 + 500_000_000),
            first_token_ns: None,
            model: 0,
            deployment: Some(0),
            prompt_tokens: None,
            output_tokens: None,
            stream: None,
            result,
            sender: None,
            is_arrival: true,
        }
    }

    #[test]
    fn what_follows_a_failure_in_its_session_is_a_further_attempt() {
        let failed = LogResult::Failure(500);
        let mut rows = [
            row(0, failed),
            row(1, failed),
            row(2, LogResult::Success),
            row(3, LogResult::Success),
            row(4, failed),
            row(300, LogResult::Success),
            row(301, LogResult::Success),
        ];
        let mut sessions = vec![Some(7); 6];
        sessions.push(None);

        mark_arrivals(&mut rows, &sessions);

        let arrivals: Vec<bool> = rows.iter().map(|row| row.is_arrival).collect();
        assert_eq!(arrivals, [true, false, false, true, true, true, true]);
    }
}
