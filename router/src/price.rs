//! What tokens cost. A missing price is unknown, never zero. (semantics 11)
//!
//! [`Prices::cost`] is for people: unknown as soon as one price that an answer needs is unknown.
//! [`Prices::booked`] is what LiteLLM writes down for the same answer and holds budgets against:
//! there a missing price counts as nothing (observed). Where versions differ, [`PricingRules`] say
//! how; whoever reads a configuration applies them once, with [`Prices::settled`].

use serde::{Deserialize, Serialize};

use crate::outcome::Usage;

/// Prices of a deployment or of an entry of LiteLLM's price registry, in US dollars a token.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Prices {
    /// `input_cost_per_token`.
    pub input: Option<f64>,
    /// `output_cost_per_token`.
    pub output: Option<f64>,
    /// `cache_read_input_token_cost`: tokens that the provider read from its own prompt cache.
    pub cache_read: Option<f64>,
    /// `input_cost_per_token_batches`.
    pub input_batches: Option<f64>,
    /// `output_cost_per_token_batches`.
    pub output_batches: Option<f64>,
    /// `cache_read_input_token_cost_batches`.
    pub cache_read_batches: Option<f64>,
    /// `…_above_<k>_tokens`: prices of long prompts, the shortest first.
    pub tiers: Vec<PriceTier>,
}

/// Prices of all tokens of an answer whose prompt is longer than `above`. `None`: as in the tier
/// below.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PriceTier {
    /// The longest prompt, in tokens, that is not of this tier.
    pub above: u32,
    /// `input_cost_per_token_above_<k>_tokens`.
    pub input: Option<f64>,
    /// `output_cost_per_token_above_<k>_tokens`.
    pub output: Option<f64>,
    /// `cache_read_input_token_cost_above_<k>_tokens`.
    pub cache_read: Option<f64>,
}

/// What two versions of LiteLLM do differently with prices that are missing (semantics 11.2;
/// observed where no section says so).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PricingRules {
    /// Whether cached tokens without a price of their own cost as much as others, not nothing.
    pub cached_as_input: bool,
    /// Whether a deployment's output price, or that of a tier, counts without an input price beside
    /// it. Else such a deployment is billed by its model's name (observed).
    pub output_alone_counts: bool,
    /// Whether an output price of a tier counts without an input price of that tier (observed).
    pub output_tier_alone_counts: bool,
    /// Whether a deployment with a price of its own takes the cache price that it lacks from its
    /// `base_model`, if it names one, and not from its model (observed).
    pub cache_price_of_base_model: bool,
    /// Whether a `base_model` may name another provider's model (observed).
    pub base_model_of_any_provider: bool,
    /// Whether cost-based routing ranks a deployment by the registry's entry of its `base_model`, where
    /// there is one (`cost-base-model-*`).
    pub base_model_ranks: bool,
}

impl PricingRules {
    /// LiteLLM 1.110.2.
    pub const LITELLM_1_110: Self = Self {
        cached_as_input: true,
        output_alone_counts: true,
        output_tier_alone_counts: true,
        cache_price_of_base_model: true,
        base_model_of_any_provider: true,
        base_model_ranks: true,
    };
    /// LiteLLM 1.92.0.
    pub const LITELLM_1_92: Self = Self {
        cached_as_input: false,
        output_alone_counts: false,
        output_tier_alone_counts: false,
        cache_price_of_base_model: false,
        base_model_of_any_provider: false,
        base_model_ranks: false,
    };
}

/// The prices that one answer is billed by.
#[derive(Clone, Copy)]
struct Billed {
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
}

