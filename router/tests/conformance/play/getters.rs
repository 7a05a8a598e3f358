//! What the router's getters say.

use std::collections::BTreeSet;

use router::DeploymentId;
use serde_json::Value;

use super::World;
use crate::vector::{Getter, Object};

impl World<'_> {
    /// What one of the router's getters says.
    pub(super) fn get(&self, getter: &Getter, args: &Object) -> Vec<String> {
        let config = self.router.config();
        let left = (0..)
            .zip(&config.deployments)
            .filter(|(number, _)| !self.deleted.contains(&DeploymentId(*number)))
            .map(|(_, deployment)| deployment);
        let mut found: Vec<String> = match getter {
            Getter::GetModelIds => {
                let of = args.get("model_name").and_then(Value::as_str);
                let asked = left.filter(|d| of.is_none_or(|name| d.model_name == name));
                asked.map(|d| d.id.clone()).collect()
            }
            Getter::GetModelNames => {
                let aliases = config.settings.model_group_alias.keys();
                let groups = left.map(|d| &d.model_name);
                aliases.chain(groups).cloned().collect()
            }
        };
        let mut seen = BTreeSet::new();
        found.retain(|name| seen.insert(name.clone()));
        found
    }
}
