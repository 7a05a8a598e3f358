//! What to try, written down.
//!
//! A scenario is a YAML file: a question, a LiteLLM config, what the upstreams do, who asks what
//! when, and which settings are varied. [`Scenario::load`] reads it, checks it with every arm of its
//! grid, and expands it into [`RunPlan`]s, each ready to run:
//!
//! ```
//! use scenarios::{LoadOptions, Scenario, Source};
//!
//! let text = "
//! purpose: Does a longer cooldown help when one region browns out?
//! kind: terminating
//! litellm:
//!   model_list:
//!     - {model_name: chat, litellm_params: {model: azure/a}, model_info: {id: east}}
//!     - {model_name: chat, litellm_params: {model: azure/b}, model_info: {id: west}}
//!   router_settings: {num_retries: 2}
//! providers:
//!   east: {preset: azure-payg, faults: [{brownout: {from_s: 60, to_s: 180, slowdown: 6}}]}
//! workload:
//!   arrivals: {poisson: {per_second: 15}}
//!   lengths: azure-conv-2023
//!   duration_s: 300
//! sweep:
//!   routing_strategy: [simple-shuffle, least-busy]
//!   cooldown_time: [1, 5, 30]
//!   replications: 5
//! reference: {cooldown_time: 5}
//! expect:
//!   - {metric: success_ratio, at_least: 0.9, where: {cooldown_time: 30}}
//! ";
//! let source = Source::Text { name: "brownout".into(), text: text.into() };
//! let scenario = Scenario::load(&source, &LoadOptions::default())?;
//! assert_eq!(scenario.arms().len(), 6);
//! assert_eq!(scenario.plans().len(), 30);
//! # Ok::<(), scenarios::ScenarioError>(())
//! ```
//!
//! Nothing here runs anything or reads a clock. Plans of one replication carry the same seed in
//! every arm, and draws are keyed, so arms that leave the workload alone see the same requests.

mod actions;
mod arms;
mod client;
pub mod error;
mod expect;
mod instances;
mod label;
mod library;
pub mod lint;
pub mod litellm;
mod load;
pub mod logs;
mod plan;
pub mod prices;
mod providers;
pub mod schema;
mod source;
mod sweep;
mod trace_traffic;
mod traffic;
mod whole;
pub mod workload;
pub mod yaml;

pub use client::{Client, Sdk, SdkRetry};
pub use error::ScenarioError;
pub use expect::Expectation;
pub use library::{LibraryEntry, library};
pub use litellm::IgnoredKey;
pub use load::Scenario;
pub use plan::{Action, Arm, Axis, Deed, Instances, ProviderBinding, RunPlan, Slo};
pub use providers::read_providers;
pub use schema::{Kind, schema_json};
pub use source::{LoadOptions, Source};
pub use sweep::resolve as setting_path;
pub use workload::{Arrival, Arrivals, Workload, senders::Provenance};
