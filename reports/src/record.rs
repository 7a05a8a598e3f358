//! What is kept of a run and of a sweep: plain data that can be stored, merged and compared.
//!
//! Times are seconds since the run began. A number that is not known is `None`, never 0.

use router::{CooldownReason, ErrorClass, FallbackReason};
use serde::{Deserialize, Serialize};

use crate::{
    blame::BlameCount, calls::CallsRecord, capacity::CapacityRecord, distribution::Distribution,
    probe::ProbeRecord, senders::SenderRecord,
};

/// Everything that one run left behind. Its size does not depend on the number of requests.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunRecord {
    /// Which arm of the sweep it belongs to; set by the simulator.
    pub arm: usize,
    /// Which replication of its arm it is, from 0; set by the simulator.
    pub replication: u32,
    /// How long requests kept arriving.
    pub duration_s: f64,
    /// When the last request had ended.
    pub end_s: f64,
    /// The start-up that is left out: requests that arrived before are in no number of this record. 0 but
    /// in studies of a lasting state.
    #[serde(default, skip_serializing_if = "no_seconds")]
    pub warm_up_s: f64,
    /// Longest latency that the service level allows, if it bounds latency.
    pub slo_latency_s: Option<f64>,
    /// Longest time to the first token that it allows, if it bounds that.
    pub slo_first_token_s: Option<f64>,

    /// Requests that arrived.
    pub requests: u64,
    /// Requests that were answered.
    pub completed: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests whose caller went away.
    pub cancelled: u64,
    /// Requests without an answer when the record was closed: 0 if the run was drained.
    pub unfinished: u64,
    /// Completed requests within every bound of the service level; `None` if it has no bound.
    pub good: Option<u64>,
    /// Requests that a router could have answered well at most that knew everything beforehand; set by
    /// the simulator if it is asked for and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindsight_good: Option<u64>,
    /// Why requests failed, most frequent first.
    pub errors: Vec<AnswerError>,
    /// Who is to blame for the requests without an answer (failed or cancelled), one blame each, in
    /// the order of [`Blame::ALL`](crate::Blame::ALL) without those that nobody has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blames: Vec<BlameCount>,

    /// Arrival to answer, of completed requests.
    pub latency: Distribution,
    /// Arrival to answer, of completed and failed requests.
    pub latency_all: Distribution,
    /// Arrival to first token, of completed requests.
    pub first_token: Distribution,

    /// Attempts that were sent.
    pub attempts: u64,
    /// Answered requests (completed or failed) by attempts sent: index 0 is none, the last index is
    /// [`RunRecord::MOST_ATTEMPTS`] or more.
    pub requests_by_attempts: Vec<u64>,
    /// Retries within a group that were decided.
    pub retries: u64,
    /// Moves to another group, tier or remaining set, by reason.
    pub fallbacks: Vec<FallbackCount>,
    /// Times that no deployment could be picked.
    pub nothing_to_pick: u64,
    /// Attempts refused before sending because all slots of the deployment were in use.
    pub slots_refused: u64,
    /// Times that a request waited for a slot.
    pub parked: u64,
    /// Attempts refused before sending by the router's own counts of requests or tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub limits_refused: u64,
    /// Requests that the response cache answered: nobody was called for the answer, and it costs nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_hits: u64,
    /// Copies of requests that went to silent models. Nobody waits for them: they are in no other
    /// number of requests, attempts, errors, retries or times.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mirrors: u64,
    /// Time that answered requests spent in backoff and parked, together.
    pub waited_s: f64,
    /// Time that answered requests spent in attempts that failed, together.
    pub in_failed_attempts_s: f64,

    /// Each deployment, in the order of the `model_list`.
    pub deployments: Vec<DeploymentRecord>,
    /// The run by time.
    pub timeline: Timeline,
    /// When providers were at fault; set by the simulator.
    pub fault_spans: Vec<FaultSpanRecord>,
    /// Each sender that the scenario names, and `(others)`; set by the simulator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<SenderRecord>,
    /// What the users of a client library in front of the router saw; `None` in scenarios without one;
    /// set by the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallsRecord>,
}

