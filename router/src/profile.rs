//! Whose behaviour the router follows. Where two versions of LiteLLM differ, the difference is a
//! named field here, never a comparison of versions in the code. (semantics, "1.110 differs")

use serde::{Deserialize, Serialize};

use crate::{
    corrections::Corrections,
    outcome::Reached,
    price::PricingRules,
    rules::{LeastBusyRules, PinsYield, SharingRules, ShuffleMetric, WhenSlotsFull},
};

/// The named differences between reference behaviours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// What it is called in files and reports.
    pub name: ProfileName,
    /// What `corrected` does otherwise than both versions.
    pub corrections: Corrections,
    /// Which weights simple-shuffle looks at to choose its metric (3.1).
    pub shuffle_metric: ShuffleMetric,
    /// What happens when all slots of `max_parallel_requests` are in use (7). Corrected: the excess
    /// waits, and is not refused (BR-046).
    pub when_slots_full: WhenSlotsFull,
    /// Whether a streamed attempt holds its slot until it ends, not only until it begins (7).
    pub streams_hold_slot: bool,
    /// How least-busy counts and breaks ties (3.2).
    pub least_busy: LeastBusyRules,
    /// Whether `usage-based-routing` as the router's own strategy has every pick made by the blocking
    /// path: no tags, no affinity, no budgets, and no cost-based routing (2.3 step 0, Q28).
    pub usage_v1_picks_as_blocking: bool,
    /// Whether the blocking path reads a strategy's counts under the target of an alias, although
    /// they are written under the alias (Q27).
    pub blocking_reads_alias_target: bool,
    /// Whether latency- and cost-based routing keep their minutes under one key, so that with both
    /// in use each request counts twice (3.6, Q13).
    pub cost_shares_latency_map: bool,
    /// Whether latency-based routing knows `ttft_percentile` (3.3).
    pub knows_ttft_percentile: bool,
    /// Whether cost-based routing counts answers without tokens (3.6; 1.110 observed).
    pub cost_counts_empty_answers: bool,
    /// Whether a strategy that `update_settings` replaced is still told of the attempts that follow,
    /// so that it knows of them when it is chosen again (observed).
    pub replaced_strategies_keep_counting: bool,
    /// Whether a request that `enforce_model_rate_limits` refused for its rpm stays counted (8.4).
    pub refused_requests_count: bool,
    /// Whether a request goes on when its caller hangs up, with its retries and fallbacks, until it has
    /// something to stream (observed of the proxy). Else the call upstream ends with the caller's.
    pub requests_outlive_callers: bool,
    /// Whether all choices of `usage-based-routing-v2` in one instant come before any of their
    /// reservations (observed: 3 of 8 simultaneous requests pass an rpm of 3, not 2).
    pub reserves_after_the_instant: bool,
    /// Whether a routing group can be called by its own name (1.8).
    pub routing_groups_callable: bool,
    /// Whether a routing group governs the names of its deployments, however they are found, and not
    /// the names that are asked for: it then governs aliases and names that the first default
    /// fallback stands in for, but none that only a pattern matches (1.6; observed).
    pub routing_groups_govern_model_names: bool,
    /// Whether a routing group may name a model twice (observed).
    pub routing_group_may_repeat_models: bool,
    /// Whether a routing group may have the strategy `priority` (1.8).
    pub knows_priority_strategy: bool,
    /// Whether time to the first token is divided by the tokens of the answer (3.3).
    pub first_token_per_output_token: bool,
    /// Whether answers without output tokens give a real latency sample, not a zero (3.3).
    pub latency_of_empty_answers: bool,
    /// Whether the zero that stands in for a deployment without samples stays among its samples
    /// (3.3, quirk Q14); else it is gone with the first (BR-042).
    pub latency_placeholder_is_a_sample: bool,
    /// Whether streams are ranked by their times to the first token alone, and one without any is
    /// unmeasured; else its other latency stands in (3.3; BR-041).
    pub streams_ranked_by_first_token_alone: bool,
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
    /// Whether `allowed_model_region` holds for embeddings too, with `enable_pre_call_checks` (2.3.9;
    /// observed).
    pub embeddings_keep_to_regions: bool,
    /// Whether a call by a deployment's id is refused where its tags do not lead there (2.3; observed).
    pub tags_hold_for_ids: bool,
    /// Whether a group that a generic list led to takes over the special lists of the group before it,
    /// where it has none of its own (6.2; observed).
    pub special_lists_are_inherited: bool,
    /// Whether `cooldown_time` in `default_litellm_params` counts for failures before an answer; for
    /// those inside a stream it always does (observed).
    pub default_params_cool: bool,
    /// Whether the failures that `num_retries_per_request` counts are those of all requests, of which
    /// the last four are kept, not the request's own (5.6; observed).
    pub failures_of_all_requests: bool,
    /// Whether 402 cools at once where there are alternatives (4.2).
    pub cools_payment_required: bool,
    /// Whether the caller's `num_retries` beats the deployment's and the library's (5.2).
    pub callers_num_retries_first: bool,
    /// Whether a blocking call that fails takes the library's `num_retries` out of force for the calls
    /// after it (observed).
    pub blocking_failures_forget_retries: bool,
    /// Whether the caller's `num_retries: 0` opts out of retry policies (5.2).
    pub callers_zero_beats_policy: bool,
    /// Whether a request tries each fallback target once at most (6.3).
    pub fallback_targets_once: bool,
    /// Whether a group without a generic list of its own goes on along the list that led to it, before
    /// the list for every name (6.3, `order-dead-*`).
    pub fallback_lists_are_inherited: bool,
    /// Whether context-window errors without an entry in their own list go on to the generic
    /// fallbacks; content-policy errors never do (6.2, `fallback-content-policy-other-group`).
    pub context_window_reaches_generic: bool,
    /// Whether order tiers are tried on context-window errors (6.2).
    pub order_tiers_on_context_window: bool,
    /// Whether a context-window error goes to its own list before order tiers and the names that the
    /// request brought along (`fallback-context-window-first-list*`).
    pub context_window_list_first: bool,
    /// Whether an error of another kind in the walk of a special list gives the generic list its turn
    /// before the rest of the special one (`fallback-co*-then-*`, `-500-*`).
    pub special_lists_turn: bool,
    /// Whether a call by id refuses a deployment that weighted failover had already
    /// (`fallback-to-own-deployment-id-weighted`).
    pub exclusion_holds_for_ids: bool,
    /// Whether a failing order tier's pin leaks into the fallback group after it (Q43).
    pub order_pin_leaks: bool,
    /// Whether the hop of an order tier of which nobody is left ends, and does not take the other
    /// tiers' deployments (6.6, observed).
    pub order_pin_is_strict: bool,
    /// Whether weighted failover holds for embeddings (6.7, `weighted-failover-embedding-*`).
    pub embeddings_fail_over: bool,
    /// Whether `update_settings` also takes content-policy fallbacks, tag filtering, pre-call checks
    /// and the arguments of the same strategy (1.9, `runtime-update-*`).
    pub more_settings_change: bool,
    /// The status of `RouterRateLimitError` (4.7).
    pub no_deployments_status: Option<u16>,
    /// From where on a stream that fails is no ordinary failed attempt: it is not retried, and goes
    /// straight to the fallbacks, unless it surfaces by one of the next fields (6.8, BR-048). 1.92
    /// gives the answer out with its headers, 1.110 with its first frame, be it only an opening one
    /// (observed). Corrected: nothing but content commits an answer, whatever its kind (BR-050).
    pub streams_commit_at: Reached,
    /// Whether a stream that fails after its first content surfaces at once (6.8). Where it does
    /// not, the caller gets a piece of one answer and the whole of another (BR-050).
    pub mid_stream_surfaces: bool,
    /// Whether a time limit that ends a committed stream is told as a timeout, and surfaces at once;
    /// else it is told as a connection error, and falls back (observed).
    pub stream_timeouts_surface: bool,
    /// Whether an error of the request's own (400) that comes in a committed stream surfaces at once
    /// (6.8; observed).
    pub stream_client_errors_surface: bool,
    /// Whether an error inside a stream keeps its class, and its hint where it has one. LiteLLM
    /// knows such an error by its text alone, and what it does not know becomes a connection error,
    /// which never benches (4.2, table; observed; BR-048).
    pub stream_errors_keep_class: bool,
    /// Whether an error inside a stream can bench its deployment at all (4.2, table; BR-048).
    pub stream_errors_bench: bool,
    /// Whether opening frames are passed on as they come, so that a second deployment's come on top
    /// (observed); else with the first content, and so once (BR-050).
    pub opening_frames_pass: bool,
    /// Whether keep-alive frames count as signs of life under `stream_timeout`, a bound on the
    /// silence of the connection (10; observed). Where they do not, it bounds the time to the first
    /// content and between two pieces of it (BR-051).
    pub keep_alives_are_progress: bool,
    /// Whether a stream that ends before its last chunk counts as a short answer (6.8, Q35).
    pub truncated_streams_succeed: bool,
    /// Whether a deployment's `num_retries` and a request's `max_retries` are also given to the
    /// provider's client library, which then retries inside each attempt (Q1).
    pub client_retries_too: bool,
    /// What is done about prices that are missing (11).
    pub pricing: PricingRules,
    /// Whether a name that is both a group's and a deployment's id means the group (observed).
    pub group_name_beats_id: bool,
    /// Whether the entry of a request that went on stays in the priority queue, where it is the only
    /// reason why anybody waits; a priority of zero then counts as none (9.5, Q34).
    pub queue_entries_stay: bool,
    /// Whether every scheduled chat call fails by a `default_priority` (9.5, Q34).
    pub default_priority_fails: bool,
    /// Whether the mirror of a streamed request streams too (9.4).
    pub mirrors_stream: bool,
    /// Whether a pin is kept alive by each use, so that its ttl is a time of silence; else it ends a ttl
    /// after its first write (8.1, 8.2, Q26; of prefixes observed).
    pub pins_slide: bool,
    /// Whether the pin of a session or a key stays while another deployment serves it, so that it goes
    /// back; else it moves there for good (8.1, Q26).
    pub pins_survive_failover: bool,
    /// Whether two callers' sessions of one name are two (8.1).
    pub sessions_by_caller: bool,
    /// Whether a retry in the same group is bound to the prefix's pin (8.2; observed).
    pub retries_follow_prefix: bool,
    /// What makes a pin that is in force stand aside (2.3, 8.1; observed).
    pub pins_yield: PinsYield,
    /// Whether the tags of a picked deployment count as the request's in its retries and fallbacks
    /// (8.7; observed: not in 1.110).
    pub deployment_tags_join: bool,
    /// Whether the deployments tagged `default` serve tags that nobody of the group has, and not also
    /// tags whose deployments are out, banned or lack another tag asked for (8.7; observed).
    pub only_unknown_tags_default: bool,
    /// Whether `tag_routing_prefix` is known; tags that lead to nobody are then an error (observed).
    pub knows_tag_prefix: bool,
    /// Whether `enable_pre_call_checks` passes over who was picked as often in a minute as its `rpm`
    /// says (2.3.9).
    pub pre_call_checks_count_picks: bool,
    /// Whether `model_info.max_input_tokens` is believed of deployments of the same model that give
    /// none (Q20; observed in 1.110 too).
    pub windows_leak: bool,
    /// Whether it is then believed before what the registry knows of the model (Q20; observed).
    pub windows_leak_over_known: bool,
    /// Whether embeddings are added to budgets (observed).
    pub embeddings_spend: bool,
    /// Whether the answer that goes on for a stream that broke is added to budgets (observed).
    pub continuations_spend: bool,
    /// Whether a stream that broke and goes on elsewhere ends in the counts of the group that goes on,
    /// and not in those of the group where it began (observed).
    pub broken_streams_end_elsewhere: bool,
    /// Whether a deployment whose `model_name` has stars can be benched (1.7, quirk Q38). Corrected: it
    /// can, for every name that it serves (BR-056).
    pub wildcards_cool: bool,
    /// Whether an entry of `fallbacks` named `provider/name` also serves the group `name` of a model
    /// that is known as that provider's (6.4).
    pub fallback_keys_infer_provider: bool,
    /// Whether an entry of `fallbacks` named as a pattern serves the names that it matches (BR-056).
    pub fallback_keys_match_patterns: bool,
    /// Whether the phrases that decide an error's class are sought in its whole body, type and code
    /// too, and not only in its message (13, observed).
    pub error_text_is_whole_body: bool,
    /// Whether the retry after a refusal (4xx but for 408, 409 and 429) passes over the deployments
    /// that refused in this hop, unless nobody else is left (observed; BR-022).
    pub refusals_move_on: bool,
    /// What instances learn of each other through a shared store (12).
    pub sharing: SharingRules,
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

impl Default for Profile {
    fn default() -> Self {
        Self::litellm_1_110()
    }
}
