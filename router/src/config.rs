//! Settings as data, with LiteLLM's names and defaults.
//!
//! Nothing here decides. `scenarios` reads a LiteLLM `config.yaml` into these types; the policy
//! files of this crate act on them. Zero, missing and unknown are three values: a setting that was
//! not given is `None`.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    outcome::ErrorClass, price::Prices, profile::Profile, recovery::CooldownRecovery,
    step::StreamLimits, strategy::StrategySpec, time::Epoch, usage_window::UsageWindow,
};

/// Everything a router is built from.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RouterConfig {
    /// Whose behaviour to follow.
    pub profile: Profile,
    /// What the wall clock says at the beginning.
    pub epoch: Epoch,
    /// `model_list`, in its order.
    pub deployments: Vec<DeploymentConfig>,
    /// `router_settings`, with what `litellm_settings` adds.
    pub settings: RouterSettings,
}

/// One entry of `model_list`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct DeploymentConfig {
    /// `model_info.id`, or the hash that LiteLLM makes in its place.
    pub id: String,
    /// The model group.
    pub model_name: String,
    /// `litellm_params.model`: the provider's own name, as `provider/model`. Its stars are filled
    /// with what those of `model_name` stand for (semantics 1.7).
    pub model: String,
    /// `custom_llm_provider`: the provider, where it is not read off `model`.
    pub custom_llm_provider: Option<String>,
    /// `weight`: share under simple-shuffle.
    pub weight: Option<f64>,
    /// `weight` is given as a text, like `"3"`. LiteLLM takes it, and simple-shuffle then fails with
    /// a `TypeError` (observed).
    pub weight_is_text: bool,
    /// `rpm`: share under simple-shuffle, limit elsewhere. Requests a minute.
    pub rpm: Option<u64>,
    /// `tpm`: share under simple-shuffle, limit elsewhere. Tokens a minute.
    pub tpm: Option<u64>,
    /// `model_info.rpm`: a limit where `rpm` is missing (semantics 3, "limit lookup").
    pub model_info_rpm: Option<u64>,
    /// `model_info.tpm`: a limit where `tpm` is missing.
    pub model_info_tpm: Option<u64>,
    /// `order`: tier, the lowest first.
    pub order: Option<i64>,
    /// `max_parallel_requests`: slots. 0 means no limit (semantics 7).
    pub max_parallel_requests: Option<u64>,
    /// `timeout` of a whole attempt. Zero counts as not given (semantics 10).
    pub timeout: Option<Duration>,
    /// `stream_timeout`: bound on silence.
    pub stream_timeout: Option<Duration>,
    /// `first_token_timeout`, `stream_idle_timeout` and `stream_total_timeout`, none of which is
    /// LiteLLM's: they come before `stream_timeout` and the router's own.
    pub stream_limits: StreamLimits,
    /// `num_retries` in the deployment's own settings.
    pub num_retries: Option<u32>,
    /// `litellm_params.cooldown_time`. Zero means: never cool.
    pub cooldown_time: Option<Duration>,
    /// `model_info.cooldown_time`, which 1.92 ignores.
    pub model_info_cooldown_time: Option<Duration>,
    /// `model_info.cooldown_probe_after`, an extension of ours that LiteLLM ignores: a cooldown that
    /// is longer than this lets one request through each time it has passed. Only in `corrected`.
    pub cooldown_probe_after: Option<Duration>,
    /// `model_info.quota_group`, an extension of ours that LiteLLM ignores: deployments of one name
    /// stand for one upstream account. Only in `corrected`.
    pub quota_group: Option<String>,
    /// `model_info.allowed_fails`, which 1.92 ignores.
    pub allowed_fails: Option<u32>,
    /// `model_info.allowed_fails_policy`, which 1.92 ignores.
    pub allowed_fails_policy: Option<AllowedFailsPolicy>,
    /// `model_info.blocked`: paused.
    pub blocked: bool,
    /// Prices in `litellm_params`, as given.
    pub own_prices: Prices,
    /// The price registry's entry of exactly `model`: what cost-based routing looks at after the
    /// deployment's own (semantics 3.6).
    pub listed_prices: Prices,
    /// What a request is billed by: own prices, `model_info`, `base_model` or the registry,
    /// resolved by whoever reads the configuration (semantics 11.1).
    pub prices: Prices,
    /// `max_input_tokens` of the price registry's entry of its model: the longest prompt it takes,
    /// in tokens, which `enable_pre_call_checks` looks at. `None`: unknown.
    pub max_input_tokens: Option<u32>,
    /// `model_info.max_input_tokens`: comes before the registry's.
    pub model_info_max_input_tokens: Option<u32>,
    /// `region_name`.
    pub region_name: Option<String>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `tag_regex`: patterns sought in `User-Agent: …`.
    pub tag_regex: Vec<String>,
    /// `silent_model`: the group that gets a copy of each request picked for this deployment.
    pub silent_model: Option<String>,
    /// `max_budget` with `budget_duration`.
    pub budget: Option<Budget>,
}

