//! What becomes of a stream that breaks after the answer began. (semantics 6.8)
//!
//! The versions differ in all of it: in 1.92 a connection that is cut off looks like a short answer
//! and an error inside the stream goes straight to the fallbacks; in 1.110 both surface at once,
//! because text that was delivered is never generated again.

use crate::{
    in_flight::RequestState,
    ladder::Next,
    observe::Observer,
    outcome::{ErrorClass, Failure, Outcome, Usage},
    profile::Profile,
    request::DeploymentId,
    router::Router,
    step::{RouteError, Ticket},
    time::Instant,
};

impl RequestState {
    /// An outcome as the client library reports it: in 1.92 a stream that is cut off is a short
    /// answer.
    pub(crate) fn as_the_client_sees(&self, outcome: &Outcome, profile: &Profile) -> Outcome {
        match outcome {
            Outcome::Failure(failure)
                if profile.truncated_streams_succeed
                    && self.request.stream
                    && failure.class == ErrorClass::ApiConnection =>
            {
                Outcome::Success {
                    usage: Usage::new(self.request.prompt_tokens, failure.tokens_delivered),
                    first_token_after: failure.first_token_after,
                }
            }
            Outcome::Success { .. } | Outcome::Failure(_) => *outcome,
        }
    }
}

impl Router {
    /// A stream broke after its first token. 1.110 lets it surface; 1.92 goes straight to the
    /// fallbacks. Neither retries in the group. (semantics 6.8)
    pub(crate) fn after_broken_stream(
        &mut self,
        now: Instant,
        ticket: Ticket,
        error: RouteError,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> Next {
        if self.config.profile.mid_stream_surfaces {
            return Next::Fail(as_surfaced(error));
        }
        self.requests.get(ticket).hop.failed = Some(deployment);
        self.fall_back(now, ticket, error, obs)
    }
}

/// A broken stream's error, as its reader gets it: what is neither a rate limit nor a timeout is a
/// connection error. (semantics 6.8)
fn as_surfaced(error: RouteError) -> RouteError {
    match error {
        RouteError::Attempt {
            deployment,
            failure,
        } if !matches!(failure.class, ErrorClass::RateLimit | ErrorClass::Timeout) => {
            let class = ErrorClass::ApiConnection;
            let failure = Failure {
                class,
                status: class.status(),
                ..failure
            };
            RouteError::Attempt {
                deployment,
                failure,
            }
        }
        RouteError::Attempt { .. }
        | RouteError::NoDeployments { .. }
        | RouteError::Blocked { .. }
        | RouteError::SlotsInUse { .. }
        | RouteError::UnknownModel { .. }
        | RouteError::RateLimited { .. }
        | RouteError::OverRpm
        | RouteError::PromptTooLong
        | RouteError::BudgetSpent
        | RouteError::NoMatchingTags
        | RouteError::QueueTimeout => error,
    }
}
