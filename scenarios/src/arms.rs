//! From the scenario's tree to what each arm runs.
//!
//! An arm is the tree with the axes' values put in their places, read again section by section. A
//! section that no axis of the arm touches is read once and shared: its parts are remembered under
//! the values of the axes that do touch it.

use std::{cell::OnceCell, collections::BTreeMap, sync::Arc, time::Duration};

use router::{Epoch, ProfileName, RouterConfig};

use crate::{
    error::ScenarioError,
    litellm::{self, LitellmConfig},
    plan::{ProviderBinding, Slo},
    providers,
    schema::SloSpec,
    sweep::{SweptAxis, within},
    traffic::{self, Askable, Files, placed},
    workload::{
        Workload,
        arrivals::{SECONDS_AT_MOST, number},
        trace::timestamp::date_time,
    },
    yaml::Node,
};

/// What one arm runs.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub router: Arc<RouterConfig>,
    pub providers: Arc<[ProviderBinding]>,
    pub workload: Arc<Workload>,
    pub slo: Slo,
}

/// Reads arms of one scenario.
pub(crate) struct ArmReader<'a> {
    /// The scenario, `litellm` inlined.
    pub tree: &'a Node,
    /// Its name in errors.
    pub file: &'a str,
    /// The name of the file that the LiteLLM config stands in.
    pub litellm_file: &'a str,
    pub axes: &'a [SweptAxis],
    /// Paths that the command line set.
    pub set: &'a [String],
    /// Whose behaviour, if the command line says so.
    pub profile: Option<ProfileName>,
    pub files: Files,
    configs: Memory<LitellmConfig>,
    bindings: Memory<[ProviderBinding]>,
    workloads: Memory<Workload>,
    targets: Vec<Vec<Target>>,
}

/// Values of the axes that touch a part, then the deployments it is made for → the part.
type Memory<T> = BTreeMap<Vec<usize>, Arc<T>>;

/// What other sections see of a deployment or alias.
type Target = (String, String, String);

impl<'a> ArmReader<'a> {
    pub(crate) fn new(
        tree: &'a Node,
        (file, litellm_file): (&'a str, &'a str),
        (axes, set): (&'a [SweptAxis], &'a [String]),
        profile: Option<ProfileName>,
        files: Files,
    ) -> Self {
        Self {
            tree,
            file,
            litellm_file,
            axes,
            set,
            profile,
            files,
            configs: Memory::new(),
            bindings: Memory::new(),
            workloads: Memory::new(),
            targets: Vec::new(),
        }
    }

    /// Reads the arm of these values.
    pub(crate) fn cell(&mut self, arm: &[usize]) -> Result<Cell, ScenarioError> {
        let changed = OnceCell::new();
        let axes = self.axes;
        let base = self.tree;
        let tree = || changed.get_or_init(|| put(base, axes, arm));
        self.read(arm, tree).map_err(|error| self.blame(error, arm))
    }

    /// The account of the first arm's LiteLLM config.
    pub(crate) fn config(&self, arm: &[usize]) -> Option<&LitellmConfig> {
        self.configs.get(&self.touching(arm, &CONFIG)).map(AsRef::as_ref)
    }

