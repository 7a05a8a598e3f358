//! A stand-in for router and simulator: a few rules that make every kind of event, so that reports
//! can be tried without either. Nothing here imitates a real router's behaviour.

use std::{cmp::Reverse, collections::BinaryHeap, time::Duration};

use reports::{DeploymentLabel, FaultSpanRecord, Recorder, RecorderSetup, RunRecord};
use router::{
    Answer, CooldownReason, DeploymentId, ErrorClass, Event, Failure, FallbackReason, Instant,
    KeyedRng, ModelId, Observer, Outcome, Prices, Purpose, Request, RequestId, RouteError, Seed,
    Trail, Usage, WaitReason,
};

/// What an arm varies.
#[derive(Clone, Copy, Debug)]
pub struct Knobs {
    /// Part of the picks that avoid the deployment at fault: 0 is blind, 1 never goes there.
    pub caution: f64,
    pub cooldown: Duration,
    pub retries: u16,
    pub requests: u64,
    /// One caller in this many goes away early; 0 for none.
    pub impatience: u64,
    pub seed: Seed,
}

impl Default for Knobs {
    fn default() -> Self {
        let cooldown = Duration::from_secs(5);
        Self {
            caution: 0.0,
            cooldown,
            retries: 2,
            requests: 1_500,
            impatience: 0,
            seed: Seed(1),
        }
    }
}

pub fn setup() -> RecorderSetup {
    let names = [
        ("east", "gpt-4o"),
        ("west", "gpt-4o"),
        ("north", "gpt-4o"),
        ("spare", "gpt-4o-mini"),
    ];
    RecorderSetup {
        deployments: names
            .map(|(id, group)| DeploymentLabel {
                id: id.into(),
                group: group.into(),
                provider: format!("azure-{id}"),
                prices: Prices {
                    input: Some(2.5e-6),
                    output: Some(1e-5),
                    ..Prices::default()
                },
            })
            .to_vec(),
        slo_latency: Some(Duration::from_secs(12)),
        slo_first_token: Some(Duration::from_secs(3)),
        duration: DURATION,
        faults: Vec::new(),
    }
}

/// Plays a run to an observer and gives the moment it ended.
pub fn play(knobs: &Knobs, observer: &mut impl Observer) -> Instant {
    Play {
        knobs,
        observer,
        queue: BinaryHeap::new(),
        cooled: [Instant::ZERO; 4],
        order: 0,
    }
    .run()
}

pub fn record(knobs: &Knobs) -> RunRecord {
    let mut recorder = Recorder::new(setup());
    let end = play(knobs, &mut recorder);
    let mut run = recorder.finish(end);
    run.fault_spans = vec![FaultSpanRecord {
        deployment: 0,
        kind: "outage".into(),
        from_s: OUTAGE.0.as_secs_f64(),
        to_s: OUTAGE.1.as_secs_f64(),
    }];
    run
}

struct Play<'a, O> {
    knobs: &'a Knobs,
    observer: &'a mut O,
    queue: BinaryHeap<Reverse<(Instant, u64, Due)>>,
    cooled: [Instant; 4],
    order: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Arrive(u64),
    Finish(Call),
    Resume(Call),
    GiveUp(Call),
}

/// An attempt under way, or the next one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    request: u64,
    arrived: Instant,
    sent: Instant,
    deployment: u32,
    attempt: u16,
    fallbacks: u16,
    waited: Duration,
    failed_for: Duration,
}

