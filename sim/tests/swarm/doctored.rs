//! A checker that cannot fail is none: for each invariant that is checked on the way, a run whose log is
//! doctored so that it breaks the invariant, and is found out.

use std::time::Duration;

use router::{
    Answer, CooldownReason, Decision, DeploymentId, ErrorClass, Event, Failure, Input, Instant,
    Observer, Outcome, PassedOver, Router, Trail, WaitReason,
};
use scenarios::RunPlan;
use sim::{
    invariants::{Checker, Violation},
    simulate,
};

use crate::plan;

/// Whom a doctored event is told to.
type Out<'o> = &'o mut dyn FnMut(Instant, &Event<'_>);
/// Tells an event otherwise than it was.
type Doctor = fn(Instant, &Event<'_>, Out<'_>);
/// The number of an invariant, a run, and what breaks the one in the other.
type Case = (u8, fn() -> RunPlan, Doctor);

struct Doctored<'a> {
    checker: Checker<'a>,
    doctor: Doctor,
}

impl Observer for Doctored<'_> {
    const INPUTS: bool = true;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let checker = &mut self.checker;
        (self.doctor)(at, event, &mut |at, event| checker.observe(at, event));
    }

    fn input(&mut self, at: Instant, router: &Router, input: &Input<'_>) {
        self.checker.input(at, router, input);
    }

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        self.checker.decided(router, decision);
    }
}

fn violations(plan: &RunPlan, doctor: Doctor) -> Vec<Violation> {
    let checker = Checker::new(plan).unwrap();
    let mut doctored = Doctored { checker, doctor };
    simulate(plan, &mut doctored).unwrap();
    doctored.checker.finish()
}

/// Failures, cooldowns, retries, a fallback, slots, sessions and limits.
fn busy(settings: &str, provider: &str) -> RunPlan {
    plan(&format!(
        "purpose: A busy run.
kind: terminating
replications: 1
litellm:
  model_list:
    - {{model_name: g, litellm_params: {{model: openai/a, max_parallel_requests: 2}}, model_info: {{id: a}}}}
    - {{model_name: g, litellm_params: {{model: openai/b, cooldown_time: 0}}, model_info: {{id: b}}}}
    - {{model_name: g, litellm_params: {{model: openai/c, rpm: 40}}, model_info: {{id: c}}}}
    - {{model_name: h, litellm_params: {{model: openai/h}}, model_info: {{id: h}}}}
  router_settings:
    fallbacks: [{{g: [h]}}]
    cooldown_time: 2
    optional_pre_call_checks: [session_affinity, enforce_model_rate_limits]
    {settings}
providers:
  default: {{latency: {{first_token: {{constant: {{ms: 400}}}}}}, {provider}}}
workload:
  arrivals: {{poisson: {{per_second: 4}}}}
  lengths: {{prompt: {{constant: 10}}, output: {{constant: 5}}}}
  duration_s: 60
  senders: {{all: {{share: 1, sessions: {{live: 3, turns: 8}}}}}}
"
    ))
}

fn failing() -> RunPlan {
    busy(
        "num_retries: 2",
        "faults: [{error_rate: {share: 0.5, status: 429}}]",
    )
}

/// One deployment, whose hints are waited for.
fn hinted() -> RunPlan {
    plan(
        "purpose: A lone deployment asks to be left alone.
kind: terminating
replications: 1
litellm:
  model_list: [{model_name: g, litellm_params: {model: openai/a}, model_info: {id: a}}]
providers:
  default:
    latency: {first_token: {constant: {ms: 100}}}
    faults: [{rate_limit_storm: {share: 0.4, hint: {seconds: 3}}}]
workload:
  arrivals: {poisson: {per_second: 2}}
  lengths: {prompt: {constant: 10}, output: {constant: 5}}
  duration_s: 30
",
    )
}

fn with_trail(answer: &Answer, change: impl Fn(&mut Trail)) -> Answer {
    let mut answer = *answer;
    match &mut answer {
        Answer::Completed { trail, .. } | Answer::Failed { trail, .. } => change(trail),
    }
    answer
}

#[test]
fn runs_that_are_not_doctored_break_nothing() {
    for plan in [failing(), hinted(), busy("num_retries: 0", "")] {
        assert_eq!(violations(&plan, |at, event, out| out(at, event)), []);
    }
}

#[test]
fn each_invariant_is_found_broken_in_a_log_that_is_doctored_against_it() {
    for (number, plan, doctor) in CASES {
        let found = violations(&plan(), doctor);
        let numbers: Vec<u8> = found.iter().map(|one| one.invariant).collect();
        assert!(
            numbers.contains(&number),
            "{number} was not found, but {found:?}"
        );
    }
}

