//! `litellm_params`: what LiteLLM reads of an entry's parameters (semantics 1.2). All of them are
//! passed on to the provider as well, which plays no part here.

use super::{
    budgets::{read_amount, read_period},
    entry::Draft,
    price_keys::price_slot,
    section::{Section, ignored, off_only, used},
    setting::{Result, Setting},
    tables::{
        ACCOUNT, ADDRESS, DESCRIBES, OBSERVABILITY, OTHER_PRICES, PROMPT_ROUTERS, PROVIDER, SECRET,
    },
};
use crate::yaml::Value;

/// `litellm_params`.
pub(super) static LITELLM_PARAMS: Section<Draft> = Section {
    keys: &[
        used("model", |d, s| {
            let model = s.text()?.filter(|model| !model.is_empty());
            let model = model.ok_or_else(|| s.unaccepted("text as `provider/model`"))?;
            d.has_model = true;
            let is_named = router::split_provider(&model).is_some();
            d.deployment.model = if s.is_from_environment() && !is_named {
                s.ignore(MODEL_ELSEWHERE);
                d.model_is_elsewhere = true;
                model.rsplit('/').next().unwrap_or_default().to_owned()
            } else {
                model
            };
            Ok(())
        }),
        used("custom_llm_provider", |d, s| {
            s.group()
                .map(|name| d.deployment.custom_llm_provider = name)
        }),
        used("base_model", |d, s| {
            s.group().map(|name| d.facts.base_model_of_params = name)
        }),
        used("rpm", |d, s| {
            s.count_or_text().map(|rpm| d.deployment.rpm = rpm)
        }),
        used("tpm", |d, s| {
            s.count_or_text().map(|tpm| d.deployment.tpm = tpm)
        }),
        used("weight", |d, s| {
            // LiteLLM takes a text and fails when it draws by it: a finding tells.
            d.deployment.weight_is_text = s.is_text();
            if d.deployment.weight_is_text {
                return Ok(());
            }
            // One below zero counts too, and has a finding.
            s.finite().map(|weight| d.deployment.weight = weight)
        }),
        used("order", |d, s| {
            s.whole(ORDERS).map(|order| d.deployment.order = order)
        }),
        used("max_parallel_requests", |d, s| {
            s.count()
                .map(|slots| d.deployment.max_parallel_requests = slots)
        }),
        used("timeout", |d, s| {
            s.timeout().map(|limit| d.deployment.timeout = limit)
        }),
        used("request_timeout", |d, s| {
            let limit = s.timeout()?;
            if limit.is_some() && d.deployment.timeout.is_some() {
                s.ignore("`timeout` beside it is used in its place");
            }
            d.request_timeout = limit;
            Ok(())
        }),
        used("stream_timeout", |d, s| {
            s.timeout().map(|limit| d.deployment.stream_timeout = limit)
        }),
        // The next three are routelab's own.
        used("first_token_timeout", |d, s| {
            s.timeout()
                .map(|limit| d.deployment.stream_limits.first_token = limit)
        }),
        used("stream_idle_timeout", |d, s| {
            s.timeout()
                .map(|limit| d.deployment.stream_limits.idle = limit)
        }),
        used("stream_total_timeout", |d, s| {
            s.timeout()
                .map(|limit| d.deployment.stream_limits.total = limit)
        }),
        used("num_retries", |d, s| {
            s.few().map(|retries| d.deployment.num_retries = retries)
        }),
        used("cooldown_time", |d, s| {
            if s.given()
                .and_then(|node| node.whole())
                .is_some_and(|seconds| seconds < 0)
            {
                s.ignore("LiteLLM passes over a negative cooldown of a deployment");
                return Ok(());
            }
            s.seconds()
                .map(|length| d.deployment.cooldown_time = length)
        }),
        used("region_name", |d, s| {
            s.group().map(|region| d.deployment.region_name = region)
        }),
        used("tags", |d, s| {
            s.texts().map(|tags| d.deployment.tags = tags)
        }),
        used("tag_regex", |d, s| {
            s.texts().map(|patterns| d.deployment.tag_regex = patterns)
        }),
        used("silent_model", |d, s| {
            s.group().map(|group| d.deployment.silent_model = group)
        }),
        used("max_budget", |d, s| {
            read_amount(s, "budget_duration").map(|limit| d.budget.0 = limit)
        }),
        used("budget_duration", |d, s| {
            read_period(s, "max_budget").map(|period| d.budget.1 = period)
        }),
        used("input_cost_per_token", read_own_price),
        used("output_cost_per_token", read_own_price),
        used("cache_read_input_token_cost", read_own_price),
        used("input_cost_per_token_batches", read_own_price),
        used("output_cost_per_token_batches", read_own_price),
        used("cache_read_input_token_cost_batches", read_own_price),
        used("organization", |d, s| {
            if let Value::Seq(items) = &s.node.value {
                d.organizations = Some(items.len());
            } else {
                s.ignore(ACCOUNT);
            }
            Ok(())
        }),
        off_only("allow_client_keepalive_override", KEEPALIVE),
        ignored("allow_legacy_cloud_file_ids", PROVIDER),
        ignored("allowed_openai_params", PROVIDER),
        ignored("api_base", ADDRESS),
        ignored("api_key", SECRET),
        ignored("api_version", ADDRESS),
        ignored("base_url", ADDRESS),
        ignored(
            "configurable_clientside_auth_params",
            "callers bring no keys of their own here",
        ),
        ignored("chatgpt_auth_file", SECRET),
        ignored("client_id", SECRET),
        ignored("client_secret", SECRET),
        ignored("cost_per_second", OTHER_PRICES),
        ignored("credentials", SECRET),
        ignored(
            "daily_reset_time",
            "not modelled: a budget's period begins with its first spending",
        ),
        ignored("default_api_key_rpm_limit", KEY_LIMIT),
        ignored("default_api_key_tpm_limit", KEY_LIMIT),
        ignored("drop_params", PROVIDER),
        ignored("embedding_model", PROVIDER),
        ignored("extra_body", PROVIDER),
        ignored("extra_headers", PROVIDER),
        ignored("fireworks_forward_user_id", PROVIDER),
        ignored("headers", PROVIDER),
        ignored("index_name", PROVIDER),
        ignored("itpm", OTHER_LIMITS),
        off_only("keepalive_seconds", KEEPALIVE),
        off_only(
            "kubernetes_pod_discovery",
            "not modelled: LiteLLM makes a deployment of each pod that it finds",
        ),
        ignored("litellm_credential_name", SECRET),
        ignored("litellm_trace_id", OBSERVABILITY),
        ignored("max_completion_tokens", PROVIDER),
        ignored(
            "max_retries",
            "LiteLLM gives a deployment's `max_retries` no effect",
        ),
        ignored("max_file_size_mb", PROVIDER),
        ignored("max_tokens", PROVIDER),
        ignored("merge_reasoning_content_in_choices", PROVIDER),
        ignored(
            "mock_response",
            "answers come from the scenario's provider models",
        ),
        ignored("mode", DESCRIBES),
        ignored(
            "model_info",
            "LiteLLM reads it beside `litellm_params`, not inside",
        ),
        ignored("otpm", OTHER_LIMITS),
        ignored("output_vector_size", PROVIDER),
        ignored("presence_penalty", PROVIDER),
        off_only(
            "provider_affinity_header",
            "a header for the provider; which deployment is picked does not depend on it",
        ),
        ignored("reasoning_effort", PROVIDER),
        ignored("response_format", PROVIDER),
        ignored("responses_api_version", PROVIDER),
        ignored("rpd", OTHER_LIMITS),
        ignored("seed", PROVIDER),
        ignored("stop", PROVIDER),
        ignored("stream_timeout_by_service_tier", SERVICE_TIERS),
        ignored("temperature", PROVIDER),
        ignored("tenant_id", SECRET),
        ignored("thinking", PROVIDER),
        ignored("thought_signature_in_tool_call_id", PROVIDER),
        ignored("tiered_pricing", OTHER_PRICES),
        ignored("timeout_by_service_tier", SERVICE_TIERS),
        ignored("tool_choice", PROVIDER),
        ignored("tools", PROVIDER),
        ignored("top_k", PROVIDER),
        ignored("top_p", PROVIDER),
        ignored("tpd", OTHER_LIMITS),
        ignored("use_chat_completions_api", PROVIDER),
        off_only(
            "use_in_pass_through",
            "pass-through endpoints are not routed",
        ),
        ignored("use_litellm_proxy", ADDRESS),
        ignored("use_xai_oauth", SECRET),
        ignored("vector_bucket_name", PROVIDER),
        ignored("vector_store_id", PROVIDER),
    ],
    families: &[
        used("*_cost*_above_*_tokens", read_own_price),
        ignored("*_cost_*", OTHER_PRICES),
        ignored("*_cost", OTHER_PRICES),
        ignored("*_router_*", PROMPT_ROUTERS),
        ignored("*_uplift_multiplier*", OTHER_PRICES),
        ignored("anthropic_*", ACCOUNT),
        ignored("aws_*", ACCOUNT),
        ignored("azure_*", ACCOUNT),
        ignored("bedrock_*", ACCOUNT),
        ignored("bucket_*", ACCOUNT),
        ignored("gcs_*", ACCOUNT),
        ignored("milvus_*", PROVIDER),
        ignored("openai_*", ACCOUNT),
        ignored("s3_*", ACCOUNT),
        ignored("token_exchange_*", ACCOUNT),
        ignored("valkey_*", PROVIDER),
        ignored("vertex_*", ACCOUNT),
        ignored("watsonx_*", ACCOUNT),
    ],
    otherwise: "no routing key as far as routelab knows; LiteLLM passes it on to the provider",
};

