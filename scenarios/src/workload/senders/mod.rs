//! Who sends a request, and what of it was seen before: what affinity, response caching, tags, regions
//! and the priority queue go by.
//!
//! All of it is a function of the seed and the request's number. No state is kept from request to
//! request, so that every arm meets the same senders, any thread may ask for any request, and a run of
//! many million requests needs no memory for them. Draws have purposes of their own: without senders
//! nothing here is asked, and arrivals and lengths are the same with and without them.
//!
//! Requests of a pool of repeated contents are one request sent again: the content decides their model,
//! lengths, shared prefix and whether they stream. A sender's sessions are a number of places of which
//! each request draws one. The session in a place gives way to the next after as many requests of the
//! run as it takes for `turns` of them to be its own, on average; places begin in the midst of one.

mod pool;
mod read;
mod spec;

use std::{num::NonZeroU64, sync::Arc};

use mock_providers::Beginning;
use router::{CallerId, ContentId, KeyedRng, Origin, Overrides, Purpose, Seed, SessionId};

use self::pool::Pool;
pub(crate) use self::read::{Askable, senders};
pub use self::spec::{
    ApiSpec, FallbackSpec, RepeatsSpec, SenderSpec, SessionsSpec, SharedPrefixSpec,
};

/// Everybody who sends, by name.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Senders {
    /// In order of their names.
    pub names: Vec<String>,
    pub each: Vec<Sender>,
    /// Cumulative shares of the traffic. What is left of 1 is of nobody in particular.
    pub up_to: Vec<f64>,
}

/// One sender, as data.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sender {
    /// Models by place in the workload's list with cumulative shares; `None`: the workload's.
    pub models: Option<Mix>,
    pub stream_share: f64,
    pub max_tokens: Option<u32>,
    /// Keys that its requests come under; 0: none is known.
    pub callers: u32,
    pub sessions: Option<Sessions>,
    /// Share of requests that repeat a content of the pool, and the pool.
    pub repeats: Option<(f64, Pool)>,
    pub shared_prefix: Option<SharedPrefix>,
    /// Whether `cache_control` marks stand behind what prompts begin with.
    pub marked: bool,
    pub priority: Option<u32>,
    /// Settings that its requests bring along, shared by all of them.
    pub overrides: Option<Arc<Overrides>>,
    pub batch: bool,
    /// Whether it asks for embeddings, which have no answer tokens and no stream.
    pub embeds: bool,
}

/// Models by place in the workload's list, with cumulative shares of which the last is 1.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Mix {
    pub models: Vec<u16>,
    pub up_to: Vec<f64>,
}

/// Conversations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Sessions {
    /// How many are under way.
    pub live: u32,
    /// Requests of one, on average.
    pub turns: f64,
    /// Requests of the run while one lasts.
    pub period: f64,
    /// Tokens by which each turn makes the next prompts longer.
    pub history_tokens: u32,
}

/// Beginnings that prompts share.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SharedPrefix {
    pub tokens: u32,
    pub pool: Pool,
}

/// Where a request comes from: what the router and the provider are told of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Provenance<'a> {
    /// Place of its sender in [`Workload::sender_names`](super::Workload::sender_names); `None`: nobody
    /// in particular.
    pub sender: Option<usize>,
    /// For the router.
    pub origin: Origin,
    /// For the router.
    pub overrides: Option<&'a Arc<Overrides>>,
    /// For the provider.
    pub beginning: Beginning,
    /// Whether it is billed as part of a batch job.
    pub batch: bool,
    /// What its model, lengths and stream are drawn by: its own number, or that of its content.
    pub(crate) key: u64,
    /// Tokens of the prompt besides those that are drawn.
    pub(crate) more_prompt_tokens: u32,
}

impl Senders {
    /// Who sends this request.
    pub(crate) fn sender(&self, seed: Seed, number: u64) -> Option<usize> {
        let u = KeyedRng::new(seed, SENDER, number, 0).unit();
        let place = self.up_to.partition_point(|up_to| *up_to <= u);
        (place < self.each.len()).then_some(place)
    }

