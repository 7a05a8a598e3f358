//! What the profile `corrected` does otherwise than LiteLLM: one field a difference, each with the
//! bug report that it answers. Both profiles of LiteLLM have [`Corrections::NONE`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The differences between `corrected` and LiteLLM. BR-xxx are the reports that
/// `tests/bug_reports` plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a list of independent differences, each of which is there or not"
)]
pub struct Corrections {
    /// A connection that failed counts like a server error, whatever the exception is called. One
    /// that was never tried, for a fault of the request, does not (BR-001).
    pub connection_errors_count: bool,
    /// A class that the router's `allowed_fails_policy` names can bench, bad requests included:
    /// every field takes effect (BR-002).
    pub policies_open_the_gate: bool,
    /// Each class that the router's `allowed_fails_policy` names is counted by itself (BR-002).
    pub policies_count_each_class: bool,
    /// A deployment without credit is out until its provider says, else for this long: an hour, our
    /// choice. One that has no alternative, in its group or by a fallback, stays (BR-005).
    pub no_credit_benches_for: Option<Duration>,
    /// A dead key, an empty account and an unknown model are left for another deployment of the
    /// group at once. That takes no retry and no wait, tries each deployment once, and ends with
    /// the last error. An allowance of no retries forbids it (BR-005, BR-010, BR-025).
    pub moves_on_from_dead_deployments: bool,
    /// Who refused this request is passed over before the order tier is chosen, so that a tier that
    /// refused whole is left for the next (BR-025, BR-030).
    pub failed_tiers_are_left: bool,
    /// A timeout by the caller's own limit is charged to nobody, if the operator's is longer
    /// (BR-006).
    pub callers_timeouts_are_theirs: bool,
    /// A bad request counts as a success of the deployment that found it out (BR-009).
    pub bad_requests_are_no_failures: bool,
    /// A full queue is neither a failure nor a success. A plain 429 or 503 is no full queue: the
    /// provider must say so (BR-009).
    pub backpressure_is_no_failure: bool,
    /// A 404 for an object counts as a success; the 404 for a model benches as before (BR-010).
    pub missing_objects_are_no_failures: bool,
    /// What the router refuses by itself (a reservation over its limit) is charged to no deployment,
    /// and another one is tried at once (BR-011).
    pub own_refusals_are_no_failures: bool,
    /// Limits on requests and tokens a minute, of usage-based-routing in both versions and of
    /// `enforce_model_rate_limits`, let through what fits, and no less; whoever chooses and whoever
    /// enforces see the same numbers; a request and its estimated tokens are reserved at admission
    /// and settled in the end, or given back if nothing was sent. A refusal says when it would fit
    /// (BR-036, BR-037).
    pub usage_is_reserved: bool,
    /// The default rules bench a lone deployment for nothing but a thousand failures out of a
    /// thousand: not for 401 and 404 either. Lone is one that was configured alone, not one whose
    /// siblings are out (BR-012).
    pub lone_deployments_are_spared: bool,
    /// The later of two ends of a cooldown counts. A later hint that is shorter does not shorten it,
    /// our choice (BR-013).
    pub longer_cooldown_wins: bool,
    /// Wait times are read from the body too, from `retry-after-ms`, and dates to the moment. Zero,
    /// like what makes no sense, means the usual cooldown, our choice (BR-018).
    pub reads_every_hint: bool,
    /// "Try again in" is the time until the first member returns, of all groups that were tried, or
    /// until the minute of a limit ends, in whole seconds, rounded up (BR-019, BR-032).
    pub hint_is_time_left: bool,
    /// `model_info.cooldown_probe_after` is obeyed (BR-015).
    pub probes_long_cooldowns: bool,
    /// A failure that is the request's own fault (a plain 400 or 422, a missing object, one found
    /// before any network activity) is neither retried nor walks fallbacks: every other group would
    /// refuse it too (BR-010, BR-028, BR-033).
    pub faulty_requests_stay: bool,
    /// The code of an error (`context_length_exceeded`, `content_policy_violation`) tells its kind,
    /// whatever its words are (BR-033).
    pub codes_tell_the_kind: bool,
    /// `enable_pre_call_checks` looks at every call, embeddings included (BR-033).
    pub every_call_is_checked: bool,
    /// A name that is an alias is its target from the door on, for retries, fallbacks and
    /// strategies alike. An alias that `fallbacks`, `model_group_retry_policy` or a routing group
    /// names itself keeps its own rules, all of them: our choice (BR-031).
    pub aliases_are_resolved_first: bool,
    /// Only the router retries: the provider's client library does not, embeddings included
    /// (BR-020).
    pub one_owner_of_retries: bool,
    /// `model_info.quota_group` is obeyed: who shares a quota counts as one (BR-021).
    pub shared_quotas: bool,
    /// A retry policy's number for server errors holds for every 5xx that has none of its own
    /// (BR-024).
    pub server_policies_cover_5xx: bool,
    /// A hint of up to 60 s is waited for exactly, where there is nobody else to go to and the
    /// request's time limit allows it; after a longer one there is no retry here. Nor is there a
    /// wait after the last retry. Where there is a fallback too, the wait comes first, as in
    /// LiteLLM, our choice (BR-021, BR-026).
    pub hints_are_obeyed: bool,
}

impl Corrections {
    /// LiteLLM as it is.
    pub const NONE: Self = Self {
        connection_errors_count: false,
        policies_open_the_gate: false,
        policies_count_each_class: false,
        no_credit_benches_for: None,
        moves_on_from_dead_deployments: false,
        failed_tiers_are_left: false,
        callers_timeouts_are_theirs: false,
        bad_requests_are_no_failures: false,
        backpressure_is_no_failure: false,
        missing_objects_are_no_failures: false,
        own_refusals_are_no_failures: false,
        usage_is_reserved: false,
        lone_deployments_are_spared: false,
        longer_cooldown_wins: false,
        reads_every_hint: false,
        hint_is_time_left: false,
        probes_long_cooldowns: false,
        faulty_requests_stay: false,
        codes_tell_the_kind: false,
        every_call_is_checked: false,
        aliases_are_resolved_first: false,
        one_owner_of_retries: false,
        shared_quotas: false,
        server_policies_cover_5xx: false,
        hints_are_obeyed: false,
    };

    /// LiteLLM as it is meant to be.
    pub const ALL: Self = Self {
        connection_errors_count: true,
        policies_open_the_gate: true,
        policies_count_each_class: true,
        no_credit_benches_for: Some(Duration::from_secs(3_600)),
        moves_on_from_dead_deployments: true,
        failed_tiers_are_left: true,
        callers_timeouts_are_theirs: true,
        bad_requests_are_no_failures: true,
        backpressure_is_no_failure: true,
        missing_objects_are_no_failures: true,
        own_refusals_are_no_failures: true,
        usage_is_reserved: true,
        lone_deployments_are_spared: true,
        longer_cooldown_wins: true,
        reads_every_hint: true,
        hint_is_time_left: true,
        probes_long_cooldowns: true,
        faulty_requests_stay: true,
        codes_tell_the_kind: true,
        every_call_is_checked: true,
        aliases_are_resolved_first: true,
        one_owner_of_retries: true,
        shared_quotas: true,
        server_policies_cover_5xx: true,
        hints_are_obeyed: true,
    };
}
