//! Those who call in a run over HTTP, through a client library that tries again, gives up and hangs up:
//! the same rules as in virtual time (`simulation/callers.rs`), by real timers.
//!
//! A try is a task that reads; its caller waits for it, for a sign of life, or for the end of its own
//! patience. A task that is dropped has hung up, and the live router cancels its request.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, select};
use reports::{CallEnd, CallTally, CallsRecord};
use router::{
    Answer, Instant, Observer, RequestId,
    live::{Call, Clock, Item, LiveRouter},
};
use scenarios::{Arrival, Client, RunPlan, SdkRetry};
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    live_run::call_of,
    simulation::callers::{STATUS_OF_THE_REST, told},
};

/// All callers of a run.
pub(crate) struct Callers {
    plan: RunPlan,
    client: Client,
    tally: Mutex<CallTally>,
    /// Requests whose caller has left, and that go on.
    left: Mutex<Vec<JoinHandle<()>>>,
}

/// What a caller has heard of a try.
#[derive(Clone, Copy)]
struct Heard {
    /// The latest sign of life.
    at: Instant,
    /// Whether content has come of a stream.
    streams: bool,
}

/// How a try ended for its caller.
enum TryEnd {
    /// The router said so.
    Told(Box<Answer>),
    TimedOut,
    HungUp,
}

impl Callers {
    pub(crate) fn new(plan: &RunPlan, client: Client) -> Self {
        Self {
            plan: plan.clone(),
            client,
            tally: Mutex::new(CallTally::new(plan.slo.latency, plan.slo.first_token)),
            left: Mutex::default(),
        }
    }

