//! The router's own counts of requests and tokens a minute, and the two checks that refuse an
//! attempt by them before anybody is called: the reservation of `usage-based-routing-v2` and
//! `enforce_model_rate_limits`. (semantics 3.5 and 8.4)
//!
//! Counts are kept by deployment and UTC minute and are of both checks: with both in use each attempt
//! and each token counts twice. A check that is in use anywhere looks at every attempt (observed).

use std::time::Duration;

use crate::{
    admission::Admission,
    config::{DeploymentConfig, RouterConfig},
    directory::TargetKind,
    observe::{Event, Observer},
    outcome::Usage,
    request::DeploymentId,
    route_error::{RateLimitedBy, RouteError},
    router::Router,
    shared_counts::{CountLooks, SharedCounts},
    step::Ticket,
    strategy::{StrategySpec, UsageArgs},
    time::{Epoch, Instant, whole_seconds_up},
    usage_window::UsageWindow,
    window::MinuteCount,
};

/// The counts of all deployments, and who checks them.
#[derive(Debug)]
pub(crate) struct RateLimits {
    pub(crate) epoch: Epoch,
    /// The arguments of `usage-based-routing-v2`, while it is in use.
    reserves: Option<UsageArgs>,
    /// Its arguments while it is told of answers.
    hears: Option<UsageArgs>,
    /// `enforce_model_rate_limits`.
    enforces: bool,
    refused_requests_count: bool,
    reserves_after_the_instant: bool,
    /// By deployment; empty while nobody checks.
    pub(crate) counts: Vec<Counts>,
    /// The counts of all instances, while the shared store is lent.
    pub(crate) shared: Option<Box<SharedCounts>>,
    /// By deployment: when the store may be asked again; empty without one.
    pub(crate) looks: Vec<CountLooks>,
    enforces_shared_tokens: bool,
    /// Over which time `corrected` counts.
    window: Option<UsageWindow>,
    /// What keeps the limits in the place of all this, in the profile `corrected`.
    pub(crate) admission: Option<Box<Admission>>,
}

/// What a deployment was asked and what it answered in the minute under way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: MinuteCount,
    pub(crate) tokens: MinuteCount,
    /// When the last request was counted, and what was counted before that moment.
    last: Option<(Instant, Option<u64>)>,
}

impl Counts {
    fn note(&mut self, now: Instant, minute: u64) {
        if self.last.is_none_or(|(at, _)| at < now) {
            self.last = Some((now, self.requests.at(now, minute)));
        }
    }
}

/// A deployment's counts in the minute under way. `None`: nothing was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ThisMinute {
    pub(crate) requests: Option<u64>,
    pub(crate) tokens: Option<u64>,
}

impl RateLimits {
    pub(crate) fn new(config: &RouterConfig, reserves: Option<UsageArgs>) -> Self {
        let checks = &config.settings.optional_pre_call_checks;
        let mut limits = Self {
            epoch: config.epoch,
            reserves: None,
            hears: None,
            enforces: checks.enforce_model_rate_limits,
            refused_requests_count: config.profile.refused_requests_count,
            reserves_after_the_instant: config.profile.reserves_after_the_instant,
            counts: Vec::new(),
            shared: None,
            looks: Vec::new(),
            enforces_shared_tokens: config.profile.sharing.enforced_tokens,
            window: config
                .profile
                .corrections
                .usage_is_reserved
                .then_some(config.settings.usage_window),
            admission: None,
        };
        limits.reserve(reserves, reserves, config.deployments.len());
        limits
    }

    /// Whether `enforce_model_rate_limits` is on.
    pub(crate) const fn enforces(&self) -> bool {
        self.enforces
    }

    pub(crate) fn enforce(&mut self, on: bool) {
        self.enforces = on;
    }

