//! Why a request failed: the exceptions that a caller of LiteLLM's router sees. (semantics 4.7, 13)

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    outcome::{ErrorClass, Failure},
    request::{DeploymentId, ModelId},
};

/// Why a request failed. A value, never an `Err`: failures are the subject of the program.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteError {
    /// A provider's failure.
    Attempt {
        /// Whose.
        deployment: DeploymentId,
        /// What.
        failure: Failure,
    },
    /// Nothing may be picked: LiteLLM's `RouterRateLimitError`, "No deployments available for
    /// selected model".
    NoDeployments {
        /// LiteLLM's hint "Try again in … seconds".
        try_again_in: Duration,
        /// Whether cooldowns are why.
        all_cooling: bool,
        /// The status that the profile's exception carries.
        status: Option<u16>,
    },
    /// It was called by its id and is paused (`model_info.blocked`): a `ServiceUnavailableError`.
    Blocked {
        /// Which.
        deployment: DeploymentId,
    },
    /// All slots of `max_parallel_requests` are in use: a `RateLimitError` of the router's own.
    SlotsInUse {
        /// Of which deployment.
        deployment: DeploymentId,
        /// How many there are.
        limit: u32,
    },
    /// Nobody serves this name: a `BadRequestError`.
    UnknownModel {
        /// Which.
        model: ModelId,
    },
    /// `num_retries_per_request` failures are remembered, so that nobody was called (semantics 5.6).
    FailuresSpent {
        /// Who was picked.
        deployment: DeploymentId,
        /// Through the blocking API: a bare `Exception`, and not an `APIConnectionError` (observed).
        blocking: bool,
    },
    /// A limit on requests or tokens a minute, as the router counts them, is reached: a
    /// `RateLimitError` of the router's own.
    RateLimited {
        /// Of which deployment; `None` where none was within its limits.
        deployment: Option<DeploymentId>,
        /// By what.
        by: RateLimitedBy,
        /// Its `retry-after`, in whole seconds.
        retry_after: u32,
    },
    /// A blocking call found nobody within the limits of `usage-based-routing-v2`: a `ValueError`
    /// without a status (semantics 3.5).
    OverUsageLimits,
    /// The pre-call checks left nobody, some for their rpm: `RouterRateLimitErrorBasic`, which has
    /// no status (semantics 2.3.9).
    OverRpm,
    /// The pre-call checks left nobody, some for the length of the prompt: a
    /// `ContextWindowExceededError`.
    PromptTooLong,
    /// Every candidate's budget is spent: a `ValueError` without a status (semantics 8.6).
    BudgetSpent,
    /// No candidate has the tags asked for: a `ValueError` without a status (semantics 8.7).
    NoMatchingTags,
    /// A weight among the candidates is a text: a `TypeError` without a status (observed).
    TextWeight,
    /// The priority queue's time was up: a `Timeout`.
    QueueTimeout,
    /// The priority queue itself failed, in 1.92: an error of Python's, without a status.
    Queue(QueueFault),
}

/// How the priority queue of 1.92 fails (semantics 9.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueFault {
    /// There is a `default_priority`: the call that it makes lacks an argument. A `TypeError`.
    MissingPriority,
    /// The queue was forgotten while the request waited in it. An `Exception` (observed).
    Forgotten,
}

/// What refused an attempt for the router's own count of requests or tokens a minute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitedBy {
    /// The choice of `usage-based-routing-v2`: nobody is within its limits.
    UsageChoice,
    /// The reservation of `usage-based-routing-v2`.
    UsageReservation,
    /// `enforce_model_rate_limits`.
    ModelRateLimits,
}

