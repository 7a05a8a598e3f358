//! How many instances of the router there are, and whether they share a store: the `instances` block.

use router::RouterConfig;

use crate::{error::ScenarioError, plan::Instances, schema::InstancesSpec, yaml::Node};

/// Reads the block. Whether a store is shared is by default what LiteLLM makes of the config: it is if
/// the config names a Redis.
pub(crate) fn instances(
    node: Option<&Node>,
    file: &str,
    router: &RouterConfig,
) -> Result<Instances, ScenarioError> {
    let configured = router.settings.shared_store;
    let Some(node) = node.filter(|node| !node.is_null()) else {
        return Ok(Instances {
            count: 1,
            shared_state: configured,
        });
    };
    let spec: InstancesSpec = node.read(file).map_err(|error| error.under("instances"))?;
    let count = spec.count.unwrap_or(1);
    Ok(Instances {
        count,
        shared_state: spec.shared_state.unwrap_or(configured),
    })
}
