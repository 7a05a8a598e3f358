//! A small world in virtual time: routers, scripted providers and a scripted client.
//!
//! ```text
//! let mut world = World::of(CORRECTED, &["A", "B", "f:F"], |c| c.settings.num_retries = Some(2));
//! world.provider("A", always(status(500)));
//! world.each_second(0.0, 20, &Ask::of("m"));
//! world.run();
//! assert_eq!(world.hits("A").len(), 1);
//! ```
//! Defaults are those of the reports: `num_retries` 0, no fallbacks, equal weights, a success takes
//! 100 ms and an error answer 20 ms, the clock starts at the edge of a minute.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use router::{
    Answer, DeploymentId, Held, Instant, Outcome, Profile, ProfileName, Request, RequestId, Router,
    RouterConfig, SharedStore, Step, Turn,
};

use crate::{
    ask::{Ask, member, seed_of},
    provider::{Call, Course, Provider, always, course, ok},
    results::{Answered, Bench, Got, Hit, Log, at},
};

pub(crate) const OLD: Profile = ProfileName::Litellm192.profile();
pub(crate) const NEW: Profile = ProfileName::Litellm1110.profile();
pub(crate) const CORRECTED: Profile = ProfileName::Corrected.profile();

/// Routers, their clock, and all that happens.
pub(crate) struct World {
    pub(crate) routers: Vec<(Router, Log)>,
    /// What the routers share, if they share anything.
    pub(crate) store: Option<SharedStore>,
    pub(crate) now: Instant,
    names: Vec<String>,
    providers: BTreeMap<String, Provider>,
    queue: BTreeMap<(Instant, u64), Due>,
    entered: u64,
    next_id: u64,
    asks: Vec<Asked>,
    by_id: BTreeMap<RequestId, usize>,
    hits: Vec<Hit>,
}

/// A request of the script, and what became of it.
struct Asked {
    ask: Ask,
    id: RequestId,
    held: Option<Held>,
    /// Its call under way, by its place among all hits.
    hit: Option<usize>,
    answered: Option<Answered>,
}

enum Due {
    Starts(usize),
    /// Of a call, by its place among all hits.
    FirstToken(usize),
    Ends(usize, Box<Course>),
    WaitOver(usize),
    Cancelled(usize),
}

impl World {
    /// One router. A member is `"A"`, of the group `m`, or `"group:A"`.
    pub(crate) fn of(
        profile: Profile,
        members: &[&str],
        change: impl FnOnce(&mut RouterConfig),
    ) -> Self {
        let mut config = RouterConfig {
            profile,
            deployments: members.iter().map(|name| member(name)).collect(),
            ..RouterConfig::default()
        };
        config.settings.num_retries = Some(0);
        change(&mut config);
        Self::instances(&config, 1)
    }

    /// Several routers with one configuration, which share nothing but their providers.
    pub(crate) fn instances(config: &RouterConfig, routers: usize) -> Self {
        let router = |n| (Router::new(config, seed_of(n)).unwrap(), Log::default());
        Self {
            routers: (0..routers).map(router).collect(),
            store: None,
            now: Instant::ZERO,
            names: config.deployments.iter().map(|d| d.id.clone()).collect(),
            providers: BTreeMap::new(),
            queue: BTreeMap::new(),
            entered: 0,
            next_id: 0,
            asks: Vec::new(),
            by_id: BTreeMap::new(),
            hits: Vec::new(),
        }
    }

    /// What a provider does; one that is not told answers well.
    pub(crate) fn provider(&mut self, name: &str, does: Provider) {
        assert!(self.names.iter().any(|n| n == name), "no member {name}");
        self.providers.insert(name.to_owned(), does);
    }

    /// A request at a time in seconds; gives its place in the order of asking.
    pub(crate) fn ask(&mut self, seconds: f64, ask: &Ask) -> usize {
        let place = self.asks.len();
        let asked = Asked {
            ask: ask.clone(),
            id: RequestId(0),
            held: None,
            hit: None,
            answered: None,
        };
        self.asks.push(asked);
        self.push(at(seconds), Due::Starts(place));
        place
    }

    /// The same request `times` times, one a second.
    pub(crate) fn each_second(&mut self, from: f64, times: u32, ask: &Ask) {
        for n in 0..times {
            self.ask(from + f64::from(n), ask);
        }
    }

    /// To the end of all requests.
    pub(crate) fn run(&mut self) {
        self.go(Instant::NEVER);
        for (router, _) in &self.routers {
            assert_eq!(router.unfinished(), 0, "unfinished requests");
            for number in 0..u32::try_from(self.names.len()).unwrap() {
                assert_eq!(router.in_flight(DeploymentId(number)), 0, "in flight");
                assert_eq!(router.slots_taken(DeploymentId(number)), 0, "slots taken");
            }
        }
    }

    /// Everything before this time; the clock stands there afterwards.
    pub(crate) fn run_until(&mut self, seconds: f64) {
        self.go(at(seconds));
        self.now = at(seconds);
    }

