//! The frames of a stream and the moment of each: the first token when the reply says, the last at its
//! end, the others evenly between, as the model draws them. Then the tail: the frames that end an
//! answer as it should end, or in the way that it breaks.

use std::time::Duration;

use router::Outcome;

use super::{
    Letterhead, anthropic,
    asked::{Api, Asked},
    open_ai,
};
use crate::{
    reply::{ProviderCall, Reply},
    wire::{Break, Manner},
};

/// How a stream ends after its last frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// As HTTP wants it.
    Whole,
    /// The connection is cut.
    Cut,
    /// It stays open and silent.
    Silence,
}

/// The frames of a stream, made as they are asked for.
#[derive(Debug)]
pub(crate) struct Frames {
    api: Api,
    head: Letterhead,
    call: ProviderCall,
    /// Tokens that are delivered.
    tokens: u32,
    /// When the first and the last of them come; where there is none, when the stream begins.
    first: Duration,
    last: Duration,
    /// When the stream ends.
    end_after: Duration,
    keep_alive: Option<Duration>,
    opens: bool,
    tail: String,
    pub(crate) end: End,
    next: Next,
}

/// Which frame comes next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Opening,
    Token(u32),
    KeepAlive(u32),
    Tail,
    Nothing,
}

impl Frames {
    /// Whether a stream of this manner has frames at all; others are an error, or a body in one piece.
    pub(crate) const fn carry(manner: Manner) -> bool {
        match manner {
            Manner::Answer => true,
            Manner::Error | Manner::Limited(_) => false,
            Manner::Broken(how) => match how {
                Break::Cut
                | Break::ErrorObject
                | Break::Malformed
                | Break::NoDone
                | Break::NoEnd
                | Break::Silence => true,
                Break::Empty | Break::NotJson | Break::Refused | Break::Reset | Break::Tls => false,
            },
        }
    }

    pub(crate) fn new(
        asked: &Asked,
        call: &ProviderCall,
        reply: &Reply,
        body: Option<String>,
        head: Letterhead,
    ) -> Self {
        let (tokens, first) = match reply.outcome {
            Outcome::Success {
                usage,
                first_token_after,
            } => (usage.completion_tokens, first_token_after),
            Outcome::Failure(failure) => (failure.tokens_delivered, failure.first_token_after),
        };
        let last = reply.stall.map_or(reply.total_after, |stall| stall.from);
        let tail = Tail {
            asked,
            call,
            tokens,
            head: &head,
        };
        let (tail, end) = tail.of(reply.manner, body);
        let whole = matches!(reply.manner, Manner::Answer | Manner::Broken(Break::NoDone));
        Self {
            api: asked.api,
            call: *call,
            tokens,
            first: first.unwrap_or(last),
            last,
            end_after: reply.total_after,
            keep_alive: reply.stall.and_then(|stall| stall.keep_alive),
            opens: tokens > 0 || (whole && reply.stall.is_none()),
            tail,
            end,
            next: Next::Opening,
            head,
        }
    }

    /// When status and headers come: with the first frame.
    pub(crate) const fn begin_after(&self) -> Duration {
        self.first
    }

    fn token_after(&self, number: u32) -> Duration {
        let gaps = self.tokens.saturating_sub(1);
        if gaps == 0 {
            return self.first;
        }
        let length = self.last.saturating_sub(self.first).as_nanos();
        let part = length * u128::from(number) / u128::from(gaps);
        self.first + Duration::from_nanos(u64::try_from(part).unwrap_or(u64::MAX))
    }

    fn opening(&self) -> String {
        match self.api {
            Api::Chat | Api::Embeddings => open_ai::opening(&self.head),
            Api::Messages => anthropic::opening(&self.head, &self.call),
        }
    }

    fn token(&self, number: u32) -> String {
        match self.api {
            Api::Chat | Api::Embeddings => open_ai::content(&self.head, number),
            Api::Messages => anthropic::content(number),
        }
    }
}

impl Iterator for Frames {
    type Item = (Duration, String);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next {
                Next::Opening => {
                    self.next = Next::Token(0);
                    if self.opens {
                        return Some((self.first, self.opening()));
                    }
                }
                Next::Token(number) if number < self.tokens => {
                    self.next = Next::Token(number + 1);
                    return Some((self.token_after(number), self.token(number)));
                }
                Next::Token(_) => self.next = Next::KeepAlive(1),
                Next::KeepAlive(number) => {
                    let after = self.keep_alive.map(|every| self.last + every * number);
                    match after.filter(|&after| after < self.end_after) {
                        Some(after) => {
                            self.next = Next::KeepAlive(number + 1);
                            return Some((after, KEEP_ALIVE.to_owned()));
                        }
                        None => self.next = Next::Tail,
                    }
                }
                Next::Tail => {
                    self.next = Next::Nothing;
                    let tail = std::mem::take(&mut self.tail);
                    // A cut comes at its moment even where no frame does.
                    if self.end != End::Silence {
                        return Some((self.end_after, tail));
                    }
                }
                Next::Nothing => return None,
            }
        }
    }
}

/// What the last frames of a stream are made from.
struct Tail<'a> {
    asked: &'a Asked,
    call: &'a ProviderCall,
    tokens: u32,
    head: &'a Letterhead,
}

impl Tail<'_> {
    fn of(&self, manner: Manner, body: Option<String>) -> (String, End) {
        let body = body.unwrap_or_default();
        let how = match manner {
            Manner::Answer | Manner::Error | Manner::Limited(_) => {
                return (self.closing() + &self.marker(), End::Whole);
            }
            Manner::Broken(how) => how,
        };
        match how {
            Break::Cut | Break::Refused | Break::Reset | Break::Tls => (String::new(), End::Cut),
            Break::Silence => (String::new(), End::Silence),
            Break::ErrorObject => (self.error(&body) + &self.marker(), End::Whole),
            Break::Malformed => (format!("data: {body}\n\n") + &self.marker(), End::Whole),
            Break::NoDone => (self.closing(), End::Whole),
            Break::NoEnd => (self.marker(), End::Whole),
            Break::Empty | Break::NotJson => (body, End::Whole),
        }
    }

    fn closing(&self) -> String {
        match self.asked.api {
            Api::Chat | Api::Embeddings => {
                open_ai::closing(self.head, self.call, self.tokens, self.asked.tells_usage)
            }
            Api::Messages => anthropic::closing(self.call, self.tokens),
        }
    }

    fn marker(&self) -> String {
        match self.asked.api {
            Api::Chat | Api::Embeddings => open_ai::DONE.to_owned(),
            Api::Messages => anthropic::end(),
        }
    }

    fn error(&self, body: &str) -> String {
        match self.asked.api {
            Api::Chat | Api::Embeddings => format!("data: {body}\n\n"),
            Api::Messages => format!("event: error\ndata: {body}\n\n"),
        }
    }
}

/// A comment, which no client takes for content.
const KEEP_ALIVE: &str = ": keep-alive\n\n";
