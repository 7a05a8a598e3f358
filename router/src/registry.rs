//! Names to dense ids: what a requested name stands for, once and for all of its users (first pick,
//! order tiers, fallbacks, counting). (semantics 1.6, 2.3 step 2)

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    config::{RouterConfig, RouterSettings},
    directory::{Directory, Target},
    fallback::{FallbackTable, Routes},
    profile::Profile,
    request::{DeploymentId, ModelId},
};

/// All names that were ever asked for or configured.
#[derive(Debug)]
pub(crate) struct Registry {
    names: Vec<String>,
    ids: BTreeMap<String, ModelId>,
    targets: Vec<Target>,
    routes: Vec<Routes>,
    directory: Directory,
    fallbacks: FallbackTable,
    /// Names that settings have rules for; only where aliases are resolved first.
    ruled: BTreeSet<String>,
    profile: Profile,
}

impl Registry {
    pub(crate) fn new(config: &RouterConfig) -> Self {
        let settings = &config.settings;
        let mut registry = Self {
            names: Vec::new(),
            ids: BTreeMap::new(),
            targets: Vec::new(),
            routes: Vec::new(),
            directory: Directory::new(config),
            fallbacks: FallbackTable::new(settings),
            ruled: ruled_names(settings, &config.profile),
            profile: config.profile,
        };
        for deployment in &config.deployments {
            registry.model(&deployment.model_name);
            if let Some(silent) = &deployment.silent_model {
                registry.model(silent);
            }
        }
        registry
    }

    /// The id of a name; a new one is looked up, and so are the names it falls back to.
    pub(crate) fn model(&mut self, name: &str) -> ModelId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = ModelId(u32::try_from(self.names.len()).expect("fewer than 2^32 names"));
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        self.targets.push(self.directory.target(name));
        self.routes.push(Routes::default());
        // The id exists before its routes do, so that fallbacks may form a circle.
        self.targets[id.index()].alias_of = self.target_of_alias(name);
        let lists = self.fallbacks.lists_for(name, &self.profile);
        let routes = lists.map(|list| list.iter().map(|n| self.resolved(n)).collect());
        self.routes[id.index()] = routes;
        id
    }

    fn resolved(&mut self, name: &str) -> ModelId {
        let id = self.model(name);
        self.at_the_door(id)
    }

    /// What a name is for all that follows: the target of an alias that has no rules of its own,
    /// where aliases are resolved first. (BR-031)
    #[inline]
    pub(crate) fn at_the_door(&self, model: ModelId) -> ModelId {
        let target = self.targets[model.index()].alias_of;
        match target.filter(|_| self.profile.corrections.aliases_are_resolved_first) {
            Some(target) if !self.ruled.contains(self.name(model)) => target,
            Some(_) | None => model,
        }
    }

    fn target_of_alias(&mut self, name: &str) -> Option<ModelId> {
        let target = self.directory.alias(name)?.to_owned();
        Some(self.model(&target))
    }

    /// The id of a name that has one.
    pub(crate) fn known(&self, name: &str) -> Option<ModelId> {
        self.ids.get(name).copied()
    }

    /// Takes a deployment out; [`Registry::relearn`] must follow.
    pub(crate) fn remove_deployment(&mut self, deployment: DeploymentId) {
        self.directory.remove(deployment);
    }

    /// Looks every name up again, under these settings. Ids stay.
    pub(crate) fn relearn(&mut self, settings: &RouterSettings) {
        self.directory.relearn(settings);
        self.fallbacks = FallbackTable::new(settings);
        self.ruled = ruled_names(settings, &self.profile);
        for at in 0..self.names.len() {
            let name = self.names[at].clone();
            self.targets[at] = self.directory.target(&name);
            self.targets[at].alias_of = self.target_of_alias(&name);
            let lists = self.fallbacks.lists_for(&name, &self.profile);
            self.routes[at] = lists.map(|list| list.iter().map(|n| self.resolved(n)).collect());
        }
    }

    /// The `model_name` of the deployments that serve a name.
    pub(crate) fn model_name<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.directory.model_name(name)
    }

    /// How many deployments a group has.
    pub(crate) fn group_size(&self, group: &str) -> usize {
        self.directory.group_size(group)
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    #[inline]
    pub(crate) fn name(&self, model: ModelId) -> &str {
        &self.names[model.index()]
    }

    #[inline]
    pub(crate) fn target(&self, model: ModelId) -> &Target {
        &self.targets[model.index()]
    }

    pub(crate) fn routes(&self, model: ModelId) -> &Routes {
        &self.routes[model.index()]
    }
}

