//! The entries of `model_list`: what LiteLLM reads of each and what becomes of it here
//! (semantics 1.1 to 1.7).

use std::time::Duration;

use router::DeploymentConfig;

use super::{
    deployment_id::deployment_id,
    policies::ALLOWED_FAILS_POLICY,
    section::{Section, ignored, off_only, used},
    setting::{Result, Setting, fill},
    tables::{
        ACCOUNT, ADDRESS, BUDGETS, DESCRIBES, HEALTH_CHECKS, OTHER_PRICES, PRE_CALL_CHECKS,
        PROMPT_ROUTERS, PROVIDER, SECRET, TAGS, UNKNOWN,
    },
};
use crate::yaml::{Node, Value};

/// Reads one entry of `model_list`. It gives several deployments with one id where `organization`
/// is a list.
pub(super) fn read_entry(list: &mut Vec<DeploymentConfig>, s: &mut Setting<'_>) -> Result<()> {
    let accepted = "a mapping with `model_name` and `litellm_params`, which has `model`";
    let map = s.node.as_map().ok_or_else(|| s.unaccepted(accepted))?;
    let mut draft = Draft::default();
    s.section(&ENTRY, &mut draft)?;
    let params = map.get("litellm_params").and_then(Node::as_map);
    let missing = if !draft.has_name {
        Some((map, "model_name"))
    } else if params.is_none() {
        Some((map, "litellm_params"))
    } else if !draft.has_model {
        params.map(|params| (params, "model"))
    } else {
        None
    };
    if let Some((inside, key)) = missing {
        let error = s.error(format!("`{key}` is missing"));
        return Err(error.help(inside.nearest(key).map_or_else(
            || format!("accepted is {accepted}"),
            |near| format!("`{near}` is there; did you mean `{key}`?"),
        )));
    }
    let params = params.expect("an entry without parameters was refused");

    let Draft {
        mut deployment,
        request_timeout,
        organizations,
        ..
    } = draft;
    deployment.timeout = deployment.timeout.or(request_timeout);
    deployment.prices = deployment.own_prices;
    if deployment.id.is_empty() {
        deployment.id = deployment_id(&deployment.model_name, params);
    }
    list.extend(std::iter::repeat_n(deployment, organizations.unwrap_or(1)));
    Ok(())
}

/// An entry as far as it is read.
#[derive(Default)]
pub(super) struct Draft {
    deployment: DeploymentConfig,
    has_name: bool,
    has_model: bool,
    request_timeout: Option<Duration>,
    organizations: Option<usize>,
}

static ENTRY: Section<Draft> = Section {
    keys: &[
        used("model_name", |d, s| {
            let name = s.text()?.filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| s.unaccepted("the name of a model group"))?;
            if name.contains('*') {
                s.ignore(
                    "not modelled yet: wildcards; only a request for this very text reaches it",
                );
            }
            d.has_name = true;
            d.deployment.model_name = name;
            Ok(())
        }),
        used("litellm_params", |d, s| s.section(&LITELLM_PARAMS, d)),
        used("model_info", |d, s| s.section(&MODEL_INFO, d)),
        used("rpm", |d, s| {
            let rpm = s.count_or_text()?;
            fill(&mut d.deployment.rpm, rpm, s, "litellm_params.rpm");
            Ok(())
        }),
        used("tpm", |d, s| {
            let tpm = s.count_or_text()?;
            fill(&mut d.deployment.tpm, tpm, s, "litellm_params.tpm");
            Ok(())
        }),
    ],
    families: &[],
    otherwise: UNKNOWN,
};

