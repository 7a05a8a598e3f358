//! Which candidate gets the attempt. A strategy is chosen as data ([`StrategySpec`]) and runs as a
//! stateful object ([`RoutingStrategy`]); a new one is a new file, a variant and a build arm.
//!
//! A strategy sees only candidates: whoever is cooled, blocked or excluded was taken out before.
//! Selectors of one strategy share an object: see `strategies`.

mod least_busy;
mod lowest_cost;
mod lowest_latency;
mod provider_budget;
pub(crate) mod simple_shuffle;
#[cfg(test)]
pub(crate) mod tests;
mod usage_based;
mod usage_based_v2;

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    config::DeploymentConfig,
    deployment::DeploymentState,
    outcome::Outcome,
    profile::Profile,
    rate_limits::RateLimits,
    request::{DeploymentId, ModelId, Request},
    rng::KeyedRng,
    shared_state::{SharedState, SharedStore},
    time::{Epoch, Instant},
};

pub(crate) use self::{least_busy::Books as SharedBusy, usage_based::Minutes as SharedUsage};

/// `routing_strategy` with its `routing_strategy_args`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrategySpec {
    /// `simple-shuffle`: at random, by weight, else rpm, else tpm, else evenly.
    #[default]
    SimpleShuffle,
    /// `least-busy`: fewest attempts in flight.
    LeastBusy,
    /// `latency-based-routing`: lowest mean latency of late.
    #[serde(rename = "latency-based-routing")]
    LowestLatency(LowestLatencyArgs),
    /// `cost-based-routing`: lowest price of an input and an output token together.
    #[serde(rename = "cost-based-routing")]
    LowestCost,
    /// `usage-based-routing`: fewest tokens answered in this minute.
    #[serde(rename = "usage-based-routing")]
    UsageBased(UsageArgs),
    /// `usage-based-routing-v2`: fewest tokens answered in this minute, and requests are reserved.
    #[serde(rename = "usage-based-routing-v2")]
    UsageBasedV2(UsageArgs),
    /// `provider-budget-routing`: nobody, ever.
    #[serde(rename = "provider-budget-routing")]
    ProviderBudget,
    /// `priority`: the members of a routing group in the order of its `model_priorities`. Only for
    /// `routing_groups`, in 1.110 (semantics 1.8).
    Priority,
}

impl StrategySpec {
    /// Whether it draws by weight.
    pub(crate) const fn shuffles(&self) -> bool {
        matches!(self, Self::SimpleShuffle | Self::Priority)
    }

    /// LiteLLM's name of each strategy that can be the router's `routing_strategy` and picks
    /// somebody. A routing group may have `priority` too.
    pub const NAMES: [&'static str; 6] = [
        "simple-shuffle",
        "least-busy",
        "latency-based-routing",
        "cost-based-routing",
        "usage-based-routing",
        "usage-based-routing-v2",
    ];

    /// The strategy of this name, also one that is not in [`Self::NAMES`], with LiteLLM's default arguments.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "simple-shuffle" => Self::SimpleShuffle,
            "least-busy" => Self::LeastBusy,
            "latency-based-routing" => Self::LowestLatency(LowestLatencyArgs::default()),
            "cost-based-routing" => Self::LowestCost,
            "usage-based-routing" => Self::UsageBased(UsageArgs::default()),
            "usage-based-routing-v2" => Self::UsageBasedV2(UsageArgs::default()),
            "provider-budget-routing" => Self::ProviderBudget,
            "priority" => Self::Priority,
            _ => return None,
        })
    }

    /// The strategy with no history.
    #[must_use]
    pub fn build(&self, profile: &Profile, epoch: Epoch) -> Box<dyn RoutingStrategy> {
        match self {
            Self::SimpleShuffle | Self::Priority => {
                Box::new(simple_shuffle::SimpleShuffle::new(profile.shuffle_metric))
            }
            Self::LeastBusy => least_busy::build(profile.least_busy),
            Self::LowestLatency(args) => {
                Box::new(lowest_latency::LowestLatency::new(*args, profile, epoch))
            }
            Self::LowestCost => Box::new(lowest_cost::LowestCost::new(profile, epoch)),
            Self::UsageBased(args) if !profile.corrections.usage_is_reserved => {
                Box::new(usage_based::UsageBased::new(*args, epoch))
            }
            Self::UsageBased(_) | Self::UsageBasedV2(_) => {
                Box::new(usage_based_v2::UsageBasedV2::default())
            }
            Self::ProviderBudget => Box::new(provider_budget::ProviderBudget),
        }
    }

    /// How long a group's map lives, from its first write, of a strategy that keeps one.
    pub(crate) const fn map_ttl(&self) -> Option<Duration> {
        match self {
            Self::LowestLatency(args) => Some(args.ttl),
            Self::LowestCost => Some(lowest_cost::MAP_TTL),
            Self::SimpleShuffle
            | Self::LeastBusy
            | Self::UsageBased(_)
            | Self::UsageBasedV2(_)
            | Self::ProviderBudget
            | Self::Priority => None,
        }
    }

    /// LiteLLM's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SimpleShuffle => "simple-shuffle",
            Self::LeastBusy => "least-busy",
            Self::LowestLatency(_) => "latency-based-routing",
            Self::LowestCost => "cost-based-routing",
            Self::UsageBased(_) => "usage-based-routing",
            Self::UsageBasedV2(_) => "usage-based-routing-v2",
            Self::ProviderBudget => "provider-budget-routing",
            Self::Priority => "priority",
        }
    }
}