impl Prices {
    /// What an answer costs, in US dollars; `None` if a price that it needs is unknown.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> Option<f64> {
        let price = |tokens: u32, per_token: Option<f64>| match tokens {
            0 => Some(0.0),
            tokens => per_token.map(|usd| usd * f64::from(tokens)),
        };
        let (fresh, cached) = prompt_of(usage);
        let billed = self.billed(usage);
        Some(
            price(fresh, billed.input)?
                + price(cached, billed.cache_read)?
                + price(usage.completion_tokens, billed.output)?,
        )
    }

    /// What LiteLLM books for an answer, in US dollars: a missing price counts as nothing. Budgets
    /// are held against this (semantics 8.6).
    #[must_use]
    pub fn booked(&self, usage: Usage) -> f64 {
        let price = |tokens: u32, per_token: Option<f64>| {
            per_token.map_or(0.0, |usd| usd * f64::from(tokens))
        };
        let (fresh, cached) = prompt_of(usage);
        let billed = self.billed(usage);
        price(fresh, billed.input)
            + price(cached, billed.cache_read)
            + price(usage.completion_tokens, billed.output)
    }

    /// Prices by which an answer is billed: those of the highest tier that its prompt reaches, half
    /// of them for a batch where no batch price is listed (observed).
    #[inline]
    fn billed(&self, usage: Usage) -> Billed {
        let mut now = Billed {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
        };
        if usage.batch {
            let half = |usd: Option<f64>| usd.map(|usd| usd / 2.0);
            let cached = match self.input_batches {
                Some(_) => self.cache_read_batches.or(self.cache_read),
                None => self.cache_read_batches.or_else(|| half(self.cache_read)),
            };
            now = Billed {
                input: self.input_batches.or_else(|| half(self.input)),
                output: self.output_batches.or_else(|| half(self.output)),
                cache_read: cached,
            };
        } else {
            let reached = |tier: &&PriceTier| usage.prompt_tokens > tier.above;
            for tier in self.tiers.iter().take_while(reached) {
                now.input = tier.input.or(now.input);
                now.output = tier.output.or(now.output);
                now.cache_read = tier.cache_read.or(now.cache_read);
            }
        }
        if now.cache_read.is_none() {
            now.cache_read = now.input;
        }
        now
    }

    /// These prices with what a version of LiteLLM makes of those that are missing.
    #[must_use]
    pub fn settled(mut self, rules: PricingRules) -> Self {
        if self.input_batches.is_none() && self.cache_read.is_none() {
            // Half of what LiteLLM's older formula gives, in which such tokens are free (observed).
            self.cache_read_batches = self.cache_read_batches.or(Some(0.0));
        }
        if !rules.cached_as_input && self.input.is_some() {
            self.cache_read = self.cache_read.or(Some(0.0));
            // Its batches know one price for all of a prompt.
            self.cache_read_batches = self.input_batches.or(self.cache_read_batches);
        }
        if !rules.output_tier_alone_counts {
            self.tiers.retain(|tier| tier.input.is_some());
        }
        self.tiers.sort_by_key(|tier| tier.above);
        self
    }

    /// Whether nothing is known at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Tokens of the prompt that were computed, and those that were read from the provider's cache.
