//! What an operator does while a run goes on: the `actions` block.

use std::{sync::Arc, time::Duration};

use router::{DeploymentConfig, DeploymentId, Instant};

use crate::{
    error::{ScenarioError, suggestion},
    plan::{Action, Deed},
    schema::{ActionSpec, DeedSpec},
    traffic::placed,
    workload::arrivals::number,
    yaml::Node,
};

/// The actions in order of time; equal times keep the file's order.
pub(crate) fn actions(
    node: Option<&Node>,
    file: &str,
    deployments: &[DeploymentConfig],
    duration: Duration,
) -> Result<Arc<[Action]>, ScenarioError> {
    let Some(node) = node.filter(|node| !node.is_null()) else {
        return Ok(Arc::new([]));
    };
    let specs: Vec<ActionSpec> = node.read(file).map_err(|error| error.under("actions"))?;
    let made = specs.iter().enumerate().map(|(at, spec)| {
        action(spec, deployments, duration)
            .map_err(|error| placed(error.under(&format!("[{at}]")), node, "actions", file))
    });
    let mut actions: Vec<Action> = made.collect::<Result<_, _>>()?;
    actions.sort_by_key(|action| action.at);
    Ok(actions.into())
}

fn action(
    spec: &ActionSpec,
    deployments: &[DeploymentConfig],
    duration: Duration,
) -> Result<Action, ScenarioError> {
    let whole = duration.as_secs_f64();
    if !(0.0..=whole).contains(&spec.at_s) {
        let accepted = format!("a moment while requests come, from 0 to {whole} s");
        return Err(number("at_s", spec.at_s, accepted));
    }
    let deployment = match &spec.deployment {
        None => None,
        Some(id) => Some(deployment(id, deployments)?),
    };
    let deed = match spec.deed {
        DeedSpec::ClearCooldowns => Deed::ClearCooldowns(deployment),
    };
    let at = Instant::from_secs_f64(spec.at_s);
    Ok(Action { at, deed })
}

fn deployment(id: &str, deployments: &[DeploymentConfig]) -> Result<DeploymentId, ScenarioError> {
    let found = (0..).zip(deployments).find(|(_, d)| d.id == id);
    found
        .map(|(number, _)| DeploymentId(number))
        .ok_or_else(|| {
            let ids: Vec<&str> = deployments.iter().map(|d| d.id.as_str()).collect();
            ScenarioError::new(format!("no deployment has the id `{id}`"))
                .key("deployment")
                .help(suggestion(id, &ids))
        })
}
