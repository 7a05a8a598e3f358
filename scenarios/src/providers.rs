//! Which upstream stands behind which deployment.
//!
//! A key of `providers` names a deployment id, a `model_name` or a `litellm_params.model`, in this
//! order of weight, with `*` for any text; `default` is what is left. Within one kind an exact name
//! beats a pattern, and of two patterns the one with more letters wins. A deployment that no key
//! matches gets the preset of its model's provider, and a note says so. A key that is null is as if
//! it were not there; any other that matches nothing is an error, unless the config was put in the
//! place of the one that the keys were written for: then it is a note.

use std::sync::Arc;

use mock_providers::{Provider, ProviderSpec, Providers, SpecError};
use router::{DeploymentConfig, Epoch, Seed};

use crate::{
    error::{ScenarioError, did_you_mean},
    plan::ProviderBinding,
    traffic::placed,
    yaml::{Entry, Node, join, parse},
};

/// Binds every deployment. Errors are placed in `node`, the `providers` block.
pub(crate) fn bind(
    node: Option<&Node>,
    deployments: &[DeploymentConfig],
    epoch: Epoch,
    file: &str,
    notes: &mut Notes<'_>,
) -> Result<Arc<[ProviderBinding]>, ScenarioError> {
    let keys = match node {
        Some(node) => read(node, deployments, epoch, file, notes)?,
        None => Vec::new(),
    };
    let bound: Arc<[ProviderBinding]> = deployments
        .iter()
        .map(|deployment| binding(deployment, &keys, notes))
        .collect();
    check_pools(&bound, node, epoch, file)?;
    Ok(bound)
}

/// Refuses what each spec may say alone but not together: pools of different quotas.
fn check_pools(
    bound: &[ProviderBinding],
    node: Option<&Node>,
    epoch: Epoch,
    file: &str,
) -> Result<(), ScenarioError> {
    let specs = bound.iter().map(|binding| &*binding.spec);
    let Err((number, error)) = Providers::new(specs, Seed(0), epoch) else {
        return Ok(());
    };
    let path = join("providers", &bound[number].name);
    let told = ScenarioError::new(error.to_string()).key(key_of(&error).to_owned());
    let entries = node.and_then(Node::as_map).map(|map| &map.entries[..]);
    let named = |name: &str| {
        let mut entries = entries.unwrap_or_default().iter();
        entries.find(|entry| entry.key.name == name)
    };
    Err(match named(&bound[number].name) {
        Some(entry) => placed(told, &entry.value, &path, file).key(path),
        None => told.key(path).in_file(file),
    })
}

/// What is to be told about the binding.
pub(crate) struct Notes<'a> {
    pub notes: &'a mut Vec<String>,
    /// The command line put another LiteLLM config in the place of the scenario's own.
    pub config_replaced: bool,
}

