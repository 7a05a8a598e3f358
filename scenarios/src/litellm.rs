//! Reads a LiteLLM `config.yaml`, unchanged, into a [`RouterConfig`].
//!
//! Every key of the file ends in one of two lists: used, or ignored with a reason. What is unknown
//! is ignored, as LiteLLM's proxy does, but told, and told loudly where it looks like a slip. A
//! value of the wrong kind is an error. `os.environ/NAME` is never looked up: a secret is of no use
//! here, and a number that stands in the environment counts as not given. A strategy that cannot be
//! run is an error; another one is never run in its place. What LiteLLM does with a key is told in
//! `router/LITELLM.md`; one table for each section says what is done here.

mod budgets;
mod caching;
mod checks;
mod config_map;
mod deployment_id;
mod entry;
mod fallbacks;
mod ledger;
mod library_settings;
mod model_info;
mod numbers;
mod params;
mod policies;
pub(crate) mod price_keys;
mod section;
mod setting;
mod settings;
mod strategies;
mod tables;

use router::{Profile, RouterConfig};

pub use self::{entry::DeploymentFacts, ledger::IgnoredKey};
use self::{
    entry::{Deployments, read_entry},
    ledger::Ledger,
    library_settings::{GENERAL_SETTINGS, LITELLM_SETTINGS},
    model_info::{ENVIRONMENTS, is_environment},
    section::{Section, ignored, used},
    settings::ROUTER_SETTINGS,
    tables::{PROXY, UNKNOWN},
};
use crate::{
    error::{ScenarioError, suggestion},
    prices::{PriceRegistry, resolve},
    yaml::{self, Entry, Map, Node},
};

/// A LiteLLM config as the router takes it, and an account of its keys.
#[derive(Clone, PartialEq, Debug)]
pub struct LitellmConfig {
    /// The router's settings; `profile` and `epoch` are at their defaults, and prices are those that
    /// the config itself holds.
    pub router: RouterConfig,
    /// What prices and context windows follow from, for each deployment.
    pub facts: Vec<DeploymentFacts>,
    /// What is not acted on and why, in the order of the file. A path stands for all below it.
    pub ignored: Vec<IgnoredKey>,
    /// Paths of what is acted on, as `router_settings.num_retries`; each stands for all below it.
    /// A key that says what is so anyway (`enable_pre_call_checks: false`) counts as used.
    pub used: Vec<String>,
}

impl LitellmConfig {
    /// The router under a profile, with prices and context windows from a price registry.
    #[must_use]
    pub fn router_for(&self, profile: Profile, registry: Option<&PriceRegistry>) -> RouterConfig {
        let mut router = RouterConfig {
            profile,
            ..self.router.clone()
        };
        for (deployment, facts) in router.deployments.iter_mut().zip(&self.facts) {
            resolve(deployment, facts, profile.pricing, registry);
        }
        router
    }

    /// What is ignored in few lines for people: what repeats over `model_list` is told once, and
    /// what looks like a mistake comes first.
    #[must_use]
    pub fn ignored_in_lines(&self) -> Vec<String> {
        ledger::in_lines(&self.ignored)
    }
}

/// Reads the text of a `config.yaml`. `file` is its name in errors.
///
/// # Errors
///
/// What [`parse`] and [`from_node`] refuse.
///
/// ```
/// let text = "
/// model_list:
///   - model_name: chat
///     litellm_params: {model: azure/gpt-4o, api_key: os.environ/KEY, rpm: 600}
/// router_settings: {num_retries: 1, cooldown_tim: 30}
/// ";
/// let config = scenarios::litellm::read(text, "config.yaml")?;
/// assert_eq!(config.router.settings.num_retries, Some(1));
/// assert!(config.ignored_in_lines()[0].contains("did you mean `cooldown_time`?"));
/// # Ok::<(), scenarios::ScenarioError>(())
/// ```
pub fn read(text: &str, file: &str) -> Result<LitellmConfig, ScenarioError> {
    let read = parse(text, file).and_then(|node| from_node(&node, file));
    read.map_err(|error| error.with_text(text))
}

/// Reads the text of a `config.yaml` as a tree that can still be changed. A config inside a
/// Kubernetes ConfigMap is taken out; what stood around it becomes ignored top-level keys.
///
/// # Errors
///
/// What is no YAML, an empty document, or a ConfigMap without a config.
pub fn parse(text: &str, file: &str) -> Result<Node, ScenarioError> {
    let document = yaml::parse(text, file)?;
    if document.is_null() {
        return Err(ScenarioError::new("the config is empty")
            .help("accepted is a LiteLLM config with a model_list")
            .in_file(file));
    }
    let inner = config_map::unwrap(&document, text, file)?;
    Ok(inner.unwrap_or(document))
}

/// Reads a config from a tree: one that stands inside a scenario, or was changed by overrides.
/// Paths in the result and in errors start at this node.
///
/// # Errors
///
/// A `model_list` that is missing or empty, entries without `model_name` or `litellm_params.model`,
/// values of the wrong kind, and strategies that cannot be run.
pub fn from_node(node: &Node, file: &str) -> Result<LitellmConfig, ScenarioError> {
    read_config(node).map_err(|error| error.in_file(file))
}

