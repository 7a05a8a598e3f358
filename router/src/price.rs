//! What tokens cost. A missing price is unknown, never zero. (semantics 11)

use serde::{Deserialize, Serialize};

use crate::outcome::Usage;

/// Prices of a deployment or of an entry of LiteLLM's price registry, in US dollars a token.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
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
}

impl Prices {
    /// What an answer costs, in US dollars; `None` if a price that it needs is unknown.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> Option<f64> {
        let price = |tokens: u32, per_token: Option<f64>| match tokens {
            0 => Some(0.0),
            tokens => per_token.map(|p| p * f64::from(tokens)),
        };
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        Some(
            price(usage.prompt_tokens - cached, self.input)?
                + price(cached, self.cache_read.or(self.input))?
                + price(usage.completion_tokens, self.output)?,
        )
    }
}
