//! What the engine keeps of a request that has no answer yet.

use std::time::Duration;

use mock_providers::ProviderCall;
use router::{Attempt, Instant, Outcome, Parked, Wait};

/// A request that has no answer yet.
pub(crate) struct Unfinished {
    /// What the provider is told of it, as of its latest attempt.
    pub(crate) call: ProviderCall,
    /// The router instance that it went to.
    pub(crate) instance: usize,
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
    Sent(Sent),
    /// The first token of an attempt, of which the router wants to know.
    Streaming { sent: Sent, ends_at: Instant },
    /// A moment.
    Waiting(Wait),
}

/// An attempt under way. How it ends is known from its beginning.
pub(crate) struct Sent {
    pub(crate) attempt: Attempt,
    pub(crate) outcome: Outcome,
    /// Whether the end is the caller's giving up.
    pub(crate) given_up: bool,
}

impl Sent {
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
