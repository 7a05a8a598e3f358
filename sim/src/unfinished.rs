//! What the engine keeps of a request that has no answer yet.

use std::time::Duration;

use mock_providers::{Beginning, ProviderCall, Reply};
use router::{Attempt, DeploymentId, Instant, Outcome, Parked, RequestId, Wait};

/// A request that has no answer yet.
pub(crate) struct Unfinished {
    /// What the provider is told of it, as of its latest attempt.
    pub(crate) call: ProviderCall,
    /// The router instance that it went to.
    pub(crate) instance: usize,
    /// How its latest attempt ends, which is known from the attempt's beginning.
    pub(crate) outcome: Outcome,
    /// Whether that end is the caller's giving up.
    pub(crate) given_up: bool,
    pub(crate) state: State,
}

/// What an unfinished request waits for.
pub(crate) enum State {
    /// The router is being asked, or the place is free.
    Deciding,
    /// Nothing: the router has dropped it, and the event that it waited for is still to pass.
    Dropped,
    /// A slot.
    Parked(Parked),
    /// The end of an attempt.
    Sent(Attempt),
    /// The first token of an attempt, of which the router wants to know.
    Streaming { attempt: Attempt, ends_at: Instant },
    /// A moment.
    Waiting(Wait),
}

impl Unfinished {
    /// A place for one.
    pub(crate) fn free() -> Self {
        Self {
            call: ProviderCall {
                request: RequestId(0),
                attempt: 0,
                deployment: DeploymentId(0),
                prompt_tokens: 0,
                output_tokens: 0,
                max_tokens: None,
                stream: false,
                beginning: Beginning::default(),
                batch: false,
            },
            instance: 0,
            outcome: Reply::hang().outcome,
            given_up: false,
            state: State::Deciding,
        }
    }

    /// When the first token comes, counted from the sending, if one does.
    pub(crate) const fn first_token_after(&self) -> Option<Duration> {
        match &self.outcome {
            Outcome::Success {
                first_token_after, ..
            } => *first_token_after,
            Outcome::Failure(failure) => failure.first_token_after,
        }
    }
}
