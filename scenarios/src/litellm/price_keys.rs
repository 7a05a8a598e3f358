//! Keys that hold prices: in `litellm_params`, in `model_info`, and in LiteLLM's price registry, by
//! the same names (semantics 11.3).

use router::{PriceTier, Prices};

/// The place of the price that a key holds. `None` for prices of other units and tiers of service,
/// which no request here is billed by, and for keys that hold no price.
pub(crate) fn price_slot<'p>(prices: &'p mut Prices, key: &str) -> Option<&'p mut Option<f64>> {
    Some(match key {
        "input_cost_per_token" => &mut prices.input,
        "output_cost_per_token" => &mut prices.output,
        "cache_read_input_token_cost" => &mut prices.cache_read,
        "input_cost_per_token_batches" => &mut prices.input_batches,
        "output_cost_per_token_batches" => &mut prices.output_batches,
        "cache_read_input_token_cost_batches" => &mut prices.cache_read_batches,
        key => {
            let (kind, rest) = key.split_once("_above_")?;
            let thousands: u32 = rest.strip_suffix("k_tokens")?.parse().ok()?;
            let of_tier: fn(&mut PriceTier) -> &mut Option<f64> = match kind {
                "input_cost_per_token" => |tier| &mut tier.input,
                "output_cost_per_token" => |tier| &mut tier.output,
                "cache_read_input_token_cost" => |tier| &mut tier.cache_read,
                _ => return None,
            };
            of_tier(tier(&mut prices.tiers, thousands.checked_mul(1_000)?))
        }
    })
}

/// The tier of prompts above so many tokens, made in its place where there is none.
fn tier(tiers: &mut Vec<PriceTier>, above: u32) -> &mut PriceTier {
    let at = tiers.partition_point(|tier| tier.above < above);
    if tiers.get(at).is_none_or(|tier| tier.above != above) {
        tiers.insert(
            at,
            PriceTier {
                above,
                ..PriceTier::default()
            },
        );
    }
    &mut tiers[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(keys: &[(&str, f64)]) -> Prices {
        let mut prices = Prices::default();
        for (key, usd) in keys {
            if let Some(slot) = price_slot(&mut prices, key) {
                *slot = Some(*usd);
            }
        }
        prices
    }

    #[test]
    fn every_price_by_the_token_has_its_place_and_tiers_stand_in_order() {
        let prices = put(&[
            ("input_cost_per_token", 1.0),
            ("output_cost_per_token_above_200k_tokens", 4.0),
            ("input_cost_per_token_above_128k_tokens", 3.0),
            ("cache_read_input_token_cost_above_200k_tokens", 5.0),
            ("cache_read_input_token_cost", 2.0),
        ]);

        assert_eq!((prices.input, prices.cache_read), (Some(1.0), Some(2.0)));
        let [first, second] = prices.tiers.as_slice() else {
            panic!("two tiers in {prices:?}");
        };
        assert_eq!((first.above, first.input), (128_000, Some(3.0)));
        assert_eq!((second.above, second.output), (200_000, Some(4.0)));
        assert_eq!(second.cache_read, Some(5.0));
    }

    #[test]
    fn prices_of_other_units_and_services_have_no_place() {
        let prices = put(&[
            ("input_cost_per_second", 1.0),
            ("input_cost_per_token_priority", 1.0),
            ("input_cost_per_token_above_200k_tokens_priority", 1.0),
            ("cache_creation_input_token_cost_above_1hr", 1.0),
            ("output_cost_per_reasoning_token", 1.0),
            ("input_cost_per_audio_token_above_200k_tokens", 1.0),
        ]);

        assert!(prices.is_empty(), "{prices:?}");
    }
}
