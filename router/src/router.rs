//! The router, and what it does with each input (`inputs.rs`): one [`Turn`].
//!
//! Decisions are made elsewhere: `candidates` says who may be picked, `ladder` what follows a
//! failure, and `dispatch` keeps the books of attempts.

use std::time::Duration;

use crate::{
    config::{RetryPolicy, RouterConfig},
    deployment::DeploymentState,
    dispatch::Instead,
    ended::Ended,
    error::ConfigError,
    fallback::ListsGiven,
    filters::OptionalFilters,
    in_flight::InFlight,
    ladder::Next,
    mirroring::Mirrors,
    observe::{Event, Observer},
    outcome::{Outcome, Reached},
    plan::Fixed,
    quota::Quotas,
    rate_limits::RateLimits,
    registry::Registry,
    request::{DeploymentId, ModelId, Request, RequestId},
    response_cache::ResponseCache,
    rng::Seed,
    routing_groups,
    scheduler::Queues,
    shared_state::{Looks, SharedState},
    step::{Attempt, Parked, Step, Turn, Wait, WaitReason},
    strategies::Strategies,
    time::Instant,
};

/// An LLM router as a state machine: it decides, and never acts.
///
/// Inputs must come in order of time. The driving loop is shown at the head of this crate.
#[derive(Debug)]
pub struct Router {
    pub(crate) config: RouterConfig,
    pub(crate) seed: Seed,
    /// Its number among the instances of one configuration.
    pub(crate) instance: u32,
    pub(crate) registry: Registry,
    pub(crate) lists_given: ListsGiven,
    /// By model: the retry policy in force.
    pub(crate) retry_policies: Vec<Option<RetryPolicy>>,
    pub(crate) strategies: Strategies,
    pub(crate) rate_limits: RateLimits,
    pub(crate) filters: Option<Box<OptionalFilters>>,
    pub(crate) states: Vec<DeploymentState>,
    /// By deployment: what does not change.
    pub(crate) fixed: Vec<Fixed>,
    pub(crate) quotas: Option<Box<Quotas>>,
    pub(crate) requests: InFlight,
    /// A blocking call failed, and with it the library's `num_retries` is gone, in 1.92.
    pub(crate) librarys_retries_are_gone: bool,
    /// Whether some deployment's weight is a text.
    pub(crate) text_weights: bool,
    /// How many failures of all requests are remembered, in 1.92.
    pub(crate) failures_remembered: u32,
    pub(crate) queues: Queues,
    pub(crate) response_cache: Option<Box<ResponseCache>>,
    pub(crate) mirrors: Mirrors,
    /// The shared store, while it is lent.
    pub(crate) shared: Option<Box<SharedState>>,
    /// What it remembers of the shared store, if there is one.
    pub(crate) looks: Option<Box<Looks>>,
    /// From this moment on no deployment is in cooldown.
    pub(crate) all_warm_at: Instant,
    /// Scratch of the pick under way.
    pub(crate) candidates: Vec<DeploymentId>,
    /// The moment of the latest input.
    #[cfg(debug_assertions)]
    pub(crate) latest: Instant,
}

impl Router {
    /// Builds a router.
    ///
    /// # Errors
    /// If there is no deployment, or a number of one makes no sense.
    pub fn new(config: &RouterConfig, seed: Seed) -> Result<Self, ConfigError> {
        check(config)?;
        routing_groups::check(&config.settings, &config.profile)?;
        let settings = &config.settings;
        let registry = Registry::new(config);
        let strategies = Strategies::new(settings, config.profile, config.epoch);
        let mut router = Self {
            seed,
            instance: 0,
            lists_given: ListsGiven::new(settings),
            retry_policies: Vec::new(),
            rate_limits: RateLimits::new(config, strategies.usage_v2().0),
            strategies,
            filters: OptionalFilters::new(config)?,
            states: config
                .deployments
                .iter()
                .map(|_| DeploymentState::default())
                .collect(),
            fixed: config
                .deployments
                .iter()
                .map(|d| Fixed::new(d, settings, &registry))
                .collect(),
            registry,
            quotas: Quotas::new(config),
            requests: InFlight::default(),
            librarys_retries_are_gone: false,
            text_weights: config.deployments.iter().any(|d| d.weight_is_text),
            failures_remembered: 0,
            queues: Queues::default(),
            response_cache: ResponseCache::new(settings),
            mirrors: Mirrors::default(),
            shared: None,
            looks: None,
            all_warm_at: Instant::ZERO,
            candidates: Vec::with_capacity(config.deployments.len()),
            #[cfg(debug_assertions)]
            latest: Instant::ZERO,
            config: config.clone(),
        };
        router.learn_names();
        Ok(router)
    }

