//! Whose behaviour the router follows. Where two versions of LiteLLM differ, the difference is a
//! named field here, never a comparison of versions in the code. (semantics, "1.110 differs")

use serde::{Deserialize, Serialize};

/// The named differences between reference behaviours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// What it is called in files and reports.
    pub name: ProfileName,
    /// Which weights simple-shuffle looks at to choose its metric (3.1).
    pub shuffle_metric: ShuffleMetric,
    /// What happens when all slots of `max_parallel_requests` are in use (7).
    pub when_slots_full: WhenSlotsFull,
    /// Whether a streamed attempt holds its slot until it ends, not only until it begins (7).
    pub streams_hold_slot: bool,
    /// How least-busy counts and breaks ties (3.2).
    pub least_busy: LeastBusyRules,
    /// Whether time to the first token is divided by the tokens of the answer (3.3).
    pub first_token_per_output_token: bool,
    /// Whether answers without output tokens give a real latency sample, not a zero (3.3).
    pub latency_of_empty_answers: bool,
    /// Whether an explicit `allowed_fails` counts even if it equals the library's (4.4).
    pub explicit_allowed_fails_counts: bool,
    /// Whether a lone deployment without fallbacks is spared by `allowed_fails` (4.4).
    pub allowed_fails_spares_lone: bool,
    /// Whether a zero in `allowed_fails_policy` is a threshold and not "unset" (4.4).
    pub allowed_fails_policy_zero_counts: bool,
    /// Whether policies know the 5xx and 404 classes and `DefaultRetries` (4.4, 5.3).
    pub policies_know_all_classes: bool,
    /// Whether `model_info` may hold `allowed_fails`, its policy and `cooldown_time` (1.3).
    pub model_info_cooldown_settings: bool,
    /// Whether 402 cools at once where there are alternatives (4.2).
    pub cools_payment_required: bool,
    /// Whether the caller's `num_retries` beats the deployment's and the library's (5.2).
    pub callers_num_retries_first: bool,
    /// Whether the caller's `num_retries: 0` opts out of retry policies (5.2).
    pub callers_zero_beats_policy: bool,
    /// Whether a request tries each fallback target once at most (6.3).
    pub fallback_targets_once: bool,
    /// Whether a group that was reached by an entry of its own goes on to the `*` list (6.3).
    pub wildcard_fallbacks_after_specific: bool,
    /// Whether context-window errors without an entry in their own list go on to the generic
    /// fallbacks; content-policy errors never do (6.2, `fallback-content-policy-other-group`).
    pub context_window_reaches_generic: bool,
    /// Whether order tiers are tried on context-window errors (6.2).
    pub order_tiers_on_context_window: bool,
    /// Whether a failing order tier's pin leaks into the fallback group after it (Q43).
    pub order_pin_leaks: bool,
    /// The status of `RouterRateLimitError` (4.7).
    pub no_deployments_status: Option<u16>,
    /// Whether a stream that fails before its first token is an ordinary failed attempt, and one
    /// that fails after it surfaces at once (6.8).
    pub mid_stream_surfaces: bool,
    /// Whether a failure inside a stream can bench its deployment (4.2, table; observed).
    pub broken_streams_cool: bool,
    /// Whether a stream that ends before its last chunk counts as a short answer (6.8, Q35).
    pub truncated_streams_succeed: bool,
    /// Whether a deployment's `num_retries` and a request's `max_retries` are also given to the
    /// provider's client library, which then retries inside each attempt (Q1).
    pub client_retries_too: bool,
    /// Whether a name that is both a group's and a deployment's id means the group (observed).
    pub group_name_beats_id: bool,
    /// Whether the phrases that decide an error's class are sought in its whole body, type and code
    /// too, and not only in its message (13, observed).
    pub error_text_is_whole_body: bool,
    /// Whether a 403 is retried on another deployment where there is one (observed).
    pub forbidden_moves_on: bool,
}

