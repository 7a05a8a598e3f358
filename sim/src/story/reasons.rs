//! Why a deployment was benched, and why it was no candidate, in words.

use router::{CooldownReason, DeploymentId, Instant, PassedOver};

use super::{Secs, Story};

impl Story<'_> {
    pub(super) fn cooldown_text(
        &self,
        at: Instant,
        deployment: DeploymentId,
        until: Instant,
        why: CooldownReason,
    ) -> String {
        let rule = match why {
            CooldownReason::AllowedFailsExceeded => "more failures than allowed_fails lets pass",
            CooldownReason::FailureRate => {
                "over half of at least five requests in the minute failed"
            }
            CooldownReason::NoCredit => "its account has no credit",
            CooldownReason::NotRetryable => "an error that the next request would meet again",
            CooldownReason::RateLimited => "the provider said 429",
            CooldownReason::TotalFailure => "every one of at least a thousand requests failed",
        };
        format!(
            "{} for {}: {rule}",
            self.deployment(deployment),
            Secs(until.since(at))
        )
    }

    pub(super) fn passed_over_text(
        &self,
        at: Instant,
        deployment: DeploymentId,
        why: PassedOver,
    ) -> String {
        let reason = match why {
            PassedOver::Blocked => "paused by model_info.blocked".to_owned(),
            PassedOver::Cooled(until) if until == at => {
                "in cooldown, and another request tries it now".to_owned()
            }
            PassedOver::Cooled(until) => {
                format!("in cooldown for another {}", Secs(until.since(at)))
            }
            PassedOver::Excluded => "already tried by weighted failover".to_owned(),
            PassedOver::OtherOrderTier => "in another order tier".to_owned(),
            PassedOver::Refused => "refused this request".to_owned(),
            PassedOver::PromptTooLong => "its context window is too small".to_owned(),
            PassedOver::OtherRegion => "in another region than the request allows".to_owned(),
            PassedOver::OverLimits => "pinned, but over its limits".to_owned(),
            PassedOver::OverRpm => "picked as often as its rpm allows".to_owned(),
            PassedOver::PinnedElsewhere => "the request is pinned to another".to_owned(),
            PassedOver::BudgetSpent => "its budget is spent".to_owned(),
            PassedOver::OtherTags => "its tags do not match".to_owned(),
        };
        format!("{}: {reason}", self.deployment(deployment))
    }
}
