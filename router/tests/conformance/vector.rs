//! A vector as it is written in its file. The schema is described in `vectors/README.md`.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use serde_json::{Map, Value};

pub type Object = Map<String, Value>;

/// One file.
#[derive(Deserialize, Debug)]
pub struct Vector {
    pub name: String,
    pub category: String,
    pub config: Config,
    pub upstream: Upstream,
    pub client: Vec<ClientStep>,
    #[serde(default)]
    pub symmetric: Vec<Vec<String>>,
    #[serde(default)]
    pub settle_ms: Option<f64>,
    /// By LiteLLM's version.
    pub recorded: BTreeMap<String, Facts>,
}

#[derive(Deserialize, Debug)]
pub struct Config {
    pub router: Object,
    #[serde(default)]
    pub deployments: Vec<Object>,
    #[serde(default)]
    pub globals: Object,
}

#[derive(Deserialize, Debug)]
pub struct Upstream {
    #[serde(default)]
    pub deployments: BTreeMap<String, Script>,
    #[serde(default)]
    pub shared: BTreeMap<String, Vec<Reply>>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Script {
    Replies(Vec<Reply>),
    ByTime(Vec<Reply>),
    Shared(String),
}

/// What a scripted upstream does with one call.
#[derive(Deserialize, Debug, Clone, Default)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub until_ms: Option<f64>,
    pub status: Option<u16>,
    #[serde(default)]
    pub latency_ms: f64,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub error: Option<ErrorBody>,
    pub usage: Option<Tokens>,
    #[serde(default)]
    pub reset: bool,
    #[serde(default)]
    pub hang: bool,
    #[serde(default)]
    pub ttft_ms: f64,
    pub chunks: Option<u32>,
    #[serde(default)]
    pub chunk_ms: f64,
    pub break_after: Option<u32>,
    pub break_kind: Option<String>,
}

#[derive(Deserialize, Debug, Clone, Default)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    pub code: Option<String>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub message: Option<String>,
}

#[derive(Deserialize, Debug, Clone, Copy)]
pub struct Tokens {
    pub prompt_tokens: Option<u32>,
    pub completion_tokens: Option<u32>,
}

#[derive(Deserialize, Debug)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum ClientStep {
    Request(Asked),
    Batch {
        id: String,
        requests: Vec<Asked>,
    },
    Burst {
        #[serde(flatten)]
        asked: Asked,
        count: u32,
        #[serde(default)]
        gap_ms: f64,
    },
    Sleep {
        ms: f64,
    },
    At {
        ms: f64,
    },
    Align {
        second_min: u64,
        second_max: u64,
    },
    UpdateSettings {
        settings: Object,
    },
    DeleteDeployment {
        id: String,
    },
    Query {
        id: String,
        method: String,
    },
}

/// A request of the client's.
#[derive(Deserialize, Debug, Clone)]
pub struct Asked {
    pub id: String,
    #[serde(default = "default_model")]
    pub model: String,
    #[serde(default)]
    pub kwargs: Object,
    #[serde(default)]
    pub stream: bool,
    #[serde(default)]
    pub sync: bool,
    #[serde(default)]
    pub words: u32,
    #[serde(default)]
    pub delay_ms: f64,
}

fn default_model() -> String {
    "m".to_owned()
}

/// What one version did.
#[derive(Deserialize, Debug)]
pub struct Facts {
    pub build: Build,
    #[serde(default)]
    pub requests: Vec<RequestFacts>,
    #[serde(default)]
    pub bursts: Vec<BurstFacts>,
    #[serde(default)]
    pub batches: Vec<BatchFacts>,
    #[serde(default)]
    pub max_upstream_calls_at_once: BTreeMap<String, Spread>,
    pub cooldowns: Option<Vec<BenchFacts>>,
    #[serde(default)]
    pub queries: Vec<QueryFacts>,
}

#[derive(Deserialize, Debug)]
pub struct Build {
    pub ok: bool,
}

/// Least, median and greatest of the repeats.
#[derive(Deserialize, Debug, Clone, Copy)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

#[derive(Deserialize, Debug)]
pub struct RequestFacts {
    pub id: String,
    pub started_at_ms: Spread,
    pub varies: bool,
    pub outcomes: Vec<OutcomeFacts>,
}

#[derive(Deserialize, Debug)]
pub struct OutcomeFacts {
    pub attempts: Vec<AttemptFacts>,
    pub result: ResultFacts,
    pub elapsed_ms: Spread,
    pub after_last_attempt_ms: Option<Spread>,
}

#[derive(Deserialize, Debug)]
pub struct AttemptFacts {
    pub deployment: String,
    status: Value,
    pub start_ms: Spread,
    pub wait_before_ms: Option<Spread>,
}

impl AttemptFacts {
    pub fn status(&self) -> String {
        text(&self.status)
    }
}

#[derive(Deserialize, Debug)]
pub struct ResultFacts {
    pub ok: bool,
    pub served_by: Option<String>,
    pub exception: Option<String>,
    pub status: Option<u16>,
    #[serde(default)]
    pub message: MessageFacts,
}

#[derive(Deserialize, Debug, Default)]
pub struct MessageFacts {
    pub try_again_in_seconds: Option<f64>,
    pub retried: Option<usize>,
}

#[derive(Deserialize, Debug)]
pub struct BurstFacts {
    pub id: String,
    pub per_repeat: Vec<BTreeMap<String, u32>>,
    pub paths: BTreeMap<String, u32>,
    pub sequence: Option<Vec<String>>,
    #[serde(default)]
    pub sequence_deterministic: bool,
}

#[derive(Deserialize, Debug)]
pub struct BatchFacts {
    pub id: String,
    pub per_repeat: Vec<BTreeMap<String, u32>>,
    pub paths: BTreeMap<String, u32>,
    pub elapsed_ms_by_rank: Vec<Spread>,
    #[serde(default)]
    pub wait_before_attempt_ms: BTreeMap<usize, Distribution>,
    pub after_last_attempt_ms: Option<Distribution>,
    pub varies: bool,
}

/// A sample, summed up.
#[derive(Deserialize, Debug, Clone, Copy)]
pub struct Distribution {
    pub n: u32,
    pub min: f64,
    pub p10: f64,
    pub p25: f64,
    pub median: f64,
    pub p75: f64,
    pub p90: f64,
    pub max: f64,
    pub mean: f64,
}

#[derive(Deserialize, Debug)]
pub struct BenchFacts {
    pub after: String,
    pub at_ms: Spread,
    pub cooling: Option<BTreeMap<String, Benched>>,
    #[serde(default)]
    pub variants: Vec<BenchVariant>,
}

#[derive(Deserialize, Debug)]
pub struct BenchVariant {
    pub cooling: BTreeMap<String, Benched>,
}

#[derive(Deserialize, Debug, Clone)]
pub struct Benched {
    pub cooldown_s: f64,
    pub status: Value,
}

#[derive(Deserialize, Debug)]
pub struct QueryFacts {
    pub id: String,
    pub value: Value,
}

/// Text of a JSON string or number.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Every vector of a folder, by file name.
pub fn read_folder(folder: &Path) -> Vec<Vector> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read the folder {}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().map(read).collect()
}
