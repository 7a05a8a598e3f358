//! Requests that wait for a slot, and their turn.

use std::mem;

use router::{Instant, Observer, Parked, RequestId, Router};

use super::Simulation;
use crate::{SimError, unfinished::State};

impl Simulation {
    /// Lets a parked request go on, and whoever its going on lets go on.
    #[inline(never)]
    pub(super) fn admit(
        &mut self,
        now: Instant,
        mut released: Option<RequestId>,
        observer: &mut impl Observer,
    ) -> Result<(), SimError> {
        while let Some(request) = released {
            let (place, parked) = self.unpark(request);
            let instance = self.unfinished[place as usize].instance;
            let admitted = |router: &mut Router| router.admitted(now, parked, observer);
            let turn = self.fleet.give(instance, admitted);
            self.take_step(now, place, turn.step)?;
            if self.may_mirror {
                self.mirror(now, place, observer)?;
            }
            released = turn.released;
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn park(&mut self, place: u32, parked: Parked) {
        self.parked.insert(parked.request(), place);
        self.unfinished[place as usize].state = State::Parked(parked);
    }

    fn unpark(&mut self, request: RequestId) -> (u32, Parked) {
        let place = self
            .parked
            .remove(&request)
            .expect("only a parked request is released");
        let state = mem::replace(&mut self.unfinished[place as usize].state, State::Deciding);
        let State::Parked(parked) = state else {
            unreachable!("it is listed as parked")
        };
        (place, parked)
    }
}
