//! Affinity: whoever came before goes to the deployment that served it then. (semantics 8.1, 8.2)
//!
//! Three kinds of pins: of a session and of a caller's key, written right before each call of a
//! provider, and of a prompt's prefix, written by each answer. A pin narrows the candidates to its
//! deployment if that is one of them; if not, it is not looked at in this pick.
//!
//! Where instances share a store, each looks there for a pin that it has none of, and keeps what it found
//! for 600 s. (semantics 12, FACTS R9)

use std::{collections::BTreeMap, time::Duration};

use crate::{
    config::RouterConfig,
    filters::Sieve,
    observe::{Observer, PassedOver},
    profile::Profile,
    request::{Api, CallerId, ContentId, DeploymentId, Request, SessionId},
    router::Router,
    step::Ticket,
    time::Instant,
};

/// All pins, and who is pinned at all.
#[derive(Debug)]
pub(crate) struct Affinity {
    /// By deployment.
    groups: Vec<OfGroup>,
    by_prefix: bool,
    ttl: Duration,
    repin_on_failover: bool,
    profile: Profile,
    pins: Pins,
    /// The store's, while it is lent.
    pub(crate) shared: Option<Box<Pins>>,
}

/// Pins by whose they are.
#[derive(Debug)]
pub(crate) struct Pins {
    by: BTreeMap<Key, Pin>,
    /// At so many pins those that ended are dropped.
    sweep_at: usize,
}

impl Default for Pins {
    fn default() -> Self {
        Self {
            by: BTreeMap::new(),
            sweep_at: FIRST_SWEEP,
        }
    }
}

impl Pins {
    /// The deployment of a pin that is in force.
    fn deployment(&self, now: Instant, key: Key) -> Option<DeploymentId> {
        let pin = self.by.get(&key)?;
        (now < pin.ends).then_some(pin.deployment)
    }

    fn put(&mut self, now: Instant, key: Key, new: Pin) {
        if let Some(pin) = self.by.get_mut(&key) {
            *pin = new;
            return;
        }
        if self.by.len() >= self.sweep_at {
            self.by.retain(|_, pin| now < pin.ends);
            self.sweep_at = FIRST_SWEEP.max(2 * self.by.len());
        }
        self.by.insert(key, new);
    }
}

/// What a deployment's group asks for.
#[derive(Clone, Copy, Debug)]
struct OfGroup {
    /// The same number for the same `model_name`.
    name: u32,
    by_session: bool,
    by_caller: bool,
}

/// Whose pin it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Key {
    /// Of a session in a group; in 1.110 of one caller's session.
    Session(u32, SessionId, Option<CallerId>),
    Caller(u32, CallerId),
    /// Of a prefix, in whatever group.
    Prefix(ContentId),
}

#[derive(Clone, Copy, Debug)]
struct Pin {
    deployment: DeploymentId,
    ends: Instant,
}

impl Affinity {
    /// `None` where nobody is pinned.
    pub(crate) fn new(config: &RouterConfig) -> Option<Self> {
        let settings = &config.settings;
        let mut names = BTreeMap::new();
        let groups: Vec<OfGroup> = config
            .deployments
            .iter()
            .map(|deployment| {
                let name = deployment.model_name.as_str();
                let own = settings.model_group_affinity_config.get(name);
                let checks = own.unwrap_or(&settings.optional_pre_call_checks);
                let next = u32::try_from(names.len()).expect("fewer than 2^32 names");
                OfGroup {
                    name: *names.entry(name).or_insert(next),
                    by_session: checks.session_affinity,
                    by_caller: checks.deployment_affinity,
                }
            })
            .collect();
        let by_prefix = settings.optional_pre_call_checks.prompt_caching;
        let any = by_prefix || groups.iter().any(|g| g.by_session || g.by_caller);
        any.then(|| Self {
            groups,
            by_prefix,
            ttl: settings.deployment_affinity_ttl.unwrap_or(DEFAULT_TTL),
            repin_on_failover: settings.session_affinity_repin_on_failover,
            profile: config.profile,
            pins: Pins::default(),
            shared: None,
        })
    }

    /// Whether some pin may matter to a pick for this request.
    pub(crate) fn has_pin(
        &self,
        now: Instant,
        request: &Request,
        members: &[DeploymentId],
    ) -> bool {
        let group = members.first().map(|d| self.groups[d.index()]);
        let pins = group.map_or([None; 2], |group| self.pins_of(now, request, group));
        pins.iter().any(Option::is_some) || self.prefix_pin(now, request).is_some()
    }

