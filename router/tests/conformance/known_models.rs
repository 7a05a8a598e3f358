//! What LiteLLM's price registry says of models that a vector may name: prices and the longest
//! prompt. Both versions' registries agree on these.

use router::Prices;

const TABLE: &str = include_str!("known_models.csv");

/// A model's entry.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) prices: Prices,
    pub(crate) max_input_tokens: u32,
}

/// The entry under exactly this name.
pub(crate) fn entry(name: &str) -> Option<Known> {
    let row = TABLE
        .lines()
        .skip(1)
        .find(|row| row.split(',').next() == Some(name))?;
    let number = |column: usize| row.split(',').nth(column)?.parse::<f64>().ok();
    Some(Known {
        prices: Prices {
            input: number(1),
            output: number(2),
            ..Prices::default()
        },
        max_input_tokens: row.split(',').nth(3)?.parse().ok()?,
    })
}

/// The entry that counts for the window of a model: under its name, or without its provider.
pub(crate) fn window(model: &str) -> Option<u32> {
    let bare = model.split_once('/').map(|(_, name)| name);
    let found = entry(model).or_else(|| entry(bare?));
    found.map(|known| known.max_input_tokens)
}
