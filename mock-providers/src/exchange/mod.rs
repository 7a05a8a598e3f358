//! An exchange as bytes, each with its moment: what a [`Reply`] is over HTTP. It decides nothing that
//! the model has not decided, and reads no clock: a server waits for the moments and sends the bytes.
//!
//! | file | says |
//! | --- | --- |
//! | `asked.rs` | what a request asks for: API, model, tokens, whether it streams |
//! | `beginning.rs` | what a prompt begins with, for the prompt cache |
//! | `orders.rs` | headers by which one request orders its own luck and faults |
//! | `open_ai.rs`, `anthropic.rs` | answers and frames in the words of each API |
//! | `frames.rs` | which frames a stream has, and when each comes |

pub(crate) mod anthropic;
pub(crate) mod asked;
mod beginning;
mod checked;
pub(crate) mod frames;
pub(crate) mod open_ai;
pub(crate) mod orders;

use std::time::Duration;

use router::{DeploymentId, Epoch, Instant, Outcome, RequestId};

use self::{
    asked::{Api, Asked},
    frames::Frames,
    orders::Orders,
};
use crate::{
    error::SpecError,
    prompt_cache::Beginning,
    providers::Providers,
    reply::{ProviderCall, Reply},
    wire::{Break, Dialect, Manner, WireReply},
};

/// A request that arrives at a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encounter {
    pub(crate) at: Instant,
    pub(crate) epoch: Epoch,
    /// Which request of the server, from 0.
    pub(crate) number: u64,
    /// Which of its providers is asked.
    pub(crate) upstream: u32,
    /// Tokens that the model says where the request orders none.
    pub(crate) output_tokens: u32,
}

/// What came of an encounter.
#[derive(Debug)]
pub(crate) struct Met {
    pub(crate) call: ProviderCall,
    pub(crate) reply: Reply,
    #[cfg(feature = "http")]
    pub(crate) status: Option<u16>,
    pub(crate) play: Play,
}

impl Encounter {
    /// What the provider makes of the request. The error says what is amiss with its orders.
    pub(crate) fn with(
        self,
        providers: &mut Providers,
        asked: &Asked,
        orders: &Orders,
    ) -> Result<Met, SpecError> {
        let output_tokens = match asked.api {
            Api::Chat | Api::Messages => orders.output_tokens.unwrap_or(self.output_tokens),
            Api::Embeddings => 0,
        };
        let call = ProviderCall {
            request: RequestId(orders.request.unwrap_or(self.number)),
            attempt: orders.attempt.unwrap_or_default(),
            deployment: DeploymentId(self.upstream),
            prompt_tokens: orders.prompt_tokens.unwrap_or(asked.prompt_tokens),
            output_tokens,
            max_tokens: asked.max_tokens,
            stream: asked.stream,
            beginning: match providers.remember(self.upstream) {
                true => asked.beginning(),
                false => Beginning::default(),
            },
            batch: false,
        };
        let reply = providers.respond_to_wish(self.at, &call, &orders.wish)?;
        let dialect = (asked.api == Api::Messages).then_some(Dialect::Anthropic);
        let wire = providers.on_wire_as(self.at, &call, &reply, dialect);
        let letterhead = Letterhead {
            number: self.number,
            model: serde_json::Value::from(asked.model.as_str()).to_string(),
            created: self.epoch.unix_seconds() + self.at.as_nanos() / 1_000_000_000,
            cached: match reply.outcome {
                Outcome::Success { usage, .. } => usage.cached_tokens,
                Outcome::Failure(_) => 0,
            },
        };
        Ok(Met {
            call,
            reply,
            #[cfg(feature = "http")]
            status: wire.status,
            play: Play::of(asked, &call, &reply, wire, letterhead, self.epoch),
        })
    }
}

/// What happens on a connection. Times count from the request's arrival.
#[derive(Debug)]
pub(crate) enum Play {
    /// Nothing, ever.
    Hang,
    /// The connection is reset without an answer.
    Reset {
        /// When.
        #[cfg_attr(
            not(feature = "http"),
            expect(
                dead_code,
                reason = "a responder of wiremock cannot wait before it hangs up"
            )
        )]
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
    /// Tokens of the prompt that were read from the provider's cache.
    pub(crate) cached: u32,
}

impl Play {
    /// What `reply` to `call` is on the wire.
    fn of(
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
            Api::Messages => "request-id",
            Api::Chat | Api::Embeddings => "x-request-id",
        };
        Self {
            status,
            content_type: "application/json",
            headers: {
                let mut headers = Vec::with_capacity(10);
                headers.push((name, format!("req_{:016x}", letterhead.number)));
                headers
            },
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
    let mut text = String::with_capacity(tokens as usize * LONGEST_WORD);
    text.extend((0..tokens).map(word));
    text
}

/// Token number `number` of an answer, from 0.
pub(crate) fn word(number: u32) -> &'static str {
    WORDS[number as usize % WORDS.len()]
}

const EVENTS: &str = "text/event-stream";

const LONGEST_WORD: usize = 8;
/// No word needs escaping in JSON.
const WORDS: [&str; 12] = [
    "This ", "answer ", "stands ", "for ", "what ", "a ", "model ", "would ", "have ", "said ",
    "at ", "length. ",
];
