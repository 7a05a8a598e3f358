//! What a router is given, and what it answers: every way in goes through here, so that a journal
//! that hears this door misses nothing ([`Observer::INPUTS`]). For anybody else it is not there.

use crate::{
    observe::Observer,
    outcome::Outcome,
    request::{DeploymentId, Request, RequestId},
    router::Router,
    step::{Attempt, Held, Parked, Step, Turn, Wait},
    time::Instant,
};

/// An input to a router. Tokens are told by their request, which holds one at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Input<'a> {
    /// [`Router::arrive`].
    Arrive(&'a Request),
    /// [`Router::attempt_finished`].
    AttemptFinished {
        /// Whose attempt.
        request: RequestId,
        /// How it ended, before the client library makes anything of it.
        outcome: &'a Outcome,
    },
    /// [`Router::resume`].
    Resume(RequestId),
    /// [`Router::admitted`].
    Admitted(RequestId),
    /// [`Router::first_token`].
    FirstToken(RequestId),
    /// [`Router::cancel`].
    Cancel(RequestId),
    /// [`Router::clear_cooldown`], or [`Router::clear_cooldowns`] without a deployment.
    Clear(Option<DeploymentId>),
}

/// What came of an input.
#[derive(Clone, Copy, Debug)]
pub enum Decision<'a> {
    /// Of one that gives a turn.
    Turn(&'a Turn),
    /// Of a first token or of a caller that goes away: whom a slot was freed for.
    Released(Option<RequestId>),
    /// Of an operator's clearing: how many cooldowns it ended.
    Cleared(usize),
}

impl Router {
    /// A request arrives.
    #[inline]
    pub fn arrive<O: Observer>(&mut self, now: Instant, request: Request, obs: &mut O) -> Turn {
        self.goes_on(now);
        if O::INPUTS {
            obs.input(now, self, &Input::Arrive(&request));
        }
        let turn = self.take_request(now, request, obs);
        self.decided(&turn, obs);
        turn
    }

    /// The first token of a streamed attempt arrived. Must be told where the attempt's plan
    /// [wants it](crate::AttemptPlan::wants_first_token); elsewhere telling it only informs the observer.
    /// Gives a parked request that may go on now, if a slot became free.
    #[inline]
    pub fn first_token<O: Observer>(
        &mut self,
        now: Instant,
        attempt: &Attempt,
        obs: &mut O,
    ) -> Option<RequestId> {
        self.goes_on(now);
        if O::INPUTS {
            obs.input(now, self, &Input::FirstToken(attempt.request));
        }
        let released = self.take_first_token(now, attempt, obs);
        if O::INPUTS {
            obs.decided(self, &Decision::Released(released));
        }
        released
    }

    /// An attempt ended.
    #[inline]
    pub fn attempt_finished<O: Observer>(
        &mut self,
        now: Instant,
        attempt: Attempt,
        outcome: &Outcome,
        obs: &mut O,
    ) -> Turn {
        self.goes_on(now);
        if O::INPUTS {
            let request = attempt.request;
            obs.input(now, self, &Input::AttemptFinished { request, outcome });
        }
        let turn = self.take_outcome(now, attempt, outcome, obs);
        self.decided(&turn, obs);
        turn
    }

    /// A wait is over.
    #[inline]
    pub fn resume<O: Observer>(&mut self, now: Instant, wait: Wait, obs: &mut O) -> Turn {
        self.goes_on(now);
        if O::INPUTS {
            obs.input(now, self, &Input::Resume(wait.request));
        }
        let turn = self.take_end_of_wait(now, wait, obs);
        self.decided(&turn, obs);
        turn
    }

    /// A slot was freed for a parked request.
    ///
    /// # Panics
    /// If no earlier turn said that it was released.
    #[inline]
    pub fn admitted<O: Observer>(&mut self, now: Instant, parked: Parked, obs: &mut O) -> Turn {
        self.goes_on(now);
        if O::INPUTS {
            obs.input(now, self, &Input::Admitted(parked.request));
        }
        let turn = self.take_slot(now, parked, obs);
        self.decided(&turn, obs);
        turn
    }

    /// The caller went away. Gives a parked request that may go on now, if that freed a slot.
    #[inline]
    pub fn cancel<O: Observer>(
        &mut self,
        now: Instant,
        held: Held,
        obs: &mut O,
    ) -> Option<RequestId> {
        self.goes_on(now);
        if O::INPUTS {
            obs.input(now, self, &Input::Cancel(held.request()));
        }
        let released = self.take_cancel(now, held, obs);
        if O::INPUTS {
            obs.decided(self, &Decision::Released(released));
        }
        released
    }

    /// Ends a deployment's cooldown. `false`: it had none.
    pub fn clear_cooldown<O: Observer>(
        &mut self,
        now: Instant,
        deployment: DeploymentId,
        obs: &mut O,
    ) -> bool {
        self.goes_on(now);
        if O::INPUTS {
            obs.input(now, self, &Input::Clear(Some(deployment)));
        }
        let ended = self.take_clear(now, deployment, obs);
        if O::INPUTS {
            obs.decided(self, &Decision::Cleared(usize::from(ended)));
        }
        ended
    }

    /// Ends every cooldown; gives how many there were.
    pub fn clear_cooldowns<O: Observer>(&mut self, now: Instant, obs: &mut O) -> usize {
        self.goes_on(now);
        if O::INPUTS {
            obs.input(now, self, &Input::Clear(None));
        }
        let ended = self.take_clear_of_all(now, obs);
        if O::INPUTS {
            obs.decided(self, &Decision::Cleared(ended));
        }
        ended
    }

    /// Mirrors that the last input began, and that the driver has not taken yet.
    pub fn waiting_mirrors(&self) -> impl Iterator<Item = RequestId> {
        self.mirrors.waiting().iter().map(|mirror| mirror.id)
    }

    /// Its number among the instances of one configuration; 0 unless a [`Fleet`](crate::Fleet)
    /// numbered it.
    #[must_use]
    pub const fn instance(&self) -> u32 {
        self.instance
    }

    /// Time does not run back between two inputs.
    #[inline(always)]
    const fn goes_on(&mut self, now: Instant) {
        #[cfg(debug_assertions)]
        {
            assert!(
                now.as_nanos() >= self.latest.as_nanos(),
                "invariant 3: the clock runs back"
            );
            self.latest = now;
        }
        let _ = now;
    }

    #[inline]
    fn decided<O: Observer>(&self, turn: &Turn, obs: &mut O) {
        if O::INPUTS {
            obs.decided(self, &Decision::Turn(turn));
        }
    }
}

impl Held {
    /// Whose it is.
    #[must_use]
    pub const fn request(&self) -> RequestId {
        match self {
            Self::Attempt(attempt) => attempt.request,
            Self::Parked(parked) => parked.request,
            Self::Wait(wait) => wait.request,
        }
    }

    /// What a step leaves its request with.
    ///
    /// # Errors
    ///
    /// The answer, if it is over.
    #[expect(clippy::result_large_err, reason = "made of a step, which is as large")]
    pub fn of(step: Step) -> Result<Self, crate::step::Answer> {
        match step {
            Step::Send(attempt) => Ok(Self::Attempt(attempt)),
            Step::Wait(wait) => Ok(Self::Wait(wait)),
            Step::Park(parked) => Ok(Self::Parked(parked)),
            Step::Done(answer) => Err(answer),
        }
    }
}
