//! The recorder against a slow recomputation from the list of everything that happened.

use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;
use reports::{DeploymentLabel, Recorder, RecorderSetup, RunRecord, metric};
use router::{
    Answer, CooldownReason, DeploymentId, ErrorClass, Event, Failure, Instant, ModelId, Observer,
    Origin, Outcome, Prices, Request, RequestId, Seed, Trail, Usage,
};

use crate::stand_in::{Knobs, play, setup};

/// A recorder of two deployments at ten dollars a token that heard these events.
fn heard(events: &[Event<'_>]) -> RunRecord {
    let label = |id: &str| DeploymentLabel {
        id: id.to_owned(),
        prices: Prices {
            input: Some(10.0),
            output: Some(10.0),
            ..Prices::default()
        },
        ..DeploymentLabel::default()
    };
    let mut recorder = Recorder::new(RecorderSetup {
        deployments: vec![label("a"), label("s")],
        duration: Duration::from_secs(10),
        ..RecorderSetup::default()
    });
    for event in events {
        recorder.observe(Instant::from_secs_f64(1.0), event);
    }
    recorder.finish(Instant::from_secs_f64(10.0))
}

fn request(id: u64) -> Request {
    Request {
        id: RequestId(id),
        model: ModelId(0),
        prompt_tokens: 10,
        max_tokens: None,
        stream: false,
        origin: Origin::default(),
        overrides: None,
    }
}

fn answer(deployment: u32, cached: bool, attempts: u16) -> Answer {
    Answer::Completed {
        deployment: DeploymentId(deployment),
        usage: Usage::new(10, 5),
        cached,
        trail: Trail {
            arrived: Instant::from_secs_f64(1.0),
            attempts,
            fallbacks: 0,
            group: ModelId(0),
            waited: Duration::ZERO,
            in_failed_attempts: Duration::ZERO,
            first_token: None,
        },
    }
}

/// An attempt at a deployment that ended at once.
fn attempt<'a>(id: u64, deployment: u32, outcome: &'a Outcome) -> [Event<'a>; 2] {
    let (request, deployment) = (RequestId(id), DeploymentId(deployment));
    [
        Event::Sent {
            request,
            deployment,
            attempt: 0,
        },
        Event::Finished {
            request,
            deployment,
            attempt: 0,
            took: Duration::ZERO,
            outcome,
        },
    ]
}

#[test]
fn a_mirror_is_load_and_a_bill_and_nothing_else() {
    const MIRROR: u64 = (1 << 63) + 1;
    let success = Outcome::Success {
        usage: Usage::new(10, 5),
        first_token_after: None,
    };
    let failure = Outcome::Failure(Failure::with_status(500));
    let (primary, mirror) = (request(1), request(MIRROR));
    let (own, copy) = (answer(0, false, 1), answer(1, false, 2));
    let mut events = vec![
        Event::Arrived { request: &primary },
        Event::Mirrored {
            request: RequestId(1),
            mirror: RequestId(MIRROR),
            group: ModelId(1),
        },
    ];
    events.extend(attempt(1, 0, &success));
    events.push(Event::Arrived { request: &mirror });
    events.extend(attempt(MIRROR, 1, &failure));
    events.extend(attempt(MIRROR, 1, &success));
    events.push(Event::Answered {
        request: RequestId(MIRROR),
        answer: &copy,
    });
    events.push(Event::Answered {
        request: RequestId(1),
        answer: &own,
    });

    let run = heard(&events);

    assert_eq!((run.requests, run.completed, run.mirrors), (1, 1, 1));
    assert_eq!((run.attempts, run.failed_attempts()), (1, 0));
    let silent = &run.deployments[1];
    assert_eq!(
        (silent.sent, silent.mirrored, silent.mirrored_failed),
        (0, 2, 1)
    );
    assert_eq!((silent.load(), silent.in_flight_max), (2, 1));
    assert_eq!(run.cost_usd(), Some(300.0));
    let sent: u32 = run.timeline.deployments[1].sent.iter().sum();
    assert_eq!(sent, 2);
}

