//! What the router says about its decisions: why, not only what.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    inputs::{Decision, Input},
    outcome::Outcome,
    request::{DeploymentId, ModelId, Request, RequestId},
    route_error::RateLimitedBy,
    router::Router,
    step::{Answer, WaitReason},
    time::Instant,
};

/// Hears every event of a router. `()` hears nothing and costs nothing; a pair hears both, and `None`
/// nothing.
pub trait Observer {
    /// Whether [`Event::GivenUp`] is wanted: for each request that fails, the filters look over its
    /// group once more.
    const LAST_LOOK: bool = false;

    /// Whether [`input`](Self::input) and [`decided`](Self::decided) are wanted, as by a journal.
    const INPUTS: bool = false;

    /// An event at a moment.
    fn observe(&mut self, _at: Instant, _event: &Event<'_>) {}

    /// The router is given an input at a moment, and has done nothing with it.
    fn input(&mut self, _at: Instant, _router: &Router, _input: &Input<'_>) {}

    /// What the router decided on the input that was told last.
    fn decided(&mut self, _router: &Router, _decision: &Decision<'_>) {}
}

impl Observer for () {}

impl<T: Observer> Observer for &mut T {
    const LAST_LOOK: bool = T::LAST_LOOK;
    const INPUTS: bool = T::INPUTS;

    #[inline]
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        (**self).observe(at, event);
    }

    fn input(&mut self, at: Instant, router: &Router, input: &Input<'_>) {
        (**self).input(at, router, input);
    }

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        (**self).decided(router, decision);
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    const LAST_LOOK: bool = A::LAST_LOOK || B::LAST_LOOK;
    const INPUTS: bool = A::INPUTS || B::INPUTS;

    #[inline]
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        self.0.observe(at, event);
        self.1.observe(at, event);
    }

    fn input(&mut self, at: Instant, router: &Router, input: &Input<'_>) {
        self.0.input(at, router, input);
        self.1.input(at, router, input);
    }

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        self.0.decided(router, decision);
        self.1.decided(router, decision);
    }
}

impl<T: Observer> Observer for Option<T> {
    const LAST_LOOK: bool = T::LAST_LOOK;
    const INPUTS: bool = T::INPUTS;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if let Some(observer) = self {
            observer.observe(at, event);
        }
    }

    fn input(&mut self, at: Instant, router: &Router, input: &Input<'_>) {
        if let Some(observer) = self {
            observer.input(at, router, input);
        }
    }

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        if let Some(observer) = self {
            observer.decided(router, decision);
        }
    }
}

/// Something that happened to one request or one deployment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event<'a> {
    /// A request arrived.
    Arrived {
        /// Its whole content.
        request: &'a Request,
    },
    /// A deployment of the group was not a candidate.
    PassedOver {
        /// For whom.
        request: RequestId,
        /// Which.
        deployment: DeploymentId,
        /// Why.
        why: PassedOver,
    },
    /// The strategy chose a deployment.
    Picked {
        /// For whom.
        request: RequestId,
        /// Which.
        deployment: DeploymentId,
        /// The number of the attempt, from 0.
        attempt: u16,
        /// Out of how many candidates.
        candidates: u32,
    },
    /// Nothing could be picked.
    NothingToPick {
        /// For whom.
        request: RequestId,
        /// In which group.
        group: ModelId,
    },
    /// The picked deployment had no free slot and the attempt was refused before it was sent.
    SlotRefused {
        /// For whom.
        request: RequestId,
        /// Which.
        deployment: DeploymentId,
        /// Slots that it has.
        limit: u32,
    },
    /// The router's own count of requests or tokens refused the attempt before it was sent.
    LimitRefused {
        /// For whom.
        request: RequestId,
        /// Which; `None` where none was within its limits.
        deployment: Option<DeploymentId>,
        /// By what.
        by: RateLimitedBy,
    },
    /// Nobody was called, because as many failures are remembered as `num_retries_per_request` allows.
    FailuresSpent {
        /// For whom.
        request: RequestId,
        /// Who had been picked.
        deployment: DeploymentId,
        /// The setting.
        limit: u32,
    },
    /// The response cache answered in place of the deployment.
    CacheHit {
        /// Whom.
        request: RequestId,
        /// Who had been picked.
        deployment: DeploymentId,
    },
    /// A copy of the request goes to another group, and nobody waits for it (`silent_model`).
    Mirrored {
        /// Of which request.
        request: RequestId,
        /// The copy.
        mirror: RequestId,
        /// To which group.
        group: ModelId,
    },
    /// A running cooldown was ended by hand, or by a trial that succeeded (`corrected`).
    CooldownCleared {
        /// Of which deployment.
        deployment: DeploymentId,
    },
    /// The request waits for a slot.
    ParkedForSlot {
        /// Who.
        request: RequestId,
        /// Of which deployment.
        deployment: DeploymentId,
    },
    /// An attempt went out.
    Sent {
        /// Whose.
        request: RequestId,
        /// To whom.
        deployment: DeploymentId,
        /// The number of the attempt, from 0.
        attempt: u16,
    },
    /// The first token of a streamed attempt arrived (only if the driver reports it).
    FirstToken {
        /// Whose.
        request: RequestId,
        /// From whom.
        deployment: DeploymentId,
        /// Time since sending.
        after: Duration,
    },
    /// An attempt ended.
    Finished {
        /// Whose.
        request: RequestId,
        /// At whom.
        deployment: DeploymentId,
        /// The number of the attempt, from 0.
        attempt: u16,
        /// Time since sending.
        took: Duration,
        /// How.
        outcome: &'a Outcome,
    },
    /// A deployment was benched.
    CooledDown {
        /// Which.
        deployment: DeploymentId,
        /// Whose failure did it.
        request: RequestId,
        /// Until when.
        until: Instant,
        /// By which rule.
        why: CooldownReason,
    },
    /// The request waits before its next attempt.
    Waiting {
        /// Who.
        request: RequestId,
        /// Until when.
        until: Instant,
        /// Why.
        why: WaitReason,
    },
    /// Another attempt in the same group follows.
    Retrying {
        /// Who.
        request: RequestId,
        /// Which retry of this group, from 1.
        retry: u32,
        /// Of how many.
        of: u32,
    },
    /// The request leaves a deployment that is of no use to anybody for another of its group,
    /// without a retry (only in `corrected`).
    MovedOn {
        /// Who.
        request: RequestId,
        /// From which.
        deployment: DeploymentId,
    },
    /// The request moves on: to another group, a later order tier, or the rest of its group.
    FellBack {
        /// Who.
        request: RequestId,
        /// From which group.
        from: ModelId,
        /// To which.
        to: ModelId,
        /// By which list.
        why: FallbackReason,
    },
    /// The request is about to end with an error (only if [`Observer::LAST_LOOK`]): whom its group
    /// has at this moment.
    GivenUp {
        /// Who.
        request: RequestId,
        /// The deployments of the group that it asked for, or of the last one that it was in.
        members: &'a [DeploymentId],
        /// Those of them that pass every filter now: another attempt could have gone to each.
        eligible: &'a [DeploymentId],
    },
    /// The request is over.
    Answered {
        /// Who.
        request: RequestId,
        /// How.
        answer: &'a Answer,
    },
    /// The caller went away.
    Cancelled {
        /// Who.
        request: RequestId,
        /// The deployment of the attempt that was under way, if one was.
        deployment: Option<DeploymentId>,
    },
}

