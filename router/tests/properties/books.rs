//! What a run is checked against while it goes: the books of requests, attempts, slots and cooldowns,
//! kept anew from what the router is given and says, and compared with its own after each input.
//! The numbers are those of `router/INVARIANTS.md`.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use router::{
    Answer, DeploymentConfig, DeploymentId, Event, Instant, Observer, Request, RequestId, Router,
    WaitReason,
};

use crate::world::{Case, most_retries};

/// The books of one run.
#[derive(Debug)]
pub(crate) struct Books {
    /// The moment of the input under way.
    pub(crate) now: Instant,
    pub(crate) broken: Vec<String>,
    slots: Vec<Option<u32>>,
    paused: Vec<bool>,
    streams_hold_slot: bool,
    most_retries: u32,
    open: BTreeMap<RequestId, Open>,
    over: BTreeSet<RequestId>,
    /// By deployment: who waits for a slot, longest first.
    parked: Vec<VecDeque<RequestId>>,
    cooled: Vec<Instant>,
    /// By deployment: how it is tried while it is out.
    trials: Vec<Trials>,
    /// The slot that an attempt which just ended had, and that its client library's next try keeps.
    between: Option<(RequestId, DeploymentId)>,
}

/// Who may be let through to a deployment that is out.
#[derive(Debug, Clone, Copy)]
struct Trials {
    /// Once its timer has ended, and only a trial that succeeds brings it back (`cooldown_one_trial`).
    after: bool,
    /// Before that, too (`cooldown_probe_after`).
    before: bool,
    /// It waits for a trial that succeeds.
    held: bool,
    under_way: Option<RequestId>,
}

/// A request that is not over.
#[derive(Debug)]
struct Open {
    blocking: bool,
    stream: bool,
    arrived: Instant,
    /// Its caller is gone, and its attempt goes on.
    left: bool,
    under_way: Option<DeploymentId>,
    sent_at: Instant,
    holds: Option<DeploymentId>,
    /// It was given a slot that it has not taken yet.
    granted: Option<DeploymentId>,
    /// An attempt may be sent: it is the first of a hop, or was announced.
    may_send: bool,
    client_waits: bool,
    retries: u32,
    waits_since: Instant,
    waited: Duration,
    attempts: u16,
    moves: u16,
}

impl Books {
    pub(crate) fn new(case: &Case) -> Self {
        let deployments = &case.config.deployments;
        Self {
            now: Instant::ZERO,
            broken: Vec::new(),
            slots: deployments.iter().map(slots).collect(),
            paused: deployments.iter().map(|d| d.blocked).collect(),
            streams_hold_slot: case.config.profile.streams_hold_slot,
            most_retries: most_retries(case),
            open: BTreeMap::new(),
            over: BTreeSet::new(),
            parked: vec![VecDeque::new(); deployments.len()],
            cooled: vec![Instant::ZERO; deployments.len()],
            trials: deployments.iter().map(|d| Trials::of(case, d)).collect(),
            between: None,
        }
    }

    /// Requests that are over.
    pub(crate) fn over(&self) -> usize {
        self.over.len()
    }

