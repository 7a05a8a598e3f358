//! A random router, random requests and random outcomes, played in virtual time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use crate::filters::Brought;
use router::{
    Attempt, DeploymentConfig, DeploymentId, ErrorClass, Event, Failure, Instant, Observer,
    Outcome, Overrides, Parked, Request, RequestId, RetryAfter, Router, RouterConfig, Seed, Step,
    Turn, Usage, Wait,
};

/// What is asked and what comes back.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) config: RouterConfig,
    pub(crate) requests: Vec<Asked>,
    /// How calls end, by their number; they are used over and over.
    pub(crate) ends: Vec<End>,
    pub(crate) seed: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) gap_ms: u64,
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) num_retries: Option<u32>,
    pub(crate) brought: Brought,
}

/// A choice of the router's; calls by id are none.
#[derive(Debug)]
pub(crate) struct Picked {
    pub(crate) request: RequestId,
    pub(crate) deployment: DeploymentId,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    Success,
    Status(u16, Option<i64>),
    Broken(ErrorClass),
}

/// Everything that can be said of a run, with what must never happen checked on the way.
#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) log: Vec<String>,
    pub(crate) answers: BTreeMap<RequestId, u32>,
    /// Attempts of the hop that each request is in.
    hop: BTreeMap<RequestId, usize>,
    pub(crate) most_in_a_hop: usize,
    /// Whom the hop of each request moved on from.
    left: BTreeMap<RequestId, BTreeSet<DeploymentId>>,
    /// Whose last attempt the router refused to send.
    unsent: BTreeSet<RequestId>,
    cooled: BTreeMap<DeploymentId, Instant>,
    /// Whether the profile lets a running cooldown be extended.
    longer_wins: bool,
    /// Not before then may the request be sent again.
    not_before: BTreeMap<RequestId, Instant>,
    hint: BTreeMap<RequestId, Duration>,
    pub(crate) broken_rules: BTreeSet<String>,
    /// Calls by deployment and minute of the run, which begins with a minute.
    pub(crate) sent: BTreeMap<(DeploymentId, u64), u64>,
    pub(crate) picked: Vec<Picked>,
}

impl Observer for Book {
    #[expect(clippy::too_many_lines, reason = "one arm an event")]
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        self.log.push(format!("{} {event:?}", at.as_nanos()));
        if let Event::Picked {
            request,
            deployment,
            ..
        } = event
        {
            self.picked.push(Picked {
                request: *request,
                deployment: *deployment,
            });
        }
        match event {
            Event::Arrived { request } => {
                self.hop.insert(request.id, 0);
            }
            Event::FellBack { request, .. } => {
                self.hop.insert(*request, 0);
                self.left.remove(request);
                self.not_before.remove(request);
                self.hint.remove(request);
            }
            // What follows costs no retry, but each deployment can be left once only.
            Event::MovedOn {
                request,
                deployment,
            } => {
                if !self.unsent.remove(request) {
                    *self.hop.get_mut(request).expect("it arrived") -= 1;
                }
                let new = self.left.entry(*request).or_default().insert(*deployment);
                if !new {
                    self.rule(format!("{request} moved on from {deployment:?} twice"));
                }
            }
            Event::LimitRefused { request, .. } => {
                self.unsent.insert(*request);
                // The error that is waited for is another one now.
                self.hint.remove(request);
            }
            Event::Picked { deployment, .. }
                if self.cooled.get(deployment).is_some_and(|until| at < *until) =>
            {
                self.rule(format!("{deployment:?} was picked in its cooldown"));
            }
            Event::Sent {
                request,
                deployment,
                ..
            } => {
                self.unsent.remove(request);
                let minute = at.since(Instant::ZERO).as_secs() / 60;
                *self.sent.entry((*deployment, minute)).or_default() += 1;
                let attempts = self.hop.get_mut(request).expect("it arrived");
                *attempts += 1;
                self.most_in_a_hop = self.most_in_a_hop.max(*attempts);
                if self.not_before.remove(request).is_some_and(|t| at < t) {
                    self.rule(format!("{request} was sent before its wait was over"));
                }
            }
            Event::Finished {
                request,
                outcome: Outcome::Failure(failure),
                ..
            } => {
                let seconds = failure.retry_after.and_then(|hint| hint.whole_seconds(at));
                match seconds {
                    Some(seconds @ 1..=60) => {
                        let hint = Duration::from_secs(seconds.unsigned_abs());
                        self.hint.insert(*request, hint);
                    }
                    _ => {
                        self.hint.remove(request);
                    }
                }
            }
            Event::Waiting { request, until, .. } => {
                self.not_before.insert(*request, *until);
                if self
                    .hint
                    .get(request)
                    .is_some_and(|hint| until.since(at) < *hint)
                {
                    self.rule(format!("{request} waits less than retry-after asks"));
                }
            }
            // The error that is waited for is another one now.
            Event::NothingToPick { request, .. } | Event::SlotRefused { request, .. } => {
                self.hint.remove(request);
            }
            Event::CooledDown {
                deployment, until, ..
            } => {
                let running = self.cooled.get(deployment).copied().filter(|end| at < *end);
                let moved = |end: Instant| match self.longer_wins {
                    true => *until < end,
                    false => *until != end,
                };
                if running.is_some_and(moved) {
                    self.rule(format!("the running cooldown of {deployment:?} was moved"));
                }
                self.cooled.insert(*deployment, *until);
            }
            Event::Answered { request, .. } => *self.answers.entry(*request).or_default() += 1,
            _ => {}
        }
    }
}

