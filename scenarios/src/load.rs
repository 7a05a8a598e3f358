//! From a file to a [`Scenario`]: read, change as the command line says, check, expand.
//!
//! Everything is checked before anything runs, every arm included.

use std::{path::PathBuf, sync::Arc, time::Duration};

use router::{RouterConfig, Seed};

use crate::{
    arms::{ArmReader, Cell},
    client::Client,
    error::ScenarioError,
    expect::{self, Expectation},
    lint::Finding,
    litellm::IgnoredKey,
    plan::{Arm, Axis, RunPlan},
    prices::PriceRegistry,
    providers::NOT_USED,
    schema::{Kind, ScenarioFile},
    source::{LoadOptions, Opened, Source, change},
    sweep::Sweep,
    traffic::{Files, placed},
    workload::{trace::Trace, trace_stats::TraceStats},
    yaml::{self, Node},
};

/// A scenario, read and checked, with every arm expanded.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    text: String,
    purpose: String,
    kind: Kind,
    seed: u64,
    replications: u32,
    replications_given: bool,
    axes: Vec<Axis>,
    arms: Vec<Arm>,
    cells: Vec<Cell>,
    reference: usize,
    expect: Vec<Expectation>,
    notes: Vec<String>,
    traces: Vec<(String, Arc<Trace>)>,
    used: Vec<String>,
    ignored: Vec<IgnoredKey>,
    ignored_lines: Vec<String>,
    findings: Vec<Finding>,
}

