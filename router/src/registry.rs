//! Names to dense ids: what a requested name stands for, once and for all of its users (first pick,
//! order tiers, fallbacks, counting). (semantics 1.6, 2.3 step 2)

use std::collections::BTreeMap;

use crate::{
    config::{RouterConfig, RouterSettings, RoutingGroup},
    fallback::{FallbackTable, Routes},
    request::{DeploymentId, ModelId},
    strategy::StrategySpec,
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
}

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    /// How its deployments were found.
    pub(crate) kind: TargetKind,
    /// In `model_list` order; those of a routing group model by model.
    pub(crate) members: Box<[DeploymentId]>,
    /// Distinct `order` values of the members, lowest first.
    pub(crate) tiers: Box<[i64]>,
    /// Whether picking needs no filter but cooldown: no member is blocked, none has an order.
    pub(crate) plain: bool,
    /// The name that it is an alias of.
    pub(crate) alias_of: Option<ModelId>,
    /// The place of the routing group that is called here by its own name.
    pub(crate) routing_group: Option<usize>,
    /// By member: what stands in place of its `order`, in a routing group by priority; else empty.
    priorities: Box<[i64]>,
}

impl Target {
    /// The order tier of a member.
    pub(crate) fn order(
        &self,
        member: DeploymentId,
        configs: &[crate::config::DeploymentConfig],
    ) -> Option<i64> {
        if self.priorities.is_empty() {
            return configs[member.index()].order;
        }
        let at = self.members.iter().position(|&m| m == member)?;
        self.priorities.get(at).copied()
    }
}

/// How the deployments of a name were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetKind {
    /// It is a deployment's id: every filter is skipped.
    Deployment,
    /// It is a group, an alias of one, or a provider's model name.
    Group,
    /// Nobody serves it.
    Unknown,
}

/// The configured names, from which targets are made.
#[derive(Debug)]
struct Directory {
    deployments: Vec<Entry>,
    aliases: BTreeMap<String, String>,
    first_default_fallback: Option<String>,
    group_beats_id: bool,
    /// Those that can be called by their own names.
    routing_groups: Vec<RoutingGroup>,
    callable: bool,
}

#[derive(Debug)]
struct Entry {
    id: String,
    group: String,
    model: String,
    order: Option<i64>,
    blocked: bool,
    /// Taken out while the router was at work.
    removed: bool,
}

