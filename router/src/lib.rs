//! An LLM router that decides and never acts.
//!
//! [`Router`] is a deterministic state machine that behaves as LiteLLM's Router does: it picks a
//! deployment, retries, cools, waits and falls back. It never sleeps, reads no clock, opens no
//! socket and has no hidden randomness. A driver owns time and transport: it feeds inputs, each
//! with its `now`, and obeys the one [`Step`] that each gives. A discrete-event driver does so in
//! virtual time, an async driver over HTTP, with the very same decisions.
//!
//! The whole driving contract, in virtual time, against an upstream whose first deployment says 429:
//!
//! ```
//! use router::{
//!     Answer, DeploymentId, Failure, Instant, Outcome, Request, RequestId, Router, RouterConfig,
//!     Seed, Step, Usage,
//! };
//!
//! let config = RouterConfig::of_deployments(["a", "b"]);
//! let mut router = Router::new(&config, Seed(1))?;
//! let model = router.model("m");
//! let request = Request {
//!     id: RequestId(0),
//!     model,
//!     prompt_tokens: 100,
//!     max_tokens: None,
//!     stream: false,
//!     origin: router::Origin::default(),
//!     overrides: None,
//! };
//!
//! let mut now = Instant::ZERO;
//! let mut turn = router.arrive(now, request, &mut ());
//! let answer = loop {
//!     turn = match turn.step {
//!         Step::Send(attempt) => {
//!             now += std::time::Duration::from_millis(200);
//!             let outcome = match attempt.deployment() {
//!                 DeploymentId(0) => Outcome::Failure(Failure::with_status(429)),
//!                 _ => Outcome::Success {
//!                     usage: Usage::new(100, 20),
//!                     first_token_after: None,
//!                 },
//!             };
//!             router.attempt_finished(now, attempt, &outcome, &mut ())
//!         }
//!         Step::Wait(wait) => {
//!             now = wait.until();
//!             router.resume(now, wait, &mut ())
//!         }
//!         Step::Park(_) => unreachable!("nothing limits parallel requests here"),
//!         Step::Done(answer) => break answer,
//!     };
//! };
//! assert!(matches!(answer, Answer::Completed { deployment: DeploymentId(1), .. }));
//! # Ok::<(), router::ConfigError>(())
//! ```

mod admission;
mod affinity;
mod alerts;
mod allowed_fails;
mod blame;
mod broken_stream;
mod budgets;
mod candidates;
mod client_retry;
pub mod config;
mod cooldown;
mod corrections;
mod deployment;
mod dictionary;
mod directory;
mod dispatch;
mod ended;
mod error;
mod error_body;
mod fallback;
mod filters;
mod fleet;
mod hint;
mod in_flight;
mod inputs;
mod ladder;
mod latency_samples;
mod leaving;
mod limits;
#[cfg(feature = "live")]
pub mod live;
mod mirroring;
mod moving_on;
mod num_retries;
mod observe;
mod operator;
mod outcome;
mod own_fallbacks;
mod pattern;
mod plan;
mod pre_call_checks;
mod price;
mod probe;
mod profile;
mod profiles;
mod provider;
mod providers;
mod quota;
mod rare;
mod rate_limits;
mod reconfigure;
mod recovery;
mod registry;
mod request;
mod response_cache;
mod retries_per_request;
mod retry;
mod rng;
mod route_error;
mod router;
mod routing_groups;
mod rules;
mod scheduler;
mod shared_cooldowns;
mod shared_counts;
mod shared_state;
mod step;
mod strategies;
pub mod strategy;
mod tags;
mod time;
mod usage_window;
mod waiting;
mod window;

pub use admission::WindowUsage;
pub use alerts::{Alert, AlertKind, AlertLevel, Alerts, Severity};
pub use blame::Cause;
pub use config::{DeploymentConfig, RouterConfig, RouterSettings};
pub use corrections::Corrections;
pub use error::ConfigError;
pub use error_body::ErrorBody;
pub use fleet::Fleet;
pub use inputs::{Decision, Input};
pub use observe::{CooldownReason, Event, FallbackReason, Observer, PassedOver};
pub use operator::Cooldown;
pub use outcome::{ErrorClass, Failure, Outcome, Reached, RetryAfter, Usage};
pub use price::{PriceTier, Prices, PricingRules};
pub use profile::{Profile, ProfileName};
pub use providers::{is_provider, split_provider};
pub use recovery::CooldownRecovery;
pub use request::{
    Api, CallerId, ContentId, DeploymentId, LETTERS_PER_TOKEN, ModelId, Origin, Overrides, Request,
    RequestFallbacks, RequestId, SessionId, tokens_of_letters,
};
pub use rng::{KeyedRng, Purpose, Seed};
pub use route_error::{QueueFault, RateLimitedBy, RouteError};
pub use router::Router;
pub use rules::{LeastBusyRules, PinsYield, SharingRules, ShuffleMetric, WhenSlotsFull};
pub use shared_state::SharedStore;
pub use step::{
    Answer, Attempt, AttemptPlan, Deadline, Held, Parked, Step, StreamLimits, Trail, Turn, Wait,
    WaitReason,
};
pub use strategy::StrategySpec;
pub use time::{Epoch, Instant, nanos, nanos_from_secs};
pub use usage_window::UsageWindow;
