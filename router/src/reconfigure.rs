//! Changes to a router at work. What it has counted and who is benched survive them.

use crate::{
    config::RouterSettings, error::ConfigError, fallback::ListsGiven, plan::Fixed,
    request::DeploymentId, router::Router, routing_groups,
};

impl Router {
    /// Takes these settings from now on. A strategy that is chosen anew goes on with what it counted
    /// before; requests under way keep the retries that they were allowed.
    ///
    /// # Errors
    /// If the routing groups make no sense. Nothing changes then.
    pub fn update_settings(&mut self, settings: RouterSettings) -> Result<(), ConfigError> {
        routing_groups::check(&settings, &self.config.profile)?;
        self.config.settings = settings;
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
