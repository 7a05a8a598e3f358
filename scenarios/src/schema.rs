//! What may stand in a scenario file. Editors get it as `scenario.schema.json`.
//!
//! These are the words of the file and nothing more: what they mean is decided where they are used.
//! Unknown keys are refused. Two blocks are not typed here: `litellm`, which is LiteLLM's own, and
//! the values of `sweep`, which may be anything that may stand at the place they are put to.

use std::collections::BTreeMap;

use mock_providers::ProviderSpec;
use router::ProfileName;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize,
    de::{self, IgnoredAny},
};

use crate::{
    workload::{
        arrivals::ArrivalSpec,
        senders::SenderSpec,
        trace::{TraceColumns, TraceFormat, Unsorted},
    },
    yaml::Value,
};

/// A scenario: one question about a router, with all that is needed to answer it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "routelab scenario")]
pub struct ScenarioFile {
    /// The question in a sentence.
    pub purpose: String,
    /// Whether a lasting state or a passing event is studied.
    pub kind: Kind,
    /// Whose behaviour the router follows. Default: litellm-1.110.
    #[serde(default)]
    #[schemars(schema_with = "profile_schema")]
    pub profile: Option<ProfileName>,
    /// What the wall clock shows when the run begins, e.g. `2024-01-01T00:00:50Z`: usage windows and
    /// quotas live in wall-clock minutes. Default: a Monday midnight, at the edge of a minute.
    #[serde(default)]
    pub starts_at: Option<String>,
    /// A LiteLLM `config.yaml`: its content, or its path from this file's folder.
    #[schemars(schema_with = "litellm_schema")]
    pub litellm: IgnoredAny,
    /// LiteLLM's price registry (`model_prices_and_context_window.json`): its path, looked for in this
    /// file's folder and then in the current one. Without it only the prices that stand in the config
    /// are known.
    #[serde(default)]
    pub prices: Option<String>,
    /// What the upstreams do: by deployment id, else `model_name`, else `litellm_params.model` (`*`
    /// stands for any text), else `default`. A deployment that no key matches behaves as usual for
    /// its provider.
    #[serde(default)]
    #[schemars(with = "Option<BTreeMap<String, ProviderSpec>>")]
    pub providers: Option<IgnoredAny>,
    /// Who asks what, when.
    #[schemars(with = "WorkloadSpec")]
    pub workload: IgnoredAny,
    /// How many instances of the router there are. Requests go round them, and reports count them as
    /// one system.
    #[serde(default)]
    #[schemars(with = "Option<InstancesSpec>")]
    pub instances: Option<IgnoredAny>,
    /// What stands between those who ask and the router: a client library that tries again, gives up and
    /// hangs up. Default: nothing; each request is asked once and waited for.
    #[serde(default)]
    #[schemars(with = "Option<ClientSpec>")]
    pub client: Option<IgnoredAny>,
    /// What an operator does while the run goes on.
    #[serde(default)]
    #[schemars(with = "Option<Vec<ActionSpec>>")]
    pub actions: Option<IgnoredAny>,
    /// What counts as good service.
    #[serde(default)]
    #[schemars(with = "Option<SloSpec>")]
    pub slo: Option<IgnoredAny>,
    /// Axes of the grid: each a list of values. An axis is a key of LiteLLM's `router_settings` or a
    /// path into this file. `replications` may stand here too.
    #[serde(default)]
    #[schemars(schema_with = "sweep_schema")]
    pub sweep: Option<IgnoredAny>,
    /// Axis → value of the arm that the others are compared with. An axis that is not named takes
    /// its first value.
    #[serde(default)]
    #[schemars(schema_with = "labels_schema")]
    pub reference: Option<IgnoredAny>,
    /// Where all randomness begins. Default: 1.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Runs of each arm, each with its own luck. Default: 10, the least for a published claim.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub replications: Option<u32>,
    /// What must hold; judged after the run.
    #[serde(default)]
    pub expect: Vec<ExpectSpec>,
}

/// What is studied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A lasting state: the start-up belongs to no result.
    Steady,
    /// A passing event such as an outage: every request counts from the first to the last.
    Terminating,
}

