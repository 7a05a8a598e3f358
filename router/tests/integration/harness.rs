//! A router driven by hand, in virtual time.

use std::{sync::Arc, time::Duration};

use router::{
    Answer, Attempt, DeploymentId, Event, Failure, Instant, ModelId, Observer, Origin, Outcome,
    Overrides, Parked, Profile, ProfileName, Request, RequestId, Router, RouterConfig, Seed, Step,
    Turn, Usage, Wait,
};

pub(crate) const A: DeploymentId = DeploymentId(0);
pub(crate) const B: DeploymentId = DeploymentId(1);

pub(crate) const OLD: Profile = ProfileName::Litellm192.profile();
pub(crate) const NEW: Profile = ProfileName::Litellm1110.profile();

/// A router, its clock, and what it said.
pub(crate) struct Hand {
    pub(crate) router: Router,
    pub(crate) now: Instant,
    pub(crate) said: Said,
    next: u64,
}

/// Events, as text.
#[derive(Debug, Default)]
pub(crate) struct Said(pub(crate) Vec<String>);

impl Observer for Said {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        self.0.push(format!("{at} {event:?}"));
    }
}

/// Deployments of the group `m`, under a profile.
pub(crate) fn group<const N: usize>(ids: [&str; N], profile: Profile) -> RouterConfig {
    RouterConfig {
        profile,
        ..RouterConfig::of_deployments(ids)
    }
}

impl Hand {
    pub(crate) fn new(config: &RouterConfig) -> Self {
        Self {
            router: Router::new(config, Seed(7)).unwrap(),
            now: Instant::ZERO,
            said: Said::default(),
            next: 0,
        }
    }

    pub(crate) fn pass(&mut self, seconds: f64) {
        self.now += Duration::from_secs_f64(seconds);
    }

    pub(crate) fn arrive(&mut self, model: &str) -> Turn {
        self.arrive_with(model, false, None)
    }

    pub(crate) fn arrive_with(
        &mut self,
        model: &str,
        stream: bool,
        overrides: Option<Overrides>,
    ) -> Turn {
        self.arrive_from(Origin::default(), model, stream, overrides)
    }

    pub(crate) fn arrive_from(
        &mut self,
        origin: Origin,
        model: &str,
        stream: bool,
        overrides: Option<Overrides>,
    ) -> Turn {
        self.arrive_as(model, |request| {
            request.origin = origin;
            request.stream = stream;
            request.overrides = overrides.map(Arc::new);
        })
    }

    /// A request of ten tokens, with this changed.
    pub(crate) fn arrive_as(&mut self, model: &str, change: impl FnOnce(&mut Request)) -> Turn {
        let mut request = Request {
            id: RequestId(self.next),
            model: self.router.model(model),
            prompt_tokens: 10,
            max_tokens: None,
            stream: false,
            origin: Origin::default(),
            overrides: None,
        };
        change(&mut request);
        self.next += 1;
        self.router.arrive(self.now, request, &mut self.said)
    }

    pub(crate) fn model(&mut self, name: &str) -> ModelId {
        self.router.model(name)
    }

    pub(crate) fn succeed(&mut self, attempt: Attempt) -> Turn {
        self.finish(attempt, &success())
    }

    pub(crate) fn fail(&mut self, attempt: Attempt, status: u16) -> Turn {
        self.finish(attempt, &Outcome::Failure(Failure::with_status(status)))
    }

    pub(crate) fn finish(&mut self, attempt: Attempt, outcome: &Outcome) -> Turn {
        let router = &mut self.router;
        router.attempt_finished(self.now, attempt, outcome, &mut self.said)
    }

    /// Lets the wait pass.
    pub(crate) fn wait(&mut self, wait: Wait) -> Turn {
        self.now = wait.until();
        self.router.resume(self.now, wait, &mut self.said)
    }

    pub(crate) fn admit(&mut self, parked: Parked) -> Turn {
        self.router.admitted(self.now, parked, &mut self.said)
    }

    /// Fails every attempt and lets every wait pass until the request is answered.
    pub(crate) fn fail_until_done(&mut self, mut turn: Turn, status: u16) -> Answer {
        loop {
            turn = match turn.step {
                Step::Send(attempt) => self.fail(attempt, status),
                Step::Wait(wait) => self.wait(wait),
                Step::Park(_) => panic!("nothing limits parallel requests here"),
                Step::Done(answer) => return answer,
            };
        }
    }

    /// Lets the mirror that was begun last arrive.
    pub(crate) fn mirror(&mut self) -> (Request, Turn) {
        let mirror = self.router.take_mirror().expect("a mirror was begun");
        let turn = self.router.arrive(self.now, mirror.clone(), &mut self.said);
        (mirror, turn)
    }

    /// How often something was said.
    pub(crate) fn heard(&self, what: &str) -> usize {
        self.said
            .0
            .iter()
            .filter(|line| line.contains(what))
            .count()
    }

    /// That nothing is under way any more.
    pub(crate) fn assert_idle(&self) {
        assert_eq!(self.router.unfinished(), 0, "unfinished requests");
        for number in (0..).take(self.router.config().deployments.len()) {
            let deployment = DeploymentId(number);
            assert_eq!(self.router.in_flight(deployment), 0, "in flight");
            assert_eq!(self.router.slots_taken(deployment), 0, "slots taken");
        }
    }
}

pub(crate) fn success() -> Outcome {
    Outcome::Success {
        usage: Usage::new(10, 5),
        first_token_after: None,
    }
}

pub(crate) fn sent(turn: Turn) -> Attempt {
    match turn.step {
        Step::Send(attempt) => attempt,
        other => panic!("not sent: {other:?}"),
    }
}

pub(crate) fn parked(turn: Turn) -> Parked {
    match turn.step {
        Step::Park(parked) => parked,
        other => panic!("not parked: {other:?}"),
    }
}

pub(crate) fn waiting(turn: Turn) -> Wait {
    match turn.step {
        Step::Wait(wait) => wait,
        other => panic!("not waiting: {other:?}"),
    }
}

pub(crate) fn answered(turn: Turn) -> Answer {
    match turn.step {
        Step::Done(answer) => answer,
        other => panic!("not answered: {other:?}"),
    }
}
