//! What a report says of a run, counted again from what was heard of each request and attempt
//! (invariant 22): by lists that are added up in the end, where the recorder counts as it goes.

use std::{collections::BTreeMap, time::Duration};

use reports::RunRecord;
use router::{Answer, DeploymentId, Event, Instant, Observer, Outcome, RequestId, Usage};
use scenarios::RunPlan;

use super::{check::violation, rule::Violation};

/// Keeps what happened, request by request.
#[derive(Debug, Default)]
pub(super) struct Recount {
    requests: BTreeMap<RequestId, Told>,
    attempts: Vec<AttemptTold>,
    /// The attempt under way of each request, as a place in `attempts`.
    under_way: BTreeMap<RequestId, usize>,
    /// From when to when, by deployment.
    cooled: BTreeMap<DeploymentId, Vec<(Instant, Instant)>>,
    /// How often something of this kind happened to a request that is no mirror.
    counts: BTreeMap<&'static str, u64>,
    mirrors: u64,
    heard: u64,
}

#[derive(Debug)]
struct Told {
    arrived: Instant,
    /// When it was over, and how; `None`: its caller left.
    end: Option<(Instant, Option<Answer>)>,
}

#[derive(Debug)]
struct AttemptTold {
    request: RequestId,
    deployment: DeploymentId,
    /// Places among all that was heard, which tell the order within one moment too.
    from: u64,
    to: Option<u64>,
    outcome: Option<Outcome>,
}

impl Recount {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn ends(&mut self, request: RequestId, outcome: Option<Outcome>) {
        if let Some(place) = self.under_way.remove(&request) {
            let attempt = &mut self.attempts[place];
            attempt.to = Some(self.heard);
            attempt.outcome = outcome;
        }
    }

    /// Where a record says otherwise.
    pub(super) fn differences(&self, plan: &RunPlan, record: &RunRecord) -> Vec<Violation> {
        let mut sums = self.of_requests(record);
        sums.extend(self.of_deployments(plan, record));
        let differ = |(what, counted, told): (String, f64, f64)| {
            let close = (counted - told).abs() <= TOLERANCE * counted.abs().max(1.0);
            (!close)
                .then(|| violation(22, format!("{what} is {told} in the report, and {counted}")))
        };
        sums.into_iter().filter_map(differ).collect()
    }

    fn of_requests(&self, record: &RunRecord) -> Vec<(String, f64, f64)> {
        let own = || self.requests.iter().filter(|(id, _)| !id.is_mirror());
        let ends = || own().filter_map(|(_, told)| Some((told.arrived, told.end?)));
        let answers = || ends().filter_map(|(arrived, (at, answer))| Some((arrived, at, answer?)));
        let completed = |answer: &Answer| matches!(answer, Answer::Completed { .. });
        let spans = |of: fn(&Answer) -> bool| -> Vec<f64> {
            let of = answers().filter(|(.., answer)| of(answer));
            of.map(|(arrived, at, _)| at.since(arrived).as_secs_f64())
                .collect()
        };
        let done: Vec<f64> = spans(|answer| matches!(answer, Answer::Completed { .. }));
        let failed = answers().filter(|(.., answer)| !completed(answer)).count();
        let cancelled = ends().filter(|(_, (_, answer))| answer.is_none()).count();
        let waited = |of: fn(&Answer) -> Duration| -> f64 {
            answers().map(|(.., answer)| micros(of(&answer))).sum()
        };
        let mean = if done.is_empty() {
            0.0
        } else {
            done.iter().sum::<f64>() / number(done.len())
        };
        let longest = done.iter().copied().fold(0.0, f64::max);
        let told_longest = record.latency.quantile_s(1.0).unwrap_or(0.0);
        // The longest is kept to a thousandth, from above.
        let fits = told_longest >= longest - 1e-6 && told_longest <= longest * 1.002 + 2e-6;
        let errors: u64 = record.errors.iter().map(|error| error.count).sum();
        let mut sums = vec![
            ("requests", number(own().count()), whole(record.requests)),
            ("completed", number(done.len()), whole(record.completed)),
            ("failed", number(failed), whole(record.failed)),
            ("errors", number(failed), whole(errors)),
            ("cancelled", number(cancelled), whole(record.cancelled)),
            ("unfinished", 0.0, whole(record.unfinished)),
            (
                "latency.count",
                number(done.len()),
                whole(record.latency.count),
            ),
            ("mirrors", whole(self.mirrors), whole(record.mirrors)),
            ("waited_s", waited(|a| a.trail().waited), record.waited_s),
            (
                "in_failed_attempts_s",
                waited(|a| a.trail().in_failed_attempts),
                record.in_failed_attempts_s,
            ),
            (
                "latency.longest",
                if fits { told_longest } else { longest },
                told_longest,
            ),
        ];
        let near = (record.latency.mean_s - mean).abs() <= mean * 1e-3 + 1e-6;
        sums.push((
            "latency.mean",
            if near { record.latency.mean_s } else { mean },
            record.latency.mean_s,
        ));
        let fell_back: u64 = record.fallbacks.iter().map(|count| count.count).sum();
        let told = [
            ("retries", record.retries),
            ("fallbacks", fell_back),
            ("nothing_to_pick", record.nothing_to_pick),
            ("slots_refused", record.slots_refused),
            ("parked", record.parked),
            ("limits_refused", record.limits_refused),
            ("cache_hits", record.cache_hits),
        ];
        for (what, told) in told {
            let counted = self.counts.get(what).copied().unwrap_or(0);
            sums.push((what, whole(counted), whole(told)));
        }
        sums.into_iter()
            .map(|(what, counted, told)| (what.to_owned(), counted, told))
            .collect()
    }