/// `workload`: generated (`arrivals`, `lengths`, `duration_s`) or recorded (`trace`).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// When requests come.
    #[serde(default)]
    pub arrivals: Option<ArrivalSpec>,
    /// Tokens of prompts and answers: a preset, or distributions, or a file of pairs.
    #[serde(default)]
    pub lengths: Option<NameOr<LengthsSpec>>,
    /// Requests as they were recorded.
    #[serde(default)]
    pub trace: Option<TraceSpec>,
    /// The models asked for with their shares, or the name of the only one. Default: the first model
    /// group of the config.
    #[serde(default)]
    pub models: Option<NameOr<BTreeMap<String, f64>>>,
    /// How long requests come, in seconds.
    #[serde(default)]
    pub duration_s: Option<f64>,
    /// Share of the requests that ask for a stream, from 0 to 1. Default: 0.
    #[serde(default)]
    pub stream_share: Option<f64>,
    /// The callers' limit on answers, in tokens. Default: none.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// Who sends, by a name of one's choice: shares of the requests with what they have in common.
    /// Default: requests of nobody in particular, each unlike all others. Traces are not asked who sent
    /// their requests; senders hold for recorded requests too.
    #[serde(default)]
    pub senders: Option<BTreeMap<String, SenderSpec>>,
}

/// `workload.lengths`: `prompt` and `output`, or `file`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthsSpec {
    /// Tokens of a prompt.
    #[serde(default)]
    pub prompt: Option<LengthSpec>,
    /// Tokens of an answer.
    #[serde(default)]
    pub output: Option<LengthSpec>,
    /// A CSV with the columns `num_prefill_tokens` and `num_decode_tokens`; rows are drawn whole.
    #[serde(default)]
    pub file: Option<String>,
}

/// A distribution of token counts.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LengthSpec {
    /// Always this many.
    Constant(u32),
    /// Points of a distribution function or values of a file.
    Empirical(EmpiricalSpec),
    /// A logarithm that is normal.
    LogNormal(LogNormalSpec),
}

/// `empirical`: one of `file` and `points`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmpiricalSpec {
    /// A JSON list of `[tokens, share at or below]`, or a CSV of which `column` is drawn from.
    #[serde(default)]
    pub file: Option<String>,
    /// The column of a CSV.
    #[serde(default)]
    pub column: Option<String>,
    /// `[tokens, share at or below]`, rising, the last share 1; straight lines between.
    #[serde(default)]
    pub points: Option<Vec<(f64, f64)>>,
}

/// `log_normal`: `ln_mean` and `ln_sigma`, or `p50` and `p95`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormalSpec {
    /// Mean of the natural logarithm.
    #[serde(default)]
    pub ln_mean: Option<f64>,
    /// Deviation of the natural logarithm.
    #[serde(default)]
    pub ln_sigma: Option<f64>,
    /// Median, in tokens.
    #[serde(default)]
    pub p50: Option<f64>,
    /// 95th percentile, in tokens.
    #[serde(default)]
    pub p95: Option<f64>,
    /// Shorter draws are raised to this. Default: 1.
    #[serde(default)]
    pub at_least: Option<u32>,
    /// Longer draws are cut to this. Default: 100 million.
    #[serde(default)]
    pub at_most: Option<u32>,
}

/// `workload.trace`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Its path, looked for in this file's folder and then in the current one.
    pub file: String,
    /// Its format. Default: by its header.
    #[serde(default)]
    pub format: Option<TraceFormat>,
    /// The columns of a CSV of no known format.
    #[serde(default)]
    pub columns: Option<TraceColumns>,
    /// How many times as many requests a second as recorded. Default: 1.
    #[serde(default)]
    pub rate_multiplier: Option<f64>,
    /// First second that is played, as recorded. Default: 0.
    #[serde(default)]
    pub from_s: Option<f64>,
    /// The second at which it ends, as recorded. Default: the trace's end.
    #[serde(default)]
    pub to_s: Option<f64>,
    /// How many times over single requests are played. Default: 1.
    #[serde(default)]
    pub repeat: Option<u32>,
    /// What to do about times that run back. Default: refuse.
    #[serde(default)]
    pub unsorted: Option<Unsorted>,
    /// Share of rows that may be dropped before the trace is refused. Default: 0.1.
    #[serde(default)]
    pub max_dropped_share: Option<f64>,
}

