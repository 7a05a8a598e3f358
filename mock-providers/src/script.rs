//! Replies given one by one, for tests that need exactly this failure on exactly that attempt.

use std::collections::BTreeMap;

use router::Instant;

use crate::reply::{ProviderCall, Reply};

/// A provider that answers by a list: one reply for all calls, others for calls by number.
///
/// ```
/// use std::time::Duration;
/// use mock_providers::{Reply, Script};
/// use router::{Failure, Usage};
///
/// let well = Reply::success(Usage::default(), Duration::from_millis(200));
/// let down = Reply::failure(Failure::with_status(503), Duration::from_millis(5));
/// let mut script = Script::always(well).on_call(0, down).on_call(2, down);
/// # let call = mock_providers::ProviderCall { request: router::RequestId(0), attempt: 0,
/// #     deployment: router::DeploymentId(0), prompt_tokens: 1, output_tokens: 1, max_tokens: None,
/// #     stream: false, beginning: Default::default(), batch: false };
/// # let at = router::Instant::ZERO;
/// let replies = [(); 4].map(|()| script.respond(at, &call));
/// assert_eq!(replies, [down, well, down, well]);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    otherwise: Reply,
    by_call: BTreeMap<u64, Reply>,
    heard: Vec<(Instant, ProviderCall)>,
}

impl Script {
    /// Answers every call alike.
    #[must_use]
    pub const fn always(reply: Reply) -> Self {
        Self {
            otherwise: reply,
            by_call: BTreeMap::new(),
            heard: Vec::new(),
        }
    }

    /// Answers call `number` (from 0, in the order of calls) with `reply`.
    #[must_use]
    pub fn on_call(mut self, number: u64, reply: Reply) -> Self {
        self.by_call.insert(number, reply);
        self
    }

    /// Answers the first calls with these replies, in their order.
    #[must_use]
    pub fn starting_with(self, replies: impl IntoIterator<Item = Reply>) -> Self {
        replies
            .into_iter()
            .zip(0..)
            .fold(self, |script, (reply, number)| {
                script.on_call(number, reply)
            })
    }

    /// What the next call gets; the call is remembered.
    pub fn respond(&mut self, at: Instant, call: &ProviderCall) -> Reply {
        let number = self.heard.len() as u64;
        self.heard.push((at, *call));
        self.by_call.get(&number).copied().unwrap_or(self.otherwise)
    }

    /// The calls so far, with the moment of each.
    #[must_use]
    pub fn heard(&self) -> &[(Instant, ProviderCall)] {
        &self.heard
    }
}
