//! Cases of rules about limits, filters, senders and prices.

use super::{Case, NEW, OLD, case, pair, two_models};

pub(super) const CASES: &[Case] = &[
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