impl Scenario {
    /// Reads and checks a scenario with every arm.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn load(source: &Source, options: &LoadOptions) -> Result<Self, ScenarioError> {
        let Opened {
            name,
            file,
            folder,
            text,
        } = Opened::open(source)?;
        let read = Self::read(&name, &file, folder, &text, options);
        read.map_err(|error| {
            if error.file() == Some(&file) {
                error.with_text(&text)
            } else {
                error
            }
        })
    }

    fn read(
        name: &str,
        file: &str,
        folder: Option<PathBuf>,
        text: &str,
        options: &LoadOptions,
    ) -> Result<Self, ScenarioError> {
        let mut tree = yaml::parse(text, file)?;
        if tree.is_null() {
            return Err(ScenarioError::new("the scenario is empty")
                .help("`routelab list` shows scenarios to start from")
                .in_file(file));
        }
        if tree.as_map().is_none() {
            return Err(tree
                .unaccepted("a mapping with `purpose`, `kind`, …")
                .in_file(file));
        }
        let files = Files {
            folder,
            ..Files::default()
        };
        let changed = change(&mut tree, file, &files, options)?;
        let header = header(&tree, file)?;
        let in_file = |error: ScenarioError| error.in_file(file);
        let sweep = Sweep::read(tree.get("sweep")).map_err(in_file)?;
        let reference = sweep.reference(tree.get("reference")).map_err(in_file)?;
        let axes = sweep.plain_axes();
        let expect =
            expect::expectations(&header.expect, &axes, &options.metrics).map_err(|error| {
                let none = Node::unplaced(yaml::Value::Null);
                placed(error, tree.get("expect").unwrap_or(&none), "expect", file)
            })?;
        let replications = replications(&header, &sweep, &tree, options).map_err(in_file)?;

        let names = (file, changed.litellm_file.as_str());
        let varied = (sweep.axes.as_slice(), changed.paths.as_slice());
        let mut reader = ArmReader::new(&tree, names, varied, options.profile, files);
        reader.config_replaced = options.config.is_some();
        reader.prices = registry(&header, &tree, file, &reader.files, options)?;
        let grid = sweep.arms();
        let cells = grid
            .iter()
            .map(|arm| reader.cell(arm))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(note) = reader
            .prices
            .as_ref()
            .map(|_| priced(&cells[reference].router))
        {
            reader.files.note(note);
        }
        let (instances, client) = (cells[reference].instances, cells[reference].client);
        for note in [instances.told(), client.map(Client::told)] {
            note.into_iter().for_each(|note| reader.files.note(note));
        }
        let account = reader.account(&grid[reference]);
        Ok(Self {
            name: name.to_owned(),
            text: text.to_owned(),
            purpose: header.purpose.trim().to_owned(),
            kind: header.kind,
            seed: options.seed.or(header.seed).unwrap_or(SEED),
            replications,
            replications_given: options.replications.is_some()
                || header.replications.is_some()
                || sweep.replications.is_some(),
            arms: grid.iter().map(|arm| sweep.labels(arm)).collect(),
            axes,
            reference,
            expect,
            used: account
                .map(|config| config.used.clone())
                .unwrap_or_default(),
            ignored: account
                .map(|config| config.ignored.clone())
                .unwrap_or_default(),
            ignored_lines: account
                .map(|config| config.ignored_in_lines())
                .unwrap_or_default(),
            findings: reader.findings(&grid[reference], &cells[reference]),
            cells,
            traces: reader.files.request_traces(),
            notes: reader.files.notes,
        })
    }

    /// The file's name without folder and extension, or the name in the library.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The question in a sentence.
    #[must_use]
    pub fn purpose(&self) -> &str {
        &self.purpose
    }

    /// Whether a lasting state or a passing event is studied.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The master seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs of each arm.
    #[must_use]
    pub const fn replications(&self) -> u32 {
        self.replications
    }

    /// Whether somebody said how many runs there are to be.
    #[must_use]
    pub const fn replications_given(&self) -> bool {
        self.replications_given
    }

    /// The dimensions of the grid, in the file's order.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The cells of the grid, the last axis fastest; one arm without labels if there are no axes.
    #[must_use]
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    /// Place of the arm that the others are compared with.
    #[must_use]
    pub const fn reference(&self) -> usize {
        self.reference
    }

    /// What must hold.
    #[must_use]
    pub fn expect(&self) -> &[Expectation] {
        &self.expect
    }

    /// What the user should know about how the scenario was understood, such as what became of a
    /// trace's rows.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Providers of the scenario that hit no deployment of the config in its place, as told in the
    /// notes: what they were to do, such as an outage, does not happen.
    pub fn unused_providers(&self) -> impl Iterator<Item = &String> {
        self.notes.iter().filter(|note| note.contains(NOT_USED))
    }

    /// What the traces of single requests look like, each with its file. Those of fewer than two rows
    /// have no statistics.
    #[must_use]
    pub fn trace_stats(&self) -> Vec<(&str, TraceStats)> {
        let traces = self.traces.iter().filter(|(_, trace)| trace.rows.len() > 1);
        traces
            .map(|(file, trace)| (file.as_str(), TraceStats::of(trace)))
            .collect()
    }

    /// Keys of the LiteLLM config that the router acts on, in the reference arm.
    #[must_use]
    pub fn used(&self) -> &[String] {
        &self.used
    }

    /// Keys of the LiteLLM config that the router does not act on, in the reference arm.
    #[must_use]
    pub fn ignored(&self) -> &[IgnoredKey] {
        &self.ignored
    }

    /// The same in few lines for people; what looks like a mistake comes first.
    #[must_use]
    pub fn ignored_in_lines(&self) -> &[String] {
        &self.ignored_lines
    }

    /// What is found in the LiteLLM config, in the reference arm; the worst comes first.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The file as it was given, without what the command line changed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every run: arm by arm, and within an arm replication by replication.
    #[must_use]
    pub fn plans(&self) -> Vec<RunPlan> {
        (0..self.cells.len())
            .flat_map(|arm| (0..self.replications).map(move |number| self.plan(arm, number)))
            .collect()
    }

    /// The run of replication `replication` of arm `arm`.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn plan(&self, arm: usize, replication: u32) -> RunPlan {
        let cell = &self.cells[arm];
        RunPlan {
            arm,
            replication,
            seed: Seed(self.seed).replication(replication),
            router: Arc::clone(&cell.router),
            providers: Arc::clone(&cell.providers),
            workload: Arc::clone(&cell.workload),
            instances: cell.instances,
            client: cell.client,
            actions: Arc::clone(&cell.actions),
            slo: cell.slo,
            warm_up: Duration::ZERO,
        }
    }
}

