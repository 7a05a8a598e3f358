//! `cache_responses`: answers that are given again without calling anybody. (semantics 9.1)
//!
//! The cache is asked inside the attempt: somebody was picked, its slot taken and its limits
//! checked before. A hit counts like a success of whoever was picked, with hardly any latency, and
//! costs nothing. It lives in the process and holds 200 answers; each is forgotten a fixed time
//! after it was first stored, however often it is asked for (semantics 0.1). Where instances share a
//! store, answers live there and not in the process: all of them, for a minute (FACTS R12).

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use crate::{
    config::RouterSettings,
    cooldown::COUNT_TTL,
    observe::{Event, Observer},
    outcome::{Outcome, Usage},
    request::{ContentId, DeploymentId, ModelId, Request},
    router::Router,
    step::{Answer, Step, Ticket, Turn},
    time::Instant,
};

/// Answers of the last while.
#[derive(Clone, Debug)]
pub(crate) struct ResponseCache {
    /// The setting, if there is one.
    ttl: Option<Duration>,
    in_store: bool,
    groups: Vec<Vec<String>>,
    /// By name: with whom it shares its entries.
    scopes: Vec<Option<Scope>>,
    entries: BTreeMap<Key, Entry>,
    /// Keys in the order they were stored, which is the order they expire in.
    by_age: VecDeque<Key>,
}

/// What must be equal for an answer to be given again.
type Key = (Scope, ContentId, bool);

/// Names that share entries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Scope {
    /// The name, as it was asked for: an alias shares nothing with its target (observed).
    Name(ModelId),
    /// One of `caching_groups`.
    Group(usize),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    usage: Usage,
    expires: Instant,
}

impl ResponseCache {
    /// The cache of a router with these settings, if it has one.
    pub(crate) fn new(settings: &RouterSettings) -> Option<Box<Self>> {
        settings.cache_responses.then(|| {
            Box::new(Self {
                ttl: settings.cache_ttl,
                in_store: false,
                groups: settings.caching_groups.clone(),
                scopes: Vec::new(),
                entries: BTreeMap::new(),
                by_age: VecDeque::new(),
            })
        })
    }

    /// The same cache in the store of several instances.
    pub(crate) fn in_store(&self) -> Box<Self> {
        Box::new(Self {
            in_store: true,
            ..self.clone()
        })
    }

    /// The key of a request that is served under a name; `None`: its content is not known.
    fn key(&mut self, model: ModelId, name: &str, request: &Request) -> Option<Key> {
        let content = request.origin.content?;
        let at = model.index();
        if at >= self.scopes.len() {
            self.scopes.resize(at + 1, None);
        }
        let groups = &self.groups;
        let shared = || groups.iter().position(|g| g.iter().any(|n| n == name));
        let scope = *self.scopes[at]
            .get_or_insert_with(|| shared().map_or(Scope::Name(model), Scope::Group));
        Some((scope, content, request.stream))
    }

    fn get(&self, now: Instant, key: &Key) -> Option<Usage> {
        let entry = self.entries.get(key).filter(|entry| now < entry.expires)?;
        Some(entry.usage)
    }

    /// Keeps an answer. One that is still there keeps its end and its place.
    fn store(&mut self, now: Instant, key: Key, usage: Usage) {
        if let Some(entry) = self.entries.get_mut(&key)
            && now < entry.expires
        {
            entry.usage = usage;
            return;
        }
        let is_full = |held| held >= CAPACITY && !self.in_store;
        while let Some(oldest) = self.by_age.front()
            && (is_full(self.entries.len()) || now >= self.entries[oldest].expires)
        {
            self.entries.remove(oldest);
            self.by_age.pop_front();
        }
        let default = if self.in_store {
            STORE_TTL
        } else {
            DEFAULT_TTL
        };
        let expires = now + self.ttl.unwrap_or(default);
        self.entries.insert(key, Entry { usage, expires });
        self.by_age.push_back(key);
    }
}

