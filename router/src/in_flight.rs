//! Unfinished requests, in a slab whose slots are used again: nothing is allocated for a request
//! once the slab has grown to the greatest number in flight.

use std::time::Duration;

use crate::{
    client_retry::ClientTries,
    num_retries::Allowance,
    observe::FallbackReason,
    outcome::ErrorClass,
    rare::Rarely,
    request::{DeploymentId, ModelId, Request, RequestId},
    route_error::RouteError,
    step::{Ticket, Trail},
    strategy::Sent,
    time::Instant,
};

/// All unfinished requests.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    active: bool,
    state: RequestState,
}

/// What is known of one unfinished request.
#[derive(Debug)]
pub(crate) struct RequestState {
    pub(crate) request: Request,
    pub(crate) arrived: Instant,
    /// Attempts sent, over all groups.
    pub(crate) attempts: u16,
    /// Picks and waits so far: they key the next one's randomness.
    pub(crate) draws: u32,
    pub(crate) fallbacks: u16,
    pub(crate) waited: Duration,
    pub(crate) in_failed_attempts: Duration,
    /// What the client library does inside the attempt under way.
    pub(crate) client: ClientTries,
    /// When the attempt under way was sent, or the wait under way began.
    pub(crate) since: Instant,
    pub(crate) first_token_after: Option<Duration>,
    /// Whether the attempt under way holds a slot.
    pub(crate) holds_slot: bool,
    pub(crate) hop: Hop,
    /// Its failures that were followed by another try.
    pub(crate) failures: u32,
    /// What few requests have.
    pub(crate) rare: Rarely,
}

/// One group's turn: its retries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Hop {
    pub(crate) group: ModelId,
    /// Fallbacks that led here.
    pub(crate) depth: u32,
    /// The order tier that this hop is bound to.
    pub(crate) tier: Option<i64>,
    /// The generic list that led here, in 1.110, for a group that has none of its own.
    pub(crate) inherits: ListRef,
    /// Reached by a list for one kind of error.
    pub(crate) by_special_list: bool,
    /// Set by the hop's first error.
    pub(crate) allowance: Option<Allowance>,
    pub(crate) retries: u32,
    /// The attempt under way came for free ([`Router::moving_on`](crate::Router)).
    pub(crate) moved_on: bool,
    /// The deployment of the last error.
    pub(crate) failed: Option<DeploymentId>,
}

impl Hop {
    pub(crate) const fn new(group: ModelId, depth: u32) -> Self {
        Self {
            group,
            depth,
            tier: None,
            inherits: ListRef::None,
            by_special_list: false,
            allowance: None,
            retries: 0,
            moved_on: false,
            failed: None,
        }
    }
}

/// A fallback list that is being walked for a hop that failed. (semantics 6.3)
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Walk {
    /// The hop that failed.
    pub(crate) hop: Hop,
    pub(crate) kind: WalkKind,
    /// The names to try, after any tiers.
    pub(crate) list: ListRef,
    pub(crate) next: usize,
    /// Entries tried so far, below the hop's own depth.
    pub(crate) depth: u32,
    /// A special list that met an error of another kind, so that the generic list had its turn.
    pub(crate) turned: bool,
    /// The hop's error.
    pub(crate) original: RouteError,
    /// The error of the last entry.
    pub(crate) last: RouteError,
    /// How long `excluded` was before the walk.
    pub(crate) excluded_before: usize,
}

/// What a walk tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WalkKind {
    /// The names of the list.
    List,
    /// The group's later order tiers from this place in its tiers, then the names.
    Tiers(usize),
    /// The rest of the group, once.
    Rest,
}

/// Where a walk's names are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListRef {
    None,
    Own,
    Of(FallbackReason, ModelId),
}

impl ListRef {
    /// The kind of error that it is for, if it is for one only.
    pub(crate) const fn kind_of_error(self) -> Option<ErrorClass> {
        match self {
            Self::Of(FallbackReason::ContentPolicy, _) => Some(ErrorClass::ContentPolicyViolation),
            Self::Of(FallbackReason::ContextWindow, _) => Some(ErrorClass::ContextWindowExceeded),
            Self::None | Self::Own | Self::Of(..) => None,
        }
    }
}

impl RequestState {
    /// Its attempt at a deployment, as strategies account for it.
    #[inline]
    pub(crate) fn sent(&self, deployment: DeploymentId) -> Sent<'_> {
        Sent {
            group: self.hop.group,
            deployment,
            stream: self.request.stream,
            request: &self.request,
        }
    }
}

impl InFlight {
    /// Takes a slot for a request that arrived and asks for this group.
    #[inline(always)]
    pub(crate) fn insert(&mut self, now: Instant, request: Request, group: ModelId) -> Ticket {
        let hop = Hop::new(group, 0);
        if let Some(slot) = self.free.pop() {
            let entry = &mut self.slots[slot as usize];
            entry.active = true;
            let state = &mut entry.state;
            state.reset(now, request, hop);
            return Ticket {
                slot,
                generation: entry.generation,
            };
        }
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 requests in flight");
        let state = RequestState {
            request,
            arrived: now,
            attempts: 0,
            draws: 0,
            fallbacks: 0,
            waited: Duration::ZERO,
            in_failed_attempts: Duration::ZERO,
            client: ClientTries::new(now),
            since: now,
            first_token_after: None,
            holds_slot: false,
            hop,
            failures: 0,
            rare: Rarely::default(),
        };
        self.slots.push(Slot {
            generation: 0,
            active: true,
            state,
        });
        Ticket {
            slot,
            generation: 0,
        }
    }