    /// Whether `usage-based-routing-v2` reserves and hears of answers from now on, and with which
    /// arguments. What was counted stays.
    pub(crate) fn reserve(
        &mut self,
        reserves: Option<UsageArgs>,
        hears: Option<UsageArgs>,
        deployments: usize,
    ) {
        self.reserves = reserves;
        self.hears = hears;
        match self.window.filter(|_| self.is_on()) {
            Some(window) if self.admission.is_none() => {
                self.admission = Some(Box::new(Admission::new(self.epoch, window, deployments)));
            }
            Some(_) => {}
            None if self.is_on() => self.counts.resize(deployments, Counts::default()),
            None => self.admission = None,
        }
    }

    /// Whether anybody checks.
    pub(crate) const fn is_on(&self) -> bool {
        self.reserves.is_some() || self.enforces
    }

    /// What was counted for a deployment, as the choice of `usage-based-routing-v2` sees it.
    pub(crate) fn this_minute(&self, now: Instant, deployment: DeploymentId) -> ThisMinute {
        let minute = self.epoch.minute(now);
        let Some(counts) = self.counts.get(deployment.index()) else {
            return ThisMinute::default();
        };
        let requests = match counts.last {
            Some((at, before)) if at == now && self.reserves_after_the_instant => before,
            _ => counts.requests.at(now, minute),
        };
        ThisMinute {
            requests,
            tokens: counts.tokens.at(now, minute),
        }
    }

    /// Whether an attempt may be made; what is counted before it is counted here.
    pub(crate) fn before_call(
        &mut self,
        now: Instant,
        deployment: DeploymentId,
        config: &DeploymentConfig,
    ) -> Result<(), RateLimitedBy> {
        let Some(counts) = self.counts.get_mut(deployment.index()) else {
            return Ok(());
        };
        let minute = self.epoch.minute(now);
        let mut shared = self.shared.as_deref_mut();
        if let Some(shared) = &mut shared {
            shared.bring_back(now, minute, deployment, &mut counts.requests);
        }
        counts.note(now, minute);
        if let Some(args) = self.reserves {
            let over = |requests: u64| config.rpm_limit().is_some_and(|limit| requests > limit);
            let full = |requests: u64| config.rpm_limit().is_some_and(|limit| requests >= limit);
            if counts.requests.at(now, minute).is_some_and(full) {
                return Err(RateLimitedBy::UsageReservation);
            }
            if let Some(shared) = &mut shared {
                shared.reserve(deployment, args.ttl);
            }
            if over(counts.requests.add(now, minute, args.ttl, 1)) {
                return Err(RateLimitedBy::UsageReservation);
            }
        }
        if self.enforces {
            let full = |tokens: u64| config.tpm_limit().is_some_and(|limit| tokens >= limit);
            let tokens = match &shared {
                Some(shared) if self.enforces_shared_tokens => {
                    shared.tokens(now, minute, deployment)
                }
                Some(_) | None => counts.tokens.at(now, minute),
            };
            if tokens.is_some_and(full) {
                return Err(RateLimitedBy::ModelRateLimits);
            }
            if let Some(limit) = config.rpm_limit() {
                let own = counts.requests.add(now, minute, COUNT_TTL, 1);
                let all = match &mut shared {
                    Some(shared) => shared.add_request(now, minute, deployment, COUNT_TTL),
                    None => own,
                };
                if all > limit {
                    if !self.refused_requests_count {
                        counts.requests.take_back();
                        if let Some(shared) = &mut shared {
                            shared.take_request_back(deployment);
                        }
                    }
                    return Err(RateLimitedBy::ModelRateLimits);
                }
            }
        }
        Ok(())
    }

    /// Whether anybody goes by what was counted, now or before.
    #[inline]
    pub(crate) const fn counts_anything(&self) -> bool {
        !self.counts.is_empty()
    }