    fn read<'t>(
        &mut self,
        arm: &[usize],
        tree: impl Fn() -> &'t Result<Node, ScenarioError>,
    ) -> Result<Cell, ScenarioError> {
        let tree = || tree().as_ref().map_err(Clone::clone);
        let config_key = self.touching(arm, &CONFIG);
        let config = match self.configs.get(&config_key) {
            Some(known) => Arc::clone(known),
            None => {
                let config = Arc::new(self.read_config(tree()?, arm)?);
                self.configs.insert(config_key, Arc::clone(&config));
                config
            }
        };
        let (epoch, targets) = (config.router.epoch, self.targets(&config.router));
        let key = |reader: &Self, sections: &[&str]| {
            let mut key = reader.touching(arm, sections);
            key.push(targets);
            key
        };

        let providers_key = key(self, &["providers", "starts_at"]);
        let providers = match self.bindings.get(&providers_key) {
            Some(known) => Arc::clone(known),
            None => {
                let node = tree()?.get("providers");
                let deployments = &config.router.deployments;
                let notes = &mut self.files.notes;
                let bound = providers::bind(node, deployments, epoch, self.file, notes)?;
                self.bindings.insert(providers_key, Arc::clone(&bound));
                bound
            }
        };

        let workload_key = key(self, &["workload", "starts_at"]);
        let workload = match self.workloads.get(&workload_key) {
            Some(known) => Arc::clone(known),
            None => {
                let node = section(tree()?, "workload")?;
                let names = askable(&config.router);
                let askable = Askable { names: &names };
                let made =
                    traffic::workload(node, self.file, epoch, &askable, &mut self.files)?;
                let made = Arc::new(made);
                self.workloads.insert(workload_key, Arc::clone(&made));
                made
            }
        };
        let slo = slo(self.slo_node(tree()?), self.file)?;
        Ok(Cell { router: Arc::new(config.router.clone()), providers, workload, slo })
    }

    fn slo_node<'t>(&self, tree: &'t Node) -> Option<&'t Node> {
        tree.get("slo")
    }

    fn read_config(&self, tree: &Node, arm: &[usize]) -> Result<LitellmConfig, ScenarioError> {
        let node = section(tree, "litellm")?;
        let mut config = litellm::from_node(node, self.litellm_file)
            .map_err(|error| if self.litellm_file == self.file { error.under("litellm") } else { error })?;
        let set = self.set.iter().map(|path| (path.as_str(), None));
        let swept = self.axes.iter().zip(arm).map(|(axis, value)| (axis.path.as_str(), Some((axis, *value))));
        for (path, _) in set.chain(swept) {
            if let Some(path) = path.strip_prefix("litellm.") {
                acted_on(path, &config)?;
            }
        }
        config.router.profile = self.profile(tree)?.profile();
        config.router.epoch = epoch(tree, self.file)?;
        Ok(config)
    }

    fn profile(&self, tree: &Node) -> Result<ProfileName, ScenarioError> {
        match (self.profile, tree.get("profile")) {
            (Some(profile), _) => Ok(profile),
            (None, Some(node)) if !node.is_null() => {
                node.read(self.file).map_err(|error| error.under("profile"))
            }
            (None, _) => Ok(ProfileName::default()),
        }
    }

    /// The values of the axes that touch any of these sections.
    fn touching(&self, arm: &[usize], sections: &[&str]) -> Vec<usize> {
        let touches =
            |axis: &SweptAxis| sections.iter().any(|section| within(&axis.path, section));
        self.axes.iter().zip(arm).filter(|(axis, _)| touches(axis)).map(|(_, value)| *value).collect()
    }

    /// A number for what other sections see of a config: equal for equal deployments and aliases.
    fn targets(&mut self, router: &RouterConfig) -> usize {
        let deployments = router
            .deployments
            .iter()
            .map(|d| (d.id.clone(), d.model_name.clone(), d.model.clone()));
        let aliases = router.settings.model_group_alias.iter();
        let aliases = aliases.map(|(alias, group)| (alias.clone(), group.clone(), String::new()));
        let targets: Vec<Target> = deployments.chain(aliases).collect();
        if let Some(known) = self.targets.iter().position(|known| *known == targets) {
            return known;
        }
        self.targets.push(targets);
        self.targets.len() - 1
    }

    /// Says of an error in a value that an axis put there which axis and value that is.
    fn blame(&self, error: ScenarioError, arm: &[usize]) -> ScenarioError {
        if error.line().is_some() || self.axes.is_empty() {
            return error;
        }
        let key = error.key_path();
        let whole = |key: &str| {
            let inlined = self.litellm_file != self.file;
            if inlined && error.file() == Some(self.litellm_file) {
                format!("litellm.{key}")
            } else {
                key.to_owned()
            }
        };
        let key = whole(key);
        let guilty = self.axes.iter().zip(arm).find(|(axis, _)| {
            within(&key, &axis.path) || (within(&axis.path, &key) && !key.is_empty())
        });
        let Some((axis, value)) = guilty else { return error };
        let label = &axis.axis.values[*value];
        let (line, column) = axis.places[*value];
        let mut blamed = ScenarioError::new(format!("value `{label}`: {}", error.message()))
            .key(format!("sweep.{}", crate::yaml::quoted(&axis.axis.name)))
            .at(line, column)
            .in_file(self.file);
        if let Some(help) = error.help_text() {
            blamed = blamed.help(help);
        }
        blamed
    }
}

/// The tree of an arm.
fn put(base: &Node, axes: &[SweptAxis], arm: &[usize]) -> Result<Node, ScenarioError> {
    let mut tree = base.clone();
    for (axis, value) in axes.iter().zip(arm) {
        tree.put_path(&axis.path, axis.values[*value].clone())?;
    }
    Ok(tree)
}

fn section<'t>(tree: &'t Node, key: &str) -> Result<&'t Node, ScenarioError> {
    tree.get(key).ok_or_else(|| tree.error(format!("key `{key}` is missing")))
}

/// Refuses to vary what the router does not act on.
fn acted_on(path: &str, config: &LitellmConfig) -> Result<(), ScenarioError> {
    let used = |used: &String| within(path, used) || within(used, path);
    if config.used.iter().any(used) {
        return Ok(());
    }
    let Some(ignored) = config.ignored.iter().find(|ignored| within(path, &ignored.path)) else {
        return Ok(());
    };
    Err(ScenarioError::new(format!("this is not acted on: {}", ignored.reason))
        .key(format!("litellm.{path}")))
}

/// Names that may be asked for, model groups first.
fn askable(router: &RouterConfig) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let groups = router.deployments.iter().map(|deployment| &deployment.model_name);
    for name in groups.chain(router.settings.model_group_alias.keys()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn epoch(tree: &Node, file: &str) -> Result<Epoch, ScenarioError> {
    let Some(node) = tree.get("starts_at").filter(|node| !node.is_null()) else {
        return Ok(Epoch::default());
    };
    let seconds = node.as_str().and_then(date_time).map(|nanos| nanos / 1_000_000_000);
    seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Epoch::from_unix_seconds).ok_or_else(
        || {
            node.unaccepted("a date and time since 1970, e.g. 2024-01-01T00:00:50Z")
                .key("starts_at")
                .in_file(file)
        },
    )
}

fn slo(node: Option<&Node>, file: &str) -> Result<Slo, ScenarioError> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(Slo::default()) };
    let spec: SloSpec = node.read(file).map_err(|error| error.under("slo"))?;
    let bound = |key: &str, seconds: Option<f64>| match seconds {
        None => Ok(None),
        Some(seconds) if seconds > 0.0 && seconds <= SECONDS_AT_MOST => {
            Ok(Some(Duration::from_secs_f64(seconds)))
        }
        Some(seconds) => {
            let error = number(key, seconds, "a time above 0, in seconds");
            Err(placed(error, node, "slo", file))
        }
    };
    Ok(Slo {
        latency: bound("latency_s", spec.latency_s)?,
        first_token: bound("first_token_s", spec.first_token_s)?,
    })
}

/// Sections that a router is made of.
const CONFIG: [&str; 3] = ["litellm", "profile", "starts_at"];
