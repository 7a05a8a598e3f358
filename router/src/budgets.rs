//! Budgets of providers and deployments: who has spent what it may is no candidate until its window
//! is over. (semantics 8.6)
//!
//! What an answer costs is added when it is there, so that requests in flight together overshoot,
//! and the first one always passes.

use std::time::Duration;

use crate::{
    config::{Budget, RouterConfig},
    filters::Sieve,
    observe::{Observer, PassedOver},
    outcome::Usage,
    provider,
    request::{Api, DeploymentId},
    route_error::RouteError,
    router::Router,
    step::Ticket,
    time::Instant,
};

/// Everybody's budget.
#[derive(Clone, Debug)]
pub(crate) struct Budgets {
    /// Of providers, then of deployments.
    purses: Vec<Purse>,
    /// By deployment.
    payers: Vec<Payer>,
    /// From this moment on nobody's budget is spent.
    all_left_at: Instant,
}

/// Who pays for a deployment: places in `purses`.
#[derive(Clone, Copy, Debug)]
struct Payer {
    provider: Option<usize>,
    own: Option<usize>,
    /// Its provider's entry gives a window but no limit, which leaves it nothing (observed).
    barred: bool,
}

/// What was spent in a window, which begins with its first spending.
#[derive(Clone, Copy, Debug)]
struct Purse {
    limit: f64,
    period: Duration,
    spent: f64,
    ends: Instant,
}

impl Purse {
    /// Only a budget with a window and a limit other than zero is one. (observed)
    fn new(budget: Budget, ends: Instant) -> Option<Self> {
        let limit = budget.limit.filter(|&limit| limit != 0.0)?;
        let period = budget.period.filter(|period| !period.is_zero())?;
        Some(Self {
            limit,
            period,
            spent: 0.0,
            ends,
        })
    }

    fn is_spent(&self, now: Instant) -> bool {
        let spent = if now < self.ends { self.spent } else { 0.0 };
        spent >= self.limit
    }

    /// Until when it is spent, if it is.
    fn spend(&mut self, now: Instant, cost: f64) -> Option<Instant> {
        if now >= self.ends {
            self.spent = 0.0;
            self.ends = now + self.period;
        }
        self.spent += cost;
        (self.spent >= self.limit).then_some(self.ends)
    }
}

impl Budgets {
    /// `None` where nobody has one.
    pub(crate) fn new(config: &RouterConfig) -> Option<Self> {
        let mut purses = Vec::new();
        let mut add = |budget: Budget, ends| {
            purses.push(Purse::new(budget, ends)?);
            Some(purses.len() - 1)
        };
        let providers = &config.settings.provider_budget_config;
        // A provider's first window begins with the router, a deployment's with its first spending.
        let opened = |budget: &Budget| Instant::ZERO + budget.period.unwrap_or_default();
        let of_providers: Vec<_> = providers
            .iter()
            .map(|(name, budget)| {
                (
                    name.as_str(),
                    add(*budget, opened(budget)),
                    is_barred(budget),
                )
            })
            .collect();
        let payers: Vec<Payer> = config
            .deployments
            .iter()
            .map(|deployment| {
                let name = provider::of(deployment);
                let entry = of_providers.iter().find(|entry| Some(entry.0) == name);
                Payer {
                    provider: entry.and_then(|entry| entry.1),
                    own: deployment.budget.and_then(|b| add(b, Instant::ZERO)),
                    barred: entry.is_some_and(|entry| entry.2),
                }
            })
            .collect();
        let barred = payers.iter().any(|payer| payer.barred);
        // A limit below zero is spent before anything is.
        let hopeless = purses.iter().any(|purse| purse.is_spent(Instant::NEVER));
        if purses.is_empty() && !barred {
            return None;
        }
        Some(Self {
            purses,
            payers,
            all_left_at: match barred || hopeless {
                true => Instant::NEVER,
                false => Instant::ZERO,
            },
        })
    }

    /// Whether nobody has spent a budget.
    pub(crate) fn all_left(&self, now: Instant) -> bool {
        now >= self.all_left_at
    }

    /// Passes over whoever has spent a budget; to leave nobody is an error.
    pub(crate) fn filter(&self, sieve: &mut Sieve<'_, impl Observer>) -> Result<(), RouteError> {
        if sieve.left.is_empty() || self.all_left(sieve.now) {
            return Ok(());
        }
        let now = sieve.now;
        sieve.keep(PassedOver::BudgetSpent, |d| !self.is_spent(now, d));
        match sieve.left.is_empty() {
            true => Err(RouteError::BudgetSpent),
            false => Ok(()),
        }
    }

    fn is_spent(&self, now: Instant, deployment: DeploymentId) -> bool {
        let payer = self.payers[deployment.index()];
        let spent = |purse: Option<usize>| purse.is_some_and(|p| self.purses[p].is_spent(now));
        payer.barred || spent(payer.provider) || spent(payer.own)
    }

