//! Each failure is charged once, to the deployment that produced it, and only if it is at fault
//! (invariant 13).
//!
//! A charge shows as a cooldown: it must come in the same step as a failure of the very deployment, or a
//! refusal of it by the router's own limits, once; never after a success; and in `corrected` neither for
//! a full queue, a caller's own time limit or a missing object, nor for a bad request that no policy
//! names. Deployments of one `quota_group` are benched together there.

use router::{Cause, DeploymentId, ErrorClass, Event, Failure, Input, Outcome, RequestId, Router};
use scenarios::RunPlan;

use super::rule::{Found, Now, Rule};

/// Invariant 13.
#[derive(Debug)]
pub(super) struct Blame {
    /// By deployment: the account that it shares with others.
    accounts: Vec<Option<String>>,
    /// What failed in the step under way, and who was benched for it.
    failed: Option<(RequestId, DeploymentId, Option<Failure>)>,
    benched: Vec<DeploymentId>,
    spares: bool,
}

impl Blame {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let shares = plan.router.profile.corrections.shared_quotas;
        let accounts = plan.router.deployments.iter();
        let accounts = accounts.map(|d| d.quota_group.clone().filter(|_| shares));
        Self {
            accounts: accounts.collect(),
            failed: None,
            benched: Vec::new(),
            spares: plan.router.profile.corrections.backpressure_is_no_failure,
        }
    }

    fn why_not(&self, deployment: DeploymentId, request: RequestId) -> Option<String> {
        let Some((whose, failed, failure)) = self.failed else {
            return Some("nobody failed".to_owned());
        };
        let account = |d: DeploymentId| self.accounts[d.index()].as_ref();
        let shared = account(failed).is_some() && account(failed) == account(deployment);
        if whose != request || (failed != deployment && !shared) {
            return Some(format!("it was {failed:?} that failed, for {whose}"));
        }
        if self.benched.contains(&deployment) {
            return Some("it was benched for that before".to_owned());
        }
        let failure = failure.filter(|_| self.spares)?;
        let innocent = matches!(failure.cause, Cause::Backpressure | Cause::CallersLimit);
        innocent.then(|| format!("the failure is nobody's: {:?}", failure.cause))
    }
}

impl Rule for Blame {
    fn input(&mut self, _now: &Now<'_>, _router: &Router, _input: &Input<'_>, _found: &mut Found) {
        self.failed = None;
        self.benched.clear();
    }

    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        if let Event::Finished {
            request,
            deployment,
            outcome,
            ..
        } = *event
        {
            self.benched.clear();
            self.failed = match outcome {
                Outcome::Failure(failure) => Some((request, deployment, Some(*failure))),
                Outcome::Success { .. } => None,
            };
        } else if let Event::LimitRefused {
            request,
            deployment: Some(deployment),
            ..
        } = *event
        {
            self.benched.clear();
            self.failed = Some((request, deployment, None));
        } else if let Event::CooledDown {
            request,
            deployment,
            why,
            ..
        } = *event
        {
            let id = &now.plan.router.deployments[deployment.index()].id;
            if let Some(what) = self.why_not(deployment, request) {
                found.add(13, now, request, format_args!("{id} is benched: {what}"));
            }
            let class = self.failed.and_then(|(_, _, failure)| Some(failure?.class));
            let refused = why == router::CooldownReason::RateLimited;
            if refused && class.is_some_and(|class| class != ErrorClass::RateLimit) {
                let what = format_args!("{id} is benched as rate-limited, for {class:?}");
                found.add(14, now, request, what);
            }
            self.benched.push(deployment);
        }
    }
}