impl RunRecord {
    /// From here on, [`RunRecord::requests_by_attempts`] counts together.
    pub const MOST_ATTEMPTS: usize = 16;

    /// Tokens × price over all deployments, in US dollars; `None` if the price of any billed token is unknown.
    #[must_use]
    pub fn cost_usd(&self) -> Option<f64> {
        self.deployments
            .iter()
            .map(|deployment| deployment.cost_usd)
            .sum()
    }

    /// Attempts that failed.
    #[must_use]
    pub fn failed_attempts(&self) -> u64 {
        self.deployments
            .iter()
            .map(DeploymentRecord::failures)
            .sum()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How often requests failed in one way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AnswerError {
    /// Name of LiteLLM's exception.
    pub exception: String,
    /// Who said so.
    pub origin: ErrorOrigin,
    /// The status that the caller sees.
    pub status: Option<u16>,
    /// How often.
    pub count: u64,
}

/// Who made an error that a caller sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorOrigin {
    /// The attempt's provider, or the way to it.
    Provider,
    /// The router: no deployment available, slots in use, unknown model.
    Router,
}

/// How often requests moved on for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FallbackCount {
    /// By which list.
    pub why: FallbackReason,
    /// How often.
    pub count: u64,
}

/// What one deployment saw.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct DeploymentRecord {
    /// `model_info.id`.
    pub id: String,
    /// Its `model_name`.
    pub group: String,
    /// The provider behind it.
    pub provider: String,
    /// Times that the strategy chose it.
    pub picks: u64,
    /// Attempts sent to it.
    pub sent: u64,
    /// Attempts that succeeded.
    pub successes: u64,
    /// Attempts sent to it for mirrors, which are not in `sent`, `successes` and `errors`; their tokens
    /// are billed and their load is in `in_flight_max` and the timeline.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mirrored: u64,
    /// Those of them that failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mirrored_failed: u64,
    /// Requests that the response cache answered in its place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_hits: u64,
    /// Attempts that failed, by error class and status, most frequent first.
    pub errors: Vec<AttemptError>,
    /// Prompt tokens billed by attempts that succeeded, mirrored ones too.
    pub prompt_tokens: u64,
    /// Answer tokens billed by attempts that succeeded, mirrored ones too.
    pub completion_tokens: u64,
    /// Prompt tokens that the provider had in its own cache; part of `prompt_tokens`.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Answer tokens that had been delivered by streams that then broke.
    pub tokens_lost: u64,
    /// Billed tokens × price in US dollars; `None` if the price of any of them is unknown.
    pub cost_usd: Option<f64>,
    /// Most attempts in flight at one moment.
    pub in_flight_max: u32,
    /// Time in cooldown until the run's end, overlapping cooldowns counted once.
    pub cooled_s: f64,
    /// Cooldowns begun or renewed.
    pub cooldowns: u64,
    /// The first cooldown spans, for drawing.
    pub cooldown_spans: Vec<CooldownSpan>,
    /// Spans beyond the first [`DeploymentRecord::SPANS_KEPT`], counted only.
    pub cooldown_spans_dropped: u64,
}

impl DeploymentRecord {
    /// Most cooldown spans that are kept of one deployment.
    pub const SPANS_KEPT: usize = 2_000;

    /// Attempts that reached it, those for mirrors included.
    #[must_use]
    pub const fn load(&self) -> u64 {
        self.sent + self.mirrored
    }

    /// Attempts that failed.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }

    /// Attempts that the provider refused with 429.
    #[must_use]
    pub fn rate_limited(&self) -> u64 {
        self.failures_of(ErrorClass::RateLimit)
    }

