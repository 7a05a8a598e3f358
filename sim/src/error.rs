//! Why a plan could not be run to its end.

use router::{ConfigError, Instant, RequestId};

/// A plan that cannot be run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The router refuses its settings.
    #[error("the router cannot be built: {0}")]
    Config(#[from] ConfigError),
    /// A provider refuses its settings.
    #[error("the provider `{name}` of deployment `{deployment}` cannot be built: {source}")]
    Provider {
        /// The deployment's id.
        deployment: String,
        /// The provider's name in the scenario.
        name: String,
        /// What is wrong.
        source: mock_providers::SpecError,
    },
    /// A plan must bind exactly one provider to each deployment.
    #[error("{deployments} deployments have {providers} providers; each needs exactly one")]
    ProviderCount {
        /// Entries of `model_list`.
        deployments: usize,
        /// Providers bound.
        providers: usize,
    },
    /// A request waits for something that never happens.
    #[error(
        "request {request} never ends: at {at} it began to wait for {awaited}; \
         set `timeout` or `stream_timeout` so that it gives up"
    )]
    NeverEnds {
        /// Which.
        request: RequestId,
        /// Since when.
        at: Instant,
        /// For what.
        awaited: &'static str,
    },
    /// A plan cannot be run over HTTP.
    #[error("this cannot be run over HTTP: {0}")]
    Live(String),
    /// The run was told to stop.
    #[error("the run was cancelled")]
    Cancelled,
}
