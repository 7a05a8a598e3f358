//! The recorder against a slow recomputation from the list of everything that happened.

use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;
use reports::{Recorder, RunRecord};
use router::{
    Answer, DeploymentId, ErrorClass, Event, Instant, Observer, Outcome, RequestId, Seed,
};

use crate::stand_in::{Knobs, play, setup};

/// Keeps every event that a recorder may count.
#[derive(Default)]
struct Log(Vec<(Instant, Heard)>);

#[derive(Clone, Copy)]
enum Heard {
    Arrived(RequestId),
    Sent(DeploymentId),
    Finished(DeploymentId, Outcome),
    Answered(RequestId, Answer),
    Cooled(DeploymentId, Instant),
    Cancelled(Option<DeploymentId>),
    Other,
}

impl Observer for Log {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let heard = match *event {
            Event::Arrived { request } => Heard::Arrived(request.id),
            Event::Sent { deployment, .. } => Heard::Sent(deployment),
            Event::Finished {
                deployment,
                outcome,
                ..
            } => Heard::Finished(deployment, *outcome),
            Event::Answered { request, answer } => Heard::Answered(request, *answer),
            Event::CooledDown {
                deployment, until, ..
            } => Heard::Cooled(deployment, until),
            Event::Cancelled { deployment, .. } => Heard::Cancelled(deployment),
            _ => Heard::Other,
        };
        self.0.push((at, heard));
    }
}

impl Log {
    fn arrivals(&self) -> BTreeMap<RequestId, Instant> {
        let arrived = self.0.iter().filter_map(|&(at, heard)| match heard {
            Heard::Arrived(request) => Some((request, at)),
            _ => None,
        });
        arrived.collect()
    }

