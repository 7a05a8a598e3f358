//! `routelab serve` (feature `live`): an OpenAI-compatible front door for the live router.
//!
//! It reads requests, lets the router do what it decides, and writes answers, as LiteLLM's proxy
//! does. It decides nothing about routing.
//!
//! | file | does |
//! | --- | --- |
//! | `config.rs`, `addresses.rs` | reads a LiteLLM config for real calls: addresses, keys from the environment |
//! | `door.rs` | opens and closes; connections are taken as at a mock server |
//! | `routes.rs` | which path leads where, and who may go there |
//! | `asked.rs`, `fields.rs` | a request's body as a call of the router |
//! | `answered.rs`, `failed.rs`, `refusal.rs` | replies and errors as OpenAI's clients expect them |
//! | `state.rs` | health and cooldowns, for operators |
//! | `metrics.rs` | counts for Prometheus |
//! | `recorded.rs` | the journal |

mod addresses;
mod answered;
mod asked;
mod config;
mod door;
mod failed;
mod fields;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzed;
mod metrics;
mod recorded;
mod refusal;
mod routes;
mod state;

pub use config::{Environment, ServeConfig, read};
pub use door::{FrontDoor, ServeError, ServeOptions};
