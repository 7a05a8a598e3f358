//! What a recorder of a plan's run must know before it begins.

use std::time::Duration;

use mock_providers::FaultSpan;
use reports::{DeploymentLabel, RecorderSetup};
use router::Instant;
use scenarios::RunPlan;

use crate::{SimError, simulation::providers};

/// Labels, prices, the service level, and when providers are at fault by their schedules.
///
/// # Errors
///
/// If a provider cannot be built.
pub fn recorder_setup(plan: &RunPlan) -> Result<RecorderSetup, SimError> {
    let deployments = plan
        .router
        .deployments
        .iter()
        .zip(plan.providers.iter())
        .map(|(deployment, provider)| DeploymentLabel {
            id: deployment.id.clone(),
            group: deployment.model_name.clone(),
            provider: provider.name.clone(),
            prices: deployment.prices.clone(),
        })
        .collect();
    let duration = plan.workload.duration();
    let until = Instant::ZERO + duration + LONGEST_DRAIN;
    let down =
        |span: &FaultSpan| (!NO_OUTAGES.contains(&span.kind)).then_some((span.from, span.to));
    let spans = providers(plan)?.fault_spans(until);
    Ok(RecorderSetup {
        deployments,
        slo_latency: plan.slo.latency,
        slo_first_token: plan.slo.first_token,
        duration,
        faults: (spans.iter())
            .map(|spans| spans.iter().filter_map(down).collect())
            .collect(),
    })
}

/// How long after the last arrival faults are still known. Nothing drains longer but by settings that
/// wait for hours.
const LONGEST_DRAIN: Duration = Duration::from_hours(2);
/// Faults that say nothing about whether their provider serves: it refuses some contents, or tells
/// a wrong time to come back.
const NO_OUTAGES: [&str; 2] = ["content", "wrong_hint"];
