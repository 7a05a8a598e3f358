//! A provider at work: what it answers to an attempt, and how long that takes.
//!
//! The faults are asked first, in file order. One that turns attempts away at the door (an outage,
//! a bad key, a storm of 429s) answers before the quota is touched; any other failure comes after
//! the quota, and is charged to it. What remains waits for a slot if there is a bound on them, and
//! then takes the time that the latency draws.

use std::{fmt, time::Duration};

use router::{
    DeploymentId, Epoch, ErrorClass, Failure, Instant, Outcome, Reached, RequestId, Seed, Usage,
};

use crate::{
    error::SpecError,
    failure::{Fault, Site, Verdict},
    latency::{Latency, Pace},
    luck::Luck,
    place::Place,
    presets,
    queue::Slots,
    quota::Quota,
    spec::ProviderSpec,
};

/// One attempt, as the provider sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProviderCall {
    /// Whose attempt.
    pub request: RequestId,
    /// Which attempt of the request, from 0.
    pub attempt: u16,
    /// The deployment that it was sent to.
    pub deployment: DeploymentId,
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens that the model would say if it were not cut off. The router never sees it.
    pub output_tokens: u32,
    /// The caller's limit on the answer.
    pub max_tokens: Option<u32>,
    /// Whether the answer is streamed.
    pub stream: bool,
}

impl ProviderCall {
    /// Tokens of the whole answer: what the model would say, cut at the caller's limit.
    #[must_use]
    pub fn answer_tokens(&self) -> u32 {
        self.max_tokens
            .map_or(self.output_tokens, |most| most.min(self.output_tokens))
    }
}

/// How an attempt ends, and when.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reply {
    /// What the caller gets.
    pub outcome: Outcome,
    /// From sending to the end. [`Duration::MAX`]: it never ends, and only the caller's own limit
    /// ends it.
    pub total_after: Duration,
    /// The silence that it ends with, if its stream stalls.
    pub stall: Option<Silence>,
}

/// What is left of a stream that stalls: no content until its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Silence {
    /// From sending to the last content, or to the beginning of the answer if there is none.
    pub from: Duration,
    /// How often a keep-alive frame comes, if any does.
    pub keep_alive: Option<Duration>,
}

impl Reply {
    /// A failure after this time.
    #[must_use]
    pub const fn failure(failure: Failure, total_after: Duration) -> Self {
        Self {
            outcome: Outcome::Failure(failure),
            total_after,
            stall: None,
        }
    }

    /// An answer in one piece after this time.
    #[must_use]
    pub const fn success(usage: Usage, total_after: Duration) -> Self {
        Self {
            outcome: Outcome::Success {
                usage,
                first_token_after: None,
            },
            total_after,
            stall: None,
        }
    }

    /// No answer, ever.
    #[must_use]
    pub const fn hang() -> Self {
        Self::failure(Failure::of(ErrorClass::Timeout), Duration::MAX)
    }
}

/// A span of time in which a fault is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultSpan {
    /// The fault's key in the spec, e.g. `outage`.
    pub kind: &'static str,
    /// Its beginning.
    pub from: Instant,
    /// Its end, which is not part of it.
    pub to: Instant,
}

/// A provider with its state: quota counts, slots, and the place in its faults' schedules.
pub struct Provider {
    seed: Seed,
    latency: Latency,
    quota: Option<Quota>,
    slots: Option<Slots>,
    faults: Vec<Box<dyn Fault>>,
}

