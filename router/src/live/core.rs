//! The core behind its lock. `now` is read while the lock is held, so that inputs come in order of
//! time, and the lock is never held while anything is waited for.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use super::{alert_webhook::AlertWebhook, clock::Clock};
use crate::{
    alerts::Alerts,
    fleet::Fleet,
    inputs::{Decision, Input},
    observe::{Event, Observer},
    request::RequestId,
    router::Router,
    time::Instant,
};

/// A router that several requests share, or several instances of it.
#[derive(Debug)]
pub(super) struct Core<O> {
    state: Mutex<State<O>>,
    webhook: Option<AlertWebhook>,
}

/// What the lock guards.
#[derive(Debug)]
pub(super) struct State<O> {
    pub(super) fleet: Fleet,
    pub(super) ears: Ears<O>,
    /// Who waits for a slot, and how to wake it.
    pub(super) parked: BTreeMap<RequestId, oneshot::Sender<()>>,
    /// The latest moment that the router heard of.
    latest: Instant,
    next_request: u64,
}

/// Whoever hears the router.
#[derive(Debug)]
pub(super) struct Ears<O> {
    alerts: Option<Alerts>,
    pub(super) observer: O,
}

impl<O: Observer> Observer for Ears<O> {
    const LAST_LOOK: bool = O::LAST_LOOK;
    const INPUTS: bool = O::INPUTS;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if let Some(alerts) = &mut self.alerts {
            alerts.observe(at, event);
        }
        self.observer.observe(at, event);
    }

    fn input(&mut self, at: Instant, router: &Router, input: &Input<'_>) {
        self.observer.input(at, router, input);
    }

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        self.observer.decided(router, decision);
    }
}

impl<O: Observer> Core<O> {
    pub(super) fn new(fleet: Fleet, observer: O, webhook: Option<AlertWebhook>) -> Self {
        let alerts = webhook.is_some().then(|| Alerts::new(fleet.at(0).config()));
        Self {
            state: Mutex::new(State {
                fleet,
                ears: Ears { alerts, observer },
                parked: BTreeMap::new(),
                latest: Instant::ZERO,
                next_request: 0,
            }),
            webhook,
        }
    }

    /// Does something with the router at this moment.
    pub(super) fn with<T>(
        &self,
        clock: &Clock,
        input: impl FnOnce(&mut State<O>, Instant) -> T,
    ) -> T {
        let mut state = self.lock();
        let now = clock.now().max(state.latest);
        state.latest = now;
        let given = input(&mut state, now);
        let told = match &mut state.ears.alerts {
            Some(alerts) if !alerts.pending().is_empty() => alerts.take(),
            Some(_) | None => Vec::new(),
        };
        drop(state);
        if let Some(webhook) = &self.webhook {
            told.into_iter().for_each(|alert| webhook.post(alert));
        }
        given
    }

    /// Posts the alerts that are left.
    pub(super) async fn close(self) {
        if let Some(webhook) = self.webhook {
            webhook.close().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O> State<O> {
    /// The number of the next request.
    pub(super) const fn number(&mut self) -> RequestId {
        let number = self.next_request;
        self.next_request += 1;
        RequestId(number)
    }

    /// Wakes a parked request, and whoever its going on lets go on is woken by itself.
    pub(super) fn wake(&mut self, released: Option<RequestId>) {
        let waker = released.and_then(|request| self.parked.remove(&request));
        if let Some(waker) = waker {
            // One that has just left gives its slot on when it is cancelled.
            let _ = waker.send(());
        }
    }
}
