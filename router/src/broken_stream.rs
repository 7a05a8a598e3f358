//! What becomes of a stream that breaks after the answer began. (semantics 6.8, FACTS)
//!
//! 1.110: before the first token it is an ordinary failed attempt; after it the error surfaces at
//! once, because text that was delivered is never generated again.
//!
//! 1.92: a connection that is cut off looks like a short answer. Everything else that breaks a
//! stream, tokens or not, goes straight to the fallbacks of the group that was streaming: the caller
//! has its response object already, so the walks that led there are over and what the request said
//! about fallbacks and retries is forgotten.

use crate::{
    in_flight::RequestState,
    ladder::Next,
    observe::Observer,
    outcome::{ErrorClass, Failure, Outcome, StreamBreak, Usage},
    profile::Profile,
    request::DeploymentId,
    router::Router,
    step::{RouteError, Ticket},
    time::Instant,
};

impl Failure {
    /// Whether the ladder has nothing to say about it: no retry, no re-pick.
    pub(crate) const fn leaves_the_ladder(&self, profile: &Profile) -> bool {
        self.broke.is_some() && (self.is_mid_stream() || !profile.mid_stream_surfaces)
    }
}

impl RequestState {
    /// An outcome as the client library reports it: in 1.92 a stream that is cut off is a short
    /// answer.
    pub(crate) fn as_the_client_sees(&self, outcome: &Outcome, profile: &Profile) -> Outcome {
        match outcome {
            Outcome::Failure(failure)
                if profile.truncated_streams_succeed && failure.broke == Some(StreamBreak::Cut) =>
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
    /// A stream broke. 1.110 lets it surface; 1.92 goes straight to the fallbacks, but for errors
    /// of the request. Neither retries in the group.
    pub(crate) fn after_broken_stream(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        failure: Failure,
        obs: &mut impl Observer,
    ) -> Next {
        let silent = failure.broke == Some(StreamBreak::Silence);
        let of_request = !silent && matches!(failure.status, Some(400..=428 | 430..=499));
        if self.config.profile.mid_stream_surfaces || of_request {
            return Next::Fail(RouteError::Attempt {
                deployment,
                failure,
            });
        }
        let state = self.requests.get(ticket);
        state.after_break = true;
        state.own_fallbacks = None;
        state.walks.clear();
        state.excluded.clear();
        state.hop.failed = None;
        let class = match silent {
            true => ErrorClass::ApiConnection,
            false => failure.class,
        };
        let failure = Failure {
            class,
            status: class.status(),
            ..failure
        };
        let error = RouteError::Attempt {
            deployment,
            failure,
        };
        self.fall_back(now, ticket, error, obs)
    }
}