/// The name of a profile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum ProfileName {
    /// LiteLLM 1.92.0.
    #[serde(rename = "litellm-1.92")]
    Litellm192,
    /// LiteLLM 1.110.2.
    #[default]
    #[serde(rename = "litellm-1.110")]
    Litellm1110,
    /// What LiteLLM means to do, without its faults.
    #[serde(rename = "corrected")]
    Corrected,
}

impl ProfileName {
    /// Every profile.
    pub const ALL: [Self; 3] = [Self::Litellm192, Self::Litellm1110, Self::Corrected];

    /// As written in files and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Litellm192 => "litellm-1.92",
            Self::Litellm1110 => "litellm-1.110",
            Self::Corrected => "corrected",
        }
    }

    /// The profile of this name.
    #[must_use]
    pub const fn profile(self) -> Profile {
        match self {
            Self::Litellm192 => Profile::litellm_1_92(),
            Self::Litellm1110 => Profile::litellm_1_110(),
            Self::Corrected => Profile::corrected(),
        }
    }
}

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
    /// Only candidates are compared; a pick counts from the moment it is made.
    PerCandidate,
    /// One dictionary for a group, forgotten after 600 s; the least of all its members is sought
    /// and, if that one is no candidate, a candidate is drawn; a pick counts once it is sent.
    SharedDictionary,
}

impl Profile {
    /// LiteLLM 1.110.2.
    #[must_use]
    pub const fn litellm_1_110() -> Self {
        Self {
            name: ProfileName::Litellm1110,
            shuffle_metric: ShuffleMetric::AnyCandidate,
            when_slots_full: WhenSlotsFull::Reject,
            streams_hold_slot: true,
            least_busy: LeastBusyRules::PerCandidate,
            first_token_per_output_token: false,
            latency_of_empty_answers: true,
            explicit_allowed_fails_counts: true,
            allowed_fails_spares_lone: true,
            allowed_fails_policy_zero_counts: true,
            policies_know_all_classes: true,
            model_info_cooldown_settings: true,
            cools_payment_required: true,
            callers_num_retries_first: true,
            callers_zero_beats_policy: true,
            fallback_targets_once: true,
            wildcard_fallbacks_after_specific: false,
            context_window_reaches_generic: true,
            order_tiers_on_context_window: true,
            order_pin_leaks: false,
            no_deployments_status: Some(429),
            mid_stream_surfaces: true,
            broken_streams_cool: true,
            truncated_streams_succeed: false,
            client_retries_too: false,
            group_name_beats_id: true,
            error_text_is_whole_body: false,
            forbidden_moves_on: true,
        }
    }

    /// LiteLLM 1.92.0.
    #[must_use]
    pub const fn litellm_1_92() -> Self {
        Self {
            name: ProfileName::Litellm192,
            shuffle_metric: ShuffleMetric::FirstCandidate,
            when_slots_full: WhenSlotsFull::Queue,
            streams_hold_slot: false,
            least_busy: LeastBusyRules::SharedDictionary,
            first_token_per_output_token: true,
            latency_of_empty_answers: false,
            explicit_allowed_fails_counts: false,
            allowed_fails_spares_lone: false,
            allowed_fails_policy_zero_counts: false,
            policies_know_all_classes: false,
            model_info_cooldown_settings: false,
            cools_payment_required: false,
            callers_num_retries_first: false,
            callers_zero_beats_policy: false,
            fallback_targets_once: false,
            wildcard_fallbacks_after_specific: true,
            context_window_reaches_generic: false,
            order_tiers_on_context_window: false,
            order_pin_leaks: true,
            no_deployments_status: None,
            mid_stream_surfaces: false,
            broken_streams_cool: false,
            truncated_streams_succeed: true,
            client_retries_too: true,
            group_name_beats_id: false,
            error_text_is_whole_body: true,
            forbidden_moves_on: false,
        }
    }
}

impl Profile {
    /// LiteLLM's intent without its faults: 1.110.2, but for the fields below, each of which
    /// answers a report of operators.
    #[must_use]
    pub const fn corrected() -> Self {
        Self {
            name: ProfileName::Corrected,
            ..Self::litellm_1_110()
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::litellm_1_110()
    }
}
