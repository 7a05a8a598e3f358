//! Who is to blame for a request that got no answer: one cause each, so that shares add up.
//!
//! A failure has a chain of causes, and every link could be named. [`Blame::ALL`] is the order in
//! which they are asked; the first that holds is the blame. METRICS.md has the same list in words.
//! What a [`Blamer`] knows is what a run tells: how attempts ended, who was benched, when providers
//! were at fault by their schedule, and whom the router could still have picked when it gave up.

mod health;
mod shares;

use router::{
    Answer, Cause, DeploymentId, ErrorClass, Event, Failure, Instant, RequestId, RouteError,
};
use serde::{Deserialize, Serialize};

use self::health::Health;
pub use self::shares::{BlameShare, blame_shares};
use crate::recorder_setup::RecorderSetup;

/// Why a request got no answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The caller went away, or its own time limit ended the attempt.
    ClientGaveUp,
    /// The request could not be served by anybody as it was.
    Request,
    /// Keys, accounts or settings: nobody could be called.
    Configuration,
    /// The router gave up with a deployment that was down or out of quota while another stood ready.
    WrongPick,
    /// Cooldowns left nobody to pick, and somebody benched was well.
    Cooldown,
    /// The provider was at fault, and nobody else stood ready.
    Outage,
    /// A limit was reached: the provider's, or one that the router keeps itself.
    OwnQuota,
    /// A time limit of the router's ended it.
    Timeout,
    /// Passing errors until no try was left.
    RetriesExhausted,
}

impl Blame {
    /// Every blame, in the order in which they are asked.
    pub const ALL: [Self; 9] = [
        Self::ClientGaveUp,
        Self::Request,
        Self::Configuration,
        Self::WrongPick,
        Self::Cooldown,
        Self::Outage,
        Self::OwnQuota,
        Self::Timeout,
        Self::RetriesExhausted,
    ];

    /// Its name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClientGaveUp => "client_gave_up",
            Self::Request => "request",
            Self::Configuration => "configuration",
            Self::WrongPick => "wrong_pick",
            Self::Cooldown => "cooldown",
            Self::Outage => "outage",
            Self::OwnQuota => "own_quota",
            Self::Timeout => "timeout",
            Self::RetriesExhausted => "retries_exhausted",
        }
    }

    /// The name that a person reads.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClientGaveUp => "Client gave up",
            Self::Request => "The request itself",
            Self::Configuration => "Keys and settings",
            Self::WrongPick => "Wrong pick",
            Self::Cooldown => "Cooldown exclusion",
            Self::Outage => "Outage",
            Self::OwnQuota => "Own quota",
            Self::Timeout => "Timeout",
            Self::RetriesExhausted => "Retries exhausted",
        }
    }

    /// What it means, in a sentence.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::ClientGaveUp => {
                "The caller went away, or its own time limit, below the operator's, ended the attempt."
            }
            Self::Request => {
                "Its content, length, name or tags: nobody would have served it. Not the router's fault."
            }
            Self::Configuration => {
                "A key, an account or a model that is refused, or a setting that leaves nobody to call."
            }
            Self::WrongPick => {
                "The deployment was down or out of quota, and another one that could have been picked stood ready."
            }
            Self::Cooldown => {
                "Cooldowns left nobody to pick, though a deployment that was benched was neither down nor out of quota."
            }
            Self::Outage => "The provider was at fault, and nobody else stood ready.",
            Self::OwnQuota => {
                "A limit on requests, tokens, slots or money was reached, the provider's or the router's own."
            }
            Self::Timeout => {
                "A time limit of the router's ended it; its provider was not known to be down."
            }
            Self::RetriesExhausted => {
                "Passing errors of a provider that was not down, until no retry or fallback was left."
            }
        }
    }
}

/// How many requests have one blame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlameCount {
    /// The blame.
    pub blame: Blame,
    /// How many requests.
    pub count: u64,
}

/// Hears a run and says who is to blame for each request that got no answer. Its work is constant
/// for an attempt, and grows with the group only for requests that fail.
#[derive(Debug)]
pub struct Blamer {
    deployments: Vec<Health>,
    look: Look,
}

/// What the router had left when it gave a request up.
#[derive(Clone, Copy, Debug)]
struct Look {
    request: RequestId,
    /// Two that stood ready, so that one is left whoever failed.
    ready: [Option<DeploymentId>; 2],
    benched: u32,
    benched_well: u32,
    benched_limited: u32,
}

impl Look {
    const fn at_nothing(request: RequestId) -> Self {
        Self {
            request,
            ready: [None; 2],
            benched: 0,
            benched_well: 0,
            benched_limited: 0,
        }
    }

    fn ready_beside(&self, failed: DeploymentId) -> bool {
        self.ready.iter().flatten().any(|&ready| ready != failed)
    }
}

impl Blamer {
    /// Has heard nothing yet.
    #[must_use]
    pub fn new(setup: &RecorderSetup) -> Self {
        let faults = |place: usize| setup.faults.get(place).map_or(&[][..], Vec::as_slice);
        Self {
            deployments: (0..setup.deployments.len())
                .map(|place| Health::new(faults(place)))
                .collect(),
            look: Look::at_nothing(RequestId(u64::MAX)),
        }
    }

