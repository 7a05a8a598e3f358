//! Reading LiteLLM configs: configs that people published, what each setting means, and what broken
//! ones are told.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod account;
mod broken;
mod corpus;
mod deployments;
mod keys;
mod settings;
mod signatures;

use std::time::Duration;

use scenarios::litellm::{IgnoredKey, LitellmConfig};

/// Reads a config that must be good.
fn read(text: &str) -> LitellmConfig {
    scenarios::litellm::read(text, "config.yaml").unwrap_or_else(|error| panic!("{error}"))
}

/// Reads a config of one deployment with these sections after `model_list`.
fn read_with(sections: &str) -> LitellmConfig {
    let list = "model_list: [{model_name: m, litellm_params: {model: openai/x}}]";
    read(&format!("{list}\n{sections}"))
}

/// What is told about an ignored key.
fn ignored<'c>(config: &'c LitellmConfig, path: &str) -> &'c IgnoredKey {
    let all = &config.ignored;
    all.iter()
        .find(|key| key.path == path)
        .unwrap_or_else(|| panic!("{path} not in {all:#?}"))
}

const fn secs(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}
