//! The priority queue: who goes on while every deployment of a name is cooling. (semantics 9.5)
//!
//! There is no queue while anybody is healthy, and none in 1.110, where an entry leaves as its
//! request goes on, so that whoever asks is always first. In 1.92 entries of requests that went on
//! stay, and everybody behind them waits until somebody is healthy again: the lowest number first,
//! equal ones in no particular order. The queue of a name is forgotten ten minutes after its first
//! entry. It is asked once, before the first attempt, and only for chat calls that are not blocking.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{
    ladder::Next,
    request::{Api, ModelId, RequestId},
    rng::{KeyedRng, Purpose},
    route_error::{QueueFault, RouteError},
    router::Router,
    step::{Ticket, WaitReason},
    time::Instant,
};

/// The queues, by the name that was asked for.
pub(crate) type Queues = BTreeMap<ModelId, Queue>;

/// The queue of one name.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The first is the next to go on.
    entries: BTreeSet<Entry>,
    forgotten_at: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry {
    priority: u32,
    /// Between equal priorities; LiteLLM draws an id for each entry.
    tie: u64,
    request: RequestId,
}

/// What the queue says to one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    GoOn,
    Wait,
    /// The queue was forgotten.
    Lost,
}

impl Queue {
    fn forget_if_over(&mut self, now: Instant) {
        if now >= self.forgotten_at {
            self.entries.clear();
        }
    }

    fn push(&mut self, now: Instant, entry: Entry) {
        if now >= self.forgotten_at {
            self.entries.clear();
            self.forgotten_at = now + QUEUE_TTL;
        }
        self.entries.insert(entry);
    }

    /// Whose turn it is. A request that goes on while somebody is healthy leaves its entry behind.
    fn poll(&mut self, now: Instant, request: RequestId, healthy: bool) -> Verdict {
        self.forget_if_over(now);
        if healthy {
            return Verdict::GoOn;
        }
        match self.entries.first() {
            None => Verdict::Lost,
            Some(first) if first.request == request => {
                self.entries.pop_first();
                Verdict::GoOn
            }
            Some(_) => Verdict::Wait,
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.entries.remove(&entry);
    }
}

impl Router {
    /// Whether a request has a priority, so that the queue says its first step.
    #[inline]
    pub(crate) fn is_scheduled(&self, ticket: Ticket) -> bool {
        self.requests.peek(ticket).request.origin.priority.is_some()
            || self.config.settings.default_priority.is_some()
    }

    /// The first step of a request with a priority.
    pub(crate) fn enter_queue(&mut self, now: Instant, ticket: Ticket) -> Next {
        let profile = &self.config.profile;
        let request = &self.requests.peek(ticket).request;
        let priority = request.origin.priority;
        let default = self.config.settings.default_priority;
        let overrides = request.overrides.as_ref();
        if overrides.is_some_and(|o| o.blocking || o.api == Api::Embedding) {
            return Next::Attempt;
        }
        if profile.default_priority_fails && priority.is_none() {
            return Next::Fail(RouteError::Queue(QueueFault::MissingPriority));
        }
        // A priority of zero counts as none in 1.92, unless there is a default.
        if !profile.queue_entries_stay || (priority == Some(0) && default.is_none()) {
            return Next::Attempt;
        }
        let (model, entry) = (request.model, self.queue_entry(ticket));
        self.queues.entry(model).or_default().push(now, entry);
        self.poll_queue(now, ticket)
    }