    /// Latencies of the requests that completed, or that failed, ascending, in microseconds.
    fn latencies(&self, completed: bool) -> Vec<u128> {
        let arrivals = self.arrivals();
        let mut found: Vec<u128> = (self.0.iter())
            .filter_map(|&(at, heard)| match heard {
                Heard::Answered(request, answer)
                    if matches!(answer, Answer::Completed { .. }) == completed =>
                {
                    Some(at.since(arrivals[&request]).as_micros())
                }
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// Nanoseconds of cooldown, found by marking every millisecond.
    fn cooled_ms(&self, deployment: DeploymentId, end: Instant) -> usize {
        let ms = |at: Instant| usize::try_from(at.as_nanos() / 1_000_000).unwrap();
        let mut marked = vec![false; ms(end) + 1];
        for &(at, heard) in &self.0 {
            if let Heard::Cooled(whom, until) = heard
                && whom == deployment
            {
                marked[ms(at)..ms(until.min(end)).max(ms(at))].fill(true);
            }
        }
        marked.iter().filter(|&&mark| mark).count()
    }

    fn most_in_flight(&self, deployment: DeploymentId) -> u32 {
        let (mut now, mut most) = (0_u32, 0_u32);
        for (_, heard) in &self.0 {
            match heard {
                Heard::Sent(whom) if *whom == deployment => now += 1,
                Heard::Finished(whom, _) | Heard::Cancelled(Some(whom)) if *whom == deployment => {
                    now -= 1;
                }
                _ => {}
            }
            most = most.max(now);
        }
        most
    }

    fn count(&self, what: impl Fn(&Heard) -> bool) -> u64 {
        self.0.iter().filter(|(_, heard)| what(heard)).count() as u64
    }
}

fn knobs() -> impl Strategy<Value = Knobs> {
    (
        0.0..1.0_f64,
        0_u64..90,
        0_u16..4,
        1_u64..400,
        prop_oneof![Just(0_u64), 2_u64..20],
        any::<u64>(),
    )
        .prop_map(
            |(caution, cooldown_s, retries, requests, impatience, seed)| {
                let cooldown = Duration::from_secs(cooldown_s);
                Knobs {
                    caution,
                    cooldown,
                    retries,
                    requests,
                    impatience,
                    seed: Seed(seed),
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_record_is_what_a_recount_of_all_events_gives(knobs in knobs()) {
        let mut both = (Recorder::new(setup()), Log::default());

        let end = play(&knobs, &mut both);

        let (recorder, log) = both;
        let run = recorder.finish(end);
        recount_requests(&run, &log)?;
        recount_deployments(&run, &log, end)?;
        recount_timeline(&run)?;
    }
}

fn recount_requests(run: &RunRecord, log: &Log) -> Result<(), TestCaseError> {
    let completed = log.latencies(true);
    let failed = log.latencies(false);
    prop_assert_eq!(run.requests, log.arrivals().len() as u64);
    prop_assert_eq!(run.completed, completed.len() as u64);
    prop_assert_eq!(run.failed, failed.len() as u64);
    prop_assert_eq!(
        run.cancelled,
        log.count(|heard| matches!(heard, Heard::Cancelled(..)))
    );
    prop_assert_eq!(run.unfinished, 0);
    prop_assert_eq!(
        run.errors.iter().map(|error| error.count).sum::<u64>(),
        run.failed
    );
    prop_assert_eq!(run.latency_all.count, run.completed + run.failed);
    prop_assert_eq!(
        run.requests_by_attempts.iter().sum::<u64>(),
        run.completed + run.failed
    );
    for &(q, seconds) in &run.latency.quantiles {
        let rank = ((q * completed.len() as f64).ceil() as usize).clamp(1, completed.len());
        let exact = completed[rank - 1] as f64 / 1e6;
        prop_assert!(
            seconds >= exact && seconds <= exact * 1.001 + 1e-6,
            "q{q}: {seconds} {exact}"
        );
    }
    let answers = log.0.iter().filter_map(|(at, heard)| match heard {
        Heard::Answered(_, answer) => Some((at, answer)),
        _ => None,
    });
    let (mut good, mut waited, mut in_failed) = (0, Duration::ZERO, Duration::ZERO);
    for (at, answer) in answers {
        let trail = answer.trail();
        waited += trail.waited;
        in_failed += trail.in_failed_attempts;
        if let (Answer::Completed { .. }, Some(first)) = (answer, trail.first_token) {
            let in_time = at.since(trail.arrived) <= Duration::from_secs(12);
            good += u64::from(in_time && first.since(trail.arrived) <= Duration::from_secs(3));
        }
    }
    prop_assert_eq!(run.good, Some(good));
    prop_assert!((run.waited_s - waited.as_secs_f64()).abs() < 1e-3);
    prop_assert!((run.in_failed_attempts_s - in_failed.as_secs_f64()).abs() < 1e-3);
    Ok(())
}

fn recount_deployments(run: &RunRecord, log: &Log, end: Instant) -> Result<(), TestCaseError> {
    for (index, deployment) in (0..).zip(&run.deployments) {
        let me = DeploymentId(index);
        let sent = log.count(|heard| matches!(heard, Heard::Sent(whom) if *whom == me));
        prop_assert_eq!((deployment.sent, deployment.picks), (sent, sent));
        prop_assert_eq!(deployment.in_flight_max, log.most_in_flight(me));
        let (mut tokens, mut limited, mut failures, mut successes) = (0, 0, 0, 0);
        for (_, heard) in &log.0 {
            match heard {
                Heard::Finished(whom, Outcome::Success { usage, .. }) if *whom == me => {
                    tokens += u64::from(usage.completion_tokens);
                    successes += 1;
                }
                Heard::Finished(whom, Outcome::Failure(failure)) if *whom == me => {
                    limited += u64::from(failure.class == ErrorClass::RateLimit);
                    failures += 1;
                }
                _ => {}
            }
        }
        prop_assert_eq!(deployment.completion_tokens, tokens);
        prop_assert_eq!(deployment.rate_limited(), limited);
        prop_assert_eq!(
            (deployment.failures(), deployment.successes),
            (failures, successes)
        );
        let cost = deployment.prompt_tokens as f64 * 2.5e-6 + tokens as f64 * 1e-5;
        prop_assert!((deployment.cost_usd.unwrap() - cost).abs() < 1e-9);
        let marked = log.cooled_ms(me, end) as f64 / 1e3;
        let slack = 0.001 * (2.0 + deployment.cooldowns as f64);
        prop_assert!(
            (deployment.cooled_s - marked).abs() <= slack,
            "{} {marked}",
            deployment.cooled_s
        );
    }
    Ok(())
}

fn recount_timeline(run: &RunRecord) -> Result<(), TestCaseError> {
    let total = |of: fn(&reports::TimeBucket) -> u32| -> u64 {
        run.timeline
            .buckets
            .iter()
            .map(|bucket| u64::from(of(bucket)))
            .sum()
    };
    prop_assert_eq!(total(|bucket| bucket.arrived), run.requests);
    prop_assert_eq!(total(|bucket| bucket.completed), run.completed);
    prop_assert_eq!(total(|bucket| bucket.failed), run.failed);
    for (line, deployment) in run.timeline.deployments.iter().zip(&run.deployments) {
        let sent: u64 = line.sent.iter().map(|&sent| u64::from(sent)).sum();
        let failed: u64 = line.failed.iter().map(|&failed| u64::from(failed)).sum();
        prop_assert_eq!((sent, failed), (deployment.sent, deployment.failures()));
    }
    Ok(())
}