impl DeploymentConfig {
    /// The limit on requests a minute that strategies and `enforce_model_rate_limits` go by.
    #[must_use]
    pub fn rpm_limit(&self) -> Option<u64> {
        self.rpm.or(self.model_info_rpm)
    }

    /// The limit on tokens a minute that strategies and `enforce_model_rate_limits` go by.
    #[must_use]
    pub fn tpm_limit(&self) -> Option<u64> {
        self.tpm.or(self.model_info_tpm)
    }
}

/// A limit on spending in a window of time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Budget {
    /// US dollars. Zero is no limit. `None` where a provider's entry gives none: with a window it then
    /// serves nothing (semantics 8.6).
    pub limit: Option<f64>,
    /// The length of the window. `None`: nothing is limited (observed).
    pub period: Option<Duration>,
}

/// `router_settings`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RouterSettings {
    /// `routing_strategy` with `routing_strategy_args`.
    pub routing_strategy: StrategySpec,
    /// `num_retries` of the router. LiteLLM's default is 2.
    pub num_retries: Option<u32>,
    /// `litellm_settings.num_retries`: process-wide.
    pub global_num_retries: Option<u32>,
    /// `retry_after`: least backoff. LiteLLM's default is 0.
    pub retry_after: Duration,
    /// `retry_policy`.
    pub retry_policy: Option<RetryPolicy>,
    /// `model_group_retry_policy`, by model group.
    pub model_group_retry_policy: BTreeMap<String, RetryPolicy>,
    /// `allowed_fails` of the router, if given.
    pub allowed_fails: Option<u32>,
    /// `litellm_settings.allowed_fails`; LiteLLM's default is 3. It only says whether the router's
    /// value differs from it (semantics 4.4, quirk Q6).
    pub global_allowed_fails: Option<u32>,
    /// `allowed_fails_policy`.
    pub allowed_fails_policy: Option<AllowedFailsPolicy>,
    /// `cooldown_time`. LiteLLM's default is 5 s, and 0 is read as 5 s.
    pub cooldown_time: Option<Duration>,
    /// `disable_cooldowns`.
    pub disable_cooldowns: bool,
    /// `cooldown_one_trial` and `cooldown_spread`, neither of which is LiteLLM's.
    pub cooldown_recovery: CooldownRecovery,
    /// `timeout` of a whole attempt. LiteLLM's default for chat is 600 s.
    pub timeout: Option<Duration>,
    /// `stream_timeout`.
    pub stream_timeout: Option<Duration>,
    /// `litellm_settings.request_timeout`, where it is given: process-wide (semantics 10).
    pub request_timeout: Option<Duration>,
    /// `litellm_settings.num_retries_per_request`: failures after which nothing more is called for a
    /// request (semantics 5.6).
    pub num_retries_per_request: Option<u32>,
    /// `default_litellm_params`, as far as they decide anything.
    pub default_litellm_params: DefaultLitellmParams,
    /// `first_token_timeout`, `stream_idle_timeout` and `stream_total_timeout`, none of which is
    /// LiteLLM's. Where one is given, a stream is bounded by its content, under every profile.
    pub stream_limits: StreamLimits,
    /// `fallbacks`. `None` where none are given; LiteLLM reads an empty list so too.
    pub fallbacks: Option<Fallbacks>,
    /// `default_fallbacks`: for groups without an entry of their own.
    pub default_fallbacks: Vec<String>,
    /// `context_window_fallbacks`.
    pub context_window_fallbacks: Option<Fallbacks>,
    /// `content_policy_fallbacks`.
    pub content_policy_fallbacks: Option<Fallbacks>,
    /// `max_fallbacks`: depth. LiteLLM's default is 5.
    pub max_fallbacks: Option<u32>,
    /// `default_max_parallel_requests`: slots of a deployment that sets nothing else.
    pub default_max_parallel_requests: Option<u64>,
    /// `enable_weighted_failover`.
    pub enable_weighted_failover: bool,
    /// `model_group_alias`: name asked for → model group.
    pub model_group_alias: BTreeMap<String, String>,
    /// `routing_groups`: strategies for some names only.
    pub routing_groups: Vec<RoutingGroup>,
    /// Whether a Redis is configured (`redis_url`, or `redis_host` with `redis_port`), which instances of
    /// the router share. A router goes by what it is lent: [`SharedStore`](crate::SharedStore).
    pub shared_store: bool,
    /// `usage_window`, of our own: over which time the profile `corrected` counts limits a minute.
    pub usage_window: UsageWindow,
    /// `enable_pre_call_checks`: context window, region and, in 1.92, rpm.
    pub enable_pre_call_checks: bool,
    /// `optional_pre_call_checks`, for groups without an entry below.
    pub optional_pre_call_checks: OptionalPreCallChecks,
    /// `model_group_affinity_config`: the affinity checks of these groups.
    pub model_group_affinity_config: BTreeMap<String, OptionalPreCallChecks>,
    /// `deployment_affinity_ttl_seconds`. LiteLLM's default is 3,600 s.
    pub deployment_affinity_ttl: Option<Duration>,
    /// `session_affinity_repin_on_failover` (1.110).
    pub session_affinity_repin_on_failover: bool,
    /// `enable_tag_filtering`.
    pub enable_tag_filtering: bool,
    /// `tag_filtering_match_any`. LiteLLM's default is true.
    pub tag_filtering_match_any: Option<bool>,
    /// `tag_routing_prefix` (1.110).
    pub tag_routing_prefix: Option<String>,
    /// `provider_budget_config`, by provider.
    pub provider_budget_config: BTreeMap<String, Budget>,
    /// `cache_responses`.
    pub cache_responses: bool,
    /// `cache_params.ttl`: how long an answer is kept. LiteLLM's default for the memory cache is 600 s.
    pub cache_ttl: Option<Duration>,
    /// `caching_groups`: groups that share the response cache's entries.
    pub caching_groups: Vec<Vec<String>>,
    /// `default_priority`, for requests without one.
    pub default_priority: Option<u32>,
    /// `polling_interval` of the priority queue. LiteLLM's default is 30 ms.
    pub polling_interval: Option<Duration>,
    /// `alerting_config`.
    pub alerting: Option<Alerting>,
}

