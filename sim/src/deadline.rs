//! What the caller's deadline makes of a provider's reply: nothing, or a timeout at some moment.
//!
//! Follows semantics 10: a whole-attempt deadline counts from sending to the last byte; a streamed
//! attempt is bounded in its silence, that is up to the first token and between two tokens. The
//! earlier of the reply's end and the deadline wins, and the reply wins a tie. A reply says when
//! its first and its last token come; the tokens between are taken to be evenly spaced.

use std::time::Duration;

use mock_providers::Reply;
use router::{Deadline, ErrorClass, Failure, Outcome, Reached, StreamLimits};

/// When the caller gives up on a reply, and with which failure. `None`: it gets the reply.
#[inline]
pub(crate) fn give_up(deadline: Deadline, reply: &Reply) -> Option<(Duration, Failure)> {
    let at = match deadline {
        Deadline::None => None,
        Deadline::Whole(limit) => (reply.total_after > limit).then_some(limit),
        Deadline::Silence(limit) => silence(limit, limit, reply, Quiet::WithoutAnySign),
        Deadline::Content(limits) => {
            let StreamLimits {
                first_token,
                idle,
                total,
            } = limits;
            let [first_token, idle] = [first_token, idle].map(|l| l.unwrap_or(Duration::MAX));
            let quiet = silence(first_token, idle, reply, Quiet::WithoutContent);
            let late = total.filter(|&total| reply.total_after > total);
            quiet.into_iter().chain(late).min()
        }
    }?;
    Some((at, timeout_at(at, reply)))
}

/// When whoever reads this reply has heard nothing for too long: for `first` up to the first sign of
/// life, or for `idle` since the latest.
pub(crate) fn falls_silent(first: Duration, idle: Duration, reply: &Reply) -> Option<Duration> {
    silence(first, idle, reply, Quiet::WithoutAnySign)
}

/// When the first token of a reply comes, if one does.
pub(crate) const fn first_token(reply: &Reply) -> Option<Duration> {
    stream(reply).1
}

/// What ends a silence.
#[derive(Clone, Copy)]
enum Quiet {
    /// Content.
    WithoutContent,
    /// Content and keep-alive frames.
    WithoutAnySign,
}

/// When a silence longer than `idle`, or than `first` up to the first content, has lasted for that.
#[inline(never)]
fn silence(first: Duration, idle: Duration, reply: &Reply, quiet: Quiet) -> Option<Duration> {
    let (gaps, first_at) = stream(reply);
    let stall = reply.stall.map(|stall| {
        let lasts = reply.total_after.saturating_sub(stall.from);
        let lasts = match (quiet, stall.keep_alive) {
            (Quiet::WithoutAnySign, Some(every)) => lasts.min(every),
            (Quiet::WithoutAnySign, None) | (Quiet::WithoutContent, _) => lasts,
        };
        (stall.from, lasts)
    });
    let content_ends = stall.map_or(reply.total_after, |(from, _)| from);
    let begins = match (first_at, quiet) {
        (Some(first_at), _) => first_at,
        // Only keep-alive frames come, from the beginning of the stall on.
        (None, Quiet::WithoutAnySign) => content_ends,
        (None, Quiet::WithoutContent) => reply.total_after,
    };
    if begins > first {
        return Some(first);
    }
    let gap = content_ends.saturating_sub(begins) / gaps.max(1);
    if gap > idle {
        return Some(begins + idle);
    }
    let (from, _) = stall.filter(|(from, lasts)| *from >= begins && *lasts > idle)?;
    Some(from + idle)
}

