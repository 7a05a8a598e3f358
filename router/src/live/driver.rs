//! The async driver: one loop over the core's steps for each request. It decides nothing.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use reqwest::header::HeaderMap;

use super::{
    answers::{Answers, Key, Scope},
    clock::Clock,
    core::Core,
    exchange::{Came, Exchange},
    flight::{Flight, Order},
    payload::{Call, Endpoint, Payload},
    stream::{Begun, Driving, ReplyStream, Sink},
    upstream::Upstream,
};
use crate::{
    fleet::Fleet,
    observe::Observer,
    outcome::Outcome,
    profile::Profile,
    request::{DeploymentId, ModelId, Request},
    route_error::RouteError,
    router::Router,
    step::{Answer, Trail},
    time::Instant,
};

/// A request that the router was not asked about: so many names were asked for already that more
/// would only fill the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("too many different model names were asked for")]
pub struct TooManyNames;

/// The router of this crate, driving real calls. Cheap to clone: all clones are one router.
///
/// It must be used within a tokio runtime. A call that is dropped is cancelled, and gives back
/// whatever it holds: its place in flight, its slot, its reservation.
pub struct LiveRouter<O: Observer + Send + 'static = ()> {
    pub(super) shared: Arc<Shared<O>>,
}

/// What all calls share.
#[derive(Debug)]
pub(super) struct Shared<O> {
    pub(super) core: Core<O>,
    pub(super) clock: Clock,
    pub(super) profile: Profile,
    pub(super) targets: Vec<Target>,
    pub(super) client: reqwest::Client,
    /// If the core has a response cache.
    pub(super) answers: Option<Mutex<Answers>>,
    pub(super) caching_groups: Vec<Vec<String>>,
    /// Names that are known from the beginning.
    pub(super) first_names: usize,
}

/// Whom to call, and the headers of every call.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) upstream: Upstream,
    pub(super) headers: HeaderMap,
}

/// How a request ended.
#[derive(Clone, Debug)]
pub struct Reply {
    /// What the core says.
    pub answer: Answer,
    /// The JSON of an answer in one piece; empty for a stream and for a failure.
    pub body: Bytes,
    /// The provider's headers, of the answer or of the failure that surfaces.
    pub headers: HeaderMap,
    /// The provider's words for the failure that surfaces, if it is one's.
    pub message: Option<String>,
}

impl<O: Observer + Send + 'static> LiveRouter<O> {
    /// Asks for an answer in one piece.
    ///
    /// # Errors
    ///
    /// [`TooManyNames`].
    pub async fn call(&self, call: Call) -> Result<Reply, TooManyNames> {
        let (request, payload) = self.request(call, false)?;
        Ok(drive(Arc::clone(&self.shared), request, payload, None).await)
    }

    /// Asks for a stream. Nothing happens before it is read.
    ///
    /// # Errors
    ///
    /// [`TooManyNames`].
    pub fn stream(&self, call: Call) -> Result<ReplyStream, TooManyNames> {
        let (request, payload) = self.request(call, true)?;
        let shared = Arc::clone(&self.shared);
        Ok(ReplyStream::of(|sink| {
            Box::pin(drive(shared, request, payload, Some(sink)))
        }))
    }

    /// What time it is for the router.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// Looks at the router, of several instances at the first, and at who hears it.
    pub fn look<T>(&self, look: impl FnOnce(&Router, &mut O, Instant) -> T) -> T {
        self.look_at_all(|fleet, observer, now| look(fleet.at(0), observer, now))
    }

    /// Looks at all instances, and at who hears them.
    pub fn look_at_all<T>(&self, look: impl FnOnce(&Fleet, &mut O, Instant) -> T) -> T {
        self.shared.core.with(&self.shared.clock, |state, now| {
            look(&state.fleet, &mut state.ears.observer, now)
        })
    }

    /// Ends the cooldown of a deployment, or of all, in each instance; gives how many there were.
    pub fn clear_cooldowns(&self, deployment: Option<DeploymentId>) -> usize {
        self.shared.core.with(&self.shared.clock, |state, now| {
            let ears = &mut state.ears;
            let each = (0..state.fleet.count()).map(|instance| {
                (state.fleet).give(instance, |router| match deployment {
                    Some(one) => usize::from(router.clear_cooldown(now, one, ears)),
                    None => router.clear_cooldowns(now, ears),
                })
            });
            each.sum()
        })
    }

    /// Posts the alerts that are left. Nothing if calls are still under way elsewhere.
    pub async fn close(self) {
        if let Some(shared) = Arc::into_inner(self.shared) {
            shared.core.close().await;
        }
    }

    fn request(&self, call: Call, stream: bool) -> Result<(Request, Arc<Payload>), TooManyNames> {
        let Call {
            model,
            prompt_tokens,
            max_tokens,
            origin,
            overrides,
            payload,
            id,
        } = call;
        self.shared.core.with(&self.shared.clock, |state, _| {
            let router = state.fleet.at(0);
            let brought = overrides.iter().flat_map(|own| own.names());
            let new = brought.chain([model.as_str()]);
            let new = new.filter(|name| !router.knows(name)).count();
            let most = self.shared.first_names + NAMES_AT_MOST;
            if new > 0 && router.names() + new > most {
                return Err(TooManyNames);
            }
            let model = state.fleet.model(&model);
            let request = Request {
                id: id.unwrap_or_else(|| state.number()),
                model,
                prompt_tokens,
                max_tokens,
                stream: stream && payload.endpoint != Endpoint::Embeddings,
                origin,
                overrides,
            };
            Ok((request, payload))
        })
    }
}

