//! Routers and plans of known size, and the bare loop that they are held against.

pub mod floor;

use std::fmt::Write as _;

use router::{DeploymentConfig, ModelId, Request, RequestId, RouterConfig, StrategySpec};
use scenarios::{LoadOptions, RunPlan, Scenario, Source};

/// A group of this many deployments under this strategy.
#[must_use]
pub fn router_config(deployments: usize, strategy: StrategySpec) -> RouterConfig {
    let mut config = RouterConfig::default();
    config.settings.routing_strategy = strategy;
    config.deployments = (0..deployments)
        .map(|number| DeploymentConfig {
            id: format!("d{number}"),
            model_name: "m".to_owned(),
            model: format!("openai/d{number}"),
            ..DeploymentConfig::default()
        })
        .collect();
    config
}

/// A request without settings of its own.
#[must_use]
pub fn request(number: u64, model: ModelId) -> Request {
    Request {
        id: RequestId(number),
        model,
        prompt_tokens: 500,
        max_tokens: None,
        stream: false,
        origin: router::Origin::default(),
        overrides: None,
    }
}

/// A plan that does per request what the [bare loop](floor::floor) does: 1,000 requests a second
/// over this many deployments by weight, log-normal latency around 0.9 s, one attempt in twenty
/// failing after 10 ms and retried. Failures are counted for cooldowns, but none cools: otherwise
/// refused requests, which are cheap, would flatter the time per request.
///
/// # Panics
///
/// If `scenarios` does not accept the file that is written here.
#[must_use]
pub fn plan(deployments: usize, strategy: &str, duration_s: u64) -> RunPlan {
    plan_of(&scenario_text(deployments, strategy, duration_s, 1)).swap_remove(0)
}

/// [`plan`] over ten deployments, beside a group that nobody asks for and that uses what a group can:
/// order tiers, limits, times of its own, retry and allowed-fails policies, fallbacks, an alias.
///
/// # Panics
///
/// If `scenarios` does not accept the file that is written here.
#[must_use]
pub fn plan_beside_features(duration_s: u64) -> RunPlan {
    let mut text = scenario_text(10, "simple-shuffle", duration_s, 1);
    let settings = "{routing_strategy: simple-shuffle, ";
    assert!(text.contains(settings), "the settings are written so");
    text = text.replace(
        settings,
        &format!("{settings}{SETTINGS_OF_ANOTHER_GROUP}, "),
    );
    text += DEPLOYMENTS_OF_ANOTHER_GROUP;
    plan_of(&text).swap_remove(0)
}

const SETTINGS_OF_ANOTHER_GROUP: &str = "fallbacks: [{n: [m]}], \
    context_window_fallbacks: [{n: [m]}], content_policy_fallbacks: [{n: [m]}], \
    model_group_retry_policy: {n: {RateLimitErrorRetries: 3, TimeoutErrorRetries: 1}}, \
    model_group_alias: {nick: n}";
const DEPLOYMENTS_OF_ANOTHER_GROUP: &str = "    - model_name: n
      litellm_params: {model: openai/n1, order: 1, rpm: 60, tpm: 60000, max_parallel_requests: 5,
                       timeout: 30, stream_timeout: 5, num_retries: 1, cooldown_time: 20}
      model_info: {id: n1, allowed_fails_policy: {TimeoutErrorAllowedFails: 2}}
    - model_name: n
      litellm_params: {model: openai/n2, order: 2, input_cost_per_token: 0.000001}
      model_info: {id: n2}
";

/// [`plan`], with as many arms as there are cooldown times and with replications.
///
/// # Panics
///
/// If `scenarios` does not accept the file that is written here.
#[must_use]
pub fn sweep(duration_s: u64, replications: u32) -> Scenario {
    let mut text = scenario_text(10, "simple-shuffle", duration_s, replications);
    text += "sweep: {cooldown_time: [1, 5, 30, 60], num_retries: [0, 2]}\n";
    load(&text)
}

fn plan_of(text: &str) -> Vec<RunPlan> {
    load(text).plans()
}

fn load(text: &str) -> Scenario {
    let source = Source::Text {
        name: "bench".to_owned(),
        text: text.to_owned(),
    };
    Scenario::load(&source, &LoadOptions::default()).expect("the scenario below is valid")
}

fn scenario_text(deployments: usize, strategy: &str, duration_s: u64, replications: u32) -> String {
    let mut text = format!(
        "purpose: How long does a simulated request take?
kind: steady
replications: {replications}
workload:
  arrivals: {{poisson: {{per_second: 1000}}}}
  lengths: {{prompt: {{constant: 500}}, output: {{constant: 100}}}}
  duration_s: {duration_s}
providers:
  default:
    latency: {{first_token: {{log_normal: {{median_ms: 900, sigma: 0.5}}}}}}
    faults: [{{error_rate: {{share: 0.05, status: 429, after_ms: 10}}}}]
litellm:
  router_settings: {{routing_strategy: {strategy}, allowed_fails: 1000000000}}
  model_list:
"
    );
    for number in 0..deployments {
        let _ = writeln!(
            text,
            "    - {{model_name: m, litellm_params: {{model: openai/d{number}, weight: 1}}, \
             model_info: {{id: d{number}}}}}"
        );
    }
    text
}
