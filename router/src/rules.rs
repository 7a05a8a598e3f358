//! The choices of a [`Profile`](crate::Profile) that are more than yes or no.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How simple-shuffle chooses between `weight`, `rpm` and `tpm`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ShuffleMetric {
    /// The first metric that any candidate sets above zero.
    AnyCandidate,
    /// The first metric that the first candidate sets.
    FirstCandidate,
}

/// What happens to an attempt that finds all slots in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WhenSlotsFull {
    /// It waits, first come first served, without a bound.
    Queue,
    /// It fails at once with 429.
    Reject,
}

/// How least-busy counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LeastBusyRules {
    /// What is really in flight: raised and lowered by the same attempt on every way out, never
    /// forgotten, whatever the group; equals share by chance (BR-044).
    InFlight,
    /// Only candidates are compared; a pick counts from the moment it is made.
    PerCandidate,
    /// One dictionary for a group, forgotten after 600 s; the least of all its members is sought
    /// and, if that one is no candidate, a candidate is drawn; a pick counts once it is sent.
    SharedDictionary,
}

/// When a pin does not bind although its deployment is neither benched nor paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PinsYield {
    /// It always binds, so that nobody may be left once the later filters were asked (BR-053).
    Never,
    /// Where the request already excludes its deployment: by weighted failover, a refusal, or the
    /// order tier that is asked for.
    ToExclusions,
    /// Also where a budget, a check, a tag or the router's own limits exclude it: a pin is a preference
    /// among those left (BR-053).
    ToEverything,
}

/// What instances learn of each other through a shared store, and how old it may be. Without a store
/// each knows itself only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SharingRules {
    /// How long an instance goes by what it last read of a deployment's cooldown. (0, 12; FACTS R1)
    pub cooldowns_reread_after: Duration,
    /// How long a cooldown of another instance is kept once it was read, whatever was left of it;
    /// `None`: to its end (12; FACTS R1).
    pub cooldowns_kept_for: Option<Duration>,
    /// Whether the failures that `allowed_fails` lets pass are counted over all instances (4.4;
    /// observed).
    pub allowed_fails: bool,
    /// Whether `enforce_model_rate_limits` holds the tokens of all instances against `tpm`, and not
    /// those of its own only (8.4; FACTS R3).
    pub enforced_tokens: bool,
}

impl SharingRules {
    /// LiteLLM 1.92.0.
    pub const LITELLM_1_92: Self = Self {
        cooldowns_reread_after: Duration::from_secs(10),
        cooldowns_kept_for: Some(Duration::from_secs(600)),
        allowed_fails: false,
        enforced_tokens: false,
    };

    /// LiteLLM 1.110.2.
    pub const LITELLM_1_110: Self = Self {
        cooldowns_reread_after: Duration::from_secs(1),
        cooldowns_kept_for: None,
        allowed_fails: true,
        enforced_tokens: true,
    };
}