/// `default_litellm_params`: what is added to each call that does not say otherwise. `timeout`,
/// `request_timeout` and tags in it decide nothing in either version (observed).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DefaultLitellmParams {
    /// `num_retries`: comes before the deployments', but not for blocking calls.
    pub num_retries: Option<u32>,
    /// `max_retries` of the client library, where the caller gives none.
    pub max_retries: Option<u32>,
    /// `cooldown_time`, which only 1.92 obeys: before the deployments'.
    pub cooldown_time: Option<Duration>,
    /// `stream_timeout`, after the router's.
    pub stream_timeout: Option<Duration>,
}

/// One of `routing_groups`: a strategy for some names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RoutingGroup {
    /// `group_name`; in 1.110 it can be called as a model.
    pub group_name: String,
    /// `models`: names, as they are asked for.
    pub models: Vec<String>,
    /// `routing_strategy` with `routing_strategy_args`.
    pub routing_strategy: StrategySpec,
    /// `model_priorities`, for the strategy `priority` (1.110); the lowest number first.
    pub model_priorities: BTreeMap<String, u32>,
}

/// The members of `optional_pre_call_checks` that decide where requests go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a list of names, each of which is there or not"
)]
pub struct OptionalPreCallChecks {
    /// `session_affinity`.
    pub session_affinity: bool,
    /// `deployment_affinity`: by the caller's key.
    pub deployment_affinity: bool,
    /// `prompt_caching`: by the prefix of the prompt.
    pub prompt_caching: bool,
    /// `enforce_model_rate_limits`.
    pub enforce_model_rate_limits: bool,
}

/// `alerting_config`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Alerting {
    /// `alerting_threshold`: answers slower than this are told. LiteLLM's default is 300 s.
    pub threshold: Duration,
    /// `webhook_url`, which only a live router calls. It may hold a secret, and is never written down.
    #[serde(skip)]
    pub webhook_url: Option<String>,
}

