//! A strategy and its surroundings, driven by hand.

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
    spec: StrategySpec,
    strategy: Box<dyn RoutingStrategy>,
    configs: Vec<DeploymentConfig>,
    pub(crate) limits: RateLimits,
    pub(crate) states: Vec<DeploymentState>,
    pub(crate) blocking: bool,
    now: Instant,
}

impl Fixture {
    pub(crate) fn new(
        spec: StrategySpec,
        configs: Vec<DeploymentConfig>,
        profile: Profile,
    ) -> Self {
        let config = RouterConfig {
            profile,
            deployments: configs.clone(),
            ..RouterConfig::default()
        };
        let reserves = matches!(spec, StrategySpec::UsageBasedV2(_)).then(UsageArgs::default);
        let limits = RateLimits::new(&config, reserves);
        Self {
            strategy: spec.build(&profile, Epoch::default()),
            states: configs.iter().map(|_| DeploymentState::default()).collect(),
            spec,
            configs,
            limits,
            blocking: false,
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
            spec: &self.spec,
            blocking: self.blocking,
            deployments: &self.configs,
            limits: &self.limits,
            states: &self.states,
            shared: None,
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

    /// The router counted an answer.
    pub(crate) fn answered(&mut self, deployment: DeploymentId, usage: Usage) {
        self.limits.answered(self.now, deployment, usage);
    }

    /// Whether the router lets an attempt go out.
    pub(crate) fn reserved(&mut self, deployment: DeploymentId) -> bool {
        let config = &self.configs[deployment.index()];
        self.limits
            .before_call(self.now, deployment, config)
            .is_ok()
    }

    pub(crate) fn finished(&mut self, deployment: DeploymentId, seconds: f64, outcome: &Outcome) {
        let mut request = asked(0);
        request.overrides = self.blocking.then(|| {
            std::sync::Arc::new(crate::Overrides {
                blocking: true,
                ..crate::Overrides::default()
            })
        });
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
fn every_name_names_the_strategy_that_is_called_so() {
    let others = ["provider-budget-routing", "priority"];
    for name in StrategySpec::NAMES.into_iter().chain(others) {
        assert_eq!(StrategySpec::named(name).map(|s| s.name()), Some(name));
    }
    assert_eq!(StrategySpec::named("nobody"), None);
}

#[test]
fn every_strategy_file_has_a_name_in_the_table() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/strategy");
    let files = std::fs::read_dir(folder).unwrap().count();

    assert_eq!(
        files,
        StrategySpec::NAMES.len() + 3,
        "one file for each, for the strategy that picks nobody, mod.rs and this one"
    );
}
