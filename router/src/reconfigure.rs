//! Changes to a router at work. What it has counted and who is benched survive them.

use std::time::Duration;

use crate::{
    StrategySpec,
    config::RouterSettings,
    error::ConfigError,
    fallback::ListsGiven,
    filters::OptionalFilters,
    plan::Fixed,
    profile::Profile,
    request::{DeploymentId, ModelId},
    router::Router,
    routing_groups,
};

/// The settings after an update: only some of them can change at work, and lengths of time lose what
/// is below a second. (semantics 1.9, quirk Q42; `runtime-update-*`)
fn changed(before: &RouterSettings, to: RouterSettings, profile: &Profile) -> RouterSettings {
    let whole = |length: Duration| Duration::from_secs(length.as_secs());
    let mut settings = RouterSettings {
        routing_strategy: to.routing_strategy,
        routing_groups: to.routing_groups,
        allowed_fails: to.allowed_fails,
        cooldown_time: to.cooldown_time.map(whole),
        num_retries: to.num_retries,
        timeout: to.timeout.map(whole),
        retry_after: whole(to.retry_after),
        fallbacks: to.fallbacks,
        context_window_fallbacks: to.context_window_fallbacks,
        retry_policy: to.retry_policy,
        model_group_retry_policy: to.model_group_retry_policy,
        model_group_alias: to.model_group_alias,
        enable_weighted_failover: to.enable_weighted_failover,
        ..before.clone()
    };
    if profile.more_settings_change {
        settings.content_policy_fallbacks = to.content_policy_fallbacks;
        settings.enable_tag_filtering = to.enable_tag_filtering;
        settings.tag_routing_prefix = to.tag_routing_prefix;
        settings.optional_pre_call_checks = to.optional_pre_call_checks;
    } else if same_kind(&settings.routing_strategy, &before.routing_strategy) {
        settings.routing_strategy = before.routing_strategy.clone();
    }
    settings
}

/// Whether two strategies differ in their arguments at most.
fn same_kind(one: &StrategySpec, other: &StrategySpec) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

impl Router {
    /// Takes of these settings what LiteLLM's `update_settings` takes; the others stay. A strategy that
    /// is chosen anew goes on with what it counted before; requests under way keep the retries that
    /// they were allowed.
    ///
    /// # Errors
    /// If the routing groups make no sense. Nothing changes then.
    pub fn update_settings(&mut self, settings: RouterSettings) -> Result<(), ConfigError> {
        let settings = changed(&self.config.settings, settings, &self.config.profile);
        routing_groups::check(&settings, &self.config.profile)?;
        let before = std::mem::replace(&mut self.config.settings, settings);
        if OptionalFilters::depend_on(&before, &self.config.settings) {
            self.filters = OptionalFilters::new(&self.config)?;
        }
        self.strategies.select(&self.config.settings);
        let (reserves, hears) = self.strategies.usage_v2();
        let deployments = self.config.deployments.len();
        let checks = &self.config.settings.optional_pre_call_checks;
        self.rate_limits.enforce(checks.enforce_model_rate_limits);
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