impl Book {
    fn rule(&mut self, what: String) {
        self.broken_rules.insert(what);
    }
}

enum Held {
    Attempt(Attempt),
    Parked(Parked),
    Wait(Wait),
}

/// Plays a case to its end.
pub(crate) fn play(case: &Case) -> (Router, Book) {
    let mut router = Router::new(&case.config, Seed(case.seed)).expect("sound numbers");
    let mut book = Book {
        log: Vec::new(),
        answers: BTreeMap::new(),
        hop: BTreeMap::new(),
        most_in_a_hop: 0,
        left: BTreeMap::new(),
        unsent: BTreeSet::new(),
        cooled: BTreeMap::new(),
        longer_wins: case.config.profile.corrections.longer_cooldown_wins,
        not_before: BTreeMap::new(),
        hint: BTreeMap::new(),
        broken_rules: BTreeSet::new(),
        sent: BTreeMap::new(),
        picked: Vec::new(),
    };
    let mut queue: BTreeMap<(Instant, u64), RequestId> = BTreeMap::new();
    let mut held: BTreeMap<RequestId, Held> = BTreeMap::new();
    let mut at = Instant::ZERO;
    for (number, asked) in (0..).zip(&case.requests) {
        at += Duration::from_millis(asked.gap_ms);
        queue.insert((at, number), RequestId(number));
    }
    let mut entered = queue.len() as u64;
    let mut calls = 0;
    while let Some(((now, _), id)) = queue.pop_first() {
        let mut turns = vec![(
            id,
            match held.remove(&id) {
                None => {
                    let request = request(&mut router, case, id);
                    router.arrive(now, request, &mut book)
                }
                Some(Held::Wait(wait)) => router.resume(now, wait, &mut book),
                Some(Held::Attempt(attempt)) => {
                    let stream = case.requests[usize::try_from(id.0).unwrap()].stream;
                    let outcome = outcome(case.ends[calls % case.ends.len()], stream);
                    calls += 1;
                    router.attempt_finished(now, attempt, &outcome, &mut book)
                }
                Some(Held::Parked(_)) => unreachable!("a parked request is not in the queue"),
            },
        )];
        while let Some((id, turn)) = turns.pop() {
            let Turn { step, released } = turn;
            match step {
                Step::Send(attempt) => {
                    let streams = router.plan(&attempt).wants_first_token;
                    let took = Duration::from_millis(50 + 37 * (calls as u64 % 11));
                    queue.insert((now + took, entered), id);
                    // The first token arrives at once, which frees a slot early in 1.92.
                    let freed = match streams {
                        true => router.first_token(now, &attempt, &mut book),
                        false => None,
                    };
                    held.insert(id, Held::Attempt(attempt));
                    turns.extend(freed.map(|id| admit(&mut router, &mut held, now, id, &mut book)));
                }
                Step::Wait(wait) => {
                    queue.insert((wait.until(), entered), id);
                    held.insert(id, Held::Wait(wait));
                }
                Step::Park(parked) => {
                    held.insert(id, Held::Parked(parked));
                }
                Step::Done(_) => {}
            }
            entered += 1;
            turns.extend(released.map(|id| admit(&mut router, &mut held, now, id, &mut book)));
            check(&router, case, now, &mut book);
        }
        assert!(book.log.len() < 500_000, "the run does not end");
    }
    (router, book)
}

