//! A request of a run that is worth its story: the first to which something happened, or the worst.

use std::{collections::BTreeMap, time::Duration};

use reports::{Blame, Blamer};
use router::{Answer, Event, Instant, Observer, RequestId};
use scenarios::RunPlan;

use crate::{SimError, recorder_setup, simulate};

/// What a request is looked for by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sought {
    /// The first without an answer for which this is to blame.
    Blamed(Blame),
    /// The first that the response cache answered.
    Cached,
    /// The first that got no answer.
    Failed,
    /// The first that moved to another group, tier or remaining set.
    FellBack,
    /// The one that took longest from arrival to answer or error.
    LongestLatency,
    /// The one that spent most time in backoff, parked or in the priority queue, if one did at all.
    LongestWaits,
    /// The first that a silent model got a copy of.
    Mirrored,
    /// The first that was tried again in its group.
    Retried,
    /// The first that waited before an attempt, or for a slot.
    Waited,
}

/// The request of the run that is sought, in the order of events.
///
/// # Errors
///
/// As [`simulate`].
pub fn find(plan: &RunPlan, sought: Sought) -> Result<Option<RequestId>, SimError> {
    let mut finder = Finder {
        sought,
        blamer: Blamer::new(&recorder_setup(plan)?),
        found: None,
    };
    simulate(plan, &mut finder)?;
    Ok(finder.found.map(|(request, _)| request))
}

/// The first request of each blame that a run has.
///
/// # Errors
///
/// As [`simulate`].
pub fn first_of_each_blame(plan: &RunPlan) -> Result<BTreeMap<Blame, RequestId>, SimError> {
    let mut examples = Examples {
        blamer: Blamer::new(&recorder_setup(plan)?),
        found: BTreeMap::new(),
    };
    simulate(plan, &mut examples)?;
    Ok(examples.found)
}

struct Finder {
    sought: Sought,
    blamer: Blamer,
    /// The best so far, and by how much where the worst is sought.
    found: Option<(RequestId, Duration)>,
}

impl Finder {
    /// Keeps the first of the largest.
    fn offer(&mut self, request: RequestId, size: Duration) {
        if self.found.is_none_or(|(_, most)| size > most) {
            self.found = Some((request, size));
        }
    }
}

impl Observer for Finder {
    const LAST_LOOK: bool = true;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let blame = self.blamer.hear(at, event);
        let Some(request) = event.request().filter(|request| !request.is_mirror()) else {
            return;
        };
        let happened = match *event {
            Event::Answered { answer, .. } => {
                let trail = answer.trail();
                match (self.sought, answer) {
                    (Sought::LongestLatency, _) => {
                        return self.offer(request, at.since(trail.arrived));
                    }
                    (Sought::LongestWaits, _) if trail.waited > Duration::ZERO => {
                        return self.offer(request, trail.waited);
                    }
                    (Sought::LongestWaits, _) => return,
                    (Sought::Blamed(_), Answer::Failed { .. }) => match blame {
                        Some(blame) => Sought::Blamed(blame),
                        None => return,
                    },
                    (_, Answer::Failed { .. }) => Sought::Failed,
                    (_, Answer::Completed { .. }) => return,
                }
            }
            Event::Cancelled { .. } => Sought::Blamed(Blame::ClientGaveUp),
            Event::FellBack { .. } => Sought::FellBack,
            Event::CacheHit { .. } => Sought::Cached,
            Event::Mirrored { .. } => Sought::Mirrored,
            Event::Retrying { .. } => Sought::Retried,
            Event::Waiting { .. } | Event::ParkedForSlot { .. } => Sought::Waited,
            Event::Arrived { .. }
            | Event::CooledDown { .. }
            | Event::CooldownCleared { .. }
            | Event::Finished { .. }
            | Event::FirstToken { .. }
            | Event::GivenUp { .. }
            | Event::FailuresSpent { .. }
            | Event::LimitRefused { .. }
            | Event::MovedOn { .. }
            | Event::NothingToPick { .. }
            | Event::PassedOver { .. }
            | Event::Picked { .. }
            | Event::Sent { .. }
            | Event::SlotRefused { .. } => return,
        };
        if happened == self.sought {
            self.offer(request, Duration::ZERO);
        }
    }
}

struct Examples {
    blamer: Blamer,
    found: BTreeMap<Blame, RequestId>,
}

impl Observer for Examples {
    const LAST_LOOK: bool = true;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let blame = self.blamer.hear(at, event);
        if let Some((blame, request)) = blame.zip(event.request()) {
            self.found.entry(blame).or_insert(request);
        }
    }
}
