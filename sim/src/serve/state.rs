//! What operators see: who is healthy, who is in cooldown and why.
//!
//! Health is what the router knows from its requests; nobody is called for it.

use router::{Cooldown, CooldownReason, DeploymentId, Instant, Router};
use serde_json::{Value, json};

/// `GET /health`: deployments in cooldown or paused are unhealthy.
pub(super) fn health(router: &Router, now: Instant) -> Value {
    let deployments = (0..).map(DeploymentId).zip(&router.config().deployments);
    let (healthy, unhealthy): (Vec<_>, Vec<_>) = deployments
        .map(|(id, deployment)| {
            let until = router.cooled_until(now, id);
            let told = json!({
                "model_id": deployment.id,
                "model_name": deployment.model_name,
                "model": deployment.model,
                "in_flight": router.in_flight(id),
                "slots_taken": router.slots_taken(id),
                "max_parallel_requests": deployment.max_parallel_requests,
                "paused": deployment.blocked,
                "cooldown_ends_in_s": until.map(|until| until.since(now).as_secs_f64()),
            });
            (until.is_none() && !deployment.blocked, told)
        })
        .partition(|(healthy, _)| *healthy);
    let told = |all: Vec<(bool, Value)>| all.into_iter().map(|(_, told)| told).collect();
    let (healthy, unhealthy): (Vec<Value>, Vec<Value>) = (told(healthy), told(unhealthy));
    json!({
        "healthy_count": healthy.len(),
        "unhealthy_count": unhealthy.len(),
        "unfinished_requests": router.unfinished(),
        "healthy_endpoints": healthy,
        "unhealthy_endpoints": unhealthy,
    })
}

/// `GET /cooldowns`.
pub(super) fn cooldowns(router: &Router, now: Instant) -> Value {
    let all = router.cooldowns(now).map(|cooldown| {
        let Cooldown {
            deployment,
            since,
            until,
            why,
            status,
            length,
        } = cooldown;
        let deployment = &router.config().deployments[deployment.index()];
        json!({
            "model_id": deployment.id,
            "model_name": deployment.model_name,
            "began_s_ago": now.since(since).as_secs_f64(),
            "ends_in_s": until.since(now).as_secs_f64(),
            "length_s": length.as_secs_f64(),
            "why": name(why),
            "status": status,
        })
    });
    json!({"cooldowns": all.collect::<Vec<_>>()})
}

/// The deployment of this id.
pub(super) fn find(router: &Router, id: &str) -> Option<DeploymentId> {
    let deployments = (0..).map(DeploymentId).zip(&router.config().deployments);
    let mut named = deployments.filter(|(_, deployment)| deployment.id == id);
    named.next().map(|(number, _)| number)
}

/// A reason as one word.
pub(super) const fn name(why: CooldownReason) -> &'static str {
    match why {
        CooldownReason::AllowedFailsExceeded => "allowed_fails_exceeded",
        CooldownReason::FailureRate => "failure_rate",
        CooldownReason::NoCredit => "no_credit",
        CooldownReason::NotRetryable => "not_retryable",
        CooldownReason::RateLimited => "rate_limited",
        CooldownReason::TotalFailure => "total_failure",
    }
}
