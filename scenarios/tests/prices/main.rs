//! Prices and context windows: what LiteLLM's registry says of a name, and which of the prices that a
//! config and the registry hold a deployment is billed by.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod billed;
mod names;

use std::{fs, path::PathBuf};

use router::DeploymentConfig;
use scenarios::{litellm, prices::PriceRegistry};

/// LiteLLM's own registry, or `None` on a machine that does not have it.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn litellms_registry() -> Option<PriceRegistry> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/prices");
    let file = folder.join("model_prices_and_context_window_backup.json");
    let Ok(text) = fs::read_to_string(&file) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "{} is missing", file.display());
        eprintln!("skipped: {} is missing", file.display());
        return None;
    };
    Some(PriceRegistry::read(&text, "prices.json").unwrap())
}

/// The only deployment of an entry, under a profile, with this registry.
fn deployment(
    entry: &str,
    profile: router::Profile,
    registry: Option<&PriceRegistry>,
) -> DeploymentConfig {
    let text = format!("model_list:\n- {entry}");
    let config = litellm::read(&text, "config.yaml").unwrap();
    config.router_for(profile, registry).deployments.remove(0)
}