impl Registry {
    pub(crate) fn new(config: &RouterConfig) -> Self {
        let entry = |d: &crate::config::DeploymentConfig| Entry {
            id: d.id.clone(),
            group: d.model_name.clone(),
            model: d.model.clone(),
            order: d.order,
            blocked: d.blocked,
            removed: false,
        };
        let settings = &config.settings;
        let mut registry = Self {
            names: Vec::new(),
            ids: BTreeMap::new(),
            targets: Vec::new(),
            routes: Vec::new(),
            directory: Directory {
                deployments: config.deployments.iter().map(entry).collect(),
                aliases: settings.model_group_alias.clone(),
                first_default_fallback: settings.default_fallbacks.first().cloned(),
                group_beats_id: config.profile.group_name_beats_id,
                routing_groups: settings.routing_groups.clone(),
                callable: config.profile.routing_groups_callable,
            },
            fallbacks: FallbackTable::new(settings),
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
        let lists = self.fallbacks.lists_for(name);
        let routes = lists.map(|list| list.iter().map(|name| self.model(name)).collect());
        self.routes[id.index()] = routes;
        id
    }

    fn target_of_alias(&mut self, name: &str) -> Option<ModelId> {
        let target = self.directory.aliases.get(name)?.clone();
        Some(self.model(&target))
    }

    /// The id of a name that has one.
    pub(crate) fn known(&self, name: &str) -> Option<ModelId> {
        self.ids.get(name).copied()
    }

    /// Takes a deployment out; [`Registry::relearn`] must follow.
    pub(crate) fn remove_deployment(&mut self, deployment: DeploymentId) {
        self.directory.deployments[deployment.index()].removed = true;
    }

    /// Looks every name up again, under these settings. Ids stay.
    pub(crate) fn relearn(&mut self, settings: &RouterSettings) {
        self.directory
            .aliases
            .clone_from(&settings.model_group_alias);
        self.directory.first_default_fallback = settings.default_fallbacks.first().cloned();
        self.directory
            .routing_groups
            .clone_from(&settings.routing_groups);
        self.fallbacks = FallbackTable::new(settings);
        for at in 0..self.names.len() {
            let name = self.names[at].clone();
            self.targets[at] = self.directory.target(&name);
            self.targets[at].alias_of = self.target_of_alias(&name);
            let lists = self.fallbacks.lists_for(&name);
            self.routes[at] = lists.map(|list| list.iter().map(|n| self.model(n)).collect());
        }
    }

    /// How many deployments a group has.
    pub(crate) fn group_size(&self, group: &str) -> usize {
        let belongs = |d: &&Entry| !d.removed && d.group == group;
        self.directory.deployments.iter().filter(belongs).count()
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, model: ModelId) -> &str {
        &self.names[model.index()]
    }

    pub(crate) fn target(&self, model: ModelId) -> &Target {
        &self.targets[model.index()]
    }

    pub(crate) fn routes(&self, model: ModelId) -> &Routes {
        &self.routes[model.index()]
    }
}

impl Directory {
    fn target(&self, name: &str) -> Target {
        let present = || self.deployments.iter().filter(|d| !d.removed);
        let means_group = self.group_beats_id && present().any(|d| d.group == name);
        let by_id = |d: &Entry| d.id == name && !d.removed && !means_group;
        if let Some(at) = self.deployments.iter().position(by_id) {
            return self.make(TargetKind::Deployment, |i, _| i == at);
        }
        let group = self.aliases.get(name).map_or(name, String::as_str);
        let found = self.make(TargetKind::Group, |_, d| d.group == group);
        if !found.members.is_empty() {
            return found;
        }
        if let Some(found) = self.routing_group(group) {
            return found;
        }
        let found = self.make(TargetKind::Group, |_, d| d.model == group);
        if !found.members.is_empty() {
            return found;
        }
        // LiteLLM serves an unknown name from the first default fallback, in silence.
        let stand_in = self.first_default_fallback.as_deref();
        let found = self.make(TargetKind::Group, |_, d| Some(d.group.as_str()) == stand_in);
        if found.members.is_empty() {
            return self.make(TargetKind::Unknown, |_, _| false);
        }
        found
    }

    /// A routing group that is called by its own name: the deployments of all its models, model by
    /// model. Where it
    /// goes by priority, that of a deployment's model stands in place of its order. (semantics 1.8)
    fn routing_group(&self, name: &str) -> Option<Target> {
        let called = |g: &RoutingGroup| self.callable && g.group_name == name;
        let at = self.routing_groups.iter().position(called)?;
        let group = &self.routing_groups[at];
        let mut target = self.make(TargetKind::Group, |_, d| group.models.contains(&d.group));
        if target.members.is_empty() {
            return None;
        }
        let model = |d: &DeploymentId| {
            let of = &self.deployments[d.index()].group;
            group.models.iter().position(|model| model == of)
        };
        target.members.sort_by_key(model);
        if group.routing_strategy == StrategySpec::Priority {
            let priority = |d: &DeploymentId| {
                let model = &self.deployments[d.index()].group;
                i64::from(group.model_priorities.get(model).copied().unwrap_or(0))
            };
            target.priorities = target.members.iter().map(priority).collect();
            let mut tiers = target.priorities.to_vec();
            tiers.sort_unstable();
            tiers.dedup();
            target.tiers = tiers.into();
            target.plain = false;
        }
        target.routing_group = Some(at);
        Some(target)
    }

    fn make(&self, kind: TargetKind, belongs: impl Fn(usize, &Entry) -> bool) -> Target {
        let members: Vec<(usize, &Entry)> = self
            .deployments
            .iter()
            .enumerate()
            .filter(|(i, d)| !d.removed && belongs(*i, d))
            .collect();
        let mut tiers: Vec<i64> = members.iter().filter_map(|(_, d)| d.order).collect();
        tiers.sort_unstable();
        tiers.dedup();
        Target {
            kind,
            plain: tiers.is_empty() && members.iter().all(|(_, d)| !d.blocked),
            tiers: tiers.into(),
            alias_of: None,
            routing_group: None,
            priorities: Box::default(),
            members: members
                .iter()
                .map(|(i, _)| DeploymentId(u32::try_from(*i).expect("checked when built")))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

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