    /// Makes a call, with all of its tries.
    pub(crate) async fn call<O: Observer + Send + 'static>(
        self: Arc<Self>,
        live: LiveRouter<O>,
        number: u64,
        arrival: Arrival,
    ) {
        self.count(CallTally::began);
        let clock = live.clock();
        let patience = self.client.patience(self.plan.seed, number);
        let leaves = patience.map_or(Instant::NEVER, |span| arrival.at + span);
        let mut retries = 0;
        let how = loop {
            self.count(CallTally::requested);
            let call = call_of(
                &self.plan,
                RequestId(number).again(retries),
                &arrival,
                number,
            );
            let (end, streams) = self.ask(&live, call, arrival.stream, leaves).await;
            let (status, told, gives_up) = match end {
                TryEnd::HungUp => break CallEnd::HungUp,
                TryEnd::TimedOut => (None, None, CallEnd::TimedOut),
                TryEnd::Told(answer) => match *answer {
                    Answer::Completed { trail, .. } => {
                        let first_token = trail.first_token;
                        break CallEnd::Answered {
                            first_token: first_token.map(|at| at.since(arrival.at)),
                        };
                    }
                    // A library cannot take back what it has passed on.
                    Answer::Failed { .. } if streams => break CallEnd::Failed,
                    Answer::Failed { error, .. } => {
                        let status = error.status().unwrap_or(STATUS_OF_THE_REST);
                        (Some(status), told(&error), CallEnd::Failed)
                    }
                },
            };
            let tries = (number, retries);
            match self
                .client
                .after_failure(self.plan.seed, tries, status, told)
            {
                SdkRetry::Fail => break gives_up,
                SdkRetry::After(wait) => {
                    let again = clock.now() + wait;
                    clock.sleep_until(again.min(leaves)).await;
                    if leaves < again {
                        break CallEnd::HungUp;
                    }
                }
            }
            retries += 1;
        };
        let took = clock.now().since(arrival.at);
        self.count(|tally| tally.ended(how, took));
    }

    /// One try, and whether content had come of it.
    async fn ask<O: Observer + Send + 'static>(
        self: &Arc<Self>,
        live: &LiveRouter<O>,
        call: Call,
        stream: bool,
        leaves: Instant,
    ) -> (TryEnd, bool) {
        let clock = live.clock();
        let began = Heard {
            at: clock.now(),
            streams: false,
        };
        let (tell, heard) = watch::channel(began);
        let left = Arc::new(AtomicBool::new(false));
        let callers = Arc::clone(self);
        let nobody_listens = Arc::clone(&left);
        let reading = read(live.clone(), call, stream, tell, Arc::clone(&left));
        let mut reading = tokio::spawn(async move {
            let answer = reading.await;
            if let Some(answer) = &answer
                && nobody_listens.load(Ordering::Acquire)
            {
                let is_answer = matches!(answer, Answer::Completed { .. });
                callers.count(|tally| tally.unheard(is_answer));
            }
            answer
        });
        let timeout = self.client.timeout.unwrap_or(Duration::MAX);
        let how = loop {
            let until = (heard.borrow().at + timeout).min(leaves);
            if let Some(ended) = before(&clock, until, &mut reading).await {
                // One that does not come back was ended by nobody but the runtime's end.
                let answer = ended.ok().flatten().map(Box::new);
                break answer.map_or(TryEnd::HungUp, TryEnd::Told);
            }
            if until == leaves {
                break TryEnd::HungUp;
            }
            if heard.borrow().at + timeout <= until {
                break TryEnd::TimedOut;
            }
        };
        let streams = heard.borrow().streams;
        if !matches!(how, TryEnd::Told(_)) {
            self.leave(reading, streams, &left).await;
        }
        (how, streams)
    }

    /// Hangs up on a try. LiteLLM's proxy lets it go on until it has something to stream.
    async fn leave(&self, reading: JoinHandle<Option<Answer>>, streams: bool, left: &AtomicBool) {
        if streams || !self.plan.router.profile.requests_outlive_callers {
            reading.abort();
            drop(reading.await);
            return;
        }
        left.store(true, Ordering::Release);
        let waiting = tokio::spawn(async move { drop(reading.await) });
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(waiting);
    }

    /// Waits for requests whose caller has left, and gives the counts. The router sent so many
    /// attempts for calls.
    pub(crate) async fn finish(self: Arc<Self>, attempts: u64) -> Option<CallsRecord> {
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        for waiting in left {
            drop(waiting.await);
        }
        let callers = Arc::into_inner(self)?;
        let tally = callers.tally.into_inner();
        let mut tally = tally.unwrap_or_else(PoisonError::into_inner);
        (0..attempts).for_each(|_| tally.attempted());
        Some(tally.finish())
    }

    fn count(&self, what: impl FnOnce(&mut CallTally)) {
        what(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Reads a request's answer to its end; `None` if nobody reads a stream that begins.
async fn read<O: Observer + Send + 'static>(
    live: LiveRouter<O>,
    call: Call,
    stream: bool,
    tell: watch::Sender<Heard>,
    left: Arc<AtomicBool>,
) -> Option<Answer> {
    if !stream {
        return Some(live.call(call).await.ok()?.answer);
    }
    let mut items = live.stream(call).ok()?;
    while let Some(item) = items.next().await {
        match item {
            Item::Begun(_) => {}
            Item::End(reply) => return Some(reply.answer),
            Item::Frame(frame) => {
                let at = live.clock().now();
                let streams = tell.borrow().streams || has_content(&frame);
                tell.send_replace(Heard { at, streams });
                if streams && left.load(Ordering::Acquire) {
                    return None;
                }
            }
        }
    }
    None
}

/// Whether a frame of the mock servers has text in it.
fn has_content(frame: &[u8]) -> bool {
    let key = br#""content":""#;
    let mut found = frame.windows(key.len() + 1);
    found.any(|window| window.starts_with(key) && window[key.len()] != b'"')
}

/// What comes, if it comes before the moment.
async fn before<T>(
    clock: &Clock,
    at: Instant,
    coming: &mut (impl Future<Output = T> + Unpin),
) -> Option<T> {
    let over = pin!(clock.sleep_until(at));
    match select(coming, over).await {
        Either::Left((came, _)) => Some(came),
        Either::Right(_) => None,
    }
}
