//! Exclusions come before preferences (invariant 15): whoever was passed over is not picked, the lowest
//! order tier goes first unless another is asked for, and in `corrected` a pin is a preference among
//! those who are left, so that it never leaves nobody, nor leads to limits that refuse. A pin that is in
//! force is followed, and returned to (invariant 20). A weight of zero is a weight, and not none
//! (invariant 16).

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use router::{
    CallerId, DeploymentId, Event, FallbackReason, Input, Instant, PassedOver, PinsYield, Request,
    RequestId, Router, SessionId, ShuffleMetric, StrategySpec,
};
use scenarios::RunPlan;

use super::rule::{Found, Now, Rule};

/// Invariants 15, 16 and 20.
#[derive(Debug)]
pub(super) struct Preferences {
    /// Places of `model_name`s, by deployment.
    groups: Vec<usize>,
    /// By deployment; the last of all for who has none.
    tiers: Vec<i64>,
    /// Nobody but the config's own `order` decides tiers.
    plain_tiers: bool,
    by_session: bool,
    ttl: Duration,
    of: BTreeMap<RequestId, Asked>,
    pins: BTreeMap<Key, Pin>,
}

#[derive(Debug)]
struct Asked {
    session: Option<SessionId>,
    caller: Option<CallerId>,
    blocking: bool,
    /// An order tier other than the lowest is asked for.
    tier_asked: bool,
    /// Who was passed over since the last choice, and why.
    passed: Vec<(DeploymentId, PassedOver)>,
    /// The choice under way followed a pin.
    followed_pin: bool,
    /// The client library is about to call again, which pins nothing.
    client_waits: bool,
}

/// An instance, a group, a session and whose it is.
type Key = (usize, usize, SessionId, Option<CallerId>);

#[derive(Clone, Copy, Debug)]
struct Pin {
    deployment: DeploymentId,
    ends: Instant,
}

impl Preferences {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let deployments = &plan.router.deployments;
        let first = |name: &str| deployments.iter().position(|d| d.model_name == name);
        let groups = deployments
            .iter()
            .map(|d| first(&d.model_name).unwrap_or_default());
        let settings = &plan.router.settings;
        let checks = &settings.optional_pre_call_checks;
        let by_session = checks.session_affinity
            && settings.model_group_affinity_config.is_empty()
            && !settings.session_affinity_repin_on_failover;
        Self {
            groups: groups.collect(),
            tiers: deployments
                .iter()
                .map(|d| d.order.unwrap_or(i64::MAX))
                .collect(),
            plain_tiers: settings.routing_groups.is_empty(),
            by_session,
            ttl: settings.deployment_affinity_ttl.unwrap_or(AN_HOUR),
            of: BTreeMap::new(),
            pins: BTreeMap::new(),
        }
    }

    fn key(&self, now: &Now<'_>, asked: &Asked, deployment: DeploymentId) -> Option<Key> {
        let by_caller = now.plan.router.profile.sessions_by_caller;
        let caller = asked.caller.filter(|_| by_caller);
        let group = self.groups[deployment.index()];
        let usage_v1 = matches!(
            now.plan.router.settings.routing_strategy,
            StrategySpec::UsageBased(_)
        );
        let as_blocking = usage_v1 && now.plan.router.profile.usage_v1_picks_as_blocking;
        let pins = self.by_session && !asked.blocking && !as_blocking && !now.shares();
        Some((now.instance, group, asked.session.filter(|_| pins)?, caller))
    }

    fn picked(
        &self,
        now: &Now<'_>,
        (request, deployment): (RequestId, DeploymentId),
        candidates: u32,
        found: &mut Found,
    ) {
        let Some(asked) = self.of.get(&request) else {
            return;
        };
        let id = |d: DeploymentId| &now.plan.router.deployments[d.index()].id;
        let was_passed = |d: DeploymentId| asked.passed.iter().find(|(other, _)| *other == d);
        if let Some((_, why)) = was_passed(deployment) {
            let what = format_args!("{} was picked, and passed over: {why:?}", id(deployment));
            found.add(15, now, request, what);
        }
        let own = self.tiers[deployment.index()];
        let skips = |(d, why): &&(DeploymentId, PassedOver)| {
            *why == PassedOver::OtherOrderTier && self.tiers[d.index()] < own
        };
        let checks_tiers = self.plain_tiers && !asked.tier_asked;
        if let Some((other, _)) = asked.passed.iter().find(skips).filter(|_| checks_tiers) {
            let (picked, other) = (id(deployment), id(*other));
            let what = format_args!("{picked} of tier {own} was picked, {other} comes before it");
            found.add(15, now, request, what);
        }
        if let Some(key) = self.key(now, asked, deployment)
            && let Some(pin) = self.pins.get(&key).filter(|pin| now.at < pin.ends)
            && pin.deployment != deployment
            && was_passed(pin.deployment).is_none()
        {
            let (picked, pinned) = (id(deployment), id(pin.deployment));
            let what = format_args!(
                "{picked} was picked, the session's pin is {pinned}, which nothing excludes"
            );
            found.add(20, now, request, what);
        }
        self.weighed(now, (request, deployment), candidates, found);
    }

    /// Whoever has a weight of zero serves nothing while somebody has one above zero.
    fn weighed(
        &self,
        now: &Now<'_>,
        (request, deployment): (RequestId, DeploymentId),
        candidates: u32,
        found: &mut Found,
    ) {
        let router = &now.plan.router;
        let shuffles = router.settings.routing_strategy == StrategySpec::SimpleShuffle
            && router.profile.shuffle_metric == ShuffleMetric::AnyCandidate
            && router.settings.routing_groups.is_empty();
        let is_zero = |d: DeploymentId| {
            router.deployments[d.index()]
                .weight
                .is_some_and(|w| w <= 0.0)
        };
        let Some(asked) = self
            .of
            .get(&request)
            .filter(|_| shuffles && is_zero(deployment))
        else {
            return;
        };
        let group = self.groups[deployment.index()];
        let passed: BTreeSet<DeploymentId> = asked.passed.iter().map(|(d, _)| *d).collect();
        let others: Vec<DeploymentId> = (0..)
            .map(DeploymentId)
            .take(self.groups.len())
            .filter(|d| self.groups[d.index()] == group && !passed.contains(d))
            .collect();
        let weighs = |d: &&DeploymentId| {
            router.deployments[d.index()]
                .weight
                .is_some_and(|w| w > 0.0)
        };
        // Else the name that is asked for has other members than its group.
        let whole = u32::try_from(others.len()) == Ok(candidates);
        if let Some(other) = others.iter().find(weighs).filter(|_| whole) {
            let ids = [deployment, *other].map(|d| &router.deployments[d.index()].id);
            let what = format_args!(
                "{} was picked with a weight of 0, beside {}",
                ids[0], ids[1]
            );
            found.add(16, now, request, what);
        }
    }

    /// A call goes out, or the cache answers in its place: that pins the session.
    fn pin(&mut self, now: &Now<'_>, request: RequestId, deployment: DeploymentId) {
        let Some(asked) = self.of.get(&request).filter(|asked| !asked.client_waits) else {
            return;
        };
        let Some(key) = self.key(now, asked, deployment) else {
            return;
        };
        let profile = &now.plan.router.profile;
        let ends = now.at + self.ttl;
        let new = Pin { deployment, ends };
        let pin = self.pins.entry(key).or_insert(new);
        if now.at >= pin.ends {
            *pin = new;
        } else if pin.deployment == deployment || !profile.pins_survive_failover {
            pin.deployment = deployment;
            pin.ends = if profile.pins_slide { ends } else { pin.ends };
        }
    }
}

