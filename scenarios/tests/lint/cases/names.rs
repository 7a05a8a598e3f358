//! Cases of rules about names, fallbacks and which deployments there are.

use super::{Case, NEW, OLD, case, lone, pair, two_models};

pub(super) const CASES: &[Case] = &[
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
];
