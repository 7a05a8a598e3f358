//! Callers that go away. Whatever a request holds is given back: its place in flight, its slot, its
//! place in a queue. (BR-046, BR-047)
//!
//! Either the call upstream is cancelled with it ([`Router::cancel`]), or it goes on and counts until
//! it really ends ([`Router::caller_left`]).

use crate::{
    observe::{Event, Observer},
    request::{DeploymentId, RequestId},
    router::Router,
    step::{Attempt, Held, Parked, Ticket, Wait},
    time::Instant,
};

impl Router {
    pub(crate) fn take_cancel(
        &mut self,
        now: Instant,
        held: Held,
        obs: &mut impl Observer,
    ) -> Option<RequestId> {
        let (ticket, deployment, released) = match held {
            Held::Attempt(Attempt {
                ticket, deployment, ..
            }) => {
                self.requests.at_the_door(ticket);
                self.one_less_in_flight(deployment);
                (
                    ticket,
                    Some(deployment),
                    self.abandon(now, ticket, deployment),
                )
            }
            Held::Parked(Parked {
                ticket,
                request,
                deployment,
                ..
            }) => {
                let state = self.requests.at_the_door(ticket);
                let released = if state.rare.slot_granted {
                    state.holds_slot = true;
                    self.release_slot(ticket, deployment)
                } else {
                    self.states[deployment.index()]
                        .parked
                        .retain(|&r| r != request);
                    None
                };
                (ticket, None, released)
            }
            Held::Wait(Wait { ticket, .. }) => (ticket, None, self.abandon_wait(now, ticket)),
        };
        self.drop_probe(ticket);
        let request = self.requests.get(ticket).request.id;
        obs.observe(
            now,
            &Event::Cancelled {
                request,
                deployment,
            },
        );
        self.requests.remove(ticket);
        released
    }

    /// The caller went away, and the call upstream goes on: its end must still be told with
    /// [`Router::attempt_finished`], which then is the end of the request. Nothing follows a failure.
    pub fn caller_left(&mut self, attempt: &Attempt) {
        let state = self.requests.at_the_door(attempt.ticket);
        state.rare.caller_left = Some(attempt.deployment);
    }

    /// The caller went away during an attempt.
    fn abandon(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
    ) -> Option<RequestId> {
        let state = self.requests.peek(ticket);
        self.strategies.on_abandoned(now, &state.sent(deployment));
        self.release_slot(ticket, deployment)
    }

    /// The caller went away during a wait. One of the client library's is inside an attempt.
    fn abandon_wait(&mut self, now: Instant, ticket: Ticket) -> Option<RequestId> {
        let state = self.requests.at_the_door(ticket);
        let deployment = state.client.waits_at.take()?;
        self.abandon(now, ticket, deployment)
    }
}