/// `instances`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstancesSpec {
    /// How many. Default: 1.
    #[serde(default, deserialize_with = "crate::whole::between::<_, 1, 1_000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub count: Option<u32>,
    /// Whether they share a store (Redis), and so learn of each other's cooldowns and counts as the
    /// profile says. Default: true if the LiteLLM config names a Redis (`redis_url`, or `redis_host` with
    /// `redis_port`, in `router_settings`), else false: each then knows itself only, and limits hold
    /// for each.
    #[serde(default)]
    pub shared_state: Option<bool>,
}

/// `client`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientSpec {
    /// Whose library it is, which decides what holds where the other keys say nothing, and how long it
    /// waits between two tries. Default: openai.
    #[serde(default)]
    pub sdk: Option<SdkSpec>,
    /// How often it tries again, from 0 to 100. Default: what the library does.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub max_retries: Option<u32>,
    /// How long it lets the router be silent, in seconds: until the whole answer or, if that is streamed,
    /// until its first token and between two of them. Default: what the library does.
    #[serde(default)]
    pub timeout_s: Option<f64>,
    /// When whoever asked goes away, tries and waits together. Default: never.
    #[serde(default)]
    pub patience: Option<PatienceSpec>,
}

/// `client.sdk`: published defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SdkSpec {
    /// `anthropic` for Python: 2 retries, 600 s, and it waits as long as it is told to.
    Anthropic,
    /// No library: no retry and no timeout.
    None,
    /// `openai` for Python: 2 retries, 600 s, and it fails when it is told to wait for over two minutes.
    #[default]
    Openai,
}

/// `client.patience`: `constant_s`, or `p50_s` and `p95_s` of a log-normal distribution.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatienceSpec {
    /// Everybody's, in seconds.
    #[serde(default)]
    pub constant_s: Option<f64>,
    /// Median, in seconds.
    #[serde(default)]
    pub p50_s: Option<f64>,
    /// 95th percentile, in seconds.
    #[serde(default)]
    pub p95_s: Option<f64>,
}

/// One item of `actions`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionSpec {
    /// When, in seconds since the run's beginning.
    pub at_s: f64,
    /// What.
    #[serde(rename = "do")]
    pub deed: DeedSpec,
    /// The id of the deployment that it is done to. Default: all.
    #[serde(default)]
    pub deployment: Option<String>,
}

/// `do`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeedSpec {
    /// End running cooldowns, so that their deployments are eligible at once.
    ClearCooldowns,
}

/// `slo`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SloSpec {
    /// Longest good time to the end of an answer, in seconds.
    #[serde(default)]
    pub latency_s: Option<f64>,
    /// Longest good time to the first token, in seconds.
    #[serde(default)]
    pub first_token_s: Option<f64>,
}

/// One item of `expect`: at least one of `at_least` and `at_most`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    /// The metric's name, as in a report.
    pub metric: String,
    /// Its mean over replications must not be below.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// Its mean over replications must not be above.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// Axis → value: only arms with all of these. Default: every arm.
    #[serde(default, rename = "where")]
    #[schemars(schema_with = "labels_schema")]
    pub filter: BTreeMap<String, Value>,
}

/// A name that stands for something ready-made, or the thing itself.
#[derive(Clone, PartialEq, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum NameOr<T> {
    /// Its name.
    Name(String),
    /// Written out.
    Given(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOr<T> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrVisitor(std::marker::PhantomData))
    }
}

struct NameOrVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for NameOrVisitor<T> {
    type Value = NameOr<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a name, or the thing written out")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<NameOr<T>, E> {
        Ok(NameOr::Name(name.to_owned()))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<NameOr<T>, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(map)).map(NameOr::Given)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, items: A) -> Result<NameOr<T>, A::Error> {
        T::deserialize(de::value::SeqAccessDeserializer::new(items)).map(NameOr::Given)
    }
}

/// The schema of the file, as committed in `scenario.schema.json`.
#[must_use]
pub fn schema_json() -> String {
    let schema = schemars::schema_for!(ScenarioFile);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text.push('\n');
    text
}

fn profile_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ProfileName::ALL.map(ProfileName::as_str) })
}

fn litellm_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["object", "string"] })
}

fn labels_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["object", "null"] })
}

fn sweep_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "properties": { "replications": { "type": "integer", "minimum": 1 } },
        "additionalProperties": { "type": "array", "minItems": 1 }
    })
}