    /// The id of a model name. Names that nobody serves have one too: asking for them is answered
    /// as LiteLLM answers it.
    pub fn model(&mut self, name: &str) -> ModelId {
        let id = self.registry.model(name);
        self.learn_names();
        id
    }

    /// The name behind an id.
    #[must_use]
    pub fn model_name(&self, model: ModelId) -> &str {
        self.registry.name(model)
    }

    /// Whether a name has an id already.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.registry.known(name).is_some()
    }

    /// How many names have an id. An id is never given up, so whoever takes names from strangers
    /// looks here before it asks for another.
    #[must_use]
    pub fn names(&self) -> usize {
        self.registry.len()
    }

    pub(crate) fn take_request(
        &mut self,
        now: Instant,
        request: Request,
        obs: &mut impl Observer,
    ) -> Turn {
        obs.observe(now, &Event::Arrived { request: &request });
        let group = self.registry.at_the_door(request.model);
        let brings_settings = request.overrides.is_some();
        let ticket = self.requests.insert(now, request, group);
        if brings_settings {
            self.learn_own_fallbacks(ticket);
        }
        if self.is_scheduled(ticket) {
            let next = self.enter_queue(now, ticket);
            return self.go_on(now, ticket, next, obs);
        }
        self.try_hop(now, ticket, obs)
    }

    #[inline(never)]
    pub(crate) fn take_first_token(
        &mut self,
        now: Instant,
        attempt: &Attempt,
        obs: &mut impl Observer,
    ) -> Option<RequestId> {
        let state = self.requests.at_the_door(attempt.ticket);
        let after = now.since(state.since);
        state.first_token_after = Some(after);
        let (request, deployment) = (attempt.request, attempt.deployment);
        obs.observe(
            now,
            &Event::FirstToken {
                request,
                deployment,
                after,
            },
        );
        if self.config.profile.streams_hold_slot || !state.request.stream {
            return None;
        }
        self.release_slot(attempt.ticket, deployment)
    }

    pub(crate) fn take_outcome(
        &mut self,
        now: Instant,
        attempt: Attempt,
        outcome: &Outcome,
        obs: &mut impl Observer,
    ) -> Turn {
        let Attempt {
            ticket,
            request,
            deployment,
            number,
        } = attempt;
        let state = self.requests.at_the_door(ticket);
        let took = now.since(state.since);
        let heard_nothing =
            matches!(outcome, Outcome::Failure(f) if f.reached() == Reached::Headers);
        let seen = state.as_the_client_sees(outcome, &self.config.profile);
        let outcome = seen.as_ref().unwrap_or(outcome);
        obs.observe(
            now,
            &Event::Finished {
                request,
                deployment,
                attempt: number,
                took,
                outcome,
            },
        );
        self.one_less_in_flight(deployment);
        if let Outcome::Failure(failure) = outcome
            && let Some(until) = self.client_retry(now, ticket, deployment, failure)
        {
            let next = Next::Wait(until, WaitReason::ClientRetry);
            return self.go_on(now, ticket, next, obs);
        }
        let released = self.release_slot(ticket, deployment);
        if self.rate_limits.admission.is_some() {
            self.settle(ticket, Some(outcome));
        }
        let ended = Ended {
            deployment,
            outcome,
            took,
            heard_nothing,
            released,
        };
        match outcome {
            Outcome::Success {
                usage,
                first_token_after,
            } => self.completed(now, ticket, &ended, *usage, *first_token_after, obs),
            Outcome::Failure(failure) => self.failed(now, ticket, &ended, failure, obs),
        }
    }

    #[inline(never)]
    pub(crate) fn take_end_of_wait(
        &mut self,
        now: Instant,
        wait: Wait,
        obs: &mut impl Observer,
    ) -> Turn {
        let state = self.requests.at_the_door(wait.ticket);
        state.waited += now.since(state.since);
        if let Some(deployment) = state.client.waits_at.take() {
            return Turn::of(Step::Send(self.call(now, wait.ticket, deployment, obs)));
        }
        let next = match wait.why {
            WaitReason::Queue => self.poll_queue(now, wait.ticket),
            WaitReason::Backoff | WaitReason::ClientRetry | WaitReason::RetryAfter => {
                self.after_wait(now, wait.ticket, obs)
            }
        };
        self.go_on(now, wait.ticket, next, obs)
    }

    pub(crate) fn take_slot(
        &mut self,
        now: Instant,
        parked: Parked,
        obs: &mut impl Observer,
    ) -> Turn {
        let state = self.requests.at_the_door(parked.ticket);
        assert!(
            state.rare.slot_granted,
            "request {} was not released",
            parked.request
        );
        state.rare.slot_granted = false;
        state.waited += now.since(state.since);
        match self.send(now, parked.ticket, parked.deployment, true, obs) {
            Ok(attempt) => Turn::of(Step::Send(attempt)),
            Err(Instead::Done(turn)) => turn,
            Err(Instead::Failed(error)) => {
                let released = self.release_slot(parked.ticket, parked.deployment);
                self.drop_probe(parked.ticket);
                let next = self.after_failure(now, parked.ticket, error, obs);
                self.go_on_beside(now, parked.ticket, next, released, obs)
            }
        }
    }

    /// Until when a deployment is in cooldown, if it is.
    #[must_use]
    pub fn cooled_until(&self, now: Instant, deployment: DeploymentId) -> Option<Instant> {
        self.states[deployment.index()].returns_at(now)
    }

    /// The length that a running cooldown was given last.
    #[must_use]
    pub fn cooldown_length(&self, now: Instant, deployment: DeploymentId) -> Option<Duration> {
        let state = &self.states[deployment.index()];
        state.cooled_at(now).map(|_| state.cooldown_shown())
    }

    /// Attempts in flight at a deployment.
    #[must_use]
    pub fn in_flight(&self, deployment: DeploymentId) -> u32 {
        self.states[deployment.index()].in_flight
    }

    /// Slots of a deployment that are in use, or kept for a request that was released.
    #[must_use]
    pub fn slots_taken(&self, deployment: DeploymentId) -> u32 {
        self.states[deployment.index()].slots_taken
    }

    /// Unfinished requests.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.requests.len()
    }

    /// What the router was built from.
    #[must_use]
    pub const fn config(&self) -> &RouterConfig {
        &self.config
    }
}

