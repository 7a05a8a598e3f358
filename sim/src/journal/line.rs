//! What stands in a line of a journal.

use router::{
    Answer, Deadline, Decision, DeploymentId, Fleet, Instant, ModelId, Origin, Outcome, Overrides,
    Request, RequestId, RouteError, Router, RouterConfig, Seed, Step, Trail, Turn, Usage,
    WaitReason,
};
use scenarios::RunPlan;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What the routers of a run were built of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Which form of journal it is.
    journal: u32,
    /// Seed of the routers' draws.
    seed: Seed,
    /// How many routers there are.
    instances: u32,
    /// Whether they share a store.
    shared_state: bool,
    /// Their settings, but for the address that alerts go to.
    router: RouterConfig,
}

impl Head {
    /// Of a run of one router.
    #[must_use]
    pub fn new(seed: Seed, router: &RouterConfig) -> Self {
        let mut router = router.clone();
        if let Some(alerting) = &mut router.settings.alerting {
            alerting.webhook_url = None;
        }
        Self {
            journal: FORM,
            seed,
            instances: 1,
            shared_state: false,
            router,
        }
    }

    /// Of a run of this plan.
    #[must_use]
    pub fn of_plan(plan: &RunPlan) -> Self {
        Self {
            instances: plan.instances.count,
            shared_state: plan.instances.shared_state,
            ..Self::new(plan.seed, &plan.router)
        }
    }

    pub(super) const fn form(&self) -> u32 {
        self.journal
    }

    pub(super) const fn instances(&self) -> u32 {
        self.instances
    }

    /// The routers, fresh.
    pub(super) fn fleet(&self) -> Result<Fleet, router::ConfigError> {
        Fleet::new(&self.router, self.seed, self.instances, self.shared_state)
    }

    pub(super) const fn deployments(&self) -> usize {
        self.router.deployments.len()
    }
}

/// The form of journals that this crate writes and reads.
pub(super) const FORM: u32 = 1;

/// A request as it arrives.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arrival {
    pub(super) id: RequestId,
    pub(super) model: String,
    pub(super) prompt_tokens: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) stream: bool,
    #[serde(default, skip_serializing_if = "is_nobody")]
    pub(super) origin: Origin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) overrides: Option<Overrides>,
}

impl Arrival {
    pub(super) fn of(router: &Router, request: &Request) -> Self {
        Self {
            id: request.id,
            model: router.model_name(request.model).to_owned(),
            prompt_tokens: request.prompt_tokens,
            max_tokens: request.max_tokens,
            stream: request.stream,
            origin: request.origin,
            overrides: request.overrides.as_deref().cloned(),
        }
    }

    pub(super) fn request(self, model: ModelId) -> Request {
        Request {
            id: self.id,
            model,
            prompt_tokens: self.prompt_tokens,
            max_tokens: self.max_tokens,
            stream: self.stream,
            origin: self.origin,
            overrides: self.overrides.map(Into::into),
        }
    }
}

/// An attempt that ended.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Finished {
    pub(super) request: RequestId,
    pub(super) outcome: Outcome,
}

/// An operator's clearing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clear {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) deployment: Option<DeploymentId>,
}

/// A line as it is read: exactly one of `names` and the inputs stands in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    #[serde(default)]
    pub(super) names: Option<Vec<String>>,
    #[serde(default)]
    pub(super) at: Option<Instant>,
    #[serde(default)]
    pub(super) router: u32,
    #[serde(default)]
    pub(super) arrive: Option<Arrival>,
    #[serde(default)]
    pub(super) attempt_finished: Option<Finished>,
    #[serde(default)]
    pub(super) resume: Option<RequestId>,
    #[serde(default)]
    pub(super) admitted: Option<RequestId>,
    #[serde(default)]
    pub(super) first_token: Option<RequestId>,
    #[serde(default)]
    pub(super) cancel: Option<RequestId>,
    #[serde(default)]
    pub(super) clear: Option<Clear>,
    #[serde(default)]
    pub(super) then: Option<Box<RawValue>>,
}

/// A decision.
#[derive(Default, Serialize)]
struct Then<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    send: Option<Sent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<Waits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    park: Option<DeploymentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<Done<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    released: Option<RequestId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mirrors: Vec<RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared: Option<usize>,
}

#[derive(Serialize)]
struct Sent<'a> {
    deployment: DeploymentId,
    attempt: u16,
    model: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    stream: bool,
    deadline: Deadline,
}

#[derive(Serialize)]
struct Waits {
    until: Instant,
    why: WaitReason,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Done<'a> {
    Completed {
        deployment: DeploymentId,
        usage: Usage,
        cached: bool,
        trail: Trailed<'a>,
    },
    Failed {
        error: RouteError,
        trail: Trailed<'a>,
    },
}

#[derive(Serialize)]
struct Trailed<'a> {
    arrived: Instant,
    attempts: u16,
    fallbacks: u16,
    group: &'a str,
    waited: std::time::Duration,
    in_failed_attempts: std::time::Duration,
    first_token: Option<Instant>,
}

/// A decision as JSON. So many mirrors waited for their driver before it.
pub(super) fn told(
    router: &Router,
    decision: &Decision<'_>,
    waiting: usize,
) -> serde_json::Result<Vec<u8>> {
    let mut then = match decision {
        Decision::Turn(turn) => of_turn(router, turn),
        Decision::Released(released) => Then {
            released: *released,
            ..Then::default()
        },
        Decision::Cleared(cleared) => Then {
            cleared: Some(*cleared),
            ..Then::default()
        },
    };
    then.mirrors = router.waiting_mirrors().skip(waiting).collect();
    serde_json::to_vec(&then)
}

fn of_turn<'a>(router: &'a Router, turn: &Turn) -> Then<'a> {
    let mut then = Then {
        released: turn.released,
        ..Then::default()
    };
    match &turn.step {
        Step::Send(attempt) => {
            let plan = router.plan(attempt);
            then.send = Some(Sent {
                deployment: attempt.deployment(),
                attempt: attempt.number(),
                model: plan.model,
                stream: plan.stream,
                deadline: plan.deadline,
            });
        }
        Step::Wait(wait) => {
            let (until, why) = (wait.until(), wait.why());
            then.wait = Some(Waits { until, why });
        }
        Step::Park(parked) => then.park = Some(parked.deployment()),
        Step::Done(answer) => then.done = Some(done(router, answer)),
    }
    then
}

fn done<'a>(router: &'a Router, answer: &Answer) -> Done<'a> {
    let trail = |trail: &Trail| Trailed {
        arrived: trail.arrived,
        attempts: trail.attempts,
        fallbacks: trail.fallbacks,
        group: router.model_name(trail.group),
        waited: trail.waited,
        in_failed_attempts: trail.in_failed_attempts,
        first_token: trail.first_token,
    };
    match answer {
        Answer::Completed {
            deployment,
            usage,
            cached,
            trail: tried,
        } => Done::Completed {
            deployment: *deployment,
            usage: *usage,
            cached: *cached,
            trail: trail(tried),
        },
        Answer::Failed {
            error,
            trail: tried,
        } => Done::Failed {
            error: *error,
            trail: trail(tried),
        },
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_false(is: &bool) -> bool {
    !*is
}

fn is_nobody(origin: &Origin) -> bool {
    *origin == Origin::default()
}
