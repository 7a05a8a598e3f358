//! What all connections share: the providers, the clock, and the record of what came.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use router::{Instant, Seed};
use tokio::sync::watch;

use super::{
    DEFAULT, ServerError, ServerOptions, Upstream,
    seen::{Ledger, Seen, State},
};
use crate::{
    clock::Clock,
    error::SpecError,
    exchange::{Encounter, Play, asked::Asked, orders::Orders},
    providers::Providers,
    reply::ProviderCall,
    spec::ProviderSpec,
};

/// The shared state of a server.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) clock: Clock,
    seed: Seed,
    output_tokens: u32,
    state: Mutex<Shared>,
    closed: watch::Sender<bool>,
    /// Nanoseconds by which the latest byte left after its moment.
    late: AtomicU64,
}

#[derive(Debug)]
struct Shared {
    /// As they were at the beginning.
    first: Vec<Upstream>,
    upstreams: Vec<Upstream>,
    providers: Providers,
    /// The moment of the latest call: calls come in order.
    latest: Instant,
    arrived: u64,
    ledger: Ledger,
}

/// What an upstream makes of a request.
pub(super) struct Meeting {
    pub(super) play: Play,
    pub(super) begun: Instant,
    pub(super) visit: Visit,
}

/// A request under way. If it is dropped before it has ended, its client has left.
#[derive(Debug)]
pub(super) struct Visit {
    desk: Arc<Desk>,
    /// Its place among the upstreams.
    provider: usize,
    call: ProviderCall,
    number: u64,
    begun: Instant,
    ended: bool,
}

impl Desk {
    pub(super) fn new(options: &ServerOptions, clock: Clock) -> Result<Self, ServerError> {
        if options.upstreams.is_empty() {
            return Err(ServerError::Nobody);
        }
        let upstreams = options.upstreams.clone();
        let providers = build(&upstreams, options.seed, &clock)?;
        Ok(Self {
            clock,
            seed: options.seed,
            output_tokens: options.output_tokens,
            state: Mutex::new(Shared {
                first: upstreams.clone(),
                upstreams,
                providers,
                latest: Instant::ZERO,
                arrived: 0,
                ledger: Ledger::default(),
            }),
            closed: watch::Sender::new(false),
            late: AtomicU64::new(0),
        })
    }

    /// Something leaves this long after its moment.
    pub(super) fn leaves_late(&self, nanos: u64) {
        self.late.fetch_max(nanos, Ordering::Relaxed);
    }

    /// How long after its moment the latest byte left.
    pub(super) fn latest(&self) -> Duration {
        Duration::from_nanos(self.late.load(Ordering::Relaxed))
    }

    /// Ends every wait.
    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Comes back when the server closes.
    pub(super) async fn closed(&self) {
        drop(self.closed.subscribe().wait_for(|closed| *closed).await);
    }

    /// Who is called: by the first part of the path, else by the model.
    pub(super) fn called(&self, named: Option<&str>, model: &str) -> Option<usize> {
        let shared = self.lock();
        let place = |name: &str| shared.upstreams.iter().position(|up| up.name == name);
        let has_model = |up: &Upstream| up.models.iter().any(|known| known == model);
        named
            .and_then(place)
            .or_else(|| place(model))
            .or_else(|| shared.upstreams.iter().position(has_model))
            .or_else(|| place(DEFAULT))
    }

    /// What an upstream makes of a request that arrives now. The error says what is amiss with its
    /// orders.
    pub(super) fn meet(
        self: &Arc<Self>,
        upstream: usize,
        asked: &Asked,
        orders: &Orders,
    ) -> Result<Meeting, SpecError> {
        let mut shared = self.lock();
        let shared = &mut *shared;
        let begun = self.clock.now().max(shared.latest);
        shared.latest = begun;
        let number = shared.arrived;
        shared.arrived += 1;
        let encounter = Encounter {
            at: begun,
            epoch: self.clock.epoch(),
            number,
            upstream: u32::try_from(upstream).unwrap_or(u32::MAX),
            output_tokens: self.output_tokens,
        };
        let met = encounter.with(&mut shared.providers, asked, orders)?;
        let at_s = begun.as_secs_f64();
        let seen = Seen::new(number, at_s, upstream, asked, &met);
        shared.ledger.arrived(seen);
        Ok(Meeting {
            play: met.play,
            begun,
            visit: Visit {
                desk: Arc::clone(self),
                provider: upstream,
                call: met.call,
                number,
                begun,
                ended: false,
            },
        })
    }

    /// Names and models that are known.
    pub(super) fn models(&self) -> Vec<String> {
        let shared = self.lock();
        let all = shared.upstreams.iter();
        let mut models: Vec<String> = all
            .flat_map(|up| std::iter::once(&up.name).chain(&up.models).cloned())
            .collect();
        models.sort();
        models.dedup();
        models
    }

    pub(super) fn upstreams(&self) -> Vec<Upstream> {
        self.lock().upstreams.clone()
    }

    /// Lets the named upstream do what `change` makes of its spec. `None`: there is none of the name.
    pub(super) fn change(
        &self,
        name: &str,
        change: impl FnOnce(&ProviderSpec) -> Result<ProviderSpec, String>,
    ) -> Option<Result<Upstream, String>> {
        let mut shared = self.lock();
        let shared = &mut *shared;
        let number = shared.upstreams.iter().position(|up| up.name == name)?;
        let changed = change(&shared.upstreams[number].spec).and_then(|spec| {
            let replaced = shared.providers.replace(number, &spec);
            replaced.map_err(|error| error.to_string()).map(|()| spec)
        });
        Some(changed.map(|spec| {
            shared.upstreams[number].spec = spec;
            shared.upstreams[number].clone()
        }))
    }

    /// Everything as it was at the beginning, but for the clock.
    pub(super) fn reset(&self) {
        let mut shared = self.lock();
        let first = shared.first.clone();
        if let Ok(providers) = build(&first, self.seed, &self.clock) {
            shared.providers = providers;
        }
        shared.upstreams = first;
        shared.arrived = 0;
        shared.ledger = Ledger::default();
    }

    /// Reads what was seen, with the upstreams whose places stand in it.
    pub(super) fn ledger<T>(&self, read: impl FnOnce(&mut Ledger, &[Upstream]) -> T) -> T {
        let shared = &mut *self.lock();
        read(&mut shared.ledger, &shared.upstreams)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visit {
    /// The exchange has ended as the model has it.
    pub(super) fn end(mut self) {
        self.ended = true;
    }

    pub(super) fn desk(&self) -> &Desk {
        &self.desk
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut shared = self.desk.lock();
        let shared = &mut *shared;
        let now = self.desk.clock.now().max(shared.latest);
        shared.latest = now;
        let state = if self.ended {
            State::Ended
        } else {
            shared.providers.abandon(now, &self.call);
            State::Abandoned
        };
        let after_s = now.since(self.begun).as_secs_f64();
        let ledger = &mut shared.ledger;
        ledger.left(self.provider, self.number, state, after_s);
    }
}

fn build(upstreams: &[Upstream], seed: Seed, clock: &Clock) -> Result<Providers, ServerError> {
    let specs = upstreams.iter().map(|up| &up.spec);
    Providers::new(specs, seed, clock.epoch()).map_err(|(number, source)| ServerError::Provider {
        name: upstreams[number].name.clone(),
        source,
    })
}