fn read_config(node: &Node) -> Result<LitellmConfig, ScenarioError> {
    let accepted = "a LiteLLM config: a mapping with a model_list";
    let map = node.as_map().ok_or_else(|| node.unaccepted(accepted))?;
    let mut draft = Draft::default();
    let mut ledger = Ledger::default();
    TOP.read(&mut draft, map, "", &mut ledger)?;

    if draft.deployments.entries == 0 {
        return Err(no_deployments(node, map));
    }
    if draft.deployments.list.is_empty() {
        return Err(all_skipped(map, ledger));
    }
    let settings::Draft {
        mut settings,
        request_timeout,
        ..
    } = draft.settings;
    if let Some(limit) = request_timeout {
        // LiteLLM asks the process-wide limit before the router's (semantics 10).
        settings.request_timeout = Some(limit);
        if settings.timeout.is_some() {
            let line = node
                .at_path(ROUTER_TIMEOUT)
                .map_or(0, |timeout| timeout.line);
            let reason = "LiteLLM asks litellm_settings.request_timeout first, which is given";
            ledger.overrule(ROUTER_TIMEOUT, line, reason);
        }
    }
    let (used, ignored) = ledger.close();
    let (deployments, facts) = draft.deployments.list.into_iter().unzip();
    let router = RouterConfig {
        deployments,
        settings,
        ..RouterConfig::default()
    };
    let mut config = LitellmConfig {
        router,
        facts,
        ignored,
        used,
    };
    config.router = config.router_for(Profile::default(), None);
    Ok(config)
}

/// No entry of the list gives a deployment here.
fn all_skipped(map: &Map, ledger: Ledger) -> ScenarioError {
    let (_, ignored) = ledger.close();
    let entry = ignored
        .iter()
        .find(|key| key.path.starts_with("model_list["));
    let why = entry.map_or_else(
        || "they are for other environments".to_owned(),
        |key| format!("{}: {}", key.path, key.reason),
    );
    let key = map.entry("model_list").map(|entry| &entry.key);
    ScenarioError::new("no entry gives a deployment")
        .key("model_list")
        .help(why)
        .at(
            key.map_or(0, |key| key.line),
            key.map_or(0, |key| key.column),
        )
}

fn no_deployments(node: &Node, map: &Map) -> ScenarioError {
    let (message, line, column) = match map.entry("model_list") {
        None => ("it is missing", node.line, node.column),
        Some(Entry { key, .. }) => ("it holds no deployment", key.line, key.column),
    };
    let help = match map.nearest("model_list") {
        Some(near) => format!("did you mean it by `{near}`?"),
        _ if map.entry("include").is_some() => {
            "files named under `include` are not read: put their entries here".to_owned()
        }
        _ => "accepted is a list of at least one deployment".to_owned(),
    };
    ScenarioError::new(message)
        .key("model_list")
        .help(help)
        .at(line, column)
}

const ROUTER_TIMEOUT: &str = "router_settings.timeout";

#[derive(Default)]
struct Draft {
    deployments: Deployments,
    settings: settings::Draft,
}

/// The sections. `router_settings` is read before `litellm_settings`, which only fills its gaps, and
/// `environment_variables` before `model_list`, which may say for which environment an entry is.
static TOP: Section<Draft> = Section {
    keys: &[
        used("router_settings", |d, s| {
            s.section(&ROUTER_SETTINGS, &mut d.settings)
        }),
        used("litellm_settings", |d, s| {
            s.section(&LITELLM_SETTINGS, &mut d.settings)
        }),
        used("environment_variables", |d, s| {
            let says = |node: &Node| node.get(LITELLM_ENVIRONMENT).is_some();
            if s.given().is_some_and(says) {
                return s.section(&ENVIRONMENT, &mut d.deployments.environment);
            }
            s.ignore(OTHER_VARIABLES);
            Ok(())
        }),
        used("model_list", |d, s| {
            s.items(|entry| read_entry(&mut d.deployments, entry))
        }),
        used("general_settings", |d, s| {
            s.section(&GENERAL_SETTINGS, &mut d.settings)
        }),
        ignored("apiVersion", AROUND),
        ignored("assistant_settings", PROXY),
        ignored("credential_list", "names secrets; no request is sent"),
        ignored("data", AROUND),
        ignored("files_settings", PROXY),
        ignored("finetune_settings", PROXY),
        ignored("guardrails", PROXY),
        ignored(
            "include",
            "further files are not read: put their entries into this one",
        ),
        ignored("kind", AROUND),
        ignored("mcp_servers", PROXY),
        ignored("metadata", AROUND),
        ignored("mcp_tools", PROXY),
        ignored("policies", PROXY),
        ignored("policy_attachments", PROXY),
        ignored("sandbox_tools", PROXY),
        ignored("search_tools", PROXY),
        ignored("vector_store_registry", PROXY),
    ],
    families: &[],
    otherwise: UNKNOWN,
};

/// `environment_variables`, where it names the environment.
static ENVIRONMENT: Section<Option<String>> = Section {
    keys: &[used(LITELLM_ENVIRONMENT, |environment, s| {
        let name = s.text()?.unwrap_or_default();
        if !is_environment(&name) {
            return Err(s
                .error(format!("no environment is called `{name}`"))
                .help(suggestion(&name, &ENVIRONMENTS)));
        }
        *environment = Some(name);
        Ok(())
    })],
    families: &[ignored("*", OTHER_VARIABLES)],
    otherwise: OTHER_VARIABLES,
};

const LITELLM_ENVIRONMENT: &str = "LITELLM_ENVIRONMENT";
const OTHER_VARIABLES: &str = "sets environment variables; none is asked";
const AROUND: &str = "part of the ConfigMap around the config";
