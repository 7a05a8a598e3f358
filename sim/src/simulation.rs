//! One run in virtual time: the loop that feeds the router and does what its steps say.
//!
//! Time jumps from event to event: the next arrival, or the end of an attempt or a wait. An
//! arrival comes before an event of the same moment, so that a run is the same whether its requests
//! are drawn one by one or known beforehand. After the last arrival the run drains: it ends when
//! the last request does, so that slow requests are not missing from the percentiles.
//!
//! The engine decides nothing. What it keeps is a slot for each unfinished request, reused, so
//! that memory follows the requests in flight and not those of the run.

use std::{collections::BTreeMap, mem};

use mock_providers::{Beginning, FaultSpan, ProviderCall, Providers};
use reports::CallsRecord;
use router::{
    Attempt, DeploymentId, Fleet, Instant, ModelId, Observer, Origin, Outcome, Request, RequestId,
    Router, Step, Turn, Wait,
};
use scenarios::{Arrival, Provenance, RunPlan};

pub(crate) mod callers;
mod drained;
mod parked;

use self::callers::Callers;
use crate::{
    EventQueue, SimError, Watch, deadline, operator,
    unfinished::{State, Unfinished},
    watch::Progress,
};

/// Runs a plan to its end, drained, and tells `observer` everything that the router says.
///
/// The same plan gives the same events, whatever the machine, the build or the observer.
///
/// # Errors
///
/// If the router or a provider cannot be built, or if a request never ends.
pub fn simulate(plan: &RunPlan, observer: &mut impl Observer) -> Result<RunEnd, SimError> {
    simulate_watched(plan, observer, &())
}

/// [`simulate`], with somebody watching who may call it off.
///
/// # Errors
///
/// As [`simulate`], and [`SimError::Cancelled`].
pub fn simulate_watched(
    plan: &RunPlan,
    observer: &mut impl Observer,
    watch: &impl Watch,
) -> Result<RunEnd, SimError> {
    Simulation::new(plan)?.run(plan, observer, watch)
}

/// What is left to say when a run is over.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// When the last request ended, and not before the workload's duration was over.
    pub end: Instant,
    /// Requests that arrived, and so were answered. Mirrors are none.
    pub requests: u64,
    /// Attempts that were sent, those for mirrors included.
    pub attempts: u64,
    /// When each deployment's provider was at fault, in `model_list` order.
    pub fault_spans: Vec<Vec<FaultSpan>>,
    /// What became of calls, if a client library stands in front of the router.
    pub calls: Option<CallsRecord>,
}

/// The providers of a plan, before anything was asked of them.
pub(crate) fn providers(plan: &RunPlan) -> Result<Providers, SimError> {
    let specs = plan.providers.iter().map(|binding| &*binding.spec);
    Providers::new(specs, plan.seed, plan.router.epoch).map_err(|(number, source)| {
        SimError::Provider {
            deployment: plan.router.deployments[number].id.clone(),
            name: plan.providers[number].name.clone(),
            source,
        }
    })
}

/// The parts of a run.
struct Simulation {
    fleet: Fleet,
    /// Whether a deployment has a silent model, so that requests may have mirrors.
    may_mirror: bool,
    providers: Providers,
    /// The router's ids of the workload's model names.
    models: Vec<ModelId>,
    /// Ends of attempts and waits; the payload is the place in `unfinished`.
    queue: Box<EventQueue>,
    unfinished: Vec<Unfinished>,
    /// Places in `unfinished` that are free.
    vacant: Vec<u32>,
    /// Places of requests that wait for a slot.
    parked: BTreeMap<RequestId, u32>,
    /// Who made the calls, if the scenario says how they behave.
    callers: Option<Box<Callers>>,
    attempts: u64,
}

impl Simulation {
    fn new(plan: &RunPlan) -> Result<Self, SimError> {
        let deployments = &plan.router.deployments;
        if deployments.len() != plan.providers.len() {
            return Err(SimError::ProviderCount {
                deployments: deployments.len(),
                providers: plan.providers.len(),
            });
        }
        let instances = plan.instances;
        let (count, shares) = (instances.count, instances.shared_state);
        let mut fleet = Fleet::new(&plan.router, plan.seed, count, shares)?;
        let models = plan
            .workload
            .models()
            .iter()
            .map(|name| fleet.model(name))
            .collect();
        Ok(Self {
            fleet,
            may_mirror: deployments.iter().any(|one| one.silent_model.is_some()),
            providers: providers(plan)?,
            models,
            queue: Box::new(EventQueue::new()),
            unfinished: Vec::new(),
            vacant: Vec::new(),
            parked: BTreeMap::new(),
            callers: plan
                .client
                .map(|client| Box::new(Callers::new(client, plan))),
            attempts: 0,
        })
    }