impl<O: Observer + Send + 'static> Clone for LiveRouter<O> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<O: Observer + Send + 'static> fmt::Debug for LiveRouter<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveRouter").finish_non_exhaustive()
    }
}

impl<O: Observer + Send + 'static> Shared<O> {
    /// Under which key an answer is kept, if answers are kept and what was asked is known.
    fn key(&self, request: &Request, trail: &Trail) -> Option<Key> {
        self.answers.as_ref()?;
        let content = request.origin.content?;
        Some((self.scope(trail.group), content, request.stream))
    }

    fn scope(&self, group: ModelId) -> Scope {
        let shared = self.core.with(&self.clock, |state, _| {
            let name = state.fleet.at(0).model_name(group);
            let has = |group: &Vec<String>| group.iter().any(|n| n == name);
            self.caching_groups.iter().position(has)
        });
        shared.map_or(Scope::Name(group), Scope::Group)
    }

    fn kept(&self, key: Option<Key>) -> Bytes {
        let kept = key.and_then(|key| {
            let answers = self.answers.as_ref()?;
            let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.get(&key)
        });
        kept.unwrap_or_default()
    }

    fn keep(&self, key: Option<Key>, body: &Bytes) {
        if let (Some(key), Some(answers)) = (key, &self.answers) {
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.keep(key, body.clone());
        }
    }
}

/// The loop.
async fn drive<O: Observer + Send + 'static>(
    shared: Arc<Shared<O>>,
    request: Request,
    payload: Arc<Payload>,
    mut sink: Option<Sink>,
) -> Reply {
    let keeps = shared.answers.is_some() && request.origin.content.is_some();
    let asked = keeps.then(|| request.clone());
    let prompt_tokens = request.prompt_tokens;
    let mut flight = Flight::new(Arc::clone(&shared));
    let mut ended: Vec<(DeploymentId, Came)> = Vec::new();
    let mut order = flight.arrive(request);
    loop {
        for mirror in std::mem::take(&mut flight.mirrors) {
            send_mirror(&shared, mirror, &payload);
        }
        order = match order {
            Order::Send(sending) => {
                let exchange = Exchange {
                    shared: &shared,
                    flight: &flight,
                    sending: &sending,
                    payload: &payload,
                    prompt_tokens,
                    keeps_frames: keeps,
                };
                let came = exchange.play(sink.as_mut()).await;
                let outcome = came.outcome;
                ended.push((sending.deployment, came));
                flight.finished(&outcome)
            }
            Order::Wait(until) => {
                shared.clock.sleep_until(until).await;
                flight.resume()
            }
            Order::Park(woken) => {
                // The sender is dropped with the core alone.
                drop(woken.await);
                flight.admitted()
            }
            Order::Done(answer) => {
                let key = asked.and_then(|asked| shared.key(&asked, answer.trail()));
                return conclude(&shared, answer, ended, key, sink).await;
            }
        };
    }
}

/// What the caller gets in the end.
async fn conclude<O: Observer + Send + 'static>(
    shared: &Shared<O>,
    answer: Answer,
    mut ended: Vec<(DeploymentId, Came)>,
    key: Option<Key>,
    sink: Option<Sink>,
) -> Reply {
    let mut reply = Reply {
        answer,
        body: Bytes::new(),
        headers: HeaderMap::new(),
        message: None,
    };
    match answer {
        Answer::Completed {
            cached: true,
            deployment,
            trail,
            ..
        } => {
            let body = shared.kept(key);
            match sink {
                None => reply.body = body,
                Some(mut sink) => {
                    let begun = || Begun {
                        deployment,
                        attempts: trail.attempts,
                        fallbacks: trail.fallbacks,
                        cached: true,
                        headers: HeaderMap::new(),
                    };
                    sink.give(begun, body).await;
                }
            }
        }
        Answer::Completed { .. } => {
            if let Some((_, came)) = ended.pop() {
                shared.keep(key, &came.body);
                reply.headers = came.headers;
                if sink.is_none() {
                    reply.body = came.body;
                }
            }
        }
        Answer::Failed { error, .. } => {
            if let Some(came) = who_said(error, ended) {
                reply.headers = came.headers;
                reply.message = Some(came.message);
            }
        }
    }
    reply
}

/// The last attempt that ended as the error that surfaces.
fn who_said(error: RouteError, ended: Vec<(DeploymentId, Came)>) -> Option<Came> {
    let RouteError::Attempt {
        deployment,
        failure,
    } = error
    else {
        return None;
    };
    let is_it = |(who, came): &(DeploymentId, Came)| {
        let failed = matches!(came.outcome, Outcome::Failure(f) if f.class == failure.class);
        *who == deployment && failed
    };
    let at = ended.iter().rposition(is_it).or_else(|| {
        // A client may take one class for another.
        ended.iter().rposition(|(who, _)| *who == deployment)
    })?;
    ended.into_iter().nth(at).map(|(_, came)| came)
}

/// Lets a mirror arrive, as a task that nobody waits for.
fn send_mirror<O: Observer + Send + 'static>(
    shared: &Arc<Shared<O>>,
    mirror: Request,
    payload: &Arc<Payload>,
) {
    let driving = drive(Arc::clone(shared), mirror, Arc::clone(payload), None);
    let driving: Driving = Box::pin(driving);
    tokio::spawn(driving);
}

/// Names beyond those of the config: what patterns match, and mistakes.
const NAMES_AT_MOST: usize = 10_000;
