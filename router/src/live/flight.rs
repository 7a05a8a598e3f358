//! A request under way: what it holds of the core, given back when it is dropped. So a caller that
//! goes away, at whatever moment, leaves nothing behind.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{driver::Shared, payload::Sending};
use crate::{
    observe::Observer,
    outcome::Outcome,
    request::Request,
    router::Router,
    step::{Answer, Held, Step, Turn},
    time::Instant,
};

/// What a request has to do next.
#[derive(Debug)]
pub(super) enum Order {
    Send(Sending),
    Wait(Instant),
    /// Until it is told.
    Park(oneshot::Receiver<()>),
    Done(Answer),
}

/// The token of a request, and the router that it is of.
#[derive(Debug)]
pub(super) struct Flight<O: Observer + Send + 'static> {
    shared: Arc<Shared<O>>,
    held: Option<Held>,
    /// Mirrors that its latest turn began.
    pub(super) mirrors: Vec<Request>,
}

impl<O: Observer + Send + 'static> Flight<O> {
    pub(super) const fn new(shared: Arc<Shared<O>>) -> Self {
        Self {
            shared,
            held: None,
            mirrors: Vec::new(),
        }
    }

    /// The request arrives.
    pub(super) fn arrive(&mut self, request: Request) -> Order {
        self.turn(|router, now, obs, held| {
            assert!(held.is_none(), "it arrives once");
            router.arrive(now, request, obs)
        })
    }

    /// Its attempt has ended.
    pub(super) fn finished(&mut self, outcome: &Outcome) -> Order {
        self.turn(|router, now, obs, held| match held {
            Some(Held::Attempt(attempt)) => router.attempt_finished(now, attempt, outcome, obs),
            Some(Held::Parked(_) | Held::Wait(_)) | None => {
                unreachable!("only what was sent is finished")
            }
        })
    }

    /// Its wait is over.
    pub(super) fn resume(&mut self) -> Order {
        self.turn(|router, now, obs, held| match held {
            Some(Held::Wait(wait)) => router.resume(now, wait, obs),
            Some(Held::Attempt(_) | Held::Parked(_)) | None => {
                unreachable!("only what waits is resumed")
            }
        })
    }

    /// It has a slot.
    pub(super) fn admitted(&mut self) -> Order {
        self.turn(|router, now, obs, held| match held {
            Some(Held::Parked(parked)) => router.admitted(now, parked, obs),
            Some(Held::Attempt(_) | Held::Wait(_)) | None => {
                unreachable!("only what is parked is admitted")
            }
        })
    }

    /// The first content of its stream came.
    pub(super) fn first_token(&self) {
        let Some(Held::Attempt(attempt)) = &self.held else {
            return;
        };
        self.shared.core.with(&self.shared.clock, |state, now| {
            let released = state.router.first_token(now, attempt, &mut state.ears);
            state.wake(released);
        });
    }

    fn turn(
        &mut self,
        input: impl FnOnce(&mut Router, Instant, &mut super::core::Ears<O>, Option<Held>) -> Turn,
    ) -> Order {
        let held = self.held.take();
        let (kept, mirrors) = (&mut self.held, &mut self.mirrors);
        self.shared.core.with(&self.shared.clock, |state, now| {
            let Turn { step, released } = input(&mut state.router, now, &mut state.ears, held);
            mirrors.extend(std::iter::from_fn(|| state.router.take_mirror()));
            state.wake(released);
            match step {
                Step::Send(attempt) => {
                    let fallbacks = state.router.trail(&attempt).fallbacks;
                    let sending = Sending::new(&attempt, &state.router.plan(&attempt), fallbacks);
                    *kept = Some(Held::Attempt(attempt));
                    Order::Send(sending)
                }
                Step::Wait(wait) => {
                    let until = wait.until();
                    *kept = Some(Held::Wait(wait));
                    Order::Wait(until)
                }
                Step::Park(parked) => {
                    // Under the same lock, so that no release comes before.
                    let (waker, woken) = oneshot::channel();
                    state.parked.insert(parked.request(), waker);
                    *kept = Some(Held::Parked(parked));
                    Order::Park(woken)
                }
                Step::Done(answer) => Order::Done(answer),
            }
        })
    }
}

impl<O: Observer + Send + 'static> Drop for Flight<O> {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else {
            return;
        };
        self.shared.core.with(&self.shared.clock, |state, now| {
            if let Held::Parked(parked) = &held {
                state.parked.remove(&parked.request());
            }
            let released = state.router.cancel(now, held, &mut state.ears);
            state.wake(released);
        });
    }
}
