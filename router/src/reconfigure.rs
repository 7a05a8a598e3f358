//! Changes to a router at work. What it has counted and who is benched survive them.

use crate::{
    config::RouterSettings, fallback::ListsGiven, plan::Fixed, request::DeploymentId,
    router::Router,
};

impl Router {
    /// Takes these settings from now on. A strategy that changed begins without history; requests
    /// under way keep the retries that they were allowed.
    pub fn update_settings(&mut self, settings: RouterSettings) {
        let strategy_changed = settings.routing_strategy != self.config.settings.routing_strategy;
        self.config.settings = settings;
        if strategy_changed {
            let spec = &self.config.settings.routing_strategy;
            self.strategy = spec.build(&self.config.profile, self.config.epoch);
        } else {
            self.strategy.on_groups_changed();
        }
        self.relearn();
    }

    /// Takes a deployment out: it is nobody's candidate any more. Attempts under way end as usual.
    pub fn delete_deployment(&mut self, deployment: DeploymentId) {
        self.registry.remove_deployment(deployment);
        self.strategy.on_groups_changed();
        self.relearn();
    }

    /// Works out again what follows from settings and deployments.
    fn relearn(&mut self) {
        self.registry.relearn(&self.config.settings);
        self.lists_given = ListsGiven::new(&self.config.settings);
        self.retry_policies.clear();
        self.learn_policies();
        let fixed = |d| Fixed::new(d, &self.config.settings, &self.registry);
        self.fixed = self.config.deployments.iter().map(fixed).collect();
    }
}