const CASES: [Case; 18] = [
    // An answer comes twice.
    (1, failing, |at, event, out| {
        out(at, event);
        if matches!(event, Event::Answered { .. }) {
            out(at, event);
        }
    }),
    // An answer tells of an attempt too many.
    (2, failing, |at, event, out| match *event {
        Event::Answered { request, answer } => {
            let answer = &with_trail(answer, |trail| trail.attempts += 1);
            out(at, &Event::Answered { request, answer });
        }
        _ => out(at, event),
    }),
    // An attempt takes longer than the time since it was sent.
    (3, failing, |at, event, out| match *event {
        Event::Finished {
            request,
            deployment,
            attempt,
            took,
            outcome,
        } => {
            let took = took + Duration::from_nanos(1);
            out(
                at,
                &Event::Finished {
                    request,
                    deployment,
                    attempt,
                    took,
                    outcome,
                },
            );
        }
        _ => out(at, event),
    }),
    // Nobody hears that attempts go out.
    (4, failing, |at, event, out| {
        if !matches!(event, Event::Sent { .. }) {
            out(at, event);
        }
    }),
    // Attempts are told as sent to a deployment whose slots they do not hold.
    (5, failing, |at, event, out| match *event {
        Event::Sent {
            request, attempt, ..
        } => {
            let deployment = DeploymentId(0);
            out(
                at,
                &Event::Sent {
                    request,
                    deployment,
                    attempt,
                },
            );
        }
        _ => out(at, event),
    }),
    // Nobody hears of answers.
    (6, failing, |at, event, out| {
        if !matches!(event, Event::Answered { .. }) {
            out(at, event);
        }
    }),
    // Cooldowns are told as longer than they are kept.
    (7, failing, |at, event, out| match *event {
        Event::CooledDown {
            deployment,
            request,
            until,
            why,
        } => {
            let until = until + Duration::from_secs(20);
            out(
                at,
                &Event::CooledDown {
                    deployment,
                    request,
                    until,
                    why,
                },
            );
        }
        _ => out(at, event),
    }),
    // A cooldown ends a moment later than told.
    (8, failing, |at, event, out| match *event {
        Event::CooledDown {
            deployment,
            request,
            until,
            why,
        } => {
            let until = Instant::from_nanos(until.as_nanos() - 1);
            out(
                at,
                &Event::CooledDown {
                    deployment,
                    request,
                    until,
                    why,
                },
            );
        }
        _ => out(at, event),
    }),
    // Cooldowns last longer than a setting says.
    (9, failing, |at, event, out| match *event {
        Event::CooledDown {
            deployment,
            request,
            until,
            why,
        } => {
            let until = until + Duration::from_secs(1);
            out(
                at,
                &Event::CooledDown {
                    deployment,
                    request,
                    until,
                    why,
                },
            );
        }
        _ => out(at, event),
    }),
    // No retry is announced.
    (10, failing, |at, event, out| {
        if !matches!(event, Event::Retrying { .. }) {
            out(at, event);
        }
    }),
    // A list leads to the same name again.
    (11, failing, |at, event, out| {
        out(at, event);
        if matches!(event, Event::FellBack { .. }) {
            out(at, event);
        }
    }),
    // A wait ends before the provider's moment.
    (12, hinted, |at, event, out| match *event {
        Event::Waiting {
            request,
            why: why @ WaitReason::RetryAfter,
            ..
        } => {
            let until = at + Duration::from_secs(2);
            out(
                at,
                &Event::Waiting {
                    request,
                    until,
                    why,
                },
            );
        }
        _ => out(at, event),
    }),
    // Another deployment is benched than the one that failed.
    (13, failing, |at, event, out| match *event {
        Event::CooledDown {
            request,
            until,
            why,
            ..
        } => {
            let deployment = DeploymentId(3);
            out(
                at,
                &Event::CooledDown {
                    deployment,
                    request,
                    until,
                    why,
                },
            );
        }
        _ => out(at, event),
    }),
    // A failure is told as one of another class.
    (14, failing, |at, event, out| match *event {
        Event::Finished {
            request,
            deployment,
            attempt,
            took,
            outcome: Outcome::Failure(failure),
        } => {
            let class = ErrorClass::InternalServer;
            let outcome = &Outcome::Failure(Failure { class, ..*failure });
            out(
                at,
                &Event::Finished {
                    request,
                    deployment,
                    attempt,
                    took,
                    outcome,
                },
            );
        }
        _ => out(at, event),
    }),
    // Whoever was passed over is picked.
    (15, failing, |at, event, out| {
        if let Event::Picked {
            request,
            deployment,
            ..
        } = *event
        {
            let why = PassedOver::Excluded;
            out(
                at,
                &Event::PassedOver {
                    request,
                    deployment,
                    why,
                },
            );
        }
        out(at, event);
    }),
    // A deployment whose cooldown is zero is benched.
    (16, failing, |at, event, out| {
        out(at, event);
        if let Event::Finished {
            request,
            deployment,
            outcome: Outcome::Failure(_),
            ..
        } = *event
            && deployment == DeploymentId(1)
        {
            let until = at + Duration::from_secs(2);
            let why = CooldownReason::RateLimited;
            out(
                at,
                &Event::CooledDown {
                    deployment,
                    request,
                    until,
                    why,
                },
            );
        }
    }),
    // Ten times as much is sent as was.
    (17, failing, |at, event, out| {
        let times = if matches!(event, Event::Sent { .. }) {
            10
        } else {
            1
        };
        (0..times).for_each(|_| out(at, event));
    }),
    // A session goes elsewhere than to its pin.
    (
        20,
        || busy("num_retries: 0", ""),
        |at, event, out| match *event {
            Event::Picked {
                request,
                deployment,
                attempt,
                candidates,
            } if at.as_secs_f64() > 30.0 => {
                let deployment = DeploymentId((deployment.0 + 1) % 3);
                out(
                    at,
                    &Event::Picked {
                        request,
                        deployment,
                        attempt,
                        candidates,
                    },
                );
            }
            _ => out(at, event),
        },
    ),
];
