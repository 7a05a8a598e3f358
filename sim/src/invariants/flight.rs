//! What is in flight is what was sent and has not ended (invariant 4); a slot is held by whoever was
//! given it until that one's way out, whichever it is, and none stands free while somebody waits for it
//! (invariant 5); unfinished requests are those that came and are not over (invariant 6).

use std::collections::BTreeMap;

use router::{Decision, DeploymentId, Event, Input, RequestId, Router, WaitReason};
use scenarios::RunPlan;

use super::rule::{Found, Now, Rule};

/// Invariants 4, 5 and 6.
#[derive(Debug)]
pub(super) struct Flight {
    /// By deployment: `max_parallel_requests`, or what stands in for it.
    slots: Vec<Option<u32>>,
    streams_hold_slot: bool,
    open: BTreeMap<RequestId, Open>,
    /// The slot that an attempt that just ended may keep for its client library's next try.
    between: Option<(RequestId, DeploymentId)>,
}

#[derive(Debug)]
struct Open {
    instance: usize,
    /// It knows no slots.
    blocking: bool,
    stream: bool,
    under_way: Option<DeploymentId>,
    holds: Option<DeploymentId>,
    parked: Option<DeploymentId>,
    granted: bool,
}

impl Flight {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let default = plan.router.settings.default_max_parallel_requests;
        let slots = plan.router.deployments.iter().map(|d| {
            let of_tpm = d.tpm.map(|tpm| (tpm * 6 / 1_000).max(1));
            let slots = d.max_parallel_requests.or(d.rpm).or(of_tpm).or(default);
            let slots = slots.filter(|&slots| slots > 0)?;
            Some(u32::try_from(slots).unwrap_or(u32::MAX))
        });
        Self {
            slots: slots.collect(),
            streams_hold_slot: plan.router.profile.streams_hold_slot,
            open: BTreeMap::new(),
            between: None,
        }
    }

    fn of_instance(&self, instance: usize) -> impl Iterator<Item = &Open> {
        let open = self.open.values();
        open.filter(move |one| one.instance == instance)
    }

    fn compare(&self, now: &Now<'_>, router: &Router, found: &mut Found) {
        let open = self.of_instance(now.instance).count();
        if router.unfinished() != open {
            let told = router.unfinished();
            let what = format_args!("{told} requests are unfinished, there are {open}");
            found.add(6, now, None, what);
        }
        for (number, &slots) in (0..).zip(&self.slots) {
            let deployment = DeploymentId(number);
            let id = &now.plan.router.deployments[deployment.index()].id;
            let count = |of: fn(&Open) -> Option<DeploymentId>| {
                let there = self.of_instance(now.instance);
                let there = there.filter(|&one| of(one) == Some(deployment)).count();
                u32::try_from(there).unwrap_or(u32::MAX)
            };
            let (told, sent) = (router.in_flight(deployment), count(|one| one.under_way));
            if told != sent {
                let what = format_args!("{told} are in flight at {id}, and {sent} are under way");
                found.add(4, now, None, what);
            }
            let held = count(|one| one.holds) + count(|one| one.parked.filter(|_| one.granted));
            let taken = router.slots_taken(deployment);
            if taken != held || slots.is_some_and(|slots| taken > slots) {
                let what =
                    format_args!("{taken} slots of {id} are taken, {held} held, of {slots:?}");
                found.add(5, now, None, what);
            }
            let waits = count(|one| one.parked.filter(|_| !one.granted));
            if waits > 0 && slots.is_none_or(|slots| taken < slots) {
                let what =
                    format_args!("{waits} wait for a slot of {id}, {taken} of {slots:?} are taken");
                found.add(5, now, None, what);
            }
        }
    }

    fn grant(&mut self, now: &Now<'_>, released: RequestId, found: &mut Found) {
        match self.open.get_mut(&released) {
            Some(open) if open.parked.is_some() && !open.granted => open.granted = true,
            _ => found.add(5, now, released, "it was given a slot, and waits for none"),
        }
    }
}

impl Rule for Flight {
    fn input(&mut self, _now: &Now<'_>, _router: &Router, input: &Input<'_>, _found: &mut Found) {
        self.between = None;
        if let Input::Admitted(request) = input
            && let Some(open) = self.open.get_mut(request)
        {
            open.parked = None;
            open.granted = false;
        }
    }

    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        if let Event::Arrived { request } = event {
            let open = Open {
                instance: now.instance,
                blocking: request.is_blocking(),
                stream: request.stream,
                under_way: None,
                holds: None,
                parked: None,
                granted: false,
            };
            self.open.insert(request.id, open);
            return;
        }
        let Some(request) = event.request() else {
            return;
        };
        let Some(open) = self.open.get_mut(&request) else {
            return;
        };
        match *event {
            Event::Sent { deployment, .. } => {
                if open.under_way.is_some() {
                    found.add(
                        4,
                        now,
                        request,
                        "it was sent while an attempt was under way",
                    );
                }
                open.under_way = Some(deployment);
                let limited = self.slots[deployment.index()].is_some() && !open.blocking;
                open.holds = limited.then_some(deployment);
            }
            Event::ParkedForSlot { deployment, .. } => open.parked = Some(deployment),
            Event::FirstToken { .. } if !self.streams_hold_slot && open.stream => {
                open.holds = None;
            }
            Event::Finished { deployment, .. } => {
                if open.under_way.take() != Some(deployment) {
                    found.add(4, now, request, "an attempt ended that was not under way");
                }
                self.between = open.holds.take().map(|held| (request, held));
            }
            Event::Waiting {
                why: WaitReason::ClientRetry,
                ..
            } => {
                let kept = self.between.filter(|(whose, _)| *whose == request);
                open.holds = kept.map(|(_, held)| held);
            }
            Event::Answered { .. } => {
                if open.under_way.is_some() || open.parked.is_some() {
                    found.add(4, now, request, format_args!("it is over with {open:?}"));
                }
                self.open.remove(&request);
            }
            Event::Cancelled { .. } => {
                self.open.remove(&request);
            }
            Event::Arrived { .. }
            | Event::PassedOver { .. }
            | Event::Picked { .. }
            | Event::NothingToPick { .. }
            | Event::SlotRefused { .. }
            | Event::FailuresSpent { .. }
            | Event::LimitRefused { .. }
            | Event::CacheHit { .. }
            | Event::Mirrored { .. }
            | Event::CooldownCleared { .. }
            | Event::FirstToken { .. }
            | Event::CooledDown { .. }
            | Event::Waiting { .. }
            | Event::Retrying { .. }
            | Event::MovedOn { .. }
            | Event::FellBack { .. }
            | Event::GivenUp { .. } => {}
        }
    }

    fn decided(
        &mut self,
        now: &Now<'_>,
        router: &Router,
        decision: &Decision<'_>,
        found: &mut Found,
    ) {
        let released = match decision {
            Decision::Turn(turn) => turn.released,
            Decision::Released(released) => *released,
            Decision::Cleared(_) => None,
        };
        if let Some(released) = released {
            self.grant(now, released, found);
        }
        self.compare(now, router, found);
    }

    fn end(&mut self, now: &Now<'_>, found: &mut Found) {
        for (&request, open) in &self.open {
            let (sent, holds) = (open.under_way, open.holds);
            if sent.is_some() || holds.is_some() {
                let what = format_args!("the run is over with {open:?}");
                found.add(4, now, request, what);
            }
        }
    }
}
