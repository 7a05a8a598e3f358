//! Listens to a router and keeps what reports need: counters, histograms and buckets of time.
//!
//! It does constant work for each event, allocates nothing after its construction (but for a
//! cooldown span or an error that was not seen before, both capped) and reads no clock.

use std::time::Duration;

use router::{
    Answer, DeploymentId, Event, FallbackReason, Instant, Observer, Outcome, RequestId, RouteError,
    Trail,
};

use crate::{
    blame::{Blame, BlameCount, Blamer},
    distribution::{Spans, as_f64},
    record::{AnswerError, ErrorOrigin, FallbackCount, RunRecord},
    recorder_setup::RecorderSetup,
    tally::{ERROR_KINDS_EXPECTED, Tally, count, most_frequent_first},
    time_buckets::TimeBuckets,
};

/// Hears what a router does and ends as a [`RunRecord`].
#[derive(Debug)]
pub struct Recorder {
    setup: RecorderSetup,
    now: Instant,
    requests: u64,
    completed: u64,
    failed: u64,
    cancelled: u64,
    good: u64,
    errors: Vec<(AnswerErrorKey, u64)>,
    latency: Spans,
    latency_of_failed: Spans,
    first_token: Spans,
    attempts_of_answered: u64,
    requests_by_attempts: [u64; RunRecord::MOST_ATTEMPTS + 1],
    retries: u64,
    fallbacks: [u64; FALLBACK_REASONS.len()],
    nothing_to_pick: u64,
    slots_refused: u64,
    parked: u64,
    limits_refused: u64,
    cache_hits: u64,
    mirrors: u64,
    waited_us: u64,
    in_failed_attempts_us: u64,
    deployments: Vec<Tally>,
    blamer: Blamer,
    blames: [u64; Blame::ALL.len()],
    buckets: TimeBuckets,
}

