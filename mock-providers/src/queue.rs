//! A bound on the attempts that are answered at once; the others wait, first come, first served.
//!
//! Each slot remembers when it falls free, so an attempt's waiting time and end are known when it
//! arrives: it gets the slot that falls free first. The one thing that cannot be known is that a
//! client will give up. An attempt that nobody was queued behind then frees its slot at once; one
//! with others behind it leaves them the end that they were told, and its slot idle until then. So
//! without a queue giving up is exact, and with one a provider gains less by it than a real one.

use std::time::Duration;

use router::{DeploymentId, Instant, RequestId};

use crate::{error::SpecError, place::Place, reply::ProviderCall};

/// The slots of a provider.
#[derive(Clone, Debug)]
pub(crate) struct Slots(Box<[Slot]>);

/// One slot with the last attempt that was given it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    free_at: Instant,
    starts: Instant,
    last: Option<(RequestId, u16, DeploymentId)>,
}

impl Slots {
    pub(crate) fn new(count: u32, place: &Place) -> Result<Self, SpecError> {
        let fits = (1..=MOST_SLOTS).contains(&count);
        place.number(
            "max_concurrent",
            f64::from(count),
            fits,
            "a whole number from 1 to 4096",
        )?;
        let empty = Slot {
            free_at: Instant::ZERO,
            starts: Instant::ZERO,
            last: None,
        };
        Ok(Self((0..count).map(|_| empty).collect()))
    }

    /// How many there are.
    pub(crate) const fn count(&self) -> usize {
        self.0.len()
    }

    /// Gives the attempt a slot for `service`, and tells how long it waits before.
    #[inline(never)]
    pub(crate) fn take(&mut self, at: Instant, call: &ProviderCall, service: Duration) -> Duration {
        let slot = self
            .0
            .iter_mut()
            .min_by_key(|slot| slot.free_at)
            .expect("there is a slot");
        let starts = slot.free_at.max(at);
        *slot = Slot {
            free_at: starts + service,
            starts,
            last: Some(key(call)),
        };
        starts.since(at)
    }

    /// Frees what the attempt still holds, or would hold, unless others were queued behind it.
    pub(crate) fn abandon(&mut self, at: Instant, call: &ProviderCall) {
        let held = |slot: &&mut Slot| slot.last == Some(key(call)) && slot.free_at > at;
        if let Some(slot) = self.0.iter_mut().find(held) {
            slot.free_at = slot.starts.max(at);
        }
    }
}

const fn key(call: &ProviderCall) -> (RequestId, u16, DeploymentId) {
    (call.request, call.attempt, call.deployment)
}

/// Slots are searched in a row; beyond this the search would be dear, and no server has as many.
const MOST_SLOTS: u32 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn call(request: u64) -> ProviderCall {
        ProviderCall {
            request: RequestId(request),
            attempt: 0,
            deployment: DeploymentId(0),
            prompt_tokens: 1,
            output_tokens: 1,
            max_tokens: None,
            stream: false,
            beginning: crate::prompt_cache::Beginning::default(),
            batch: false,
        }
    }

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    fn slots(count: u32) -> Slots {
        Slots::new(count, &Place::default()).unwrap()
    }

    const TEN: Duration = Duration::from_secs(10);

    #[test]
    fn the_first_to_come_is_the_first_to_be_served() {
        let mut slots = slots(2);

        let waits = [0, 1, 2, 3, 4].map(|n| slots.take(at(0.0), &call(n), TEN).as_secs());

        assert_eq!(waits, [0, 0, 10, 10, 20]);
    }

    #[test]
    fn giving_up_frees_the_slot_at_once_where_nobody_waits() {
        let mut slots = slots(1);
        slots.take(at(0.0), &call(0), TEN);

        slots.abandon(at(4.0), &call(0));

        assert_eq!(slots.take(at(4.0), &call(1), TEN), Duration::ZERO);
    }

    #[test]
    fn giving_up_while_waiting_leaves_the_place_to_the_next_who_comes() {
        let mut slots = slots(1);
        slots.take(at(0.0), &call(0), TEN);
        slots.take(at(1.0), &call(1), TEN);

        slots.abandon(at(2.0), &call(1));

        assert_eq!(slots.take(at(3.0), &call(2), TEN), Duration::from_secs(7));
    }

    #[test]
    fn those_who_were_told_their_end_keep_it_when_one_before_them_gives_up() {
        let mut slots = slots(1);
        slots.take(at(0.0), &call(0), TEN);
        slots.take(at(1.0), &call(1), TEN);

        slots.abandon(at(2.0), &call(0));

        assert_eq!(slots.take(at(3.0), &call(2), TEN), Duration::from_secs(17));
    }

    #[test]
    fn giving_up_after_the_end_changes_nothing() {
        let mut slots = slots(1);
        slots.take(at(0.0), &call(0), TEN);

        slots.abandon(at(11.0), &call(0));

        assert_eq!(slots.take(at(12.0), &call(1), TEN), Duration::ZERO);
    }
}
