//! What a driver is told: one input to the router gives one [`Turn`].
//!
//! Tokens ([`Attempt`], [`Wait`], [`Parked`]) are neither `Clone` nor `Copy`, and the router takes
//! them back by value: an answer that is given twice does not compile, and one that is lost is
//! seen as a request that never ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    blame::Cause,
    outcome::Usage,
    request::{DeploymentId, ModelId, RequestId},
    route_error::RouteError,
    time::Instant,
};

/// The router's one instruction for the request that it was called for.
#[derive(Debug)]
#[must_use = "a step that is dropped is a request that never ends"]
pub enum Step {
    /// Send this attempt; answer with [`Router::attempt_finished`](crate::Router::attempt_finished).
    Send(Attempt),
    /// Do nothing until then; answer with [`Router::resume`](crate::Router::resume).
    Wait(Wait),
    /// Wait for a slot of `max_parallel_requests`; when a later turn says `released` for this
    /// request, answer with [`Router::admitted`](crate::Router::admitted).
    Park(Parked),
    /// The request is over.
    Done(Answer),
}

/// A step, and the parked request (at most one) that the same input freed a slot for.
#[derive(Debug)]
#[must_use = "a turn that is dropped is a request that never ends"]
pub struct Turn {
    /// For the request of this input.
    pub step: Step,
    /// A parked request that may go on now.
    pub released: Option<RequestId>,
}

impl Turn {
    /// A step that freed no slot.
    #[inline(always)]
    pub(crate) const fn of(step: Step) -> Self {
        Self {
            step,
            released: None,
        }
    }
}

/// Names the request inside the router, and the slot's generation, so that a stale token is found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ticket {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// One try upstream that is to be sent.
#[derive(Debug)]
#[must_use = "an attempt must be answered"]
pub struct Attempt {
    pub(crate) ticket: Ticket,
    pub(crate) request: RequestId,
    pub(crate) deployment: DeploymentId,
    pub(crate) number: u16,
}

impl Attempt {
    /// Whose attempt it is.
    #[must_use]
    pub const fn request(&self) -> RequestId {
        self.request
    }

    /// Where to send it.
    #[must_use]
    pub const fn deployment(&self) -> DeploymentId {
        self.deployment
    }

    /// Which attempt of the request it is, over all groups, from 0.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.number
    }
}

/// A moment to wait for.
#[derive(Debug)]
#[must_use = "a wait must be answered"]
pub struct Wait {
    pub(crate) ticket: Ticket,
    pub(crate) request: RequestId,
    pub(crate) until: Instant,
    pub(crate) why: WaitReason,
}

impl Wait {
    /// Whose wait it is.
    #[must_use]
    pub const fn request(&self) -> RequestId {
        self.request
    }

    /// When it ends.
    #[must_use]
    pub const fn until(&self) -> Instant {
        self.until
    }

    /// What for.
    #[must_use]
    pub const fn why(&self) -> WaitReason {
        self.why
    }
}

/// Why a request waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// Exponential backoff before another attempt.
    Backoff,
    /// The provider's client library waits before it tries again by itself, inside one attempt.
    ClientRetry,
    /// Backoff whose length the provider's `retry-after` set.
    RetryAfter,
    /// The priority queue is asked again (semantics 9.5).
    Queue,
}

/// A request that waits for a slot of a full deployment.
#[derive(Debug)]
#[must_use = "a parked request must be answered"]
pub struct Parked {
    pub(crate) ticket: Ticket,
    pub(crate) request: RequestId,
    pub(crate) deployment: DeploymentId,
}

impl Parked {
    /// Who waits.
    #[must_use]
    pub const fn request(&self) -> RequestId {
        self.request
    }

    /// For a slot of which deployment.
    #[must_use]
    pub const fn deployment(&self) -> DeploymentId {
        self.deployment
    }
}

/// What a caller that goes away was holding.
#[derive(Debug)]
pub enum Held {
    /// An attempt was under way.
    Attempt(Attempt),
    /// It waited for a slot.
    Parked(Parked),
    /// It waited for a moment.
    Wait(Wait),
}

/// How an attempt may take: both drivers apply it the same way, the earlier of its end and this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deadline {
    /// No bound.
    None,
    /// Bounds the time to the first byte and each gap between two, keep-alive frames among them (a
    /// streamed attempt).
    Silence(Duration),
    /// Bounds a streamed attempt by its content. Opening and keep-alive frames are none.
    Content(StreamLimits),
    /// Bounds the attempt from sending to its last byte.
    Whole(Duration),
}

/// Three bounds on the content of a streamed attempt, each counted from the sending or from the last
/// content. `None`: no such bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StreamLimits {
    /// On the time to the first content.
    pub first_token: Option<Duration>,
    /// On the time between two pieces of content, and from the last to the end.
    pub idle: Option<Duration>,
    /// On the time from sending to the end.
    pub total: Option<Duration>,
}

/// What a driver needs to send an attempt.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttemptPlan<'a> {
    /// `model_info.id`, given or hashed.
    pub deployment: &'a str,
    /// `litellm_params.model`, its stars filled for the name that is asked for.
    pub model: &'a str,
    /// Whether to stream.
    pub stream: bool,
    /// How long it may take.
    pub deadline: Deadline,
    /// Whether the deadline is the caller's own and shorter than the operator's.
    pub callers_limit: bool,
    /// Whether the frames that open a stream are kept back until its first content comes: an
    /// attempt that ends before has shown its caller nothing.
    pub keeps_opening_back: bool,
    /// Whether the router must be told of the first token ([`Router::first_token`]): a slot depends
    /// on it. Otherwise telling it is optional.
    ///
    /// [`Router::first_token`]: crate::Router::first_token
    pub wants_first_token: bool,
}

impl AttemptPlan<'_> {
    /// The cause of a failure that the deadline made. A driver that ends the attempt by it gives
    /// its failure this one.
    #[must_use]
    pub const fn timeout_cause(&self) -> Cause {
        match self.callers_limit {
            true => Cause::CallersLimit,
            false => Cause::Unsaid,
        }
    }
}

/// What the caller finally gets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Answer {
    /// An attempt succeeded.
    Completed {
        /// Who answered.
        deployment: DeploymentId,
        /// Billed tokens of the attempt that answered.
        usage: Usage,
        /// Whether the response cache answered: nobody was called and nothing is billed.
        cached: bool,
        /// What it took.
        trail: Trail,
    },
    /// The ladder ran out.
    Failed {
        /// The error that surfaces: mostly the first group's.
        error: RouteError,
        /// What was tried.
        trail: Trail,
    },
}

impl Answer {
    /// What was tried on the way to it.
    #[must_use]
    pub const fn trail(&self) -> &Trail {
        match self {
            Self::Completed { trail, .. } | Self::Failed { trail, .. } => trail,
        }
    }
}

/// What was tried for a request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trail {
    /// When the request arrived.
    pub arrived: Instant,
    /// Attempts sent upstream, over all groups.
    pub attempts: u16,
    /// Moves to another group, tier or remaining set.
    pub fallbacks: u16,
    /// The model group of the last hop.
    pub group: ModelId,
    /// Time spent in backoff and parked.
    pub waited: Duration,
    /// Time spent in attempts that failed.
    pub in_failed_attempts: Duration,
    /// When the first token of the answer arrived; for an answer in one piece, when it arrived.
    pub first_token: Option<Instant>,
}