type AnswerErrorKey = (ErrorOrigin, &'static str, Option<u16>);

impl Recorder {
    /// A recorder that has heard nothing yet.
    #[must_use]
    pub fn new(setup: RecorderSetup) -> Self {
        let deployments = setup.deployments.iter().map(|_| Tally::new()).collect();
        let buckets = TimeBuckets::new(setup.duration, setup.deployments.len());
        let blamer = Blamer::new(&setup);
        Self {
            setup,
            now: Instant::ZERO,
            requests: 0,
            completed: 0,
            failed: 0,
            cancelled: 0,
            good: 0,
            errors: Vec::with_capacity(ERROR_KINDS_EXPECTED),
            latency: Spans::new(),
            latency_of_failed: Spans::new(),
            first_token: Spans::new(),
            attempts_of_answered: 0,
            requests_by_attempts: [0; RunRecord::MOST_ATTEMPTS + 1],
            retries: 0,
            fallbacks: [0; FALLBACK_REASONS.len()],
            nothing_to_pick: 0,
            slots_refused: 0,
            parked: 0,
            limits_refused: 0,
            cache_hits: 0,
            mirrors: 0,
            waited_us: 0,
            in_failed_attempts_us: 0,
            deployments,
            blamer,
            blames: [0; Blame::ALL.len()],
            buckets,
        }
    }

    /// Closes the record at the moment the run ended. Cooldowns that last longer are cut there.
    #[must_use]
    pub fn finish(self, end: Instant) -> RunRecord {
        let end = end.max(self.now);
        let unfinished = self.unfinished();
        self.check_books(unfinished);
        let mut latency_all = self.latency_of_failed;
        latency_all.add_all(&self.latency);
        let has_slo = self.setup.has_slo();
        let attempts = self.deployments.iter().map(|tally| tally.sent).sum();
        RunRecord {
            arm: 0,
            replication: 0,
            duration_s: self.setup.duration.as_secs_f64(),
            end_s: end.as_secs_f64(),
            warm_up_s: 0.0,
            slo_latency_s: self.setup.slo_latency.map(|bound| bound.as_secs_f64()),
            slo_first_token_s: self.setup.slo_first_token.map(|bound| bound.as_secs_f64()),
            requests: self.requests,
            completed: self.completed,
            failed: self.failed,
            cancelled: self.cancelled,
            unfinished,
            good: has_slo.then_some(self.good),
            hindsight_good: None,
            errors: answer_errors(self.errors),
            blames: blame_counts(&self.blames),
            latency: self.latency.finish(),
            latency_all: latency_all.finish(),
            first_token: self.first_token.finish(),
            attempts,
            requests_by_attempts: self.requests_by_attempts.to_vec(),
            retries: self.retries,
            fallbacks: fallback_counts(&self.fallbacks),
            nothing_to_pick: self.nothing_to_pick,
            slots_refused: self.slots_refused,
            parked: self.parked,
            limits_refused: self.limits_refused,
            cache_hits: self.cache_hits,
            mirrors: self.mirrors,
            waited_s: as_f64(self.waited_us) / 1e6,
            in_failed_attempts_s: as_f64(self.in_failed_attempts_us) / 1e6,
            deployments: (self.setup.deployments.into_iter().zip(self.deployments))
                .map(|(label, tally)| tally.finish(label, end))
                .collect(),
            timeline: self.buckets.finish(end),
            fault_spans: Vec::new(),
            senders: Vec::new(),
            calls: None,
        }
    }

    #[inline]
    const fn unfinished(&self) -> u64 {
        self.requests - self.completed - self.failed - self.cancelled
    }

    /// What must hold at the end of every run, whatever happened in it.
    fn check_books(&self, unfinished: u64) {
        if unfinished == 0 {
            debug_assert!(
                self.deployments.iter().all(|tally| tally.in_flight == 0),
                "every request is over, so no attempt may be in flight"
            );
        }
        if unfinished == 0 && self.cancelled == 0 {
            debug_assert_eq!(
                self.deployments.iter().map(|tally| tally.sent).sum::<u64>(),
                self.attempts_of_answered,
                "attempts sent are those that the answers tell of"
            );
        }
        debug_assert_eq!(
            self.blames.iter().sum::<u64>(),
            self.failed + self.cancelled,
            "each request without an answer has one blame"
        );
        debug_assert_eq!(
            self.latency.len(),
            self.completed,
            "each completed request has a latency"
        );
    }

    #[inline]
    fn tally(&mut self, deployment: DeploymentId) -> &mut Tally {
        self.deployments
            .get_mut(deployment.index())
            .expect("the recorder was set up with the router's own deployments")
    }

    #[inline]
    fn finished(&mut self, at: Instant, deployment: DeploymentId, outcome: &Outcome) {
        self.tally(deployment).left();
        self.blamer.health(deployment).ended(at, outcome);
        match outcome {
            Outcome::Success { usage, .. } => {
                let prices = &self.setup.deployments[deployment.index()].prices;
                self.deployments[deployment.index()].succeeded(*usage, prices);
            }
            Outcome::Failure(failure) => {
                self.tally(deployment).failed(failure);
                self.buckets.attempt_failed(deployment);
            }
        }
    }

    /// What a mirror does is load and nothing else: nobody asked for it and nobody waits.
    #[cold]
    fn mirrored(&mut self, at: Instant, event: &Event<'_>) {
        if let Event::Sent { deployment, .. } = *event {
            self.tally(deployment).mirrored();
            self.buckets.sent(deployment);
        } else if let Event::Finished {
            deployment,
            outcome,
            ..
        } = *event
        {
            let prices = &self.setup.deployments[deployment.index()].prices;
            self.deployments[deployment.index()].mirror_left(outcome, prices);
            if matches!(outcome, Outcome::Failure(_)) {
                self.buckets.attempt_failed(deployment);
            }
        } else if let Event::Cancelled {
            deployment: Some(deployment),
            ..
        } = *event
        {
            self.tally(deployment).left();
        } else if let Event::CooledDown {
            deployment,
            until,
            why,
            ..
        } = *event
        {
            self.tally(deployment).cooled.begin(at, until, why);
            self.blamer.benched(deployment, until);
        }
    }

    #[inline]
    fn answered(&mut self, at: Instant, request: RequestId, answer: &Answer) {
        let trail = answer.trail();
        match answer {
            Answer::Completed { .. } => self.completed(at, trail),
            Answer::Failed { error, .. } => {
                self.failed += 1;
                self.latency_of_failed.add(at.nanos_since(trail.arrived));
                count(&mut self.errors, answer_error(error));
                let blame = self.blamer.judge(at, request, error, trail.attempts);
                self.blames[blame as usize] += 1;
                self.buckets.failed();
            }
        }
        let attempts = usize::from(trail.attempts);
        self.attempts_of_answered += u64::from(trail.attempts);
        self.requests_by_attempts[attempts.min(RunRecord::MOST_ATTEMPTS)] += 1;
        self.waited_us += micros(trail.waited);
        self.in_failed_attempts_us += micros(trail.in_failed_attempts);
    }

    #[inline]
    fn completed(&mut self, at: Instant, trail: &Trail) {
        self.completed += 1;
        self.latency.add(at.nanos_since(trail.arrived));
        if let Some(at) = trail.first_token {
            self.first_token.add(at.nanos_since(trail.arrived));
        }
        let latency = at.since(trail.arrived);
        if self.setup.has_slo() {
            let first_token = trail.first_token.map(|at| at.since(trail.arrived));
            self.good += u64::from(self.setup.is_good(latency, first_token));
        }
        self.buckets.completed(latency);
    }
}

impl Observer for Recorder {
    const LAST_LOOK: bool = true;

    /// Inlined, so that only the arm of its event is left where one is told.
    #[inline(always)]
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        debug_assert!(at >= self.now, "time runs back from {} to {at}", self.now);
        self.now = at;
        self.buckets.advance(at);
        // No mirror arrives before it is told that it was made.
        if self.mirrors > 0 && event.request().is_some_and(RequestId::is_mirror) {
            self.mirrored(at, event);
            return;
        }
        match *event {
            Event::Arrived { .. } => {
                self.requests += 1;
                let unfinished = self.unfinished();
                self.buckets.arrived(unfinished);
            }
            Event::Picked { deployment, .. } => self.tally(deployment).picks += 1,
            Event::Sent { deployment, .. } => {
                self.tally(deployment).sent();
                self.buckets.sent(deployment);
            }
            Event::Finished {
                deployment,
                outcome,
                ..
            } => self.finished(at, deployment, outcome),
            Event::GivenUp {
                request,
                members,
                eligible,
            } => self.blamer.last_look(at, request, members, eligible),
            Event::Answered { request, answer } => self.answered(at, request, answer),
            Event::Cancelled { deployment, .. } => {
                self.cancelled += 1;
                self.blames[Blame::ClientGaveUp as usize] += 1;
                self.buckets.cancelled();
                if let Some(deployment) = deployment {
                    self.tally(deployment).left();
                }
            }
            Event::CooledDown {
                deployment,
                until,
                why,
                ..
            } => {
                self.tally(deployment).cooled.begin(at, until, why);
                self.blamer.benched(deployment, until);
            }
            Event::Retrying { .. } => self.retries += 1,
            Event::FellBack { why, .. } => self.fallbacks[fallback_index(why)] += 1,
            Event::NothingToPick { .. } => self.nothing_to_pick += 1,
            Event::SlotRefused { .. } => self.slots_refused += 1,
            Event::ParkedForSlot { .. } => self.parked += 1,
            // The answer's trail tells both, once and for all attempts.
            Event::FirstToken { .. } | Event::Waiting { .. } => {}
            Event::LimitRefused { .. } => self.limits_refused += 1,
            Event::CacheHit { deployment, .. } => {
                self.cache_hits += 1;
                self.tally(deployment).cache_hits += 1;
            }
            Event::Mirrored { .. } => self.mirrors += 1,
            Event::CooldownCleared { deployment } => {
                self.tally(deployment).cooled.end(at);
                self.blamer.health(deployment).benched_until = at;
            }
            Event::PassedOver { .. } | Event::MovedOn { .. } | Event::FailuresSpent { .. } => {}
        }
    }
}

