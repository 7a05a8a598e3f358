//! What can be wrong with the settings a router is built from.

/// A router cannot be built from its settings.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// A number that must be finite and not negative is not.
    #[error("{key} of deployment `{deployment}` is {found}; accepted is {accepted}")]
    BadNumber {
        /// The setting.
        key: &'static str,
        /// The deployment's id.
        deployment: String,
        /// What was found.
        found: f64,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// No provider of this name is known, so LiteLLM could not call it.
    #[error(
        "model `{model}` of deployment `{deployment}` begins with no provider that LiteLLM knows"
    )]
    UnknownProvider {
        /// The deployment's id.
        deployment: String,
        /// `litellm_params.model`.
        model: String,
    },
    /// More deployments than ids.
    #[error("model_list holds {found} deployments; at most {most} are accepted")]
    TooManyDeployments {
        /// How many were found.
        found: usize,
        /// The limit.
        most: usize,
    },
}