impl Notes<'_> {
    /// Adds a note that is not there yet: other arms may have found the same.
    fn tell(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A key of the block with its spec.
struct Key {
    name: String,
    spec: Arc<ProviderSpec>,
}

fn read(
    node: &Node,
    deployments: &[DeploymentConfig],
    epoch: Epoch,
    file: &str,
    notes: &mut Notes<'_>,
) -> Result<Vec<Key>, ScenarioError> {
    if node.is_null() {
        return Ok(Vec::new());
    }
    let Some(map) = node.as_map() else {
        let accepted = "a mapping from deployments to what their upstreams do";
        return Err(node.unaccepted(accepted).key("providers").in_file(file));
    };
    let mut keys = Vec::with_capacity(map.entries.len());
    for entry in map.entries.iter().filter(|entry| !entry.value.is_null()) {
        let name = entry.key.name.clone();
        if name != DEFAULT && deployments.iter().all(|d| weight(&name, d).is_none()) {
            if !notes.config_replaced {
                let error = matches_nothing(&name, deployments);
                return Err(error.at(entry.key.line, entry.key.column).in_file(file));
            }
            notes.tell(format!("providers.{name} {NOT_USED}"));
            continue;
        }
        let path = join("providers", &name);
        let spec = read_spec(&entry.value, &path, epoch, file)?;
        keys.push(Key {
            name,
            spec: Arc::new(spec),
        });
    }
    Ok(keys)
}

/// Reads what an upstream does, which stands at `path`.
fn read_spec(
    node: &Node,
    path: &str,
    epoch: Epoch,
    file: &str,
) -> Result<ProviderSpec, ScenarioError> {
    let spec: ProviderSpec = node.read(file).map_err(|error| error.under(path))?;
    if let Err(error) = Provider::new(&spec, Seed(0), 0, epoch) {
        let at = key_of(&error).to_owned();
        let error = ScenarioError::new(error.to_string()).key(at);
        return Err(placed(error, node, path, file).key(path.to_owned()));
    }
    Ok(spec)
}

/// Reads a file of providers alone: a mapping from names to what each does, as in the `providers`
/// block of a scenario.
///
/// # Errors
///
/// If it is no such mapping, or a spec makes no sense; with its place in the file.
pub fn read_providers(
    text: &str,
    file: &str,
) -> Result<Vec<(String, ProviderSpec)>, ScenarioError> {
    let node = parse(text, file)?;
    let Some(map) = node.as_map().filter(|map| !map.entries.is_empty()) else {
        let accepted = "a mapping from names to what each provider does";
        return Err(node.unaccepted(accepted).in_file(file));
    };
    let read = |entry: &Entry| {
        let name = entry.key.name.clone();
        let spec = read_spec(&entry.value, &name, Epoch::default(), file)?;
        Ok((name, spec))
    };
    map.entries.iter().map(read).collect()
}

/// Where in a spec an error stands.
fn key_of(error: &SpecError) -> &str {
    match error {
        SpecError::BadNumber { key, .. } | SpecError::BadKeys { key, .. } => key,
        SpecError::NoLatency { .. } => "latency",
        SpecError::PoolOfTwo { .. } => "quota.pool",
        SpecError::UnknownPreset { .. } => "preset",
    }
}

/// How well a key matches; `None` if it does not. The larger the better.
fn weight(key: &str, deployment: &DeploymentConfig) -> Option<(u8, bool, usize)> {
    let names = [&deployment.id, &deployment.model_name, &deployment.model];
    let kinds = [3, 2, 1];
    let letters = key.chars().filter(|c| *c != '*').count();
    names.into_iter().zip(kinds).find_map(|(name, kind)| {
        let exact = key == name;
        (exact || glob(key, name)).then_some((kind, exact, letters))
    })
}

/// What is told of a provider that hits no deployment of the config that is given to a scenario.
pub(crate) const NOT_USED: &str =
    "of the scenario is not used: no deployment of this config matches";

fn binding(deployment: &DeploymentConfig, keys: &[Key], notes: &mut Notes<'_>) -> ProviderBinding {
    let weighed = keys
        .iter()
        .filter_map(|key| Some((weight(&key.name, deployment)?, key)));
    // The first of equals wins, which `max_by_key` would not give.
    let best = weighed.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let default = || keys.iter().find(|key| key.name == DEFAULT);
    if let Some(key) = best.map(|(_, key)| key).or_else(default) {
        return ProviderBinding {
            name: key.name.clone(),
            spec: Arc::clone(&key.spec),
        };
    }
    let preset = preset_of(&deployment.model);
    let spec = ProviderSpec::preset(preset).expect("every preset of the table exists");
    let note = format!(
        "deployment {}: no key of `providers` matches; its upstream is the preset `{preset}` by its \
         model `{}`",
        deployment.id, deployment.model
    );
    notes.tell(note);
    ProviderBinding {
        name: preset.to_owned(),
        spec: Arc::new(spec),
    }
}

fn matches_nothing(key: &str, deployments: &[DeploymentConfig]) -> ScenarioError {
    let names = deployments
        .iter()
        .flat_map(|d| [&d.id, &d.model_name, &d.model]);
    let names: Vec<&str> = names.map(String::as_str).collect();
    let help = match did_you_mean(key, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let mut groups: Vec<&str> = deployments.iter().map(|d| d.model_name.as_str()).collect();
            groups.dedup();
            groups.truncate(8);
            format!(
                "accepted is a deployment id, a model_name ({}), a litellm_params.model, or `default`",
                groups.join(", ")
            )
        }
    };
    ScenarioError::new("no deployment matches")
        .key(join("providers", key))
        .help(help)
}

/// The preset that stands for the provider of a LiteLLM model name such as `azure/gpt-4o`. Bare
/// names are OpenAI's, as in LiteLLM.
pub(crate) fn preset_of(model: &str) -> &'static str {
    let Some((prefix, _)) = model.split_once('/') else {
        let openai = ["gpt-", "o1", "o3", "o4", "chatgpt-", "text-embedding-"];
        if model.starts_with("claude-") {
            return "anthropic";
        }
        return if openai.iter().any(|start| model.starts_with(start)) {
            "openai"
        } else {
            GENERIC
        };
    };
    PRESET_BY_PREFIX
        .iter()
        .find(|(known, _)| *known == prefix)
        .map_or(GENERIC, |(_, preset)| preset)
}

