//! Streams frame by frame: what a provider sends when, where a time limit cuts it, and what of it
//! the caller sees.

use std::time::Duration;

use router::{
    Deadline, ErrorClass, Failure, Instant, Outcome, Reached, RetryAfter, StreamLimits, Usage,
};

use crate::{
    harness::World,
    provider::{Call, Course, Reply, ok},
    results::span,
};

/// A frame of a stream, and when it comes, in seconds after the sending.
pub(crate) type Timed = (f64, Frame);

/// A frame of a stream that began with status 200.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Frame {
    /// The role alone, or an empty text.
    Opening,
    /// A keep-alive.
    Ping,
    /// A piece of text: a token.
    Text,
    /// A piece of a tool call.
    ToolCall,
    /// An error event of this status, with the wait time in seconds that it tells.
    Error(u16, Option<i64>),
    /// The end, as it should be.
    End,
}

impl Frame {
    fn reached(self) -> Reached {
        match self {
            Self::Ping | Self::Error(..) | Self::End => Reached::Headers,
            Self::Opening => Reached::Opening,
            Self::Text | Self::ToolCall => Reached::Content,
        }
    }
}

/// An answer of opening frame, text and end.
pub(crate) const WHOLE: &[Timed] = &[(0.1, Frame::Opening), (0.1, Frame::Text), (0.2, Frame::End)];

/// A provider's answer as these frames. The last is an error or the end.
pub(crate) fn frames(frames: &'static [Timed]) -> Reply {
    let mut reply = ok();
    reply.frames = frames;
    reply
}

/// What becomes of a stream under a time limit.
pub(crate) fn course(frames: &'static [Timed], call: &Call, deadline: Deadline) -> Course {
    let (last, end) = frames.last().map(|(at, f)| (span(*at), *f)).unwrap();
    let cut = cut(frames, last, deadline);
    let ends_after = cut.unwrap_or(last);
    let came = || frames.iter().filter(|(at, _)| span(*at) <= ends_after);
    let content = |f: &&Timed| f.1.reached() == Reached::Content;
    let first_token_after = came().find(content).map(|(at, _)| span(*at));
    let texts = came().filter(|(_, f)| *f == Frame::Text).count();
    let texts = u32::try_from(texts).unwrap();
    let failed = |failure: Failure| {
        let reached = came().map(|(_, f)| f.reached()).max().unwrap_or_default();
        // An error event comes after the headers.
        let reached = if cut.is_some() {
            reached
        } else {
            reached.max(Reached::Headers)
        };
        Outcome::Failure(Failure {
            tokens_delivered: texts,
            first_token_after,
            ..failure.after(reached)
        })
    };
    let outcome = match end {
        _ if cut.is_some() => failed(Failure::of(ErrorClass::Timeout)),
        Frame::Error(status, hint) => failed(Failure {
            retry_after: hint.map(RetryAfter::Seconds),
            ..Failure::with_status(status)
        }),
        Frame::End => Outcome::Success {
            usage: Usage::new(call.prompt_tokens, texts),
            first_token_after,
        },
        other => panic!("a stream does not end with {other:?}"),
    };
    Course {
        first_token_after,
        ends_after,
        outcome,
        timed_out: cut.is_some(),
        frames,
    }
}

/// When a time limit ends a stream.
fn cut(frames: &[Timed], last: Duration, deadline: Deadline) -> Option<Duration> {
    let silence = |first: Option<Duration>, idle: Option<Duration>, counts: fn(Frame) -> bool| {
        let signs = frames.iter().filter(|(_, f)| counts(*f));
        let mut signs: Vec<_> = signs.map(|(at, _)| span(*at)).collect();
        signs.push(last);
        let begun = std::iter::once(Duration::ZERO).chain(signs.iter().copied());
        let limits = std::iter::once(first).chain(std::iter::repeat(idle));
        begun
            .zip(signs.iter().copied())
            .zip(limits)
            .find_map(|((from, to), limit)| {
                let limit = limit?;
                (to.saturating_sub(from) > limit).then(|| from + limit)
            })
    };
    match deadline {
        Deadline::None => None,
        Deadline::Whole(most) => (last > most).then_some(most),
        Deadline::Silence(most) => silence(Some(most), Some(most), |_| true),
        Deadline::Content(StreamLimits {
            first_token,
            idle,
            total,
        }) => {
            let quiet = silence(first_token, idle, |f| f.reached() == Reached::Content);
            let late = total.filter(|&most| last > most);
            quiet.into_iter().chain(late).min()
        }
    }
}

/// What the caller of this request saw, over all its attempts. Pings are not passed on.
pub(crate) fn seen(world: &World, ask: usize) -> Vec<Frame> {
    let mut seen = Vec::new();
    for hit in world.all_hits().iter().filter(|hit| hit.ask == ask) {
        let mut kept = Vec::new();
        let came = |at: f64| hit.at + span(at) <= hit.ended.min(Instant::NEVER);
        for (_, frame) in hit.frames.iter().filter(|(at, _)| came(*at)) {
            match frame {
                Frame::Ping | Frame::Error(..) => {}
                Frame::Opening if hit.keeps_opening_back => kept.push(*frame),
                Frame::Opening | Frame::Text | Frame::ToolCall | Frame::End => {
                    seen.append(&mut kept);
                    seen.push(*frame);
                }
            }
        }
    }
    seen
}
