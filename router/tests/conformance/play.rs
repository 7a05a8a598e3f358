//! Plays a vector's client against a router in virtual time, and writes down what happened.

mod getters;
mod mirrors;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use router::{
    Answer, Attempt, DeploymentId, Event, Instant, Observer, Outcome, Parked, Request, RequestId,
    RouteError, Router, RouterConfig, Seed, Step, Turn, Wait,
};

use crate::{
    asked, filters,
    pace::Pace,
    setup,
    strategies::set_args,
    trace::{Played, PlayedAttempt, PlayedResult, Trace},
    upstream::{Call, Course, ScriptedUpstream, millis},
    vector::{Asked, ClientStep, Facts, Vector},
};

struct World<'a> {
    router: Router,
    names: Vec<String>,
    deleted: BTreeSet<DeploymentId>,
    upstream: ScriptedUpstream<'a>,
    now: Instant,
    queue: BTreeMap<(Instant, u64), Due>,
    entered: u64,
    next_request: u64,
    live: BTreeMap<RequestId, Live>,
    paces: BTreeMap<String, Pace>,
    benches: Benches,
    done: BTreeMap<RequestId, Played>,
    /// What each request was that came so far.
    asked: BTreeMap<RequestId, Asked>,
    trace: Trace,
}

/// A request under way.
struct Live {
    asked: Asked,
    pace: Pace,
    held: Option<Held>,
    played: Played,
    /// Who delivered the first token that the caller saw.
    first_token_from: Option<String>,
    /// Whom it mirrors: the recorder lists its attempts among that request's.
    mirror_of: Option<RequestId>,
}

enum Held {
    Attempt(Attempt),
    Parked(Parked),
    Wait(Wait),
}

enum Due {
    Start(Box<Asked>, RequestId),
    Arrives(RequestId),
    Headers(RequestId),
    Ends(RequestId, Box<Course>),
    WaitOver(RequestId),
}

/// Remembers the status that benched each deployment.
#[derive(Debug, Default)]
struct Benches {
    last_failure: Option<String>,
    by: BTreeMap<DeploymentId, String>,
}

impl Observer for Benches {
    fn observe(&mut self, _at: Instant, event: &Event<'_>) {
        if let Event::Finished {
            outcome: Outcome::Failure(failure),
            ..
        } = event
        {
            self.last_failure = failure.status.map(|s| s.to_string());
        }
        if let Event::LimitRefused { .. } = event {
            self.last_failure = Some("429".to_owned());
        }
        if let Event::CooledDown { deployment, .. } = event {
            let status = self.last_failure.clone().unwrap_or_default();
            self.by.insert(*deployment, status);
        }
    }
}

/// Plays the whole vector.
pub(crate) fn play(vector: &Vector, facts: &Facts, config: &RouterConfig, seed: u64) -> Trace {
    let router = Router::new(config, Seed(seed)).expect("a configuration that LiteLLM accepts");
    let mut world = World {
        names: config.deployments.iter().map(|d| d.id.clone()).collect(),
        deleted: BTreeSet::new(),
        upstream: ScriptedUpstream::new(vector, config.profile),
        router,
        now: Instant::ZERO,
        queue: BTreeMap::new(),
        entered: 0,
        next_request: 0,
        live: BTreeMap::new(),
        paces: BTreeMap::new(),
        benches: Benches::default(),
        done: BTreeMap::new(),
        asked: BTreeMap::new(),
        trace: Trace::default(),
    };
    let settle = millis(vector.settle_ms.unwrap_or(60.0));
    for step in &vector.client {
        if let ClientStep::Batch { requests, .. } = step {
            world.paces = Pace::of_batch(requests, facts);
        }
        let done = world.step(step);
        if let (Some(id), true) = (done, facts.cooldowns.is_some()) {
            world.pass(settle);
            world.look_at_benches(id);
        }
    }
    world.trace
}

