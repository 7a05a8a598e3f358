//! One case for each rule: a config that has what it finds, and one that differs in just that.

use router::ProfileName::{self, Litellm192 as OLD, Litellm1110 as NEW};

/// A rule's case.
pub(crate) struct Case {
    pub(crate) id: &'static str,
    pub(crate) profile: ProfileName,
    /// It is found here.
    pub(crate) bad: &'static str,
    /// It is not found here.
    pub(crate) good: &'static str,
}

const fn case(
    id: &'static str,
    profile: ProfileName,
    bad: &'static str,
    good: &'static str,
) -> Case {
    Case {
        id,
        profile,
        bad,
        good,
    }
}

/// Two deployments of `m` and two of `n`, and what follows.
macro_rules! two_models {
    ($rest:expr) => {
        concat!(
            "model_list:\n",
            "- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {id: a}}\n",
            "- {model_name: m, litellm_params: {model: gpt-4o-mini}, model_info: {id: b}}\n",
            "- {model_name: n, litellm_params: {model: gpt-4o}, model_info: {id: c}}\n",
            "- {model_name: n, litellm_params: {model: gpt-4o-mini}, model_info: {id: d}}\n",
            $rest,
            "\n"
        )
    };
}

/// One deployment of `m`, and what follows.
macro_rules! lone {
    ($rest:expr) => {
        concat!(
            "model_list:\n",
            "- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {id: a}}\n",
            $rest,
            "\n"
        )
    };
}

/// Two deployments of `m` with these further `litellm_params`, and what follows.
macro_rules! pair {
    ($first:expr, $second:expr) => {
        pair!($first, $second, "")
    };
    ($first:expr, $second:expr, $rest:expr) => {
        concat!(
            "model_list:\n",
            "- {model_name: m, litellm_params: {model: gpt-4o",
            $first,
            "}, model_info: {id: a}}\n",
            "- {model_name: m, litellm_params: {model: gpt-4o-mini",
            $second,
            "}, model_info: {id: b}}\n",
            $rest,
            "\n"
        )
    };
}

