//! The books of attempts: who was sent, who holds a slot, whom a failure is charged to. Every way
//! out of an attempt releases what it took.

use crate::{
    client_retry::ClientTries,
    cooldown::Bench,
    deployment::CooldownShown,
    ladder::Next,
    observe::{Event, Observer},
    outcome::{ErrorClass, Failure, Outcome},
    request::{DeploymentId, RequestId},
    route_error::RouteError,
    router::Router,
    rules::WhenSlotsFull,
    step::{Answer, Attempt, Parked, Step, Ticket, Turn, Wait},
    time::Instant,
};

/// What a try of a hop leads to where no attempt is sent.
pub(crate) enum Instead {
    Failed(RouteError),
    /// It waits for a slot, or the response cache answered.
    Done(Turn),
}

impl From<RouteError> for Instead {
    fn from(error: RouteError) -> Self {
        Self::Failed(error)
    }
}

impl Router {
    /// Tries the hop that the request is in, and goes on if nothing can be sent.
    #[inline(always)]
    pub(crate) fn try_hop(
        &mut self,
        now: Instant,
        ticket: Ticket,
        obs: &mut impl Observer,
    ) -> Turn {
        match self.attempt(now, ticket, obs) {
            Ok(attempt) => Turn::of(Step::Send(attempt)),
            Err(Instead::Done(turn)) => turn,
            Err(Instead::Failed(error)) => {
                let next = self.after_no_attempt(now, ticket, error, obs);
                self.go_on(now, ticket, next, obs)
            }
        }
    }

    #[cold]
    fn after_no_attempt(
        &mut self,
        now: Instant,
        ticket: Ticket,
        error: RouteError,
        obs: &mut impl Observer,
    ) -> Next {
        self.drop_probe(ticket);
        self.after_failure(now, ticket, error, obs)
    }

    /// Does what the ladder says until the driver has something to do.
    #[inline(never)]
    pub(crate) fn go_on(
        &mut self,
        now: Instant,
        ticket: Ticket,
        mut next: Next,
        obs: &mut impl Observer,
    ) -> Turn {
        loop {
            match next {
                Next::Attempt => match self.attempt(now, ticket, obs) {
                    Ok(attempt) => return Turn::of(Step::Send(attempt)),
                    Err(Instead::Done(turn)) => return turn,
                    Err(Instead::Failed(error)) => {
                        next = self.after_no_attempt(now, ticket, error, obs);
                    }
                },
                Next::Wait(until, why) => {
                    let state = self.requests.get(ticket);
                    state.since = now;
                    let request = state.request.id;
                    obs.observe(
                        now,
                        &Event::Waiting {
                            request,
                            until,
                            why,
                        },
                    );
                    return Turn::of(Step::Wait(Wait {
                        ticket,
                        request,
                        until,
                        why,
                    }));
                }
                Next::Fail(error) => {
                    self.last_look(now, ticket, obs);
                    self.drop_probe(ticket);
                    let trail = self.requests.peek(ticket).trail(None);
                    let turn = Turn::of(Step::Done(Answer::Failed { error, trail }));
                    self.finish(now, ticket, &turn, obs);
                    return turn;
                }
            }
        }
    }

    /// [`go_on`](Self::go_on), where the same input freed a slot.
    #[inline(always)]
    pub(crate) fn go_on_beside(
        &mut self,
        now: Instant,
        ticket: Ticket,
        next: Next,
        released: Option<RequestId>,
        obs: &mut impl Observer,
    ) -> Turn {
        let mut turn = self.go_on(now, ticket, next, obs);
        if released.is_some() {
            turn.released = released;
        }
        turn
    }