fn check(config: &RouterConfig) -> Result<(), ConfigError> {
    let found = config.deployments.len();
    if found > MOST_DEPLOYMENTS {
        return Err(ConfigError::TooManyDeployments {
            found,
            most: MOST_DEPLOYMENTS,
        });
    }
    for deployment in &config.deployments {
        let model = &deployment.model;
        if !model.is_empty() && !deployment.has_known_provider() {
            return Err(ConfigError::UnknownProvider {
                deployment: deployment.id.clone(),
                model: model.clone(),
            });
        }
        let weight = deployment.weight;
        if let Some(found) = weight.filter(|w| !w.is_finite()) {
            return Err(ConfigError::BadNumber {
                key: "weight",
                deployment: deployment.id.clone(),
                found,
                accepted: "a finite number",
            });
        }
        let numbers = [
            ("input_cost_per_token", deployment.own_prices.input),
            ("output_cost_per_token", deployment.own_prices.output),
        ];
        for (key, value) in numbers {
            if let Some(found) = value.filter(|v| !v.is_finite() || *v < 0.0) {
                let deployment = deployment.id.clone();
                let accepted = "a finite number of zero or more";
                return Err(ConfigError::BadNumber {
                    key,
                    deployment,
                    found,
                    accepted,
                });
            }
        }
    }
    Ok(())
}

/// Enough for any router; ids are 32 bits wide.
const MOST_DEPLOYMENTS: usize = 1_000_000;