    fn run(
        mut self,
        plan: &RunPlan,
        observer: &mut impl Observer,
        watch: &impl Watch,
    ) -> Result<RunEnd, SimError> {
        let mut arrivals = plan.workload.arrivals(plan.seed);
        let mut progress = Progress::new(plan.workload.duration());
        let mut now = Instant::ZERO;
        let mut actions = plan.actions.iter();
        let mut requests = 0;
        loop {
            let arrival = arrivals.next();
            let until = arrival.map_or(Instant::NEVER, |arrival| arrival.at);
            // One place for both, so that it is compiled, and inlined, once.
            loop {
                let action = actions.as_slice().first().filter(|a| a.at <= until);
                self.run_until(action.map_or(until, |a| a.at), &mut now, observer)?;
                let Some(action) = action else { break };
                now = action.at;
                operator::act(&mut self.fleet, action, observer);
                actions.next();
            }
            let Some(arrival) = arrival else { break };
            now = arrival.at;
            if requests % REQUESTS_PER_LOOK == 0 {
                progress.look(now, watch)?;
            }
            let provenance = plan.workload.provenance(plan.seed, requests);
            if let Some(callers) = &mut self.callers {
                callers.begin(requests, &arrival);
            }
            self.arrive(RequestId(requests), &arrival, provenance, observer)?;
            requests += 1;
        }
        self.check_drained(now)?;
        progress.complete(watch);
        let end = now.max(Instant::ZERO + plan.workload.duration());
        Ok(RunEnd {
            end,
            requests,
            attempts: self.attempts,
            fault_spans: self.providers.fault_spans(end),
            calls: self.callers.map(|callers| callers.finish()),
        })
    }

    /// Lets everything happen that is due before `until`.
    #[inline(always)]
    fn run_until(
        &mut self,
        until: Instant,
        now: &mut Instant,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        loop {
            let mut limit = self.until_a_caller(until);
            while let Some((at, place)) = self.queue.pop_before(limit) {
                *now = at;
                self.continue_at(at, place, observer)?;
                if self.callers.is_some() {
                    limit = self.until_a_caller(until);
                }
            }
            if self.callers.is_none() || !self.callers_turn(until, now, observer)? {
                return Ok(());
            }
        }
    }

    /// A request arrives.
    #[inline(always)]
    fn arrive(
        &mut self,
        id: RequestId,
        arrival: &Arrival,
        provenance: Option<Provenance<'_>>,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        let (mut origin, mut overrides) = (Origin::default(), None);
        let (mut beginning, mut batch) = (Beginning::default(), false);
        if let Some(from) = provenance {
            (origin, overrides) = (from.origin, from.overrides.cloned());
            (beginning, batch) = (from.beginning, from.batch);
        }
        let instance = self.fleet.of_request(id);
        let place = self.occupy(instance);
        self.unfinished[place as usize].call = ProviderCall {
            request: id,
            attempt: 0,
            deployment: DeploymentId(0),
            prompt_tokens: arrival.prompt_tokens,
            output_tokens: arrival.output_tokens,
            max_tokens: arrival.max_tokens,
            stream: arrival.stream,
            beginning,
            batch,
        };
        if let Some(callers) = &mut self.callers {
            callers.placed(id, place);
        }
        let model = self.models[usize::from(arrival.model)];
        let request = Request {
            id,
            model,
            prompt_tokens: arrival.prompt_tokens,
            max_tokens: arrival.max_tokens,
            stream: arrival.stream,
            origin,
            overrides,
        };
        let router = self.fleet.lend(instance);
        let turn = router.arrive(arrival.at, request, observer);
        self.fleet.take_back(instance);
        self.obey(arrival.at, place, turn, observer)
    }

    /// What a request waited for has come.
    #[inline(always)]
    fn continue_at(
        &mut self,
        now: Instant,
        place: u32,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        let unfinished = &mut self.unfinished[place as usize];
        let instance = unfinished.instance;
        let turn = match mem::replace(&mut unfinished.state, State::Deciding) {
            State::Streaming { attempt, ends_at } => {
                let first_token = |r: &mut Router| r.first_token(now, &attempt, observer);
                let released = self.fleet.give(instance, first_token);
                unfinished.state = State::Sent(attempt);
                self.queue.push(ends_at, place);
                return self.admit(now, released, observer);
            }
            State::Sent(attempt) => {
                if unfinished.given_up {
                    self.providers.abandon(now, &unfinished.call);
                }
                let router = self.fleet.lend(instance);
                router.attempt_finished(now, attempt, &unfinished.outcome, observer)
            }
            State::Waiting(wait) => self.fleet.lend(instance).resume(now, wait, observer),
            State::Dropped => {
                self.vacant.push(place);
                return Ok(());
            }
            State::Deciding | State::Parked(_) => {
                unreachable!("only attempts and waits have an event in the queue")
            }
        };
        self.fleet.take_back(instance);
        self.obey(now, place, turn, observer)
    }

