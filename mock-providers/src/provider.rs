//! A provider at work: what it answers to an attempt, and how long that takes.
//!
//! The faults are asked first, in file order. One that turns attempts away at the door (an outage,
//! a bad key, a storm of 429s) answers before the quota is touched; any other failure comes after
//! the quota, and is charged to it. What remains waits for a slot if there is a bound on them, and
//! then takes the time that the latency draws.

use std::{fmt, time::Duration};

use router::{Epoch, Instant, Seed};

use crate::{
    drag::Drag,
    error::SpecError,
    failure::{Fault, Site, Verdict},
    in_flight::InFlight,
    latency::{Latency, Load, LoadMeasure, Pace},
    luck::Luck,
    place::Place,
    presets,
    prompt_cache::{PromptCache, bill},
    queue::Slots,
    quota::Quota,
    reply::{ProviderCall, Reply, Silence, cut_short, silent_answer, stalled, whole_answer},
    schedule::{Origin, number_of},
    spec::ProviderSpec,
    wire::{Break, Dialect, Manner, Scene, WireReply},
    wish::{Granted, Wish},
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
    prompt_cache: Option<Box<PromptCache>>,
    faults: Vec<Box<dyn Fault>>,
    dialect: Dialect,
    origin: Origin,
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
        let prompt_cache = spec.prompt_cache;
        let prompt_cache = prompt_cache
            .map(|spec| PromptCache::new(spec, &place))
            .transpose()?;
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
            prompt_cache: prompt_cache.map(Box::new),
            faults,
            dialect: spec.dialect.unwrap_or_default(),
            origin,
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

    /// What this attempt gets that wishes something for itself.
    ///
    /// # Errors
    ///
    /// If what it wishes makes no sense.
    pub fn respond_to_wish(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        wish: &Wish,
    ) -> Result<Reply, SpecError> {
        self.respond_to_wish_in(at, call, wish, &mut [])
    }

    /// [`respond_to_wish`](Self::respond_to_wish), where pools hold quotas that several share.
    pub(crate) fn respond_to_wish_in(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        wish: &Wish,
        pools: &mut [Quota],
    ) -> Result<Reply, SpecError> {
        let mut granted = wish.grant(self.origin)?;
        Ok(self.reply(at, call, pools, Some(&mut granted)))
    }

    /// [`respond`](Self::respond), where pools hold quotas that several providers share.
    #[inline]
    pub(crate) fn respond_in(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        pools: &mut [Quota],
    ) -> Reply {
        self.reply(at, call, pools, None)
    }

    fn reply(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        pools: &mut [Quota],
        mut wish: Option<&mut Granted>,
    ) -> Reply {
        let luck = Luck::new(self.seed, call.request, call.attempt, call.deployment);
        let (verdict, drag) = self.verdict(at, call, &luck, wish.as_deref_mut());
        if let Verdict::Refuse(denial) = verdict {
            return drag.hinted(denial.reply());
        }
        if let Some(quota) = self.limits.quota(pools)
            && let Some((failure, cause)) = quota.refusal(at, call)
        {
            let reply = Reply::failure(failure, quota.rejection());
            return drag.hinted(reply.in_manner(Manner::Limited(cause)));
        }
        let mut reply = match verdict {
            Verdict::Fail(denial) => drag.hinted(denial.reply()),
            Verdict::Hang => Reply::hang(),
            Verdict::SayNothing(after, how) => silent_answer(call, after, how),
            Verdict::As(_)
            | Verdict::CutShort { .. }
            | Verdict::Drip(_)
            | Verdict::Hint(_)
            | Verdict::Pass
            | Verdict::Refuse(_)
            | Verdict::Slow(_)
            | Verdict::Stall { .. } => {
                let drawn = self.pace(at, &luck, pools);
                let pace = drag.slowed(wish.map_or(drawn, |wish| wish.pace(drawn)));
                self.served(at, call, pace, &verdict)
            }
        };
        bill(self.prompt_cache.as_deref_mut(), at, call, &mut reply);
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.add(call, at + reply.total_after);
        }
        if let Some(quota) = self.limits.quota(pools) {
            // An attempt that never ends is settled at once.
            let end = if reply.total_after == Duration::MAX {
                at
            } else {
                at + reply.total_after
            };
            quota.charge(call, verdict.delivered(call), end);
        }
        reply
    }

    /// What an attempt gets that is answered.
    #[inline]
    fn served(&mut self, at: Instant, call: &ProviderCall, pace: Pace, verdict: &Verdict) -> Reply {
        match *verdict {
            Verdict::CutShort {
                failure,
                after_tokens,
                how,
            } => {
                let service = if how == Break::Silence {
                    Duration::MAX
                } else {
                    pace.until_token(after_tokens)
                };
                let waits = self.wait(at, call, service);
                cut_short(pace, waits, call, failure, after_tokens, how)
            }
            Verdict::Stall {
                after_tokens,
                lasts,
                keep_alive,
            } => {
                let waits = self.wait(at, call, pace.until_token(after_tokens) + lasts);
                let silence = Silence {
                    from: waits + pace.until_token(after_tokens),
                    keep_alive,
                };
                stalled(pace, waits, call, after_tokens, silence, lasts)
            }
            Verdict::As(_)
            | Verdict::Drip(_)
            | Verdict::Fail(_)
            | Verdict::Hang
            | Verdict::Hint(_)
            | Verdict::Pass
            | Verdict::Refuse(_)
            | Verdict::SayNothing(..)
            | Verdict::Slow(_) => {
                let lasts = pace.until_token(call.answer_tokens());
                let waits = self.wait(at, call, lasts);
                let mut reply = whole_answer(pace, waits, lasts, call);
                if let Verdict::As(manner) = *verdict {
                    reply.manner = manner;
                }
                reply
            }
        }
    }

    /// What `reply` looks like on the wire: asked right after [`respond`](Self::respond) gave it.
    #[must_use]
    pub fn on_wire(&mut self, at: Instant, call: &ProviderCall, reply: &Reply) -> WireReply {
        self.on_wire_in(at, call, reply, &mut [], None)
    }

    /// [`on_wire`](Self::on_wire), where pools hold quotas that several providers share, and in
    /// another dialect than its own where one is given.
    pub(crate) fn on_wire_in(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        reply: &Reply,
        pools: &mut [Quota],
        dialect: Option<Dialect>,
    ) -> WireReply {
        let quota = self.limits.quota(pools);
        let dialect = dialect.unwrap_or(self.dialect);
        Scene::new(dialect, at, quota.as_deref(), call).wire(reply)
    }

    /// Whether it asks what prompts begin with.
    #[cfg(any(feature = "http", feature = "wiremock"))]
    pub(crate) const fn remembers(&self) -> bool {
        self.prompt_cache.is_some()
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

    /// The first verdict that decides the attempt, and what those before it do to it.
    fn verdict(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        luck: &Luck,
        wish: Option<&mut Granted>,
    ) -> (Verdict, Drag) {
        let mut drag = Drag::default();
        if let Some(fault) = wish.and_then(Granted::fault)
            && let Some(decided) = drag.takes_in(fault.on_call(at, call, luck))
        {
            return (decided, drag);
        }
        for fault in &mut self.faults {
            if let Some(decided) = drag.takes_in(fault.on_call(at, call, luck)) {
                return (decided, drag);
            }
        }
        (Verdict::Pass, drag)
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
