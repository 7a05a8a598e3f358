//! Those who call, through a client library that tries again, gives up and hangs up.
//!
//! A call is one arrival of the workload. Each of its tries is a request of its own, with luck of its
//! own, and goes to the next instance of the router. The library hears nothing of the router but what
//! a socket tells: the answer, its status and `retry-after`, or tokens, or silence.
//!
//! What a caller's leaving does to a request that is under way, the profile says: LiteLLM's proxy lets
//! it go on with all of its retries until it has something to stream ([`requests_outlive_callers`]).
//!
//! [`requests_outlive_callers`]: router::Profile::requests_outlive_callers

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
    time::Duration,
};

use mock_providers::{ProviderCall, Reply};
use reports::{CallEnd, CallTally, CallsRecord};
use router::{Answer, Held, Instant, Observer, RequestId, RouteError, Router, Seed};
use scenarios::{Arrival, Client, RunPlan, SdkRetry, Workload};

use super::Simulation;
use crate::{SimError, deadline, unfinished::State};

/// All calls that have not ended, and what they wait for.
pub(super) struct Callers {
    client: Client,
    seed: Seed,
    workload: Arc<Workload>,
    requests_outlive_callers: bool,
    calls: BTreeMap<u64, Call>,
    /// Requests whose caller has left and that go on.
    left: BTreeSet<RequestId>,
    timers: BTreeMap<TimerKey, Timer>,
    timers_set: u64,
    tally: CallTally,
}

/// A moment, and a number that tells timers of the same moment apart.
type TimerKey = (Instant, u64);

/// Something that happens at a moment unless it is called off.
#[derive(Clone, Copy)]
enum Timer {
    /// Whoever made the call goes away.
    Patience(u64),
    /// The first token comes of a request whose caller has left, and there is nobody to send it to.
    NobodyReads {
        request: RequestId,
        attempt: u16,
        place: u32,
    },
    /// The library tries the call again.
    Retry(u64),
    /// The router was silent for too long.
    Timeout(u64),
}

/// A call that has not ended.
struct Call {
    arrival: Arrival,
    retries: u8,
    /// Where its request is; `None` while the library waits before the next.
    place: Option<u32>,
    /// The latest sign of life of the request under way.
    heard: Instant,
    /// When the attempt under way gives its first token, if it is streamed.
    first_token: Option<Instant>,
    patience: Option<TimerKey>,
    /// The timeout, or the wait before the next try.
    timer: Option<TimerKey>,
}

impl Callers {
    pub(super) fn new(client: Client, plan: &RunPlan) -> Self {
        Self {
            client,
            seed: plan.seed,
            workload: Arc::clone(&plan.workload),
            requests_outlive_callers: plan.router.profile.requests_outlive_callers,
            calls: BTreeMap::new(),
            left: BTreeSet::new(),
            timers: BTreeMap::new(),
            timers_set: 0,
            tally: CallTally::new(plan.slo.latency, plan.slo.first_token),
        }
    }

    /// A call begins. Its first request is about to arrive.
    pub(super) fn begin(&mut self, number: u64, arrival: &Arrival) {
        let patience = self.client.patience(self.seed, number);
        let patience =
            patience.map(|span| self.set(arrival.at + span + A_TICK, Timer::Patience(number)));
        let call = Call {
            arrival: *arrival,
            retries: 0,
            place: None,
            heard: arrival.at,
            first_token: None,
            patience,
            timer: None,
        };
        self.calls.insert(number, call);
        self.tally.began();
        self.requested(arrival.at, number);
    }

    /// When the next timer is due; [`Instant::NEVER`] if none is set.
    #[cold]
    fn next_timer(&self) -> Instant {
        let next = self.timers.first_key_value();
        next.map_or(Instant::NEVER, |((at, _), _)| *at)
    }

    /// The counts at the end of the run.
    pub(super) fn finish(self) -> CallsRecord {
        self.tally.finish()
    }

    /// The request that arrives is at this place.
    pub(super) fn placed(&mut self, request: RequestId, place: u32) {
        let call = self.calls.get_mut(&request.call());
        call.expect("somebody asks").place = Some(place);
    }

    /// An attempt goes out for the request at this place.
    pub(super) fn sent(&mut self, now: Instant, place: u32, sent: &ProviderCall, reply: &Reply) {
        if sent.request.is_mirror() {
            return;
        }
        self.tally.attempted();
        let first_token = deadline::first_token(reply).filter(|_| sent.stream);
        let first_token = first_token.map(|after| now + after);
        if self.left.contains(&sent.request) {
            self.nobody_reads(first_token, sent, place);
            return;
        }
        let number = sent.request.call();
        let call = self.calls.get_mut(&number).expect("somebody waits for it");
        call.first_token = first_token;
        let Some(timeout) = self.client.timeout.filter(|_| sent.stream) else {
            return;
        };
        let waits = (call.heard + timeout).since(now);
        match deadline::falls_silent(waits, timeout, reply) {
            Some(after) => call.heard = call.heard.max(now + after.saturating_sub(timeout)),
            None if first_token.is_some() => call.heard = now + reply.total_after,
            None => {}
        }
        let until = call.heard + timeout;
        self.arm(number, until + A_TICK, Timer::Timeout(number));
    }