/// Whole microseconds of a span, which is nothing for most requests.
#[inline(always)]
const fn micros(span: Duration) -> u64 {
    match span.is_zero() {
        true => 0,
        false => router::nanos(span) / 1_000,
    }
}

const fn answer_error(error: &RouteError) -> AnswerErrorKey {
    let origin = match matches!(error, RouteError::Attempt { .. }) {
        true => ErrorOrigin::Provider,
        false => ErrorOrigin::Router,
    };
    (origin, error.exception(), error.status())
}

fn answer_errors(counts: Vec<(AnswerErrorKey, u64)>) -> Vec<AnswerError> {
    most_frequent_first(counts)
        .into_iter()
        .map(|((origin, exception, status), count)| AnswerError {
            exception: exception.to_owned(),
            origin,
            status,
            count,
        })
        .collect()
}

fn blame_counts(counts: &[u64; Blame::ALL.len()]) -> Vec<BlameCount> {
    let counts = Blame::ALL.into_iter().zip(*counts);
    counts
        .filter(|&(_, count)| count > 0)
        .map(|(blame, count)| BlameCount { blame, count })
        .collect()
}

fn fallback_counts(counts: &[u64; FALLBACK_REASONS.len()]) -> Vec<FallbackCount> {
    FALLBACK_REASONS
        .into_iter()
        .zip(*counts)
        .filter(|&(_, count)| count > 0)
        .map(|(why, count)| FallbackCount { why, count })
        .collect()
}

const fn fallback_index(why: FallbackReason) -> usize {
    match why {
        FallbackReason::ContentPolicy => 0,
        FallbackReason::ContextWindow => 1,
        FallbackReason::Generic => 2,
        FallbackReason::OrderTier => 3,
        FallbackReason::PerRequest => 4,
        FallbackReason::WeightedFailover => 5,
    }
}

/// In the order of [`fallback_index`].
const FALLBACK_REASONS: [FallbackReason; 6] = [
    FallbackReason::ContentPolicy,
    FallbackReason::ContextWindow,
    FallbackReason::Generic,
    FallbackReason::OrderTier,
    FallbackReason::PerRequest,
    FallbackReason::WeightedFailover,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_to_fall_back_has_the_place_that_its_name_is_listed_at() {
        for (place, why) in FALLBACK_REASONS.into_iter().enumerate() {
            assert_eq!(fallback_index(why), place);
        }
    }
}
