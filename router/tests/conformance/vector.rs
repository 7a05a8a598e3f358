//! A vector as it is written in its file. The schema is described in `vectors/README.md`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// One file.
#[derive(Deserialize, Debug)]
pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) category: String,
    pub(crate) config: Config,
    pub(crate) upstream: Upstream,
    pub(crate) client: Vec<ClientStep>,
    #[serde(default)]
    pub(crate) symmetric: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) settle_ms: Option<f64>,
    /// By LiteLLM's version.
    pub(crate) recorded: BTreeMap<String, Facts>,
}

#[derive(Deserialize, Debug, Clone)]
pub(crate) struct Config {
    pub(crate) router: Object,
    #[serde(default)]
    pub(crate) deployments: Vec<Object>,
    #[serde(default)]
    pub(crate) globals: Object,
}

#[derive(Deserialize, Debug)]
pub(crate) struct Upstream {
    #[serde(default)]
    pub(crate) deployments: BTreeMap<String, Script>,
    #[serde(default)]
    pub(crate) shared: BTreeMap<String, Vec<Reply>>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Script {
    Replies(Vec<Reply>),
    ByTime(Vec<Reply>),
    Shared(String),
}

/// What a scripted upstream does with one call.
#[derive(Deserialize, Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) until_ms: Option<f64>,
    pub(crate) status: Option<u16>,
    #[serde(default)]
    pub(crate) latency_ms: f64,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, Value>,
    pub(crate) error: Option<ErrorBody>,
    pub(crate) usage: Option<Tokens>,
    #[serde(default)]
    pub(crate) reset: bool,
    #[serde(default)]
    pub(crate) hang: bool,
    #[serde(default)]
    pub(crate) ttft_ms: f64,
    pub(crate) chunks: Option<u32>,
    #[serde(default)]
    pub(crate) chunk_ms: f64,
    pub(crate) break_after: Option<u32>,
    pub(crate) break_kind: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub(crate) other: Object,
}

#[derive(Deserialize, Debug, Clone, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorBody {
    /// A text or a number.
    pub(crate) code: Option<Value>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) message: Option<String>,
}

#[derive(Deserialize, Debug, Clone, Copy)]
pub(crate) struct Tokens {
    pub(crate) prompt_tokens: Option<u32>,
    pub(crate) completion_tokens: Option<u32>,
}

#[derive(Deserialize, Debug)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum ClientStep {
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
        method: Getter,
        #[serde(default)]
        args: Object,
    },
}

impl ClientStep {
    /// The requests that it makes.
    pub(crate) fn requests(&self) -> &[Asked] {
        match self {
            Self::Request(asked) | Self::Burst { asked, .. } => std::slice::from_ref(asked),
            Self::Batch { requests, .. } => requests,
            Self::Sleep { .. }
            | Self::At { .. }
            | Self::Align { .. }
            | Self::UpdateSettings { .. }
            | Self::DeleteDeployment { .. }
            | Self::Query { .. } => &[],
        }
    }
}

impl Upstream {
    /// Every scripted reply.
    pub(crate) fn replies(&self) -> impl Iterator<Item = &Reply> {
        let own = self.deployments.values().flat_map(|script| match script {
            Script::Replies(replies) | Script::ByTime(replies) => replies.as_slice(),
            Script::Shared(_) => &[],
        });
        own.chain(self.shared.values().flatten())
    }
}

/// A getter of the router's.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Getter {
    /// Of all deployments, or of those of the `model_name` among its arguments.
    GetModelIds,
    /// Of all groups, with the aliases before them.
    GetModelNames,
}

/// A request of the client's.
#[derive(Deserialize, Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) id: String,
    #[serde(default = "default_model")]
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) kwargs: Object,
    #[serde(default)]
    pub(crate) stream: bool,
    #[serde(default)]
    pub(crate) sync: bool,
    #[serde(default)]
    pub(crate) api: Option<String>,
    #[serde(default)]
    pub(crate) words: u32,
    #[serde(default)]
    pub(crate) delay_ms: f64,
}

fn default_model() -> String {
    "m".to_owned()
}

/// What one version did.
#[derive(Deserialize, Debug)]
pub(crate) struct Facts {
    pub(crate) build: Build,
    #[serde(default)]
    pub(crate) requests: Vec<RequestFacts>,
    #[serde(default)]
    pub(crate) bursts: Vec<BurstFacts>,
    #[serde(default)]
    pub(crate) batches: Vec<BatchFacts>,
    #[serde(default)]
    pub(crate) max_upstream_calls_at_once: BTreeMap<String, Spread>,
    pub(crate) cooldowns: Option<Vec<BenchFacts>>,
    #[serde(default)]
    pub(crate) queries: Vec<QueryFacts>,
    pub(crate) pairs_on_same_deployment: Option<PairFacts>,
}