#[test]
fn an_answer_of_the_cache_costs_nothing_and_is_no_attempt() {
    let asked = request(1);
    let cached = answer(0, true, 0);
    let run = heard(&[
        Event::Arrived { request: &asked },
        Event::CacheHit {
            request: RequestId(1),
            deployment: DeploymentId(0),
        },
        Event::Answered {
            request: RequestId(1),
            answer: &cached,
        },
    ]);

    assert_eq!((run.completed, run.cache_hits, run.attempts), (1, 1, 0));
    assert_eq!(
        (run.deployments[0].cache_hits, run.cost_usd()),
        (1, Some(0.0))
    );
    let ratio = metric("cache_hit_ratio").unwrap().value(&run);
    assert_eq!(ratio, Some(1.0));
}

#[test]
fn a_cooldown_that_is_ended_by_hand_is_over() {
    let deployment = DeploymentId(0);
    let mut recorder = Recorder::new(RecorderSetup {
        deployments: vec![DeploymentLabel::default()],
        duration: Duration::from_secs(100),
        ..RecorderSetup::default()
    });
    let at = Instant::from_secs_f64;
    let cooled = |until| Event::CooledDown {
        deployment,
        request: RequestId(1),
        until: at(until),
        why: CooldownReason::RateLimited,
    };
    recorder.observe(at(1.0), &cooled(61.0));
    recorder.observe(at(11.0), &Event::CooldownCleared { deployment });
    recorder.observe(at(20.0), &cooled(25.0));

    let run = recorder.finish(at(100.0));
    let cooled_s = run.deployments[0].cooled_s;
    assert!((cooled_s - 15.0).abs() < 1e-9, "{cooled_s}");
}

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

#[test]
fn a_run_that_is_cut_off_says_how_many_requests_had_no_answer() {
    /// Stops listening at a moment.
    struct Until(Recorder, Instant);
    impl Observer for Until {
        fn observe(&mut self, at: Instant, event: &Event<'_>) {
            if at < self.1 {
                self.0.observe(at, event);
            }
        }
    }
    let cut = Instant::from_secs_f64(100.0);
    let mut half = Until(Recorder::new(setup()), cut);

    play(&Knobs::default(), &mut half);

    let run = half.0.finish(cut);
    assert!(run.unfinished > 0);
    assert_eq!(run.requests, run.completed + run.failed + run.unfinished);
    assert_eq!(run.end_s, 100.0);
}

#[test]
fn the_same_events_give_the_same_bytes() {
    let bytes = || serde_json::to_string(&crate::stand_in::record(&Knobs::default())).unwrap();

    let first = bytes();
    assert!(first == bytes());
    let back: RunRecord = serde_json::from_str(&first).unwrap();
    assert!(serde_json::to_string(&back).unwrap() == first);
}

#[test]
fn the_size_of_a_record_does_not_grow_with_the_run() {
    let size = |requests| {
        let knobs = Knobs {
            requests,
            ..Knobs::default()
        };
        serde_json::to_string(&crate::stand_in::record(&knobs))
            .unwrap()
            .len()
    };

    let (short, long) = (size(5_000), size(200_000));
    assert!(
        long < 3 * short,
        "{short} bytes for 5,000 requests, {long} for 200,000"
    );
}

#[test]
fn a_request_that_needs_its_second_attempt_is_an_attempt_more() {
    let run = crate::stand_in::record(&Knobs {
        retries: 1,
        ..Knobs::default()
    });

    let attempts = metric("attempts_per_request").unwrap().value(&run).unwrap();
    let retries = metric("retries_per_request").unwrap().value(&run).unwrap();
    let turned_away = run.requests_by_attempts[0] as f64 / run.requests as f64;
    assert!(
        attempts > 1.0 && attempts <= 1.0 + retries - turned_away + 1e-9,
        "{attempts} {retries}"
    );
}
