//! `optional_pre_call_checks` and `model_group_affinity_config`: lists of names that switch checks on
//! (semantics 1.9, 8).

use std::collections::BTreeMap;

use router::config::OptionalPreCallChecks;

use super::{
    setting::{Result, Setting},
    tables::UNKNOWN,
};
use crate::error::did_you_mean;

/// Reads `optional_pre_call_checks`. LiteLLM passes over names that it does not know (observed).
pub(super) fn read_checks(s: &mut Setting<'_>) -> Result<OptionalPreCallChecks> {
    read_names(s, &CHECKS)
}

/// Reads `model_group_affinity_config`: the affinity checks of some groups, in place of the
/// router's.
pub(super) fn read_affinity(
    s: &mut Setting<'_>,
) -> Result<BTreeMap<String, OptionalPreCallChecks>> {
    let mut by_group = BTreeMap::new();
    s.entries(|group, names| {
        by_group.insert(group.to_owned(), read_names(names, &AFFINITY)?);
        Ok(())
    })?;
    Ok(by_group)
}

/// What a name does: the switch that it turns on, or why it turns none.
type Check = (&'static str, Effect);

#[derive(Clone, Copy)]
enum Effect {
    On(fn(&mut OptionalPreCallChecks)),
    None(&'static str),
}

fn read_names(s: &mut Setting<'_>, known: &[Check]) -> Result<OptionalPreCallChecks> {
    let mut checks = OptionalPreCallChecks::default();
    s.items(|item| {
        let Some(name) = item.text()? else {
            return Err(item.unaccepted("the name of a check"));
        };
        match known.iter().find(|(known, _)| *known == name) {
            Some((_, Effect::On(switch))) => switch(&mut checks),
            Some((_, Effect::None(why))) => item.ignore(*why),
            None => item.suspect(
                match did_you_mean(&name, known.iter().map(|(name, _)| *name)) {
                    Some(near) => format!("{UNKNOWN}; did you mean `{near}`?"),
                    None => UNKNOWN.to_owned(),
                },
            ),
        }
        Ok(())
    })?;
    Ok(checks)
}

const CHECKS: [Check; 8] = [
    (
        "session_affinity",
        Effect::On(|c| c.session_affinity = true),
    ),
    (
        "deployment_affinity",
        Effect::On(|c| c.deployment_affinity = true),
    ),
    ("prompt_caching", Effect::On(|c| c.prompt_caching = true)),
    (
        "enforce_model_rate_limits",
        Effect::On(|c| c.enforce_model_rate_limits = true),
    ),
    (
        "router_budget_limiting",
        Effect::None("budgets are held as soon as one is configured, with or without it"),
    ),
    ("responses_api_deployment_check", Effect::None(RESPONSES)),
    ("encrypted_content_affinity", Effect::None(RESPONSES)),
    (
        "forward_client_headers_by_model_group",
        Effect::None("passes headers on to the provider; no request is sent"),
    ),
];

const AFFINITY: [Check; 3] = [
    (
        "session_affinity",
        Effect::On(|c| c.session_affinity = true),
    ),
    (
        "deployment_affinity",
        Effect::On(|c| c.deployment_affinity = true),
    ),
    ("responses_api_deployment_check", Effect::None(RESPONSES)),
];

const RESPONSES: &str = "pins what names an earlier response; requests here are chat completions";