    fn spend(&mut self, now: Instant, deployment: DeploymentId, cost: f64) {
        let payer = self.payers[deployment.index()];
        for purse in [payer.provider, payer.own].into_iter().flatten() {
            if let Some(until) = self.purses[purse].spend(now, cost) {
                self.all_left_at = self.all_left_at.max(until);
            }
        }
    }
}

/// A provider with a window and no limit serves nothing. (observed)
const fn is_barred(budget: &Budget) -> bool {
    budget.limit.is_none() && budget.period.is_some()
}

impl Router {
    /// Adds what an answer cost to the budgets that pay for it. A missing price counts as nothing, and a
    /// blocking call is not counted. (observed)
    pub(crate) fn spend(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        usage: Usage,
    ) {
        let Some(budgets) = self.filters.as_mut().and_then(|f| f.budgets.as_mut()) else {
            return;
        };
        let state = self.requests.peek(ticket);
        let overrides = state.request.overrides.as_deref();
        let embedding = overrides.is_some_and(|o| o.api == Api::Embedding);
        let profile = &self.config.profile;
        let unheard = (embedding && !profile.embeddings_spend)
            || (state.rare.after_break && !profile.continuations_spend);
        if state.request.is_blocking() || unheard {
            return;
        }
        let prices = &self.config.deployments[deployment.index()].prices;
        let cost = prices.booked(usage);
        if cost > 0.0 {
            budgets.spend(now, deployment, cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RouterSettings;

    const A: DeploymentId = DeploymentId(0);
    const B: DeploymentId = DeploymentId(1);

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    fn budget(limit: impl Into<Option<f64>>, period_s: impl Into<Option<u64>>) -> Budget {
        Budget {
            limit: limit.into(),
            period: period_s.into().map(Duration::from_secs),
        }
    }

    fn of_deployment(a: Budget) -> Option<Budgets> {
        let mut config = RouterConfig::of_deployments(["a", "b"]);
        config.deployments[0].budget = Some(a);
        Budgets::new(&config)
    }

    fn of_provider(name: &str, entry: Budget) -> Option<Budgets> {
        let mut config = RouterConfig::of_deployments(["a", "b"]);
        config.deployments[1].model = "azure/b".to_owned();
        config.settings = RouterSettings {
            provider_budget_config: [(name.to_owned(), entry)].into(),
            ..RouterSettings::default()
        };
        Budgets::new(&config)
    }

    #[test]
    fn a_budget_is_spent_once_spending_reaches_its_limit_and_until_its_window_ends() {
        let mut budgets = of_deployment(budget(0.02, 2)).unwrap();

        budgets.spend(at(1.2), A, 0.015);
        assert!(!budgets.is_spent(at(1.3), A) && budgets.all_left(at(1.3)));
        budgets.spend(at(1.5), A, 0.005);

        assert!(budgets.is_spent(at(1.5), A) && !budgets.all_left(at(1.5)));
        assert!(!budgets.is_spent(at(1.5), B));
        // The window began with the first spending, and the next one begins with the next.
        assert!(budgets.is_spent(at(3.1), A));
        assert!(!budgets.is_spent(at(3.2), A) && budgets.all_left(at(3.2)));
        budgets.spend(at(9.0), A, 0.02);
        assert!(budgets.is_spent(at(10.9), A) && !budgets.is_spent(at(11.0), A));
    }

    #[test]
    fn a_providers_first_window_begins_with_the_router_and_it_pays_for_its_deployments_only() {
        let mut budgets = of_provider("openai", budget(0.02, 2)).unwrap();

        budgets.spend(at(1.2), A, 0.03);
        budgets.spend(at(1.2), B, 0.03);

        assert!(budgets.is_spent(at(1.9), A) && !budgets.is_spent(at(1.9), B));
        assert!(!budgets.is_spent(at(2.0), A));
        budgets.spend(at(2.5), A, 0.03);
        assert!(budgets.is_spent(at(4.4), A) && !budgets.is_spent(at(4.5), A));
    }

    #[test]
    fn only_a_window_with_a_limit_other_than_zero_is_a_budget() {
        assert!(of_deployment(budget(0.0, 2)).is_none());
        assert!(of_deployment(budget(0.02, None)).is_none());
        assert!(of_deployment(budget(None, 2)).is_none());
        assert!(of_provider("openai", budget(0.02, None)).is_none());
        assert!(of_provider("openai", budget(None, None)).is_none());
        assert!(of_provider("bedrock", budget(None, 2)).is_none());
    }

    #[test]
    fn a_limit_below_zero_or_a_provider_without_a_limit_leaves_nothing() {
        let below = of_deployment(budget(-1.0, 2)).unwrap();
        assert!(below.is_spent(at(0.0), A) && !below.is_spent(at(0.0), B));
        assert!(below.is_spent(at(1e6), A) && !below.all_left(at(1e6)));

        let none = of_provider("openai", budget(None, 2)).unwrap();
        assert!(none.is_spent(at(0.0), A) && !none.is_spent(at(0.0), B));
        assert!(!none.all_left(at(1e6)));
    }
}
