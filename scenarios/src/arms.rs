//! From the scenario's tree to what each arm runs.
//!
//! An arm is the tree with the axes' values put in their places, read again section by section. A
//! section that no axis of the arm touches is read once and shared: its parts are remembered under
//! the values of the axes that do touch it.

use std::{cell::OnceCell, collections::BTreeMap, sync::Arc, time::Duration};

use router::{Epoch, ProfileName, RouterConfig};

use crate::{
    actions,
    client::{self, Client},
    error::{ScenarioError, one_line},
    instances,
    lint::{self, Around, Finding},
    litellm::{self, LitellmConfig},
    plan::{Action, Instances, ProviderBinding, Slo},
    prices::PriceRegistry,
    providers,
    schema::SloSpec,
    sweep::{SweptAxis, within},
    traffic::{self, Files, placed},
    workload::{
        Workload,
        arrivals::{SECONDS_AT_MOST, number},
        trace::timestamp::date_time,
    },
    yaml::{Node, quoted},
};

/// What one arm runs.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub router: Arc<RouterConfig>,
    pub providers: Arc<[ProviderBinding]>,
    pub workload: Arc<Workload>,
    pub instances: Instances,
    pub client: Option<Client>,
    pub actions: Arc<[Action]>,
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
    /// LiteLLM's price registry, if one is given.
    pub prices: Option<PriceRegistry>,
    /// The command line put another LiteLLM config in the place of the scenario's own.
    pub config_replaced: bool,
    pub files: Files,
    configs: Memory<Config>,
    bindings: Memory<[ProviderBinding]>,
    workloads: Memory<Workload>,
    instances: Memory<Instances>,
    clients: Memory<Option<Client>>,
    actions: Memory<[Action]>,
    slos: Memory<Slo>,
    targets: Vec<Vec<Target>>,
}

/// A LiteLLM config as read.
#[derive(Debug)]
struct Config {
    router: Arc<RouterConfig>,
    /// Which of its keys are used; profile and epoch of its own `router` are not set.
    account: LitellmConfig,
    /// What other sections see of it, as a number.
    targets: usize,
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
            prices: None,
            config_replaced: false,
            files,
            configs: Memory::new(),
            bindings: Memory::new(),
            workloads: Memory::new(),
            instances: Memory::new(),
            clients: Memory::new(),
            actions: Memory::new(),
            slos: Memory::new(),
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

    /// What became of the LiteLLM config's keys in an arm that was read.
    pub(crate) fn account(&self, arm: &[usize]) -> Option<&LitellmConfig> {
        self.configs
            .get(&self.touching(arm, &CONFIG))
            .map(|config| &config.account)
    }

    /// What is found in the LiteLLM config of an arm that was read.
    pub(crate) fn findings(&self, arm: &[usize], cell: &Cell) -> Vec<Finding> {
        let read = self.configs.get(&self.touching(arm, &CONFIG));
        let (Some(config), Ok(tree)) = (read, put(self.tree, self.axes, arm)) else {
            return Vec::new();
        };
        let Some(node) = tree.get("litellm") else {
            return Vec::new();
        };
        let mut found = lint::findings(
            &config.account,
            &config.router,
            node,
            self.litellm_file,
            Some(Around {
                workload: &cell.workload,
                instances: cell.instances,
            }),
        );
        if self.litellm_file == self.file {
            for finding in &mut found {
                finding.path = format!("litellm.{}", finding.path);
            }
        }
        found
    }

