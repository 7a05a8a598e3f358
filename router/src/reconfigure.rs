//! Changes to a router at work. What it has counted and who is benched survive them.

use crate::{
    config::RouterSettings,
    error::ConfigError,
    fallback::ListsGiven,
    filters::OptionalFilters,
    plan::Fixed,
    request::{DeploymentId, ModelId},
    router::Router,
    routing_groups,
};

impl Router {
    /// Takes these settings from now on. A strategy that is chosen anew goes on with what it counted
    /// before; requests under way keep the retries that they were allowed.
    ///
    /// # Errors
    /// If the routing groups make no sense. Nothing changes then.
    pub fn update_settings(&mut self, settings: RouterSettings) -> Result<(), ConfigError> {
        routing_groups::check(&settings, &self.config.profile)?;
        let before = std::mem::replace(&mut self.config.settings, settings);
        if OptionalFilters::depend_on(&before, &self.config.settings) {
            self.filters = OptionalFilters::new(&self.config)?;
        }
        self.strategies.select(&self.config.settings);
        let (reserves, hears) = self.strategies.usage_v2();
        let deployments = self.config.deployments.len();
        self.rate_limits.reserve(reserves, hears, deployments);
        self.relearn();
        Ok(())
    }

    /// Takes a deployment out: it is nobody's candidate any more. Attempts under way end as usual.
    pub fn delete_deployment(&mut self, deployment: DeploymentId) {
        self.registry.remove_deployment(deployment);
        self.strategies.select(&self.config.settings);
        self.relearn();
    }

    /// Works out the retry policy and the strategy of each name that is new.
    pub(crate) fn learn_names(&mut self) {
        let settings = &self.config.settings;
        for id in self.retry_policies.len()..self.registry.len() {
            let id = ModelId(u32::try_from(id).expect("an id"));
            let name = self.registry.name(id);
            let own = settings.model_group_retry_policy.get(name);
            self.retry_policies
                .push(own.or(settings.retry_policy.as_ref()).cloned());
            let groups = &settings.routing_groups;
            if groups.is_empty() {
                continue;
            }
            let called = self.registry.target(id).routing_group;
            let looked_up = match self.config.profile.routing_groups_govern_model_names {
                true => self.registry.model_name(name),
                false => Some(name),
            };
            self.strategies.learn(groups, called, looked_up);
        }
    }

    /// Works out again what follows from settings and deployments.
    fn relearn(&mut self) {
        self.registry.relearn(&self.config.settings);
        self.lists_given = ListsGiven::new(&self.config.settings);
        self.retry_policies.clear();
        self.learn_names();
        let fixed = |d| Fixed::new(d, &self.config.settings, &self.registry);
        self.fixed = self.config.deployments.iter().map(fixed).collect();
    }
}
