//! What the recorder makes of single events, and of whole runs.

use std::time::Duration;

use reports::{DeploymentLabel, Recorder, RecorderSetup, RunRecord, metric};
use router::{
    Answer, CooldownReason, DeploymentId, Event, Failure, Instant, ModelId, Observer, Origin,
    Outcome, Prices, Request, RequestId, Trail, Usage,
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
