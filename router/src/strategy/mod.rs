//! Which candidate gets the attempt. A strategy is chosen as data ([`StrategySpec`]) and runs as a
//! stateful object ([`RoutingStrategy`]); a new one is a new file, a variant and a build arm.
//!
//! A strategy sees only candidates: whoever is cooled, blocked or excluded was taken out before.

mod least_busy;
mod lowest_latency;
mod simple_shuffle;

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    config::DeploymentConfig,
    outcome::Outcome,
    profile::Profile,
    request::{DeploymentId, ModelId, Request},
    rng::KeyedRng,
    time::{Epoch, Instant},
};

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
}

impl StrategySpec {
    /// LiteLLM's name of each strategy that is built here.
    pub const NAMES: [&'static str; 3] = ["simple-shuffle", "least-busy", "latency-based-routing"];

    /// The strategy with no history.
    #[must_use]
    pub fn build(&self, profile: &Profile, epoch: Epoch) -> Box<dyn RoutingStrategy> {
        match self {
            Self::SimpleShuffle => {
                Box::new(simple_shuffle::SimpleShuffle::new(profile.shuffle_metric))
            }
            Self::LeastBusy => Box::new(least_busy::LeastBusy::new(profile.least_busy)),
            Self::LowestLatency(args) => {
                Box::new(lowest_latency::LowestLatency::new(*args, profile, epoch))
            }
        }
    }

    /// LiteLLM's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SimpleShuffle => "simple-shuffle",
            Self::LeastBusy => "least-busy",
            Self::LowestLatency(_) => "latency-based-routing",
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
}

impl Default for LowestLatencyArgs {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(3_600),
            lowest_latency_buffer: 0.0,
            max_latency_list_size: 10,
            ttft_percentile: None,
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
    /// The name that is being served: the one asked for, or the fallback's.
    pub group: ModelId,
    /// For whom.
    pub request: &'a Request,
    /// Settings of all deployments, by id.
    pub deployments: &'a [DeploymentConfig],
}

impl PickContext<'_> {
    /// Settings of a deployment.
    #[must_use]
    pub fn config(&self, deployment: DeploymentId) -> &DeploymentConfig {
        &self.deployments[deployment.index()]
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        config::RouterConfig,
        outcome::{ErrorClass, Failure, Usage},
        request::RequestId,
        rng::{Purpose, Seed},
    };

    /// `n` deployments of one group.
    pub(crate) fn deployments(n: usize) -> Vec<DeploymentConfig> {
        let ids = ["a", "b", "c"];
        RouterConfig::of_deployments(ids)
            .deployments
            .into_iter()
            .take(n)
            .collect()
    }

    /// A strategy and its surroundings, driven by hand.
    pub(crate) struct Fixture {
        strategy: Box<dyn RoutingStrategy>,
        configs: Vec<DeploymentConfig>,
        now: Instant,
    }

    impl Fixture {
        pub(crate) fn new(
            spec: StrategySpec,
            configs: Vec<DeploymentConfig>,
            profile: Profile,
        ) -> Self {
            let strategy = spec.build(&profile, Epoch::default());
            Self {
                strategy,
                configs,
                now: Instant::ZERO,
            }
        }

        pub(crate) fn len(&self) -> usize {
            self.configs.len()
        }

        pub(crate) fn at(&mut self, seconds: f64) {
            self.now = Instant::from_secs_f64(seconds);
        }

        pub(crate) fn pick(
            &mut self,
            request: u64,
            members: &[u32],
            whole: bool,
        ) -> Option<DeploymentId> {
            let members: Vec<_> = members.iter().copied().map(DeploymentId).collect();
            let request = asked(request);
            let cx = PickContext {
                now: self.now,
                group: ModelId(0),
                request: &request,
                deployments: &self.configs,
            };
            let mut rng = KeyedRng::new(Seed(1), Purpose::named("test.pick"), request.id.0, 0);
            self.strategy.pick(
                &cx,
                &Candidates {
                    members: &members,
                    whole,
                },
                &mut rng,
            )
        }

        pub(crate) fn sent(&mut self, deployment: DeploymentId) {
            let request = asked(0);
            self.strategy.on_sent(self.now, &sent(&request, deployment));
        }

        /// An answer of one token that took so long.
        pub(crate) fn succeeded(&mut self, deployment: DeploymentId, seconds: f64) {
            let usage = Usage::new(10, 1);
            let outcome = Outcome::Success {
                usage,
                first_token_after: None,
            };
            self.finished(deployment, seconds, &outcome);
        }

        pub(crate) fn failed(&mut self, deployment: DeploymentId, class: ErrorClass) {
            self.finished(deployment, 0.0, &Outcome::Failure(Failure::of(class)));
        }

        fn finished(&mut self, deployment: DeploymentId, seconds: f64, outcome: &Outcome) {
            let request = asked(0);
            let took = Duration::from_secs_f64(seconds);
            self.strategy
                .on_finished(self.now, &sent(&request, deployment), took, outcome);
        }
    }

    fn asked(id: u64) -> Request {
        Request {
            id: RequestId(id),
            model: ModelId(0),
            prompt_tokens: 10,
            max_tokens: None,
            stream: false,
            origin: crate::request::Origin::default(),
            overrides: None,
        }
    }

    fn sent(request: &Request, deployment: DeploymentId) -> Sent<'_> {
        Sent {
            group: ModelId(0),
            deployment,
            stream: request.stream,
            request,
        }
    }

    #[test]
    fn every_strategy_file_has_a_name_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/strategy");
        let files = std::fs::read_dir(folder).unwrap().count();

        assert_eq!(
            files,
            StrategySpec::NAMES.len() + 1,
            "one file for each, and this one"
        );
    }
}