    /// The request behind a ticket that comes from the driver.
    ///
    /// # Panics
    /// If the ticket is stale: the driver answered a token of another router.
    #[inline]
    pub(crate) fn at_the_door(&mut self, ticket: Ticket) -> &mut RequestState {
        let entry = &mut self.slots[ticket.slot as usize];
        assert!(
            entry.active && entry.generation == ticket.generation,
            "invariant 26: a token of another router, or one that was answered"
        );
        &mut entry.state
    }

    /// The request behind a ticket that was looked at already.
    #[inline]
    pub(crate) fn get(&mut self, ticket: Ticket) -> &mut RequestState {
        &mut self.slots[ticket.slot as usize].state
    }

    /// The request behind a ticket, to look at.
    #[inline]
    pub(crate) fn peek(&self, ticket: Ticket) -> &RequestState {
        &self.slots[ticket.slot as usize].state
    }

    /// Gives the slot back.
    #[inline]
    pub(crate) fn remove(&mut self, ticket: Ticket) {
        let entry = &mut self.slots[ticket.slot as usize];
        entry.active = false;
        entry.generation = entry.generation.wrapping_add(1);
        entry.state.forget_settings();
        self.free.push(ticket.slot);
    }

    /// Unfinished requests.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The unfinished request of this id. Walks the slab: only for the rare case of a parked one.
    pub(crate) fn find(&mut self, request: RequestId) -> Option<&mut RequestState> {
        let found = self
            .slots
            .iter_mut()
            .find(|s| s.active && s.state.request.id == request);
        found.map(|s| &mut s.state)
    }
}

impl RequestState {
    /// Gives back what it brought along.
    #[inline]
    fn forget_settings(&mut self) {
        if self.request.overrides.is_some() {
            self.drop_settings();
        }
    }

    #[inline(never)]
    fn drop_settings(&mut self) {
        self.request.overrides = None;
        if let Some(rare) = self.rare.if_any() {
            rare.own = None;
        }
    }

    #[inline]
    fn reset(&mut self, now: Instant, request: Request, hop: Hop) {
        self.request = request;
        self.arrived = now;
        self.attempts = 0;
        self.draws = 0;
        self.fallbacks = 0;
        self.waited = Duration::ZERO;
        self.in_failed_attempts = Duration::ZERO;
        self.client = ClientTries::new(now);
        self.since = now;
        self.first_token_after = None;
        self.holds_slot = false;
        self.hop = hop;
        self.failures = 0;
        self.rare.clear();
    }

    /// The deployment that is still at it, if nobody waits for its answer any more.
    #[inline]
    pub(crate) fn caller_left(&self) -> Option<DeploymentId> {
        self.rare.peek().and_then(|rare| rare.caller_left)
    }

    /// The deployment that it tried while it was out, which it does no more.
    #[inline]
    pub(crate) fn no_more_probing(&mut self) -> Option<DeploymentId> {
        self.rare.if_any().and_then(|rare| rare.probing.take())
    }

    /// What was tried so far.
    #[inline]
    pub(crate) fn trail(&self, first_token: Option<Instant>) -> Trail {
        Trail {
            arrived: self.arrived,
            attempts: self.attempts,
            fallbacks: self.fallbacks,
            group: self.hop.group,
            waited: self.waited,
            in_failed_attempts: self.in_failed_attempts,
            first_token,
        }
    }

    /// The number that keys the next draw.
    #[inline]
    pub(crate) fn next_draw(&mut self) -> u64 {
        self.draws += 1;
        u64::from(self.draws - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Origin;

    fn arrived(requests: &mut InFlight, id: u64) -> Ticket {
        let request = Request {
            id: RequestId(id),
            model: ModelId(0),
            prompt_tokens: 10,
            max_tokens: None,
            stream: false,
            origin: Origin::default(),
            overrides: None,
        };
        requests.insert(Instant::ZERO, request, ModelId(0))
    }

    #[test]
    fn a_ticket_leads_to_its_request_until_that_is_over() {
        let mut requests = InFlight::default();
        let (first, second) = (arrived(&mut requests, 7), arrived(&mut requests, 8));

        assert_eq!(requests.at_the_door(first).request.id, RequestId(7));
        assert_eq!(requests.at_the_door(second).request.id, RequestId(8));
        requests.remove(first);
        assert_eq!(requests.at_the_door(second).request.id, RequestId(8));
        assert_eq!(requests.len(), 1);
    }

    #[test]
    #[should_panic(expected = "invariant 26")]
    fn a_ticket_is_found_out_once_its_request_is_over() {
        let mut requests = InFlight::default();
        let ticket = arrived(&mut requests, 7);
        requests.remove(ticket);

        requests.at_the_door(ticket);
    }

    #[test]
    #[should_panic(expected = "invariant 26")]
    fn a_ticket_is_found_out_although_another_request_has_its_place() {
        let mut requests = InFlight::default();
        let stale = arrived(&mut requests, 7);
        requests.remove(stale);
        let fresh = arrived(&mut requests, 8);
        assert_eq!(fresh.slot, stale.slot);

        requests.at_the_door(stale);
    }
}
