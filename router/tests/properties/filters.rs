//! What filters look at, at random: tags, regions, windows, budgets, sessions, keys and prefixes.

use std::{num::NonZeroU64, time::Duration};

use proptest::{
    collection::vec,
    option,
    prelude::{Just, Strategy, any, prop_oneof},
    sample::{select, subsequence},
};
use router::{
    CallerId, ContentId, DeploymentConfig, Origin, Overrides, Prices, Request, RouterSettings,
    SessionId, StrategySpec,
    config::{Budget, OptionalPreCallChecks},
};

use crate::world::{Case, Picked};

const TAGS: [&str; 3] = ["x", "y", "default"];
const REGIONS: [&str; 2] = ["eu", "us"];

/// What a request brings along for filters.
#[derive(Debug, Clone)]
pub(crate) struct Brought {
    prompt_tokens: u32,
    origin: Origin,
    tags: Vec<String>,
    user_agent: Option<String>,
    region: Option<String>,
    pub(crate) blocking: bool,
}

impl Brought {
    /// Puts it on a request.
    pub(crate) fn put_on(&self, request: &mut Request, overrides: &mut Overrides) {
        request.prompt_tokens = self.prompt_tokens;
        request.origin = self.origin;
        overrides.tags.clone_from(&self.tags);
        overrides.user_agent.clone_from(&self.user_agent);
        overrides.allowed_model_region.clone_from(&self.region);
        overrides.blocking = self.blocking;
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// One of few numbers, so that requests have some in common.
fn few() -> impl Strategy<Value = Option<NonZeroU64>> {
    option::of((1..4_u64).prop_map(|n| NonZeroU64::new(n).unwrap()))
}

pub(crate) fn brought() -> impl Strategy<Value = Brought> {
    let tag = select(&["x", "y", "z", "!x", "!y", "!default"][..]);
    let tags = prop_oneof![2 => Just(Vec::new()), 1 => vec(tag, 1..3)];
    let parts = (
        select(&[10, 100, 2_000][..]),
        (few(), few(), few()),
        tags,
        option::weighted(0.2, Just("agent".to_owned())),
        option::weighted(0.2, select(&REGIONS[..])),
        proptest::bool::weighted(0.1),
    );
    parts.prop_map(
        |(prompt_tokens, (session, caller, prefix), tags, agent, region, blocking)| Brought {
            prompt_tokens,
            origin: Origin {
                session: session.map(SessionId),
                caller: caller.map(CallerId),
                prefix: prefix.map(ContentId),
                ..Origin::default()
            },
            tags: owned(&tags),
            user_agent: agent,
            region: region.map(str::to_owned),
            blocking,
        },
    )
}

fn budget() -> impl Strategy<Value = Budget> {
    let parts = (
        option::weighted(0.9, select(&[-1.0, 0.0, 0.01, 0.05][..])),
        option::weighted(0.9, 0..4_u64),
    );
    parts.prop_map(|(limit, period)| Budget {
        limit,
        period: period.map(Duration::from_secs),
    })
}

/// What filters look at of a deployment; the other fields are its default's.
pub(crate) fn looked_at() -> impl Strategy<Value = DeploymentConfig> {
    let parts = (
        subsequence(&TAGS[..], 0..3),
        option::weighted(0.2, select(&["agent", "^User-Agent: b"][..])),
        option::of(select(&REGIONS[..])),
        option::weighted(0.3, select(&[50, 500][..])),
        option::weighted(0.3, budget()),
        option::of(select(&[0.0, 1e-3][..])),
    );
    parts.prop_map(
        |(tags, pattern, region, window, budget, price)| DeploymentConfig {
            tags: owned(&tags),
            tag_regex: pattern.into_iter().map(str::to_owned).collect(),
            region_name: region.map(str::to_owned),
            model_info_max_input_tokens: window,
            budget,
            prices: Prices {
                input: price,
                output: price,
                ..Prices::default()
            },
            ..DeploymentConfig::default()
        },
    )
}

/// The settings of filters; the other fields are the default's.
pub(crate) fn settings() -> impl Strategy<Value = RouterSettings> {
    let checks =
        (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(s, d, p)| OptionalPreCallChecks {
            session_affinity: s,
            deployment_affinity: d,
            prompt_caching: p,
            enforce_model_rate_limits: false,
        });
    let parts = (
        checks,
        option::of(0..3_u64),
        any::<bool>(),
        (any::<bool>(), option::of(any::<bool>())),
        option::weighted(0.2, select(&["", "x"][..])),
        any::<bool>(),
        option::weighted(0.3, budget()),
    );
    parts.prop_map(
        |(checks, ttl, repin, (tags, match_any), prefix, pre_call, provider)| RouterSettings {
            optional_pre_call_checks: checks,
            deployment_affinity_ttl: ttl.map(Duration::from_secs),
            session_affinity_repin_on_failover: repin,
            enable_tag_filtering: tags,
            tag_filtering_match_any: match_any,
            tag_routing_prefix: prefix.map(str::to_owned),
            enable_pre_call_checks: pre_call,
            provider_budget_config: provider
                .map(|budget| ("openai".to_owned(), budget))
                .into_iter()
                .collect(),
            ..RouterSettings::default()
        },
    )
}

/// Why the deployment should not have been picked, if a filter excludes it.
pub(crate) fn excluded(case: &Case, picked: &Picked) -> Option<&'static str> {
    let settings = &case.config.settings;
    let asked = &case.requests[usize::try_from(picked.request.0).unwrap()].brought;
    let deployment = &case.config.deployments[picked.deployment.index()];
    if settings.enable_pre_call_checks {
        let window = deployment.model_info_max_input_tokens;
        if window.is_some_and(|window| asked.prompt_tokens > window) {
            return Some("the prompt is too long");
        }
        if asked.region.is_some() && asked.region != deployment.region_name {
            return Some("it is in another region");
        }
    }
    let by_usage = matches!(settings.routing_strategy, StrategySpec::UsageBased(_));
    let as_blocking = case.config.profile.usage_v1_picks_as_blocking && by_usage;
    if asked.blocking || as_blocking {
        return None;
    }
    let prefixed = settings.tag_routing_prefix.is_some();
    if settings.enable_tag_filtering && !prefixed {
        let banned = |tag: &String| asked.tags.contains(&format!("!{tag}"));
        if deployment.tags.iter().any(banned) {
            return Some("its tag is banned");
        }
    }
    let providers = settings.provider_budget_config.get("openai");
    let budgets = [providers, deployment.budget.as_ref()];
    let has_window = |b: &Budget| b.period.is_some_and(|period| !period.is_zero());
    let none_left = |b: &&Budget| has_window(b) && b.limit.is_some_and(|limit| limit < 0.0);
    if budgets.into_iter().flatten().any(|b| none_left(&b)) {
        return Some("its budget is below zero");
    }
    let barred = providers.is_some_and(|b| b.limit.is_none() && b.period.is_some());
    barred.then_some("its provider has no limit")
}