fn read_own_price(d: &mut Draft, s: &mut Setting<'_>) -> Result<()> {
    read_price(&mut d.deployment.own_prices, s)
}

/// Reads a price; one of another unit is told as such.
pub(super) fn read_price(prices: &mut router::Prices, s: &mut Setting<'_>) -> Result<()> {
    let usd = s.amount_or_text()?;
    if price_slot(&mut router::Prices::default(), s.name).is_none() {
        s.ignore(OTHER_PRICES);
    } else if let (Some(slot), Some(_)) = (price_slot(prices, s.name), usd) {
        *slot = usd;
    }
    Ok(())
}

/// Most of any deployment's `order`, above and below zero.
pub(super) const ORDERS: std::ops::RangeInclusive<i64> = -1_000_000..=1_000_000;
const MODEL_ELSEWHERE: &str = "the model stands in the environment, which is never asked; the name \
                               of the variable stands in for it, and no provider is known";
const KEY_LIMIT: &str = "a limit of the callers' keys, which are not modelled";

const KEEPALIVE: &str = "not modelled: comments that the proxy sends to a waiting caller";
const OTHER_LIMITS: &str = "not modelled: limits of input or output tokens alone, or of a day, which LiteLLM 1.110 \
     holds where `enforce_model_rate_limits` is on";
const SERVICE_TIERS: &str = "not modelled: limits of time by the service tier of a request";
