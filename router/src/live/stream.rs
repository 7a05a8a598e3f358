//! A streamed answer on its way to the caller, and the request that brings it: both are one thing, so
//! that a caller that drops the one has left the other.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use reqwest::header::HeaderMap;
use tokio::sync::mpsc;

use super::driver::Reply;
use crate::request::DeploymentId;

/// What comes of a stream.
#[derive(Clone, Debug)]
pub enum Item {
    /// Once, before the first frame: somebody answers.
    Begun(Box<Begun>),
    /// One frame or several, with their ends. The marker `[DONE]` is not among them.
    Frame(Bytes),
    /// Last: how it ended.
    End(Box<Reply>),
}

/// Who answers a stream.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The deployment that sent the first frame.
    pub deployment: DeploymentId,
    /// Attempts so far.
    pub attempts: u16,
    /// Moves to other groups, tiers or remaining sets so far.
    pub fallbacks: u16,
    /// Whether the response cache answers.
    pub cached: bool,
    /// The provider's headers.
    pub headers: HeaderMap,
}

/// A stream under way. Dropping it cancels the request.
pub struct ReplyStream {
    items: mpsc::Receiver<Item>,
    driving: Option<Driving>,
    end: Option<Box<Reply>>,
}

/// A request on its way.
pub(super) type Driving = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// Where the frames of a stream go.
#[derive(Debug)]
pub(super) struct Sink {
    to: mpsc::Sender<Item>,
    begun: bool,
}

impl Sink {
    /// Gives out frames; before the first of them, who sends them.
    pub(super) async fn give(&mut self, begun: impl FnOnce() -> Begun + Send, frames: Bytes) {
        if !self.begun {
            self.begun = true;
            let begun = Item::Begun(Box::new(begun()));
            drop(self.to.send(begun).await);
        }
        // A caller that has left takes nothing more, and drops the request with its stream.
        drop(self.to.send(Item::Frame(frames)).await);
    }
}

impl ReplyStream {
    /// What is driven by this, with the sink that it gives its frames to.
    pub(super) fn of(drive: impl FnOnce(Sink) -> Driving) -> Self {
        let (to, items) = mpsc::channel(FRAMES_AHEAD);
        let driving = drive(Sink { to, begun: false });
        Self {
            items,
            driving: Some(driving),
            end: None,
        }
    }

    /// What comes next; nothing after [`Item::End`].
    pub async fn next(&mut self) -> Option<Item> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// [`next`](Self::next), for those who poll.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            match self.items.poll_recv(context) {
                Poll::Ready(Some(item)) => return Poll::Ready(Some(item)),
                Poll::Ready(None) if self.driving.is_none() => {
                    return Poll::Ready(self.end.take().map(Item::End));
                }
                Poll::Ready(None) | Poll::Pending => {}
            }
            let Some(driving) = &mut self.driving else {
                return Poll::Pending;
            };
            match driving.as_mut().poll(context) {
                Poll::Ready(reply) => {
                    self.driving = None;
                    self.end = Some(Box::new(reply));
                }
                Poll::Pending => {
                    // It may just have given something out.
                    return match self.items.poll_recv(context) {
                        Poll::Ready(Some(item)) => Poll::Ready(Some(item)),
                        Poll::Ready(None) | Poll::Pending => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyStream").finish_non_exhaustive()
    }
}

/// Frames that wait for a slow caller; then nothing more is read from its provider.
const FRAMES_AHEAD: usize = 32;
