//! What the scenario's operator does while a run goes on.

use router::{Fleet, Observer};
use scenarios::{Action, Deed};

/// Does what the action says, to each instance.
#[inline(never)]
pub(crate) fn act(fleet: &mut Fleet, action: &Action, observer: &mut impl Observer) {
    for instance in 0..fleet.count() {
        fleet.give(instance, |router| match action.deed {
            Deed::ClearCooldowns(None) => {
                router.clear_cooldowns(action.at, observer);
            }
            Deed::ClearCooldowns(Some(deployment)) => {
                router.clear_cooldown(action.at, deployment, observer);
            }
        });
    }
}
