//! The router's own limits on requests a minute: `enforce_model_rate_limits` never lets more through
//! than `rpm` in a minute of the wall clock (invariant 17), and the reservation of
//! `usage-based-routing-v2` no more than its stated overshoot (invariant 18): nothing, but where its
//! `ttl` is shorter than the minute, which begins the count anew each time it has passed.
//!
//! Each instance counts for itself. Not counted are blocking calls by a deployment's id, and the tries of
//! a client library inside an attempt.

use std::collections::{BTreeMap, BTreeSet};

use router::{Cause, DeploymentId, Event, Outcome, RequestId, StrategySpec, WaitReason};

use super::rule::{Found, Now, Rule};

/// Invariants 17 and 18.
#[derive(Debug, Default)]
pub(super) struct Limits {
    blocking: BTreeSet<RequestId>,
    client_waits: BTreeSet<RequestId>,
    sent: BTreeMap<Key, u64>,
    /// Where the attempt under way of each request was counted.
    counted: BTreeMap<RequestId, Key>,
}

/// An instance, a deployment and a minute of the wall clock.
type Key = (usize, DeploymentId, u64);

impl Limits {
    fn count(
        &mut self,
        now: &Now<'_>,
        request: RequestId,
        deployment: DeploymentId,
        found: &mut Found,
    ) {
        if self.client_waits.remove(&request) || self.blocking.contains(&request) {
            return;
        }
        let router = &now.plan.router;
        let of = &router.deployments[deployment.index()];
        let Some(rpm) = of.rpm.or(of.model_info_rpm) else {
            return;
        };
        let wall_s = router.epoch.unix_seconds() + now.at.as_nanos() / 1_000_000_000;
        let key = (now.instance, deployment, wall_s / 60);
        self.counted.insert(request, key);
        let sent = self.sent.entry(key).or_default();
        *sent += 1;
        let settings = &router.settings;
        let enforces = settings.optional_pre_call_checks.enforce_model_rate_limits;
        let reserves = match &settings.routing_strategy {
            StrategySpec::UsageBasedV2(args) => Some(args.ttl.as_secs()),
            StrategySpec::UsageBased(args) if router.profile.corrections.usage_is_reserved => {
                Some(args.ttl.as_secs())
            }
            StrategySpec::SimpleShuffle
            | StrategySpec::LeastBusy
            | StrategySpec::LowestLatency(_)
            | StrategySpec::LowestCost
            | StrategySpec::ProviderBudget
            | StrategySpec::UsageBased(_)
            | StrategySpec::Priority => None,
        };
        let times = match reserves {
            Some(ttl) if !router.profile.corrections.usage_is_reserved => {
                60_u64.div_ceil(ttl.max(1))
            }
            Some(_) | None => 1,
        };
        let most = rpm * times;
        let invariant = if reserves.is_some() { 18 } else { 17 };
        if (enforces || reserves.is_some()) && *sent > most {
            let what = format_args!("{} was sent {sent} in a minute, its rpm is {rpm}", of.id);
            match invariant {
                17 => found.add(17, now, request, what),
                _ => found.add(18, now, request, what),
            }
        }
    }
}

impl Rule for Limits {
    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        if let Event::Arrived { request } = event {
            if request.is_blocking() {
                self.blocking.insert(request.id);
            }
        } else if let Event::Waiting {
            request,
            why: WaitReason::ClientRetry,
            ..
        } = *event
        {
            self.client_waits.insert(request);
        } else if let Event::Sent {
            request,
            deployment,
            ..
        } = *event
        {
            self.count(now, request, deployment, found);
        } else if let Event::Finished {
            request,
            outcome: Outcome::Failure(failure),
            ..
        } = *event
        {
            // What was wrong with it was found before anything was sent: that is given back.
            let reserves = now.plan.router.profile.corrections.usage_is_reserved;
            let unsent = reserves && failure.cause == Cause::Request;
            if let Some(key) = self.counted.remove(&request).filter(|_| unsent)
                && let Some(sent) = self.sent.get_mut(&key)
            {
                *sent -= 1;
            }
        } else if let Event::Answered { request, .. } | Event::Cancelled { request, .. } = *event {
            self.blocking.remove(&request);
            self.client_waits.remove(&request);
        }
    }
}
