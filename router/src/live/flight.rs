//! A request under way: what it holds of the core, given back when it is dropped. So a caller that
//! goes away, at whatever moment, leaves nothing behind.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{
    core::{Ears, State},
    driver::Shared,
    payload::Sending,
};
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
    /// The instance of the router that it went to.
    instance: usize,
    /// Mirrors that its latest turn began.
    pub(super) mirrors: Vec<Request>,
}

impl<O: Observer + Send + 'static> Flight<O> {
    pub(super) const fn new(shared: Arc<Shared<O>>) -> Self {
        Self {
            shared,
            held: None,
            instance: 0,
            mirrors: Vec::new(),
        }
    }

    /// The request arrives.
    pub(super) fn arrive(&mut self, request: Request) -> Order {
        let id = request.id;
        let of_request = |state: &mut State<O>, _| state.fleet.of_request(id);
        self.instance = self.shared.core.with(&self.shared.clock, of_request);
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
            let ears = &mut state.ears;
            let first = |router: &mut Router| router.first_token(now, attempt, ears);
            let released = state.fleet.give(self.instance, first);
            state.wake(released);
        });
    }

    fn turn(
        &mut self,
        input: impl FnOnce(&mut Router, Instant, &mut Ears<O>, Option<Held>) -> Turn,
    ) -> Order {
        let held = self.held.take();
        let (kept, mirrors, instance) = (&mut self.held, &mut self.mirrors, self.instance);
        self.shared.core.with(&self.shared.clock, |state, now| {
            let ears = &mut state.ears;
            let Turn { step, released } = state.fleet.give(instance, |router| {
                let turn = input(router, now, ears, held);
                mirrors.extend(std::iter::from_fn(|| router.take_mirror()));
                turn
            });
            state.wake(released);
            let router = state.fleet.at(instance);
            match step {
                Step::Send(attempt) => {
                    let fallbacks = router.trail(&attempt).fallbacks;
                    let sending = Sending::new(&attempt, &router.plan(&attempt), fallbacks);
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
            let ears = &mut state.ears;
            let cancel = |router: &mut Router| router.cancel(now, held, ears);
            let released = state.fleet.give(self.instance, cancel);
            state.wake(released);
        });
    }
}
