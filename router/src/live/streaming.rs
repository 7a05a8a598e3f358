//! An answer that comes frame by frame: passes frames on, and keeps account of how far it has come.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::{Response, header::HeaderMap};

use super::{
    anthropic::Translator,
    exchange::{Came, Exchange, Late, with_causes},
    frames::{self, Cutter, Says},
    limits::Limits,
    stream::{Begun, Sink},
    verdict::{Told, UsageBody},
};
use crate::{
    observe::Observer,
    outcome::{ErrorClass, Failure, Outcome, Reached, Usage},
    time::Instant,
};

impl<O: Observer + Send + 'static> Exchange<'_, O> {
    /// Reads a stream to its end.
    pub(super) async fn stream(
        &self,
        mut response: Response,
        mut limits: Limits,
        sink: Option<&mut Sink>,
        headers: HeaderMap,
    ) -> Came {
        let mut progress = Progress {
            reached: Reached::Headers,
            ..Progress::default()
        };
        let mut passing = Passing {
            sink,
            held: BytesMut::new(),
            kept: self.keeps_frames.then(BytesMut::new),
        };
        let sent = limits.sent();
        let mut cutter = Cutter::default();
        let (created, tells) = (self.unix_seconds(), self.payload.wants_usage());
        let mut translator = self.is_anthropic().then(|| Translator::new(created, tells));
        let told = 'reading: loop {
            let (bytes, over) = match self.within(&limits, response.chunk()).await {
                Err(Late) => break Some(self.late(&progress)),
                Ok(Err(error)) => break Some(cut(&progress, &with_causes(&error.without_url()))),
                Ok(Ok(None)) => (None, true),
                Ok(Ok(Some(bytes))) => (Some(bytes), false),
            };
            let now = self.shared.clock.now();
            limits.sign(now);
            if let Some(bytes) = &bytes {
                cutter.push(bytes);
            }
            while let Some(frame) = cutter.next().or_else(|| over.then(|| cutter.rest())?) {
                let frame = match &mut translator {
                    None => frame,
                    Some(translator) => match translator.frames(&frame) {
                        Some(frame) => frame,
                        None => continue,
                    },
                };
                match self.hear(&frame, now, sent, &mut progress, &mut limits) {
                    Heard::Pass { first } => {
                        if first && self.sending.wants_first_token {
                            self.flight.first_token();
                        }
                        let content = progress.reached == Reached::Content;
                        let holds = self.sending.keeps_opening_back && !content;
                        passing.pass(self, &headers, frame, holds).await;
                    }
                    Heard::Skip => {}
                    Heard::Fails(told) => break 'reading Some(told),
                }
            }
            if cutter.is_overfull() {
                break Some(unreadable(&progress));
            }
            if over {
                // A stream without any frame is an empty answer.
                let whole = progress.reason || !progress.any;
                break (!whole).then(|| cut(&progress, "Stream ended before a finish_reason"));
            }
        };
        if let Some(told) = told {
            return told.came(headers);
        }
        passing.release(self, &headers).await;
        if let Some(translator) = translator {
            progress.usage = serde_json::from_value(translator.usage()).ok();
        }
        let estimate = Usage::new(self.prompt_tokens, progress.tokens);
        Came {
            outcome: Outcome::Success {
                usage: progress.usage.map_or(estimate, |usage| usage.or(estimate)),
                first_token_after: progress.first_token_after,
            },
            message: String::new(),
            headers,
            body: passing.kept.unwrap_or_default().freeze(),
        }
    }

    /// Takes in a frame.
    fn hear(
        &self,
        frame: &[u8],
        now: Instant,
        sent: Instant,
        progress: &mut Progress,
        limits: &mut Limits,
    ) -> Heard {
        let piece = match frames::read(frame) {
            Says::Nothing => return Heard::Pass { first: false },
            Says::Done => {
                progress.any = true;
                return Heard::Skip;
            }
            Says::Error(error) => {
                let told = Told::of_event(&error, &self.shared.profile);
                return Heard::Fails(progress.mark(told));
            }
            Says::Unreadable => return Heard::Fails(unreadable(progress)),
            Says::Piece(piece) => piece,
        };
        progress.any = true;
        progress.reason |= piece.reason;
        progress.usage = piece.usage.or(progress.usage);
        if !piece.content {
            progress.reached = progress.reached.max(Reached::Opening);
            return Heard::Pass { first: false };
        }
        limits.content(now);
        progress.reached = Reached::Content;
        progress.tokens += u32::from(piece.text);
        let first = progress.first_token_after.is_none();
        progress.first_token_after = progress.first_token_after.or_else(|| Some(now.since(sent)));
        Heard::Pass { first }
    }

    fn begun(&self, headers: &HeaderMap) -> Begun {
        Begun {
            deployment: self.sending.deployment,
            attempts: self.sending.number + 1,
            fallbacks: self.sending.fallbacks,
            cached: false,
            headers: headers.clone(),
        }
    }
}

/// What is done with a frame.
enum Heard {
    Pass {
        /// It is the first with content.
        first: bool,
    },
    Skip,
    Fails(Told),
}

/// How far a stream has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    reached: Reached,
    /// Some frame came, be it the marker alone.
    any: bool,
    reason: bool,
    tokens: u32,
    first_token_after: Option<Duration>,
    usage: Option<UsageBody>,
}

impl Progress {
    /// A failure of an answer that has come so far.
    pub(super) fn mark(&self, mut told: Told) -> Told {
        told.failure.reached = self.reached;
        told.failure.tokens_delivered = self.tokens;
        told.failure.first_token_after = self.first_token_after;
        told
    }
}

/// The connection ends, or the stream before its last frame.
fn cut(progress: &Progress, message: &str) -> Told {
    progress.mark(Told {
        failure: Failure::of(ErrorClass::ApiConnection),
        message: message.to_owned(),
    })
}

fn unreadable(progress: &Progress) -> Told {
    progress.mark(Told {
        failure: Failure {
            status: None,
            ..Failure::of(ErrorClass::ApiConnection)
        },
        message: "a frame of the stream cannot be read".to_owned(),
    })
}

/// Frames on their way to the caller.
struct Passing<'s> {
    sink: Option<&'s mut Sink>,
    /// Kept back until there is content.
    held: BytesMut,
    kept: Option<BytesMut>,
}

impl Passing<'_> {
    async fn pass<O: Observer + Send + 'static>(
        &mut self,
        exchange: &Exchange<'_, O>,
        headers: &HeaderMap,
        frame: Bytes,
        holds: bool,
    ) {
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&frame);
        }
        if holds {
            self.held.extend_from_slice(&frame);
            return;
        }
        self.release(exchange, headers).await;
        self.give(exchange, headers, frame).await;
    }

    /// Gives out what was kept back.
    async fn release<O: Observer + Send + 'static>(
        &mut self,
        exchange: &Exchange<'_, O>,
        headers: &HeaderMap,
    ) {
        if !self.held.is_empty() {
            let held = self.held.split().freeze();
            self.give(exchange, headers, held).await;
        }
    }

    async fn give<O: Observer + Send + 'static>(
        &mut self,
        exchange: &Exchange<'_, O>,
        headers: &HeaderMap,
        frame: Bytes,
    ) {
        if let Some(sink) = &mut self.sink {
            sink.give(|| exchange.begun(headers), frame).await;
        }
    }
}
