//! What the caller's deadline makes of a provider's reply: nothing, or a timeout at some moment.
//!
//! Follows semantics 10: a whole-attempt deadline counts from sending to the last byte; a streamed
//! attempt is bounded in its silence, that is up to the first token and between two tokens. The
//! earlier of the reply's end and the deadline wins, and the reply wins a tie. A reply says when
//! its first and its last token come; the tokens between are taken to be evenly spaced.

use std::time::Duration;

use mock_providers::Reply;
use router::{Deadline, ErrorClass, Failure, Outcome, StreamBreak};

/// When the caller gives up on a reply, and with which failure. `None`: it gets the reply.
#[inline]
pub(crate) fn give_up(deadline: Deadline, reply: &Reply) -> Option<(Duration, Failure)> {
    match deadline {
        Deadline::None => None,
        Deadline::Whole(limit) if reply.total_after <= limit => None,
        Deadline::Whole(limit) => Some((limit, timeout_at(limit, reply))),
        Deadline::Silence(limit) => silence(limit, reply).map(|at| (at, timeout_at(at, reply))),
    }
}

/// When a silence longer than `limit` has lasted for `limit`.
fn silence(limit: Duration, reply: &Reply) -> Option<Duration> {
    let (gaps, first) = stream(reply);
    match first {
        None => (reply.total_after > limit).then_some(limit),
        Some(first) if first > limit => Some(limit),
        Some(first) => {
            let gap = reply.total_after.saturating_sub(first) / gaps.max(1);
            (gap > limit).then(|| first + limit)
        }
    }
}

/// The failure of a caller that hangs up at this time after sending.
fn timeout_at(at: Duration, reply: &Reply) -> Failure {
    let mut failure = Failure::of(ErrorClass::Timeout);
    let (gaps, first) = stream(reply);
    if let Some(first) = first.filter(|&first| first <= at) {
        let streaming = reply.total_after.saturating_sub(first);
        let delivered = match &reply.outcome {
            // The provider fell silent after these, and would have stayed so.
            Outcome::Failure(own) if reply.total_after == Duration::MAX => {
                own.tokens_delivered.max(1)
            }
            Outcome::Success { .. } | Outcome::Failure(_) => {
                1 + whole(f64::from(gaps) * (at - first).div_duration_f64(streaming))
            }
        };
        failure = failure.in_stream(StreamBreak::Silence, delivered, Some(first));
    }
    failure
}

/// How many gaps there are from the first token to the reply's end, and when the first token comes.
const fn stream(reply: &Reply) -> (u32, Option<Duration>) {
    match &reply.outcome {
        Outcome::Success {
            usage,
            first_token_after,
        } => (
            usage.completion_tokens.saturating_sub(1),
            *first_token_after,
        ),
        // The last token that was delivered is followed by one more gap, and then the break.
        Outcome::Failure(failure) => (failure.tokens_delivered, failure.first_token_after),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count of tokens, which is a u32"
)]
const fn whole(tokens: f64) -> u32 {
    tokens as u32
}

#[cfg(test)]
mod tests {
    use router::Usage;

    use super::*;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn answer(first: Option<Duration>, tokens: u32, total: Duration) -> Reply {
        let usage = Usage::new(10, tokens);
        Reply {
            outcome: Outcome::Success {
                usage,
                first_token_after: first,
            },
            total_after: total,
        }
    }

    #[test]
    fn a_reply_that_ends_on_the_deadline_is_in_time() {
        let reply = answer(None, 5, secs(10));

        assert_eq!(give_up(Deadline::Whole(secs(10)), &reply), None);
        assert_eq!(give_up(Deadline::Silence(secs(10)), &reply), None);
        assert_eq!(give_up(Deadline::None, &reply), None);
    }

    #[test]
    fn a_late_reply_becomes_a_timeout_of_status_408_at_the_deadline() {
        let (at, failure) = give_up(Deadline::Whole(secs(9)), &answer(None, 5, secs(10))).unwrap();

        assert_eq!(at, secs(9));
        assert_eq!(failure, Failure::of(ErrorClass::Timeout));
        assert_eq!(failure.status, Some(408));
    }

    #[test]
    fn a_whole_deadline_cuts_a_stream_after_the_tokens_that_came_before_it() {
        let reply = answer(Some(secs(2)), 9, secs(10));

        let (at, failure) = give_up(Deadline::Whole(secs(6)), &reply).unwrap();

        assert_eq!(at, secs(6));
        assert_eq!(failure.first_token_after, Some(secs(2)));
        assert_eq!(failure.tokens_delivered, 5);
    }

    #[test]
    fn silence_is_bounded_up_to_the_first_token_and_not_over_the_whole_stream() {
        let deadline = Deadline::Silence(secs(3));

        assert_eq!(
            give_up(deadline, &answer(Some(secs(2)), 101, secs(102))),
            None
        );
        let (at, failure) = give_up(deadline, &answer(Some(secs(4)), 101, secs(104))).unwrap();
        assert_eq!((at, failure.tokens_delivered), (secs(3), 0));
    }

    #[test]
    fn a_gap_between_tokens_is_a_silence_too() {
        let reply = answer(Some(secs(1)), 3, secs(11));

        let (at, failure) = give_up(Deadline::Silence(secs(4)), &reply).unwrap();

        assert_eq!((at, failure.tokens_delivered), (secs(5), 1));
    }

    #[test]
    fn a_provider_that_never_answers_is_given_up_by_either_deadline() {
        let reply = Reply {
            outcome: Outcome::Failure(Failure::of(ErrorClass::Timeout)),
            total_after: Duration::MAX,
        };

        assert_eq!(
            give_up(Deadline::Whole(secs(7)), &reply).unwrap().0,
            secs(7)
        );
        assert_eq!(
            give_up(Deadline::Silence(secs(5)), &reply).unwrap().0,
            secs(5)
        );
    }

    #[test]
    fn a_stream_that_falls_silent_keeps_the_tokens_it_delivered() {
        let mut cut = Failure::of(ErrorClass::InternalServer);
        cut.first_token_after = Some(secs(1));
        cut.tokens_delivered = 40;
        let reply = Reply {
            outcome: Outcome::Failure(cut),
            total_after: Duration::MAX,
        };

        let (at, failure) = give_up(Deadline::Silence(secs(30)), &reply).unwrap();

        assert_eq!((at, failure.tokens_delivered), (secs(31), 40));
    }
}