    pub(crate) fn router(&mut self) -> &mut Router {
        &mut self.routers[0].0
    }

    pub(crate) fn id(&self, name: &str) -> DeploymentId {
        let place = self.names.iter().position(|n| n == name);
        DeploymentId(u32::try_from(place.expect("a member")).unwrap())
    }

    /// Who is out at the clock's time, for the first router.
    pub(crate) fn cooled(&self) -> Vec<&str> {
        let out = |name: &&str| {
            let router = &self.routers[0].0;
            router.cooled_until(self.now, self.id(name)).is_some()
        };
        self.names.iter().map(String::as_str).filter(out).collect()
    }

    /// Every cooldown of the first router, as it was set.
    pub(crate) fn benches(&self) -> Vec<Bench> {
        let bench = |(deployment, at, until, why): &(DeploymentId, _, _, _)| Bench {
            provider: self.names[deployment.index()].clone(),
            at: *at,
            until: *until,
            why: *why,
        };
        self.routers[0].1.benches.iter().map(bench).collect()
    }

    /// Calls that reached a provider.
    pub(crate) fn hits(&self, name: &str) -> Vec<&Hit> {
        self.hits
            .iter()
            .filter(|hit| hit.provider == name)
            .collect()
    }

    pub(crate) fn all_hits(&self) -> &[Hit] {
        &self.hits
    }

    /// When a provider was called, in seconds, to the millisecond.
    pub(crate) fn hit_times(&self, name: &str) -> Vec<f64> {
        let seconds = |hit: &&Hit| (hit.at.as_secs_f64() * 1e3).round() / 1e3;
        self.hits(name).iter().map(seconds).collect()
    }

    /// What became of the request of this place.
    pub(crate) fn answer(&self, ask: usize) -> &Answered {
        let answered = self.asks[ask].answered.as_ref();
        answered.expect("the run went past its answer")
    }

    /// Which router a request went through.
    pub(crate) fn went_through(&self, ask: usize) -> usize {
        self.asks[ask].ask.router
    }

    pub(crate) fn answers(&self) -> Vec<&Answered> {
        (0..self.asks.len()).map(|n| self.answer(n)).collect()
    }

    /// How many callers got an answer of a provider.
    pub(crate) fn oks(&self) -> usize {
        self.answers().iter().filter(|a| a.is_ok()).count()
    }

    fn push(&mut self, at: Instant, due: Due) {
        self.queue.insert((at.max(self.now), self.entered), due);
        self.entered += 1;
    }

    fn go(&mut self, end: Instant) {
        while let Some(entry) = self.queue.first_entry()
            && entry.key().0 < end
        {
            let ((at, _), due) = entry.remove_entry();
            self.now = at;
            self.happen(due);
        }
    }

    fn happen(&mut self, due: Due) {
        let now = self.now;
        match due {
            Due::Starts(ask) => self.start(ask),
            Due::FirstToken(hit) => {
                let ask = self.hits[hit].ask;
                if self.asks[ask].hit != Some(hit) {
                    return;
                }
                let Some(Held::Attempt(attempt)) = self.asks[ask].held.take() else {
                    unreachable!("a call under way")
                };
                let at = self.went_through(ask);
                let released = self.input(at, |r, log| r.first_token(now, &attempt, log));
                self.asks[ask].held = Some(Held::Attempt(attempt));
                self.admit(at, released);
            }
            Due::Ends(hit, course) => {
                let ask = self.hits[hit].ask;
                if self.asks[ask].hit != Some(hit) {
                    return;
                }
                let asked = &mut self.asks[ask];
                asked.hit = None;
                let Some(Held::Attempt(attempt)) = asked.held.take() else {
                    unreachable!("a call under way")
                };
                self.hits[hit].ended = now;
                self.hits[hit].outcome = Some(course.outcome);
                let (at, outcome) = (asked.ask.router, &course.outcome);
                let turn = self.input(at, |r, log| r.attempt_finished(now, attempt, outcome, log));
                self.obey(ask, turn);
            }
            Due::WaitOver(ask) => {
                let asked = &mut self.asks[ask];
                let wait = match asked.held.take() {
                    Some(Held::Wait(wait)) if wait.until() <= now => wait,
                    other => {
                        asked.held = other;
                        return;
                    }
                };
                let at = asked.ask.router;
                let turn = self.input(at, |r, log| r.resume(now, wait, log));
                self.obey(ask, turn);
            }
            Due::Cancelled(ask) => {
                let asked = &mut self.asks[ask];
                if asked.ask.upstream_goes_on
                    && let Some(Held::Attempt(attempt)) = &asked.held
                {
                    self.routers[asked.ask.router].0.caller_left(attempt);
                    asked.answered.as_mut().expect("it began").ended = now;
                    return;
                }
                let Some(held) = asked.held.take() else {
                    return;
                };
                if let Some(hit) = asked.hit.take() {
                    self.hits[hit].ended = now;
                }
                let answered = asked.answered.as_mut().expect("it began");
                answered.ended = now;
                answered.got = Got::Cancelled;
                let at = asked.ask.router;
                let released = self.input(at, |r, log| r.cancel(now, held, log));
                self.admit(at, released);
            }
        }
    }

