//! Requests that failed, in LiteLLM's words for it and with the status that its proxy gives.

use axum::http::StatusCode;
use router::{DeploymentId, RouteError, Router};

use super::{answered::put, refusal::Refusal};

/// What a caller is told of a request that failed.
pub(super) fn refusal(router: &Router, error: RouteError, message: Option<&str>) -> Refusal {
    let exception = error.exception();
    // LiteLLM's proxy goes by the words "No deployments available" and those on tags.
    let no_deployments = matches!(
        error,
        RouteError::NoDeployments { .. } | RouteError::OverRpm
    );
    let status = if no_deployments {
        Some(429)
    } else if error == RouteError::NoMatchingTags {
        Some(401)
    } else {
        error.status()
    };
    let status = status.filter(|status| (400..=599).contains(status));
    let status = StatusCode::from_u16(status.unwrap_or(500));
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let id = |deployment: DeploymentId| &router.config().deployments[deployment.index()].id;
    let said = match error {
        RouteError::Attempt { .. } => message.unwrap_or("the provider failed").to_owned(),
        RouteError::NoDeployments {
            try_again_in,
            all_cooling,
            ..
        } => {
            let why = if all_cooling {
                " All deployments are in cooldown."
            } else {
                ""
            };
            let seconds = try_again_in.as_secs_f64();
            format!(
                "No deployments available for selected model, Try again in {seconds} seconds.{why}"
            )
        }
        RouteError::Blocked { deployment } => format!("deployment {} is paused", id(deployment)),
        RouteError::SlotsInUse { deployment, limit } => format!(
            "Max parallel request limit reached for deployment {}: {limit}",
            id(deployment)
        ),
        RouteError::UnknownModel { model } => format!(
            "Invalid model name passed in model={}. Call `/v1/models` to view available models for your key.",
            router.model_name(model)
        ),
        RouteError::FailuresSpent { .. } => "Max retries per request hit!".to_owned(),
        RouteError::RateLimited { deployment, .. } => match deployment {
            Some(deployment) => format!("deployment {} is over its limit", id(deployment)),
            None => "every deployment is over its limit".to_owned(),
        },
        RouteError::OverUsageLimits | RouteError::OverRpm => {
            "No deployments available for selected model: all are over their limits".to_owned()
        }
        RouteError::PromptTooLong => "the prompt is too long for every deployment".to_owned(),
        RouteError::BudgetSpent => "every deployment's budget is spent".to_owned(),
        RouteError::NoMatchingTags => {
            "Not allowed to access model due to tags configuration".to_owned()
        }
        RouteError::TextWeight => "a deployment's weight is a text".to_owned(),
        RouteError::QueueTimeout => "Request timed out while polling queue".to_owned(),
        RouteError::Queue(_) => "the priority queue failed".to_owned(),
    };
    let bare = no_deployments || matches!(error, RouteError::UnknownModel { .. });
    let message = if bare {
        said
    } else {
        format!("litellm.{exception}: {said}")
    };
    let mut refusal = Refusal::new(status, message);
    let wait = if let RouteError::NoDeployments { try_again_in, .. } = error {
        Some(try_again_in.as_secs_f64().ceil())
    } else if let RouteError::RateLimited { retry_after, .. } = error {
        Some(f64::from(retry_after))
    } else {
        None
    };
    if let Some(wait) = wait.filter(|wait| *wait > 0.0) {
        put(&mut refusal.headers, "retry-after", wait);
    }
    refusal
}