impl Asked {
    fn of(request: &Request) -> Self {
        Self {
            session: request.origin.session,
            caller: request.origin.caller,
            blocking: request.is_blocking(),
            tier_asked: false,
            passed: Vec::new(),
            followed_pin: false,
            client_waits: false,
        }
    }

    /// Whether somebody was passed over since the last choice because of a pin.
    fn follows_pin(&self) -> bool {
        let by_pin = |(_, why): &(DeploymentId, PassedOver)| *why == PassedOver::PinnedElsewhere;
        self.passed.iter().any(by_pin)
    }
}

impl Rule for Preferences {
    fn input(&mut self, _now: &Now<'_>, _router: &Router, _input: &Input<'_>, _found: &mut Found) {
        for asked in self.of.values_mut() {
            asked.passed.clear();
            asked.followed_pin = false;
        }
    }

    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        if let Event::Arrived { request } = event {
            self.of.insert(request.id, Asked::of(request));
            return;
        }
        if let Event::Picked {
            request,
            deployment,
            candidates,
            ..
        } = *event
        {
            self.picked(now, (request, deployment), candidates, found);
        } else if let Event::Sent {
            request,
            deployment,
            ..
        }
        | Event::CacheHit {
            request,
            deployment,
        } = *event
        {
            self.pin(now, request, deployment);
        } else if let Event::Answered { request, .. } | Event::Cancelled { request, .. } = *event {
            self.of.remove(&request);
        }
        let Some(asked) = event.request().and_then(|id| self.of.get_mut(&id)) else {
            return;
        };
        if let Event::PassedOver {
            deployment, why, ..
        } = *event
        {
            asked.passed.push((deployment, why));
        } else if let Event::NothingToPick { request, .. } = *event {
            if asked.follows_pin() && pins_yield(now) {
                found.add(15, now, request, "a pin left nobody");
            }
            asked.passed.clear();
        } else if let Event::LimitRefused { request, .. } = *event {
            if asked.followed_pin && pins_yield(now) {
                found.add(15, now, request, "a pin led to limits that refuse");
            }
        } else if let Event::Picked { .. } = event {
            asked.followed_pin = asked.follows_pin();
            asked.passed.clear();
        } else if let Event::FellBack { why, .. } = event {
            let leaks = now.plan.router.profile.order_pin_leaks && asked.tier_asked;
            asked.tier_asked = *why == FallbackReason::OrderTier || leaks;
            asked.passed.clear();
        } else if let Event::Waiting { why, .. } = event {
            asked.client_waits = *why == router::WaitReason::ClientRetry;
        } else if let Event::Sent { .. } = event {
            asked.client_waits = false;
        }
    }
}

/// Whether a pin is a preference among those who could be sent.
fn pins_yield(now: &Now<'_>) -> bool {
    now.plan.router.profile.pins_yield == PinsYield::ToEverything
}

/// `deployment_affinity_ttl_seconds` where it is not set.
const AN_HOUR: Duration = Duration::from_hours(1);
