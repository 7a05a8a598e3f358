//! The books of attempts: who was sent, who holds a slot, whom a failure is charged to. Every way
//! out of an attempt releases what it took.

use crate::{
    client_retry::ClientTries,
    cooldown::Bench,
    deployment::CooldownShown,
    ladder::Next,
    observe::{Event, Observer},
    outcome::{ErrorClass, Failure},
    probe::Probe,
    request::{DeploymentId, RequestId},
    route_error::RouteError,
    router::Router,
    rules::WhenSlotsFull,
    step::{Answer, Attempt, Parked, Step, Ticket, Turn, Wait},
    time::Instant,
};

impl Router {
    /// Does what the ladder says until the driver has something to do.
    pub(crate) fn go_on(
        &mut self,
        now: Instant,
        ticket: Ticket,
        mut next: Next,
        obs: &mut impl Observer,
    ) -> Step {
        loop {
            match next {
                Next::Attempt => match self.attempt(now, ticket, obs) {
                    Ok(step) => return step,
                    Err(error) => {
                        self.drop_probe(ticket);
                        next = self.after_failure(now, ticket, error, obs);
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
                    return Step::Wait(Wait {
                        ticket,
                        request,
                        until,
                        why,
                    });
                }
                Next::Fail(error) => {
                    self.last_look(now, ticket, obs);
                    let trail = self.requests.peek(ticket).trail(None);
                    return self.answer(now, ticket, Answer::Failed { error, trail }, obs);
                }
            }
        }
    }

    /// Picks a deployment and takes a slot of it.
    fn attempt(
        &mut self,
        now: Instant,
        ticket: Ticket,
        obs: &mut impl Observer,
    ) -> Result<Step, RouteError> {
        let deployment = self.pick(now, ticket, obs)?;
        self.filters_learn_pick(now, ticket, deployment);
        if let Some(group) = self.fixed[deployment.index()].silent {
            self.mirror(now, ticket, group, obs);
        }
        let blocking = self.requests.peek(ticket).request.is_blocking();
        let slots = self.fixed[deployment.index()].slots;
        let Some(limit) = slots.filter(|_| !blocking) else {
            let sent = self.send(now, ticket, deployment, false, obs);
            return sent.map(|turn| turn.step);
        };
        let slots = &mut self.states[deployment.index()];
        if slots.slots_taken < limit {
            slots.slots_taken += 1;
            let sent = self.send(now, ticket, deployment, true, obs);
            // Nobody is parked where a slot was free.
            if sent.is_err() {
                let _ = self.release_slot(ticket, deployment);
            }
            return sent.map(|turn| turn.step);
        }
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
                Err(RouteError::SlotsInUse { deployment, limit })
            }
            WhenSlotsFull::Queue => {
                state.since = now;
                slots.parked.push_back(request);
                obs.observe(
                    now,
                    &Event::ParkedForSlot {
                        request,
                        deployment,
                    },
                );
                Ok(Step::Park(Parked {
                    ticket,
                    request,
                    deployment,
                }))
            }
        }
    }

    /// Begins an attempt at the deployment that was picked, unless the checks before a call refuse
    /// it or the response cache answers.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        holds_slot: bool,
        obs: &mut impl Observer,
    ) -> Result<Turn, RouteError> {
        let state = self.requests.get(ticket);
        state.holds_slot = holds_slot;
        if self.rate_limits.is_on() {
            self.check_rate_limits(now, ticket, deployment, obs)?;
        }
        if let Some(limit) = self.config.settings.num_retries_per_request {
            self.check_failures(now, ticket, deployment, limit)?;
        }
        self.pin(now, ticket, deployment);
        if self.response_cache.is_some()
            && let Some(turn) = self.answer_from_cache(now, ticket, deployment, obs)
        {
            return Ok(turn);
        }
        let state = self.requests.get(ticket);
        state.client = ClientTries::new(now);
        self.strategies.on_sent(now, &state.sent(deployment));
        Ok(Turn {
            step: self.call(now, ticket, deployment, obs),
            released: None,
        })
    }

    /// Has the deployment called: the first time, or again by the client library.
    pub(crate) fn call(
        &mut self,
        now: Instant,
        ticket: Ticket,
        deployment: DeploymentId,
        obs: &mut impl Observer,
    ) -> Step {
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
        Step::Send(Attempt {
            ticket,
            request,
            deployment,
            number,
        })
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
            slots.slots_taken -= 1;
            return None;
        };
        let parked = self
            .requests
            .find(next)
            .expect("a parked request is unfinished");
        parked.slot_granted = true;
        Some(next)
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
        state.probe = Probe::of(now, until, ceiling);
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

    pub(crate) fn answer(
        &mut self,
        now: Instant,
        ticket: Ticket,
        answer: Answer,
        obs: &mut impl Observer,
    ) -> Step {
        self.drop_probe(ticket);
        let state = self.requests.peek(ticket);
        let (request, caller_left) = (state.request.id, state.caller_left);
        self.requests.remove(ticket);
        let event = match caller_left {
            Some(deployment) => Event::Cancelled {
                request,
                deployment: Some(deployment),
            },
            None => Event::Answered {
                request,
                answer: &answer,
            },
        };
        obs.observe(now, &event);
        Step::Done(answer)
    }
}