/// `routing_strategy_args` of `latency-based-routing`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct LowestLatencyArgs {
    /// `ttl`: how long a group's samples live, from the first. Default 3,600 s.
    pub ttl: Duration,
    /// `lowest_latency_buffer`: candidates within this fraction of the best are equal. Default 0.
    pub lowest_latency_buffer: f64,
    /// `max_latency_list_size`: samples kept of each deployment. Default 10.
    pub max_latency_list_size: usize,
    /// `ttft_percentile` (1.110): this percentile of first-token samples in place of their mean.
    pub ttft_percentile: Option<f64>,
    /// `unmeasured_latency` with `unmeasured_decay`, both of our own and in seconds: what a deployment
    /// without samples counts as. Default: zero, as in LiteLLM, so that it gets everything until its
    /// first answer (BR-042).
    pub unmeasured: Option<Unmeasured>,
}

/// A start value that decays, as that of tower's peak-EWMA does: a newcomer is tried once the value
/// has fallen below what the others are measured at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unmeasured {
    /// The value at first: seconds for each output token, and to the first token of a stream.
    pub latency: Duration,
    /// It falls to 1/e in this time.
    pub decay: Duration,
}

/// A second, that falls to 1/e in ten.
impl Default for Unmeasured {
    fn default() -> Self {
        Self {
            latency: Duration::from_secs(1),
            decay: Duration::from_secs(10),
        }
    }
}

impl Default for LowestLatencyArgs {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(3_600),
            lowest_latency_buffer: 0.0,
            max_latency_list_size: 10,
            ttft_percentile: None,
            unmeasured: None,
        }
    }
}

/// `routing_strategy_args` of `usage-based-routing` and `usage-based-routing-v2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UsageArgs {
    /// `ttl`: how long a minute's counts live, from the first. Default 60 s.
    pub ttl: Duration,
}

impl Default for UsageArgs {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60),
        }
    }
}

/// A strategy at work.
pub trait RoutingStrategy: fmt::Debug + Send {
    /// One of the candidates, of which there is at least one. `None`: none of them fits (each is
    /// over its limits); the router answers "no deployments available".
    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        rng: &mut KeyedRng,
    ) -> Option<DeploymentId>;

    /// Whether it goes by what became of attempts, and so must be told of them.
    fn counts(&self) -> bool {
        true
    }

    /// From now on what is counted is counted by these arguments. What a pick goes by comes with the
    /// pick.
    fn configure(&mut self, _spec: &StrategySpec) {}

    /// Whether another strategy counts under the same key, so that each request counts twice, and
    /// how long the key lives then. (semantics 3.6)
    fn share_key(&mut self, _ttl: Option<Duration>) {}

    /// An attempt went out.
    fn on_sent(&mut self, _now: Instant, _sent: &Sent<'_>) {}

    /// An attempt ended after `took`.
    fn on_finished(
        &mut self,
        _now: Instant,
        _sent: &Sent<'_>,
        _took: Duration,
        _outcome: &Outcome,
    ) {
    }

    /// The response cache answered in place of an attempt that was never sent. It counts like an
    /// answer that took no time. (semantics 9.1)
    fn on_cached(&mut self, now: Instant, sent: &Sent<'_>, outcome: &Outcome) {
        self.on_finished(now, sent, Duration::ZERO, outcome);
    }

    /// The shared store is lent, or given back: what this strategy keeps there changes places with what
    /// it has here.
    fn change_places(&mut self, _store: &mut SharedStore) {}

    /// Groups have other members from now on: what was prepared for them is stale.
    fn on_groups_changed(&mut self) {}

    /// The caller went away during an attempt.
    fn on_abandoned(&mut self, _now: Instant, _sent: &Sent<'_>) {}
}

/// What a pick may look at.
#[derive(Clone, Copy, Debug)]
pub struct PickContext<'a> {
    /// The moment of the pick.
    pub now: Instant,
    /// The name whose counts are read: the one that is being served, or what it is an alias of.
    pub group: ModelId,
    /// For whom.
    pub request: &'a Request,
    /// The strategy of the group, with its arguments.
    pub spec: &'a StrategySpec,
    /// Whether the blocking path picks. (semantics 2.7)
    pub blocking: bool,
    /// Settings of all deployments, by id.
    pub deployments: &'a [DeploymentConfig],
    /// Requests and tokens of the minute, as the router itself counts them.
    pub(crate) limits: &'a RateLimits,
    /// Live state of all deployments, by id.
    pub(crate) states: &'a [DeploymentState],
    /// What all instances share, if they share a store.
    pub(crate) shared: Option<&'a SharedState>,
}

impl PickContext<'_> {
    /// Settings of a deployment.
    #[must_use]
    pub fn config(&self, deployment: DeploymentId) -> &DeploymentConfig {
        &self.deployments[deployment.index()]
    }

    /// Attempts in flight at a deployment, of all instances that share a store.
    #[must_use]
    pub fn in_flight(&self, deployment: DeploymentId) -> u32 {
        match self.shared {
            Some(shared) => shared.in_flight[deployment.index()],
            None => self.states[deployment.index()].in_flight,
        }
    }
}

/// Who may be picked, in `model_list` order.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// At least one.
    pub members: &'a [DeploymentId],
    /// Whether they are all members of the group, so that what was prepared for it can be used.
    pub whole: bool,
}

/// An attempt, as a strategy accounts for it.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The name that is being served.
    pub group: ModelId,
    /// Where it went.
    pub deployment: DeploymentId,
    /// Whether it streams.
    pub stream: bool,
    /// Whose it is.
    pub request: &'a Request,
}