/// The typed part of the file, with words for the two keys that are most often forgotten.
fn header(tree: &Node, file: &str) -> Result<ScenarioFile, ScenarioError> {
    if tree.get("purpose").is_none() {
        return Err(tree
            .error("key `purpose` is missing")
            .help("say in a sentence what the scenario is to find out")
            .in_file(file));
    }
    if tree.get("kind").is_none() {
        return Err(tree
            .error("key `kind` is missing")
            .help(
                "accepted is `terminating` (a passing event such as an outage: every request \
                 counts) or `steady` (a lasting state: the start-up is cut off)",
            )
            .in_file(file));
    }
    let header: ScenarioFile = tree.read(file)?;
    if header.purpose.trim().is_empty() {
        let node = tree.get("purpose").expect("it was read");
        return Err(node
            .error("the purpose is empty")
            .key("purpose")
            .help("say in a sentence what the scenario is to find out")
            .in_file(file));
    }
    Ok(header)
}

/// LiteLLM's price registry, if the command line or the file names one.
fn registry(
    header: &ScenarioFile,
    tree: &Node,
    file: &str,
    files: &Files,
    options: &LoadOptions,
) -> Result<Option<PriceRegistry>, ScenarioError> {
    if let Some(path) = &options.prices {
        return PriceRegistry::load(path).map(Some);
    }
    let Some(path) = &header.prices else {
        return Ok(None);
    };
    let text = files.text(path, "prices").map_err(|error| {
        let none = Node::unplaced(yaml::Value::Null);
        let node = tree.get("prices").unwrap_or(&none);
        error.at(node.line, node.column).in_file(file)
    })?;
    PriceRegistry::read(&text, path).map(Some)
}

/// How far the prices of a router are known.
fn priced(router: &RouterConfig) -> String {
    let unknown: Vec<&str> = router
        .deployments
        .iter()
        .filter(|deployment| {
            deployment.prices.input.is_none() || deployment.prices.output.is_none()
        })
        .map(|deployment| deployment.id.as_str())
        .collect();
    let (all, without) = (router.deployments.len(), unknown.len());
    let mut note = format!("prices: known for {} of {all} deployments", all - without);
    if !unknown.is_empty() {
        let named = unknown
            .iter()
            .take(3)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        let more = if without > 3 { ", …" } else { "" };
        note.push_str(&format!("; not for {named}{more}"));
    }
    note
}

fn replications(
    header: &ScenarioFile,
    sweep: &Sweep,
    tree: &Node,
    options: &LoadOptions,
) -> Result<u32, ScenarioError> {
    let at = |path: &str| {
        tree.at_path(path)
            .map_or((0, 0), |node| (node.line, node.column))
    };
    let (said, path) = match (header.replications, sweep.replications) {
        (Some(_), Some(_)) => {
            let (line, column) = at("sweep.replications");
            return Err(ScenarioError::new("said at the top of the file as well")
                .key("sweep.replications")
                .help("keep one of the two")
                .at(line, column));
        }
        (Some(said), None) => (said, "replications"),
        (None, Some(said)) => (said, "sweep.replications"),
        (None, None) => (REPLICATIONS, "replications"),
    };
    let (count, path) = match options.replications {
        Some(count) => (count, "--reps"),
        None => (said, path),
    };
    if (1..=REPLICATIONS_AT_MOST).contains(&count) {
        return Ok(count);
    }
    let (line, column) = at(path);
    let accepted = format!("from 1 to {REPLICATIONS_AT_MOST}");
    let found = format!("the number {count}");
    Err(ScenarioError::unaccepted(found, accepted)
        .key(path)
        .at(line, column))
}

const SEED: u64 = 1;
/// The least for a published claim: an interval over fewer means says little.
const REPLICATIONS: u32 = 10;
const REPLICATIONS_AT_MOST: u32 = 100_000;