    /// A request for the call reaches the router.
    fn requested(&mut self, now: Instant, number: u64) {
        self.tally.requested();
        let call = self.calls.get_mut(&number).expect("it has not ended");
        call.heard = now;
        call.first_token = None;
        if let Some(timeout) = self.client.timeout {
            self.arm(number, now + timeout + A_TICK, Timer::Timeout(number));
        }
    }

    /// What the library does once a try of a call has failed.
    fn try_failed(&mut self, now: Instant, number: u64, failure: TryFailed) {
        let call = self.calls.get_mut(&number).expect("it has not ended");
        call.place = None;
        let tries = (number, call.retries);
        let (status, told) = match failure {
            TryFailed::Error { status, told } => (status, told),
            TryFailed::Timeout => (None, None),
        };
        match self.client.after_failure(self.seed, tries, status, told) {
            SdkRetry::After(wait) => {
                call.retries += 1;
                self.arm(number, now + wait, Timer::Retry(number));
            }
            SdkRetry::Fail => {
                let end = match failure {
                    TryFailed::Error { .. } => CallEnd::Failed,
                    TryFailed::Timeout => CallEnd::TimedOut,
                };
                self.end(now, number, end);
            }
        }
    }

    fn end(&mut self, now: Instant, number: u64, how: CallEnd) {
        let call = self.calls.remove(&number).expect("a call ends once");
        for key in call.patience.into_iter().chain(call.timer) {
            self.timers.remove(&key);
        }
        self.tally.ended(how, now.since(call.arrival.at));
    }

    /// Drops the streamed request once its first token is here, if this attempt gives one.
    fn nobody_reads(&mut self, first_token: Option<Instant>, sent: &ProviderCall, place: u32) {
        if let Some(at) = first_token {
            let (request, attempt) = (sent.request, sent.attempt);
            let timer = Timer::NobodyReads {
                request,
                attempt,
                place,
            };
            self.set(at, timer);
        }
    }

    /// Sets the timer of a call in the place of the one that was set.
    fn arm(&mut self, number: u64, at: Instant, timer: Timer) {
        let key = self.set(at, timer);
        let call = self.calls.get_mut(&number).expect("it has not ended");
        if let Some(earlier) = call.timer.replace(key) {
            self.timers.remove(&earlier);
        }
    }

    fn set(&mut self, at: Instant, timer: Timer) -> TimerKey {
        self.timers_set += 1;
        let key = (at, self.timers_set);
        self.timers.insert(key, timer);
        key
    }
}

/// How a try of a call failed.
#[derive(Clone, Copy)]
enum TryFailed {
    /// The router said so.
    Error {
        status: Option<u16>,
        told: Option<Duration>,
    },
    /// The router was silent.
    Timeout,
}

impl Simulation {
    /// `until`, or when a timer of a caller is due if that is earlier.
    #[inline]
    pub(super) fn until_a_caller(&self, until: Instant) -> Instant {
        match &self.callers {
            None => until,
            Some(callers) => callers.next_timer().min(until),
        }
    }

    /// Lets the next timer ring that is due before `until`. Gives whether there was one.
    #[inline(never)]
    pub(super) fn callers_turn(
        &mut self,
        until: Instant,
        now: &mut Instant,
        observer: &mut impl Observer,
    ) -> Result<bool, SimError> {
        let callers = self.callers();
        if callers.next_timer() >= until {
            return Ok(false);
        }
        let Some(((at, _), timer)) = callers.timers.pop_first() else {
            return Ok(false);
        };
        *now = at;
        self.ring(at, timer, observer)?;
        Ok(true)
    }

    /// A request has its answer: so has whoever waits for it.
    #[cold]
    pub(super) fn hear(&mut self, now: Instant, place: u32, answer: &Answer) {
        let request = self.unfinished[place as usize].call.request;
        if request.is_mirror() {
            return;
        }
        let callers = self.callers();
        let is_answer = matches!(answer, Answer::Completed { .. });
        if callers.left.remove(&request) {
            callers.tally.unheard(is_answer);
            return;
        }
        let number = request.call();
        let call = &callers.calls[&number];
        let first_token = answer.trail().first_token;
        match answer {
            Answer::Completed { .. } => {
                let first_token = first_token.map(|at| at.since(call.arrival.at));
                callers.end(now, number, CallEnd::Answered { first_token });
            }
            // A library cannot take back what it has passed on.
            Answer::Failed { .. } if call.first_token.is_some_and(|at| at <= now) => {
                callers.end(now, number, CallEnd::Failed);
            }
            Answer::Failed { error, .. } => {
                let failure = TryFailed::Error {
                    status: Some(error.status().unwrap_or(STATUS_OF_THE_REST)),
                    told: told(error),
                };
                callers.try_failed(now, number, failure);
            }
        }
    }