fn prompt_of(usage: Usage) -> (u32, u32) {
    let cached = usage.cached_tokens.min(usage.prompt_tokens);
    (usage.prompt_tokens - cached, cached)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V92: PricingRules = PricingRules::LITELLM_1_92;
    const V110: PricingRules = PricingRules::LITELLM_1_110;

    fn gpt_4o() -> Prices {
        Prices {
            input: Some(2.5e-6),
            output: Some(1e-5),
            cache_read: Some(1.25e-6),
            input_batches: Some(1.25e-6),
            output_batches: Some(5e-6),
            ..Prices::default()
        }
    }

    fn usage(prompt: u32, cached: u32, answer: u32) -> Usage {
        Usage {
            cached_tokens: cached,
            ..Usage::new(prompt, answer)
        }
    }

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("the cost is known");
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }

    #[test]
    fn the_worked_examples_of_the_reference_cost_what_they_say() {
        let known = gpt_4o();
        close(known.cost(usage(1_000, 0, 100)), 0.0035);
        close(known.cost(usage(1_000, 400, 100)), 0.003);
        let mini = Prices {
            input: Some(1.5e-7),
            output: Some(6e-7),
            ..Prices::default()
        };
        close(mini.cost(usage(1_000, 0, 100)), 0.000_21);
        // An own input price on gpt-5, whose cache price is inherited; then an own cache price.
        let mut own = Prices {
            input: Some(1e-3),
            cache_read: Some(1.25e-7),
            ..Prices::default()
        };
        close(own.cost(usage(1_000, 400, 0)), 0.600_05);
        own.cache_read = Some(1e-4);
        close(own.cost(usage(1_000, 400, 0)), 0.64);
        let free = Prices {
            input: Some(0.0),
            output: Some(0.0),
            ..Prices::default()
        };
        close(free.cost(usage(1_000, 0, 100)), 0.0);
    }

    #[test]
    fn a_missing_price_is_unknown_unless_nothing_is_billed_by_it() {
        let input_only = Prices {
            input: Some(1e-3),
            ..Prices::default()
        };

        assert_eq!(input_only.cost(usage(1_000, 0, 100)), None);
        close(input_only.cost(usage(1_000, 0, 0)), 1.0);
        assert_eq!(Prices::default().cost(usage(1, 0, 0)), None);
    }

    #[test]
    fn litellm_books_nothing_for_a_missing_price() {
        let input_only = Prices {
            input: Some(1e-3),
            ..Prices::default()
        };

        close(Some(input_only.booked(usage(1_000, 0, 100))), 1.0);
        close(Some(Prices::default().booked(usage(1_000, 0, 100))), 0.0);
        let same = gpt_4o();
        let seen = usage(1_000, 400, 100);
        close(same.cost(seen), same.booked(seen));
    }

    #[test]
    fn cached_tokens_without_a_price_are_free_in_1_92_and_cost_as_others_in_1_110() {
        let own = Prices {
            input: Some(1e-3),
            ..Prices::default()
        };

        close(own.clone().settled(V92).cost(usage(1_000, 400, 0)), 0.6);
        close(own.settled(V110).cost(usage(1_000, 400, 0)), 1.0);
    }

    #[test]
    fn all_tokens_of_a_long_prompt_are_billed_by_the_highest_tier_it_reaches() {
        let tier = |above, usd| PriceTier {
            above,
            input: Some(usd),
            ..PriceTier::default()
        };
        let prices = Prices {
            input: Some(1e-6),
            output: Some(2e-6),
            cache_read: Some(1e-7),
            tiers: vec![tier(200_000, 1e-3), tier(128_000, 5e-6)],
            ..Prices::default()
        }
        .settled(V110);

        close(prices.cost(usage(128_000, 0, 100)), 0.1282);
        close(prices.cost(usage(150_000, 0, 100)), 0.7502);
        close(prices.cost(usage(200_001, 0, 100)), 200.0012);
        close(prices.cost(usage(250_000, 100_000, 100)), 150.0102);
    }

    #[test]
    fn an_output_price_of_a_tier_without_an_input_price_counts_only_in_1_110() {
        let prices = Prices {
            input: Some(1e-6),
            output: Some(2e-6),
            tiers: vec![PriceTier {
                above: 200_000,
                output: Some(1e-2),
                ..PriceTier::default()
            }],
            ..Prices::default()
        };
        let long = usage(250_000, 0, 100);

        close(prices.clone().settled(V92).cost(long), 0.2502);
        close(prices.settled(V110).cost(long), 1.25);
    }

    #[test]
    fn a_batch_is_billed_by_batch_prices_and_by_half_where_there_are_none() {
        let batch = |prices: Prices, rules, cached| {
            let usage = Usage {
                batch: true,
                ..usage(1_000, cached, 100)
            };
            prices.settled(rules).cost(usage)
        };
        let gpt_4 = Prices {
            input: Some(3e-5),
            output: Some(6e-5),
            ..Prices::default()
        };

        close(batch(gpt_4o(), V110, 0), 0.001_25 + 0.0005);
        close(batch(gpt_4.clone(), V110, 0), 0.015 + 0.003);
        close(batch(gpt_4, V110, 400), 0.009 + 0.003);
        let own = Prices {
            input: Some(1e-3),
            output: Some(1e-3),
            input_batches: Some(1e-4),
            cache_read: Some(1e-5),
            ..Prices::default()
        };
        close(batch(own.clone(), V92, 400), 0.1 + 0.05);
        close(batch(own, V110, 400), 0.064 + 0.05);
    }
}