impl Event<'_> {
    /// Whom it is about, if a request.
    #[must_use]
    pub const fn request(&self) -> Option<RequestId> {
        match *self {
            Self::Arrived { request } => Some(request.id),
            Self::PassedOver { request, .. }
            | Self::Picked { request, .. }
            | Self::NothingToPick { request, .. }
            | Self::SlotRefused { request, .. }
            | Self::ParkedForSlot { request, .. }
            | Self::Sent { request, .. }
            | Self::FirstToken { request, .. }
            | Self::Finished { request, .. }
            | Self::CooledDown { request, .. }
            | Self::Waiting { request, .. }
            | Self::Retrying { request, .. }
            | Self::MovedOn { request, .. }
            | Self::FellBack { request, .. }
            | Self::GivenUp { request, .. }
            | Self::Answered { request, .. }
            | Self::LimitRefused { request, .. }
            | Self::FailuresSpent { request, .. }
            | Self::CacheHit { request, .. }
            | Self::Mirrored { request, .. }
            | Self::Cancelled { request, .. } => Some(request),
            Self::CooldownCleared { .. } => None,
        }
    }
}

/// Why a deployment was not a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassedOver {
    /// `model_info.blocked`.
    Blocked,
    /// In cooldown until then. Where a trial is what brings it back, until one is due, or the present
    /// moment while one is under way.
    Cooled(Instant),
    /// The request is pinned to it, but it is over the limits of requests and tokens that the strategy
    /// or `enforce_model_rate_limits` goes by, and others are left (only where pins yield to everything).
    OverLimits,
    /// Weighted failover had it already.
    Excluded,
    /// An earlier order tier has candidates, or another tier is asked for.
    OtherOrderTier,
    /// It refused this request with an error that a retry would meet again.
    Refused,
    /// The prompt is longer than its context window (`enable_pre_call_checks`).
    PromptTooLong,
    /// It is in another region than the request allows (`enable_pre_call_checks`).
    OtherRegion,
    /// It was picked as often as its rpm allows (`enable_pre_call_checks` in 1.92).
    OverRpm,
    /// The request is pinned to another deployment (affinity).
    PinnedElsewhere,
    /// Its budget, or its provider's, is spent.
    BudgetSpent,
    /// Its tags do not match the request's, or are banned.
    OtherTags,
}

/// By which rule a deployment was cooled. (semantics 4.2 and 4.4)
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CooldownReason {
    /// More failures than `allowed_fails` or its policy allows.
    AllowedFailsExceeded,
    /// Over half of at least five requests in the minute failed.
    FailureRate,
    /// Its account has no credit (only in `corrected`).
    NoCredit,
    /// An error that the next request would meet again (401, 404; 402 in 1.110).
    NotRetryable,
    /// The provider said 429.
    RateLimited,
    /// Every one of at least a thousand requests in the minute failed.
    TotalFailure,
}

/// Which list a fallback came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackReason {
    /// `content_policy_fallbacks`.
    ContentPolicy,
    /// `context_window_fallbacks`.
    ContextWindow,
    /// `fallbacks` and `default_fallbacks`.
    Generic,
    /// The next `order` tier of the group.
    OrderTier,
    /// The request's own list.
    PerRequest,
    /// `enable_weighted_failover`: the rest of the group.
    WeightedFailover,
}