    fn read<'t>(
        &mut self,
        arm: &[usize],
        tree: impl Fn() -> &'t Result<Node, ScenarioError>,
    ) -> Result<Cell, ScenarioError> {
        let tree = || tree().as_ref().map_err(Clone::clone);
        let key = self.touching(arm, &CONFIG);
        let config = match self.configs.get(&key) {
            Some(known) => Arc::clone(known),
            None => {
                let config = Arc::new(self.read_config(tree()?)?);
                self.configs.insert(key, Arc::clone(&config));
                config
            }
        };
        let (file, router) = (self.file, &config.router);
        let key_of = |axes: Vec<usize>| [axes, vec![config.targets]].concat();

        let key = key_of(self.touching(arm, &["providers", "starts_at"]));
        let providers = remembered(&mut self.bindings, key, || {
            let node = tree()?.get("providers");
            let mut notes = providers::Notes {
                notes: &mut self.files.notes,
                config_replaced: self.config_replaced,
            };
            providers::bind(node, &router.deployments, router.epoch, file, &mut notes)
        })?;
        let key = key_of(self.touching(arm, &["workload", "starts_at"]));
        let workload = remembered(&mut self.workloads, key, || {
            let node = section(tree()?, "workload")?;
            let names = askable(router);
            traffic::workload(node, file, router.epoch, &names, &mut self.files).map(Arc::new)
        })?;
        let key = self.touching(arm, &["instances", CONFIG[0], CONFIG[1], CONFIG[2]]);
        let instances = remembered(&mut self.instances, key, || {
            let node = tree()?.get("instances");
            instances::instances(node, file, router).map(Arc::new)
        })?;
        let key = self.touching(arm, &["client"]);
        let client = remembered(&mut self.clients, key, || {
            client::client(tree()?.get("client"), file).map(Arc::new)
        })?;
        let key = key_of(self.touching(arm, &["actions", "workload", "starts_at"]));
        let actions = remembered(&mut self.actions, key, || {
            let node = tree()?.get("actions");
            actions::actions(node, file, &router.deployments, workload.duration())
        })?;
        let key = self.touching(arm, &["slo"]);
        let slo = remembered(&mut self.slos, key, || {
            slo(tree()?.get("slo"), file).map(Arc::new)
        })?;
        Ok(Cell {
            router: Arc::clone(router),
            providers,
            workload,
            instances: *instances,
            client: *client,
            actions,
            slo: *slo,
        })
    }

    fn read_config(&mut self, tree: &Node) -> Result<Config, ScenarioError> {
        let node = section(tree, "litellm")?;
        let inside = self.litellm_file == self.file;
        let account = litellm::from_node(node, self.litellm_file).map_err(|error| {
            if inside {
                error.under("litellm")
            } else {
                error
            }
        })?;
        for path in self
            .set
            .iter()
            .filter_map(|path| path.strip_prefix("litellm."))
        {
            acted_on(path, &account).map_err(|error| error.in_file("--set"))?;
        }
        for path in self
            .axes
            .iter()
            .filter_map(|axis| axis.path.strip_prefix("litellm."))
        {
            acted_on(path, &account)?;
        }
        let profile = self.profile(tree)?.profile();
        let router = RouterConfig {
            epoch: epoch(tree, self.file)?,
            ..account.router_for(profile, self.prices.as_ref())
        };
        let targets = self.targets(&router);
        Ok(Config {
            router: Arc::new(router),
            account,
            targets,
        })
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
        let touches = |axis: &SweptAxis| sections.iter().any(|section| within(&axis.path, section));
        self.axes
            .iter()
            .zip(arm)
            .filter(|(axis, _)| touches(axis))
            .map(|(_, value)| *value)
            .collect()
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

    /// Says of an error in a value that an axis put there which axis and value that is. What an axis
    /// put stands in no line of the file, or makes a key that was not there.
    fn blame(&self, error: ScenarioError, arm: &[usize]) -> ScenarioError {
        let in_config = self.litellm_file != self.file && error.file() == Some(self.litellm_file);
        let prefix = if in_config { "litellm." } else { "" };
        let key = format!("{prefix}{}", error.key_path());
        let placed = error.line().is_some();
        let guilty = self.axes.iter().zip(arm).find(|(axis, _)| {
            let new = self.tree.at_path(&axis.path).is_none();
            // As the error has its key.
            let path = one_line(&*axis.path);
            let inside = within(&key, &path);
            let around = within(&path, &key);
            (inside && !placed) || (around && (new || !placed))
        });
        let Some((axis, value)) = guilty else {
            return error;
        };
        let label = &axis.axis.values[*value];
        let (line, column) = axis.places[*value];
        let mut blamed = ScenarioError::new(format!("value `{label}`: {}", error.message()))
            .key(format!("sweep.{}", quoted(&axis.axis.name)))
            .at(line, column)
            .in_file(self.file);
        if let Some(help) = error.help_text() {
            blamed = blamed.help(help);
        }
        blamed
    }
}

/// The part of this key; made where it is not known yet.
fn remembered<T: ?Sized>(
    memory: &mut Memory<T>,
    key: Vec<usize>,
    make: impl FnOnce() -> Result<Arc<T>, ScenarioError>,
) -> Result<Arc<T>, ScenarioError> {
    if let Some(known) = memory.get(&key) {
        return Ok(Arc::clone(known));
    }
    let made = make()?;
    memory.insert(key, Arc::clone(&made));
    Ok(made)
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
    tree.get(key)
        .ok_or_else(|| tree.error(format!("key `{key}` is missing")))
}

/// Refuses to vary what the router does not act on.
fn acted_on(path: &str, account: &LitellmConfig) -> Result<(), ScenarioError> {
    let used = |used: &String| within(path, used) || within(used, path);
    if account.used.iter().any(used) {
        return Ok(());
    }
    let Some(ignored) = account
        .ignored
        .iter()
        .find(|ignored| within(path, &ignored.path))
    else {
        return Ok(());
    };
    Err(
        ScenarioError::new(format!("this is not acted on: {}", ignored.reason))
            .key(format!("litellm.{path}")),
    )
}

/// Names that may be asked for, model groups first.
fn askable(router: &RouterConfig) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let groups = router
        .deployments
        .iter()
        .map(|deployment| &deployment.model_name);
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
    let seconds = node
        .as_str()
        .and_then(date_time)
        .map(|nanos| nanos / 1_000_000_000);
    seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .map(Epoch::from_unix_seconds)
        .ok_or_else(|| {
            node.unaccepted("a date and time since 1970, e.g. 2024-01-01T00:00:50Z")
                .key("starts_at")
                .in_file(file)
        })
}

fn slo(node: Option<&Node>, file: &str) -> Result<Slo, ScenarioError> {
    let Some(node) = node.filter(|node| !node.is_null()) else {
        return Ok(Slo::default());
    };
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