    /// Keeps only the pinned deployment, if it is among those left and nothing else keeps it from
    /// being picked. The session's pin comes before the key's, and both before the prefix's. One that
    /// would not be picked although it `stands` is passed over itself, unless nobody else is left.
    pub(crate) fn narrow(
        &self,
        sieve: &mut Sieve<'_, impl Observer>,
        request: &Request,
        is_retry: bool,
        stands: impl Fn(DeploymentId) -> bool,
        mut has_room: impl FnMut(DeploymentId) -> bool,
    ) {
        let now = sieve.now;
        let Some(first) = sieve.left.first().map(|d| self.groups[d.index()]) else {
            return;
        };
        // Sessions and keys are pinned by group: candidates of several have no pin in common.
        let of_one_group = |d: &DeploymentId| self.groups[d.index()].name == first.name;
        let [session, caller] = match sieve.left.iter().all(of_one_group) {
            true => self.pins_of(now, request, first),
            false => [None; 2],
        };
        let follows = self.profile.retries_follow_prefix || !is_retry;
        let prefix = self.prefix_pin(now, request).filter(|_| follows);
        for pin in [session, caller, prefix].into_iter().flatten() {
            if !sieve.left.contains(&pin) || !stands(pin) {
                continue;
            }
            if has_room(pin) {
                sieve.keep(PassedOver::PinnedElsewhere, |d| d == pin);
                return;
            }
            if sieve.left.iter().any(|&d| d != pin && stands(d)) {
                sieve.keep(PassedOver::OverLimits, |d| d != pin);
            }
        }
    }

    /// Who the session and the key are pinned to.
    fn pins_of(
        &self,
        now: Instant,
        request: &Request,
        group: OfGroup,
    ) -> [Option<DeploymentId>; 2] {
        let session = self.session_key(request, group);
        let caller = caller_key(request, group);
        [session, caller].map(|key| self.pinned(now, key?))
    }

    fn prefix_pin(&self, now: Instant, request: &Request) -> Option<DeploymentId> {
        self.pinned(now, self.prefix_key(request)?)
    }

    fn pinned(&self, now: Instant, key: Key) -> Option<DeploymentId> {
        let own = self.pins.deployment(now, key);
        own.or_else(|| self.shared.as_ref()?.deployment(now, key))
    }

    fn session_key(&self, request: &Request, group: OfGroup) -> Option<Key> {
        let session = request.origin.session.filter(|_| group.by_session)?;
        let caller = request.origin.caller;
        let scope = caller.filter(|_| self.profile.sessions_by_caller);
        Some(Key::Session(group.name, session, scope))
    }

    fn prefix_key(&self, request: &Request) -> Option<Key> {
        let overrides = request.overrides.as_deref();
        let chat = overrides.is_none_or(|o| o.api == Api::Chat);
        let long = request.prompt_tokens >= LEAST_PREFIX_TOKENS;
        let prefix = request
            .origin
            .prefix
            .filter(|_| self.by_prefix && chat && long);
        prefix.map(Key::Prefix)
    }

    /// A call of the deployment is about to go out. `is_out`: whether a deployment cannot be picked.
    fn pin(
        &mut self,
        now: Instant,
        request: &Request,
        deployment: DeploymentId,
        is_out: impl Fn(DeploymentId) -> bool,
    ) {
        let group = self.groups[deployment.index()];
        let (session, caller) = (self.session_key(request, group), caller_key(request, group));
        let survive = self.profile.pins_survive_failover;
        if let Some(key) = session {
            let moves = |old| !survive || (self.repin_on_failover && is_out(old));
            let moves = self.pinned(now, key).is_none_or(moves);
            self.write(now, key, deployment, self.ttl, moves);
        }
        if let Some(key) = caller {
            self.write(now, key, deployment, self.ttl, !survive);
        }
    }

    /// The deployment answered.
    fn pin_prefix(&mut self, now: Instant, request: &Request, deployment: DeploymentId) {
        if let Some(key) = self.prefix_key(request) {
            self.write(now, key, deployment, PREFIX_TTL, true);
        }
    }