impl World<'_> {
    /// Does one step of the client's; gives its id if the benched set is read after it.
    fn step(&mut self, step: &ClientStep) -> Option<String> {
        match step {
            ClientStep::Request(asked) => {
                let played = self.run(std::slice::from_ref(asked)).remove(0);
                self.trace.requests.insert(asked.id.clone(), played);
                return Some(asked.id.clone());
            }
            ClientStep::Batch { id, requests } => {
                let played = self.run(requests);
                for (asked, played) in requests.iter().zip(&played) {
                    self.trace.requests.insert(asked.id.clone(), played.clone());
                }
                self.trace.batches.insert(id.clone(), played);
                return Some(id.clone());
            }
            ClientStep::Burst {
                asked,
                count,
                gap_ms,
            } => {
                let mut all = Vec::new();
                for _ in 0..*count {
                    all.extend(self.run(std::slice::from_ref(asked)));
                    self.pass(millis(*gap_ms));
                }
                self.trace.bursts.insert(asked.id.clone(), all);
                return Some(asked.id.clone());
            }
            ClientStep::Sleep { ms } => self.pass(millis(*ms)),
            ClientStep::At { ms } => self.pass((Instant::ZERO + millis(*ms)).since(self.now)),
            ClientStep::Align {
                second_min,
                second_max,
            } => self.align(*second_min, *second_max),
            ClientStep::UpdateSettings { settings } => {
                let config = self.router.config();
                let (mut changed, version) = (config.settings.clone(), config.profile.name);
                for (key, value) in settings {
                    setup::set(&mut changed, key, value, version).expect("a setting");
                }
                if let Some(args) = settings.get("routing_strategy_args") {
                    set_args(&mut changed.routing_strategy, args);
                }
                self.router
                    .update_settings(changed)
                    .expect("settings that LiteLLM accepts");
            }
            ClientStep::DeleteDeployment { id } => {
                let at = self.names.iter().position(|name| name == id);
                let at = u32::try_from(at.expect("a deployment")).unwrap();
                self.deleted.insert(DeploymentId(at));
                self.router.delete_deployment(DeploymentId(at));
            }
            ClientStep::Query { id, method, args } => {
                let found = self.get(method, args);
                self.trace.queries.insert(id.clone(), found);
            }
        }
        None
    }

    /// Waits until the wall clock's second of the minute is in the range.
    fn align(&mut self, min: u64, max: u64) {
        let epoch = self.router.config().epoch;
        let into = self.now.since(Instant::ZERO).as_secs();
        let second = (epoch.unix_seconds() + into) % 60;
        if !(min..=max).contains(&second) {
            let whole = Instant::ZERO + Duration::from_secs(into);
            let aligned = whole + Duration::from_secs((min + 60 - second) % 60);
            self.pass(aligned.since(self.now));
        }
    }

    fn look_at_benches(&mut self, after: String) {
        let mut benched = BTreeMap::new();
        for (number, name) in (0..).zip(&self.names) {
            let deployment = DeploymentId(number);
            if let Some(length) = self.router.cooldown_length(self.now, deployment) {
                let status = self
                    .benches
                    .by
                    .get(&deployment)
                    .cloned()
                    .unwrap_or_default();
                benched.insert(name.clone(), (length.as_secs_f64(), status));
            }
        }
        self.trace.benched.push((after, benched));
    }

    fn push(&mut self, at: Instant, due: Due) {
        self.queue.insert((at, self.entered), due);
        self.entered += 1;
    }

    /// Starts the requests, each after its delay, and drives them all to their answers.
    fn run(&mut self, requests: &[Asked]) -> Vec<Played> {
        let first = self.next_request;
        for asked in requests {
            let id = RequestId(self.next_request);
            self.next_request += 1;
            self.push(
                self.now + millis(asked.delay_ms) + self.pace(&asked.id).late,
                Due::Start(Box::new(asked.clone()), id),
            );
        }
        let asked = (first..self.next_request).map(RequestId);
        while !asked.clone().all(|id| self.done.contains_key(&id)) {
            let next = self.queue.pop_first();
            let ((at, _), due) = next.expect("every request is answered");
            self.now = self.now.max(at);
            self.happen(due);
        }
        asked
            .map(|id| self.done.remove(&id).expect("seen above"))
            .collect()
    }

    /// Lets time pass; mirrors go on meanwhile.
    fn pass(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(next) = self.queue.first_entry()
            && next.key().0 <= until
        {
            let ((at, _), due) = next.remove_entry();
            self.now = self.now.max(at);
            self.happen(due);
        }
        self.now = until;
    }

    fn happen(&mut self, due: Due) {
        let (id, turn) = match due {
            Due::Start(asked, id) => (id, self.start(*asked, id)),
            Due::Arrives(id) => {
                self.arrives(id);
                return;
            }
            Due::Headers(id) => {
                let Some(Held::Attempt(attempt)) = &self.live[&id].held else {
                    unreachable!("the answer begins during the attempt")
                };
                let released = self
                    .router
                    .first_token(self.now, attempt, &mut self.benches);
                self.admit(released);
                return;
            }
            Due::Ends(id, course) => (id, self.ends(id, &course)),
            Due::WaitOver(id) => {
                let live = self.live.get_mut(&id).expect("a live request");
                let Some(Held::Wait(wait)) = live.held.take() else {
                    unreachable!("a wait is over")
                };
                (id, self.router.resume(self.now, wait, &mut self.benches))
            }
        };
        self.obey(id, turn);
        while let Some(mirror) = self.router.take_mirror() {
            self.mirror(mirror);
        }
    }

    fn pace(&self, id: &str) -> Pace {
        self.paces.get(id).copied().unwrap_or_default()
    }

    fn start(&mut self, asked: Asked, id: RequestId) -> Turn {
        let request = Request {
            id,
            model: self.router.model(&asked.model),
            prompt_tokens: filters::prompt_tokens(&asked),
            max_tokens: None,
            stream: asked.stream,
            origin: asked::origin(id, &asked),
            overrides: asked::overrides(&asked).map(std::sync::Arc::new),
        };
        let played = Played::new(self.now);
        self.asked.insert(id, asked.clone());
        self.live.insert(
            id,
            Live {
                pace: self.pace(&asked.id),
                asked,
                held: None,
                played,
                first_token_from: None,
                mirror_of: None,
            },
        );
        self.router.arrive(self.now, request, &mut self.benches)
    }

    /// An attempt reaches the upstream, which decides what becomes of it.
    fn arrives(&mut self, id: RequestId) {
        let live = self.live.get_mut(&id).expect("a live request");
        let pace = live.pace;
        let Some(Held::Attempt(attempt)) = &live.held else {
            unreachable!("an attempt arrives")
        };
        let plan = self.router.plan(attempt);
        let name = plan.deployment.to_owned();
        let wants_first_token = plan.wants_first_token;
        let call = Call {
            sent_before: live.pace.out,
            stream: live.asked.stream,
            prompt_tokens: filters::prompt_tokens(&live.asked),
            embedding: live.asked.api.as_deref() == Some("embedding"),
            deadline: plan.deadline,
        };
        let course = self.upstream.call(self.now, &name, &call);
        let ends = self.now + course.ends_after;
        if course.unseen {
            live.played.refused += 1;
        } else {
            let attempt = PlayedAttempt {
                deployment: name.clone(),
                status: course.label.clone(),
                waits_before: std::mem::take(&mut live.played.waits_after),
                arrived: self.now,
                ended: ends,
            };
            match live.mirror_of {
                None => live.played.attempts.push(attempt),
                Some(of) => self.note_mirrored(of, attempt),
            }
            self.trace.calls.push((name, self.now, ends));
        }
        if wants_first_token && course.headers_after < course.ends_after {
            self.push(self.now + course.headers_after, Due::Headers(id));
        }
        // A client that gives up does so at its deadline; the end of an answer has a way to go.
        let back = if course.label == "abandoned" {
            Duration::ZERO
        } else {
            pace.back
        };
        self.push(ends + back, Due::Ends(id, Box::new(course)));
    }

    fn ends(&mut self, id: RequestId, course: &Course) -> Turn {
        let live = self.live.get_mut(&id).expect("a live request");
        let Some(Held::Attempt(attempt)) = live.held.take() else {
            unreachable!("an attempt ends")
        };
        let name = &self.names[attempt.deployment().index()];
        let delivered = match &course.outcome {
            Outcome::Success { .. } => true,
            Outcome::Failure(failure) => failure.tokens_delivered > 0,
        };
        if delivered && live.first_token_from.is_none() {
            live.first_token_from = Some(name.clone());
        }
        self.router
            .attempt_finished(self.now, attempt, &course.outcome, &mut self.benches)
    }

    fn admit(&mut self, released: Option<RequestId>) {
        let mut released = VecDeque::from_iter(released);
        while let Some(id) = released.pop_front() {
            let live = self.live.get_mut(&id).expect("a parked request is live");
            let Some(Held::Parked(parked)) = live.held.take() else {
                unreachable!("only a parked request is released")
            };
            let turn = self.router.admitted(self.now, parked, &mut self.benches);
            released.extend(self.follow(id, turn));
        }
    }

    fn obey(&mut self, id: RequestId, turn: Turn) {
        let released = self.follow(id, turn);
        self.admit(released);
    }

    /// Does what the router says for the request; gives what the turn released.
    fn follow(&mut self, id: RequestId, turn: Turn) -> Option<RequestId> {
        let live = self.live.get_mut(&id).expect("a live request");
        match turn.step {
            Step::Send(attempt) => {
                live.held = Some(Held::Attempt(attempt));
                let out = live.pace.out;
                self.push(self.now + out, Due::Arrives(id));
            }
            Step::Wait(wait) => {
                let until = wait.until();
                live.played.waits += 1;
                live.played.waits_after += 1;
                live.held = Some(Held::Wait(wait));
                self.push(until, Due::WaitOver(id));
            }
            Step::Park(parked) => live.held = Some(Held::Parked(parked)),
            Step::Done(answer) => {
                let mut live = self.live.remove(&id).expect("a live request");
                live.played.ended = self.now;
                live.played.result = self.result(&answer, live.first_token_from);
                self.done.insert(id, live.played);
            }
        }
        turn.released
    }

    fn result(&self, answer: &Answer, first_token_from: Option<String>) -> PlayedResult {
        match answer {
            Answer::Completed { deployment, .. } => {
                let by = first_token_from.unwrap_or_else(|| self.names[deployment.index()].clone());
                PlayedResult::Served { by }
            }
            Answer::Failed { error, .. } => PlayedResult::Failed {
                exception: error.exception(),
                status: error.status(),
                try_again_in: if let RouteError::NoDeployments { try_again_in, .. } = error {
                    Some(*try_again_in)
                } else {
                    None
                },
            },
        }
    }
}
