//! Where each deployment's calls go, and what they carry: `api_base`, `api_key` and their like.

use std::collections::BTreeMap;

use router::{
    DeploymentConfig,
    live::{Secret, Shape, Upstream},
};
use scenarios::{
    ScenarioError,
    litellm::LitellmConfig,
    yaml::{Node, Value},
};
use serde_json::value::{RawValue, to_raw_value};

use super::config::Environment;

/// The upstreams of a config, in the order of its deployments.
pub(super) fn read(
    node: &Node,
    config: &LitellmConfig,
    environment: Environment<'_>,
) -> Result<Vec<Upstream>, ScenarioError> {
    let deployments = config.router.deployments.iter().zip(&config.facts);
    let read = deployments.map(|(deployment, facts)| {
        let path = format!("model_list[{}].litellm_params", facts.entry);
        let params = node.at_path(&path).unwrap_or(node);
        let entry = Entry {
            deployment,
            params,
            path,
        };
        entry.upstream(environment)
    });
    read.collect()
}

/// Whether a parameter of a deployment is acted on here.
pub(super) fn is_used(key: &str) -> bool {
    let first = key.split(['.', '[']).next().unwrap_or(key);
    ADDRESSES.contains(&first) || PARAMETERS.contains(&first)
}

struct Entry<'a> {
    deployment: &'a DeploymentConfig,
    params: &'a Node,
    path: String,
}

impl Entry<'_> {
    fn upstream(&self, environment: Environment<'_>) -> Result<Upstream, ScenarioError> {
        let id = &self.deployment.id;
        let name = self.deployment.provider().unwrap_or("openai");
        let Some(provider) = PROVIDERS.iter().find(|provider| provider.name == name) else {
            let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
            let told = format!(
                "deployment `{id}` is of the provider `{name}`, whose API is not spoken here"
            );
            return Err(self.error("model", told).help(format!(
                "spoken are OpenAI's and Anthropic's, as of {}; others can be reached through a server that \
                 speaks one of them",
                known.join(", ")
            )));
        };
        let base = match self.text("api_base")? {
            Some(base) => Some(base),
            None => self.text("base_url")?,
        };
        let from_variable = || environment(provider.base_variable);
        let base = base
            .or_else(|| Some(from_variable()).flatten())
            .or_else(|| provider.base.map(str::to_owned));
        let Some(api_base) = base else {
            let told = format!("deployment `{id}` has no address");
            return Err(self.error("api_base", told).help(format!(
                "give an api_base, or set {}",
                provider.base_variable
            )));
        };
        let key = self.text("api_key")?;
        let key = key.or_else(|| environment(provider.key_variable));
        let shape = if provider.name == "azure" {
            let version = self.text("api_version")?;
            let version = version.or_else(|| environment("AZURE_API_VERSION"));
            Shape::Azure {
                api_version: version.unwrap_or_else(|| AZURE_API_VERSION.to_owned()),
            }
        } else if provider.name == "anthropic" {
            Shape::Anthropic
        } else {
            Shape::OpenAi
        };
        Ok(Upstream {
            api_base,
            shape,
            api_key: key.map(Secret::new),
            organization: self.text("organization").unwrap_or_default(),
            headers: self.headers()?,
            parameters: self.parameters()?,
        })
    }

    /// A text, whose value is never shown.
    fn text(&self, key: &str) -> Result<Option<String>, ScenarioError> {
        let Some(node) = self.params.get(key).filter(|node| !node.is_null()) else {
            return Ok(None);
        };
        match node.as_str() {
            Some(text) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
            Some(_) => Err(self.error(key, "it is empty")),
            None => Err(self.error(key, "it is no text").help("put it in quotes")),
        }
    }

    fn headers(&self) -> Result<Vec<(String, Secret)>, ScenarioError> {
        let mut headers = Vec::new();
        for key in ["headers", "extra_headers"] {
            let Some(node) = self.params.get(key).filter(|node| !node.is_null()) else {
                continue;
            };
            let Some(map) = node.as_map() else {
                return Err(self.error(key, "it is no mapping of names to texts"));
            };
            for entry in &map.entries {
                let name = entry.key.name.clone();
                let Some(value) = entry.value.as_str() else {
                    let told = format!("the value of `{name}` is no text");
                    return Err(self.error(key, told).help("put it in quotes"));
                };
                headers.push((name, Secret::new(value.to_owned())));
            }
        }
        Ok(headers)
    }

    /// What is sent where a caller says nothing, and `extra_body` always so.
    fn parameters(&self) -> Result<BTreeMap<String, Box<RawValue>>, ScenarioError> {
        let mut parameters = BTreeMap::new();
        for key in PARAMETERS.into_iter().filter(|key| *key != "extra_body") {
            if let Some(node) = self.params.get(key).filter(|node| !node.is_null()) {
                parameters.insert(key.to_owned(), self.raw(key, node)?);
            }
        }
        let extra = self.params.get("extra_body");
        if let Some(node) = extra.filter(|node| !node.is_null()) {
            let Some(map) = node.as_map() else {
                return Err(self.error("extra_body", "it is no mapping"));
            };
            for entry in &map.entries {
                let value = self.raw("extra_body", &entry.value)?;
                parameters.insert(entry.key.name.clone(), value);
            }
        }
        Ok(parameters)
    }

    fn raw(&self, key: &str, node: &Node) -> Result<Box<RawValue>, ScenarioError> {
        to_raw_value(&json(node)).map_err(|error| self.error(key, error.to_string()))
    }

    fn error(&self, key: &str, message: impl Into<String>) -> ScenarioError {
        let at = self.params.get(key).unwrap_or(self.params);
        at.error(message).key(format!("{}.{key}", self.path))
    }
}