pub(crate) const CASES: &[Case] = &[
    // Names.
    case(
        "router-refuses",
        OLD,
        two_models!(
            "router_settings:\n  routing_groups:\n  - {group_name: g, models: [m, n], routing_strategy: priority, model_priorities: {m: 1, n: 2}}"
        ),
        two_models!(
            "router_settings:\n  routing_groups:\n  - {group_name: g, models: [m, n], routing_strategy: least-busy}"
        ),
    ),
    case(
        "alias-of-unknown-model",
        NEW,
        two_models!("router_settings: {model_group_alias: {a1: mm}}"),
        two_models!("router_settings: {model_group_alias: {a1: m}}"),
    ),
    case(
        "alias-hides-model",
        NEW,
        two_models!("router_settings: {model_group_alias: {m: n}}"),
        two_models!("router_settings: {model_group_alias: {a1: n}}"),
    ),
    case(
        "routing-group-of-unknown-model",
        NEW,
        two_models!(
            "router_settings:\n  routing_groups:\n  - {group_name: g, models: [m, x], routing_strategy: least-busy}"
        ),
        two_models!(
            "router_settings:\n  routing_groups:\n  - {group_name: g, models: [m, n], routing_strategy: least-busy}"
        ),
    ),
    case(
        "routing-group-misses-alias",
        OLD,
        two_models!(
            "router_settings:\n  model_group_alias: {a1: m}\n  routing_groups:\n  - {group_name: g, models: [m], routing_strategy: least-busy}"
        ),
        two_models!(
            "router_settings:\n  model_group_alias: {a1: m}\n  routing_groups:\n  - {group_name: g, models: [m, a1], routing_strategy: least-busy}"
        ),
    ),
    case(
        "setting-of-unknown-model",
        NEW,
        two_models!("router_settings: {model_group_retry_policy: {x: {TimeoutErrorRetries: 1}}}"),
        two_models!("router_settings: {model_group_retry_policy: {m: {TimeoutErrorRetries: 1}}}"),
    ),
    case(
        "silent-model-unknown",
        NEW,
        pair!(", silent_model: shadow", ""),
        pair!(", silent_model: m", ""),
    ),
    case(
        "default-priority-fails",
        OLD,
        two_models!("router_settings: {default_priority: 1}"),
        two_models!("router_settings: {polling_interval: 1}"),
    ),
    case(
        "alerting-config-refused",
        NEW,
        two_models!("router_settings: {alerting_config: {webhook_url: x}}"),
        two_models!("general_settings: {alerting: [slack]}"),
    ),
    // Fallbacks.
    case(
        "fallback-target-unknown",
        NEW,
        two_models!("router_settings:\n  fallbacks:\n  - m: [nn]"),
        two_models!("router_settings:\n  fallbacks:\n  - m: [n]"),
    ),
    case(
        "fallback-of-unknown-model",
        NEW,
        two_models!("router_settings:\n  fallbacks:\n  - mm: [n]"),
        two_models!("router_settings:\n  fallbacks:\n  - m: [n]"),
    ),
    case(
        "fallback-to-itself",
        NEW,
        two_models!("router_settings:\n  fallbacks:\n  - m: [n, m]"),
        two_models!("router_settings:\n  fallbacks:\n  - m: [n]"),
    ),
    case(
        "fallback-entry-repeated",
        NEW,
        two_models!("router_settings:\n  fallbacks:\n  - m: [n]\n  - m: [c]"),
        two_models!("router_settings:\n  fallbacks:\n  - m: [n, c]"),
    ),
    case(
        "fallback-cycle",
        OLD,
        two_models!("litellm_settings:\n  fallbacks:\n  - m: [n]\n  - n: [m]"),
        two_models!("litellm_settings:\n  fallbacks:\n  - m: [n]"),
    ),
    case(
        "fallback-cycle",
        NEW,
        two_models!("router_settings:\n  default_fallbacks: [m, n]"),
        two_models!("router_settings:\n  default_fallbacks: [m]"),
    ),
    case(
        "fallback-beyond-max-fallbacks",
        NEW,
        two_models!(
            "- {model_name: o, litellm_params: {model: gpt-4o}}\nrouter_settings:\n  max_fallbacks: 1\n  fallbacks:\n  - m: [n]\n  - n: [o]"
        ),
        two_models!(
            "- {model_name: o, litellm_params: {model: gpt-4o}}\nrouter_settings:\n  max_fallbacks: 1\n  fallbacks:\n  - m: [n, o]"
        ),
    ),
    case(
        "max-fallbacks-zero",
        NEW,
        two_models!("router_settings:\n  max_fallbacks: 0\n  fallbacks:\n  - m: [n]"),
        two_models!("router_settings:\n  max_fallbacks: 0"),
    ),
    case(
        "context-window-fallbacks-hide-others",
        OLD,
        two_models!(
            "router_settings:\n  fallbacks:\n  - m: [n]\n  context_window_fallbacks:\n  - n: [c]"
        ),
        two_models!(
            "router_settings:\n  fallbacks:\n  - m: [n]\n  context_window_fallbacks:\n  - m: [c]"
        ),
    ),
    case(
        "content-policy-fallbacks-hide-others",
        NEW,
        two_models!(
            "router_settings:\n  fallbacks:\n  - m: [n]\n  content_policy_fallbacks:\n  - n: [c]"
        ),
        two_models!(
            "router_settings:\n  fallbacks:\n  - m: [n]\n  content_policy_fallbacks:\n  - m: [c]"
        ),
    ),
    case(
        "alias-without-fallbacks",
        NEW,
        two_models!("router_settings:\n  model_group_alias: {a1: m}\n  fallbacks:\n  - m: [n]"),
        two_models!(
            "router_settings:\n  model_group_alias: {a1: m}\n  fallbacks:\n  - m: [n]\n  - a1: [n]"
        ),
    ),
    // Deployments.
    case(
        "duplicate-id",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}}\n- {model_name: m, litellm_params: {model: gpt-4o}}\n",
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}}\n- {model_name: m, litellm_params: {model: gpt-4o-mini}}\n",
    ),
    case(
        "shared-quota",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o, api_key: os.environ/K}, model_info: {id: a}}\n- {model_name: m, litellm_params: {model: gpt-4o, api_key: os.environ/K}, model_info: {id: b}}\n",
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o, api_key: os.environ/K}, model_info: {id: a}}\n- {model_name: m, litellm_params: {model: gpt-4o, api_key: os.environ/L}, model_info: {id: b}}\n",
    ),
    case("no-spare-deployment", NEW, lone!(""), pair!("", "")),
    case(
        "lopsided-limits",
        NEW,
        pair!(", rpm: 600", ", rpm: 60"),
        pair!(", rpm: 600", ", rpm: 600"),
    ),
    case(
        "all-blocked",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {blocked: true}}\n",
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {blocked: true}}\n- {model_name: m, litellm_params: {model: gpt-4o-mini}}\n",
    ),
    case(
        "team-deployment",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {team_id: t}}\n",
        lone!(""),
    ),
    case(
        "prices-per-thousand",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {input_cost_per_1k_tokens: 1}}\n",
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {input_cost_per_token: 1}}\n",
    ),
    // Weights.
    case(
        "weight-as-text",
        NEW,
        pair!(", weight: '1'", ", weight: 2"),
        pair!(", weight: 1", ", weight: 2"),
    ),
    case(
        "weight-without-effect",
        NEW,
        pair!(
            ", weight: 1",
            ", weight: 2",
            "router_settings: {routing_strategy: least-busy}"
        ),
        pair!(", weight: 1", ", weight: 2"),
    ),
    case(
        "weight-zero-everywhere",
        NEW,
        pair!(", weight: 0", ", weight: 0"),
        pair!(", weight: 1", ", weight: 0"),
    ),
    case(
        "weight-zero",
        NEW,
        pair!(", weight: 1", ", weight: 0"),
        pair!(", weight: 1", ", weight: 0.1"),
    ),
    case(
        "weight-missing",
        NEW,
        pair!(", weight: 1", ""),
        pair!(", weight: 1", ", weight: 1"),
    ),
    case(
        "weight-missing",
        OLD,
        pair!("", ", weight: 1"),
        pair!(", weight: 1", ", weight: 1"),
    ),
    case(
        "rpm-limits-requests-at-once",
        NEW,
        pair!(", rpm: 60", ""),
        pair!(", rpm: 60, max_parallel_requests: 100", ""),
    ),
    // Order.
    case(
        "order-of-lone-deployment",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o, order: 1}}\n",
        lone!(""),
    ),
    case(
        "order-all-equal",
        NEW,
        pair!(", order: 1", ", order: 1"),
        pair!(", order: 1", ", order: 2"),
    ),
    case(
        "order-missing",
        NEW,
        pair!(", order: 1", ""),
        pair!(", order: 1", ", order: 2"),
    ),
    // Cooldowns.
    case(
        "allowed-fails-equals-default",
        OLD,
        two_models!("router_settings: {allowed_fails: 3}"),
        two_models!("router_settings: {allowed_fails: 4}"),
    ),
    case(
        "global-allowed-fails",
        NEW,
        two_models!("litellm_settings: {allowed_fails: 1}"),
        two_models!("router_settings: {allowed_fails: 1}"),
    ),
    case(
        "cooldowns-disabled",
        NEW,
        two_models!("router_settings: {disable_cooldowns: true, cooldown_time: 60}"),
        two_models!("router_settings: {cooldown_time: 60}"),
    ),
    case(
        "lone-deployment-benched-at-once",
        NEW,
        lone!(""),
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o, cooldown_time: 0}}\n",
    ),
    case(
        "lone-deployment-hardly-cools",
        NEW,
        lone!("router_settings: {cooldown_time: 60}"),
        two_models!("router_settings: {cooldown_time: 60}"),
    ),
    case(
        "lone-deployment-spared",
        NEW,
        lone!("router_settings: {allowed_fails: 1}"),
        lone!("router_settings: {allowed_fails_policy: {TimeoutErrorAllowedFails: 1}}"),
    ),
    case(
        "bad-request-allowed-fails",
        NEW,
        two_models!("router_settings: {allowed_fails_policy: {BadRequestErrorAllowedFails: 1}}"),
        two_models!("router_settings: {allowed_fails_policy: {RateLimitErrorAllowedFails: 1}}"),
    ),
    case(
        "allowed-fails-class-unread",
        OLD,
        two_models!(
            "router_settings: {allowed_fails_policy: {InternalServerErrorAllowedFails: 1}}"
        ),
        two_models!("router_settings: {allowed_fails_policy: {RateLimitErrorAllowedFails: 1}}"),
    ),
    case(
        "model-info-cooldown-unread",
        OLD,
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {cooldown_time: 9}}\n",
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o, cooldown_time: 9}}\n",
    ),
    // Retries.
    case(
        "num-retries-squared",
        OLD,
        pair!(", num_retries: 3", ""),
        pair!("", "", "router_settings: {num_retries: 3}"),
    ),
    case(
        "num-retries-twice",
        OLD,
        two_models!("router_settings: {num_retries: 1}\nlitellm_settings: {num_retries: 4}"),
        two_models!("router_settings: {num_retries: 1}"),
    ),
    case(
        "num-retries-twice",
        NEW,
        two_models!("router_settings: {num_retries: 1}\nlitellm_settings: {num_retries: 4}"),
        two_models!("litellm_settings: {num_retries: 4}"),
    ),
    case(
        "deployment-max-retries",
        NEW,
        pair!(", max_retries: 3", ""),
        pair!(", num_retries: 3", ""),
    ),
    case(
        "retry-after-without-effect",
        NEW,
        two_models!("router_settings: {retry_after: 5}"),
        lone!("router_settings: {retry_after: 5}"),
    ),
    case(
        "retry-policy-class-unread",
        OLD,
        two_models!("router_settings: {retry_policy: {InternalServerErrorRetries: 1}}"),
        two_models!("router_settings: {retry_policy: {TimeoutErrorRetries: 1}}"),
    ),
    // Zeros.
    case(
        "zero-cooldown-time",
        NEW,
        two_models!("router_settings: {cooldown_time: 0}"),
        two_models!("router_settings: {cooldown_time: 0.1}"),
    ),
    case(
        "zero-timeout",
        NEW,
        pair!(", timeout: 0", ""),
        pair!(", timeout: 1", ""),
    ),
    case(
        "zero-allowed-fails-policy",
        OLD,
        two_models!("router_settings: {allowed_fails_policy: {RateLimitErrorAllowedFails: 0}}"),
        two_models!("router_settings: {allowed_fails_policy: {RateLimitErrorAllowedFails: 1}}"),
    ),
    case(
        "zero-max-parallel-requests",
        NEW,
        pair!(", max_parallel_requests: 0", ""),
        pair!(", max_parallel_requests: 1", ""),
    ),
    // Limits.
    case(
        "usage-rpm-one-short",
        NEW,
        pair!(
            ", rpm: 60",
            "",
            "router_settings: {routing_strategy: usage-based-routing-v2}"
        ),
        pair!(", rpm: 60", ""),
    ),
    case(
        "usage-and-enforced-limits",
        NEW,
        pair!(
            ", rpm: 60",
            "",
            "router_settings: {routing_strategy: usage-based-routing-v2, optional_pre_call_checks: [enforce_model_rate_limits]}"
        ),
        pair!(
            ", rpm: 60",
            "",
            "router_settings: {optional_pre_call_checks: [enforce_model_rate_limits]}"
        ),
    ),
    case(
        "enforced-limits-without-limits",
        NEW,
        pair!(
            "",
            "",
            "router_settings: {optional_pre_call_checks: [enforce_model_rate_limits]}"
        ),
        pair!(
            ", tpm: 60",
            "",
            "router_settings: {optional_pre_call_checks: [enforce_model_rate_limits]}"
        ),
    ),
    case(
        "usage-routing-without-limits",
        NEW,
        pair!(
            "",
            "",
            "router_settings: {routing_strategy: usage-based-routing}"
        ),
        pair!(
            ", tpm: 60",
            "",
            "router_settings: {routing_strategy: usage-based-routing}"
        ),
    ),
    case(
        "strategy-args-unused",
        NEW,
        two_models!("router_settings: {routing_strategy_args: {ttl: 60}}"),
        two_models!(
            "router_settings: {routing_strategy: latency-based-routing, routing_strategy_args: {ttl: 60}}"
        ),
    ),
    // Filters.
    case(
        "tags-without-filtering",
        NEW,
        pair!(", tags: [paid]", ""),
        pair!(
            ", tags: [paid]",
            "",
            "router_settings: {enable_tag_filtering: true}"
        ),
    ),
    case(
        "tag-filtering-without-tags",
        NEW,
        two_models!("router_settings: {enable_tag_filtering: true}"),
        pair!(
            ", tags: [paid]",
            "",
            "router_settings: {enable_tag_filtering: true}"
        ),
    ),
    case(
        "tagged-group-without-default",
        NEW,
        pair!(
            ", tags: [paid]",
            "",
            "router_settings: {enable_tag_filtering: true}"
        ),
        pair!(
            ", tags: [paid]",
            ", tags: [default]",
            "router_settings: {enable_tag_filtering: true}"
        ),
    ),
    case(
        "usage-v1-skips-filters",
        OLD,
        pair!(
            ", rpm: 60",
            "",
            "router_settings: {routing_strategy: usage-based-routing, optional_pre_call_checks: [session_affinity]}"
        ),
        pair!(
            ", rpm: 60",
            "",
            "router_settings: {routing_strategy: usage-based-routing-v2, optional_pre_call_checks: [session_affinity]}"
        ),
    ),
    case(
        "context-window-unknown",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: openai/nope}}\nrouter_settings: {enable_pre_call_checks: true}\n",
        two_models!("router_settings: {enable_pre_call_checks: true}"),
    ),
    case(
        "region-missing",
        NEW,
        pair!(
            ", region_name: eu",
            "",
            "router_settings: {enable_pre_call_checks: true}"
        ),
        pair!(
            ", region_name: eu",
            ", region_name: us",
            "router_settings: {enable_pre_call_checks: true}"
        ),
    ),
    case(
        "pre-call-checks-off",
        NEW,
        pair!(", region_name: eu", ", region_name: us"),
        pair!(
            ", region_name: eu",
            ", region_name: us",
            "router_settings: {enable_pre_call_checks: true}"
        ),
    ),
    case(
        "budget-without-price",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: openai/nope, max_budget: 5, budget_duration: 1d}}\n",
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o, max_budget: 5, budget_duration: 1d}}\n",
    ),
    case(
        "provider-budget-of-nobody",
        NEW,
        two_models!(
            "router_settings: {provider_budget_config: {opnai: {budget_limit: 5, time_period: 1d}}}"
        ),
        two_models!(
            "router_settings: {provider_budget_config: {openai: {budget_limit: 5, time_period: 1d}}}"
        ),
    ),
    case(
        "provider-budget-without-limit",
        NEW,
        two_models!("router_settings: {provider_budget_config: {openai: {time_period: 1d}}}"),
        two_models!(
            "router_settings: {provider_budget_config: {openai: {budget_limit: 5, time_period: 1d}}}"
        ),
    ),
    case(
        "affinity-time-without-affinity",
        NEW,
        two_models!("router_settings: {deployment_affinity_ttl_seconds: 60}"),
        two_models!(
            "router_settings: {deployment_affinity_ttl_seconds: 60, optional_pre_call_checks: [session_affinity]}"
        ),
    ),
    // Senders.
    case(
        "needs-senders",
        NEW,
        two_models!("router_settings: {cache_responses: true}"),
        two_models!("router_settings: {cache_responses: false}"),
    ),
    case(
        "needs-senders",
        NEW,
        two_models!("router_settings: {optional_pre_call_checks: [session_affinity]}"),
        two_models!("router_settings: {optional_pre_call_checks: [enforce_model_rate_limits]}"),
    ),
    case(
        "needs-senders",
        NEW,
        two_models!("router_settings: {model_group_affinity_config: {m: [deployment_affinity]}}"),
        two_models!("router_settings: {model_group_affinity_config: {m: []}}"),
    ),
    case(
        "needs-senders",
        NEW,
        two_models!("router_settings: {enable_tag_filtering: true}"),
        two_models!("router_settings: {enable_tag_filtering: false}"),
    ),
    case(
        "needs-senders",
        NEW,
        two_models!(
            "router_settings: {alerting_config: {webhook_url: 'https://example.org/hook'}}"
        ),
        two_models!(""),
    ),
    // Prices.
    case(
        "cost-prices-unknown",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: openai/gpt-4o}, model_info: {id: a}}\n- {model_name: m, litellm_params: {model: openai/gpt-4o-mini}, model_info: {id: b}}\nrouter_settings: {routing_strategy: cost-based-routing}\n",
        two_models!("router_settings: {routing_strategy: cost-based-routing}"),
    ),
    case(
        "cost-prices-tie",
        NEW,
        pair!(
            ", input_cost_per_token: 1, output_cost_per_token: 2",
            ", input_cost_per_token: 2, output_cost_per_token: 1",
            "router_settings: {routing_strategy: cost-based-routing}"
        ),
        pair!(
            ", input_cost_per_token: 1, output_cost_per_token: 2",
            ", input_cost_per_token: 2, output_cost_per_token: 2",
            "router_settings: {routing_strategy: cost-based-routing}"
        ),
    ),
    case(
        "cost-half-priced",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: openai/x, input_cost_per_token: 1}, model_info: {id: a}}\n- {model_name: m, litellm_params: {model: gpt-4o-mini}, model_info: {id: b}}\nrouter_settings: {routing_strategy: cost-based-routing}\n",
        "model_list:\n- {model_name: m, litellm_params: {model: openai/x, input_cost_per_token: 1, output_cost_per_token: 1}, model_info: {id: a}}\n- {model_name: m, litellm_params: {model: gpt-4o-mini}, model_info: {id: b}}\nrouter_settings: {routing_strategy: cost-based-routing}\n",
    ),
    case(
        "cost-zero-price",
        NEW,
        pair!(
            ", input_cost_per_token: 0",
            "",
            "router_settings: {routing_strategy: cost-based-routing}"
        ),
        pair!(
            ", input_cost_per_token: 1.0e-9",
            "",
            "router_settings: {routing_strategy: cost-based-routing}"
        ),
    ),
    case(
        "cost-ignores-model-info",
        NEW,
        "model_list:\n- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {id: a, input_cost_per_token: 1}}\n- {model_name: m, litellm_params: {model: gpt-4o-mini}, model_info: {id: b}}\nrouter_settings: {routing_strategy: cost-based-routing}\n",
        two_models!("router_settings: {routing_strategy: cost-based-routing}"),
    ),
];