    /// Picks a deployment and takes a slot of it. One place for the first attempt and for those after
    /// it, so that a retry finds its instructions in the cache.
    #[inline(never)]
    #[expect(
        clippy::result_large_err,
        reason = "it is moved only where no attempt is sent"
    )]
    fn attempt(
        &mut self,
        now: Instant,
        ticket: Ticket,
        obs: &mut impl Observer,
    ) -> Result<Attempt, Instead> {
        let deployment = self.pick(now, ticket, obs)?;
        if self.filters.is_some() {
            self.filters_learn_pick(now, ticket, deployment);
        }
        if let Some(group) = self.fixed[deployment.index()].silent {
            self.mirror(now, ticket, group, obs);
        }
        let mut holds_slot = false;
        if let Some(limit) = self.fixed[deployment.index()].slots
            && !self.requests.peek(ticket).request.is_blocking()
        {
            let slots = &mut self.states[deployment.index()];
            if slots.slots_taken >= limit {
                return Err(self.slots_are_full(now, ticket, deployment, limit, obs));
            }
            slots.slots_taken += 1;
            debug_assert!(
                slots.parked.is_empty(),
                "invariant 5: a slot is free while somebody waits for it"
            );
            holds_slot = true;
        }
        let sent = self.send(now, ticket, deployment, holds_slot, obs);
        // Nobody is parked where a slot was free.
        if let Err(Instead::Failed(_)) = sent {
            let _ = self.release_slot(ticket, deployment);
        }
        sent
    }

    #[inline(never)]
    fn slots_are_full(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        limit: u32,
        obs: &mut impl Observer,
    ) -> Instead {
        let state = self.requests.get(ticket);
        let request = state.request.id;
        match self.config.profile.when_slots_full {
            WhenSlotsFull::Reject => {
                obs.observe(
                    now,
                    &Event::SlotRefused {
                        request,
                        deployment,
                        limit,
                    },
                );
                Instead::Failed(RouteError::SlotsInUse { deployment, limit })
            }
            WhenSlotsFull::Queue => {
                state.since = now;
                self.states[deployment.index()].parked.push_back(request);
                obs.observe(
                    now,
                    &Event::ParkedForSlot {
                        request,
                        deployment,
                    },
                );
                let parked = Parked {
                    ticket,
                    request,
                    deployment,
                };
                Instead::Done(Turn::of(Step::Park(parked)))
            }
        }
    }

    /// Begins an attempt at the deployment that was picked, unless the checks before a call refuse
    /// it or the response cache answers.
    #[inline(always)]
    #[expect(
        clippy::result_large_err,
        reason = "it is moved only where no attempt is sent"
    )]
    pub(crate) fn send(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        holds_slot: bool,
        obs: &mut impl Observer,
    ) -> Result<Attempt, Instead> {
        let state = self.requests.get(ticket);
        state.holds_slot = holds_slot;
        if self.rate_limits.is_on() {
            self.check_rate_limits(now, ticket, deployment, obs)?;
        }
        if let Some(limit) = self.config.settings.num_retries_per_request {
            self.check_failures(now, ticket, deployment, limit, obs)?;
        }
        if self.filters.is_some() {
            self.pin(now, ticket, deployment);
        }
        if self.response_cache.is_some()
            && let Some(turn) = self.answer_from_cache(now, ticket, deployment, obs)
        {
            return Err(Instead::Done(turn));
        }
        let state = self.requests.get(ticket);
        state.client = ClientTries::new(now);
        self.strategies.on_sent(now, &state.sent(deployment));
        Ok(self.call(now, ticket, deployment, obs))
    }

    /// Has the deployment called: the first time, or again by the client library.
    #[inline(always)]
    pub(crate) fn call(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> Attempt {
        self.one_more_in_flight(deployment);
        let state = self.requests.get(ticket);
        state.since = now;
        state.first_token_after = None;
        let number = state.attempts;
        state.attempts = state.attempts.saturating_add(1);
        let request = state.request.id;
        obs.observe(
            now,
            &Event::Sent {
                request,
                deployment,
                attempt: number,
            },
        );
        Attempt {
            ticket,
            request,
            deployment,
            number,
        }
    }

    /// Frees the slot that a request holds; whoever is parked longest gets it.
    #[inline]
    pub(crate) fn release_slot(
        &mut self,
        ticket: Ticket,
        deployment: DeploymentId,
    ) -> Option<RequestId> {
        let state = self.requests.get(ticket);
        if !std::mem::take(&mut state.holds_slot) {
            return None;
        }
        let slots = &mut self.states[deployment.index()];
        let Some(next) = slots.parked.pop_front() else {
            debug_assert!(
                slots.slots_taken > 0,
                "invariant 5: a slot is given back that nobody took"
            );
            slots.slots_taken -= 1;
            return None;
        };
        let parked = self
            .requests
            .find(next)
            .expect("a parked request is unfinished");
        parked.rare.slot_granted = true;
        Some(next)
    }

    /// Tells the strategies that count how an attempt ended.
    #[inline]
    pub(crate) fn tell_strategies(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        outcome: &Outcome,
    ) {
        let state = self.requests.peek(ticket);
        let began = state.client.began;
        self.strategies
            .on_finished(now, &state.sent(deployment), began, outcome);
    }

    /// Charges a failure to the deployment that produced it; `None`: a refusal of the router's own,
    /// before anybody was called.
    pub(crate) fn charge(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        failure: Option<&Failure>,
        obs: &mut impl Observer,
    ) {
        let state = self.requests.peek(ticket);
        let target = self.registry.target(state.hop.group);
        // A routing group that is called by its own name has the deployments of all its models.
        let in_company = target.routing_group.is_some() && target.members.len() > 1;
        let bench = Bench {
            settings: &self.config.settings,
            profile: &self.config.profile,
            deployment: &self.config.deployments[deployment.index()],
            lone: self.is_lone(deployment, state.hop.group) && !in_company,
            wildcard: self.fixed[deployment.index()].wildcard,
            has_fallback: self.fixed[deployment.index()].has_fallback,
            asked_for: state
                .request
                .overrides
                .as_ref()
                .and_then(|o| o.cooldown_time),
        };
        let counts = &mut self.states[deployment.index()];
        let shared = self.shared.as_mut();
        let mut shared = shared.filter(|_| self.config.profile.sharing.allowed_fails);
        if let Some(shared) = &mut shared {
            shared.exchange_fails(deployment, counts);
        }
        let (verdict, status) = match failure {
            Some(failure) => (bench.judge(now, failure, counts), failure.status),
            None => (bench.judge_refusal(now, counts), Some(429)),
        };
        if let Some(shared) = &mut shared {
            shared.exchange_fails(deployment, counts);
        }
        let Some((length, why)) = verdict else {
            return;
        };
        let request = state.request.id;
        let asked = CooldownShown {
            length,
            why,
            status,
        };
        self.bench(now, request, deployment, asked, obs);
        let of_account = |f: &Failure| f.class == ErrorClass::RateLimit || f.is_out_of_credit();
        if failure.is_some_and(of_account) {
            for other in self.sharers(deployment) {
                self.bench(now, request, other, asked, obs);
            }
        }
    }

    fn bench(
        &mut self,
        now: Instant,
        request: RequestId,
        deployment: DeploymentId,
        asked: CooldownShown,
        obs: &mut impl Observer,
    ) {
        let longer_wins = self.config.profile.corrections.longer_cooldown_wins;
        let ceiling = self.probe_after(deployment);
        let asked = CooldownShown {
            length: self.spread_out(asked.length, request, deployment),
            ..asked
        };
        let state = &mut self.states[deployment.index()];
        state.run_timer();
        let until = state.cool(now, asked, longer_wins);
        state.probe = state.probe.in_cooldown(now, until, ceiling);
        self.all_warm_at = self.all_warm_at.max(until);
        if self.config.settings.cooldown_recovery.one_trial {
            state.hold_for_trial(now, until);
            self.all_warm_at = Instant::NEVER;
        }
        self.share_cooldown(now, deployment, asked.length);
        obs.observe(
            now,
            &Event::CooledDown {
                deployment,
                request,
                until,
                why: asked.why,
            },
        );
    }

    /// The request is over, with the answer of this turn.
    #[inline(always)]
    pub(crate) fn finish(
        &mut self,
        now: Instant,
        ticket: Ticket,
        turn: &Turn,
        obs: &mut impl Observer,
    ) {
        let Step::Done(answer) = &turn.step else {
            unreachable!("a request is over with its answer")
        };
        let state = self.requests.peek(ticket);
        let (request, caller_left) = (state.request.id, state.caller_left());
        debug_assert!(
            !state.holds_slot,
            "invariant 5: request {request} is over and holds a slot"
        );
        self.requests.remove(ticket);
        let event = match caller_left {
            Some(deployment) => Event::Cancelled {
                request,
                deployment: Some(deployment),
            },
            None => Event::Answered { request, answer },
        };
        obs.observe(now, &event);
    }
}
