//! `enable_pre_call_checks`: whose context window takes the prompt, who is in the region asked for
//! and, in 1.92, who was picked less often in a minute than its `rpm` says. (semantics 2.3.9)
//!
//! A deployment that fails one check is not asked the next. Calls without `messages` (embeddings)
//! are not checked, but for the region in 1.110, and their picks are not counted.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    config::{DeploymentConfig, RouterConfig},
    filters::Sieve,
    observe::{Observer, PassedOver},
    provider,
    request::{Api, DeploymentId, Request},
    route_error::RouteError,
    strategy::StrategySpec,
    time::Instant,
    window::TumblingCount,
};

/// What the checks know of deployments.
#[derive(Debug)]
pub(crate) struct PreCallChecks {
    /// Calls without `messages` are checked too.
    every_call: bool,
    /// Calls without `messages` are held to the region that they ask for.
    regions_of_every_call: bool,
    /// By deployment: the longest prompt it takes, in tokens, if known.
    windows: Vec<Option<u32>>,
    /// By deployment: picks within 60 s of the first of them; empty if rpm is not checked.
    picks: Vec<TumblingCount>,
}

impl PreCallChecks {
    /// `None` where they are off.
    pub(crate) fn new(config: &RouterConfig) -> Option<Self> {
        let settings = &config.settings;
        if !settings.enable_pre_call_checks {
            return None;
        }
        let usage_v2 = matches!(settings.routing_strategy, StrategySpec::UsageBasedV2(_));
        let counts = match config.profile.pre_call_checks_count_picks && !usage_v2 {
            true => config.deployments.len(),
            false => 0,
        };
        Some(Self {
            every_call: config.profile.corrections.every_call_is_checked,
            regions_of_every_call: config.profile.embeddings_keep_to_regions,
            windows: windows(config),
            picks: vec![TumblingCount::default(); counts],
        })
    }

    /// A deployment was picked for a call that is not blocking.
    pub(crate) fn count_pick(&mut self, now: Instant, request: &Request, picked: DeploymentId) {
        if self.looks_at(request)
            && let Some(picks) = self.picks.get_mut(picked.index())
        {
            picks.increment(now, PICKS_TTL);
        }
    }

    /// Passes over whoever fails a check. To leave nobody is an error, unless the region alone did.
    pub(crate) fn filter(
        &self,
        sieve: &mut Sieve<'_, impl Observer>,
        request: &Request,
        deployments: &[DeploymentConfig],
    ) -> Result<(), RouteError> {
        let whole = self.looks_at(request);
        if sieve.left.is_empty() || !(whole || self.regions_of_every_call) {
            return Ok(());
        }
        let overrides = request.overrides.as_deref();
        let region = overrides.and_then(|o| o.allowed_model_region.as_deref());
        let now = sieve.now;
        let (mut too_long, mut over_rpm) = (false, false);
        sieve.pass_over(|d| {
            let window = self.windows[d.index()].filter(|_| whole);
            if window.is_some_and(|window| request.prompt_tokens > window) {
                too_long = true;
                return Some(PassedOver::PromptTooLong);
            }
            let deployment = &deployments[d.index()];
            if whole && self.has_used_up(now, d, deployment.rpm) {
                over_rpm = true;
                return Some(PassedOver::OverRpm);
            }
            let elsewhere = region.is_some() && deployment.region_name.as_deref() != region;
            elsewhere.then_some(PassedOver::OtherRegion)
        });
        match sieve.left.is_empty() {
            true if over_rpm => Err(RouteError::OverRpm),
            true if too_long => Err(RouteError::PromptTooLong),
            _ => Ok(()),
        }
    }

    /// Whether a call is checked: one with `messages`, or any.
    fn looks_at(&self, request: &Request) -> bool {
        let overrides = request.overrides.as_deref();
        self.every_call || overrides.is_none_or(|o| o.api == Api::Chat)
    }

    fn has_used_up(&self, now: Instant, deployment: DeploymentId, rpm: Option<u64>) -> bool {
        let picks = self.picks.get(deployment.index());
        picks.is_some_and(|picks| rpm.is_some_and(|rpm| rpm <= u64::from(picks.at(now))))
    }
}

/// The windows in force. What `model_info` says of one deployment is also believed of those of the
/// same model that say nothing; the last in the list that says something wins. (quirk Q20)
fn windows(config: &RouterConfig) -> Vec<Option<u32>> {
    let mut said: BTreeMap<String, u32> = BTreeMap::new();
    if config.profile.windows_leak {
        for deployment in &config.deployments {
            if let Some(window) = deployment.model_info_max_input_tokens {
                said.insert(provider::qualified_model(deployment), window);
            }
        }
    }
    let window = |deployment: &DeploymentConfig| {
        let own = deployment.model_info_max_input_tokens;
        let known = deployment.max_input_tokens;
        let siblings = || said.get(&provider::qualified_model(deployment)).copied();
        own.or_else(|| match config.profile.windows_leak_over_known {
            true => siblings().or(known),
            false => known.or_else(siblings),
        })
    };
    config.deployments.iter().map(window).collect()
}

/// How long picks are counted, from the first. (semantics 0: RPM key TTL)
const PICKS_TTL: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    /// What `model_info` says and what the registry knows, of deployments of one model.
    fn in_force(profile: Profile, of: &[(Option<u32>, Option<u32>)]) -> Vec<Option<u32>> {
        let deployment = |&(said, known): &(Option<u32>, Option<u32>)| DeploymentConfig {
            model: "openai/same".to_owned(),
            model_info_max_input_tokens: said,
            max_input_tokens: known,
            ..DeploymentConfig::default()
        };
        windows(&RouterConfig {
            profile,
            deployments: of.iter().map(deployment).collect(),
            ..RouterConfig::default()
        })
    }

    #[test]
    fn a_window_in_model_info_is_believed_of_siblings_that_give_none_and_the_last_one_wins() {
        let (old, new) = (Profile::litellm_1_92(), Profile::litellm_1_110());
        let unknown = [(Some(200), None), (Some(100), None), (None, None)];
        let known = [(Some(100), Some(128_000)), (None, Some(128_000))];

        for profile in [old, new] {
            assert_eq!(
                in_force(profile, &unknown),
                [Some(200), Some(100), Some(100)]
            );
        }
        assert_eq!(in_force(old, &known), [Some(100), Some(100)]);
        assert_eq!(in_force(new, &known), [Some(100), Some(128_000)]);
        assert_eq!(
            in_force(Profile::corrected(), &unknown),
            [Some(200), Some(100), None]
        );
    }
}