fn json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => {
            i64::try_from(*value).map_or_else(|_| value.to_string().into(), serde_json::Value::from)
        }
        Value::Float(value) => (*value).into(),
        Value::Str(text) => text.as_str().into(),
        Value::Seq(items) => items.iter().map(json).collect(),
        Value::Map(map) => {
            let entries = map.entries.iter();
            let entries = entries.map(|entry| (entry.key.name.clone(), json(&entry.value)));
            serde_json::Value::Object(entries.collect())
        }
    }
}

/// A provider whose API is spoken here.
struct Provider {
    name: &'static str,
    /// Its usual address.
    base: Option<&'static str>,
    /// Variables that stand in for `api_base` and `api_key`, as LiteLLM names them.
    base_variable: &'static str,
    key_variable: &'static str,
}

const fn provider(
    name: &'static str,
    base: Option<&'static str>,
    base_variable: &'static str,
    key_variable: &'static str,
) -> Provider {
    Provider {
        name,
        base,
        base_variable,
        key_variable,
    }
}

/// Addresses and variables are those that LiteLLM 1.110 uses for each.
#[rustfmt::skip]
const PROVIDERS: [Provider; 14] = [
    provider("openai", Some("https://api.openai.com/v1"), "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    provider("anthropic", Some("https://api.anthropic.com"), "ANTHROPIC_API_BASE", "ANTHROPIC_API_KEY"),
    provider("azure", None, "AZURE_API_BASE", "AZURE_API_KEY"),
    provider("custom_openai", None, "OPENAI_LIKE_API_BASE", "OPENAI_LIKE_API_KEY"),
    provider("deepseek", Some("https://api.deepseek.com/beta"), "DEEPSEEK_API_BASE", "DEEPSEEK_API_KEY"),
    provider("fireworks_ai", Some("https://api.fireworks.ai/inference/v1"), "FIREWORKS_API_BASE", "FIREWORKS_API_KEY"),
    provider("groq", Some("https://api.groq.com/openai/v1"), "GROQ_API_BASE", "GROQ_API_KEY"),
    provider("hosted_vllm", None, "HOSTED_VLLM_API_BASE", "HOSTED_VLLM_API_KEY"),
    provider("lm_studio", None, "LM_STUDIO_API_BASE", "LM_STUDIO_API_KEY"),
    provider("mistral", Some("https://api.mistral.ai/v1"), "MISTRAL_API_BASE", "MISTRAL_API_KEY"),
    provider("openai_like", None, "OPENAI_LIKE_API_BASE", "OPENAI_LIKE_API_KEY"),
    provider("openrouter", Some("https://openrouter.ai/api/v1"), "OPENROUTER_API_BASE", "OPENROUTER_API_KEY"),
    provider("together_ai", Some("https://api.together.xyz/v1"), "TOGETHER_AI_API_BASE", "TOGETHERAI_API_KEY"),
    provider("xai", Some("https://api.x.ai/v1"), "XAI_API_BASE", "XAI_API_KEY"),
];

const AZURE_API_VERSION: &str = "2025-02-01-preview";

/// Parameters that say where calls go.
const ADDRESSES: [&str; 7] = [
    "api_base",
    "api_key",
    "api_version",
    "base_url",
    "extra_headers",
    "headers",
    "organization",
];

/// Parameters that are sent where the caller does not give them.
const PARAMETERS: [&str; 21] = [
    "extra_body",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "service_tier",
    "stop",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
];