    fn of_deployments(&self, plan: &RunPlan, record: &RunRecord) -> Vec<(String, f64, f64)> {
        // To the nanosecond that it was: seconds are cut to whole ones on the way back.
        let end = Instant::from_secs_f64(record.end_s + 0.5e-9);
        let mut sums = Vec::new();
        for (deployment, told) in (0..).map(DeploymentId).zip(&record.deployments) {
            let all = || {
                self.attempts
                    .iter()
                    .filter(move |a| a.deployment == deployment)
            };
            let own = || all().filter(|a| !a.request.is_mirror());
            let usage = |a: &AttemptTold| match a.outcome {
                Some(Outcome::Success { usage, .. }) => Some(usage),
                Some(Outcome::Failure(_)) | None => None,
            };
            let failed = |a: &&AttemptTold| matches!(a.outcome, Some(Outcome::Failure(_)));
            let tokens = |of: fn(Usage) -> u32| -> f64 {
                all()
                    .filter_map(usage)
                    .map(|usage| f64::from(of(usage)))
                    .sum()
            };
            let successes = own().filter(|a| usage(a).is_some()).count();
            let cooled = self
                .cooled
                .get(&deployment)
                .map_or(0.0, |spans| union_s(spans, end));
            let id = &plan.router.deployments[deployment.index()].id;
            let of =
                |what: &str, counted: f64, told: f64| (format!("{what} of {id}"), counted, told);
            sums.extend([
                of("sent", number(own().count()), whole(told.sent)),
                of(
                    "mirrored",
                    number(all().count() - own().count()),
                    whole(told.mirrored),
                ),
                of("successes", number(successes), whole(told.successes)),
                of(
                    "failures",
                    number(own().filter(failed).count()),
                    whole(told.failures()),
                ),
                of(
                    "prompt_tokens",
                    tokens(|u| u.prompt_tokens),
                    whole(told.prompt_tokens),
                ),
                of(
                    "completion_tokens",
                    tokens(|u| u.completion_tokens),
                    whole(told.completion_tokens),
                ),
                of(
                    "in_flight_max",
                    most_at_once(all()),
                    f64::from(told.in_flight_max),
                ),
            ]);
            // A failed trial prolongs a cooldown without a word.
            if !plan.router.settings.cooldown_recovery.one_trial {
                sums.push(of("cooled_s", cooled, told.cooled_s));
            }
        }
        let sent = self
            .attempts
            .iter()
            .filter(|a| !a.request.is_mirror())
            .count();
        sums.push(("attempts".to_owned(), number(sent), whole(record.attempts)));
        sums
    }
}

