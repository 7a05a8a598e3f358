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

#[cfg(test)]
mod tests {
    use router::{Failure, Instant};
    use scenarios::RunPlan;
    use serde_json::json;

    use super::*;
    use crate::swarm::plan_of;

    /// One deployment of three requests a minute, under a profile and this much of `router_settings`.
    fn plan(profile: &str, settings: &serde_json::Value) -> RunPlan {
        let tree = json!({
            "purpose": "A limit.",
            "kind": "terminating",
            "litellm": {
                "model_list": [
                    {"model_name": "g", "litellm_params": {"model": "openai/a", "rpm": 3}},
                ],
                "router_settings": settings,
            },
            "profile": profile,
            "providers": {"default": {"latency": {"first_token": {"constant": {"ms": 1}}}}},
            "workload": {
                "arrivals": {"constant": {"per_second": 1}},
                "lengths": {"prompt": {"constant": 10}, "output": {"constant": 5}},
                "duration_s": 1,
            },
        });
        plan_of(&tree).unwrap()
    }

    fn by_usage(ttl: u32) -> serde_json::Value {
        json!({
            "routing_strategy": "usage-based-routing-v2",
            "routing_strategy_args": {"ttl": ttl},
        })
    }

    /// Sends this many at each of these seconds; gives the invariant that was found broken first, and
    /// by which of them all.
    fn first_over(plan: &RunPlan, moments: &[(f64, u64)]) -> Option<(u8, u64)> {
        let mut limits = Limits::default();
        let mut found = Found::default();
        let mut number = 0;
        for &(second, times) in moments {
            let at = Instant::from_secs_f64(second);
            let now = Now {
                plan,
                at,
                instance: 0,
            };
            for _ in 0..times {
                number += 1;
                let sent = Event::Sent {
                    request: RequestId(number),
                    deployment: DeploymentId(0),
                    attempt: 0,
                };
                limits.event(&now, &sent, &mut found);
                if let [first, ..] = &found.clone().into_violations()[..] {
                    return Some((first.invariant, number));
                }
            }
        }
        None
    }

    #[test]
    fn one_more_than_its_rpm_in_a_minute_of_the_wall_clock_is_found() {
        let checks = json!({"optional_pre_call_checks": ["enforce_model_rate_limits"]});
        for (settings, invariant) in [(checks, 17), (by_usage(60), 18)] {
            let plan = plan("litellm-1.110", &settings);

            assert_eq!(first_over(&plan, &[(0.0, 3), (60.0, 3)]), None);
            assert_eq!(
                first_over(&plan, &[(0.0, 3), (59.0, 1)]),
                Some((invariant, 4))
            );
        }
        let plan = plan("litellm-1.110", &json!({}));
        assert_eq!(first_over(&plan, &[(0.0, 9)]), None, "nobody limits it");
    }

    #[test]
    fn a_reservation_overshoots_as_often_as_its_ttl_passes_in_a_minute_and_once_more_is_found() {
        let old = plan("litellm-1.110", &by_usage(25));
        let moments = [(0.0, 3), (25.0, 3), (50.0, 3)];

        assert_eq!(first_over(&old, &moments), None);
        assert_eq!(first_over(&old, &[(0.0, 9), (1.0, 1)]), Some((18, 10)));
        let corrected = plan("corrected", &by_usage(25));
        assert_eq!(first_over(&corrected, &moments), Some((18, 4)));
    }

    #[test]
    fn only_corrected_gives_back_what_was_wrong_before_it_was_sent() {
        for (profile, over) in [("corrected", None), ("litellm-1.110", Some(18))] {
            let plan = plan(profile, &by_usage(60));
            let mut limits = Limits::default();
            let mut found = Found::default();
            let now = Now {
                plan: &plan,
                at: Instant::ZERO,
                instance: 0,
            };
            let wrong = Outcome::Failure(Failure {
                cause: Cause::Request,
                ..Failure::with_status(400)
            });
            let (request, deployment, attempt) = (RequestId(1), DeploymentId(0), 0);
            for _ in 0..4 {
                let sent = Event::Sent {
                    request,
                    deployment,
                    attempt,
                };
                let ended = Event::Finished {
                    request,
                    deployment,
                    attempt,
                    took: std::time::Duration::ZERO,
                    outcome: &wrong,
                };
                limits.event(&now, &sent, &mut found);
                limits.event(&now, &ended, &mut found);
            }

            let broken = found.into_violations();
            assert_eq!(broken.first().map(|one| one.invariant), over, "{profile}");
        }
    }
}
