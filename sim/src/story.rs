//! One request's whole story, line by line, with times relative to its arrival.
//!
//! It hears a complete run, because what happens to a request depends on everybody else's, and
//! writes down what concerns one request: who was passed over and why, what was sent where, what
//! came back and when, which cooldowns that caused, what was waited for, and the answer.

mod errors;
mod reasons;
mod rules;
mod spans;

use std::{fmt, time::Duration};

use reports::{Blame, Blamer};
use router::{
    Answer, DeploymentId, Event, Instant, ModelId, Observer, Outcome, RequestId, Router, WaitReason,
};
use scenarios::RunPlan;

pub use self::spans::{Span, SpanKind};
use self::{
    errors::{limit_text, list_text, outcome_text},
    spans::Spans,
};
use crate::{SimError, recorder_setup};

/// Hears a run and keeps the story of one request.
#[derive(Debug)]
pub struct Story<'a> {
    request: RequestId,
    plan: &'a RunPlan,
    /// A router of the same settings, asked for the names of models and never for decisions.
    names: Router,
    arrived: Option<Instant>,
    /// Its mirrors, whose stories are told within its own.
    mirrors: Vec<RequestId>,
    lines: Vec<Line>,
    spans: Spans,
    blamer: Blamer,
    blame: Option<Blame>,
}

impl<'a> Story<'a> {
    /// Will hear the run of `plan` and keep what concerns `request`.
    ///
    /// # Errors
    ///
    /// If the router refuses its settings.
    pub fn new(plan: &'a RunPlan, request: RequestId) -> Result<Self, SimError> {
        let mut names = Router::new(&plan.router, plan.seed)?;
        for name in plan.workload.models() {
            names.model(name);
        }
        Ok(Self {
            request,
            plan,
            names,
            arrived: None,
            mirrors: Vec::new(),
            lines: Vec::new(),
            spans: Spans::default(),
            blamer: Blamer::new(&recorder_setup(plan)?),
            blame: None,
        })
    }

    /// When the request arrived; `None` if the run has fewer requests.
    #[must_use]
    pub const fn arrived(&self) -> Option<Instant> {
        self.arrived
    }