/// Whether `pattern`, in which `*` stands for any text, matches the whole of `name`.
pub(crate) fn glob(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else {
            return false;
        };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

const DEFAULT: &str = "default";
const GENERIC: &str = "generic";

/// LiteLLM's provider prefixes and the preset that stands for each.
const PRESET_BY_PREFIX: [(&str, &str); 16] = [
    ("anthropic", "anthropic"),
    ("azure", "azure-payg"),
    ("azure_ai", "azure-payg"),
    ("azure_text", "azure-payg"),
    ("bedrock", "bedrock"),
    ("bedrock_converse", "bedrock"),
    ("gemini", "gemini"),
    ("groq", "groq"),
    ("hosted_vllm", "vllm"),
    ("ollama", "vllm"),
    ("ollama_chat", "vllm"),
    ("openai", "openai"),
    ("text-completion-openai", "openai"),
    ("vertex_ai", "vertex-dsq"),
    ("vertex_ai_beta", "vertex-dsq"),
    ("vllm", "vllm"),
];

#[cfg(test)]
mod tests {
    use router::RouterConfig;

    use super::*;

    fn deployments() -> Vec<DeploymentConfig> {
        let mut deployments = RouterConfig::of_deployments(["east", "west", "north"]).deployments;
        deployments[2].model_name = "other".to_owned();
        deployments[2].model = "azure/gpt-4o".to_owned();
        deployments
    }

    fn bound(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let node = parse(text, "s.yaml").unwrap();
        let mut notes = Vec::new();
        let mut told = Notes {
            notes: &mut notes,
            config_replaced: false,
        };
        let bound = bind(
            Some(&node),
            &deployments(),
            Epoch::default(),
            "s.yaml",
            &mut told,
        )
        .map_err(|error| error.to_string())?;
        Ok((
            bound.iter().map(|binding| binding.name.clone()).collect(),
            notes,
        ))
    }

    #[test]
    fn the_most_specific_key_wins() {
        let spec = "{preset: openai}";
        let text = format!("m: {spec}\n\"*\": {spec}\nwest: {spec}\n\"azure/*\": {spec}\n");
        let (names, _) = bound(&text).unwrap();

        // `*` is a pattern of ids and so beats a model group; an exact id beats the pattern.
        assert_eq!(names, ["*", "west", "*"]);

        let text = format!("m: {spec}\n\"azure/*\": {spec}\ndefault: {spec}\n");
        assert_eq!(bound(&text).unwrap().0, ["m", "m", "azure/*"]);
    }

    #[test]
    fn a_deployment_that_no_key_matches_behaves_as_usual_for_its_provider() {
        let (names, notes) = bound("m: {preset: openai}").unwrap();

        assert_eq!(names, ["m", "m", "azure-payg"]);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("deployment north"), "{}", notes[0]);
    }

    #[test]
    fn every_preset_of_the_table_exists() {
        for (_, preset) in PRESET_BY_PREFIX {
            assert!(ProviderSpec::preset(preset).is_some(), "{preset}");
        }
        assert!(ProviderSpec::preset(GENERIC).is_some());
        assert_eq!(preset_of("gpt-4o"), "openai");
        assert_eq!(preset_of("claude-sonnet-4"), "anthropic");
        assert_eq!(preset_of("mistral/large"), GENERIC);
    }

    #[test]
    fn deployments_of_one_key_may_share_a_quota_and_two_keys_must_agree_on_it() {
        let quota = |limit| {
            format!("{{preset: openai, quota: {{requests_per_minute: {limit}, pool: account}}}}")
        };
        let (ten, eleven) = (quota(10), quota(11));

        bound(&format!("\"*\": {ten}\n")).unwrap();
        bound(&format!("east: {ten}\ndefault: {ten}\n")).unwrap();
        let error = bound(&format!("east: {ten}\nwest: {eleven}\n")).unwrap_err();

        assert!(error.contains("providers.west"), "{error}");
        assert!(
            error.contains("`account` has two different quotas"),
            "{error}"
        );
    }

    #[test]
    fn a_file_of_providers_is_read_with_places_for_what_is_wrong() {
        let text = "east: {preset: openai}\nwest:\n  preset: openai\n  fautls: []\n";
        let error = read_providers(text, "p.yaml").unwrap_err().to_string();
        assert!(error.contains("west"), "{error}");
        assert!(error.contains("fautls"), "{error}");

        let read = read_providers("b: {preset: openai}\na: {preset: vllm}", "p.yaml").unwrap();
        let names: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        assert!(read_providers("{}", "p.yaml").is_err());
        assert!(read_providers("[]", "p.yaml").is_err());
    }

    #[test]
    fn the_old_name_of_a_preset_still_works() {
        bound("default: {preset: vertex}").unwrap();
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, matches) in [
            ("azure/*", "azure/gpt", true),
            ("*", "", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("a*a", "a", false),
            ("east", "east", true),
            ("east", "eastern", false),
        ] {
            assert_eq!(glob(pattern, name), matches, "{pattern} {name}");
        }
    }
}
