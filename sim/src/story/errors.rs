//! What went wrong, in words.

use router::{
    DeploymentId, ErrorClass, Failure, FallbackReason, Instant, Outcome, QueueFault, RateLimitedBy,
    RetryAfter, RouteError,
};

use super::{Secs, Story};

impl Story<'_> {
    /// That a list for prompts that are too long exists, where the error may mean that and does not
    /// say so. (BR-033)
    fn unused_list_text(&self, deployment: DeploymentId, class: ErrorClass) -> &'static str {
        let router = &self.plan.router;
        let group = &router.deployments[deployment.index()].model_name;
        let lists = router.settings.context_window_fallbacks.as_ref();
        let listed = lists.is_some_and(|lists| lists.iter().any(|(name, _)| name == group));
        match listed && class == ErrorClass::BadRequest {
            true => {
                " (not said to be for the prompt's length, so context_window_fallbacks are not used)"
            }
            false => "",
        }
    }

    pub(super) fn error_text(&self, error: &RouteError) -> String {
        let exception = error.exception();
        let status = status_text(error.status());
        match error {
            RouteError::Attempt {
                deployment,
                failure,
            } => {
                let unused = self.unused_list_text(*deployment, failure.class);
                format!(
                    "{exception}{status} of {}{unused}",
                    self.deployment(*deployment)
                )
            }
            RouteError::NoDeployments {
                try_again_in,
                all_cooling,
                ..
            } => {
                let why = if *all_cooling {
                    "all are in cooldown"
                } else {
                    "none is eligible"
                };
                format!(
                    "{exception}{status}: no deployments available, {why}; try again in {}",
                    Secs(*try_again_in)
                )
            }
            RouteError::SlotsInUse { deployment, limit } => {
                let deployment = self.deployment(*deployment);
                format!("{exception}{status}: all {limit} slots of {deployment} are in use")
            }
            RouteError::TextWeight => {
                format!("{exception}{status}: a weight is given as a text, not as a number")
            }
            RouteError::FailuresSpent { deployment, .. } => format!(
                "{exception}{status}: {} was not called, num_retries_per_request is used up",
                self.deployment(*deployment)
            ),
            RouteError::Blocked { .. } => {
                format!("{exception}{status}: every deployment is paused")
            }
            RouteError::UnknownModel { model } => {
                format!(
                    "{exception}{status}: nobody serves `{}`",
                    self.model(*model)
                )
            }
            RouteError::RateLimited { deployment, by, .. } => {
                let whose = deployment.map_or("nobody is", |d| self.deployment(d));
                let rule = limit_text(*by);
                match deployment {
                    Some(_) => format!("{exception}{status}: {whose} is over its limits: {rule}"),
                    None => format!("{exception}{status}: {whose} within its limits: {rule}"),
                }
            }
            RouteError::OverUsageLimits => {
                format!("{exception}{status}: nobody is within its limits of requests or tokens")
            }
            RouteError::OverRpm => {
                format!(
                    "{exception}{status}: whoever could serve it was picked as often as its rpm allows"
                )
            }
            RouteError::PromptTooLong => {
                format!("{exception}{status}: the prompt is longer than any context window")
            }
            RouteError::BudgetSpent => format!("{exception}{status}: every budget is spent"),
            RouteError::NoMatchingTags => format!("{exception}{status}: nobody has its tags"),
            RouteError::QueueTimeout => {
                format!("{exception}{status}: its time in the priority queue was up")
            }
            RouteError::Queue(QueueFault::MissingPriority) => {
                format!("{exception}{status}: a default_priority fails every scheduled call")
            }
            RouteError::Queue(QueueFault::Forgotten) => {
                format!("{exception}{status}: the priority queue was forgotten")
            }
        }
    }
}

pub(super) const fn limit_text(by: RateLimitedBy) -> &'static str {
    match by {
        RateLimitedBy::UsageChoice => "the choice of usage-based-routing-v2",
        RateLimitedBy::UsageReservation => "the reservation of usage-based-routing-v2",
        RateLimitedBy::ModelRateLimits => "enforce_model_rate_limits",
    }
}

pub(super) fn outcome_text(at: Instant, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Success {
            usage,
            first_token_after,
        } => {
            let first = first_token_after.map_or_else(String::new, |after| {
                format!(", first token after {}", Secs(after))
            });
            format!("{} tokens{first}", usage.completion_tokens)
        }
        Outcome::Failure(failure) => failure_text(at, failure),
    }
}

fn failure_text(at: Instant, failure: &Failure) -> String {
    let mut text = format!(
        "{}{}",
        failure.class.exception(),
        status_text(failure.status)
    );
    if failure.is_mid_stream() {
        text += &format!(", after {} tokens", failure.tokens_delivered);
    }
    match failure.retry_after {
        None => {}
        Some(RetryAfter::Seconds(seconds)) => text += &format!(", retry-after {seconds} s"),
        Some(RetryAfter::Millis(millis)) => text += &format!(", retry-after-ms {millis}"),
        Some(RetryAfter::Date(date)) => {
            text += &format!(", retry-after a date {} ahead", Secs(date.since(at)));
        }
        Some(RetryAfter::Unreadable) => text += ", retry-after unreadable",
    }
    text
}

fn status_text(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!(" ({status})"))
}

pub(super) const fn list_text(why: FallbackReason) -> &'static str {
    match why {
        FallbackReason::ContentPolicy => "content_policy_fallbacks",
        FallbackReason::ContextWindow => "context_window_fallbacks",
        FallbackReason::Generic => "fallbacks",
        FallbackReason::OrderTier => "next order tier",
        FallbackReason::PerRequest => "the request's own fallbacks",
        FallbackReason::WeightedFailover => "weighted failover",
    }
}
