//! `provider-budget-routing`: a name that LiteLLM accepts and that selects nobody, so that every
//! request is answered with "No deployments available". Budgets work with any other strategy.
//! (semantics 1.8)

use super::{Candidates, PickContext, RoutingStrategy};
use crate::{request::DeploymentId, rng::KeyedRng};

/// `provider-budget-routing`.
#[derive(Debug)]
pub(super) struct ProviderBudget;

impl RoutingStrategy for ProviderBudget {
    fn pick(
        &mut self,
        _cx: &PickContext<'_>,
        _candidates: &Candidates<'_>,
        _rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        None
    }
}
