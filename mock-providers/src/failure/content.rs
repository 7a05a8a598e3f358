//! The provider refuses what was asked: some contents by its policy, and prompts that are too long.
//!
//! Whether a content offends depends on the request and not on the attempt: a retry says the same
//! again. Providers with the same share refuse the same requests, a stricter one those and more.

use router::{ErrorClass, Failure, Instant, Purpose};

use super::{Denial, Fault, Site, Verdict, keys::fault_spec};
use crate::{
    error::SpecError,
    latency::span,
    luck::Luck,
    reply::ProviderCall,
    schedule::{Schedule, Span},
};

fault_spec! {
    /// Refuses requests with 400 for what they say or for their length. At least one of the two
    /// limits is given.
    pub struct Content: scheduled {
        /// The share of requests whose content is refused, from 0 to 1. Default: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub policy_share: Option<f64>,
        /// The most tokens that prompt and `max_tokens` may have together, from 1. Default: no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub context_window_tokens: Option<u64>,
        /// How long a refusal takes, in milliseconds. Default 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after_ms: Option<f64>,
    }
}

impl Content {
    pub(super) fn build(&self, site: &Site) -> Result<Box<dyn Fault>, SpecError> {
        let place = &site.place;
        if self.policy_share.is_none() && self.context_window_tokens.is_none() {
            let accepted = "policy_share, context_window_tokens or both";
            return Err(place.bad_keys("neither", accepted));
        }
        let after = span(place.not_negative("after_ms", self.after_ms.unwrap_or_default())?);
        let most_tokens = match self.context_window_tokens {
            Some(most) => place.count("context_window_tokens", most)?,
            None => u64::MAX,
        };
        Ok(Box::new(Refusing {
            schedule: self.timing().schedule(place, site.keys(SPANS))?,
            policy_share: place.share("policy_share", self.policy_share.unwrap_or_default())?,
            most_tokens,
            policy: Denial::error(Failure::of(ErrorClass::ContentPolicyViolation), after),
            length: Denial::error(Failure::of(ErrorClass::ContextWindowExceeded), after),
            ordinal: site.ordinal,
        }))
    }
}

#[derive(Debug)]
struct Refusing {
    schedule: Schedule,
    policy_share: f64,
    most_tokens: u64,
    policy: Denial,
    length: Denial,
    ordinal: u32,
}

impl Fault for Refusing {
    fn kind(&self) -> &'static str {
        "content"
    }

    fn on_call(&mut self, at: Instant, call: &ProviderCall, luck: &Luck) -> Verdict {
        if !self.schedule.is_on(at) {
            return Verdict::Pass;
        }
        let asked = u64::from(call.prompt_tokens) + u64::from(call.max_tokens.unwrap_or_default());
        if asked > self.most_tokens {
            return Verdict::Fail(self.length);
        }
        if luck
            .with_fault(self.ordinal)
            .draws_of_request(OFFENDS)
            .unit()
            < self.policy_share
        {
            return Verdict::Fail(self.policy);
        }
        Verdict::Pass
    }

    fn spans(&self, until: Instant) -> Vec<Span> {
        self.schedule.spans(until)
    }
}

const SPANS: Purpose = Purpose::named("mock-providers.content.spans");
const OFFENDS: Purpose = Purpose::named("mock-providers.content.offends");