    /// Does what a turn says, and what follows from it at the same moment.
    #[inline(always)]
    fn obey(
        &mut self,
        now: Instant,
        place: u32,
        turn: Turn,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        self.take_step(now, place, turn.step)?;
        if self.may_mirror {
            self.mirror(now, place, observer)?;
        }
        match turn.released {
            None => Ok(()),
            released => self.admit(now, released, observer),
        }
    }

    /// Lets the mirrors arrive that the router began for the request at this place. Nobody counts
    /// them; their upstreams do with them what they do with their requests.
    #[cold]
    fn mirror(
        &mut self,
        now: Instant,
        of: u32,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        let instance = self.unfinished[of as usize].instance;
        while let Some(mirror) = self.fleet.give(instance, Router::take_mirror) {
            let call = ProviderCall {
                request: mirror.id,
                ..self.unfinished[of as usize].call
            };
            let place = self.occupy(instance);
            self.unfinished[place as usize].call = call;
            let arrive = |router: &mut Router| router.arrive(now, mirror, observer);
            let turn = self.fleet.give(instance, arrive);
            self.take_step(now, place, turn.step)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn take_step(&mut self, now: Instant, place: u32, step: Step) -> Result<(), SimError> {
        match step {
            Step::Send(attempt) => self.send(now, place, attempt),
            Step::Wait(wait) => self.wait(now, place, wait),
            Step::Park(parked) => {
                self.park(place, parked);
                Ok(())
            }
            Step::Done(answer) => {
                if self.callers.is_some() {
                    self.hear(now, place, &answer);
                }
                self.vacant.push(place);
                Ok(())
            }
        }
    }

    /// Asks the provider how the attempt goes, and awaits its end or the caller's patience.
    #[inline]
    fn send(&mut self, now: Instant, place: u32, attempt: Attempt) -> Result<(), SimError> {
        let unfinished = &mut self.unfinished[place as usize];
        let plan = self.fleet.at(unfinished.instance).plan(&attempt);
        let call = &mut unfinished.call;
        call.attempt = attempt.number();
        call.deployment = attempt.deployment();
        call.stream = plan.stream;
        let reply = self.providers.respond(now, call);
        self.attempts += 1;
        if let Some(callers) = &mut self.callers {
            callers.sent(now, place, call, &reply);
        }
        let ends_at = match deadline::give_up(plan.deadline, &reply) {
            None => {
                unfinished.outcome = reply.outcome;
                unfinished.given_up = false;
                now + reply.total_after
            }
            Some((after, failure)) => {
                let failure = failure.because(plan.timeout_cause());
                unfinished.outcome = Outcome::Failure(failure);
                unfinished.given_up = true;
                now + after
            }
        };
        if ends_at == Instant::NEVER {
            let awaited = "an answer that never comes, without a deadline";
            return Err(SimError::NeverEnds {
                request: call.request,
                at: now,
                awaited,
            });
        }
        match unfinished.first_token_after() {
            Some(after) if plan.wants_first_token => {
                unfinished.state = State::Streaming { attempt, ends_at };
                self.queue.push((now + after).min(ends_at), place);
            }
            _ => {
                unfinished.state = State::Sent(attempt);
                self.queue.push(ends_at, place);
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn wait(&mut self, now: Instant, place: u32, wait: Wait) -> Result<(), SimError> {
        if wait.until() == Instant::NEVER {
            let awaited = "the end of time";
            return Err(SimError::NeverEnds {
                request: wait.request(),
                at: now,
                awaited,
            });
        }
        self.queue.push(wait.until().max(now), place);
        self.unfinished[place as usize].state = State::Waiting(wait);
        Ok(())
    }

    /// A place for a new request, whose call is still to be told there.
    #[inline(always)]
    fn occupy(&mut self, instance: usize) -> u32 {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.unfinished.push(Unfinished::free());
            u32::try_from(self.unfinished.len() - 1).expect("below 2^32 requests are unfinished")
        });
        let unfinished = &mut self.unfinished[place as usize];
        unfinished.instance = instance;
        unfinished.state = State::Deciding;
        place
    }
}

/// Requests between two looks at whether to stop; about a millisecond of work.
const REQUESTS_PER_LOOK: u64 = 4_096;
