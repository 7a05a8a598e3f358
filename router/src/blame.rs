//! Whose fault is a failure? LiteLLM goes by class and status, and charges everything to the
//! deployment. The profile `corrected` also asks for the cause. (BR-001, BR-005, BR-006, BR-009,
//! BR-010)

use serde::{Deserialize, Serialize};

use crate::{
    config::is_bad_request,
    outcome::{ErrorClass, Failure},
    profile::Profile,
    route_error::RouteError,
};

/// What is behind a failure, where its class and status do not say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Class and status say all there is.
    #[default]
    Unsaid,
    /// The provider is busy and refuses to queue more: it lives, and will take requests again.
    Backpressure,
    /// The time limit that ended the attempt was the caller's own, below the operator's.
    CallersLimit,
    /// The account has no credit, or has used up what it may use.
    CreditExhausted,
    /// The object asked for (a stored response, a file) is not here; the route and the model are.
    ObjectNotFound,
    /// The request itself is at fault, which was found before any network activity.
    Request,
}

impl Cause {
    /// Every cause, in the order of its declaration.
    pub const ALL: [Self; 6] = [
        Self::Unsaid,
        Self::Backpressure,
        Self::CallersLimit,
        Self::CreditExhausted,
        Self::ObjectNotFound,
        Self::Request,
    ];
}

/// Whom a failure is charged to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Blame {
    /// The deployment: a failure.
    Deployment,
    /// Nobody: neither a failure nor a success.
    Nobody,
    /// The request: the deployment did its work, which counts as a success.
    Request,
}

/// Whom to charge.
pub(crate) fn blame(failure: &Failure, profile: &Profile) -> Blame {
    let corrections = &profile.corrections;
    let spared = match failure.cause {
        Cause::Backpressure => corrections
            .backpressure_is_no_failure
            .then_some(Blame::Nobody),
        Cause::CallersLimit => corrections
            .callers_timeouts_are_theirs
            .then_some(Blame::Nobody),
        Cause::ObjectNotFound => corrections
            .missing_objects_are_no_failures
            .then_some(Blame::Request),
        Cause::Request => corrections
            .bad_requests_are_no_failures
            .then_some(Blame::Request),
        Cause::Unsaid if is_bad_request(failure.class) || failure.status == Some(413) => {
            corrections
                .bad_requests_are_no_failures
                .then_some(Blame::Request)
        }
        Cause::CreditExhausted | Cause::Unsaid => None,
    };
    spared.unwrap_or(Blame::Deployment)
}

impl Failure {
    /// The same failure with its cause.
    #[must_use]
    pub const fn because(mut self, cause: Cause) -> Self {
        self.cause = cause;
        self
    }

    /// Whether the account behind the deployment is empty.
    pub(crate) fn is_out_of_credit(&self) -> bool {
        self.cause == Cause::CreditExhausted || self.status == Some(402)
    }

    /// Whether the deployment is of no use to anybody: its key is dead, its account empty, or it
    /// does not know the model.
    pub(crate) fn is_of_a_dead_deployment(&self) -> bool {
        let no_model = self.class == ErrorClass::NotFound && self.cause != Cause::ObjectNotFound;
        no_model || self.is_out_of_credit() || matches!(self.status, Some(401 | 403))
    }
}

impl RouteError {
    /// Whether every other deployment would refuse the request too: a plain bad request.
    pub(crate) fn is_the_requests_fault(&self) -> bool {
        if let Self::Attempt { failure, .. } = self {
            let bad = failure.class == ErrorClass::BadRequest && failure.cause == Cause::Unsaid;
            bad || matches!(failure.cause, Cause::ObjectNotFound | Cause::Request)
        } else {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn litellm_charges_everything_to_the_deployment() {
        for profile in [Profile::litellm_1_92(), Profile::litellm_1_110()] {
            for status in [400, 404, 408, 413, 429, 500, 503] {
                for cause in [
                    Cause::Unsaid,
                    Cause::Backpressure,
                    Cause::CallersLimit,
                    Cause::ObjectNotFound,
                    Cause::Request,
                ] {
                    let failure = Failure::with_status(status).because(cause);
                    assert_eq!(blame(&failure, &profile), Blame::Deployment, "{failure:?}");
                }
            }
        }
    }

    #[test]
    fn corrected_charges_a_bad_request_to_the_request_and_a_full_queue_to_nobody() {
        let whom = |failure: Failure| blame(&failure, &Profile::corrected());

        for status in [400, 413, 422] {
            assert_eq!(
                whom(Failure::with_status(status)),
                Blame::Request,
                "{status}"
            );
        }
        let busy = Failure::with_status(503).because(Cause::Backpressure);
        assert_eq!(whom(busy), Blame::Nobody);
        for status in [401, 402, 403, 404, 408, 429, 500, 503] {
            assert_eq!(
                whom(Failure::with_status(status)),
                Blame::Deployment,
                "{status}"
            );
        }
        let empty = Failure::with_status(400).because(Cause::CreditExhausted);
        assert_eq!(whom(empty), Blame::Deployment);
    }
}
