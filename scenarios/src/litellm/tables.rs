//! What several tables share: the reasons for ignoring a key, and where a misplaced key belongs.

use super::{
    library_settings::LITELLM_SETTINGS, model_info::MODEL_INFO, params::LITELLM_PARAMS,
    settings::ROUTER_SETTINGS,
};

pub(super) const ACCOUNT: &str = "names or opens an account; no request is sent";
pub(super) const ADDRESS: &str = "says where to send; no request is sent";
pub(super) const BUDGETS: &str = "not modelled: budgets of callers, keys and tags";
pub(super) const DESCRIBES: &str = "describes the model; routing does not read it";
pub(super) const FROM_ENVIRONMENT: &str =
    "its value stands in the environment, which is never asked; taken as not given";
pub(super) const HEALTH_CHECKS: &str = "not modelled: LiteLLM's proxy calls every deployment in the \
    background and leaves out those that fail; here only the requests themselves tell who fails";
pub(super) const OBSERVABILITY: &str = "observability only";
pub(super) const OTHER_PRICES: &str =
    "not modelled: prices other than those of tokens of text; no request here is billed by it";
pub(super) const PROMPT_ROUTERS: &str =
    "not modelled yet: choosing the model by what the prompt says";
pub(super) const PROVIDER: &str = "passed on to the provider; no request is sent";
pub(super) const PROXY: &str = "a setting of the proxy; routing does not read it";
pub(super) const PROXY_LIMIT: &str = "not modelled: a limit of the whole proxy";
pub(super) const SECRET: &str = "names a secret; no request is sent";
pub(super) const SHARED_STATE: &str =
    "not modelled: where answers and counts are kept, and for how long";
pub(super) const UNKNOWN: &str = "unknown to LiteLLM 1.110 as far as routelab knows";

/// The section under which LiteLLM reads a routing key of this name.
pub(super) fn home_of(name: &str) -> Option<&'static str> {
    let has = |mut names: Box<dyn Iterator<Item = &'static str>>| names.any(|known| known == name);
    if has(Box::new(ROUTER_SETTINGS.routing_names())) {
        Some("router_settings")
    } else if has(Box::new(LITELLM_PARAMS.routing_names())) {
        Some("model_list[…].litellm_params")
    } else if has(Box::new(LITELLM_SETTINGS.routing_names())) {
        Some("litellm_settings")
    } else if has(Box::new(MODEL_INFO.routing_names())) {
        Some("model_list[…].model_info")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::section::Section;
    use super::*;

    fn names<T>(section: &Section<T>) -> Vec<&'static str> {
        section.keys.iter().map(|key| key.name).collect()
    }

    #[test]
    fn no_table_has_a_key_twice() {
        let tables = [
            names(&LITELLM_PARAMS),
            names(&MODEL_INFO),
            names(&ROUTER_SETTINGS),
            names(&LITELLM_SETTINGS),
        ];
        for table in tables {
            let mut sorted = table.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), table.len(), "{table:?}");
        }
    }

    #[test]
    fn a_misplaced_routing_key_has_a_home() {
        assert_eq!(home_of("cooldown_time"), Some("router_settings"));
        assert_eq!(home_of("weight"), Some("model_list[…].litellm_params"));
        assert_eq!(
            home_of("request_timeout"),
            Some("model_list[…].litellm_params")
        );
        assert_eq!(home_of("api_key"), None);
    }
}