/// The failure of a caller that hangs up at this time after sending.
fn timeout_at(at: Duration, reply: &Reply) -> Failure {
    let mut failure = Failure::of(ErrorClass::Timeout);
    let (gaps, first) = stream(reply);
    if let Some(first) = first.filter(|&first| first <= at) {
        let content_ends = reply.stall.map_or(reply.total_after, |stall| stall.from);
        let streaming = content_ends.saturating_sub(first);
        failure.first_token_after = Some(first);
        failure.reached = Reached::Content;
        failure.tokens_delivered = match &reply.outcome {
            // The provider fell silent after these, and would have stayed so.
            Outcome::Failure(own) if reply.total_after == Duration::MAX => {
                own.tokens_delivered.max(1)
            }
            Outcome::Success { .. } | Outcome::Failure(_) => {
                let passed = (at - first).min(streaming).div_duration_f64(streaming);
                1 + whole(f64::from(gaps) * passed)
            }
        };
    } else if reply.stall.is_some_and(|stall| stall.from <= at) {
        failure.reached = Reached::Headers;
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
    use mock_providers::Silence;
    use router::Usage;

    use super::*;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn answer(first: Option<Duration>, tokens: u32, total: Duration) -> Reply {
        let usage = Usage::new(10, tokens);
        let mut reply = Reply::success(usage, total);
        reply.outcome = Outcome::Success {
            usage,
            first_token_after: first,
        };
        reply
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
        let reply = Reply::hang();

        assert_eq!(
            give_up(Deadline::Whole(secs(7)), &reply).unwrap().0,
            secs(7)
        );
        assert_eq!(
            give_up(Deadline::Silence(secs(5)), &reply).unwrap().0,
            secs(5)
        );
    }

    /// Content at 0.1 s, then none until 60 s, with a keep-alive frame every 5 s.
    fn stalled() -> Reply {
        let from = Duration::from_millis(100);
        Reply {
            stall: Some(Silence {
                from,
                keep_alive: Some(secs(5)),
            }),
            ..answer(Some(from), 1, secs(60))
        }
    }

    fn content(first_token: u64, idle: u64, total: Option<u64>) -> Deadline {
        Deadline::Content(StreamLimits {
            first_token: Some(secs(first_token)),
            idle: Some(secs(idle)),
            total: total.map(secs),
        })
    }

    #[test]
    fn br_051_keep_alive_frames_are_signs_of_life_and_no_content() {
        assert_eq!(give_up(Deadline::Silence(secs(5)), &stalled()), None);

        let (at, failure) = give_up(content(5, 5, None), &stalled()).unwrap();
        assert_eq!(at, Duration::from_millis(5_100));
        assert_eq!((failure.status, failure.tokens_delivered), (Some(408), 1));

        let (at, _) = give_up(Deadline::Silence(secs(4)), &stalled()).unwrap();
        assert_eq!(at, Duration::from_millis(4_100));
    }

    #[test]
    fn br_051_a_stream_of_keep_alive_frames_alone_has_no_first_token() {
        let mut pings = stalled();
        pings.outcome = answer(None, 0, secs(60)).outcome;

        assert_eq!(give_up(Deadline::Silence(secs(5)), &pings), None);
        let (at, failure) = give_up(content(5, 9, None), &pings).unwrap();
        assert_eq!((at, failure.reached()), (secs(5), Reached::Headers));
    }

    #[test]
    fn br_051_the_three_limits_of_a_stream_are_three() {
        let steady = answer(Some(secs(4)), 25, secs(100));

        assert_eq!(give_up(content(5, 5, None), &steady), None);
        let (at, failure) = give_up(content(5, 5, Some(60)), &steady).unwrap();
        assert_eq!((at, failure.tokens_delivered), (secs(60), 15));
        let at = |deadline| give_up(deadline, &steady).unwrap().0;
        assert_eq!(at(content(3, 5, None)), secs(3));
        assert_eq!(at(content(5, 3, None)), secs(7));
    }

    #[test]
    fn a_stream_that_falls_silent_keeps_the_tokens_it_delivered() {
        let mut cut = Failure::of(ErrorClass::InternalServer);
        cut.first_token_after = Some(secs(1));
        cut.tokens_delivered = 40;
        let reply = Reply::failure(cut, Duration::MAX);

        let (at, failure) = give_up(Deadline::Silence(secs(30)), &reply).unwrap();

        assert_eq!((at, failure.tokens_delivered), (secs(31), 40));
    }
}