    /// A request that waits in the queue asks it again.
    pub(crate) fn poll_queue(&mut self, now: Instant, ticket: Ticket) -> Next {
        let state = self.requests.peek(ticket);
        let (id, model) = (state.request.id, state.request.model);
        let settings = &self.config.settings;
        let given = |time: Option<Duration>| time.filter(|t| !t.is_zero());
        let limit = given(settings.timeout).or_else(|| given(settings.request_timeout));
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        let interval = given(settings.polling_interval).unwrap_or(DEFAULT_INTERVAL);
        if now.since(state.arrived) >= limit {
            let entry = self.queue_entry(ticket);
            self.queues.entry(model).or_default().remove(entry);
            return Next::Fail(RouteError::QueueTimeout);
        }
        let healthy = self.health(now, model).healthy > 0;
        let queue = self.queues.entry(model).or_default();
        match queue.poll(now, id, healthy) {
            Verdict::GoOn if self.scheduled_calls_fail() => {
                Next::Fail(RouteError::Queue(QueueFault::MissingPriority))
            }
            Verdict::GoOn => Next::Attempt,
            Verdict::Wait => Next::Wait(now + interval, WaitReason::Queue),
            Verdict::Lost => Next::Fail(RouteError::Queue(QueueFault::Forgotten)),
        }
    }

    /// Whether a request that had its turn is scheduled a second time, without its priority, and
    /// fails by it.
    fn scheduled_calls_fail(&self) -> bool {
        let default = self.config.settings.default_priority;
        self.config.profile.default_priority_fails && default.is_some()
    }

    fn queue_entry(&self, ticket: Ticket) -> Entry {
        let request = &self.requests.peek(ticket).request;
        let settings = &self.config.settings;
        let priority = request.origin.priority.or(settings.default_priority);
        let tie = KeyedRng::new(self.seed, TIE, request.id.0, 0).unit();
        Entry {
            priority: priority.unwrap_or_default(),
            // The bits of positive numbers are in the numbers' order.
            tie: tie.to_bits(),
            request: request.id,
        }
    }
}

const TIE: Purpose = Purpose::named("router.queue_tie");
/// Entries live in the state cache. (semantics 0.1, rule 3)
const QUEUE_TTL: Duration = Duration::from_secs(600);
/// How long a request waits where the router has no `timeout`; its own counts for nothing here
/// (observed). (semantics 9.5)
const DEFAULT_LIMIT: Duration = Duration::from_secs(6_000);
/// `DEFAULT_POLLING_INTERVAL`. (semantics 0)
const DEFAULT_INTERVAL: Duration = Duration::from_millis(30);

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(priority: u32, request: u64) -> Entry {
        Entry {
            priority,
            tie: 0,
            request: RequestId(request),
        }
    }

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    #[test]
    fn with_nobody_healthy_the_lowest_number_goes_on_and_leaves() {
        let mut queue = Queue::default();
        queue.push(at(0.0), entry(5, 1));
        queue.push(at(0.0), entry(2, 2));

        assert_eq!(queue.poll(at(0.0), RequestId(1), false), Verdict::Wait);
        assert_eq!(queue.poll(at(0.0), RequestId(2), false), Verdict::GoOn);
        assert_eq!(queue.poll(at(0.0), RequestId(1), false), Verdict::GoOn);
    }

    #[test]
    fn an_entry_that_went_on_while_somebody_was_healthy_blocks_those_behind_it() {
        let mut queue = Queue::default();
        queue.push(at(0.0), entry(1, 1));
        assert_eq!(queue.poll(at(0.0), RequestId(1), true), Verdict::GoOn);
        queue.push(at(1.0), entry(2, 2));

        assert_eq!(queue.poll(at(1.0), RequestId(2), false), Verdict::Wait);
        assert_eq!(queue.poll(at(9.0), RequestId(2), true), Verdict::GoOn);
    }

    #[test]
    fn a_queue_is_forgotten_ten_minutes_after_its_first_entry() {
        let mut queue = Queue::default();
        queue.push(at(0.0), entry(1, 1));
        queue.push(at(599.0), entry(2, 2));

        assert_eq!(queue.poll(at(599.9), RequestId(2), false), Verdict::Wait);
        assert_eq!(queue.poll(at(600.0), RequestId(2), false), Verdict::Lost);
    }
}
