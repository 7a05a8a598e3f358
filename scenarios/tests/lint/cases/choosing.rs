//! Cases of rules about weights, order, cooldowns and retries: whom a request gets, and what follows a failure.

use super::{Case, NEW, OLD, case, lone, pair, two_models};

pub(super) const CASES: &[Case] = &[
    // Weights.
    case(
        "weight-as-text",
        NEW,
        pair!(", weight: '1'", ", weight: 2"),
        pair!(", weight: 1", ", weight: 2"),
    ),
    case(
        "weight-negative",
        NEW,
        pair!(", weight: 3", ", weight: -1"),
        pair!(", weight: 3", ", weight: 1"),
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
];
