//! What an LLM provider does under load, as a pure function of virtual time.
//!
//! A [`ProviderSpec`] says how long answers take, which quota the provider keeps, and how it fails.
//! A [`Provider`] built from it tells for each attempt how it ends and when, at once and without
//! waiting: [`Provider::respond`] reads no clock and keeps no generator. Luck is keyed by request,
//! attempt and deployment, so that two routers that are compared meet the same provider.
//!
//! | file | decides |
//! | --- | --- |
//! | `provider.rs` | the order: faults at the door, quota, faults inside, queue, latency |
//! | `spec.rs`, `presets.rs` | what is written in a scenario, and the named providers |
//! | `latency.rs`, `dist.rs`, `sampler.rs`, `normal.rs` | time to the first token and for each further one |
//! | `quota.rs`, `meter.rs`, `window.rs` | 429 and `retry-after` |
//! | `queue.rs` | how long an attempt waits where only so many are answered at once |
//! | `failure/`, `schedule.rs` | how it fails, and when |
//! | `script.rs` | replies given one by one, for tests |

pub mod dist;
mod error;
pub mod failure;
mod latency;
mod luck;
mod meter;
mod normal;
mod normal_tables;
mod place;
mod presets;
mod provider;
mod queue;
mod quota;
mod sampler;
mod schedule;
mod script;
mod spec;
mod window;

pub use error::SpecError;
pub use failure::FailureMode;
pub use latency::LatencySpec;
pub use presets::{Parameter, Preset, Setting, Shape, presets};
pub use provider::{FaultSpan, Provider, ProviderCall, Reply, Silence};
pub use quota::{HintForm, QuotaSpec, TokenCharge, WindowKind};
pub use schedule::{Every, Random};
pub use script::Script;
pub use spec::ProviderSpec;