    /// A pin that is in force goes to the deployment only if it `moves`. Its end stays as it was in
    /// 1.92, where it is set by the first write, and is set anew by each later one in 1.110.
    fn write(
        &mut self,
        now: Instant,
        key: Key,
        deployment: DeploymentId,
        ttl: Duration,
        moves: bool,
    ) {
        let new = Pin {
            deployment,
            ends: now + ttl,
        };
        if self.pins.deployment(now, key).is_none()
            && let Some(deployment) = self.pinned(now, key)
        {
            let ends = now + KEPT;
            self.pins.put(now, key, Pin { deployment, ends });
        }
        match self.pins.by.get_mut(&key) {
            Some(pin) if now < pin.ends => {
                if pin.deployment != deployment && !moves {
                    return;
                }
                pin.deployment = deployment;
                if self.profile.pins_slide {
                    pin.ends = new.ends;
                }
            }
            Some(_) | None => self.pins.put(now, key, new),
        }
        if let Some(shared) = &mut self.shared {
            shared.put(now, key, new);
        }
    }
}

fn caller_key(request: &Request, group: OfGroup) -> Option<Key> {
    let caller = request.origin.caller.filter(|_| group.by_caller)?;
    Some(Key::Caller(group.name, caller))
}

impl Router {
    /// Pins the session and the key of a request to the deployment that is called next. Blocking
    /// calls pin nothing.
    #[inline(never)]
    pub(crate) fn pin(&mut self, now: Instant, ticket: Ticket, deployment: DeploymentId) {
        let Some(affinity) = self.filters.as_mut().and_then(|f| f.affinity.as_mut()) else {
            return;
        };
        let state = self.requests.peek(ticket);
        if state.request.is_blocking() {
            return;
        }
        let members = &self.registry.target(state.hop.group).members;
        let (config, states) = (&self.config.deployments, &self.states);
        affinity.pin(now, &state.request, deployment, |old| {
            config[old.index()].blocked
                || states[old.index()].out_until(now).is_some()
                || !members.contains(&old)
        });
    }

    /// Pins the prefix of a request to the deployment that answered it.
    pub(crate) fn pin_prefix(&mut self, now: Instant, ticket: Ticket, deployment: DeploymentId) {
        let Some(affinity) = self.filters.as_mut().and_then(|f| f.affinity.as_mut()) else {
            return;
        };
        let request = &self.requests.peek(ticket).request;
        if !request.is_blocking() {
            affinity.pin_prefix(now, request, deployment);
        }
    }
}

/// `deployment_affinity_ttl_seconds` where it is not set. (semantics 0)
const DEFAULT_TTL: Duration = Duration::from_secs(3_600);
/// How long a prefix is pinned. (semantics 0)
const PREFIX_TTL: Duration = Duration::from_secs(300);
/// `MINIMUM_PROMPT_CACHE_TOKEN_COUNT`. (semantics 0)
const LEAST_PREFIX_TOKENS: u32 = 1_024;
const FIRST_SWEEP: usize = 64;
/// How long a pin of the store is kept once it was read. (semantics 0.1)
const KEPT: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::{
        config::OptionalPreCallChecks,
        request::{ModelId, Origin, RequestId},
    };

    fn affinity(profile: Profile, ttl_s: u64) -> Affinity {
        let mut config = RouterConfig::of_deployments(["a", "b"]);
        config.profile = profile;
        config.settings.deployment_affinity_ttl = Some(Duration::from_secs(ttl_s));
        config.settings.optional_pre_call_checks = OptionalPreCallChecks {
            session_affinity: true,
            ..OptionalPreCallChecks::default()
        };
        Affinity::new(&config).unwrap()
    }

    fn of_session(session: u64) -> Request {
        Request {
            id: RequestId(0),
            model: ModelId(0),
            prompt_tokens: 10,
            max_tokens: None,
            stream: false,
            origin: Origin {
                session: NonZeroU64::new(session).map(SessionId),
                ..Origin::default()
            },
            overrides: None,
        }
    }

    #[test]
    fn pins_that_ended_are_dropped_so_that_memory_follows_live_sessions() {
        for profile in [Profile::litellm_1_92(), Profile::litellm_1_110()] {
            let mut affinity = affinity(profile, 10);
            let mut most = 0;

            // A new session each second, each of which is alive for ten.
            for second in 1..10_000 {
                let now = Instant::ZERO + Duration::from_secs(second);
                affinity.pin(now, &of_session(second), DeploymentId(0), |_| false);
                most = most.max(affinity.pins.by.len());
            }

            assert!(
                most <= FIRST_SWEEP,
                "{most} pins were kept for 10 live ones"
            );
        }
    }

    #[test]
    fn nobody_is_pinned_without_a_setting_that_asks_for_it() {
        let config = RouterConfig::of_deployments(["a"]);

        assert!(Affinity::new(&config).is_none());
    }
}
