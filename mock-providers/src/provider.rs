//! A provider at work: what it answers to an attempt, and how long that takes.
//!
//! The faults are asked first, in file order. One that turns attempts away at the door (an outage,
//! a bad key, a storm of 429s) answers before the quota is touched; any other failure comes after
//! the quota, and is charged to it. What remains waits for a slot if there is a bound on them, and
//! then takes the time that the latency draws.

use std::{fmt, time::Duration};

use router::{Epoch, Instant, Seed};

use crate::{
    error::SpecError,
    failure::{Fault, Site, Verdict},
    in_flight::InFlight,
    latency::{Latency, Load, LoadMeasure, Pace},
    luck::Luck,
    place::Place,
    presets,
    queue::Slots,
    quota::Quota,
    reply::{ProviderCall, Reply, Silence, cut_short, stalled, whole_answer},
    schedule::{Origin, number_of},
    spec::ProviderSpec,
    wire::{Dialect, Manner, Scene, WireReply},
};

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
    limits: Limits,
    slots: Option<Slots>,
    /// Kept where the latency depends on it.
    in_flight: Option<InFlight>,
    faults: Vec<Box<dyn Fault>>,
    dialect: Dialect,
}

/// The quota that holds for a provider.
#[derive(Clone, Debug)]
enum Limits {
    None,
    Own(Box<Quota>),
    /// The quota of a pool, by its number.
    Pool(usize),
}

impl Limits {
    fn quota<'a>(&'a mut self, pools: &'a mut [Quota]) -> Option<&'a mut Quota> {
        match self {
            Self::None => None,
            Self::Own(quota) => Some(quota),
            Self::Pool(number) => Some(&mut pools[*number]),
        }
    }
}

impl Provider {
    /// Builds the provider that `spec` describes. If its quota has a pool, it is the only one in it:
    /// [`Providers`](crate::Providers) builds several that share.
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
        let origin = Origin {
            seed,
            provider: key,
            fleet: spec.fleet.as_deref().map(number_of),
        };
        let latency = match &spec.latency {
            Some(latency) => Latency::new(latency, epoch, &place.key("latency"))?,
            None => None,
        };
        let Some(latency) = latency else {
            return Err(SpecError::NoLatency {
                known: presets::names(),
            });
        };
        let limits = match &spec.quota {
            Some(quota) => Limits::Own(Box::new(Quota::new(
                quota,
                origin,
                epoch,
                &place.key("quota"),
            )?)),
            None => Limits::None,
        };
        let slots = match spec.max_concurrent {
            Some(count) => Some(Slots::new(count, &place)?),
            None => None,
        };
        let modes = spec.faults.as_deref().unwrap_or_default();
        let faults = Site::each(modes, origin, &place.key("faults"))
            .map(|(mode, site)| mode.build(&site))
            .collect::<Result<_, _>>()?;
        let reads = latency.reads(LoadMeasure::InFlight);
        Ok(Self {
            seed,
            latency,
            limits,
            slots,
            in_flight: reads.then(InFlight::default),
            faults,
            dialect: spec.dialect.unwrap_or_default(),
        })
    }

    /// Gives its own quota away and counts in pool `number` from now on.
    pub(crate) fn join_pool(&mut self, number: usize) -> Option<Quota> {
        match std::mem::replace(&mut self.limits, Limits::Pool(number)) {
            Limits::Own(quota) => Some(*quota),
            Limits::None | Limits::Pool(_) => None,
        }
    }

    /// What this attempt gets. Calls come in the order of `at`.
    pub fn respond(&mut self, at: Instant, call: &ProviderCall) -> Reply {
        self.respond_in(at, call, &mut [])
    }

    /// [`respond`](Self::respond), where pools hold quotas that several providers share.
    pub(crate) fn respond_in(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        pools: &mut [Quota],
    ) -> Reply {
        let luck = Luck::new(self.seed, call.request, call.attempt, call.deployment);
        let (verdict, slowdown) = self.verdict(at, call, &luck);
        if let Verdict::Refuse(denial) = verdict {
            return denial.reply();
        }
        if let Some(quota) = self.limits.quota(pools)
            && let Some((failure, cause)) = quota.refusal(at, call)
        {
            let reply = Reply::failure(failure, quota.rejection());
            return reply.in_manner(Manner::Limited(cause));
        }

        let (reply, delivered) = match verdict {
            Verdict::Fail(denial) => (denial.reply(), 0),
            Verdict::Hang => (Reply::hang(), 0),
            Verdict::CutShort {
                failure,
                after_tokens,
            } => {
                let pace = self.pace(at, &luck, pools).slowed(slowdown);
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
                let pace = self.pace(at, &luck, pools).slowed(slowdown);
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
                let pace = self.pace(at, &luck, pools).slowed(slowdown);
                let waits = self.wait(at, call, pace.until_token(call.answer_tokens()));
                (whole_answer(pace, waits, call), call.answer_tokens())
            }
        };
        if let (Some(in_flight), true) = (&mut self.in_flight, reply.total_after < Duration::MAX) {
            in_flight.add(call, at + reply.total_after);
        }
        if let Some(quota) = self.limits.quota(pools) {
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

    /// What `reply` looks like on the wire: asked right after [`respond`](Self::respond) gave it.
    #[must_use]
    pub fn on_wire(&mut self, at: Instant, call: &ProviderCall, reply: &Reply) -> WireReply {
        self.on_wire_in(at, call, reply, &mut [])
    }

    /// [`on_wire`](Self::on_wire), where pools hold quotas that several providers share.
    pub(crate) fn on_wire_in(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        reply: &Reply,
        pools: &mut [Quota],
    ) -> WireReply {
        let quota = self.limits.quota(pools);
        Scene::new(self.dialect, at, quota.as_deref(), call).wire(reply)
    }

    /// Hears that the client of an attempt gave up before its end.
    ///
    /// Its slot of `max_concurrent` falls free, unless others were queued behind it. The quota stays
    /// charged: no provider is known to take back a charge for that.
    pub fn abandon(&mut self, at: Instant, call: &ProviderCall) {
        if let Some(slots) = &mut self.slots {
            slots.abandon(at, call);
        }
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.abandon(call);
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

    /// The times that an attempt draws under the load of this moment.
    fn pace(&mut self, at: Instant, luck: &Luck, pools: &mut [Quota]) -> Pace {
        let mut load = Load::default();
        if let Some(in_flight) = &mut self.in_flight {
            let slots = self.slots.as_ref().map_or(usize::MAX, Slots::count);
            load.in_flight = as_number((in_flight.count(at) + 1).min(slots));
        }
        if self.latency.reads(LoadMeasure::QuotaUsed)
            && let Some(quota) = self.limits.quota(pools)
        {
            load.quota_used = quota.used(at);
        }
        self.latency.pace(luck, at, load)
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
            .field("limits", &self.limits)
            .field("slots", &self.slots)
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "attempts under way are far fewer than 2^53"
)]
const fn as_number(count: usize) -> f64 {
    count as f64
}