impl RouteError {
    /// The deployment that it is about, if it is about one.
    #[must_use]
    pub const fn deployment(&self) -> Option<DeploymentId> {
        match self {
            Self::Attempt { deployment, .. }
            | Self::Blocked { deployment }
            | Self::FailuresSpent { deployment, .. }
            | Self::SlotsInUse { deployment, .. } => Some(*deployment),
            Self::RateLimited { deployment, .. } => *deployment,
            Self::NoDeployments { .. }
            | Self::UnknownModel { .. }
            | Self::OverUsageLimits
            | Self::OverRpm
            | Self::PromptTooLong
            | Self::BudgetSpent
            | Self::NoMatchingTags
            | Self::TextWeight
            | Self::QueueTimeout
            | Self::Queue(_) => None,
        }
    }

    /// The class of the exception; `None` for `RouterRateLimitError`, which has none.
    #[must_use]
    pub const fn class(&self) -> Option<ErrorClass> {
        match self {
            Self::Attempt { failure, .. } => Some(failure.class),
            Self::Blocked { .. } => Some(ErrorClass::ServiceUnavailable),
            Self::FailuresSpent { blocking, .. } => match blocking {
                true => None,
                false => Some(ErrorClass::ApiConnection),
            },
            Self::NoDeployments { .. } => None,
            Self::SlotsInUse { .. } => Some(ErrorClass::RateLimit),
            Self::UnknownModel { .. } => Some(ErrorClass::BadRequest),
            Self::RateLimited { .. } => Some(ErrorClass::RateLimit),
            Self::OverUsageLimits | Self::OverRpm | Self::BudgetSpent | Self::NoMatchingTags => {
                None
            }
            Self::PromptTooLong => Some(ErrorClass::ContextWindowExceeded),
            Self::QueueTimeout => Some(ErrorClass::Timeout),
            Self::TextWeight | Self::Queue(_) => None,
        }
    }

    /// The same refusal for want of a deployment, with the sooner of two times to come back: all of
    /// a walk's groups are out, and one of them returns first. (BR-032)
    #[must_use]
    pub(crate) fn told_sooner(mut self, other: Option<Self>) -> Self {
        if let (
            Self::NoDeployments { try_again_in, .. },
            Some(Self::NoDeployments {
                try_again_in: others,
                ..
            }),
        ) = (&mut self, other)
        {
            *try_again_in = others.min(*try_again_in);
        }
        self
    }

    /// Whether it is an error of Python's own, such as a `ValueError`, and none of LiteLLM's.
    pub(crate) const fn is_of_python(&self) -> bool {
        matches!(
            self,
            Self::BudgetSpent | Self::NoMatchingTags | Self::OverUsageLimits | Self::TextWeight
        )
    }

    /// The status that the exception carries.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Attempt { failure, .. } => failure.status,
            Self::NoDeployments { status, .. } => *status,
            Self::Blocked { .. } => Some(503),
            Self::FailuresSpent { blocking, .. } => match blocking {
                true => None,
                false => Some(500),
            },
            Self::SlotsInUse { .. } | Self::RateLimited { .. } => Some(429),
            Self::UnknownModel { .. } | Self::PromptTooLong => Some(400),
            Self::OverUsageLimits | Self::OverRpm | Self::BudgetSpent | Self::NoMatchingTags => {
                None
            }
            Self::QueueTimeout => Some(408),
            Self::TextWeight | Self::Queue(_) => None,
        }
    }

    /// The name of LiteLLM's exception.
    #[must_use]
    pub const fn exception(&self) -> &'static str {
        match (self, self.class()) {
            (_, Some(class)) => class.exception(),
            (Self::OverRpm, None) => "RouterRateLimitErrorBasic",
            (Self::OverUsageLimits | Self::BudgetSpent | Self::NoMatchingTags, None) => {
                "ValueError"
            }
            (Self::Queue(QueueFault::MissingPriority) | Self::TextWeight, None) => "TypeError",
            (Self::Queue(QueueFault::Forgotten) | Self::FailuresSpent { .. }, None) => "Exception",
            (_, None) => "RouterRateLimitError",
        }
    }
}
