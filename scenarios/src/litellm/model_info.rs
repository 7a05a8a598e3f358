//! `model_info`: what LiteLLM reads of an entry's description (semantics 1.3).

use super::{
    entry::Draft,
    params::{ORDERS, read_price},
    policies::ALLOWED_FAILS_POLICY,
    section::{Section, ignored, off_only, used},
    setting::{Result, Setting, fill},
    tables::{DESCRIBES, HEALTH_CHECKS, OTHER_PRICES, PROMPT_ROUTERS, PROXY},
};
use crate::{
    error::suggestion,
    yaml::{Node, Value},
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
        // Ours, which LiteLLM keeps and does not read; so is the next.
        used("quota_group", |d, s| {
            s.text().map(|name| d.deployment.quota_group = name)
        }),
        used("cooldown_probe_after", |d, s| {
            s.seconds()
                .map(|length| d.deployment.cooldown_probe_after = length)
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
        used("rpm", |d, s| {
            s.count_or_text()
                .map(|rpm| d.deployment.model_info_rpm = rpm)
        }),
        used("tpm", |d, s| {
            s.count_or_text()
                .map(|tpm| d.deployment.model_info_tpm = tpm)
        }),
        used("base_model", |d, s| {
            s.group().map(|name| d.facts.base_model_of_info = name)
        }),
        used("max_input_tokens", read_max_input_tokens),
        used("supported_environments", read_environments),
        used("input_cost_per_token", read_info_price),
        used("output_cost_per_token", read_info_price),
        used("cache_read_input_token_cost", read_info_price),
        used("input_cost_per_token_batches", read_info_price),
        used("output_cost_per_token_batches", read_info_price),
        used("cache_read_input_token_cost_batches", read_info_price),
        off_only(
            "access_groups",
            "LiteLLM holds callers' keys to it; callers have none here, and see every deployment",
        ),
        off_only(
            "access_windows",
            "not modelled: times of the day at which a model may be used",
        ),
        ignored("allow_fail_open", PROXY),
        ignored("context_window", DESCRIBES),
        ignored("created_at", DESCRIBES),
        ignored("created_by", DESCRIBES),
        ignored("db_model", DESCRIBES),
        ignored("description", DESCRIBES),
        ignored("discoverable", DESCRIBES),
        ignored(
            "enable_tag_filtering",
            "not modelled yet: a switch of one model alone, which LiteLLM 1.110 puts above the router's",
        ),
        ignored("enforce_supported_endpoints", PROXY),
        off_only("disable_background_health_check", HEALTH_CHECKS),
        ignored("health_check_model", HEALTH_CHECKS),
        ignored("health_check_timeout", HEALTH_CHECKS),
        ignored("input_cost_per_1k_tokens", PER_THOUSAND),
        ignored("limit", DESCRIBES),
        ignored("max_embedding_batch_size", DESCRIBES),
        ignored("max_output_tokens", DESCRIBES),
        ignored(
            "max_tokens",
            "describes the model; the context-window check reads `max_input_tokens` only",
        ),
        ignored("member_auto_router", PROMPT_ROUTERS),
        ignored("mode", DESCRIBES),
        ignored("output_cost_per_1k_tokens", PER_THOUSAND),
        ignored("pricing_provider", OTHER_PRICES),
        ignored("provider", DESCRIBES),
        ignored("supported_openai_params", DESCRIBES),
        off_only("team_id", TEAMS),
        off_only("team_public_model_name", TEAMS),
        ignored("tier", DESCRIBES),
        ignored("tiered_pricing", OTHER_PRICES),
        ignored("updated_at", DESCRIBES),
        ignored("updated_by", DESCRIBES),
    ],
    families: &[
        used("*_cost*_above_*_tokens", read_info_price),
        ignored("*_cost_*", OTHER_PRICES),
        ignored("*_cost", OTHER_PRICES),
        ignored("*_router_*", PROMPT_ROUTERS),
        ignored("cost_per_ptu_*", OTHER_PRICES),
        ignored("ptu_*", OTHER_PRICES),
        ignored("supports_*", DESCRIBES),
    ],
    otherwise: "no routing key as far as routelab knows; LiteLLM keeps it with the model",
};

fn read_info_price(d: &mut Draft, s: &mut Setting<'_>) -> Result<()> {
    read_price(&mut d.facts.info_prices, s)
}

/// The context-window check looks only at whole numbers (semantics 2.3.9); 0 is one (observed).
fn read_max_input_tokens(d: &mut Draft, s: &mut Setting<'_>) -> Result<()> {
    let is_other = |node: &Node| matches!(node.value, Value::Str(_) | Value::Float(_));
    if s.given().is_some_and(is_other) {
        s.suspect("LiteLLM's context-window check looks only at whole numbers");
        return Ok(());
    }
    let tokens = s.whole(0..=i64::from(u32::MAX))?;
    d.facts.max_input_tokens = tokens.and_then(|tokens| tokens.try_into().ok());
    Ok(())
}

/// Whether the deployment is for this environment, as far as the config says which one that is.
fn read_environments(d: &mut Draft, s: &mut Setting<'_>) -> Result<()> {
    let named = s.texts()?;
    if let Some(odd) = named.iter().find(|name| !is_environment(name)) {
        return Err(s
            .error(format!("no environment is called `{odd}`"))
            .help(suggestion(odd, &ENVIRONMENTS)));
    }
    match &d.environment {
        Some(environment) => d.is_elsewhere = !named.contains(environment),
        None if s.node.is_null() => {}
        None => s.ignore(
            "which environment it is stands outside of the config, so every deployment is kept; say \
             it with environment_variables.LITELLM_ENVIRONMENT",
        ),
    }
    Ok(())
}

/// Whether LiteLLM takes this for the name of an environment.
pub(super) fn is_environment(name: &str) -> bool {
    ENVIRONMENTS.contains(&name)
}

/// The names of environments.
pub(super) const ENVIRONMENTS: [&str; 3] = ["development", "staging", "production"];

const PER_THOUSAND: &str = "LiteLLM does not read prices by the thousand tokens; write `input_cost_per_token` and \
     `output_cost_per_token`";
const TEAMS: &str = "callers and their teams are not modelled: everybody reaches it here, in \
                     LiteLLM the callers of its team alone";
