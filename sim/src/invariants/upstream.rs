//! An attempt ends as its provider had it end, or by its deadline, and what the router then hears is
//! what was said, class and hint and all (invariant 14). A provider lets no more through than its quota,
//! in any window (invariant 19).
//!
//! The providers are built a second time and asked the same, in the same order. What they let through is
//! then counted from the answers alone, not by the meters that let it through: an attempt that delivered
//! something was let in, and used what its charge says at least.

use std::{collections::BTreeMap, time::Duration};

use mock_providers::{ProviderCall, Providers, Reply};
use router::{
    AttemptPlan, Deadline, Decision, ErrorClass, Event, Input, Instant, Outcome, Reached,
    RequestId, Router, Step,
};
use scenarios::{Arrival, RunPlan};

use super::{
    quota::Windows,
    rule::{Found, Now, Rule},
};
use crate::{SimError, simulation::providers};

/// Invariants 14 and 19.
#[derive(Debug)]
pub(super) struct Upstream {
    providers: Providers,
    arrivals: Vec<Arrival>,
    windows: Windows,
    under_way: BTreeMap<RequestId, Sent>,
    /// What the router is told by the input under way, unless that is a stream, of which a client
    /// library knows only the text.
    told: Option<(RequestId, Outcome)>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    call: ProviderCall,
    reply: Reply,
    deadline: Deadline,
}

impl Sent {
    /// Ended by its own provider, and not by a limit on its time.
    fn in_time(&self, at: Instant) -> bool {
        self.reply.total_after != Duration::MAX && at == self.at + self.reply.total_after
    }

    /// What is wrong with an attempt that ends so, if anything is.
    fn fault(&self, at: Instant, outcome: &Outcome) -> Option<String> {
        let took = at.since(self.at);
        if let Deadline::Whole(limit) = self.deadline
            && took > limit
        {
            return Some(format!("it took {took:?}, and may take {limit:?}"));
        }
        if self.in_time(at) {
            let said = &self.reply.outcome;
            return (outcome != said).then(|| format!("{outcome:?} is told, {said:?} was said"));
        }
        let is_timeout = matches!(outcome, Outcome::Failure(f) if f.class == ErrorClass::Timeout);
        let on_limit = match self.deadline {
            Deadline::Whole(limit) => took == limit,
            Deadline::None => false,
            Deadline::Content(_) | Deadline::Silence(_) => took < self.reply.total_after,
        };
        let fits = is_timeout && on_limit;
        (!fits).then(|| format!("after {took:?} it ended with {outcome:?}, by no limit"))
    }
}

impl Upstream {
    pub(super) fn new(plan: &RunPlan) -> Result<Self, SimError> {
        Ok(Self {
            providers: providers(plan)?,
            arrivals: plan.workload.arrivals(plan.seed).collect(),
            windows: Windows::new(plan),
            under_way: BTreeMap::new(),
            told: None,
        })
    }

    fn send(
        &mut self,
        now: &Now<'_>,
        attempt: &router::Attempt,
        plan: &AttemptPlan<'_>,
        found: &mut Found,
    ) {
        let request = attempt.request();
        let number = request.call();
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(arrival) = self.arrivals.get(place) else {
            found.add(14, now, request, "nobody asked for it");
            return;
        };
        let from = now.plan.workload.provenance(now.plan.seed, number);
        let call = ProviderCall {
            request,
            attempt: attempt.number(),
            deployment: attempt.deployment(),
            prompt_tokens: arrival.prompt_tokens,
            output_tokens: arrival.output_tokens,
            max_tokens: arrival.max_tokens,
            stream: plan.stream,
            beginning: from.as_ref().map(|from| from.beginning).unwrap_or_default(),
            batch: from.is_some_and(|from| from.batch),
        };
        let reply = self.providers.respond(now.at, &call);
        let sent = Sent {
            at: now.at,
            call,
            reply,
            deadline: plan.deadline,
        };
        self.under_way.insert(request, sent);
        if let Some(what) = self.windows.let_in(now.at, &call, &reply) {
            found.add(19, now, request, what);
        }
    }
}

impl Rule for Upstream {
    fn input(&mut self, now: &Now<'_>, _router: &Router, input: &Input<'_>, found: &mut Found) {
        self.told = None;
        match *input {
            Input::AttemptFinished { request, outcome } => {
                let Some(sent) = self.under_way.remove(&request) else {
                    found.add(14, now, request, "an attempt ended that nobody sent");
                    return;
                };
                if let Some(what) = sent.fault(now.at, outcome) {
                    found.add(14, now, request, what);
                }
                if !sent.in_time(now.at) {
                    self.providers.abandon(now.at, &sent.call);
                }
                let begun =
                    matches!(outcome, Outcome::Failure(f) if f.reached() != Reached::Nothing);
                self.told = (!begun).then_some((request, *outcome));
            }
            Input::Cancel(request) => {
                if let Some(sent) = self.under_way.remove(&request) {
                    self.providers.abandon(now.at, &sent.call);
                }
            }
            Input::Arrive(_)
            | Input::Resume(_)
            | Input::Admitted(_)
            | Input::FirstToken(_)
            | Input::Clear(_) => {}
        }
    }

    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        if let Event::Finished {
            request, outcome, ..
        } = *event
            && let Some((whose, told)) = self.told
            && (whose != request || told != *outcome)
        {
            let what = format_args!("{told:?} of {whose} was told, {outcome:?} is heard");
            found.add(14, now, request, what);
        }
    }

    fn decided(
        &mut self,
        now: &Now<'_>,
        router: &Router,
        decision: &Decision<'_>,
        found: &mut Found,
    ) {
        if let Decision::Turn(turn) = decision
            && let Step::Send(attempt) = &turn.step
        {
            self.send(now, attempt, &router.plan(attempt), found);
        }
    }
}
