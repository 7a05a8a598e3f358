//! Counts for Prometheus (text format 0.0.4).

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use router::{Answer, CooldownReason, DeploymentId, Event, Instant, Observer, Outcome, Router};

use super::state;

/// Hears a router and counts.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// By status; 200 for an answer.
    requests: BTreeMap<u16, u64>,
    cancelled: u64,
    latency: Histogram,
    first_token: Histogram,
    /// By deployment and how they ended.
    attempts: Counts,
    cooldowns: Counts,
    tokens: Counts,
    retries: u64,
    fallbacks: u64,
    cache_hits: u64,
    mirrors: u64,
}

/// Counts by upper bound.
#[derive(Debug, Default)]
struct Histogram {
    counts: [u64; BOUNDS_S.len()],
    count: u64,
    sum_s: f64,
}

impl Histogram {
    fn add(&mut self, length: Duration) {
        let seconds = length.as_secs_f64();
        self.count += 1;
        self.sum_s += seconds;
        let at = BOUNDS_S.iter().position(|bound| seconds <= *bound);
        if let Some(at) = at {
            self.counts[at] += 1;
        }
    }

    fn write(&self, text: &mut String, name: &str, help: &str) {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
        let mut below = 0;
        for (bound, count) in BOUNDS_S.iter().zip(self.counts) {
            below += count;
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {below}");
        }
        let Self { count, sum_s, .. } = self;
        let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{name}_sum {sum_s}\n{name}_count {count}");
    }
}

impl Observer for Metrics {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if event.request().is_some_and(router::RequestId::is_mirror) {
            return;
        }
        match *event {
            Event::Answered { answer, .. } => self.answered(at, answer),
            Event::Cancelled { .. } => self.cancelled += 1,
            Event::Finished {
                deployment,
                outcome,
                ..
            } => self.ended(deployment, outcome),
            Event::CooledDown {
                deployment, why, ..
            } => self.cooled(deployment, why),
            Event::Retrying { .. } => self.retries += 1,
            Event::FellBack { .. } => self.fallbacks += 1,
            Event::CacheHit { .. } => self.cache_hits += 1,
            Event::Mirrored { .. } => self.mirrors += 1,
            Event::Arrived { .. }
            | Event::CooldownCleared { .. }
            | Event::FirstToken { .. }
            | Event::GivenUp { .. }
            | Event::FailuresSpent { .. }
            | Event::LimitRefused { .. }
            | Event::MovedOn { .. }
            | Event::NothingToPick { .. }
            | Event::ParkedForSlot { .. }
            | Event::PassedOver { .. }
            | Event::Picked { .. }
            | Event::Sent { .. }
            | Event::SlotRefused { .. }
            | Event::Waiting { .. } => {}
        }
    }
}

impl Metrics {
    fn answered(&mut self, at: Instant, answer: &Answer) {
        let status = match answer {
            Answer::Completed { .. } => 200,
            Answer::Failed { error, .. } => error.status().unwrap_or(500),
        };
        *self.requests.entry(status).or_default() += 1;
        let trail = answer.trail();
        self.latency.add(at.since(trail.arrived));
        if let Some(first) = trail.first_token {
            self.first_token.add(first.since(trail.arrived));
        }
    }

    fn ended(&mut self, deployment: DeploymentId, outcome: &Outcome) {
        let how = match outcome {
            Outcome::Success { .. } => "success",
            Outcome::Failure(failure) => failure.class.exception(),
        };
        *self.attempts.entry((deployment, how)).or_default() += 1;
        if let Outcome::Success { usage, .. } = outcome {
            let counted = [
                ("prompt", usage.prompt_tokens),
                ("completion", usage.completion_tokens),
            ];
            for (kind, tokens) in counted {
                *self.tokens.entry((deployment, kind)).or_default() += u64::from(tokens);
            }
        }
    }

    fn cooled(&mut self, deployment: DeploymentId, why: CooldownReason) {
        let key = (deployment, state::name(why));
        *self.cooldowns.entry(key).or_default() += 1;
    }

