//! What can be wrong with the settings a router is built from.

use crate::strategy::StrategySpec;

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
    /// A pattern of `tag_regex` that cannot be read.
    #[error("tag_regex of deployment `{deployment}` holds `{pattern}`, which is no pattern: {why}")]
    BadTagRegex {
        /// The deployment's id.
        deployment: String,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// More deployments than ids.
    #[error("model_list holds {found} deployments; at most {most} are accepted")]
    TooManyDeployments {
        /// How many were found.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// A strategy that LiteLLM does not know in this place.
    #[error("unknown strategy `{found}`{}; accepted is one of {}", in_group(.group.as_ref()), StrategySpec::NAMES.join(", "))]
    UnknownStrategy {
        /// Its name.
        found: &'static str,
        /// The routing group that it was given for, if it was one.
        group: Option<String>,
    },
    /// A routing group without a name.
    #[error("routing_groups[{at}] has an empty group_name")]
    RoutingGroupWithoutName {
        /// Its place in the list, from 0.
        at: usize,
    },
    /// A routing group has the name that LiteLLM keeps for itself.
    #[error("routing group `default` has the name that is kept for models in no group")]
    RoutingGroupReserved,
    /// Two routing groups have one name.
    #[error("there are two routing groups called `{group}`")]
    RoutingGroupTwice {
        /// The name.
        group: String,
    },
    /// A model is in two routing groups, or twice in one.
    #[error(
        "model `{model}` is in the routing groups `{first}` and `{second}`; a model may be in one"
    )]
    RoutingGroupsOverlap {
        /// The model.
        model: String,
        /// The group that has it.
        first: String,
        /// The group that claims it too.
        second: String,
    },
    /// A routing group has `model_priorities` but not the strategy `priority`.
    #[error("routing group `{group}` has model_priorities, which only the strategy priority reads")]
    PrioritiesWithoutPriority {
        /// The group.
        group: String,
    },
    /// A group by priority names no model, or one twice.
    #[error(
        "routing group `{group}` has the strategy priority, so it must name some models, each once"
    )]
    PriorityModelsNotDistinct {
        /// The group.
        group: String,
    },
    /// `model_priorities` and `models` of a group by priority differ.
    #[error(
        "model_priorities of routing group `{group}` must name exactly its models; `{model}` is on one side only"
    )]
    PrioritiesOfOtherModels {
        /// The group.
        group: String,
        /// A model that only one of the two names.
        model: String,
    },
    /// A priority below the least.
    #[error("the priority of `{model}` in routing group `{group}` is 0; the least is 1")]
    PriorityOfZero {
        /// The group.
        group: String,
        /// The model.
        model: String,
    },
}

fn in_group(group: Option<&String>) -> String {
    group.map_or_else(String::new, |group| format!(" of routing group `{group}`"))
}