    /// An input at a moment begins.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.now = now;
        self.between = None;
    }

    /// A wait of the request ends, or it takes the slot that it was given.
    pub(crate) fn waited(&mut self, request: RequestId) {
        let now = self.now;
        let open = self.open.get_mut(&request).expect("it waits");
        open.waited += now.since(open.waits_since);
        open.granted = None;
    }

    /// The caller went away, and its attempt goes on.
    pub(crate) fn left(&mut self, request: RequestId) {
        self.open.get_mut(&request).expect("it is under way").left = true;
    }

    /// The input freed a slot for a request.
    pub(crate) fn released(&mut self, request: RequestId) {
        let place = self.parked.iter().position(|q| q.front() == Some(&request));
        let Some(place) = place else {
            return self.rule(5, request, "was given a slot, and did not wait longest");
        };
        self.parked[place].pop_front();
        let open = self.open.get_mut(&request).expect("it is parked");
        open.granted = Some(DeploymentId(u32::try_from(place).unwrap()));
    }

    /// Compares the router's books with these, between two inputs.
    pub(crate) fn compare(&mut self, router: &Router) {
        if router.unfinished() != self.open.len() {
            let (told, open) = (router.unfinished(), self.open.len());
            self.note(format!(
                "6: {told} requests are unfinished, there are {open}"
            ));
        }
        for (number, slots) in (0..).zip(self.slots.clone()) {
            let deployment = DeploymentId(number);
            let (at, place) = (self.now, deployment.index());
            let count = |of: fn(&Open) -> Option<DeploymentId>| {
                let there = self.open.values().filter(|o| of(o) == Some(deployment));
                u32::try_from(there.count()).unwrap()
            };
            let flying = count(|open| open.under_way);
            let taken = count(|open| open.holds) + count(|open| open.granted);
            let told = (
                router.in_flight(deployment),
                router.slots_taken(deployment),
                router.cooled_until(at, deployment),
            );
            let until = Some(self.cooled[place]).filter(|until| at < *until);
            let full = slots.is_some_and(|slots| taken >= slots);
            let over = slots.is_none_or(|slots| taken > slots) && taken > 0;
            let waits = !self.parked[place].is_empty();
            if told.0 != flying {
                self.note(format!("4: {} in flight at {number}, not {flying}", told.0));
            }
            if told.1 != taken || over || (waits && !full) {
                self.note(format!(
                    "5: {} slots of {number} are taken, {taken} held, of {slots:?}; some wait: {waits}",
                    told.1
                ));
            }
            let timed = !self.trials[place].after && !self.trials[place].before;
            if timed && told.2 != until {
                self.note(format!(
                    "8: {number} is out until {:?}, not {until:?}",
                    told.2
                ));
            }
        }
    }

    fn rule(&mut self, number: u8, request: RequestId, what: &str) {
        self.note(format!("{number}: {request} {what}"));
    }

    fn note(&mut self, what: String) {
        self.broken.push(format!("at {}: {what}", self.now));
    }

    fn arrived(&mut self, at: Instant, request: &Request) {
        let open = Open {
            blocking: request.is_blocking(),
            stream: request.stream,
            arrived: at,
            left: false,
            under_way: None,
            sent_at: at,
            holds: None,
            granted: None,
            may_send: true,
            client_waits: false,
            retries: 0,
            waits_since: at,
            waited: Duration::ZERO,
            attempts: 0,
            moves: 0,
        };
        if self.over.contains(&request.id) || self.open.insert(request.id, open).is_some() {
            self.rule(1, request.id, "arrived twice");
        }
    }

    fn sent(&mut self, request: RequestId, deployment: DeploymentId) {
        let limited = self.slots[deployment.index()].is_some();
        let (now, paused) = (self.now, self.paused[deployment.index()]);
        let open = self.open.get_mut(&request).expect("looked up before");
        let announced = open.may_send || open.client_waits;
        let second = open.under_way.replace(deployment).is_some();
        if !open.client_waits {
            open.holds = (limited && !open.blocking).then_some(deployment);
        }
        open.sent_at = now;
        open.attempts += 1;
        open.may_send = false;
        open.client_waits = false;
        let left = open.left;
        for (holds, number, what) in [
            (left, 1, "was sent although its caller is gone"),
            (second, 4, "was sent while an attempt was under way"),
            (paused, 7, "was sent to whom is paused"),
            (!announced, 10, "was sent, and no retry announced it"),
        ] {
            if holds {
                self.rule(number, request, what);
            }
        }
    }

    /// Somebody was given a deployment.
    fn picked(&mut self, request: RequestId, deployment: DeploymentId) {
        let is_out = self.now < self.cooled[deployment.index()];
        let trials = &mut self.trials[deployment.index()];
        let tried = is_out || trials.held;
        let another = trials.under_way.is_some_and(|other| other != request);
        if tried && (trials.after || trials.before) {
            trials.under_way = Some(request);
        }
        if is_out && !trials.before {
            self.rule(7, request, "was given a deployment in its cooldown");
        } else if tried && another {
            self.rule(7, request, "tries a deployment beside another trial");
        }
    }

    fn is_over(&mut self, request: RequestId, answer: Option<&Answer>) {
        let open = self.open.remove(&request).expect("looked up before");
        self.over.insert(request);
        for queue in &mut self.parked {
            queue.retain(|&waits| waits != request);
        }
        let Some(answer) = answer else {
            return;
        };
        let trail = answer.trail();
        let told = (trail.arrived, trail.attempts, trail.fallbacks, trail.waited);
        let was = (open.arrived, open.attempts, open.moves, open.waited);
        if told != was {
            self.note(format!("2: {request} tells {told:?}, and it was {was:?}"));
        }
        if open.under_way.is_some() || open.holds.is_some() || open.left {
            self.rule(4, request, "is answered, and something of it goes on");
        }
    }
}

