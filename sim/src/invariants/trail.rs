//! A request ends in one exclusive bucket, and its answer tells what happened to it (invariant 2):
//! attempts, moves, waits and time in failed attempts are those that were heard, a completed request
//! has an attempt that succeeded or a hit of the cache, and a failed one has neither.

use std::{collections::BTreeMap, time::Duration};

use router::{Answer, DeploymentId, Event, Input, Instant, Outcome, RequestId, Router, Usage};

use super::rule::{Found, Now, Rule};

/// Invariant 2.
#[derive(Debug, Default)]
pub(super) struct Trails {
    of: BTreeMap<RequestId, Heard>,
}

/// What was heard of one unfinished request.
#[derive(Debug, Default)]
struct Heard {
    arrived: Instant,
    attempts: u16,
    moves: u16,
    waits_since: Option<Instant>,
    waited: Duration,
    in_failed: Duration,
    success: Option<(DeploymentId, Usage)>,
    cached: Option<DeploymentId>,
    sent: Instant,
}

impl Heard {
    /// Says how an answer is another than what was heard.
    fn differs(&self, now: &Now<'_>, answer: &Answer) -> Option<String> {
        let trail = answer.trail();
        let told = (trail.arrived, trail.attempts, trail.fallbacks, trail.waited);
        let heard = (self.arrived, self.attempts, self.moves, self.waited);
        if told != heard {
            return Some(format!(
                "arrival, attempts, moves and waits are told as {told:?}, and were {heard:?}"
            ));
        }
        if trail.in_failed_attempts != self.in_failed {
            let (told, heard) = (trail.in_failed_attempts, self.in_failed);
            return Some(format!(
                "{told:?} in failed attempts are told, it was {heard:?}"
            ));
        }
        match *answer {
            Answer::Completed {
                deployment,
                cached: true,
                ..
            } if self.cached == Some(deployment) => None,
            Answer::Completed {
                deployment,
                usage,
                cached: false,
                trail,
            } if self.success == Some((deployment, usage)) => {
                let first = trail.first_token;
                let in_time = first.is_some_and(|at| self.sent <= at && at <= now.at);
                (!in_time).then(|| format!("its first token is told at {first:?}"))
            }
            Answer::Failed { .. } if self.success.is_none() && self.cached.is_none() => None,
            Answer::Completed { .. } | Answer::Failed { .. } => {
                let (success, cached) = (self.success, self.cached);
                Some(format!(
                    "answered as {answer:?}, with the success {success:?} and the hit {cached:?}"
                ))
            }
        }
    }
}

impl Rule for Trails {
    fn input(&mut self, now: &Now<'_>, _router: &Router, input: &Input<'_>, _found: &mut Found) {
        if let Input::Resume(request) | Input::Admitted(request) = *input
            && let Some(heard) = self.of.get_mut(&request)
            && let Some(since) = heard.waits_since.take()
        {
            heard.waited += now.at.since(since);
        }
    }

    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        if let Event::Arrived { request } = event {
            let heard = Heard {
                arrived: now.at,
                ..Heard::default()
            };
            self.of.insert(request.id, heard);
            return;
        }
        let Some(request) = event.request() else {
            return;
        };
        let Some(heard) = self.of.get_mut(&request) else {
            return;
        };
        match *event {
            Event::Sent { .. } => {
                heard.attempts = heard.attempts.saturating_add(1);
                heard.sent = now.at;
            }
            Event::FellBack { .. } => heard.moves = heard.moves.saturating_add(1),
            Event::Waiting { .. } | Event::ParkedForSlot { .. } => {
                heard.waits_since = Some(now.at);
            }
            Event::CacheHit { deployment, .. } => heard.cached = Some(deployment),
            Event::Finished {
                deployment,
                took,
                outcome,
                ..
            } => match outcome {
                Outcome::Success { usage, .. } => heard.success = Some((deployment, *usage)),
                Outcome::Failure(_) => heard.in_failed += took,
            },
            Event::Answered { answer, .. } => {
                let differs = heard.differs(now, answer);
                if let Some(what) = differs {
                    found.add(2, now, request, what);
                }
                self.of.remove(&request);
            }
            Event::Cancelled { .. } => {
                self.of.remove(&request);
            }
            Event::Arrived { .. }
            | Event::PassedOver { .. }
            | Event::Picked { .. }
            | Event::NothingToPick { .. }
            | Event::SlotRefused { .. }
            | Event::FailuresSpent { .. }
            | Event::LimitRefused { .. }
            | Event::Mirrored { .. }
            | Event::CooldownCleared { .. }
            | Event::FirstToken { .. }
            | Event::CooledDown { .. }
            | Event::Retrying { .. }
            | Event::MovedOn { .. }
            | Event::GivenUp { .. } => {}
        }
    }
}
