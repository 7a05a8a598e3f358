//! An exchange as bytes, each with its moment: what a [`Reply`] is over HTTP. It decides nothing that
//! the model has not decided, and reads no clock: a server waits for the moments and sends the bytes.
//!
//! | file | says |
//! | --- | --- |
//! | `asked.rs` | what a request asks for: API, model, tokens, whether it streams |
//! | `orders.rs` | headers by which one request orders its own luck and faults |
//! | `open_ai.rs`, `anthropic.rs` | answers and frames in the words of each API |
//! | `frames.rs` | which frames a stream has, and when each comes |

pub(crate) mod anthropic;
pub(crate) mod asked;
pub(crate) mod frames;
pub(crate) mod open_ai;
pub(crate) mod orders;

use std::time::Duration;

use router::{Epoch, Outcome};

use self::{asked::Asked, frames::Frames};
use crate::{
    reply::{ProviderCall, Reply},
    wire::{Break, Manner, WireReply},
};

/// What happens on a connection. Times count from the request's arrival.
#[derive(Debug)]
pub(crate) enum Play {
    /// Nothing, ever.
    Hang,
    /// The connection is reset without an answer.
    Reset {
        /// When.
        after: Duration,
    },
    /// An answer or an error in one piece.
    Piece {
        /// When.
        after: Duration,
        head: Head,
        body: String,
        /// Whether the connection ends in the middle of the body.
        cut: bool,
    },
    /// A stream of frames.
    Stream {
        /// When status and headers come.
        after: Duration,
        head: Head,
        frames: Box<Frames>,
    },
}

/// Status and headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    /// Further headers, in lower case.
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// What an answer is written with.
#[derive(Clone, Debug)]
pub(crate) struct Letterhead {
    /// The server's number of the request.
    pub(crate) number: u64,
    /// The model that was asked for, as JSON.
    pub(crate) model: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
}

impl Play {
    /// What `reply` to `call` is on the wire.
    pub(crate) fn of(
        asked: &Asked,
        call: &ProviderCall,
        reply: &Reply,
        wire: WireReply,
        letterhead: Letterhead,
        epoch: Epoch,
    ) -> Self {
        let after = reply.total_after;
        let Some(status) = wire.status else {
            return match reply.manner {
                Manner::Broken(Break::Silence) => Self::Hang,
                Manner::Answer | Manner::Error | Manner::Limited(_) | Manner::Broken(_) => {
                    Self::Reset { after }
                }
            };
        };
        let mut head = Head::new(status, asked, &letterhead);
        let said = wire.headers.iter();
        head.headers
            .extend(said.map(|header| (header.name, header.text(epoch))));
        let is_stream_of_frames = call.stream && Frames::carry(reply.manner);
        if is_stream_of_frames {
            head.content_type = EVENTS;
            let frames = Frames::new(asked, call, reply, wire.body, letterhead);
            let after = frames.begin_after();
            return Self::Stream {
                after,
                head,
                frames: Box::new(frames),
            };
        }
        if reply.manner == Manner::Broken(Break::NotJson) {
            head.content_type = "text/html";
        } else if reply.manner == Manner::Broken(Break::Empty) && call.stream {
            head.content_type = EVENTS;
        }
        let body = wire
            .body
            .unwrap_or_else(|| asked.answer(call, answered_tokens(call, reply), &letterhead));
        Self::Piece {
            after,
            head,
            body,
            cut: reply.manner == Manner::Broken(Break::Cut),
        }
    }
}

impl Head {
    fn new(status: u16, asked: &Asked, letterhead: &Letterhead) -> Self {
        let name = match asked.api {
            asked::Api::Messages => "request-id",
            asked::Api::Chat | asked::Api::Embeddings => "x-request-id",
        };
        Self {
            status,
            content_type: "application/json",
            headers: vec![(name, format!("req_{:016x}", letterhead.number))],
        }
    }
}

/// Tokens of the answer; of one that breaks off, those that it would have had.
fn answered_tokens(call: &ProviderCall, reply: &Reply) -> u32 {
    match reply.outcome {
        Outcome::Success { usage, .. } => usage.completion_tokens,
        Outcome::Failure(_) => call.answer_tokens(),
    }
}

/// The words of the first `tokens` tokens of an answer; each token is one word.
pub(crate) fn text(tokens: u32) -> String {
    (0..tokens).map(word).collect()
}

/// Token number `number` of an answer, from 0.
pub(crate) fn word(number: u32) -> &'static str {
    WORDS[number as usize % WORDS.len()]
}

const EVENTS: &str = "text/event-stream";

/// No word needs escaping in JSON.
const WORDS: [&str; 12] = [
    "This ", "answer ", "stands ", "for ", "what ", "a ", "model ", "would ", "have ", "said ",
    "at ", "length. ",
];