    /// Attempts that failed with one class.
    #[must_use]
    pub fn failures_of(&self, class: ErrorClass) -> u64 {
        self.errors
            .iter()
            .filter(|error| error.class == class)
            .map(|error| error.count)
            .sum()
    }
}

/// How often attempts failed in one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AttemptError {
    /// The exception that it becomes.
    pub class: ErrorClass,
    /// HTTP status, if there was one.
    pub status: Option<u16>,
    /// How often.
    pub count: u64,
}

/// A time that a deployment spent benched.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct CooldownSpan {
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// The rule that began it.
    pub why: CooldownReason,
}

/// A time that a provider was at fault.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FaultSpanRecord {
    /// Index of the deployment in front of it.
    pub deployment: usize,
    /// The failure mode's name, such as `outage`.
    pub kind: String,
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
}

/// A run by time, in buckets of equal length.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of a bucket.
    pub bucket_s: f64,
    /// From the run's beginning to its end.
    pub buckets: Vec<TimeBucket>,
    /// The first [`Timeline::DEPLOYMENTS_KEPT`] deployments by time.
    pub deployments: Vec<DeploymentTimeline>,
}

impl Timeline {
    /// Buckets into which the time of arrivals is divided. The time after the last arrival gets as
    /// many again; after that, buckets double in length.
    pub const BUCKETS: usize = 240;
    /// Most deployments that are followed by time.
    pub const DEPLOYMENTS_KEPT: usize = 32;
}

/// What happened in one bucket of time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TimeBucket {
    /// Requests that arrived.
    pub arrived: u32,
    /// Requests that completed.
    pub completed: u32,
    /// Requests that failed.
    pub failed: u32,
    /// Latencies of those that completed here, together.
    pub latency_sum_s: f64,
    /// Longest of them.
    pub latency_max_s: f64,
    /// Most unfinished requests at one moment.
    pub unfinished_max: u32,
}

/// What happened at one deployment, bucket by bucket.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct DeploymentTimeline {
    /// Attempts sent.
    pub sent: Vec<u32>,
    /// Attempts that ended as failures.
    pub failed: Vec<u32>,
}

/// One value of an axis for each arm, and the runs of each arm.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SweepRecord {
    /// Name of the scenario.
    pub title: String,
    /// Its question.
    pub purpose: String,
    /// The command that makes this record again.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// Seed of the whole sweep.
    pub seed: u64,
    /// Replications asked for.
    pub replications: u32,
    /// Name of the router's profile.
    pub profile: String,
    /// What was varied; none for a single run.
    pub axes: Vec<AxisRecord>,
    /// The combinations, last axis fastest.
    pub arms: Vec<ArmRecord>,
    /// Index of the arm that the others are compared with.
    pub reference: usize,
    /// Whether the sweep was interrupted before all of its runs were done.
    pub partial: bool,
    /// What was found, where a search made the record; it stands in the place of the headline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<String>,
    /// What is needed, where a capacity plan made the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityRecord>,
    /// What a push did, where a probe made the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeRecord>,
    /// What the reader should know, such as rows dropped from a trace.
    pub notes: Vec<String>,
    /// Providers of the scenario that hit no deployment of the configuration, in words: what they were to
    /// do, such as an outage, did not happen. Every report warns of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Keys of the configuration that have no effect, with the reason.
    pub ignored: Vec<String>,
    /// The scenario as it was written.
    pub scenario_text: String,
}

/// Something that was varied.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AxisRecord {
    /// The setting.
    pub name: String,
    /// Its values, in the order of the file.
    pub values: Vec<String>,
}

/// One combination of settings with its runs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ArmRecord {
    /// (axis, value) in the order of the axes.
    pub labels: Vec<(String, String)>,
    /// Its runs, by replication.
    pub runs: Vec<RunRecord>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn no_seconds(seconds: &f64) -> bool {
    *seconds == 0.0
}