    /// Where this request comes from.
    pub(crate) fn provenance(&self, seed: Seed, number: u64) -> Provenance<'_> {
        let Some(place) = self.sender(seed, number) else {
            return Provenance {
                sender: None,
                origin: Origin {
                    content: Some(ContentId(unique(number))),
                    ..Origin::default()
                },
                overrides: None,
                beginning: Beginning::default(),
                batch: false,
                key: number,
                more_prompt_tokens: 0,
            };
        };
        let sender = &self.each[place];
        let place_u64 = place as u64;
        let repeated = sender.repeats.as_ref().and_then(|(share, pool)| {
            let mut rng = KeyedRng::new(seed, REPEAT, number, 0);
            let is_repeat = rng.unit() < *share;
            is_repeat.then(|| id(Kind::Content, place_u64, pool.draw(&mut rng), 0))
        });
        let session = sender
            .sessions
            .map(|sessions| sessions.session(seed, place_u64, number));
        let key = repeated.map_or(number, NonZeroU64::get);
        // What stays the same in a session; a repeated content is the same whoever sends it.
        let steady = match (repeated, session) {
            (Some(content), _) => content.get(),
            (None, Some((session, _))) => session.get(),
            (None, None) => number,
        };
        let caller = (sender.callers > 0).then(|| {
            let of = session.map_or(number, |(session, _)| session.get());
            let draw = KeyedRng::new(seed, CALLER, of, place_u64).below(sender.callers as usize);
            CallerId(id(Kind::Caller, place_u64, draw, 0))
        });
        let shared = sender.shared_prefix.as_ref().map(|prefix| {
            let draw = prefix
                .pool
                .draw(&mut KeyedRng::new(seed, PREFIX, steady, place_u64));
            let content = ContentId(id(Kind::Prefix, place_u64, draw, 0));
            (content, prefix.tokens)
        });
        let shared_tokens = shared.map_or(0, |(_, tokens)| tokens);
        // A repeated content stands alone: it carries no history.
        let history = session.filter(|_| repeated.is_none() && sender.has_history());
        let said_before = history.map_or(0, |(_, tokens)| tokens);
        Provenance {
            sender: Some(place),
            origin: Origin {
                session: session.map(|(session, _)| SessionId(session)),
                caller,
                content: Some(ContentId(repeated.unwrap_or_else(|| unique(number)))),
                prefix: shared.map(|(content, _)| content).filter(|_| sender.marked),
                priority: sender.priority,
                mirror_of: None,
            },
            overrides: sender.overrides.as_ref(),
            beginning: Beginning {
                shared,
                history: history
                    .map(|(session, tokens)| (ContentId(session), shared_tokens + tokens)),
                marked: sender.marked,
            },
            batch: sender.batch,
            key,
            more_prompt_tokens: shared_tokens + said_before,
        }
    }
}

impl Sender {
    fn has_history(&self) -> bool {
        self.sessions
            .is_some_and(|sessions| sessions.history_tokens > 0)
    }
}

impl Sessions {
    /// The session of a request, and the tokens of what was said in it before.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of requests below 2^53, never negative"
    )]
    fn session(&self, seed: Seed, sender: u64, number: u64) -> (NonZeroU64, u32) {
        let seat = KeyedRng::new(seed, SESSION, number, sender).below(self.live as usize);
        let begun = KeyedRng::new(seed, SESSION_BEGUN, seat as u64, sender).unit();
        let age = number as f64 / self.period + begun;
        let generation = age as u64;
        let turn = ((age - generation as f64) * self.turns) as u32;
        (
            id(Kind::Session, sender, seat, generation),
            turn * self.history_tokens,
        )
    }
}

/// What an id stands for: ids of different kinds are never equal, nor are they numbers of requests.
#[derive(Clone, Copy)]
enum Kind {
    Caller = 1,
    Content,
    Prefix,
    Session,
}

/// The id of one of a sender's things; below 2^24 of a kind, and 2^24 generations of each.
fn id(kind: Kind, sender: u64, which: usize, generation: u64) -> NonZeroU64 {
    let which = which as u64 & 0xff_ffff;
    let bits = ((kind as u64) << 60) | (sender << 48) | (which << 24) | (generation & 0xff_ffff);
    NonZeroU64::new(bits).unwrap_or(NonZeroU64::MIN)
}

/// The content of a request that nobody repeats.
fn unique(number: u64) -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add(number)
}

const CALLER: Purpose = Purpose::named("scenarios.caller");
const PREFIX: Purpose = Purpose::named("scenarios.shared_prefix");
const REPEAT: Purpose = Purpose::named("scenarios.repeat");
const SENDER: Purpose = Purpose::named("scenarios.sender");
const SESSION: Purpose = Purpose::named("scenarios.session");
const SESSION_BEGUN: Purpose = Purpose::named("scenarios.session_begun");