    /// What happened to it, in order.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Its attempts and waits, without those of mirrors, in the order of their ends.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        self.spans.done()
    }

    /// From its arrival to the last that happened to it.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.lines.last().map_or(Duration::ZERO, |line| line.after)
    }

    /// Who is to blame, if it got no answer.
    #[must_use]
    pub const fn blame(&self) -> Option<Blame> {
        self.blame
    }

    /// Whose request it is, where the scenario says so.
    fn sender_text(&self) -> String {
        let workload = &self.plan.workload;
        let sender = workload.sender(self.plan.seed, self.request.call());
        sender.map_or_else(String::new, |place| {
            format!(" from `{}`", workload.sender_names()[place])
        })
    }

    /// An event in words: what it is, and the details.
    #[expect(clippy::too_many_lines, reason = "one short arm for each event")]
    fn told(&self, at: Instant, event: &Event<'_>) -> (&'static str, String) {
        match *event {
            Event::Arrived { request } => {
                let limit = request.max_tokens.map_or_else(String::new, |most| {
                    format!(", at most {most} answer tokens")
                });
                let stream = if request.stream { ", streamed" } else { "" };
                let (model, prompt) = (self.model(request.model), request.prompt_tokens);
                let sender = self.sender_text();
                let instance = match self.plan.instances {
                    one if one.count == 1 => String::new(),
                    all => format!(
                        ", at instance {} of {}",
                        all.of_request(self.request) + 1,
                        all.count
                    ),
                };
                (
                    "arrived",
                    format!(
                        "for `{model}`{sender}, {prompt} prompt tokens{limit}{stream}{instance}"
                    ),
                )
            }
            Event::PassedOver {
                deployment, why, ..
            } => ("passed over", self.passed_over_text(at, deployment, why)),
            Event::Picked {
                deployment,
                candidates,
                ..
            } => {
                let of = counted(candidates, "candidate");
                (
                    "picked",
                    format!("{}, of {of}", self.deployment(deployment)),
                )
            }
            Event::NothingToPick { group, .. } => (
                "nothing",
                format!("no candidate in `{}`", self.model(group)),
            ),
            Event::SlotRefused {
                deployment, limit, ..
            } => {
                let deployment = self.deployment(deployment);
                ("refused", format!("{deployment}: all {limit} slots in use"))
            }
            Event::LimitRefused { deployment, by, .. } => {
                let whose = deployment.map_or_else(
                    || "nobody is within its limits".to_owned(),
                    |d| format!("{} is over its limits", self.deployment(d)),
                );
                ("refused", format!("{whose}: {}", limit_text(by)))
            }
            Event::FailuresSpent {
                deployment, limit, ..
            } => {
                let deployment = self.deployment(deployment);
                let failures = counted(limit, "failure");
                let text = format!("{deployment}: {failures} remembered, nobody is called");
                ("refused", text)
            }
            Event::CacheHit { deployment, .. } => (
                "cached",
                format!(
                    "the response cache answers for {}",
                    self.deployment(deployment)
                ),
            ),
            Event::Mirrored { mirror, group, .. } => (
                "mirrored",
                format!("as {mirror} to `{}`, for nobody", self.model(group)),
            ),
            Event::CooldownCleared { deployment } => (
                "cleared",
                format!("the cooldown of {}", self.deployment(deployment)),
            ),
            Event::ParkedForSlot { deployment, .. } => (
                "parked",
                format!("until {} has a free slot", self.deployment(deployment)),
            ),
            Event::Answered { answer, .. } => match answer {
                Answer::Completed { .. } => ("answered", self.answer_text(answer)),
                Answer::Failed { .. } => ("gave up", self.answer_text(answer)),
            },
            Event::GivenUp { eligible, .. } => {
                let left: Vec<_> = eligible.iter().map(|&d| self.deployment(d)).collect();
                let left = match left.as_slice() {
                    [] => "nobody is left to pick".to_owned(),
                    left => format!("could still pick {}", left.join(", ")),
                };
                ("last look", left)
            }
            Event::Cancelled { .. } => ("cancelled", "the caller went away".to_owned()),
            Event::Sent {
                deployment,
                attempt,
                ..
            } => (
                "sent",
                format!("attempt {} to {}", attempt + 1, self.deployment(deployment)),
            ),
            Event::FirstToken { deployment, .. } => (
                "first token",
                format!("from {}", self.deployment(deployment)),
            ),
            Event::Finished {
                deployment,
                attempt,
                took,
                outcome,
                ..
            } => {
                let details = format!(
                    "attempt {} at {} after {}: {}",
                    attempt + 1,
                    self.deployment(deployment),
                    Secs(took),
                    outcome_text(at, outcome),
                );
                match outcome {
                    Outcome::Success { .. } => ("came back", details),
                    Outcome::Failure(_) => ("failed", details),
                }
            }
            Event::CooledDown {
                deployment,
                until,
                why,
                ..
            } => ("cooled", self.cooldown_text(at, deployment, until, why)),
            Event::Waiting { until, why, .. } => {
                let why = match why {
                    WaitReason::Backoff => "backoff",
                    WaitReason::ClientRetry => "the client library's own retry",
                    WaitReason::RetryAfter => "the provider's retry-after",
                    WaitReason::Queue => {
                        let details =
                            "until it is first in the priority queue, or somebody is well";
                        return ("waits", details.to_owned());
                    }
                };
                ("waits", format!("{}: {why}", Secs(until.since(at))))
            }
            Event::Retrying { retry, of, .. } => {
                ("retries", format!("retry {retry} of {of} in this group"))
            }
            Event::MovedOn { deployment, .. } => {
                let from = self.deployment(deployment);
                ("moves on", format!("from {from}, which is of no use"))
            }
            Event::FellBack { from, to, why, .. } => {
                let (from, to) = (self.model(from), self.model(to));
                (
                    "falls back",
                    format!("from `{from}` to `{to}` ({})", list_text(why)),
                )
            }
        }
    }

    fn deployment(&self, id: DeploymentId) -> &'a str {
        &self.plan.router.deployments[id.index()].id
    }

    fn model(&self, id: ModelId) -> &str {
        self.names.model_name(id)
    }

    fn answer_text(&self, answer: &Answer) -> String {
        let trail = answer.trail();
        let tried = format!(
            "{}, {}, {} waited, {} in failed attempts",
            counted(u32::from(trail.attempts), "attempt"),
            counted(u32::from(trail.fallbacks), "fallback"),
            Secs(trail.waited),
            Secs(trail.in_failed_attempts),
        );
        match answer {
            Answer::Completed {
                deployment,
                usage,
                cached,
                ..
            } => format!(
                "{}{}, {} prompt and {} answer tokens; {tried}",
                if *cached {
                    "from the response cache for "
                } else {
                    "by "
                },
                self.deployment(*deployment),
                usage.prompt_tokens,
                usage.completion_tokens,
            ),
            Answer::Failed { error, .. } => format!("{}; {tried}", self.error_text(error)),
        }
    }
}

