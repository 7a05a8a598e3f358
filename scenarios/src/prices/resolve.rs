//! Which prices and which context window a deployment has (semantics 11.1, 3.6, 2.3.9).

use router::{DeploymentConfig, Prices, PricingRules};

use super::{PriceRegistry, names::ModelRef};
use crate::litellm::DeploymentFacts;

/// Puts the prices and the longest prompt of a deployment into their fields.
pub(crate) fn resolve(
    deployment: &mut DeploymentConfig,
    facts: &DeploymentFacts,
    rules: PricingRules,
    registry: Option<&PriceRegistry>,
) {
    let resolver = Resolver {
        deployment,
        facts,
        rules,
        registry,
    };
    let prices = resolver.billed().settled(rules);
    let listed = resolver.listed();
    let longest = resolver.max_input_tokens();
    deployment.prices = prices;
    deployment.listed_prices = listed;
    deployment.max_input_tokens = longest;
}

struct Resolver<'a> {
    deployment: &'a DeploymentConfig,
    facts: &'a DeploymentFacts,
    rules: PricingRules,
    registry: Option<&'a PriceRegistry>,
}

impl Resolver<'_> {
    /// What cost-based routing finds in the registry: the entry of exactly the model's text, or that
    /// of `base_model`, the one of `model_info` first (observed).
    fn listed(&self) -> Prices {
        let facts = self.facts;
        let named = facts.base_model_of_info.as_deref();
        let base = named
            .or(facts.base_model_of_params.as_deref())
            .filter(|_| self.rules.base_model_ranks);
        let entry = |name: &str| self.registry?.entry(name);
        let entry = base
            .and_then(entry)
            .or_else(|| entry(&self.deployment.model));
        entry.map(|entry| entry.prices.clone()).unwrap_or_default()
    }

    /// What an answer is billed by: the deployment's own prices where they count, else those of its
    /// model. `base_model` is asked only where the deployment has no price at all.
    fn billed(&self) -> Prices {
        let own = self.own();
        let beside_input = own.output.is_some() || !own.tiers.is_empty();
        if own.input.is_some() || (self.rules.output_alone_counts && beside_input) {
            return own;
        }
        let base = self.of_base_model().filter(|_| own.is_empty());
        let known = base.or_else(|| self.of_model());
        known.cloned().unwrap_or_default()
    }

    /// The deployment's own prices, those of `litellm_params` first. A cache price that is missing
    /// is taken from what the registry knows of the model behind it.
    fn own(&self) -> Prices {
        let (params, info) = (&self.deployment.own_prices, &self.facts.info_prices);
        let mut own = Prices {
            input: params.input.or(info.input),
            output: params.output.or(info.output),
            cache_read: params.cache_read.or(info.cache_read),
            input_batches: params.input_batches.or(info.input_batches),
            output_batches: params.output_batches.or(info.output_batches),
            cache_read_batches: params.cache_read_batches.or(info.cache_read_batches),
            tiers: if params.tiers.is_empty() {
                info.tiers.clone()
            } else {
                params.tiers.clone()
            },
        };
        if own.input.is_some() && own.cache_read.is_none() {
            let base = self
                .of_base_model()
                .filter(|_| self.rules.cache_price_of_base_model);
            let backend = base.or_else(|| self.of_model());
            own.cache_read = backend.and_then(|prices| prices.cache_read);
        }
        own
    }

    fn of_model(&self) -> Option<&Prices> {
        let given = self.deployment.custom_llm_provider.as_deref();
        let model = ModelRef::of(&self.deployment.model, given);
        Some(&self.registry?.find(model)?.prices)
    }

    /// `litellm_params.base_model` before `model_info.base_model` (observed).
    fn of_base_model(&self) -> Option<&Prices> {
        let facts = self.facts;
        let name = facts
            .base_model_of_params
            .as_ref()
            .or(facts.base_model_of_info.as_ref())?;
        Some(&self.registry?.find(self.base(name))?.prices)
    }

    /// A `base_model`: of the deployment's own provider, unless it may and does name another.
    fn base<'m>(&'m self, name: &'m str) -> ModelRef<'m> {
        let own = self.provider();
        match name.split_once('/') {
            Some((provider, name)) if Some(provider) == own => ModelRef {
                provider: own,
                name,
            },
            Some(_) if self.rules.base_model_of_any_provider => ModelRef::of(name, None),
            _ => ModelRef {
                provider: own,
                name,
            },
        }
    }

    /// The provider, where the model's text, `custom_llm_provider` or the registry says it.
    fn provider(&self) -> Option<&str> {
        let given = self.deployment.custom_llm_provider.as_deref();
        let model = ModelRef::of(&self.deployment.model, given);
        let known = || Some(self.registry?.entry(model.name)?.provider.as_str());
        model.provider.or_else(known)
    }

    /// The longest prompt: the deployment's own word, else the registry's on its model. Only for
    /// Azure's deployments LiteLLM asks for `base_model`, that of `model_info` first (observed).
    fn max_input_tokens(&self) -> Option<u32> {
        let facts = self.facts;
        if facts.max_input_tokens.is_some() {
            return facts.max_input_tokens;
        }
        let given = self.deployment.custom_llm_provider.as_deref();
        let model = ModelRef::of(&self.deployment.model, given);
        let base = facts
            .base_model_of_info
            .as_deref()
            .or(facts.base_model_of_params.as_deref())
            .filter(|_| model.provider == Some("azure"));
        let model = base.map_or(model, |name| ModelRef {
            provider: Some("azure"),
            name: name.strip_prefix("azure/").unwrap_or(name),
        });
        self.registry?.find(model)?.max_input_tokens
    }
}
