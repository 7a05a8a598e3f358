//! What becomes of a stream that breaks after its answer began. (semantics 6.8; BR-048, BR-050)
//!
//! The versions differ in all of it. 1.92 gives an answer out with its headers: from then on an
//! error goes straight to the fallbacks, whatever was delivered, and a connection that is cut off
//! looks like a short answer. 1.110 gives it out with its first frame; content that was delivered
//! is never generated again. Both know an error inside a stream by its text alone, since it has no
//! status. `corrected` treats whatever comes before the first content as the error that it is.
//!
//! An answer that was given out ends the walks that led to it: 1.92 falls back from the group that
//! was streaming, by the router's own lists, and forgets what the request said about fallbacks and
//! retries. (FACTS 45)

use crate::{
    in_flight::RequestState,
    ladder::Next,
    observe::Observer,
    outcome::{ErrorClass, Failure, Outcome, Reached, Usage},
    profile::Profile,
    request::DeploymentId,
    route_error::RouteError,
    router::Router,
    step::Ticket,
    time::Instant,
};

impl RequestState {
    /// An outcome as the client library reports it, where that is another.
    #[inline]
    pub(crate) fn as_the_client_sees(
        &self,
        outcome: &Outcome,
        profile: &Profile,
    ) -> Option<Outcome> {
        let Outcome::Failure(failure) = outcome else {
            return None;
        };
        if !self.request.stream || failure.reached() == Reached::Nothing {
            return None;
        }
        let cut = failure.class == ErrorClass::ApiConnection && failure.status.is_some();
        if profile.truncated_streams_succeed && cut {
            return Some(Outcome::Success {
                usage: Usage::new(self.request.prompt_tokens, failure.tokens_delivered),
                first_token_after: failure.first_token_after,
            });
        }
        Some(Outcome::Failure(as_known_by_its_text(*failure, profile)))
    }
}

/// An error inside a stream: what its text does not tell is a connection error. Where it has no
/// status, its class was read from its text already.
fn as_known_by_its_text(failure: Failure, profile: &Profile) -> Failure {
    if profile.stream_errors_keep_class {
        return failure;
    }
    let known = match failure.class {
        _ if failure.status.is_none() => true,
        ErrorClass::RateLimit
        | ErrorClass::ContextWindowExceeded
        | ErrorClass::ContentPolicyViolation => true,
        ErrorClass::Timeout => profile.stream_timeouts_surface,
        ErrorClass::ApiConnection
        | ErrorClass::Api
        | ErrorClass::Authentication
        | ErrorClass::BadGateway
        | ErrorClass::BadRequest
        | ErrorClass::InternalServer
        | ErrorClass::NotFound
        | ErrorClass::ServiceUnavailable => false,
    };
    let class = if known {
        failure.class
    } else {
        ErrorClass::ApiConnection
    };
    Failure {
        class,
        status: class.status(),
        retry_after: None,
        ..failure
    }
}

impl Router {
    /// A stream broke that the caller had been given already.
    pub(crate) fn after_broken_stream(
        &mut self,
        now: Instant,
        ticket: Ticket,
        failure: &Failure,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> Next {
        let profile = &self.config.profile;
        let timed_out = failure.class == ErrorClass::Timeout;
        let surfaces = (profile.mid_stream_surfaces && failure.is_mid_stream())
            || (profile.stream_timeouts_surface && timed_out)
            || (profile.stream_client_errors_surface
                && matches!(failure.status, Some(400..=428 | 430..=499)));
        let error = RouteError::Attempt {
            deployment,
            failure: *failure,
        };
        if surfaces {
            return Next::Fail(error);
        }
        let state = self.requests.get(ticket);
        let rare = &mut *state.rare;
        rare.after_break = true;
        rare.own = None;
        rare.walks.clear();
        rare.excluded.clear();
        // Weighted failover knows nobody to exclude.
        state.hop.failed = None;
        self.fall_back(now, ticket, error, obs)
    }
}