impl Provider {
    /// Builds the provider that `spec` describes.
    ///
    /// `key` is its number in the plan: random outages of two providers with the same spec differ
    /// by it. `epoch` says what the wall clock shows at the run's beginning, for quotas by the
    /// minute of the wall clock.
    ///
    /// # Errors
    ///
    /// If a number of the spec makes no sense, keys contradict each other, or its preset is unknown.
    pub fn new(spec: &ProviderSpec, seed: Seed, key: u64, epoch: Epoch) -> Result<Self, SpecError> {
        let spec = spec.resolve()?;
        let place = Place::default();
        let latency = match &spec.latency {
            Some(latency) => Latency::new(latency, &place.key("latency"))?,
            None => None,
        };
        let Some(latency) = latency else {
            return Err(SpecError::NoLatency {
                known: presets::names(),
            });
        };
        let quota = match &spec.quota {
            Some(quota) => Some(Quota::new(quota, epoch, &place.key("quota"))?),
            None => None,
        };
        let slots = match spec.max_concurrent {
            Some(count) => Some(Slots::new(count, &place)?),
            None => None,
        };
        let modes = spec.faults.as_deref().unwrap_or_default();
        let faults = Site::each(modes, seed, key, &place.key("faults"))
            .map(|(mode, site)| mode.build(&site))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            seed,
            latency,
            quota,
            slots,
            faults,
        })
    }

    /// What this attempt gets. Calls come in the order of `at`.
    pub fn respond(&mut self, at: Instant, call: &ProviderCall) -> Reply {
        let luck = Luck::new(self.seed, call.request, call.attempt, call.deployment);
        let (verdict, slowdown) = self.verdict(at, call, &luck);
        if let Verdict::Refuse(denial) = verdict {
            return Reply::failure(denial.failure, denial.after);
        }
        if let Some(quota) = &mut self.quota
            && let Some(failure) = quota.refusal(at, call)
        {
            return Reply::failure(failure, quota.rejection());
        }

        let (reply, delivered) = match verdict {
            Verdict::Fail(denial) => (Reply::failure(denial.failure, denial.after), 0),
            Verdict::Hang => (Reply::hang(), 0),
            Verdict::CutShort {
                failure,
                after_tokens,
            } => {
                let pace = self.latency.pace(&luck).slowed(slowdown);
                let waits = self.wait(at, call, pace.until_token(after_tokens));
                (
                    cut_short(pace, waits, call, failure, after_tokens),
                    after_tokens,
                )
            }
            Verdict::Stall {
                after_tokens,
                lasts,
                keep_alive,
            } => {
                let pace = self.latency.pace(&luck).slowed(slowdown);
                let waits = self.wait(at, call, pace.until_token(after_tokens) + lasts);
                let silence = Silence {
                    from: waits + pace.until_token(after_tokens),
                    keep_alive,
                };
                (
                    stalled(pace, waits, call, after_tokens, silence, lasts),
                    after_tokens,
                )
            }
            Verdict::Pass | Verdict::Refuse(_) | Verdict::Slow(_) => {
                let pace = self.latency.pace(&luck).slowed(slowdown);
                let waits = self.wait(at, call, pace.until_token(call.answer_tokens()));
                (whole_answer(pace, waits, call), call.answer_tokens())
            }
        };
        if let Some(quota) = &mut self.quota {
            // An attempt that never ends is settled at once: it delivers nothing.
            let end = if reply.total_after == Duration::MAX {
                at
            } else {
                at + reply.total_after
            };
            quota.charge(call, delivered, end);
        }
        reply
    }

    /// Hears that the client of an attempt gave up before its end.
    ///
    /// Its slot of `max_concurrent` falls free, unless others were queued behind it. The quota stays
    /// charged: no provider is known to take back a charge for that.
    pub fn abandon(&mut self, at: Instant, call: &ProviderCall) {
        if let Some(slots) = &mut self.slots {
            slots.abandon(at, call);
        }
    }

    /// When its faults are on before `until`, fault by fault in file order: the same spans that
    /// calls meet. A fault that is always on has none, and of each fault the first 10,000 are
    /// listed.
    #[must_use]
    pub fn fault_spans(&self, until: Instant) -> Vec<FaultSpan> {
        let mut listed = Vec::new();
        for fault in &self.faults {
            let kind = fault.kind();
            let spans = fault.spans(until).into_iter();
            listed.extend(spans.map(|span| FaultSpan {
                kind,
                from: span.from,
                to: span.to,
            }));
        }
        listed
    }

    /// How long the attempt waits for a slot before it is served for `service`.
    fn wait(&mut self, at: Instant, call: &ProviderCall, service: Duration) -> Duration {
        self.slots
            .as_mut()
            .map_or(Duration::ZERO, |slots| slots.take(at, call, service))
    }

    /// The first verdict that decides the attempt, and the product of the slow-downs before it.
    fn verdict(&mut self, at: Instant, call: &ProviderCall, luck: &Luck) -> (Verdict, f64) {
        let mut slowdown = 1.0;
        for fault in &mut self.faults {
            match fault.on_call(at, call, luck) {
                Verdict::Pass => {}
                Verdict::Slow(factor) => slowdown *= factor,
                decided @ (Verdict::CutShort { .. }
                | Verdict::Fail(_)
                | Verdict::Hang
                | Verdict::Refuse(_)
                | Verdict::Stall { .. }) => return (decided, slowdown),
            }
        }
        (Verdict::Pass, slowdown)
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("latency", &self.latency)
            .field("quota", &self.quota)
            .field("slots", &self.slots)
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

fn whole_answer(pace: Pace, waits: Duration, call: &ProviderCall) -> Reply {
    let tokens = call.answer_tokens();
    let usage = Usage::new(call.prompt_tokens, tokens);
    let first_token_after = call.stream.then(|| waits + pace.first_token());
    Reply {
        outcome: Outcome::Success {
            usage,
            first_token_after,
        },
        total_after: waits + pace.until_token(tokens),
        stall: None,
    }
}

/// A stream that says no more than these tokens, and ends after its silence has lasted so long.
fn stalled(
    pace: Pace,
    waits: Duration,
    call: &ProviderCall,
    tokens: u32,
    silence: Silence,
    lasts: Duration,
) -> Reply {
    Reply {
        outcome: Outcome::Success {
            usage: Usage::new(call.prompt_tokens, tokens),
            first_token_after: (tokens > 0).then(|| waits + pace.first_token()),
        },
        total_after: silence.from + lasts,
        stall: Some(silence),
    }
}

/// The answer breaks off after `tokens`. Only a streamed one has delivered anything by then.
fn cut_short(
    pace: Pace,
    waits: Duration,
    call: &ProviderCall,
    failure: Failure,
    tokens: u32,
) -> Reply {
    let total_after = waits + pace.until_token(tokens);
    let failure = match (call.stream, tokens) {
        (false, _) => failure,
        (true, 0) => failure.after(Reached::Headers),
        (true, _) => Failure {
            reached: Reached::Content,
            tokens_delivered: tokens,
            first_token_after: Some(waits + pace.first_token()),
            ..failure
        },
    };
    Reply::failure(failure, total_after)
}