    fn start(&mut self, place: usize) {
        let ask = self.asks[place].ask.clone();
        let (router, _) = &self.routers[ask.router];
        let id = ask.id_that_goes_there(router, self.now, self.next_id);
        self.next_id = id.0 + 1;
        self.asks[place].id = id;
        self.asks[place].answered = Some(Answered {
            asked: self.now,
            ended: self.now,
            got: Got::Cancelled,
            path: Vec::new(),
            waits: Vec::new(),
            queued: std::time::Duration::ZERO,
            fallbacks: 0,
        });
        self.by_id.insert(id, place);
        if let Some(after) = ask.cancelled_after {
            self.push(self.now + after, Due::Cancelled(place));
        }
        let (router, _) = &mut self.routers[ask.router];
        let request = Request {
            id,
            model: router.model(&ask.model),
            prompt_tokens: ask.prompt_tokens,
            max_tokens: None,
            stream: ask.stream,
            origin: ask.origin,
            overrides: ask.overrides.map(Arc::new),
        };
        let now = self.now;
        let turn = self.input(ask.router, |r, log| r.arrive(now, request, log));
        self.obey(place, turn);
    }

    fn obey(&mut self, ask: usize, turn: Turn) {
        let released = self.follow(ask, turn);
        self.admit(self.asks[ask].ask.router, released);
    }

    fn admit(&mut self, at: usize, released: Option<RequestId>) {
        let mut released = VecDeque::from_iter(released);
        while let Some(id) = released.pop_front() {
            let ask = self.by_id[&id];
            let Some(Held::Parked(parked)) = self.asks[ask].held.take() else {
                unreachable!("only a parked request is released")
            };
            let now = self.now;
            let turn = self.input(at, |r, log| r.admitted(now, parked, log));
            released.extend(self.follow(ask, turn));
        }
    }

    /// Does what the router says; gives whom the turn released.
    fn follow(&mut self, ask: usize, turn: Turn) -> Option<RequestId> {
        match turn.step {
            Step::Send(attempt) => {
                self.call(ask, &attempt);
                self.asks[ask].held = Some(Held::Attempt(attempt));
            }
            Step::Wait(wait) => {
                self.push(wait.until(), Due::WaitOver(ask));
                self.asks[ask].held = Some(Held::Wait(wait));
            }
            Step::Park(parked) => self.asks[ask].held = Some(Held::Parked(parked)),
            Step::Done(answer) => self.answered(ask, &answer),
        }
        turn.released
    }

    fn call(&mut self, ask: usize, attempt: &router::Attempt) {
        let asked = &self.asks[ask];
        let plan = self.routers[asked.ask.router].0.plan(attempt);
        let name = plan.deployment.to_owned();
        let (deadline, keeps_opening_back) = (plan.deadline, plan.keeps_opening_back);
        let timeout_cause = plan.timeout_cause();
        let call = Call {
            number: self.hits(&name).len(),
            at: self.now.as_secs_f64(),
            ask,
            in_flight: self
                .hits(&name)
                .iter()
                .filter(|h| h.ended == Instant::NEVER)
                .count(),
            stream: asked.ask.stream,
            prompt_tokens: asked.ask.prompt_tokens,
        };
        let does = self
            .providers
            .entry(name.clone())
            .or_insert_with(|| always(ok()));
        let mut course = course(does(&call), &call, deadline);
        if let (Outcome::Failure(failure), true) = (&mut course.outcome, course.timed_out) {
            *failure = failure.because(timeout_cause);
        }
        let hit = self.hits.len();
        self.hits.push(Hit {
            provider: name.clone(),
            at: self.now,
            ended: Instant::NEVER,
            ask,
            outcome: None,
            frames: course.frames,
            keeps_opening_back,
        });
        let asked = &mut self.asks[ask];
        asked.hit = Some(hit);
        asked.answered.as_mut().expect("it began").path.push(name);
        if let Some(first) = course.first_token_after {
            self.push(self.now + first, Due::FirstToken(hit));
        }
        self.push(
            self.now + course.ends_after,
            Due::Ends(hit, Box::new(course)),
        );
    }

    fn answered(&mut self, ask: usize, answer: &Answer) {
        let asked = &mut self.asks[ask];
        let waits = &self.routers[asked.ask.router].1.waits;
        let own = waits.iter().filter(|(id, ..)| *id == asked.id);
        let answered = asked.answered.as_mut().expect("it began");
        if answered.ended != answered.asked {
            // Its caller had gone.
            return;
        }
        answered.waits = own.map(|(_, wait, why)| (*wait, *why)).collect();
        answered.ended = self.now;
        answered.queued = answer.trail().waited;
        answered.fallbacks = answer.trail().fallbacks;
        answered.got = match answer {
            Answer::Completed { deployment, .. } => Got::Ok(self.names[deployment.index()].clone()),
            Answer::Failed { error, .. } => Got::Error(*error),
        };
    }
}