impl Observer for Story<'_> {
    const LAST_LOOK: bool = true;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let blame = self.blamer.hear(at, event);
        let Some(of) = event.request() else { return };
        let mirror = self.mirrors.iter().position(|mirror| *mirror == of);
        if of != self.request && mirror.is_none() {
            return;
        }
        if let Event::Mirrored { mirror, .. } = *event {
            self.mirrors.push(mirror);
        }
        let arrived = *self.arrived.get_or_insert(at);
        let (what, mut details) = self.told(at, event);
        if of == self.request {
            self.blame = self.blame.or(blame);
            let (mut place, mut ended) = ("", String::new());
            if let Event::Finished {
                deployment,
                outcome,
                ..
            } = *event
            {
                (place, ended) = (self.deployment(deployment), outcome_text(at, outcome));
            }
            self.spans.hear(at.since(arrived), event, place, &ended);
        }
        if let Some(mirror) = mirror {
            details = format!("[mirror {}] {details}", mirror + 1);
        }
        // The priority queue is asked again and again; once is enough to tell.
        let again = |line: &Line| (line.what, &line.details) == (what, &details);
        let asks = matches!(
            event,
            Event::Waiting {
                why: WaitReason::Queue,
                ..
            }
        );
        if asks && self.lines.last().is_some_and(again) {
            return;
        }
        self.lines.push(Line {
            after: at.since(arrived),
            what,
            details,
            setting: self.setting(event),
        });
    }
}

impl fmt::Display for Story<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times: Vec<String> = self
            .lines
            .iter()
            .map(|line| Secs(line.after).to_string())
            .collect();
        let width = times.iter().map(String::len).max().unwrap_or(0);
        for (line, time) in self.lines.iter().zip(times) {
            let (what, details) = (line.what, &line.details);
            write!(f, "+{time:>width$}  {what:<11}  {details}")?;
            match &line.setting {
                Some(setting) => writeln!(f, "  [{setting}]")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// One thing that happened to a request.
#[derive(Debug)]
pub struct Line {
    /// Since the request's arrival.
    pub after: Duration,
    /// What it was, in a word or two.
    pub what: &'static str,
    /// More of it.
    pub details: String,
    /// The LiteLLM setting that governs it, with its value.
    pub setting: Option<String>,
}

/// A span in seconds with three decimals.
struct Secs(Duration);

impl fmt::Display for Secs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", self.0.as_secs_f64())
    }
}

fn counted(number: u32, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