fn admit(
    router: &mut Router,
    held: &mut BTreeMap<RequestId, Held>,
    now: Instant,
    id: RequestId,
    book: &mut Book,
) -> (RequestId, Turn) {
    let Some(Held::Parked(parked)) = held.remove(&id) else {
        panic!("{id} was released and is not parked")
    };
    (id, router.admitted(now, parked, book))
}

/// What must hold between any two inputs.
fn check(router: &Router, case: &Case, now: Instant, book: &mut Book) {
    for (number, config) in (0..).zip(&case.config.deployments) {
        let deployment = DeploymentId(number);
        if let Some(limit) = config.max_parallel_requests
            && u64::from(router.slots_taken(deployment)) > limit
        {
            book.rule(format!(
                "{deployment:?} has more slots taken than there are"
            ));
        }
        if let Some(until) = router.cooled_until(now, deployment) {
            let last = Instant::from_nanos(until.as_nanos() - 1);
            if router.cooled_until(last, deployment).is_none()
                || router.cooled_until(until, deployment).is_some()
            {
                book.rule(format!("{deployment:?} is cooled otherwise than it says"));
            }
        }
    }
}

pub(crate) fn request(router: &mut Router, case: &Case, id: RequestId) -> Request {
    let asked = &case.requests[usize::try_from(id.0).unwrap()];
    let mut request = Request {
        id,
        model: router.model(&asked.model),
        prompt_tokens: 10,
        max_tokens: None,
        stream: asked.stream,
        origin: router::Origin::default(),
        overrides: None,
    };
    let mut overrides = Overrides {
        num_retries: asked.num_retries,
        ..Overrides::default()
    };
    asked.brought.put_on(&mut request, &mut overrides);
    let told = overrides != Overrides::default();
    request.overrides = told.then(|| Arc::new(overrides));
    request
}

pub(crate) fn outcome(end: End, stream: bool) -> Outcome {
    match end {
        End::Broken(class) if stream => Outcome::Failure(Failure {
            tokens_delivered: 3,
            first_token_after: Some(Duration::from_millis(10)),
            ..Failure::of(class)
        }),
        End::Status(status, hint) => {
            let failure = Failure::with_status(status);
            Outcome::Failure(match hint {
                Some(seconds) => failure.retry_after(RetryAfter::Seconds(seconds)),
                None => failure,
            })
        }
        End::Success | End::Broken(_) => Outcome::Success {
            usage: Usage::new(10, 5),
            first_token_after: stream.then_some(Duration::from_millis(10)),
        },
    }
}

/// More attempts in one hop than this are not allowed by any setting of the case.
pub(crate) fn most_attempts_in_a_hop(case: &Case) -> usize {
    let of_deployments = case.config.deployments.iter().filter_map(|d| d.num_retries);
    let client_tries = match case.config.profile.client_retries_too {
        true => 1 + of_deployments.max().unwrap_or(0),
        false => 1,
    };
    ((1 + most_retries(case)) * client_tries) as usize
}

/// More retries in one hop than this are not allowed by any setting of the case.
pub(crate) fn most_retries(case: &Case) -> u32 {
    let of_deployments = case.config.deployments.iter().filter_map(|d| d.num_retries);
    let settings = &case.config.settings;
    let policy = settings.retry_policy.as_ref().and_then(|p| p.rate_limit);
    of_deployments
        .chain(settings.num_retries)
        .chain(case.requests.iter().filter_map(|r| r.num_retries))
        .chain(policy)
        .max()
        .unwrap_or(0)
        .max(2)
}

/// A deployment with nothing set.
pub(crate) fn deployment(id: &str, group: &str) -> DeploymentConfig {
    DeploymentConfig {
        id: id.to_owned(),
        model_name: group.to_owned(),
        model: format!("openai/{id}"),
        ..DeploymentConfig::default()
    }
}