/// `litellm_params`.
pub(super) static LITELLM_PARAMS: Section<Draft> = Section {
    keys: &[
        used("model", |d, s| {
            let model = s.text()?.filter(|model| !model.is_empty());
            d.deployment.model = model.ok_or_else(|| s.unaccepted("text as `provider/model`"))?;
            d.has_model = true;
            Ok(())
        }),
        used("rpm", |d, s| {
            s.count_or_text().map(|rpm| d.deployment.rpm = rpm)
        }),
        used("tpm", |d, s| {
            s.count_or_text().map(|tpm| d.deployment.tpm = tpm)
        }),
        used("weight", |d, s| {
            s.amount().map(|weight| d.deployment.weight = weight)
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
        used("input_cost_per_token", |d, s| {
            s.amount_or_text()
                .map(|price| d.deployment.own_prices.input = price)
        }),
        used("output_cost_per_token", |d, s| {
            s.amount_or_text()
                .map(|price| d.deployment.own_prices.output = price)
        }),
        used("organization", |d, s| {
            if let Value::Seq(items) = &s.node.value {
                d.organizations = Some(items.len());
            } else {
                s.ignore(ACCOUNT);
            }
            Ok(())
        }),
        ignored("allowed_openai_params", PROVIDER),
        ignored("api_base", ADDRESS),
        ignored("api_key", SECRET),
        ignored("api_version", ADDRESS),
        ignored("base_url", ADDRESS),
        off_only(
            "base_model",
            "not modelled yet: prices and context windows by model name",
        ),
        off_only("budget_duration", BUDGETS),
        ignored(
            "configurable_clientside_auth_params",
            "callers bring no keys of their own here",
        ),
        ignored("credentials", SECRET),
        ignored("custom_llm_provider", PROVIDER),
        ignored("drop_params", PROVIDER),
        ignored("extra_body", PROVIDER),
        ignored("extra_headers", PROVIDER),
        ignored("headers", PROVIDER),
        ignored("litellm_credential_name", SECRET),
        off_only("max_budget", BUDGETS),
        ignored("max_completion_tokens", PROVIDER),
        ignored(
            "max_retries",
            "LiteLLM 1.110 gives a deployment's `max_retries` no effect",
        ),
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
        ignored("presence_penalty", PROVIDER),
        ignored("reasoning_effort", PROVIDER),
        off_only("region_name", PRE_CALL_CHECKS),
        ignored("response_format", PROVIDER),
        ignored("seed", PROVIDER),
        off_only("silent_model", "not modelled yet: mirroring of traffic"),
        ignored("stop", PROVIDER),
        off_only("tag_regex", TAGS),
        off_only("tags", TAGS),
        ignored("temperature", PROVIDER),
        ignored("thinking", PROVIDER),
        ignored("tool_choice", PROVIDER),
        ignored("tools", PROVIDER),
        ignored("top_k", PROVIDER),
        ignored("top_p", PROVIDER),
        off_only(
            "use_in_pass_through",
            "pass-through endpoints are not routed",
        ),
    ],
    families: &[
        ("*_cost_*", OTHER_PRICES),
        ("*_cost", OTHER_PRICES),
        ("*_router_*", PROMPT_ROUTERS),
        ("aws_*", ACCOUNT),
        ("azure_*", ACCOUNT),
        ("bucket_*", ACCOUNT),
        ("gcs_*", ACCOUNT),
        ("s3_*", ACCOUNT),
        ("vertex_*", ACCOUNT),
        ("watsonx_*", ACCOUNT),
    ],
    otherwise: "no routing key as far as routelab knows; LiteLLM passes it on to the provider",
};

/// `model_info`.
pub(super) static MODEL_INFO: Section<Draft> = Section {
    keys: &[
        used("id", |d, s| {
            d.deployment.id = match &s.node.value {
                Value::Null => return Ok(()),
                Value::Int(id) => id.to_string(),
                Value::Str(id) if !id.is_empty() => id.clone(),
                Value::Str(_)
                | Value::Bool(_)
                | Value::Float(_)
                | Value::Seq(_)
                | Value::Map(_) => return Err(s.unaccepted("text or a whole number")),
            };
            Ok(())
        }),
        used("order", |d, s| {
            let order = s.whole(ORDERS)?;
            fill(&mut d.deployment.order, order, s, "litellm_params.order");
            Ok(())
        }),
        used("cooldown_time", |d, s| {
            s.seconds()
                .map(|length| d.deployment.model_info_cooldown_time = length)
        }),
        used("allowed_fails", |d, s| {
            s.fails().map(|fails| d.deployment.allowed_fails = fails)
        }),
        used("allowed_fails_policy", |d, s| {
            if s.given().is_none() {
                return Ok(());
            }
            s.section(
                &ALLOWED_FAILS_POLICY,
                d.deployment.allowed_fails_policy.get_or_insert_default(),
            )
        }),
        used("blocked", |d, s| {
            s.flag()
                .map(|blocked| d.deployment.blocked = blocked.unwrap_or(false))
        }),
        used("input_cost_per_token", |d, s| {
            let price = s.amount_or_text()?;
            let taken = "litellm_params.input_cost_per_token";
            fill(&mut d.deployment.own_prices.input, price, s, taken);
            Ok(())
        }),
        used("output_cost_per_token", |d, s| {
            let price = s.amount_or_text()?;
            let taken = "litellm_params.output_cost_per_token";
            fill(&mut d.deployment.own_prices.output, price, s, taken);
            Ok(())
        }),
        off_only("access_groups", "callers and their rights are not modelled"),
        off_only(
            "base_model",
            "not modelled yet: prices and context windows by model name",
        ),
        ignored("context_window", DESCRIBES),
        ignored("created_at", DESCRIBES),
        ignored("created_by", DESCRIBES),
        ignored("db_model", DESCRIBES),
        ignored("description", DESCRIBES),
        off_only("disable_background_health_check", HEALTH_CHECKS),
        ignored("health_check_model", HEALTH_CHECKS),
        ignored("health_check_timeout", HEALTH_CHECKS),
        ignored("limit", DESCRIBES),
        off_only("max_input_tokens", PRE_CALL_CHECKS),
        ignored("max_output_tokens", DESCRIBES),
        ignored("max_tokens", DESCRIBES),
        ignored("mode", DESCRIBES),
        ignored("provider", DESCRIBES),
        off_only("rpm", LIMIT_LOOKUP),
        off_only(
            "supported_environments",
            "not modelled yet: deployments by environment",
        ),
        ignored("supported_openai_params", DESCRIBES),
        off_only("team_id", "callers and their rights are not modelled"),
        off_only(
            "team_public_model_name",
            "callers and their rights are not modelled",
        ),
        off_only("tier", "not modelled yet: free and paid tiers"),
        off_only("tpm", LIMIT_LOOKUP),
    ],
    families: &[
        ("*_cost_*", OTHER_PRICES),
        ("*_cost", OTHER_PRICES),
        ("*_router_*", PROMPT_ROUTERS),
        ("supports_*", DESCRIBES),
    ],
    otherwise: "no routing key as far as routelab knows; LiteLLM keeps it with the model",
};

const LIMIT_LOOKUP: &str = "not modelled yet: limits from `model_info`, which only the usage, \
                            latency and cost strategies look up";
const ORDERS: std::ops::RangeInclusive<i64> = -1_000_000..=1_000_000;