/// Names that have rules of their own, where that matters.
fn ruled_names(settings: &RouterSettings, profile: &Profile) -> BTreeSet<String> {
    if !profile.corrections.aliases_are_resolved_first {
        return BTreeSet::new();
    }
    let lists = [
        &settings.fallbacks,
        &settings.context_window_fallbacks,
        &settings.content_policy_fallbacks,
    ];
    let keys = lists.into_iter().flatten().flatten().map(|(key, _)| key);
    let policies = settings.model_group_retry_policy.keys();
    let grouped = settings
        .routing_groups
        .iter()
        .flat_map(|group| &group.models);
    keys.chain(policies).chain(grouped).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::TargetKind;

    fn registry() -> Registry {
        let mut config = RouterConfig::of_deployments(["a", "b", "f"]);
        config.deployments[2].model_name = "spare".to_owned();
        config
            .settings
            .model_group_alias
            .insert("nick".to_owned(), "m".to_owned());
        Registry::new(&config)
    }

    fn members(registry: &mut Registry, name: &str) -> Vec<u32> {
        let id = registry.model(name);
        registry.target(id).members.iter().map(|d| d.0).collect()
    }

    #[test]
    fn a_name_is_an_id_else_an_alias_else_a_group_else_a_providers_model() {
        let mut registry = registry();

        assert_eq!(members(&mut registry, "b"), [1]);
        assert_eq!(members(&mut registry, "nick"), [0, 1]);
        assert_eq!(members(&mut registry, "m"), [0, 1]);
        assert_eq!(members(&mut registry, "openai/fake-a"), [0]);
        assert!(members(&mut registry, "nobody").is_empty());
    }

    #[test]
    fn a_name_that_is_a_group_and_an_id_is_the_group_in_1_110_and_the_deployment_in_1_92() {
        let kind = |profile| {
            let mut config = RouterConfig::of_deployments(["m", "b"]);
            config.profile = profile;
            let mut registry = Registry::new(&config);
            let id = registry.model("m");
            registry.target(id).kind
        };

        assert_eq!(kind(Profile::litellm_1_110()), TargetKind::Group);
        assert_eq!(kind(Profile::litellm_1_92()), TargetKind::Deployment);
    }

    #[test]
    fn an_unknown_name_is_served_by_the_first_default_fallback() {
        let mut config = RouterConfig::of_deployments(["a", "f"]);
        config.deployments[1].model_name = "spare".to_owned();
        config.settings.default_fallbacks = vec!["spare".to_owned()];
        let mut registry = Registry::new(&config);

        assert_eq!(members(&mut registry, "nobody"), [1]);
    }

    #[test]
    fn fallbacks_that_form_a_circle_are_interned_once() {
        let mut config = RouterConfig::of_deployments(["a", "b"]);
        config.deployments[1].model_name = "n".to_owned();
        config.settings.fallbacks = Some(vec![
            ("m".to_owned(), vec!["n".to_owned()]),
            ("n".to_owned(), vec!["m".to_owned()]),
        ]);
        let mut registry = Registry::new(&config);
        let (m, n) = (registry.model("m"), registry.model("n"));

        assert_eq!(registry.routes(m).generic.as_deref(), Some([n].as_slice()));
        assert_eq!(registry.routes(n).generic.as_deref(), Some([m].as_slice()));
    }
}