impl Default for RouterSettings {
    fn default() -> Self {
        Self {
            routing_strategy: StrategySpec::SimpleShuffle,
            num_retries: None,
            global_num_retries: None,
            retry_after: Duration::ZERO,
            retry_policy: None,
            model_group_retry_policy: BTreeMap::new(),
            allowed_fails: None,
            global_allowed_fails: None,
            allowed_fails_policy: None,
            cooldown_time: None,
            disable_cooldowns: false,
            cooldown_recovery: CooldownRecovery::default(),
            timeout: None,
            stream_timeout: None,
            request_timeout: None,
            num_retries_per_request: None,
            default_litellm_params: DefaultLitellmParams::default(),
            stream_limits: StreamLimits::default(),
            fallbacks: None,
            default_fallbacks: Vec::new(),
            context_window_fallbacks: None,
            content_policy_fallbacks: None,
            max_fallbacks: None,
            default_max_parallel_requests: None,
            enable_weighted_failover: false,
            model_group_alias: BTreeMap::new(),
            routing_groups: Vec::new(),
            shared_store: false,
            usage_window: UsageWindow::Minute,
            enable_pre_call_checks: false,
            optional_pre_call_checks: OptionalPreCallChecks::default(),
            model_group_affinity_config: BTreeMap::new(),
            deployment_affinity_ttl: None,
            session_affinity_repin_on_failover: false,
            enable_tag_filtering: false,
            tag_filtering_match_any: None,
            tag_routing_prefix: None,
            provider_budget_config: BTreeMap::new(),
            cache_responses: false,
            cache_ttl: None,
            caching_groups: Vec::new(),
            default_priority: None,
            polling_interval: None,
            alerting: None,
        }
    }
}

/// Lists of model names to fall back to, by the name that failed, in the file's order.
pub type Fallbacks = Vec<(String, Vec<String>)>;

/// `retry_policy`: retries by the class of the first error. `None`: the usual number.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "each field is LiteLLM's name for one class of errors"
)]
pub struct RetryPolicy {
    #[serde(rename = "AuthenticationErrorRetries")]
    pub authentication: Option<u32>,
    #[serde(rename = "TimeoutErrorRetries")]
    pub timeout: Option<u32>,
    #[serde(rename = "RateLimitErrorRetries")]
    pub rate_limit: Option<u32>,
    #[serde(rename = "ContentPolicyViolationErrorRetries")]
    pub content_policy_violation: Option<u32>,
    #[serde(rename = "BadRequestErrorRetries")]
    pub bad_request: Option<u32>,
    #[serde(rename = "InternalServerErrorRetries")]
    pub internal_server: Option<u32>,
    #[serde(rename = "ServiceUnavailableErrorRetries")]
    pub service_unavailable: Option<u32>,
    #[serde(rename = "NotFoundErrorRetries")]
    pub not_found: Option<u32>,
    #[serde(rename = "DefaultRetries")]
    pub default: Option<u32>,
}

/// `allowed_fails_policy`: failures that are let pass, by class. `None`: the router's `allowed_fails`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "each field is LiteLLM's name for one class of errors"
)]
pub struct AllowedFailsPolicy {
    #[serde(rename = "AuthenticationErrorAllowedFails")]
    pub authentication: Option<u32>,
    #[serde(rename = "TimeoutErrorAllowedFails")]
    pub timeout: Option<u32>,
    #[serde(rename = "RateLimitErrorAllowedFails")]
    pub rate_limit: Option<u32>,
    #[serde(rename = "ContentPolicyViolationErrorAllowedFails")]
    pub content_policy_violation: Option<u32>,
    #[serde(rename = "BadRequestErrorAllowedFails")]
    pub bad_request: Option<u32>,
    #[serde(rename = "InternalServerErrorAllowedFails")]
    pub internal_server: Option<u32>,
    #[serde(rename = "ServiceUnavailableErrorAllowedFails")]
    pub service_unavailable: Option<u32>,
    #[serde(rename = "BadGatewayErrorAllowedFails")]
    pub bad_gateway: Option<u32>,
    #[serde(rename = "NotFoundErrorAllowedFails")]
    pub not_found: Option<u32>,
}

impl RouterConfig {
    /// A router over deployments of one model group called `m`, with LiteLLM's defaults: for
    /// examples and tests.
    #[must_use]
    pub fn of_deployments<const N: usize>(ids: [&str; N]) -> Self {
        let deployment = |id: &str| DeploymentConfig {
            id: id.to_owned(),
            model_name: "m".to_owned(),
            model: format!("openai/fake-{id}"),
            ..DeploymentConfig::default()
        };
        Self {
            deployments: ids.map(deployment).into(),
            ..Self::default()
        }
    }
}

/// Classes that LiteLLM's exception hierarchy counts as a bad request.
#[must_use]
pub(crate) const fn is_bad_request(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::BadRequest
            | ErrorClass::ContentPolicyViolation
            | ErrorClass::ContextWindowExceeded
    )
}
