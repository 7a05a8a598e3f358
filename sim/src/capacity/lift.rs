//! Limits that can be lifted one by one, to see which of them binds.

use std::sync::Arc;

use mock_providers::ProviderSpec;
use router::{DeploymentConfig, RouterConfig, StreamLimits};
use scenarios::RunPlan;

use super::change::resolved;

/// A limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lift {
    /// Requests a minute of the providers.
    Requests,
    /// Tokens a minute of the providers.
    Tokens,
    /// Tokens of answers a minute of the providers.
    OutputTokens,
    /// Requests a day of the providers.
    Day,
    /// What the providers answer at once.
    Slots,
    /// `max_parallel_requests` of the deployments.
    ParallelRequests,
    /// `rpm` and `tpm` of the deployments as limits of the router's own; their shares stay.
    OwnLimits,
    /// Cooldowns.
    Cooldowns,
    /// Timeouts of attempts.
    Timeouts,
}

impl Lift {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Requests,
        Self::Tokens,
        Self::OutputTokens,
        Self::Day,
        Self::Slots,
        Self::ParallelRequests,
        Self::OwnLimits,
        Self::Cooldowns,
        Self::Timeouts,
    ];

    /// What it is, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "the providers' requests_per_minute",
            Self::Tokens => "the providers' tokens_per_minute",
            Self::OutputTokens => "the providers' output_tokens_per_minute",
            Self::Day => "the providers' requests_per_day",
            Self::Slots => "the providers' concurrent slots (max_concurrent)",
            Self::ParallelRequests => "max_parallel_requests of the deployments",
            Self::OwnLimits => "rpm and tpm of the deployments",
            Self::Cooldowns => "cooldowns",
            Self::Timeouts => "timeouts",
        }
    }

    /// The plan without it; `None` if it has no such limit.
    #[must_use]
    pub fn of(self, plan: &RunPlan) -> Option<RunPlan> {
        match self {
            Self::Requests => of_providers(plan, |spec| {
                spec.quota
                    .as_mut()?
                    .requests_per_minute
                    .as_mut()
                    .map(raise)?;
                let quota = spec.quota.as_mut()?;
                quota.burst_requests = quota.burst_requests.map(|n| n.saturating_mul(MUCH));
                Some(())
            }),
            Self::Tokens => of_providers(plan, |spec| {
                spec.quota.as_mut()?.tokens_per_minute.as_mut().map(raise)?;
                let quota = spec.quota.as_mut()?;
                quota.burst_tokens = quota.burst_tokens.map(|n| n.saturating_mul(MUCH));
                Some(())
            }),
            Self::OutputTokens => of_providers(plan, |spec| {
                let quota = spec.quota.as_mut()?;
                quota.output_tokens_per_minute.as_mut().map(raise)
            }),
            Self::Day => of_providers(plan, |spec| {
                spec.quota.as_mut()?.requests_per_day.as_mut().map(raise)
            }),
            Self::Slots => of_providers(plan, |spec| spec.max_concurrent.take().map(|_| ())),
            Self::ParallelRequests => of_router(plan, |router| {
                router.settings.default_max_parallel_requests = None;
                for one in &mut router.deployments {
                    one.max_parallel_requests = None;
                }
            }),
            Self::OwnLimits => of_router(plan, |router| {
                let raised = |limit: Option<u64>| limit.map(|n| n.saturating_mul(MUCH));
                for one in &mut router.deployments {
                    one.rpm = raised(one.rpm);
                    one.tpm = raised(one.tpm);
                    one.model_info_rpm = raised(one.model_info_rpm);
                    one.model_info_tpm = raised(one.model_info_tpm);
                }
            }),
            Self::Cooldowns => of_router(plan, |router| router.settings.disable_cooldowns = true),
            Self::Timeouts => of_router(plan, |router| {
                let settings = &mut router.settings;
                (settings.timeout, settings.request_timeout) = (None, None);
                settings.stream_timeout = None;
                settings.stream_limits = StreamLimits::default();
                settings.default_litellm_params.stream_timeout = None;
                for one in &mut router.deployments {
                    let DeploymentConfig {
                        timeout,
                        stream_timeout,
                        stream_limits,
                        ..
                    } = one;
                    (*timeout, *stream_timeout) = (None, None);
                    *stream_limits = StreamLimits::default();
                }
            }),
        }
    }
}

/// The plan with every provider changed for which `change` finds something; `None` if for none.
fn of_providers(
    plan: &RunPlan,
    change: impl Fn(&mut ProviderSpec) -> Option<()>,
) -> Option<RunPlan> {
    let mut providers = plan.providers.to_vec();
    let mut is_there = false;
    for binding in &mut providers {
        let mut spec = resolved(&binding.spec);
        if change(&mut spec).is_some() {
            is_there = true;
            binding.spec = Arc::new(spec);
        }
    }
    is_there.then(|| RunPlan {
        providers: providers.into(),
        ..plan.clone()
    })
}

/// The plan with another router; `None` if it is the same.
fn of_router(plan: &RunPlan, change: impl Fn(&mut RouterConfig)) -> Option<RunPlan> {
    let mut router = RouterConfig::clone(&plan.router);
    change(&mut router);
    (router != *plan.router).then(|| RunPlan {
        router: Arc::new(router),
        ..plan.clone()
    })
}

fn raise(limit: &mut u64) {
    *limit = limit.saturating_mul(MUCH);
}

/// Times as much is as good as no limit.
const MUCH: u64 = 1_000;