    /// A deployment answered.
    #[inline(never)]
    pub(crate) fn answered(&mut self, now: Instant, deployment: DeploymentId, usage: Usage) {
        let Some(counts) = self.counts.get_mut(deployment.index()) else {
            return;
        };
        let minute = self.epoch.minute(now);
        let enforces = self.enforces.then_some(COUNT_TTL);
        let hears = self.hears.map(|args| args.ttl);
        for ttl in hears.into_iter().chain(enforces) {
            counts.tokens.add(now, minute, ttl, usage.total());
            if let Some(shared) = &mut self.shared {
                shared.add_tokens(now, minute, deployment, ttl, usage.total());
            }
        }
    }
}

impl Router {
    /// The checks before a call, for an attempt that is about to be sent. A refusal is judged as a
    /// 429 that nobody said: it may bench the deployment for the router's time, but counts as no
    /// failure of it. Blocking calls judge nothing (observed). (semantics 2.4, Q40)
    pub(crate) fn check_rate_limits(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> Result<(), RouteError> {
        let config = &self.config.deployments[deployment.index()];
        let state = self.requests.peek(ticket);
        let (request, blocking) = (state.request.id, state.request.is_blocking());
        // A blocking call by a deployment's id knows no checks (observed).
        let by_id = self.registry.target(state.hop.group).kind == TargetKind::Deployment;
        if self.rate_limits.admission.is_some() {
            return self.admit(now, ticket, deployment, obs);
        }
        if blocking && by_id {
            return Ok(());
        }
        let Err(by) = self.rate_limits.before_call(now, deployment, config) else {
            return Ok(());
        };
        obs.observe(
            now,
            &Event::LimitRefused {
                request,
                deployment: Some(deployment),
                by,
            },
        );
        if !blocking {
            self.charge(now, ticket, deployment, None, obs);
        }
        let told = !blocking || by != RateLimitedBy::UsageReservation;
        Err(RouteError::RateLimited {
            deployment: Some(deployment),
            by,
            retry_after: if told {
                self.to_the_next_minute(now)
            } else {
                0
            },
        })
    }

    /// The strategy found nobody, although there were candidates. (semantics 3.5, 4.7)
    pub(crate) fn nobody_fits(
        &self,
        now: Instant,
        ticket: Ticket,
        blocking: bool,
        obs: &mut impl Observer,
    ) -> RouteError {
        let state = self.requests.peek(ticket);
        let group = state.hop.group;
        let by_usage = match self.strategies.of(group) {
            StrategySpec::UsageBasedV2(_) => true,
            StrategySpec::UsageBased(_) => self.rate_limits.admission.is_some(),
            StrategySpec::SimpleShuffle
            | StrategySpec::LeastBusy
            | StrategySpec::LowestLatency(_)
            | StrategySpec::LowestCost
            | StrategySpec::ProviderBudget
            | StrategySpec::Priority => false,
        };
        if !by_usage {
            return self.no_deployments(now, group);
        }
        let frees = self.fits_in(now, ticket);
        if blocking && frees.is_none() {
            return RouteError::OverUsageLimits;
        }
        let by = RateLimitedBy::UsageChoice;
        let request = state.request.id;
        obs.observe(
            now,
            &Event::LimitRefused {
                request,
                deployment: None,
                by,
            },
        );
        RouteError::RateLimited {
            deployment: None,
            by,
            retry_after: frees.unwrap_or_else(|| self.to_the_next_minute(now)),
        }
    }

    /// The `retry-after` of a refusal. LiteLLM always says a minute; where the hint is what is left,
    /// it is the time to the end of the window. (BR-019)
    fn to_the_next_minute(&self, now: Instant) -> u32 {
        if !self.config.profile.corrections.hint_is_time_left {
            return RETRY_AFTER_S;
        }
        let left = whole_seconds_up(self.config.epoch.next_minute(now).since(now));
        u32::try_from(left.as_secs()).unwrap_or(RETRY_AFTER_S)
    }
}

/// The `retry-after` of a refusal, in seconds. (semantics 3.5, 8.4)
const RETRY_AFTER_S: u32 = 60;
/// How long a minute's counts live, from the first. (semantics 0: RPM/TPM key TTL)
const COUNT_TTL: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