/// How many pairs of requests were served by one deployment.
#[derive(Deserialize, Debug, Clone, Copy)]
pub(crate) struct PairFacts {
    pub(crate) same: u32,
    pub(crate) of: u32,
}

#[derive(Deserialize, Debug)]
pub(crate) struct Build {
    pub(crate) ok: bool,
}

/// Least, median and greatest of the repeats.
#[derive(Deserialize, Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

#[derive(Deserialize, Debug)]
pub(crate) struct RequestFacts {
    pub(crate) id: String,
    pub(crate) started_at_ms: Spread,
    pub(crate) varies: bool,
    pub(crate) outcomes: Vec<OutcomeFacts>,
}

#[derive(Deserialize, Debug)]
pub(crate) struct OutcomeFacts {
    pub(crate) seen: u32,
    pub(crate) attempts: Vec<AttemptFacts>,
    pub(crate) result: ResultFacts,
    pub(crate) elapsed_ms: Spread,
    pub(crate) after_last_attempt_ms: Option<Spread>,
}

#[derive(Deserialize, Debug)]
pub(crate) struct AttemptFacts {
    pub(crate) deployment: String,
    status: Value,
    pub(crate) start_ms: Spread,
    pub(crate) upstream_ms: Spread,
    pub(crate) wait_before_ms: Option<Spread>,
}

impl AttemptFacts {
    pub(crate) fn status(&self) -> String {
        text(&self.status)
    }
}

#[derive(Deserialize, Debug)]
pub(crate) struct ResultFacts {
    pub(crate) ok: bool,
    pub(crate) served_by: Option<String>,
    pub(crate) exception: Option<String>,
    pub(crate) status: Option<u16>,
    #[serde(default)]
    pub(crate) message: MessageFacts,
}

#[derive(Deserialize, Debug, Default)]
pub(crate) struct MessageFacts {
    pub(crate) try_again_in_seconds: Option<f64>,
    pub(crate) retried: Option<usize>,
}

#[derive(Deserialize, Debug)]
pub(crate) struct BurstFacts {
    pub(crate) id: String,
    pub(crate) per_repeat: Vec<BTreeMap<String, u32>>,
    pub(crate) paths: BTreeMap<String, u32>,
    pub(crate) sequence: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) sequence_deterministic: bool,
}

#[derive(Deserialize, Debug)]
pub(crate) struct BatchFacts {
    pub(crate) id: String,
    pub(crate) per_repeat: Vec<BTreeMap<String, u32>>,
    pub(crate) paths: BTreeMap<String, u32>,
    pub(crate) elapsed_ms_by_rank: Vec<Spread>,
    #[serde(default)]
    pub(crate) wait_before_attempt_ms: BTreeMap<usize, Distribution>,
    pub(crate) after_last_attempt_ms: Option<Distribution>,
    pub(crate) varies: bool,
}

/// A sample, summed up.
#[derive(Deserialize, Debug, Clone, Copy)]
pub(crate) struct Distribution {
    pub(crate) n: u32,
    pub(crate) min: f64,
    pub p10: f64,
    pub p25: f64,
    pub(crate) median: f64,
    pub p75: f64,
    pub p90: f64,
    pub(crate) max: f64,
    pub(crate) mean: f64,
}

#[derive(Deserialize, Debug)]
pub(crate) struct BenchFacts {
    pub(crate) after: String,
    pub(crate) cooling: Option<BTreeMap<String, Benched>>,
    #[serde(default)]
    pub(crate) variants: Vec<BenchVariant>,
}

#[derive(Deserialize, Debug)]
pub(crate) struct BenchVariant {
    pub(crate) cooling: BTreeMap<String, Benched>,
}

#[derive(Deserialize, Debug, Clone)]
pub(crate) struct Benched {
    pub(crate) cooldown_s: f64,
    pub(crate) status: Value,
}

#[derive(Deserialize, Debug)]
pub(crate) struct QueryFacts {
    pub(crate) id: String,
    pub(crate) value: Value,
}

/// Text of a JSON string or number.
pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A vector's text. A setting that is `null` is one that is not given, in every place where LiteLLM
/// has settings.
fn parse(text: &str) -> serde_json::Result<Vector> {
    let mut vector: Value = serde_json::from_str(text)?;
    for key in ["config", "client"] {
        if let Some(part) = vector.get_mut(key) {
            drop_nulls(part);
        }
    }
    serde_json::from_value(vector)
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // To name nothing as the model or the strategy is not the same as to name none.
            map.retain(|key, value| {
                !value.is_null() || ["model", "routing_strategy"].contains(&key.as_str())
            });
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Every vector of a folder, in order of file names; of those that cannot be read, path and reason.
pub(crate) fn read_folder(folder: &Path) -> Vec<Result<Vector, (String, String)>> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read the folder {}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| error.to_string());
        let vector = text.and_then(|text| parse(&text).map_err(|e| e.to_string()));
        vector.map_err(|why| (path.display().to_string(), why))
    };
    paths.iter().map(read).collect()
}
