//! Which provider a model belongs to. (semantics 1.2, 1.7, 8.6)

use crate::{config::DeploymentConfig, providers::is_provider};

/// The provider of a deployment: `custom_llm_provider`, else what stands before the slash of its
/// `model`, else what the name of the model says.
pub(crate) fn of(deployment: &DeploymentConfig) -> Option<&str> {
    let given = deployment.custom_llm_provider.as_deref();
    given.or_else(|| match deployment.model.split_once('/') {
        Some((prefix, _)) => Some(prefix),
        None => inferred(&deployment.model),
    })
}

impl DeploymentConfig {
    /// Its provider, where that is known.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        of(self)
    }

    /// Whether LiteLLM could call it: its provider is given, or its `model` tells one that is known.
    /// A router with others is refused; `ignore_invalid_deployments` means to leave them out before.
    #[must_use]
    pub fn has_known_provider(&self) -> bool {
        let known = |name: &str| name == "*" || is_provider(name);
        self.custom_llm_provider.is_some() || of(self).is_some_and(known)
    }
}

/// A deployment's `model` with its provider before it.
pub(crate) fn qualified_model(deployment: &DeploymentConfig) -> String {
    let model = &deployment.model;
    match of(deployment) {
        Some(provider) if !model.starts_with(&format!("{provider}/")) => {
            format!("{provider}/{model}")
        }
        _ => model.clone(),
    }
}

/// The provider of a model that is named without one. LiteLLM looks the name up in the lists of its
/// price registry; here the family that it belongs to decides.
pub(crate) fn inferred(model: &str) -> Option<&'static str> {
    let belongs = |family: &&(&str, &str)| model.starts_with(family.0);
    let family = FAMILIES.iter().find(belongs).map(|family| family.1);
    family.or_else(|| is_of_bedrock(model).then_some("bedrock"))
}

/// Names like `us.anthropic.claude-sonnet-5`: perhaps a region, then who made the model.
fn is_of_bedrock(model: &str) -> bool {
    let (first, rest) = model.split_once('.').unwrap_or_default();
    let maker = match BEDROCK_REGIONS.contains(&first) {
        true => rest.split_once('.').unwrap_or_default().0,
        false => first,
    };
    BEDROCK_MAKERS.contains(&maker)
}

const BEDROCK_REGIONS: [&str; 8] = ["us", "eu", "apac", "au", "jp", "in", "global", "us-gov"];

const BEDROCK_MAKERS: [&str; 19] = [
    "ai21",
    "amazon",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "meta",
    "minimax",
    "mistral",
    "moonshot",
    "moonshotai",
    "nvidia",
    "openai",
    "qwen",
    "stability",
    "twelvelabs",
    "writer",
    "xai",
    "zai",
];

/// How model names of a provider begin; the first that fits counts.
const FAMILIES: [(&str, &str); 39] = [
    ("gpt-3.5-turbo-instruct", "text-completion-openai"),
    ("babbage-002", "text-completion-openai"),
    ("ft:babbage-002", "text-completion-openai"),
    ("ft:davinci-002", "text-completion-openai"),
    ("davinci-002", "text-completion-openai"),
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("ft:gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4-", "openai"),
    ("omni-moderation-", "openai"),
    ("sora-", "openai"),
    ("text-embedding-3-", "openai"),
    ("text-embedding-ada-", "openai"),
    ("tts-1", "openai"),
    ("whisper-1", "openai"),
    ("claude-", "anthropic"),
    ("gemini-", "vertex_ai"),
    ("text-embedding-00", "vertex_ai"),
    ("command-a-", "cohere_chat"),
    ("command-r", "cohere_chat"),
    ("embed-", "cohere"),
    ("rerank-", "cohere"),
    ("command-nightly", "cohere"),
    ("c4ai-aya-", "cohere_chat"),
    ("j2-", "ai21_chat"),
    ("jamba-", "ai21_chat"),
    ("chat-latest", "openai"),
    ("computer-use-preview", "openai"),
    ("deep-research-pro-", "vertex_ai"),
    ("medlm-", "vertex_ai"),
    ("multimodalembedding", "vertex_ai"),
    ("text-embedding-large-exp-", "vertex_ai"),
    ("text-embedding-preview-", "vertex_ai"),
    ("text-multilingual-embedding-", "vertex_ai"),
    ("text-unicorn", "vertex_ai"),
    ("chatdolphin", "nlp_cloud"),
    ("dolphin", "nlp_cloud"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(model: &str, provider: Option<&str>) -> DeploymentConfig {
        DeploymentConfig {
            model: model.to_owned(),
            custom_llm_provider: provider.map(str::to_owned),
            ..DeploymentConfig::default()
        }
    }

    #[test]
    fn the_provider_that_is_given_comes_before_the_prefix_and_that_before_the_family() {
        assert_eq!(of(&deployment("azure/x", Some("openai"))), Some("openai"));
        assert_eq!(of(&deployment("azure/gpt-4o", None)), Some("azure"));
        assert_eq!(of(&deployment("gpt-4o", None)), Some("openai"));
        assert_eq!(
            of(&deployment("claude-sonnet-4-5", None)),
            Some("anthropic")
        );
        assert_eq!(
            of(&deployment("us.meta.llama3-2-1b-instruct-v1:0", None)),
            Some("bedrock")
        );
        assert_eq!(of(&deployment("cohere.embed-v4:0", None)), Some("bedrock"));
        assert_eq!(of(&deployment("jamba-large-1.7", None)), Some("ai21_chat"));
        for unknown in ["my-model", "llama3", "foo.bar", "us.foo"] {
            assert_eq!(of(&deployment(unknown, None)), None);
        }
    }

    #[test]
    fn a_model_is_the_same_with_its_provider_before_it_or_beside_it() {
        assert_eq!(
            qualified_model(&deployment("x", Some("openai"))),
            "openai/x"
        );
        assert_eq!(qualified_model(&deployment("openai/x", None)), "openai/x");
        assert_eq!(
            qualified_model(&deployment("openai/x", Some("openai"))),
            "openai/x"
        );
        assert_eq!(qualified_model(&deployment("x", None)), "x");
    }
}