impl<O: Observer> Play<'_, O> {
    fn run(mut self) -> Instant {
        let mut at = Instant::ZERO;
        for request in 0..self.knobs.requests {
            let gap = -libm::log1p(-self.draw("gap", request, 0)) * DURATION.as_secs_f64();
            at += Duration::from_secs_f64(gap / self.knobs.requests as f64);
            self.push(at, Due::Arrive(request));
        }
        let mut end = at;
        while let Some(Reverse((now, _, due))) = self.queue.pop() {
            end = now;
            match due {
                Due::Arrive(request) => self.arrive(now, request),
                Due::Finish(call) => self.finish(now, call),
                Due::Resume(call) => self.send(now, call),
                Due::GiveUp(call) => {
                    let request = RequestId(call.request);
                    let deployment = Some(DeploymentId(call.deployment));
                    self.say(
                        now,
                        &Event::Cancelled {
                            request,
                            deployment,
                        },
                    );
                }
            }
        }
        end
    }

    fn arrive(&mut self, now: Instant, number: u64) {
        let request = Request {
            id: RequestId(number),
            model: ModelId(0),
            prompt_tokens: 100,
            max_tokens: None,
            stream: true,
            origin: router::Origin::default(),
            overrides: None,
        };
        self.say(now, &Event::Arrived { request: &request });
        let call = Call {
            request: number,
            arrived: now,
            sent: now,
            deployment: 0,
            attempt: 0,
            fallbacks: 0,
            waited: Duration::ZERO,
            failed_for: Duration::ZERO,
        };
        self.send(now, call);
    }

    fn send(&mut self, now: Instant, mut call: Call) {
        let request = RequestId(call.request);
        let candidates: Vec<u32> = (0..3).filter(|&d| self.cooled[d as usize] <= now).collect();
        call.deployment = match candidates.as_slice() {
            [] if call.request.is_multiple_of(3) => return self.nothing_to_pick(now, call),
            [] => {
                let (from, to, why) = (ModelId(0), ModelId(1), FallbackReason::Generic);
                self.say(
                    now,
                    &Event::FellBack {
                        request,
                        from,
                        to,
                        why,
                    },
                );
                call.fallbacks += 1;
                3
            }
            some => {
                let key = u64::from(call.attempt);
                let cautious = self.draw("caution", call.request, key) < self.knobs.caution;
                let some = if cautious && some.len() > 1 {
                    &some[1..]
                } else {
                    some
                };
                some[(self.draw("pick", call.request, key) * some.len() as f64) as usize]
            }
        };
        call.sent = now;
        let deployment = DeploymentId(call.deployment);
        let candidates = candidates.len() as u32;
        self.say(
            now,
            &Event::Picked {
                request,
                deployment,
                attempt: call.attempt,
                candidates,
            },
        );
        self.say(
            now,
            &Event::Sent {
                request,
                deployment,
                attempt: call.attempt,
            },
        );
        call.attempt += 1;
        if self.knobs.impatience > 0 && call.request.is_multiple_of(self.knobs.impatience) {
            self.push(now + Duration::from_millis(30), Due::GiveUp(call));
        } else {
            self.push(now + self.took(&call).0, Due::Finish(call));
        }
    }

    fn nothing_to_pick(&mut self, now: Instant, call: Call) {
        let request = RequestId(call.request);
        self.say(
            now,
            &Event::NothingToPick {
                request,
                group: ModelId(0),
            },
        );
        let try_again_in = self.knobs.cooldown;
        let error = RouteError::NoDeployments {
            try_again_in,
            all_cooling: true,
            status: Some(429),
        };
        self.answer(now, &call, |trail| Answer::Failed { error, trail });
    }

    fn finish(&mut self, now: Instant, mut call: Call) {
        let (took, outcome) = self.took(&call);
        let (request, deployment) = (RequestId(call.request), DeploymentId(call.deployment));
        let attempt = call.attempt - 1;
        let outcome = &outcome;
        self.say(
            now,
            &Event::Finished {
                request,
                deployment,
                attempt,
                took,
                outcome,
            },
        );
        match *outcome {
            Outcome::Success { usage, .. } => {
                self.answer(now, &call, |trail| Answer::Completed {
                    deployment,
                    usage,
                    cached: false,
                    trail,
                });
            }
            Outcome::Failure(failure) => {
                call.failed_for += took;
                if call.deployment < 3 {
                    let (until, why) = (now + self.knobs.cooldown, CooldownReason::FailureRate);
                    self.cooled[call.deployment as usize] = until;
                    self.say(
                        now,
                        &Event::CooledDown {
                            deployment,
                            request,
                            until,
                            why,
                        },
                    );
                }
                if call.attempt > self.knobs.retries {
                    let error = RouteError::Attempt {
                        deployment,
                        failure,
                    };
                    return self.answer(now, &call, |trail| Answer::Failed { error, trail });
                }
                let (retry, of) = (u32::from(call.attempt), u32::from(self.knobs.retries));
                self.say(now, &Event::Retrying { request, retry, of });
                let pause = Duration::from_millis(500 * u64::from(call.attempt));
                let (until, why) = (now + pause, WaitReason::Backoff);
                self.say(
                    now,
                    &Event::Waiting {
                        request,
                        until,
                        why,
                    },
                );
                call.waited += pause;
                self.push(until, Due::Resume(call));
            }
        }
    }

    fn answer(&mut self, now: Instant, call: &Call, answer: impl FnOnce(Trail) -> Answer) {
        let first_token_after = self.took(call).0.mul_f64(0.2);
        let mut answer = answer(Trail {
            arrived: call.arrived,
            attempts: call.attempt,
            fallbacks: call.fallbacks,
            group: ModelId(u32::from(call.fallbacks)),
            waited: call.waited,
            in_failed_attempts: call.failed_for,
            first_token: None,
        });
        if let Answer::Completed { trail, .. } = &mut answer {
            trail.first_token = Some(call.sent + first_token_after);
        }
        self.say(
            now,
            &Event::Answered {
                request: RequestId(call.request),
                answer: &answer,
            },
        );
    }

    /// How long the attempt takes and how it ends; the same whenever it is asked.
    fn took(&self, call: &Call) -> (Duration, Outcome) {
        let key = u64::from(call.attempt) * 10 + u64::from(call.deployment);
        let luck = self.draw("luck", call.request, key);
        let is_out = call.deployment == 0 && (OUTAGE.0..OUTAGE.1).contains(&call.sent);
        if is_out {
            return (
                Duration::from_millis(900),
                Outcome::Failure(Failure::with_status(503)),
            );
        }
        if luck < 0.02 && call.deployment == 1 {
            return (
                Duration::from_millis(80),
                Outcome::Failure(Failure::with_status(429)),
            );
        }
        if luck < 0.005 {
            let failure = Failure {
                tokens_delivered: 7,
                ..Failure::of(ErrorClass::Timeout)
            };
            return (Duration::from_secs(15), Outcome::Failure(failure));
        }
        let speed = [2.0, 2.4, 3.1, 1.1][call.deployment as usize];
        let spread = libm::exp(
            0.6 * normal(
                self.draw("a", call.request, key),
                self.draw("b", call.request, key),
            ),
        );
        let usage = Usage::new(100, (200.0 * spread) as u32);
        let took = Duration::from_secs_f64(speed * spread);
        (
            took,
            Outcome::Success {
                usage,
                first_token_after: Some(took.mul_f64(0.2)),
            },
        )
    }

    fn draw(&self, what: &str, request: u64, number: u64) -> f64 {
        KeyedRng::new(self.knobs.seed, Purpose::named(what), request, number).unit()
    }

    fn push(&mut self, at: Instant, due: Due) {
        self.order += 1;
        self.queue.push(Reverse((at, self.order, due)));
    }

    fn say(&mut self, now: Instant, event: &Event<'_>) {
        self.observer.observe(now, event);
    }
}

/// Box and Muller.
fn normal(a: f64, b: f64) -> f64 {
    (-2.0 * libm::log1p(-a)).sqrt() * libm::cos(std::f64::consts::TAU * b)
}

const DURATION: Duration = Duration::from_secs(300);
const OUTAGE: (Instant, Instant) = (
    Instant::from_nanos(90_000_000_000),
    Instant::from_nanos(180_000_000_000),
);