impl Observer for Recount {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        self.heard += 1;
        let own = !event.request().is_some_and(RequestId::is_mirror);
        let kind = match *event {
            Event::Arrived { request } => {
                let told = Told {
                    arrived: at,
                    end: None,
                };
                self.requests.insert(request.id, told);
                return;
            }
            Event::Sent {
                request,
                deployment,
                ..
            } => {
                self.under_way.insert(request, self.attempts.len());
                self.attempts.push(AttemptTold {
                    request,
                    deployment,
                    from: self.heard,
                    to: None,
                    outcome: None,
                });
                return;
            }
            Event::Finished {
                request, outcome, ..
            } => {
                self.ends(request, Some(*outcome));
                return;
            }
            Event::Answered { request, answer } => {
                if let Some(told) = self.requests.get_mut(&request) {
                    told.end = Some((at, Some(*answer)));
                }
                return;
            }
            Event::Cancelled { request, .. } => {
                self.ends(request, None);
                if let Some(told) = self.requests.get_mut(&request) {
                    told.end = Some((at, None));
                }
                return;
            }
            Event::CooledDown {
                deployment, until, ..
            } => {
                self.cooled.entry(deployment).or_default().push((at, until));
                return;
            }
            Event::CooldownCleared { deployment } => {
                for (_, until) in self.cooled.entry(deployment).or_default() {
                    *until = (*until).min(at);
                }
                return;
            }
            Event::Mirrored { .. } => {
                self.mirrors += 1;
                return;
            }
            Event::Retrying { .. } => "retries",
            Event::FellBack { .. } => "fallbacks",
            Event::NothingToPick { .. } => "nothing_to_pick",
            Event::SlotRefused { .. } => "slots_refused",
            Event::ParkedForSlot { .. } => "parked",
            Event::LimitRefused { .. } => "limits_refused",
            Event::CacheHit { .. } => "cache_hits",
            Event::PassedOver { .. }
            | Event::Picked { .. }
            | Event::FailuresSpent { .. }
            | Event::FirstToken { .. }
            | Event::Waiting { .. }
            | Event::MovedOn { .. }
            | Event::GivenUp { .. } => return,
        };
        if own {
            self.count(kind);
        }
    }
}

/// Seconds that these spans cover until `end`, each moment once.
fn union_s(spans: &[(Instant, Instant)], end: Instant) -> f64 {
    let mut spans: Vec<_> = spans.to_vec();
    spans.sort_unstable();
    let mut covered = Duration::ZERO;
    let mut reached = Instant::ZERO;
    for (from, to) in spans {
        let (from, to) = (from.max(reached), to.min(end));
        if to > from {
            covered += to.since(from);
            reached = to;
        }
    }
    covered.as_secs_f64()
}

/// Most attempts at one moment.
fn most_at_once<'a>(attempts: impl Iterator<Item = &'a AttemptTold>) -> f64 {
    let attempts: Vec<&AttemptTold> = attempts.collect();
    let at_once = |begins: u64| {
        let there = |a: &&&AttemptTold| a.from <= begins && a.to.is_none_or(|to| to > begins);
        attempts.iter().filter(there).count()
    };
    number(attempts.iter().map(|a| at_once(a.from)).max().unwrap_or(0))
}

/// Cut to whole microseconds, as the recorder adds them up.
#[expect(
    clippy::cast_precision_loss,
    reason = "far fewer than 2^53 microseconds"
)]
fn micros(span: Duration) -> f64 {
    span.as_micros() as f64 / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run are below 2^53")]
const fn number(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run are below 2^53")]
const fn whole(count: u64) -> f64 {
    count as f64
}

/// Sums of fractions differ in their last digits by the order of adding.
const TOLERANCE: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use reports::Recorder;
    use router::Seed;

    use super::*;
    use crate::{
        recorder_setup, simulate,
        swarm::{Draws, plan_of, scenario},
    };

    #[test]
    fn a_report_that_is_doctored_is_found_out_in_each_of_its_sums() {
        let plan = plan_of(&scenario(&mut Draws::of_run(Seed(1), 0))).unwrap();
        let mut recorder = Recorder::new(recorder_setup(&plan).unwrap());
        let mut recount = Recount::default();
        let end = simulate(&plan, &mut (&mut recorder, &mut recount)).unwrap();
        let record = recorder.finish(end.end);
        assert_eq!(recount.differences(&plan, &record), []);

        let changes: [fn(&mut RunRecord); 8] = [
            |record| record.completed += 1,
            |record| record.retries += 1,
            |record| record.waited_s += 0.001,
            |record| record.latency.mean_s *= 1.01,
            |record| record.deployments[0].sent += 1,
            |record| record.deployments[0].completion_tokens += 1,
            |record| record.deployments[0].in_flight_max += 1,
            |record| record.deployments[0].cooled_s += 0.5,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut doctored = record.clone();
            change(&mut doctored);
            let found = recount.differences(&plan, &doctored);
            assert_eq!(found.len(), 1, "change {number}: {found:?}");
            assert_eq!(found[0].invariant, 22);
        }
    }
}
