//! The settings of filters and of what they look at: pre-call checks, budgets, tags, affinity.

use std::num::NonZeroU64;

use router::{
    CallerId, ContentId, DeploymentConfig, Origin, Overrides, RouterSettings, SessionId,
    config::{Budget, OptionalPreCallChecks},
};
use serde_json::Value;

use crate::{
    setup::{items, parse, seconds},
    vector::Asked,
};

/// Sets one of `router`'s keys, if it is one of these.
pub(crate) fn set(settings: &mut RouterSettings, key: &str, value: &Value) {
    match key {
        "deployment_affinity_ttl_seconds" => {
            settings.deployment_affinity_ttl = Some(seconds(value));
        }
        "enable_pre_call_checks" => settings.enable_pre_call_checks = *value == true,
        "enable_tag_filtering" => settings.enable_tag_filtering = *value == true,
        "model_group_affinity_config" => {
            let groups = value.as_object().expect("an object");
            let flags = |(group, list): (&String, &Value)| (group.clone(), checks(list));
            settings.model_group_affinity_config = groups.iter().map(flags).collect();
        }
        "optional_pre_call_checks" => settings.optional_pre_call_checks = checks(value),
        "provider_budget_config" => {
            let entries = value.as_object().expect("an object");
            let entry = |(provider, entry): (&String, &Value)| {
                let limit = entry.get("budget_limit").and_then(Value::as_f64);
                (provider.clone(), budget(limit, entry.get("time_period")))
            };
            settings.provider_budget_config = entries.iter().map(entry).collect();
        }
        "session_affinity_repin_on_failover" => {
            settings.session_affinity_repin_on_failover = *value == true;
        }
        "tag_filtering_match_any" => settings.tag_filtering_match_any = Some(*value == true),
        "tag_routing_prefix" => settings.tag_routing_prefix = value.as_str().map(str::to_owned),
        _ => {}
    }
}

fn checks(list: &Value) -> OptionalPreCallChecks {
    let has = |name: &str| items(list).iter().any(|v| v == name);
    OptionalPreCallChecks {
        session_affinity: has("session_affinity"),
        deployment_affinity: has("deployment_affinity"),
        prompt_caching: has("prompt_caching"),
        enforce_model_rate_limits: has("enforce_model_rate_limits"),
    }
}

/// Sets one of `litellm_params`' keys, if it is one of these.
pub(crate) fn set_param(deployment: &mut DeploymentConfig, key: &str, value: &Value) {
    let kept = deployment.budget.unwrap_or(Budget {
        limit: None,
        period: None,
    });
    match key {
        "budget_duration" => deployment.budget = Some(budget(kept.limit, Some(value))),
        "custom_llm_provider" => {
            deployment.custom_llm_provider = value.as_str().map(str::to_owned);
        }
        "max_budget" => {
            deployment.budget = Some(Budget {
                limit: value.as_f64(),
                ..kept
            });
        }
        "region_name" => deployment.region_name = value.as_str().map(str::to_owned),
        "tag_regex" => deployment.tag_regex = parse(value),
        "tags" => deployment.tags = parse(value),
        _ => {}
    }
}

/// `<n>` of seconds, minutes, hours, days, weeks or months; anything else is no window.
fn budget(limit: Option<f64>, period: Option<&Value>) -> Budget {
    let period = period.and_then(Value::as_str).and_then(|text| {
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let number: u64 = text[..text.len() - unit.len()].parse().ok()?;
        let unit_s = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            "mo" => 30 * 86_400,
            _ => return None,
        };
        Some(std::time::Duration::from_secs(number * unit_s))
    });
    Budget { limit, period }
}

/// Sets what a request brings along for filters.
pub(crate) fn set_override(overrides: &mut Overrides, key: &str, value: &Value) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    match key {
        "allowed_model_region" => overrides.allowed_model_region = text(Some(value)),
        "metadata" => {
            overrides.tags = value.get("tags").map(parse).unwrap_or_default();
            overrides.user_agent = text(value.get("user_agent"));
        }
        _ => {}
    }
}

/// Who asks, and with which prefix.
pub(crate) fn origin(asked: &Asked) -> Origin {
    let of = |place: &str, key: &str| asked.kwargs.get(place)?.get(key).map(id);
    let session = of("litellm_metadata", "session_id").or_else(|| of("metadata", "session_id"));
    let caller = of("metadata", "user_api_key_hash");
    Origin {
        session: session.map(SessionId),
        caller: caller.map(CallerId),
        prefix: prefix(asked).map(ContentId),
        ..Origin::default()
    }
}

/// Everything up to the last block that is marked with `cache_control`.
fn prefix(asked: &Asked) -> Option<NonZeroU64> {
    let messages = items(asked.kwargs.get("messages")?);
    let marked = |block: &Value| block["cache_control"]["type"] == "ephemeral";
    let last = messages
        .iter()
        .rposition(|message| marked(message) || items(&message["content"]).iter().any(marked))?;
    let blocks = items(&messages[last]["content"]);
    let within = blocks.iter().rposition(marked).map(|at| &blocks[..=at]);
    Some(id(&serde_json::json!([&messages[..last], within])))
}

/// About how many tokens the request has: one for each word of a prompt that is written out, else
/// what the default prompt has, and one more for each filler word. An embedding's input has no frame
/// around it.
pub(crate) fn prompt_tokens(asked: &Asked) -> u32 {
    match (asked.kwargs.get("messages"), asked.api.as_deref()) {
        (Some(messages), _) => {
            let words = messages.to_string().split_whitespace().count();
            u32::try_from(words).unwrap_or(u32::MAX)
        }
        (None, Some("embedding")) => 8,
        (None, _) => 15 + asked.words,
    }
}

/// The same number for the same value.
fn id(value: &Value) -> NonZeroU64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in value.to_string().bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN)
}