    /// The page.
    pub(super) fn text(&self, router: &Router, now: Instant) -> String {
        let mut text = String::new();
        let help = "Requests that were answered, by status.";
        head(&mut text, "requests_total", "counter", help);
        for (status, count) in &self.requests {
            let _ = writeln!(
                text,
                "routelab_requests_total{{status=\"{status}\"}} {count}"
            );
        }
        for (name, kind, help, value) in self.sums(router) {
            head(&mut text, name, kind, help);
            let _ = writeln!(text, "routelab_{name} {value}");
        }
        for (metric, label, help, counts) in self.by_deployment() {
            head(&mut text, metric, "counter", help);
            for ((deployment, value), count) in counts {
                let deployment = name(router, *deployment);
                let _ = writeln!(
                    text,
                    "routelab_{metric}{{deployment=\"{deployment}\",{label}=\"{value}\"}} {count}"
                );
            }
        }
        gauges(&mut text, router, now);
        let help = "From a request's arrival to the end of its answer.";
        self.latency
            .write(&mut text, "routelab_request_duration_seconds", help);
        let help = "From a request's arrival to the first token of its answer.";
        self.first_token
            .write(&mut text, "routelab_first_token_seconds", help);
        text
    }

    /// Name, kind, help and value.
    fn sums(&self, router: &Router) -> [(&'static str, &'static str, &'static str, u64); 6] {
        [
            (
                "requests_cancelled_total",
                "counter",
                "Requests whose caller left.",
                self.cancelled,
            ),
            (
                "requests_unfinished",
                "gauge",
                "Requests under way.",
                router.unfinished() as u64,
            ),
            (
                "retries_total",
                "counter",
                "Attempts after a failure in a group.",
                self.retries,
            ),
            (
                "fallbacks_total",
                "counter",
                "Moves to another group or tier.",
                self.fallbacks,
            ),
            (
                "cache_hits_total",
                "counter",
                "Answers of the response cache.",
                self.cache_hits,
            ),
            (
                "mirrors_total",
                "counter",
                "Copies sent to silent models.",
                self.mirrors,
            ),
        ]
    }

    /// Name, label, help and counts.
    fn by_deployment(&self) -> [(&'static str, &'static str, &'static str, &Counts); 3] {
        [
            (
                "attempts_total",
                "outcome",
                "Attempts that ended, by their outcome.",
                &self.attempts,
            ),
            (
                "cooldowns_total",
                "reason",
                "Cooldowns that began or went on.",
                &self.cooldowns,
            ),
            ("tokens_total", "kind", "Tokens of answers.", &self.tokens),
        ]
    }
}

/// By deployment and a word.
type Counts = BTreeMap<(DeploymentId, &'static str), u64>;

/// How each deployment is now.
fn gauges(text: &mut String, router: &Router, now: Instant) {
    let deployments = || {
        (0..)
            .map(DeploymentId)
            .take(router.config().deployments.len())
    };
    head(text, "in_flight", "gauge", "Attempts under way.");
    for id in deployments() {
        let (deployment, value) = (name(router, id), router.in_flight(id));
        let _ = writeln!(
            text,
            "routelab_in_flight{{deployment=\"{deployment}\"}} {value}"
        );
    }
    head(text, "in_cooldown", "gauge", "1 while it is in cooldown.");
    for id in deployments() {
        let deployment = name(router, id);
        let value = u8::from(router.cooled_until(now, id).is_some());
        let _ = writeln!(
            text,
            "routelab_in_cooldown{{deployment=\"{deployment}\"}} {value}"
        );
    }
}

fn name(router: &Router, deployment: DeploymentId) -> String {
    escaped(&router.config().deployments[deployment.index()].id)
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(
        text,
        "# HELP routelab_{name} {help}\n# TYPE routelab_{name} {kind}"
    );
}

/// A value between quotation marks.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', r"\\").replace('"', r#"\""#);
    text.replace('\n', r"\n")
}

/// From a cached answer to the longest of agents' answers.
const BOUNDS_S: [f64; 14] = [
    0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 600.0,
];