impl Router {
    /// The answer of the cache to an attempt that is about to be sent, if it has one. What the
    /// attempt took is given back.
    #[inline(never)]
    pub(crate) fn answer_from_cache(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> Option<Turn> {
        let state = self.requests.peek(ticket);
        let group = state.hop.group;
        let overrides = state.request.overrides.as_ref();
        let cache = self
            .response_cache
            .as_mut()
            .filter(|_| !overrides.is_some_and(|o| o.no_cache))?;
        let key = cache.key(group, self.registry.name(group), &state.request)?;
        let usage = cache.get(now, &key)?;
        let request = state.request.id;
        obs.observe(
            now,
            &Event::CacheHit {
                request,
                deployment,
            },
        );
        let released = self.release_slot(ticket, deployment);
        self.settle(ticket, None);
        let successes = &mut self.states[deployment.index()].successes;
        successes.increment(now, COUNT_TTL);
        let state = self.requests.peek(ticket);
        let stream = state.request.stream;
        let outcome = Outcome::Success {
            usage,
            first_token_after: stream.then_some(Duration::ZERO),
        };
        self.strategies
            .on_cached(now, &state.sent(deployment), &outcome);
        let answer = Answer::Completed {
            deployment,
            usage,
            cached: true,
            trail: state.trail(Some(now)),
        };
        self.drop_probe(ticket);
        let turn = Turn {
            step: Step::Done(answer),
            released,
        };
        self.finish(now, ticket, &turn, obs);
        Some(turn)
    }

    /// Keeps the answer of an attempt, also of a request that did not ask the cache (observed).
    #[inline(never)]
    pub(crate) fn store_in_cache(&mut self, now: Instant, ticket: Ticket, usage: Usage) {
        let Some(cache) = &mut self.response_cache else {
            return;
        };
        let state = self.requests.peek(ticket);
        let group = state.hop.group;
        if let Some(key) = cache.key(group, self.registry.name(group), &state.request) {
            cache.store(now, key, usage);
        }
    }
}

/// How long an answer is kept where `cache_params.ttl` does not say. (semantics 0)
const DEFAULT_TTL: Duration = Duration::from_secs(600);
/// How long an answer is kept in a store of several instances, where no setting says. (observed)
const STORE_TTL: Duration = Duration::from_secs(60);
/// Entries of LiteLLM's memory cache. (semantics 0; observed for responses)
const CAPACITY: usize = 200;

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;

    fn cache(groups: &[&[&str]]) -> ResponseCache {
        let owned = |g: &&[&str]| g.iter().map(|&n| n.to_owned()).collect();
        let settings = RouterSettings {
            cache_responses: true,
            caching_groups: groups.iter().map(owned).collect(),
            ..RouterSettings::default()
        };
        *ResponseCache::new(&settings).expect("it is on")
    }

    fn key(content: u64) -> Key {
        let content = ContentId(NonZeroU64::new(content).unwrap());
        (Scope::Name(ModelId(0)), content, false)
    }

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    #[test]
    fn an_answer_is_forgotten_ten_minutes_after_it_was_first_stored() {
        let mut cache = cache(&[]);
        cache.store(at(0.0), key(1), Usage::new(10, 5));
        cache.store(at(599.0), key(1), Usage::new(10, 7));

        assert_eq!(cache.get(at(599.9), &key(1)), Some(Usage::new(10, 7)));
        assert_eq!(cache.get(at(600.0), &key(1)), None);
    }

    #[test]
    fn the_oldest_of_two_hundred_makes_room() {
        let mut cache = cache(&[]);
        for n in 1..=201_u32 {
            cache.store(at(f64::from(n)), key(n.into()), Usage::default());
        }

        assert_eq!(cache.get(at(202.0), &key(1)), None);
        assert!(cache.get(at(202.0), &key(2)).is_some());
        assert_eq!((cache.entries.len(), cache.by_age.len()), (200, 200));
    }

    #[test]
    fn an_answer_stored_again_after_its_end_has_one_place() {
        let mut cache = cache(&[]);
        cache.store(at(0.0), key(1), Usage::default());
        cache.store(at(700.0), key(1), Usage::default());
        cache.store(at(701.0), key(2), Usage::default());

        assert_eq!((cache.entries.len(), cache.by_age.len()), (2, 2));
        assert!(cache.get(at(702.0), &key(1)).is_some());
    }

    #[test]
    fn names_of_one_caching_group_share_entries_and_others_do_not() {
        let mut cache = cache(&[&["m", "n"]]);
        let mut request = Request {
            id: crate::request::RequestId(0),
            model: ModelId(0),
            prompt_tokens: 10,
            max_tokens: None,
            stream: false,
            origin: crate::request::Origin {
                content: NonZeroU64::new(9).map(ContentId),
                ..Default::default()
            },
            overrides: None,
        };
        let mut key = |id, name, stream| {
            request.stream = stream;
            cache.key(ModelId(id), name, &request)
        };

        assert_eq!(key(0, "m", false), key(1, "n", false));
        assert_ne!(key(0, "m", false), key(2, "other", false));
        assert_ne!(key(0, "m", false), key(0, "m", true));
    }
}
