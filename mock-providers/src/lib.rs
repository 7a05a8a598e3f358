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
//! | `reply.rs` | what an attempt is, and what it gets |
//! | `spec.rs`, `presets/` | what is written in a scenario, and the named providers |
//! | `latency/`, `dist.rs`, `fit.rs`, `sampler.rs`, `normal.rs` | time to the first token and for each further one |
//! | `quota/` | 429 and `retry-after` |
//! | `prompt_cache.rs` | which tokens of a prompt are billed as cached |
//! | `providers.rs` | several deployments, of which some share a quota |
//! | `wire/` | headers and error bodies, for servers |
//! | `queue.rs`, `in_flight.rs` | how long an attempt waits where only so many are answered at once |
//! | `failure/`, `schedule.rs` | how it fails, and when |
//! | `script.rs` | replies given one by one, for tests |
//! | `wish.rs` | what one attempt wishes for itself |
//! | `exchange/` | the bytes of an exchange over HTTP, and the moment of each |
//! | `http/` | feature `http`: a server that waits for those moments |
//! | `responder.rs` | feature `wiremock`: the same behind a wiremock server |

#[cfg(any(feature = "http", feature = "wiremock"))]
mod clock;
pub mod dist;
mod drag;
mod error;
#[cfg(any(feature = "http", feature = "wiremock"))]
mod exchange;
pub mod failure;
mod fit;
#[cfg(all(any(test, fuzzing), feature = "http"))]
pub mod fuzzed;
#[cfg(feature = "http")]
pub mod http;
mod in_flight;
mod latency;
mod luck;
mod normal;
mod normal_tables;
mod place;
mod presets;
mod prompt_cache;
mod provider;
mod providers;
mod queue;
mod quota;
mod reply;
#[cfg(feature = "wiremock")]
mod responder;
mod sampler;
mod schedule;
mod script;
mod spec;
mod wire;
mod wish;

pub use dist::Distribution;
pub use error::SpecError;
#[cfg(any(feature = "http", feature = "wiremock"))]
pub use exchange::asked::tokens as estimated_tokens;
pub use failure::{FailureMode, KnownIncidents, known_incidents};
pub use latency::{DailySpec, HourPoint, LatencySpec, LoadCurve, LoadMeasure, LoadPoint, Slows};
pub use presets::{Measured, Parameter, Preset, Setting, Shape, measured, presets};
pub use prompt_cache::{Beginning, PromptCacheSpec};
pub use provider::{FaultSpan, Provider};
pub use providers::Providers;
pub use quota::{HintForm, Lowered, OutputCharge, QuotaSpec, SlopeSpec, TokenCharge, WindowKind};
pub use reply::{ProviderCall, Reply, Silence};
#[cfg(feature = "wiremock")]
pub use responder::Responder;
pub use schedule::{Every, Random};
pub use script::Script;
pub use spec::ProviderSpec;
pub use wire::{
    Break, Cause, Dialect, Header, HeaderValue, Manner, WireReply, retry_after, rfc_3339,
};
pub use wish::Wish;
