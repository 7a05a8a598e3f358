//! What happens around the calls: mirrors, and an operator's actions.

use std::sync::Arc;

use router::{Answer, DeploymentId, Event, Instant, Observer, RequestId};
use scenarios::RunPlan;
use sim::{record_run, simulate};

use crate::{STEADY, plan, scenario};

/// Everything that was sent, and how requests ended.
#[derive(Default, PartialEq, Debug)]
struct Heard {
    sent: Vec<(Instant, RequestId, DeploymentId)>,
    answered: Vec<(Instant, RequestId, bool)>,
    cleared: Vec<(Instant, DeploymentId)>,
}

impl Observer for Heard {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        match *event {
            Event::Sent {
                request,
                deployment,
                ..
            } => self.sent.push((at, request, deployment)),
            Event::Answered { request, answer } => {
                let ok = matches!(answer, Answer::Completed { .. });
                self.answered.push((at, request, ok));
            }
            Event::CooldownCleared { deployment } => self.cleared.push((at, deployment)),
            _ => {}
        }
    }
}

impl Heard {
    fn of(plan: &RunPlan) -> Self {
        let mut heard = Self::default();
        simulate(plan, &mut heard).unwrap();
        heard
    }

    /// Without what mirrors did.
    fn of_callers(mut self) -> Self {
        self.sent.retain(|(_, request, _)| !request.is_mirror());
        self.answered.retain(|(_, request, _)| !request.is_mirror());
        self
    }
}

const SLOW_AND_FAILING: &str = "default: {latency: {first_token: {constant: {ms: 100}}}}, b: {latency: {first_token: {constant: {ms: 9000}}}, faults: [{error_rate: {share: 0.4, status: 500}}]}";

/// `a` serves `m`; `b` serves `silent`, which gets copies of it all.
fn mirrored(silent: bool) -> RunPlan {
    let mut plan = plan(&scenario("num_retries: 2", SLOW_AND_FAILING, STEADY));
    let config = Arc::make_mut(&mut plan.router);
    config.deployments[1].model_name = "silent".to_owned();
    if silent {
        config.deployments[0].silent_model = Some("silent".to_owned());
    }
    plan
}

#[test]
fn mirrors_change_nothing_for_those_who_ask() {
    let with = Heard::of(&mirrored(true));

    assert!(with.sent.iter().any(|(_, request, _)| request.is_mirror()));
    assert!(with.answered.iter().any(|(_, _, ok)| !ok));
    assert_eq!(with.of_callers(), Heard::of(&mirrored(false)));
}

#[test]
fn a_run_with_mirrors_drains_and_counts_them_apart() {
    let with = record_run(&mirrored(true), &()).unwrap();
    let without = record_run(&mirrored(false), &()).unwrap();

    assert_eq!(with.mirrors, with.requests);
    assert_eq!(
        (with.requests, with.completed, with.attempts, with.retries),
        (
            without.requests,
            without.completed,
            without.attempts,
            without.retries
        )
    );
    assert_eq!(with.latency, without.latency);
    let [a, b] = with.deployments.as_slice() else {
        panic!("two deployments")
    };
    assert_eq!((a.mirrored, b.sent), (0, 0));
    // Retries of the mirrors come on top.
    assert!(b.mirrored > with.mirrors && b.mirrored_failed > 0);
    assert!(with.end_s > without.end_s);
}

#[test]
fn an_operator_ends_cooldowns_of_one_deployment_or_of_all() {
    let faulty = "default: {latency: {first_token: {constant: {ms: 1}}}, faults: [{outage: {from_s: 0, to_s: 3, status: 429}}]}";
    let text = scenario("num_retries: 0, cooldown_time: 600", faulty, STEADY);
    let cleared = |actions: &str| Heard::of(&plan(&format!("{text}{actions}")));
    let at = Instant::from_secs_f64;
    let (a, b) = (DeploymentId(0), DeploymentId(1));

    let nobody = cleared("");
    assert!(nobody.answered.iter().all(|(_, _, ok)| !ok));

    let one = cleared("actions: [{at_s: 5, do: clear_cooldowns, deployment: b}]\n");
    assert_eq!(one.cleared, [(at(5.0), b)]);
    let served = one.answered.iter().filter(|(_, _, ok)| *ok).count();
    assert_eq!(served, 50);
    let later = one.sent.iter().filter(|(when, ..)| *when >= at(5.0));
    assert!(later.clone().all(|(_, _, deployment)| *deployment == b));

    let all =
        cleared("actions: [{at_s: 6, do: clear_cooldowns}, {at_s: 4, do: clear_cooldowns}]\n");
    assert_eq!(all.cleared, [(at(4.0), a), (at(4.0), b)]);
}