    #[cold]
    fn ring(
        &mut self,
        now: Instant,
        timer: Timer,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        match timer {
            Timer::Patience(number) => {
                self.leave(now, number, observer)?;
                self.callers().end(now, number, CallEnd::HungUp);
                Ok(())
            }
            Timer::Timeout(number) => {
                self.leave(now, number, observer)?;
                let call = self.callers().calls.get_mut(&number);
                call.expect("it has not ended").timer = None;
                self.callers().try_failed(now, number, TryFailed::Timeout);
                Ok(())
            }
            Timer::Retry(number) => self.try_again(now, number, observer),
            Timer::NobodyReads {
                request,
                attempt,
                place,
            } => {
                let call = self.unfinished[place as usize].call;
                let goes_on = self.callers().left.contains(&request);
                let is_it = (call.request, call.attempt) == (request, attempt);
                match goes_on && is_it && self.is_sent(place) {
                    true => self.drop_request(now, place, observer),
                    false => Ok(()),
                }
            }
        }
    }

    fn try_again(
        &mut self,
        now: Instant,
        number: u64,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        let callers = self.callers();
        let call = callers.calls.get_mut(&number).expect("it has not ended");
        call.timer = None;
        let id = RequestId(number).again(call.retries);
        let arrival = Arrival {
            at: now,
            ..call.arrival
        };
        callers.requested(now, number);
        let (workload, seed) = (Arc::clone(&callers.workload), callers.seed);
        let provenance = workload.provenance(seed, number);
        self.arrive(id, &arrival, provenance, observer)
    }

    /// The caller hangs up on the request that is under way for the call, if one is.
    fn leave(
        &mut self,
        now: Instant,
        number: u64,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        let call = &self.callers().calls[&number];
        let first_token = call.first_token;
        let Some(place) = call.place else {
            return Ok(());
        };
        let is_sent = self.is_sent(place);
        let streams = is_sent && first_token.is_some_and(|at| at <= now);
        if streams || !self.callers().requests_outlive_callers {
            return self.drop_request(now, place, observer);
        }
        let sent = self.unfinished[place as usize].call;
        let callers = self.callers();
        callers.left.insert(sent.request);
        if is_sent {
            callers.nobody_reads(first_token, &sent, place);
        }
        Ok(())
    }

    /// The router drops a request whose caller has left, and what it holds.
    fn drop_request(
        &mut self,
        now: Instant,
        place: u32,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        let unfinished = &mut self.unfinished[place as usize];
        let (instance, request) = (unfinished.instance, unfinished.call.request);
        let held = match mem::replace(&mut unfinished.state, State::Dropped) {
            State::Sent(attempt) | State::Streaming { attempt, .. } => {
                self.providers.abandon(now, &unfinished.call);
                Held::Attempt(attempt)
            }
            State::Waiting(wait) => Held::Wait(wait),
            State::Parked(parked) => {
                self.parked.remove(&request);
                self.vacant.push(place);
                Held::Parked(parked)
            }
            State::Deciding | State::Dropped => {
                unreachable!("whose caller leaves is under way")
            }
        };
        self.callers().left.remove(&request);
        let cancel = |router: &mut Router| router.cancel(now, held, observer);
        let released = self.fleet.give(instance, cancel);
        self.admit(now, released, observer)
    }

    fn is_sent(&self, place: u32) -> bool {
        let state = &self.unfinished[place as usize].state;
        matches!(state, State::Sent(_) | State::Streaming { .. })
    }

    fn callers(&mut self) -> &mut Callers {
        self.callers
            .as_mut()
            .expect("only asked for where there are callers")
    }
}

/// The answer's `retry-after`, as LiteLLM's proxy gives it: for its own refusals only, in whole
/// seconds. A provider's comes under a name that libraries do not read. (Observed of the proxies of
/// 1.92.0 and 1.110.2.)
pub(crate) fn told(error: &RouteError) -> Option<Duration> {
    let RouteError::NoDeployments { try_again_in, .. } = error else {
        return None;
    };
    let whole = try_again_in.as_secs() + u64::from(try_again_in.subsec_nanos() > 0);
    Some(Duration::from_secs(whole))
}

/// An exception without a status is a 500 to those who call over HTTP.
pub(crate) const STATUS_OF_THE_REST: u16 = 500;

/// What comes at the last moment comes in time.
const A_TICK: Duration = Duration::from_nanos(1);