    /// Hears an event; if a request ended without an answer, says who is to blame.
    pub fn hear(&mut self, at: Instant, event: &Event<'_>) -> Option<Blame> {
        if let Event::CooledDown {
            deployment, until, ..
        } = *event
        {
            self.benched(deployment, until);
        }
        if event.request().is_some_and(RequestId::is_mirror) {
            return None;
        }
        if let Event::Finished {
            deployment,
            outcome,
            ..
        } = *event
        {
            self.health(deployment).ended(at, outcome);
        } else if let Event::CooldownCleared { deployment } = *event {
            self.health(deployment).benched_until = at;
        } else if let Event::GivenUp {
            request,
            members,
            eligible,
        } = *event
        {
            self.last_look(at, request, members, eligible);
        } else if let Event::Cancelled { .. } = *event {
            return Some(Blame::ClientGaveUp);
        } else if let Event::Answered {
            request,
            answer: Answer::Failed { error, trail },
        } = event
        {
            return Some(self.judge(at, *request, error, trail.attempts));
        }
        None
    }

    #[inline]
    pub(crate) fn health(&mut self, deployment: DeploymentId) -> &mut Health {
        &mut self.deployments[deployment.index()]
    }

    pub(crate) fn benched(&mut self, deployment: DeploymentId, until: Instant) {
        let health = self.health(deployment);
        health.benched_until = health.benched_until.max(until);
    }

    /// Remembers what matters of the group of a request that is given up.
    pub(crate) fn last_look(
        &mut self,
        at: Instant,
        request: RequestId,
        members: &[DeploymentId],
        eligible: &[DeploymentId],
    ) {
        let mut look = Look::at_nothing(request);
        for &deployment in eligible {
            if look.ready[1].is_none() && self.health(deployment).is_ready(at) {
                look.ready[1] = look.ready[0].replace(deployment);
            }
        }
        for &deployment in members {
            let health = self.health(deployment);
            if health.benched_until <= at {
                continue;
            }
            look.benched += 1;
            let (down, limited) = (health.is_down(at), health.is_limited(at));
            look.benched_limited += u32::from(limited && !down);
            look.benched_well += u32::from(!limited && !down);
        }
        self.look = look;
    }

    /// Who is to blame for a request that ends with `error` now.
    pub(crate) fn judge(
        &mut self,
        at: Instant,
        request: RequestId,
        error: &RouteError,
        attempts: u16,
    ) -> Blame {
        if self.look.request != request {
            self.look = Look::at_nothing(request);
        }
        match *error {
            RouteError::Attempt {
                deployment,
                failure,
            } => self.of_failure(at, deployment, &failure),
            RouteError::NoDeployments { .. } => self.of_nobody(attempts),
            RouteError::UnknownModel { .. }
            | RouteError::PromptTooLong
            | RouteError::NoMatchingTags => Blame::Request,
            RouteError::Blocked { .. } | RouteError::TextWeight | RouteError::Queue(_) => {
                Blame::Configuration
            }
            RouteError::SlotsInUse { .. }
            | RouteError::RateLimited { .. }
            | RouteError::OverUsageLimits
            | RouteError::OverRpm
            | RouteError::BudgetSpent => Blame::OwnQuota,
            RouteError::QueueTimeout => Blame::Timeout,
            RouteError::FailuresSpent { .. } => Blame::RetriesExhausted,
        }
    }

    fn of_failure(&mut self, at: Instant, failed: DeploymentId, failure: &Failure) -> Blame {
        match failure.cause {
            Cause::CallersLimit => return Blame::ClientGaveUp,
            Cause::ObjectNotFound | Cause::Request => return Blame::Request,
            Cause::CreditExhausted => return Blame::Configuration,
            Cause::Backpressure | Cause::Unsaid => {}
        }
        let (limited, timed_out) = match failure.class {
            ErrorClass::BadRequest
            | ErrorClass::ContentPolicyViolation
            | ErrorClass::ContextWindowExceeded => return Blame::Request,
            ErrorClass::Authentication | ErrorClass::NotFound => return Blame::Configuration,
            ErrorClass::Api if failure.status == Some(413) => return Blame::Request,
            ErrorClass::Api if matches!(failure.status, Some(402 | 403)) => {
                return Blame::Configuration;
            }
            ErrorClass::RateLimit => (true, false),
            ErrorClass::Timeout => (false, true),
            ErrorClass::Api
            | ErrorClass::ApiConnection
            | ErrorClass::BadGateway
            | ErrorClass::InternalServer
            | ErrorClass::ServiceUnavailable => (false, false),
        };
        let down = self.health(failed).is_down(at);
        match (down, limited, timed_out) {
            (true, ..) | (_, true, _) if self.look.ready_beside(failed) => Blame::WrongPick,
            (true, ..) => Blame::Outage,
            (_, true, _) => Blame::OwnQuota,
            (_, _, true) => Blame::Timeout,
            _ => Blame::RetriesExhausted,
        }
    }

    /// Nothing could be picked: who kept the deployments away?
    const fn of_nobody(&self, attempts: u16) -> Blame {
        match self.look {
            Look { benched: 0, .. } if attempts == 0 => Blame::Configuration,
            Look { benched: 0, .. } => Blame::RetriesExhausted,
            Look {
                benched_well: 1.., ..
            } => Blame::Cooldown,
            Look {
                benched_limited: 1..,
                ..
            } => Blame::OwnQuota,
            Look { .. } => Blame::Outage,
        }
    }
}
