//! The first request of a run that something happened to, for a story that is worth reading.

use router::{Answer, Event, Instant, Observer, RequestId};
use scenarios::RunPlan;

use crate::{SimError, simulate};

/// What a request is looked for by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sought {
    /// The response cache answered it.
    Cached,
    /// It got no answer.
    Failed,
    /// It moved to another group, tier or remaining set.
    FellBack,
    /// A silent model got a copy of it.
    Mirrored,
    /// It was tried again in its group.
    Retried,
    /// It waited before an attempt, or for a slot.
    Waited,
}

/// The first request of the run, in the order of events, that this happened to.
///
/// # Errors
///
/// As [`simulate`].
pub fn find_first(plan: &RunPlan, sought: Sought) -> Result<Option<RequestId>, SimError> {
    let mut finder = Finder {
        sought,
        found: None,
    };
    simulate(plan, &mut finder)?;
    Ok(finder.found)
}

struct Finder {
    sought: Sought,
    found: Option<RequestId>,
}

impl Observer for Finder {
    fn observe(&mut self, _at: Instant, event: &Event<'_>) {
        let (happened, request) = match *event {
            Event::Answered {
                request,
                answer: Answer::Failed { .. },
            } => (Sought::Failed, request),
            Event::FellBack { request, .. } => (Sought::FellBack, request),
            Event::CacheHit { request, .. } => (Sought::Cached, request),
            Event::Mirrored { request, .. } => (Sought::Mirrored, request),
            Event::Retrying { request, .. } => (Sought::Retried, request),
            Event::Waiting { request, .. } | Event::ParkedForSlot { request, .. } => {
                (Sought::Waited, request)
            }
            Event::Answered { .. }
            | Event::Arrived { .. }
            | Event::Cancelled { .. }
            | Event::CooledDown { .. }
            | Event::Finished { .. }
            | Event::FirstToken { .. }
            | Event::NothingToPick { .. }
            | Event::LimitRefused { .. }
            | Event::MovedOn { .. }
            | Event::CooldownCleared { .. }
            | Event::PassedOver { .. }
            | Event::Picked { .. }
            | Event::Sent { .. }
            | Event::SlotRefused { .. } => return,
        };
        if happened == self.sought && !request.is_mirror() {
            self.found.get_or_insert(request);
        }
    }
}