impl Observer for Books {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if at != self.now {
            self.note(format!("3: {event:?} is of {at}"));
        }
        if let Event::Arrived { request } = event {
            return self.arrived(at, request);
        }
        if let Event::CooldownCleared { deployment } = event {
            self.cooled[deployment.index()] = at;
            self.trials[deployment.index()].held = false;
        }
        let Some(request) = event.request() else {
            return;
        };
        let most = self.most_retries;
        let Some(open) = self.open.get_mut(&request) else {
            return self.rule(1, request, &format!("is not there, and yet: {event:?}"));
        };
        match *event {
            Event::Picked { deployment, .. } => self.picked(request, deployment),
            Event::Sent { deployment, .. } => self.sent(request, deployment),
            Event::ParkedForSlot { deployment, .. } => {
                open.waits_since = at;
                self.parked[deployment.index()].push_back(request);
            }
            Event::FirstToken { .. } if open.stream && !self.streams_hold_slot => {
                open.holds = None;
            }
            Event::Finished {
                deployment, took, ..
            } => {
                self.between = open.holds.take().map(|held| (request, held));
                let (was, since) = (open.under_way.take(), open.sent_at);
                if was != Some(deployment) {
                    self.rule(4, request, "ends an attempt that was not under way");
                }
                if took != at.since(since) {
                    self.rule(3, request, "took another time than since it was sent");
                }
            }
            Event::Waiting { until, why, .. } => {
                open.waits_since = at;
                if why == WaitReason::ClientRetry {
                    open.client_waits = true;
                    let kept = self.between.filter(|(whose, _)| *whose == request);
                    open.holds = kept.map(|(_, held)| held);
                }
                if until < at {
                    self.rule(3, request, "waits for a moment that is over");
                }
            }
            Event::Retrying { retry, of, .. } => {
                let after = open.retries;
                open.retries = retry;
                open.may_send = true;
                if retry > of || retry <= after || of > most {
                    let what = format!("makes retry {retry} of {of} after {after}");
                    self.rule(10, request, &what);
                }
            }
            Event::MovedOn { .. } => open.may_send = true,
            Event::FellBack { .. } => {
                open.may_send = true;
                open.retries = 0;
                open.moves += 1;
            }
            Event::CooledDown {
                deployment, until, ..
            } => {
                let trials = &mut self.trials[deployment.index()];
                trials.held = trials.after;
                self.cooled[deployment.index()] = until;
            }
            Event::Answered { answer, .. } => self.is_over(request, Some(answer)),
            Event::Cancelled { .. } => self.is_over(request, None),
            _ => {}
        }
        // A trial is over with its attempt, or where none was sent.
        if let Event::Finished { .. }
        | Event::LimitRefused { .. }
        | Event::SlotRefused { .. }
        | Event::CacheHit { .. }
        | Event::Answered { .. }
        | Event::Cancelled { .. } = event
        {
            for trials in &mut self.trials {
                trials.under_way = trials.under_way.filter(|&trial| trial != request);
            }
        }
    }
}

impl Trials {
    fn of(case: &Case, deployment: &DeploymentConfig) -> Self {
        let profile = &case.config.profile;
        let probes = profile.corrections.probes_long_cooldowns;
        Self {
            after: case.config.settings.cooldown_recovery.one_trial,
            before: probes && deployment.cooldown_probe_after.is_some(),
            held: false,
            under_way: None,
        }
    }
}

/// Slots of a deployment: its own number, else its `rpm`, else six for each thousand of its `tpm`.
fn slots(deployment: &DeploymentConfig) -> Option<u32> {
    let of_tpm = deployment.tpm.map(|tpm| (tpm * 6 / 1_000).max(1));
    let own = deployment.max_parallel_requests;
    let slots = own.or(deployment.rpm).or(of_tpm).filter(|&n| n > 0)?;
    Some(u32::try_from(slots).unwrap())
}
