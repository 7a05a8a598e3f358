//! The LiteLLM setting behind a decision, with the value that it has, or that it is not set.

use std::{fmt::Display, time::Duration};

use router::{
    CooldownReason, DeploymentConfig, DeploymentId, ErrorClass, Event, FallbackReason, Outcome,
    PassedOver, RateLimitedBy, StrategySpec, WaitReason,
};

use super::Story;

impl Story<'_> {
    /// Which setting governs what this event tells; `None` where no setting does.
    pub(super) fn setting(&self, event: &Event<'_>) -> Option<String> {
        let settings = &self.plan.router.settings;
        Some(match *event {
            Event::Picked { candidates, .. } if candidates > 1 => {
                match settings.routing_groups.is_empty() {
                    true => given("routing_strategy", name(&settings.routing_strategy)),
                    false => "routing_groups, routing_strategy".to_owned(),
                }
            }
            Event::PassedOver {
                deployment, why, ..
            } => self.setting_of_filter(deployment, why)?,
            Event::SlotRefused { deployment, .. } | Event::ParkedForSlot { deployment, .. } => {
                self.slots(self.of(deployment))
            }
            Event::LimitRefused { by, .. } => match by {
                RateLimitedBy::ModelRateLimits => {
                    "optional_pre_call_checks: enforce_model_rate_limits; rpm, tpm".to_owned()
                }
                RateLimitedBy::UsageChoice | RateLimitedBy::UsageReservation => {
                    "routing_strategy: usage-based-routing-v2; rpm, tpm".to_owned()
                }
            },
            Event::FailuresSpent { limit, .. } => {
                given("litellm_settings.num_retries_per_request", limit)
            }
            Event::CacheHit { .. } => "litellm_settings.cache".to_owned(),
            Event::Mirrored { .. } => "litellm_params.silent_model".to_owned(),
            Event::Waiting { why, .. } => match why {
                WaitReason::Backoff => {
                    let least = secs(settings.retry_after);
                    format!("retry_after: {least}, the least; the rest is LiteLLM's own backoff")
                }
                WaitReason::RetryAfter => "the provider's header; no setting".to_owned(),
                WaitReason::ClientRetry => "litellm_params.max_retries".to_owned(),
                WaitReason::Queue => optional("default_priority", settings.default_priority),
            },
            Event::Retrying { .. } => self.retries(),
            Event::FellBack { why, .. } => list(why).to_owned(),
            Event::CooledDown {
                deployment, why, ..
            } => self.cooldown(self.of(deployment), why),
            Event::Finished {
                deployment,
                outcome: Outcome::Failure(failure),
                ..
            } if failure.class == ErrorClass::Timeout => self.time_limits(self.of(deployment)),
            Event::Answered { .. }
            | Event::Arrived { .. }
            | Event::Cancelled { .. }
            | Event::CooldownCleared { .. }
            | Event::Finished { .. }
            | Event::FirstToken { .. }
            | Event::GivenUp { .. }
            | Event::MovedOn { .. }
            | Event::NothingToPick { .. }
            | Event::Picked { .. }
            | Event::Sent { .. } => return None,
        })
    }

    fn of(&self, deployment: DeploymentId) -> &DeploymentConfig {
        &self.plan.router.deployments[deployment.index()]
    }

    fn setting_of_filter(&self, deployment: DeploymentId, why: PassedOver) -> Option<String> {
        let settings = &self.plan.router.settings;
        Some(match why {
            PassedOver::Cooled(_) if settings.cooldown_recovery.one_trial => {
                let time = self.cooldown_time(self.of(deployment));
                format!("{time}; cooldown_one_trial: true")
            }
            PassedOver::Cooled(_) => self.cooldown_time(self.of(deployment)),
            PassedOver::Blocked => "model_info.blocked: true".to_owned(),
            PassedOver::Excluded => given(
                "enable_weighted_failover",
                settings.enable_weighted_failover,
            ),
            PassedOver::OtherOrderTier => {
                optional("litellm_params.order", self.of(deployment).order)
            }
            PassedOver::OverLimits => "rpm, tpm".to_owned(),
            PassedOver::OtherRegion | PassedOver::OverRpm | PassedOver::PromptTooLong => {
                given("enable_pre_call_checks", settings.enable_pre_call_checks)
            }
            PassedOver::PinnedElsewhere => "optional_pre_call_checks (affinity)".to_owned(),
            PassedOver::BudgetSpent => "provider_budget_config, max_budget".to_owned(),
            PassedOver::OtherTags => given("enable_tag_filtering", settings.enable_tag_filtering),
            PassedOver::Refused => return None,
        })
    }

    fn slots(&self, deployment: &DeploymentConfig) -> String {
        match deployment.max_parallel_requests {
            Some(slots) => given("litellm_params.max_parallel_requests", slots),
            None => optional(
                "default_max_parallel_requests",
                self.plan.router.settings.default_max_parallel_requests,
            ),
        }
    }

    fn retries(&self) -> String {
        let settings = &self.plan.router.settings;
        let by_policy =
            settings.retry_policy.is_some() || !settings.model_group_retry_policy.is_empty();
        match by_policy {
            true => "num_retries or retry_policy".to_owned(),
            false => optional(
                "num_retries",
                settings.num_retries.or(settings.global_num_retries),
            ),
        }
    }

    fn cooldown(&self, deployment: &DeploymentConfig, why: CooldownReason) -> String {
        let settings = &self.plan.router.settings;
        let length = self.cooldown_time(deployment);
        match why {
            CooldownReason::AllowedFailsExceeded => {
                let policy = settings.allowed_fails_policy.is_some()
                    || deployment.allowed_fails_policy.is_some();
                let fails = match policy {
                    true => "allowed_fails_policy".to_owned(),
                    false => optional(
                        "allowed_fails",
                        deployment.allowed_fails.or(settings.allowed_fails),
                    ),
                };
                format!("{fails}; {length}")
            }
            CooldownReason::RateLimited => format!("the provider's retry-after, else {length}"),
            CooldownReason::FailureRate
            | CooldownReason::NoCredit
            | CooldownReason::NotRetryable
            | CooldownReason::TotalFailure => format!("a rule without a setting; {length}"),
        }
    }

    fn cooldown_time(&self, deployment: &DeploymentConfig) -> String {
        let own = deployment
            .cooldown_time
            .or(deployment.model_info_cooldown_time);
        match own {
            Some(own) => given("cooldown_time of the deployment", secs(own)),
            None => optional(
                "cooldown_time",
                self.plan.router.settings.cooldown_time.map(secs),
            ),
        }
    }

    fn time_limits(&self, deployment: &DeploymentConfig) -> String {
        let settings = &self.plan.router.settings;
        let timeout = deployment.timeout.or(settings.timeout).map(secs);
        let stream = deployment.stream_timeout.or(settings.stream_timeout);
        let stream = stream.map(secs);
        let stream = stream.map_or_else(String::new, |it| format!("; stream_timeout: {it}"));
        format!("{}{stream}", optional("timeout", timeout))
    }
}

const fn list(why: FallbackReason) -> &'static str {
    match why {
        FallbackReason::ContentPolicy => "content_policy_fallbacks",
        FallbackReason::ContextWindow => "context_window_fallbacks",
        FallbackReason::Generic => "fallbacks, default_fallbacks",
        FallbackReason::OrderTier => "litellm_params.order",
        FallbackReason::PerRequest => "the request's own `fallbacks`",
        FallbackReason::WeightedFailover => "enable_weighted_failover",
    }
}

fn name(strategy: &StrategySpec) -> &'static str {
    strategy.name()
}

fn given(key: &str, value: impl Display) -> String {
    format!("{key}: {value}")
}

fn optional(key: &str, value: Option<impl Display>) -> String {
    match value {
        Some(value) => given(key, value),
        None => format!("{key}: not set"),
    }
}

/// Seconds as a config writes them: `5`, `0.5`.
fn secs(span: Duration) -> String {
    span.as_secs_f64().to_string()
}
